# SPDX-License-Identifier: GPL-2.0
#
# Extract the commands of a document, for docs.sh:
#
#   awk -f extract.awk -v doc=NAME -v out=DIRECTORY -v ignore=FILE NAME
#
# A block of commands is "```sh" in Markdown, ".. code-block:: sh" in rst.  In a
# block "console" only lines that begin with "$ " or "# " are commands, and the
# lines between them are their output.  In man pages, .EX begins such a block.
# Other literal blocks ("::", or another word or none after "```") contain no
# commands.
#
# A comment before a block says how the block runs: "lab: WORD[, WORD]...".
# "for TIME" interrupts each command after that time, and "compare" compares the
# output of the block with the document.  Any other word names an environment
# (see guest.sh) and begins a session, whose commands run in one shell.  Other
# blocks continue the previous session.
#
# Each session becomes a shell script DIRECTORY/LINE.WHERE with its commands at
# the line numbers of the document; WHERE is the environment.  The commands
# within the text are one more session, in the environment qdisc.  Other files
# in DIRECTORY: "ignored" has the commands that match a rule of FILE, "made"
# those for make, "wrong" the errors, and LINE.expected the output of a block
# that is compared.

BEGIN {
	# words that begin a command within other text
	words = "tc|ip|bridge|iqcn|make|cat|echo|grep|modprobe|rmmod|insmod|ls|" \
		"ethtool|devlink|rdma|sysctl|tcpdump|tshark|man|systemctl|" \
		"journalctl|dkms|apt|apt-get|mn|containerlab|bpftrace|" \
		"trace-cmd|promtool|jq|perf|sudo|python3|git|cd|dpkg|gcc|" \
		"ib_write_bw|curl|selftests/[a-z./]*|/usr/[a-z./]*"
	command_like = "^[ \t]*([$#] )?(" words ") +[-a-z/.$\"(]"
	inline_like = "^(" words ") [^ ]"
	while ((getline line <ignore) > 0) {
		if (line ~ /^#/ || split(line, parts, /  +|\t+/) < 2)
			continue
		ignored[++n_ignored] = "^(" parts[1] ")$"
	}
	kind = doc ~ /\.md$/ ? "md" : doc ~ /\.rst$/ ? "rst" : "man"
	where = "box"
}

function wrong(line, what)
{
	print doc ":" line ": " what >(out "/wrong")
}

function is_ignored(line, command,	i)
{
	for (i = 1; i <= n_ignored; i++)
		if (command ~ ignored[i]) {
			print i "\t" doc ":" line ": " command >(out "/ignored")
			return 1
		}
	return 0
}

# normalize a command: no comment, single spaces
function bare(command)
{
	sub(/[ \t]+#.*$/, "", command)
	gsub(/[ \t]+/, " ", command)
	sub(/^ /, "", command)
	sub(/ $/, "", command)
	return command
}

function quoted(text)
{
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# append a line to the session's script, at line number "line"
function script_line(line, text)
{
	if (!session) {
		session = line
		at = 1
		script = out "/" line "." where
	}
	for (; at < line; at++)
		print "" >script
	print text >script
	at++
}

function take_marker(text,	parts, n, i)
{
	sub(/^.*lab: */, "", text)
	sub(/ *-->.*/, "", text)
	n = split(text, parts, / *, */)
	limit = ""
	compare = 0
	for (i = 1; i <= n; i++) {
		if (parts[i] ~ /^for /) {
			limit = substr(parts[i], 5)
		} else if (parts[i] == "compare") {
			compare = 1
		} else if (parts[i] != "") {
			where = parts[i]
			session = 0
		}
	}
}

# begin a block, to which the last "lab:" comment applies
function block_begin(lang)
{
	block = lang
	first = 1
	more = 0
}

function command_begin(line, text)
{
	if (first && compare)
		expected = out "/" line ".expected"
	if (first && lang_runs())
		text = "block " line "; " text
	first = 0
	return text
}

function lang_runs() { return block == "sh" || block == "console" }

# process a line of a command, which may continue in the next lines
function command_line(line, text,	command)
{
	if (!more) {
		command = bare(text)
		if (command == "" || command ~ /^#/)
			return
		if (command ~ /^make( |$)/)
			print doc ":" line ": " command >(out "/made")
		if (is_ignored(line, command))
			return
		if (limit != "" && text !~ /\\$/)
			text = "end_after " limit " " quoted(bare(text))
		text = command_begin(line, text)
	}
	more = text ~ /\\$/
	script_line(line, text)
}

function block_line(line, text)
{
	if (block == "text") {
		if (text ~ command_like)
			wrong(line, "looks like a command outside a block of commands: " text)
	} else if (block == "sh" || more) {
		command_line(line, text)
	} else if (text ~ /^[$#] /) {
		command_line(line, substr(text, 3))
	} else if (compare && expected != "") {
		print text >expected
	}
}

function block_end()
{
	if (lang_runs()) {
		if (more)
			wrong(FNR, "the last command is incomplete")
		limit = ""
		compare = 0
		expected = ""
	}
	block = ""
}

# find commands in ``text`` or `text` of a paragraph
function inline_commands(	text, mark, command)
{
	text = paragraph
	paragraph = ""
	mark = kind == "md" ? "`[^`]+`" : "``[^`]+``"
	while (match(text, mark)) {
		command = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		gsub(/^`+|`+$/, "", command)
		inline_command(begun, command)
	}
}

function inline_command(line, command)
{
	command = bare(command)
	if (command !~ inline_like)
		return
	if (command ~ /^make /)
		print doc ":" line ": " command >(out "/made")
	if (!is_ignored(line, command))
		inline[line] = inline[line] command "; "
}

function text_line(text)
{
	if (text ~ /^[ \t]*$/) {
		inline_commands()
	} else {
		if (paragraph == "")
			begun = FNR
		sub(/^[ \t]+/, "", text)
		paragraph = paragraph (paragraph == "" ? "" : " ") text
	}
}

kind == "md" && /^ *```/ {
	if (block != "") {
		block_end()
		next
	}
	inline_commands()
	lang = $0
	sub(/^ *```/, "", lang)
	block_begin(lang == "sh" || lang == "console" ? lang : "text")
	next
}
kind == "md" && block != "" { block_line(FNR, $0); next }
kind == "md" && /^<!-- lab: / { take_marker($0); next }
kind == "md" { text_line($0) }

function indent_of(text)
{
	match(text, /^[ \t]*/)
	return RLENGTH
}

kind == "rst" && block != "" {
	if ($0 ~ /^[ \t]*$/)
		next
	if (indent_of($0) > outer) {
		if (!inner) {
			if ($0 ~ /^[ \t]+:[a-z]+:/)
				next
			inner = indent_of($0)
		}
		block_line(FNR, substr($0, inner + 1))
		next
	}
	block_end()
}
kind == "rst" && /^ *\.\. lab: / { take_marker($0); next }
kind == "rst" && /^ *\.\. code-block:: / {
	inline_commands()
	outer = indent_of($0)
	inner = 0
	block_begin($NF == "sh" || $NF == "console" ? $NF : "text")
	next
}
kind == "rst" { text_line($0) }
kind == "rst" && /::$/ && !/^ *\.\. / {
	inline_commands()
	outer = indent_of($0)
	inner = 0
	block_begin("text")
}

function unroff(text)
{
	gsub(/\\&/, "", text)
	gsub(/\\-/, "-", text)
	gsub(/\\\(dq/, "\"", text)
	gsub(/\\\(aq/, "'", text)
	gsub(/\\e/, "\\", text)
	gsub(/\\f[BIRP]/, "", text)
	return text
}

kind == "man" && /^\.\\" lab: / { take_marker($0); next }
kind == "man" && /^\.SH / { section = $2 }
kind == "man" && /^\.EX/ { block_begin("console"); next }
kind == "man" && /^\.EE/ { block_end(); next }
kind == "man" && block != "" { block_line(FNR, unroff($0)); next }
# commands in bold that fill the line
kind == "man" && section != "SYNOPSIS" && /^\.BR? / && !/\\f|\[|\|/ {
	text = substr($0, index($0, " ") + 1)
	if (text ~ /^"/) {
		text = substr(text, 2)
		sub(/".*/, "", text)
	} else if ($1 == ".BR") {
		next
	}
	inline_command(FNR, unroff(text))
}

END {
	if (block != "")
		block_end()
	inline_commands()
	session = 0
	where = "qdisc"
	script = ""
	for (line = 1; line <= FNR; line++)
		if (line in inline)
			script_line(line, inline[line])
}
