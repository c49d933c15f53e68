#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test contrib/wireshark/iqcn.lua in tshark, on this machine.  The fields of
# CNPs from the lab are compared with the bytes on the wire and with the
# module's trace.  Generated packets are valid, truncated and damaged.
#
# This test repeats the layout of the bytes on purpose, so that it detects an
# error in the dissector.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
OUT=$TOP/build/wireshark
ROCE=$TOP/build/roce
LUA=$TOP/contrib/wireshark/iqcn.lua
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

FIELDS="iqcn.opcode iqcn.becn iqcn.destqp iqcn.version iqcn.was_ce iqcn.brief
	iqcn.cause iqcn.depth iqcn.flows iqcn.port_bytes iqcn.gradient
	iqcn.tx_bytes iqcn.time_us"

# same WHAT GOT WANTED: compare strings
same()
{
	[ "$2" != "$3" ] || return 0
	echo "# $1:"
	diff <(echo "$3") <(echo "$2") | head -n 20 | sed 's/^/#   /'
	return 1
}

# shark FILE ARGUMENT...: run tshark with the dissector; fail on errors of Lua
shark()
{
	local file=$1 rc=0
	shift

	tshark -r "$file" -X "lua_script:$LUA" "$@" 2>"$WORK/errors" \
		>"$WORK/shark" || rc=1
	grep -v '^Running as user' "$WORK/errors" >&2
	if grep -qE 'Lua|lua' "$WORK/errors" ||
	   grep -v _ws.lua.fake "$WORK/shark" | grep -qE 'Lua Error|_ws\.lua'
	then
		grep -hE 'Lua|lua' "$WORK/errors" "$WORK/shark" | head -n 3 >&2
		rc=1
	fi
	cat "$WORK/shark"
	return $rc
}

# fields FILE FIELD... [-- ARGUMENT...]: print one line per frame
fields()
{
	local file=$1 args=() f
	shift

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		args+=(-e "$1")
		shift
	done
	[ $# = 0 ] || shift
	shark "$file" -T fields -E separator=, -E aggregator='|' "${args[@]}" "$@"
}

# meaning DESTQP RESERVED: print the expected values of $FIELDS
meaning()
{
	local t=$2 flags gradient

	echo -n "0x81,1,$1,$((16#${t:0:1})),"
	[ "${t:0:1}" = 1 ] || { echo ",,,,,,,,"; return; }
	flags=$((16#${t:1:1}))
	echo -n "$((flags & 1)),$((flags >> 1 & 1)),$((16#${t:2:2})),"
	[ $((flags & 2)) = 0 ] || { echo ",,,,,"; return; }
	gradient=$((16#${t:16:4}))
	[ $gradient -lt 32768 ] || gradient=$((gradient - 65536))
	awk -v depth=$((16#${t:4:4})) 'BEGIN { printf "%.15g,", depth * 100 / 65535 }'
	echo "$((16#${t:8:4})),$((16#${t:12:4} * 4096)),$gradient,$((16#${t:20:6} * 256)),$((16#${t:26:6}))"
}

# wire SCENE: print the expected values of $FIELDS, from the output of the
# packet tool
wire()
{
	local line

	while read -r line; do
		[[ $line =~ \ qp\ (0x[0-9a-f]{6})\ .*\ rsvd\ ([0-9a-f]{32})$ ]] &&
			meaning "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
	done <"$OUT/$1.wire"
}

as_the_wire()
{
	local file

	for file in "$OUT"/*.pcap; do
		file=$(basename "$file" .pcap)
		# shellcheck disable=SC2086
		same "$file" "$(fields "$OUT/$file.pcap" $FIELDS -- \
			-Y iqcn)" "$(wire "$file")" || return
	done
}

# module SCENE LIMIT [N]: print addresses, QP, cause, and depth in tenths of a
# percent from the module's trace; without a depth from the N-th CNP on
module()
{
	awk -v limit="$2" -v brief="${3-0}" '
	function field(name) {
		match($0, " " name "=[^ ]*")
		return substr($0, RSTART + length(name) + 2,
			      RLENGTH - length(name) - 2)
	}
	{
		sub("::ffff:", "", $0)
		sub("::ffff:", "", $0)
		depth = int(field("depth_bytes") * 1000 / limit)
		printf "%s,%s,0x%06x,%s,%s\n", field("dst"), field("src"),
			field("src_qp"), field("cause"),
			(brief && NR >= brief) ? "-" : depth
	}' "$OUT/$1.trace"
}

# seen SCENE: print the values that module() prints, from the dissector's output
seen()
{
	fields "$OUT/$1.pcap" ip.src ip.dst ipv6.src ipv6.dst iqcn.destqp \
		iqcn.cause iqcn.depth -- -Y iqcn | awk -F, '
	BEGIN { split("timer wreb pi poll drop pfc grant supplement", cause, " ") }
	{
		# telemetry rounds the depth down to a multiple of 1/65535
		printf "%s%s,%s%s,%s,%s,%s\n", $1, $3, $2, $4, $5, cause[$6],
			$7 == "" ? "-" : int($7 * 10 + 0.02)
	}'
}

as_the_module()
{
	local scene

	for scene in none vlan qinq; do
		same "$scene" "$(seen standing-$scene)" \
			"$(module standing-$scene 60000 21)" || return
	done
	same "sparse" "$(seen sparse)" "$(module sparse 60000)"
	same "timed" "$(seen timed | sed 's/,[^,]*$//')" \
		"$(module timed 1000 | sed 's/,[^,]*$//')"
}

# The dissector parses CNPs with up to two tags, over both versions of IP
tags()
{
	same "tags" "$(for t in none vlan qinq; do
		fields "$OUT/standing-$t.pcap" frame.protocols -- \
			-Y 'iqcn.cause == "drop"' | sort -u
	done)" "$(for t in "" vlan: ieee8021ad:ethertype:vlan:; do
		echo "eth:ethertype:${t}${t:+ethertype:}ip:udp:infiniband"
		echo "eth:ethertype:${t}${t:+ethertype:}ipv6:udp:infiniband"
	done)"
}

# The CNPs of 21 ms yield about one rate per ms, and the mean of these rates is
# the rate of tbf.  Each rate is accurate to 256 bytes, the unit of telemetry,
# plus one packet.
rate()
{
	same "Mbit/s" "$(fields "$OUT/moving.pcap" iqcn.rate -- -Y iqcn.rate |
		awk '{ n++; sum += $1; off += $1 < 70e6 || $1 > 90e6 }
		END { printf "%.0f %d %d\n", sum / n / 1e6, off, (n >= 19) }')" \
		"80 0 1" || return
	same "other" "$(fields "$OUT/moving.pcap" iqcn.rate -- \
		-o iqcn.rate_us:5000 -Y iqcn.rate | wc -l)" 4 || return
	same "none" "$(fields "$OUT/moving.pcap" iqcn.rate -- \
		-o iqcn.rate_us:0 -Y iqcn.rate)" ""
}

info()
{
	same "Info" "$(fields "$OUT/standing-qinq.pcap" _ws.col.Info -- \
		-Y iqcn | sed -n '1p;13p;15p;21p;22p')" \
"CNP QP=0x800011 wreb depth 43.4% flows 1
CNP QP=0x800011 drop depth 99.3% flows 2
CNP QP=0x800011 drop was-CE depth 99.3% flows 2
CNP QP=0x800011 drop
CNP QP=0x800011 drop was-CE" || return
	same "without telemetry" "$(fields "$OUT/standing-qinq.pcap" \
		_ws.col.Info -- -o iqcn.info:FALSE -Y iqcn | sort | uniq -c | xargs)" \
		"22 CNP QP=0x800011"
}

# The fields work in filters, together with Wireshark's own, in JSON, in two
# passes and in statistics
uses()
{
	local wanted

	wanted=$(grep -c . "$OUT/standing-none.trace")
	same "filter" "$(fields "$OUT/standing-none.pcap" iqcn.cause -- -Y \
		'iqcn.cause == "wreb" && iqcn.depth > 40 && ip.dst == 10.1.0.1 &&
		infiniband.bth.destqp == 0x800011 && iqcn.was_ce == 0' | xargs)" \
		"2 2 2 2 2 2" || return
	same "JSON" "$(shark "$OUT/standing-vlan.pcap" -T json -Y iqcn.brief==1 |
		jq -r '.[]._source.layers.iqcn | [.["iqcn.destqp"],
			.["iqcn.reserved_tree"]["iqcn.cause"]] | join(" ")')" \
		$'0x800011 5\n0x800011 5' || return
	same "two passes" "$(fields "$OUT/moving.pcap" iqcn.rate -- -2)" \
		"$(fields "$OUT/moving.pcap" iqcn.rate)" || return
	same "statistics" "$(shark "$OUT/standing-none.pcap" -q -z \
		'io,stat,0,iqcn.cause==2,iqcn.cause==5,MAX(iqcn.flows)iqcn.flows' |
		awk -F '|' '/<>/ { print $3 + 0, $5 + 0, $7 + 0 }')" \
		"12 10 2"
}

# packet TYPE ARGUMENT...: print a packet from the receiver in hexadecimal
packet()
{
	"$ROCE" send lo --smac 02:00:00:00:00:02 --dmac 02:00:00:00:00:01 \
		--src 10.1.0.2 --dst 10.1.0.1 --qp 0x800011 --hex --type "$@"
}

cnp()
{
	packet cnp "$@"
}

# pcap FILE: write packets from stdin, one per line in hexadecimal
pcap()
{
	sed 's/../& /g; s/^/000000 /' | text2pcap -q - "$1" 2>/dev/null
}

SAID=1104400002010123ff38830205fffffe

# The BTH follows 14 bytes of Ethernet, 20 of IP and 8 of UDP
made_up()
{
	local p tail c=0x81,1,0x800011 all

	p=$(cnp --rsvd $SAID)
	tail=${p:84}
	all=$c,1,1,0,4,25.0003814755474,513,1191936,-200,2197947648,16777214
	{
		cnp
		cnp --rsvd $SAID
		cnp --rsvd 10ffffffffffffff7fffffffffffffff
		cnp --rsvd 1f050000000000000000000000000001
		cnp --rsvd 3f050000000000000000000000000000
		cnp --rsvd 0105ffff000000000000000000000000
		cnp --rsvd 00000000000000000000000000000001
		cnp --rsvd 1000000000000000800000000000ff00
		# in VXLAN
		echo "02000000000102000000000208004500006e000040004011""0000""0a0a00010a0a0002""123412b5005a0000""0800000000000500$p"
		# in two IP fragments, with 24 and 16 of the 40 bytes of UDP
		echo "${p:0:32}002c${p:36:4}2000${p:44:72}"
		echo "${p:0:32}0024${p:36:4}0003${p:44:24}${p:116}"
		# quoted by ICMP
		echo "0200000000010200000000020800450000580000400040010000""0a0100010a010002""0303a94a00000000${p:28}"
	} | pcap "$WORK/made"
	# shellcheck disable=SC2086
	same "fields" "$(fields "$WORK/made" $FIELDS _ws.expert.message)" \
"$c,0,,,,,,,,,,
$all,
$c,1,0,0,255,100,65535,268431360,32767,4294967040,16777215,Unknown cause
$c,1,1,1,5,,,,,,,Unknown flags|Filled in, although the brief flag is set
$c,3,,,,,,,,,,Unknown version of telemetry
$c,0,,,,,,,,,,Reserved bytes are not 0, but not telemetry of iqcn
$c,0,,,,,,,,,,Reserved bytes are not 0, but not telemetry of iqcn
$c,1,0,0,0,0,0,0,-32768,0,65280,Unknown cause
$all,
,,,,,,,,,,,,,
$all,
$all," || return
	same "Info" "$(fields "$WORK/made" _ws.col.Info -- -Y \
		'frame.number in {1,3,4,5,6,12}')" \
"CNP QP=0x800011 
CNP QP=0x800011 cause 255 depth 100.0% flows 65535 or more
CNP QP=0x800011 drop was-CE
CNP QP=0x800011 telemetry version 3
CNP QP=0x800011 
Destination unreachable (Port unreachable)"
}

# CNPs that are supplements, with telemetry
supplemented()
{
	cnp --rsvd 1108400002010123ff38830205fffffe | pcap "$WORK/supplemented"
	same "fields" "$(fields "$WORK/supplemented" iqcn.version iqcn.was_ce \
		iqcn.cause _ws.expert.message _ws.col.Info)" \
"1,1,8,,CNP QP=0x800011 supplement was-CE depth 25.0% flows 513"
}

# CNPs with windows
granted()
{
	{
		cnp --rsvd 21077fff0000303900023fff000b0100
		cnp --rsvd 2007ffffffffffffffffffffffff0300
		cnp --rsvd 2e050000000000000000000000000900
	} | pcap "$WORK/granted"
	same "fields" "$(fields "$WORK/granted" iqcn.version iqcn.was_ce \
		iqcn.cause iqcn.depth iqcn.window iqcn.flows iqcn.share \
		iqcn.base_rtt_us iqcn.state _ws.expert.message)" \
"2,1,7,49.9992370489052,12345,2,24.9988555733577,11,1,
2,0,7,100,4294967295,65535,100,65535,3,
2,0,5,0,0,0,0,0,9,Unknown flags" || return
	same "Info" "$(fields "$WORK/granted" _ws.col.Info | head -n 2)" \
"CNP QP=0x800011 grant was-CE window 12345 share 25.0%
CNP QP=0x800011 grant window 4294967295 share 100.0%"
}

# udp PACKET LENGTH BYTES: change the length in the headers and the actual
# length, and pad the packet
udp()
{
	local p=$1 zeros

	printf -v zeros %040d 0
	p="${p:0:32}$(printf %04x $(($2 + 20)))${p:36:40}$(printf %04x "$2")${p:80}"
	p=${p:0:$(($3 * 2))}
	echo "$p${zeros:0:$((120 - $3 * 2 > 0 ? 120 - $3 * 2 : 0))}"
}

# UDP packets that end after N of the 16 reserved bytes, with padding of
# Ethernet
short()
{
	local p i

	p=$(cnp --rsvd $SAID)
	for i in 0 1 2 9 15; do
		udp "$p" $((20 + i)) $((54 + i))
	done | pcap "$WORK/short"
	same "fields" "$(fields "$WORK/short" iqcn.destqp iqcn.reserved \
		iqcn.version iqcn.cause iqcn.depth iqcn.port_bytes iqcn.gradient \
		iqcn.time_us iqcn.icrc)" \
"0x800011,,,,,,,,
0x800011,11,1,,,,,,
0x800011,1104,1,4,,,,,
0x800011,1104400002010123ff,1,4,25.0003814755474,1191936,,,
0x800011,1104400002010123ff38830205ffff,1,4,25.0003814755474,1191936,-200,," || return
	same "expert" "$(fields "$WORK/short" frame.number -- \
		-Y iqcn.expert.short | xargs)" "1 2 3 4 5"
}

# snapped BYTES...: truncate all packets to each of these lengths
snapped()
{
	local b

	for b; do
		editcap -s "$b" "$WORK/all" "$WORK/snap.$b" || return
	done
	mergecap -a -w "$WORK/snapped" "$WORK"/snap.* && rm "$WORK"/snap.*
}

# With any capture length there are no errors of Lua, and a field is present,
# with the right value, if its bytes are captured
cut()
{
	local bytes=() i

	cnp --rsvd $SAID | pcap "$WORK/all"
	for i in $(seq 14 74); do
		bytes+=("$i")
	done
	snapped "${bytes[@]}" || return
	# the QP is in the BTH, and the last byte of telemetry is byte 70
	same "fields" "$(fields "$WORK/snapped" frame.cap_len iqcn.destqp \
		iqcn.version iqcn.cause iqcn.depth iqcn.flows iqcn.port_bytes \
		iqcn.gradient iqcn.tx_bytes iqcn.time_us iqcn.icrc)" "$(awk '
	function has(bytes, what) { printf ",%s", (len >= bytes) ? what : "" }
	BEGIN {
		for (len = 14; len <= 74; len++) {
			printf "%d", len
			has(54, "0x800011")
			has(55, "1")
			has(56, "4")
			has(58, "25.0003814755474")
			has(60, "513")
			has(62, "1191936")
			has(64, "-200")
			has(67, "2197947648")
			has(70, "16777214")
			has(74, "0x96b30c2c")
			print ""
		}
	}')" || return
	same "expert" "$(fields "$WORK/snapped" frame.cap_len -- \
		-Y iqcn.expert.cut | xargs)" "$(seq -s ' ' 54 69)"
}

# All packets, truncated and damaged: no errors of Lua in any output format
damaged()
{
	local i

	mergecap -w "$WORK/all" "$OUT"/standing-*.pcap "$WORK/made" \
		"$WORK/short" || return
	# shellcheck disable=SC2046
	snapped $(seq 34 3 100) || return
	for i in $(seq 6); do
		editcap -E "0.0$i" -o 12 --seed "$i" "$WORK/all" "$WORK/bad.$i" ||
			return
	done 2>/dev/null
	mergecap -a -w "$WORK/damaged" "$WORK/snapped" "$WORK"/bad.* || return
	same "CNPs among them" "$(fields "$WORK/damaged" iqcn.opcode -- \
		-Y iqcn | awk 'END { print (NR > 500) }')" 1 || return
	shark "$WORK/damaged" -V >"$WORK/text" || return
	shark "$WORK/damaged" -2 -T json | jq -e 'length > 1000' >"$WORK/text" ||
		return
	shark "$WORK/damaged" -T pdml >"$WORK/text"
}

# Packets that are not CNPs of RoCEv2 look the same as without the dissector
foreign()
{
	local p q

	p=$(cnp --rsvd $SAID)
	q=$(cnp --src fd01::2 --dst fd01::1)
	{
		# other opcodes, and a QP that looks like the opcode of a CNP
		packet ack
		packet data --qp 0x81
		packet req
		echo "${p:0:84}80${p:86}"
		# other ports, and from RoCEv2's port to another one
		echo "${p:0:72}12b8${p:76}"
		echo "${p:0:68}12b71388${p:76}"
		# not UDP; RoCEv1
		echo "${p:0:46}06${p:48}"
		echo "${p:0:24}8915${q:28:80}${p:84}"
		packet udp
	} | pcap "$WORK/foreign"
	same "as ever" "$(shark "$WORK/foreign" -V)" \
		"$(tshark -r "$WORK/foreign" -V 2>/dev/null)" || return
	same "columns" "$(shark "$WORK/foreign")" \
		"$(tshark -r "$WORK/foreign" 2>/dev/null)" || return
	same "none" "$(shark "$WORK/foreign" -Y iqcn)" ""
}

# documented FIRST: print the commands of the documentation that begin with
# FIRST
documented()
{
	sed -nE "s/^\t(\\$ )?($1)/\2/p" "$TOP/Documentation/wireshark.rst"
}

# As documented: the installed dissector is found, may also be given explicitly,
# and all documented commands work
installed()
{
	local line uses=0

	ln -s "$TOP/contrib" "$WORK/contrib" || return
	mergecap -w "$WORK/cnps.pcap" "$OUT"/*.pcap || return
	cd "$WORK" || return
	(bash -e -c "$(documented 'mkdir|cp')") || return
	same "by itself" "$(tshark -r made -c 1 -T fields -e iqcn.opcode \
		2>/dev/null)" "0x81" || return
	same "and given" "$(fields made iqcn.opcode -- -c 1)" "0x81" || return
	while read -r line; do
		bash -c "$line" >shark 2>errors || return
		same "errors of $line" "$(grep -vE '^Running as|^$' errors)" "" ||
			return
		same "lines of $line" "$(awk 'END { print (NR > 3) }' shark)" 1 ||
			return
		uses=$((uses + 1))
	done <<<"$(documented tshark)"
	same "commands" "$uses" "$(grep -c 'tshark .*-r cnps.pcap' \
		"$TOP/Documentation/wireshark.rst")"
}

echo "TAP version 13"
"$TOP/selftests/lab/lab.sh" run uml -s "${IQCN_SEED:-1}" "$HERE/guest.sh" \
	"$OUT"; result $? "captures"
# ignore the user's plugins and preferences; not earlier, because the lab's
# kernels are in HOME
export HOME=$WORK/home XDG_CONFIG_HOME=$WORK/home/.config
unset WIRESHARK_PLUGIN_DIR WIRESHARK_DATA_DIR
mkdir -p "$HOME"
as_the_wire; result $? "every field agrees with the wire"
as_the_module; result $? "QP, cause and depth agree with the module"
tags; result $? "IPv4 and IPv6, with two tags, one or none"
rate; result $? "rate of the queue"
info; result $? "Info column"
uses; result $? "filters, JSON, statistics, two passes"
made_up; result $? "generated CNPs: unknown and contradictory values, tunnels"
granted; result $? "generated CNPs with windows"
supplemented; result $? "generated CNPs that supplement others"
short; result $? "packets too short for the reserved bytes"
cut; result $? "packets truncated by the capture"
damaged; result $? "damaged packets"
foreign; result $? "other packets are not changed"
installed; result $? "installed as documented"
echo "1..$n"
exit $failed
