#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test contrib/senders/iqcn-senders on trees of files like those that drivers
# create.  No NIC has been tested: Documentation/senders.rst has the sources of
# the names.  KTAP.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export IQCN_SYSFS=$WORK/sys
# hide the qdiscs of this machine behind an iqcn that lists none
export PATH=$WORK/bin:$PATH

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

senders()
{
	"$TOP/contrib/senders/iqcn-senders" "$@"
}

# file PATH VALUE
file()
{
	mkdir -p "$(dirname "$IQCN_SYSFS/$1")"
	echo "$2" >"$IQCN_SYSFS/$1"
}

# nic DEV RDMA DRIVER PCI: a NIC without settings
nic()
{
	mkdir -p "$IQCN_SYSFS/class/net/$1" "$IQCN_SYSFS/devices/$4" \
		"$IQCN_SYSFS/drivers/$3"
	ln -s "$IQCN_SYSFS/devices/$4" "$IQCN_SYSFS/class/net/$1/device"
	ln -s "$IQCN_SYSFS/drivers/$3" "$IQCN_SYSFS/devices/$4/driver"
	file "class/infiniband/$2/ports/1/gid_attrs/ndevs/0" "$1"
}

# ConnectX with MLNX_OFED: its defaults, with DCQCN on for priority 3
ofed()
{
	local p ecn=class/net/eth0/ecn

	nic eth0 mlx5_0 mlx5_core 0000:41:00.0
	for p in 0 1 2 3 4 5 6 7; do
		file $ecn/roce_rp/enable/$p $((p == 3))
		file $ecn/roce_np/enable/$p $((p == 3))
	done
	file $ecn/roce_rp/rpg_time_reset 300
	file $ecn/roce_rp/rate_reduce_monitor_period 4
	file $ecn/roce_rp/clamp_tgt_rate 1
	file $ecn/roce_np/min_time_between_cnps 4
	file $ecn/roce_np/cnp_dscp 48
	file $ecn/roce_np/cnp_802p_prio 6
	file class/infiniband/mlx5_0/tc/1/traffic_class "Global tclass=106"
	file kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos 106
}

# ConnectX with the driver of Linux
mlx5()
{
	local d=kernel/debug/mlx5/0000:41:00.0/cc_params

	nic eth0 mlx5_0 mlx5_core 0000:41:00.0
	file $d/rp_time_reset 300
	file $d/rp_rate_reduce_monitor_period 4
	file $d/rp_clamp_tgt_rate 1
	file $d/np_min_time_between_cnps 4
	file $d/np_cnp_dscp 48
	file $d/np_cnp_prio_mode 0
	file $d/np_cnp_prio 6
}

# Broadcom with the vendor's driver, whose files have hexadecimal numbers
broadcom()
{
	local d=kernel/config/bnxt_re/bnxt_re0/ports/1/cc

	nic eth0 bnxt_re0 bnxt_en 0000:51:00.0
	file $d/ecn_enable 0x1
	file $d/ecn_marking 0x1
	file $d/cnp_dscp 0x30
	file $d/cnp_prio 0x6
	file $d/apply 0x0
}

# Broadcom with the in-tree driver
bnxt()
{
	local d=kernel/debug/bnxt_re/0000:51:00.0/cc_config

	nic eth0 bnxt_re0 bnxt_en 0000:51:00.0
	file $d/enable_cc 1
	file $d/tos_ecn 1
	file $d/alt_vlan_dscp 48
	file $d/alt_vlan_pcp 6
}

# Intel with the vendor's driver
intel()
{
	local d=module/irdma/parameters

	nic eth0 rocep1s0f0 ice 0000:61:00.0
	file kernel/config/irdma/rocep1s0f0/roce_dcqcn_enable 1
	file $d/dcqcn_enable N
	file $d/dcqcn_cc_cfg_valid Y
	file $d/dcqcn_T 300
	file $d/dcqcn_rreduce_mperiod 50
}

# box VALUE...: settings of a box that fit the defaults above, except these
# values, such as t1_ns=400000
box()
{
	local values="{}" v

	for v; do
		values=$(jq -c ".${v%%=*} = ${v#*=}" <<<"$values")
	done
	jq -c --argjson values "$values" '[{kind: "noqueue", dev: "lo"},
		{kind: "iqcn", dev: "swp1", options: ({notify: ["pi"],
		 t1_ns: 225000, min_gap_ns: 50000, kmin: 100000, kmax: 400000,
		 cnp_dscp: 48, cnp_pcp: 6} + $values)}]' <<<null
}

# fresh NIC: only this NIC exists
fresh()
{
	rm -rf "$IQCN_SYSFS"
	mkdir -p "$IQCN_SYSFS"
	"$1"
}

# said STATUS PATTERN... -- COMMAND...: the command exits with that status and
# prints each pattern
said()
{
	local status=$1 patterns=() out p
	shift

	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	out=$("$@" 2>&1 </dev/null)
	set -- $? "$status"
	for p in "${patterns[@]}"; do
		grep -qE -- "$p" <<<"$out" || set -- 255 "$status"
	done
	[ "$1" = "$2" ] || sed 's/^/# /' <<<"# status $1
$out"
	[ "$1" = "$2" ]
}

# quiet NIC: with a box whose settings fit, there are no warnings or notes
quiet()
{
	fresh "$1"
	box >"$WORK/box" &&
		said 0 "^swp1: iqcn of the box" "^eth0: " \
			-- senders -b "$WORK/box" &&
		! senders -b "$WORK/box" | grep -E '^(warn|note)'
}

# wrong PATTERN NIC FILE VALUE [BOX]...: with this value there is one warning,
# which matches PATTERN
wrong()
{
	local pattern=$1 nic=$2 name=$3 value=$4
	shift 4

	fresh "$nic"
	[ "$name" = - ] || file "$name" "$value"
	box "$@" >"$WORK/box" &&
		said 1 "^warn: eth0: .*$pattern" -- senders -b "$WORK/box" &&
		[ "$(senders -b "$WORK/box" | grep -c ^warn)" = 1 ]
}

shows()
{
	local out

	fresh ofed
	box >"$WORK/box"
	out=$(senders show -b - eth0 <"$WORK/box") &&
		grep -qx "eth0: mlx5_0 port 1, mlx5_core, 0000:41:00.0" <<<"$out" &&
		grep -qE "^  roce_rp/enable +priority 3$" <<<"$out" &&
		grep -qE "^  roce_rp/rpg_time_reset +300 us$" <<<"$out" &&
		grep -qE "^  t1 +225 us$" <<<"$out" &&
		grep -qE "^  kmax +400000 bytes$" <<<"$out" &&
		grep -q "mlxconfig -d 0000:41:00.0 query" <<<"$out"
}

# Contents that are not numbers are shown, and not compared with the box
no_numbers()
{
	local text

	for text in 0x 0x1x2 0x3g 12a -1 ""; do
		fresh broadcom
		file kernel/config/bnxt_re/bnxt_re0/ports/1/cc/cnp_dscp "$text"
		box >"$WORK/box"
		said 0 "^  cc/cnp_dscp +$text$" "^  cc/cnp_prio +0x6$" \
			-- senders -b "$WORK/box" || return
	done
}

# two NICs: warnings name the NIC, and come after all settings
two_nics()
{
	fresh ofed
	file class/net/eth0/ecn/roce_rp/enable/3 0
	nic eth1 bnxt_re0 bnxt_en 0000:51:00.0
	file kernel/debug/bnxt_re/0000:51:00.0/cc_config/enable_cc 0
	box >"$WORK/box"
	[ "$(senders -b "$WORK/box" | grep -oE '^(eth[01]:|warn: eth[01]:)' |
		tr '\n' ' ')" = "eth0: eth1: warn: eth0: warn: eth1: " ]
}

# Neither "show" nor a mistake writes anything
harmless()
{
	fresh ofed
	find "$IQCN_SYSFS" -type f | sort | xargs cksum >"$WORK/before"
	box >"$WORK/box"
	senders -b "$WORK/box" >/dev/null
	senders set eth0 roce_np/cnp_dscp=46 nothing=1 >/dev/null 2>&1
	senders set eth0 roce_np/cnp_dscp=46 roce_np/cnp_802p_prio=x \
		>/dev/null 2>&1
	find "$IQCN_SYSFS" -type f | sort | xargs cksum | cmp - "$WORK/before"
}

is()
{
	[ "$(<"$IQCN_SYSFS/$1")" = "$2" ]
}

sets()
{
	fresh ofed
	said 0 "^eth0: roce_rp/rpg_time_reset is 400 us$" \
		"^eth0: roce_np/enable/4 is 1$" -- \
		senders set eth0 roce_rp/rpg_time_reset=400 roce_np/enable/4=1 &&
		is class/net/eth0/ecn/roce_rp/rpg_time_reset 400 &&
		is class/net/eth0/ecn/roce_np/enable/4 1
}

# the configfs files of bnxt_re parse "48" as 0x48
sets_hexadecimal()
{
	fresh broadcom
	said 0 "cc/cnp_dscp is 0x2e$" -- senders set eth0 cc/cnp_dscp=46 &&
		is kernel/config/bnxt_re/bnxt_re0/ports/1/cc/cnp_dscp 0x2e &&
		is kernel/config/bnxt_re/bnxt_re0/ports/1/cc/apply 0x1
}

# parameters of a module can only be set when it is loaded
sets_module()
{
	fresh intel
	said 2 "options irdma dcqcn_T=55" -- senders set eth0 irdma/dcqcn_T=55 &&
		is module/irdma/parameters/dcqcn_T 300
}

# the command that a warning suggests resolves the warning
mends()
{
	local command

	fresh ofed
	file class/net/eth0/ecn/roce_np/min_time_between_cnps 500
	box >"$WORK/box"
	command=$(senders -b "$WORK/box" | sed -n 's/^ *iqcn-senders //p')
	[ "$command" ] || return 1
	# shellcheck disable=SC2086
	senders $command >/dev/null && said 0 -- senders -b "$WORK/box"
}

errors()
{
	fresh ofed
	said 2 "there is no device nothing" -- senders show nothing &&
		said 2 "there is no device ../eth0" -- senders show ../eth0 &&
		said 2 "is not the output of" -- senders -b "$TOP/NEWS" &&
		echo "[]" >"$WORK/box" &&
		said 2 "has no qdisc iqcn" -- senders -b "$WORK/box" &&
		said 2 "must be NAME=NUMBER" -- senders set eth0 a=b &&
		said 2 "set DEV NAME=VALUE" -- senders set eth0 &&
		said 2 "iqcn-senders show eth0" -- senders set eth0 nothing=1 &&
		rm -rf "$IQCN_SYSFS/class/infiniband" &&
		said 2 "no RoCE NIC" -- senders &&
		said 2 "eth0 has no RDMA device" -- senders show eth0
}

mkdir "$WORK/bin"
printf '#!/bin/sh\necho "[]"\n' >"$WORK/bin/iqcn"
chmod +x "$WORK/bin/iqcn"
ecn=class/net/eth0/ecn
np=kernel/debug/mlx5/0000:41:00.0/cc_params

echo "TAP version 13"
shows; result $? "show prints settings of the NIC and of the box"
for nic in ofed mlx5 broadcom bnxt intel; do
	quiet $nic; result $? "$nic: no warning if everything fits"
done
wrong "rpg_time_reset is 300 us, and t1 of swp1 400 us" ofed - - t1_ns=400000
result $? "t1 is longer than the timer of the senders"
wrong "rp_time_reset is 200 us, and t1 of swp1 225 us" mlx5 $np/rp_time_reset 200
result $? "likewise with the driver of Linux"
wrong "dcqcn_T is 55 us" intel module/irdma/parameters/dcqcn_T 55
result $? "likewise with Intel"
wrong "min_time_between_cnps is 500 us" ofed \
	$ecn/roce_np/min_time_between_cnps 500
result $? "receivers send fewer CNPs than one per t1"
wrong "rate_reduce_monitor_period is 100 us, and min-gap of swp1 50" ofed \
	$ecn/roce_rp/rate_reduce_monitor_period 100
result $? "senders react less often than the box sends"
wrong "cnp_dscp is 48, and cnp-dscp of swp1 46" ofed - - cnp_dscp=46
result $? "DSCP of CNPs"
wrong "alt_vlan_dscp is 10" bnxt \
	kernel/debug/bnxt_re/0000:51:00.0/cc_config/alt_vlan_dscp 10
result $? "likewise with Broadcom"
wrong "cnp_802p_prio is 7, and cnp-pcp of swp1 6" ofed \
	$ecn/roce_np/cnp_802p_prio 7
result $? "priority of CNPs"
wrong "no priority has a notification point" ofed $ecn/roce_np/enable/3 0
result $? "ECN is off at receivers"
wrong "no priority has a reaction point" ofed $ecn/roce_rp/enable/3 0
result $? "ECN is off at senders"
wrong "cc/ecn_marking is 0" broadcom \
	kernel/config/bnxt_re/bnxt_re0/ports/1/cc/ecn_marking 0x0
result $? "packets are not ECT"
wrong "irdma/roce_dcqcn_enable is off" intel \
	kernel/config/irdma/rocep1s0f0/roce_dcqcn_enable 0
result $? "another congestion control is on"
wrong "default_roce_tos 34 is DSCP 8, by default priority 1" ofed \
	kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos 34
result $? "data have a priority without ECN"
wrong "traffic_class 107 has both ECN bits" ofed \
	class/infiniband/mlx5_0/tc/1/traffic_class "Global tclass=107"
result $? "senders mark their own packets"
wrong "rpg_time_reset" ofed $ecn/roce_rp/rpg_time_reset 225 'notify=["timer"]'
result $? "a timer as long as t1 is too short"
no_numbers; result $? "contents that are not numbers"
two_nics; result $? "warnings of two NICs"
harmless; result $? "show and mistakes change nothing"
sets; result $? "set"
sets_hexadecimal; result $? "set writes hexadecimal numbers for bnxt_re, and applies them"
sets_module; result $? "set explains parameters of a module"
mends; result $? "the command that a warning names ends it"
errors; result $? "errors say what to do"
echo "1..$n"
exit $failed
