# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests with rocehost, which simulates RoCEv2 hosts in the kernel: source
# this after lib.sh

MODULE=$BUILD/${IQCN_LAB:-uml}/rocehost/rocehost.ko
endless="size endless messages endless"

load()
{
	insmod "$MODULE" || fail "rocehost does not load"
}

# unload: remove the module, and with it whatever the test has left
unload()
{
	rmmod rocehost || fail "rocehost does not unload"
}

# rh NS LINE...: write commands to rocehost
rh()
{
	local ns=$1 lines
	shift

	printf -v lines '%s\n' "$@"
	in_ns "$ns" tee /proc/net/rocehost/ctl >/dev/null 2>&1 \
		<<<"${lines%$'\n'}"
}

# told NS LINE...: write commands that must be accepted
told()
{
	rh "$@" || fail "$2: $(in_ns "$1" head -n 1 /proc/net/rocehost/ctl)"
}

# mac NS DEV: print the MAC address of a device
mac()
{
	ip -n "$1" -o link show "$2" | sed -n "s,.*link/ether \([^ ]*\).*,\1,p"
}

# bridged: connect e0 in snd and e0 in rcv by a switch, and load rocehost
bridged()
{
	topology bridge
	load
}

# hosts SENDER-WORDS RECEIVER-WORDS: create a host on each side of a switch.
# $host_words are further words for the sender.
hosts()
{
	bridged
	told snd "host e0 ip $SND4 rate 10gbit ${host_words-} $1"
	told rcv "host e0 ip $RCV4 rate 10gbit $2"
}

# hosts6 SENDER-WORDS RECEIVER-WORDS: like hosts, but with IPv6, and with the
# default rate
hosts6()
{
	bridged
	told snd "host e0 ip $SND6 ${host_words-} $1"
	told rcv "host e0 ip $RCV6 $2"
}

# wired WORDS: load rocehost, and create a wire from e0 in snd to e1 in rcv
wired()
{
	load
	ip -batch - <<-EOF
		netns add snd
		netns add rcv
	EOF
	told snd "wire e0 e1 $1"
	ip -n snd link set e1 netns rcv
}

# pair WORDS: create a host at each end of a wire; $host_words apply to the
# sender, and $rcv_host_words to the receiver
pair()
{
	wired "$1"
	ip -n snd link set e0 up
	ip -n rcv link set e1 up
	told snd "host e0 ip 10.1.0.1 ${host_words-}"
	told rcv "host e1 ip 10.1.0.2 ack 1 ${rcv_host_words-}"
	sleep 0.02
}

# run MS: start the hosts in snd, and wait until the run is over
run()
{
	told snd "start for $1ms"
	sleep "$(printf '%d.%03d' $((($1 + 100) / 1000)) $((($1 + 100) % 1000)))"
}

# sum NS FILE COLUMN: print the sum of a column of a report
sum()
{
	in_ns "$1" awk -F, -v want="$3" '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			if ($i == want) col = i
		next
	}
	{ s += $col }
	END { print col ? s + 0 : "no column " want }' "/proc/net/rocehost/$2"
}

# refused_lines NS: read lines "LINE | ERROR", each of which must be refused
# with this error. A single process writes all lines.
refused_lines()
{
	check_eq "accepted, or another error" "$(in_ns "$1" bash -c '
	while read -r line; do
		if echo "${line% | *}" 2>/dev/null >/proc/net/rocehost/ctl; then
			echo "${line% | *}: accepted"
			continue
		fi
		read -r error </proc/net/rocehost/ctl
		[ "$error" = "error: ${line##* | }" ] ||
			echo "${line% | *}: $error"
	done')" ""
}
