# SPDX-License-Identifier: GPL-2.0
#
# Small mutations of the functions of a C file in kernel style.  Functions and
# operators are found by their text, without a parser; a mutant that does not
# compile does not count.
#
#   awk -v file=NAME -f mutate.awk FILE
#		print the name of each mutant, NAME:FUNCTION:KIND:ORDINAL
#   awk -v file=NAME -v want=MUTANT -f mutate.awk FILE
#		print FILE with that mutation; fail if there is no such mutant
#
#   if		if (x) becomes if (!(x))
#   cmp		swap < and <=, > and >=, == and !=
#   logic	swap && and ||
#   arith	swap + and -
#   minmax	swap min() and max()
#   bool	swap true and false
#   const	increment a decimal number; "+ 1" becomes "+ 0", "- 1" "- 0"
#   call	drop a call whose value is not used
#   set		drop an assignment to a field or through a pointer

BEGIN {
	split("< <= > >= == != && || + - min max true false", word, " ")
	for (i = 1; i in word; i += 2) {
		swap[word[i]] = word[i + 1]
		swap[word[i + 1]] = word[i]
	}
}

# blank(S): S with comments, strings and characters replaced by spaces, so that
# positions are the same as in S
function blank(s,	out, mark, len, gone)
{
	while (match(s, /\/\*|"|'/)) {
		mark = substr(s, RSTART, RLENGTH)
		out = out substr(s, 1, RSTART - 1)
		s = substr(s, RSTART)
		if (mark == "/*")
			len = index(s, "*/") + 1
		else
			for (len = 2; substr(s, len, 1) != mark; len++)
				len += substr(s, len, 1) == "\\"
		gone = substr(s, 1, len)
		gsub(/[^\n]/, " ", gone)
		out = out gone
		s = substr(s, len + 1)
	}
	return out s
}

# mutant(KIND, AT, LEN, TO): print the name of a mutant, or, if it is the wanted
# one, replace the LEN characters at AT of the body by TO
function mutant(kind, at, len, to,	name)
{
	name = file ":" fn ":" kind ":" ++ordinal[fn, kind]
	if (!want) {
		print name
	} else if (want == name) {
		body = substr(body, 1, at - 1) to substr(body, at + len)
		found = 1
	}
}

# closing(AT): position of the parenthesis that closes the one at AT of the code
function closing(at,	depth, c)
{
	for (; at <= length(code); at++) {
		c = substr(code, at, 1)
		if (c == "(")
			depth++
		else if (c == ")" && !--depth)
			return at
	}
	return 0
}

# find(RE): advance to the next match of RE in the code; sets at and len
function find(re)
{
	at += len
	if (found || !match(substr(code, at), re)) {
		at = 1
		return len = 0
	}
	at += RSTART - 1
	return len = RLENGTH
}

# shrink(RE): shrink the match to what matches RE in it
function shrink(re)
{
	match(substr(code, at, len), re)
	at += RSTART - 1
	return len = RLENGTH
}

# swaps(KIND, RE, TOKEN): swap the TOKEN in each match of RE
function swaps(kind, re, token)
{
	while (find(re)) {
		shrink(token)
		mutant(kind, at, len, swap[substr(code, at, len)])
	}
}

function negations()
{
	while (find("[^a-z_]if \\(")) {
		at += len - 1
		len = closing(at) - at + 1
		mutant("if", at, len, "(!" substr(body, at, len) ")")
		len = 1
	}
}

function numbers(	digits, before)
{
	while (find("[-+]? ?[^a-zA-Z0-9_.][0-9]+")) {
		before = substr(code, at, len)
		shrink("[0-9]+$")
		digits = substr(code, at, len)
		# skip hexadecimal numbers, which are masks, and numbers with
		# points
		if (substr(code, at + len, 1) ~ /[xX.]/)
			len += 1 + match(substr(code, at + len + 1), /[^0-9a-fA-F]/)
		else
			mutant("const", at, len,
			       digits == 1 && before ~ /[-+]/ ? 0 : digits + 1)
	}
}

# Drop calls and assignments that begin a line, except locks, which have no
# effect on one CPU, and assertions and traces, which decide nothing.
function statements(	begin, name)
{
	begin = "(else|[;{})])[ \t\n]*\n\t+"
	while (find(begin "[a-z_0-9]+\\(")) {
		shrink("[a-z_0-9]+\\($")
		name = substr(code, at, len)
		len = closing(at + len - 1) - at + 1
		if (substr(code, at + len, 1) == ";" &&
		    name !~ /^(spin_|rcu_|lockdep_|trace_|INIT_|if\(|[A-Z])/)
			mutant("call", at, len, "")
		len--
	}
	while (find(begin "(\\*[a-z_]+|[a-z_]+(->|\\.)[a-z0-9_.>-]+) [-+|&^]?= ")) {
		shrink("[^ \t\n]+ [-+|&^]?= $")
		len = index(substr(code, at), ";") - 1
		mutant("set", at, len, "")
	}
}

function mutations()
{
	code = blank(body)
	at = 1
	len = 0
	negations()
	swaps("cmp", " (<|>|<=|>=|==|!=)[ \n]", "[<>=!]+")
	swaps("logic", " (&&|[|][|])[ \n]", "[&|]+")
	swaps("arith", "[a-z_0-9)\\]] [-+][ \n]", "[-+]")
	swaps("minmax", "[^a-z_](min|max)(_t|3)?\\(", "(min|max)")
	swaps("bool", "[^a-z_](true|false)[^a-z_]", "(true|false)")
	numbers()
	statements()
}

/^[a-z].*[a-z0-9_]\(/ {
	match($0, /[a-z0-9_]+\(/)
	fn = substr($0, RSTART, RLENGTH - 1)
}
/^\{/ { inside = 1 }
inside { body = body $0 "\n" }
!inside && want { print }
/^}/ && inside {
	if (!found)
		mutations()
	if (want)
		printf "%s", body
	inside = 0
	body = ""
}
END { exit want && !found }
