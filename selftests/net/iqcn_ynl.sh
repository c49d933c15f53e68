#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's generic netlink client (tools/net/ynl) needs only the family's
# specification to use the family

ALL_TESTS="
	test_ynl
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SPEC=$TOP/Documentation/netlink/specs/iqcn.yaml

# ynl ARGUMENT...: run the client, with JSON output. In Linux 6.12 only the
# legacy schema has the flag uns-admin-perm, and the client does not know
# padding attributes.
ynl()
{
	ip netns exec sw /usr/bin/python3 "$IQCN_YNL/tools/net/ynl/cli.py" \
		--spec "$SPEC" --schema "$IQCN_YNL/Documentation/netlink/genetlink-legacy.yaml" \
		--process-unknown --output-json "$@"
}

# said FILE JQ WANTED: check a value in the output
said()
{
	check_eq "$1: $2" "$(jq -rc "$2" "$TMP/$1")" "$3"
}

# like_tc FILE NAME...: check that these values match those of tc; their names
# in the specification contain "-" instead of "_"
like_tc()
{
	local file=$1 name
	shift

	for name; do
		said "$file" ".[0].\"${name//_/-}\"" "$(stat "$name")"
	done
}

test_ynl()
{
	local dev

	if [ ! -d "${IQCN_YNL-}" ]; then
		skip "ynl is missing: fetch it with lab.sh ynl"
		return
	fi
	topology bridge
	bottleneck 100mbit limit 1m kmin 1000 kmax 2000 detect queue t1 60us
	np --time 60 --ack 1
	data --tos 3 --flows 2 --count 12 --interval 1000 --len 64
	wait
	# programs take no time in virtual time
	ynl --subscribe cnp --sleep 2 >"$TMP/cnp" &
	ynl --subscribe state --sleep 2 >"$TMP/state" &
	sleep 1
	data --tos 3 --flows 2 --count 300 --len 1000
	wait

	dev=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	ynl --do port-get --json "{\"ifindex\": $dev}" >"$TMP/port"
	said port '.ifname' p1
	said port '.snoop' port
	said port '."ce-sent"' "$(value ce_sent)"
	said port '."cnp-smac"' "$(in_ns sw "$BUILD/iqcn" show p1 -j |
		jq -r '.[0].port_cnp_smac')"
	said port '."cnp-smac" | test("^.[26ae](:[0-9a-f]{2}){5}$")' true

	ynl --dump port-get >"$TMP/ports"
	said ports '[length, .[0].ifname]' '[1,"p1"]'

	ynl --dump queue-get --json "{\"ifindex\": $dev}" >"$TMP/queues"
	said queues '[length, .[0].notify]' '[1,["timer"]]'
	said queues '.[0]."state-reason"' quiet
	like_tc queues ce_sent cnp_sent flows_paired state_changes roce_bps \
		sample_lost marked_bytes delay_samples delay_peak_ns
	check "CNPs" "$(stat cnp_sent)" -gt 0
	# bits 1 and 4: ifindex and parent
	ynl --dump queue-get --json '{"mask": "12000000000000000000000000000000"}' \
		>"$TMP/queues"
	said queues . "[{\"ifindex\":$dev,\"parent\":65537}]"

	ynl --dump flow-get --json '{"filter": ["paired"]}' >"$TMP/flows"
	said flows '[length, .[0].src, .[0].dst, .[0].pair, .[0].paired]' \
		"[2,\"$SND4\",\"$RCV4\",\"psn\",true]"
	ynl --dump flow-get --json '{"filter": ["congested"]}' >"$TMP/flows"
	said flows length 0

	said state 'map(.name) | unique' '["queue-state-ntf"]'
	said state 'map(.msg.reason)' '["queue","quiet"]'
	said cnp length "$(stat cnp_sent)"
	said cnp '[.[0].name, .[0].msg.cause, .[0].msg.src]' \
		"[\"cnp-ntf\",\"timer\",\"$SND4\"]"

	ynl --do flow-flush --json "{\"ifindex\": $dev}" >"$TMP/flushed"
	said flushed .flushed 2
	check "flows" "$(stat flows)" -eq 0
	ynl --do flow-flush --json '{"parent": 1}' >"$TMP/refused"
	check_eq "missing" "$(grep -o "'miss-type': '[a-z]*'" "$TMP/refused")" \
		"'miss-type': 'ifindex'"
}

run_tests
