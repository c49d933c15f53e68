#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the stock kernel, with Debian's systemd: install the packages, use
# what they installed, and remove them, as install.rst and tc-iqcn(8) say.
# Changes are lost, because the file system is a copy-on-write view.
#
#   guest.sh DIRECTORY	contains the tree, the packages next to it, the module
#			as built by dkms, rocehost.ko as built from the package
#			in examples/, and the commands of the documents
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
dir=$1
kernel=$(uname -r)
export DEBIAN_FRONTEND=noninteractive
n=0 failed=0

# ok NAME COMMAND...: run a test
ok()
{
	local name=$1 out
	shift

	n=$((n + 1))
	if out=$("$@" 2>&1); then
		echo "    ok $n $name"
	else
		printf '%s\n' "$out" | tail -n 20 | sed 's/^/    # /'
		echo "    not ok $n $name"
		failed=1
		return 1
	fi
}

# soon COMMAND...: repeat a command until it succeeds, for up to a minute
soon()
{
	local i

	for ((i = 0; i < 120; i++)); do
		"$@" && return
		sleep 0.5
	done
	echo "failed for a minute: $*"
	return 1
}

# not COMMAND...: succeed if the command fails
not()
{
	if "$@"; then
		echo "unexpected success: $*"
		return 1
	fi
}

# Add what a booted Debian has and the lab lacks, and hide most modules, because
# depmod reads every one of them
prepare()
{
	local modules=/lib/modules/$kernel m what f

	ln -s /proc/self/fd /dev/fd
	mkdir -p /dev/pts && mount -t devpts devpts /dev/pts || return 1
	for m in veth dummy bridge sch_htb sch_tbf; do
		modprobe --show-depends "$m"
	done | while read -r what f _; do
		[ "$what" != insmod ] || echo "$f"
	done | sort -u | xargs cp --parents -t /run/ &&
	cp "$modules"/modules.{order,builtin}* "/run$modules" &&
	ln -s "/usr/src/linux-headers-$kernel" "/run$modules/build" &&
	mount --bind /run/lib/modules /lib/modules && depmod || return 1

	# Remove files that only root can read, and so the lab cannot (dpkg's
	# locks, debconf's passwords); policy-rc.d, so that services start; and
	# auto-update, so that man-db builds no index
	rm -f /var/lib/dpkg/lock* /var/cache/debconf/passwords.dat \
		/usr/sbin/policy-rc.d /var/lib/man-db/auto-update
	for f in /var/lib/apt/lists /var/cache/apt /var/log; do
		mount -t tmpfs tmpfs "$f" || return 1
	done
	echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/lab
	mkdir -p /usr/share/sch-iqcn-dkms &&
	cp "$dir"/sch-iqcn-*.dkms.tar.gz /usr/share/sch-iqcn-dkms || return 1
}

# Enter the namespaces of systemd, which accepts only clients in its own PID
# namespace
inside()
{
	nsenter --target "$(pgrep -xo systemd)" --pid --mount "$@"
}

# Start Debian's systemd as the first process of a PID namespace
systemd_starts()
{
	local unit

	mkdir -p /run/systemd/system
	cat >/run/systemd/system/lab.target <<-EOF
	[Unit]
	Requires=systemd-udevd.service
	After=systemd-udevd.service
	EOF
	# there is no journal: write errors to a file
	mkdir /run/systemd/system/iqcn@.service.d
	cat >/run/systemd/system/iqcn@.service.d/lab.conf <<-EOF
	[Service]
	StandardError=append:/run/said
	EOF
	# every service waits for this target, which would only take time here
	rm -rf {/lib,/etc}/systemd/system/sysinit.target.wants
	for unit in sysinit basic; do
		echo '[Unit]' >"/run/systemd/system/$unit.target"
	done
	unshare --pid --fork --mount --mount-proc sh -c '
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		exec /lib/systemd/systemd --system --unit=lab.target \
			--log-target=kmsg --show-status=no' >/run/systemd.log 2>&1 &
	soon inside systemctl is-active lab.target || { dmesg | tail; false; }
}

# session FILE: run the commands of a document.  BASH_ENV cannot name
# lib-words.sh, because scripts of the packages would then read lib-words.sh,
# too.
session()
{
	# shellcheck disable=SC2016
	inside bash -e -c 'cd "$1" && . "$2" && . "$3"' sh "$dir/sch-iqcn" \
		"$TOP/selftests/docs/lib-words.sh" "$1"
}

has()
{
	tc qdisc show dev "$1" 2>/dev/null | grep -q "$2"
}

# Create devices: udev announces only those that appear while systemd runs
devices()
{
	ip netns add peer
	ip link add eth1 numtxqueues 12 type veth peer name eth0 netns peer
	ip address add 192.0.2.1/24 dev eth1
	ip -n peer address add 192.0.2.2/24 dev eth0
	ip link set eth1 up
	ip -n peer link set eth0 up
}

# The packages and tc load the module: the commands of install.rst do not run
# modprobe
install()
{
	not grep -q ^sch_iqcn /proc/modules &&
	session "$dir"/docs/install && dpkg -L iqcn-tools sch-iqcn-dkms \
		>/run/installed && has eth1 'iqcn .* root'
}

status_installed()
{
	dkms status | grep -E "^sch-iqcn/.*, $kernel, .*: installed"
}

passes()
{
	ping -c 1 -w 30 192.0.2.2 &&
	tc -s -j qdisc show dev eth1 | jq -e '.[0].packets >= 1'
}

# JSON of all devices, with values that only the plugin prints
json()
{
	tc -s -j qdisc >/run/qdiscs.json &&
	jq -e '.[] | select(.kind == "iqcn") | .options.t1_ns > 0 and .ecn_mark == 0' \
		/run/qdiscs.json
}

tool()
{
	iqcn check && iqcn show -j | jq -e '.[0].dev == "eth1"'
}

# "man -k" needs an index, which takes long for all pages
manuals()
{
	local found

	mkdir -p /run/man/man8 &&
	cp "$(man -w 8 iqcn)" "$(man -w 8 tc-iqcn)" /run/man/man8/ &&
	mandb -q /run/man &&
	found=$(man -M /run/man -k iqcn) &&
	grep '^iqcn (8) ' <<<"$found" && grep '^tc-iqcn (8) ' <<<"$found"
}

# example FILE: run commands of a document that use the package's examples, in a
# directory of their own.  make would compile for ten minutes, so a replacement
# copies what packages.sh has compiled.
example()
{
	mkdir -p /run/example /run/bin &&
	cat >/run/bin/make <<-EOF &&
	#!/bin/sh
	[ "\$*" = "-C examples" ] && cp $dir/examples/rocehost.ko examples/
	EOF
	chmod +x /run/bin/make || return 1
	# shellcheck disable=SC2016
	PATH=/run/bin:$TOP/selftests/docs/bin:$PATH bash -e -c '
		cd /run/example && . "$1" && . "$2"' sh \
		"$TOP/selftests/docs/lib-words.sh" "$1" >/run/example.log 2>&1
	set -- $?
	cat /run/example.log
	return "$1"
}

# A sink has received packets: device, name, QP, packets, ...
received()
{
	grep -qE '^[^,]+,flows,[0-9]+,[1-9]' /run/example.log
}

mininet()
{
	example "$dir"/docs/examples && received &&
		not grep -q '^rocehost ' /proc/modules
}

# The tutorial's commands, with the files that mininet() has copied and built
clab()
{
	example "$dir"/docs/clab && received && rmmod rocehost
}

# As in metrics.rst; the package of node_exporter has created the directory
metrics()
{
	local file=/var/lib/prometheus/node-exporter/iqcn.prom

	rm -f "$file" && inside systemctl enable --now iqcn-metrics.timer &&
	soon grep -qx 'iqcn_up 1' "$file" &&
	grep -q '^iqcn_queue_limit_bytes{.*device="eth1"' "$file" &&
	rm "$file" && inside systemctl start iqcn-metrics.service &&
	grep -qx 'iqcn_up 1' "$file" &&
	inside systemctl disable --now iqcn-metrics.timer
}

unit_valid()
{
	systemd-analyze verify iqcn@eth1.service iqcn-agent@eth1.service
}

# The device appears after the service has been enabled
hotplug()
{
	echo 'IQCN_OPTIONS="t1 200us telemetry on"' >/etc/default/iqcn-br-lan
	inside systemctl enable 'iqcn@br\x2dlan' &&
	not has br-lan iqcn &&
	ip link add br-lan type dummy &&
	soon has br-lan 'iqcn .* root .* t1 200us .* telemetry on'
}

# A reload replaces the qdisc as a whole, or keeps it if the options are wrong
reloads()
{
	echo 'IQCN_OPTIONS="t1 300us"' >/etc/default/iqcn-br-lan
	inside systemctl reload 'iqcn@br\x2dlan' && has br-lan 'iqcn .* t1 300us' &&
	not has br-lan 'telemetry on' || return 1
	echo 'IQCN_OPTIONS="t1 300"' >/etc/default/iqcn-br-lan
	not inside systemctl reload 'iqcn@br\x2dlan' &&
	has br-lan 'iqcn .* t1 300us' &&
	[ "$(inside systemctl is-active 'iqcn@br\x2dlan')" = active ]
}

stops()
{
	inside systemctl stop 'iqcn@br\x2dlan' && not has br-lan iqcn
}

# The commands of AT BOOT in tc-iqcn(8) put an iqcn below each transmit queue
manual()
{
	session "$dir"/docs/boot &&
	[ "$(tc qdisc show dev eth1 | grep -c 'iqcn .* t1 200us')" = 12 ]
}

# The service removes the qdisc that it created, even if IQCN_AT has changed
# since then
elsewhere()
{
	cat >/etc/default/iqcn-br-lan <<-EOF
	IQCN_AT=1:10
	IQCN_OPTIONS="t1 100us"
	EOF
	inside systemctl stop 'iqcn@br\x2dlan' && not has br-lan iqcn &&
	tc qdisc add dev br-lan root handle 1: htb &&
	tc class add dev br-lan parent 1: classid 1:10 htb rate 1gbit &&
	inside systemctl start 'iqcn@br\x2dlan' &&
	has br-lan 'iqcn .* parent 1:10 .* t1 100us' &&
	inside systemctl stop 'iqcn@br\x2dlan' &&
	not has br-lan iqcn && has br-lan 'htb 1: root' &&
	inside systemctl start 'iqcn@br\x2dlan'
}

# A service that was started before its class exists waits for the class
waits()
{
	inside systemctl stop 'iqcn@br\x2dlan' &&
	echo 'IQCN_AT=1:20' >/etc/default/iqcn-br-lan || return 1
	inside systemctl start 'iqcn@br\x2dlan' || true
	not has br-lan iqcn &&
	tc class add dev br-lan parent 1: classid 1:20 htb rate 1gbit &&
	soon has br-lan 'iqcn .* parent 1:20' &&
	grep -F 'br-lan has no class 1:20 yet' /run/said
}

leases()
{
	tc -s -j qdisc show dev lh0 | jq -e '.[] | .leases > 0'
}

# The agent runs as a user of its own, with no capability but CAP_NET_ADMIN
agent_leases()
{
	local pid

	ip link add lh0 type dummy && ip link set lh0 up &&
	tc qdisc add dev lh0 root iqcn bandwidth 25gbit notify supplement \
		fiber 500km filter auto &&
	inside systemctl start iqcn-agent@lh0 && soon leases &&
	pid=$(inside systemctl show -P MainPID iqcn-agent@lh0) &&
	inside cat "/proc/$pid/status" >/run/agent &&
	grep -E '^Uid:.[1-9]' /run/agent &&
	grep -E '^CapEff:.0+1000$' /run/agent &&
	grep -E '^CapBnd:.0+1000$' /run/agent &&
	soon inside grep -q '^iqcn_agent_steps_total' \
		/run/iqcn-agent-lh0/iqcn-agent-lh0.prom
}

inactive()
{
	[ "$(inside systemctl is-active "$1")" = inactive ]
}

# If the device is deleted, the service stops without a failure
unplug()
{
	ip link del br-lan && soon inactive 'iqcn@br\x2dlan'
}

agent_unplug()
{
	ip link del lh0 && soon inactive iqcn-agent@lh0
}

# refused DEV LINE WORDS: with LINE in its file the service must not start, and
# must print WORDS
refused()
{
	ip link show "$1" >/dev/null 2>&1 || ip link add "$1" type dummy
	echo "$2" >"/etc/default/iqcn-$1"
	: >/run/said
	not inside systemctl start "iqcn@$1" && not has "$1" iqcn &&
	grep -F "$3" /run/said || { cat /run/said; false; }
}

one_queue()
{
	refused dum0 IQCN_AT=mq 'dum0 has only one transmit queue'
}

foreign()
{
	tc qdisc add dev dum0 root handle 1: htb &&
	refused dum0 IQCN_AT=root 'dum0 has the qdisc htb 1: at root' &&
	has dum0 'htb 1: root' && tc qdisc del dev dum0 root
}

bad_options()
{
	refused dum0 IQCN_OPTIONS=nonsense 'unknown parameter "nonsense"'
}

bad_place()
{
	refused dum0 IQCN_AT=above 'IQCN_AT=above'
}

# Remove the packages while the service of dum0 runs, which the commands of
# install.rst do not stop
purge()
{
	rm /etc/default/iqcn-* /usr/share/sch-iqcn-dkms/*.dkms.tar.gz
	inside systemctl start iqcn@dum0 && has dum0 iqcn &&
	inside systemctl disable 'iqcn@br\x2dlan' &&
	session "$dir"/docs/remove &&
	not has dum0 iqcn && not has eth1 iqcn
}

# directories that other packages share may stay
nothing_left()
{
	local f left=0

	while read -r f; do
		if [ -f "$f" ] || [[ $f == *iqcn* && -e $f ]]; then
			echo "$f"
			left=1
		fi
	done < <(cat /run/installed
		 find /lib/modules /var/lib/dkms /usr/src /etc/systemd \
			/etc/default /var/lib/systemd /run/iqcn* \
			-name '*iqcn*' 2>/dev/null)
	[ $left = 0 ] && not modinfo sch_iqcn
}

prepare || exit 1
ok "systemd runs" systemd_starts || exit 1
devices
ok "packages install as install.rst says, and tc loads the module" install || exit 1
ok "a packet passes" passes
ok "tc -s -j prints JSON" json
ok "iqcn" tool
ok "manual pages" manuals
ok "the package's example for mininet" mininet
ok "the package's example for containerlab" clab
ok "iqcn-metrics.timer writes a file for node_exporter" metrics
ok "systemd-analyze verify" unit_valid
ok "iqcn@ as tc-iqcn(8) says" manual
ok "iqcn@ when the device appears" hotplug
ok "iqcn@ reloads" reloads
ok "iqcn@ below another qdisc" elsewhere
ok "iqcn@ waits for a class" waits
ok "iqcn@ stops when the device goes" unplug
ok "iqcn-agent@ leases" agent_leases
ok "iqcn-agent@ stops when the device goes" agent_unplug
ok "iqcn@ refuses mq on a device with one queue" one_queue
ok "iqcn@ leaves another qdisc alone" foreign
ok "iqcn@ refuses bad parameters" bad_options
ok "iqcn@ refuses a bad place" bad_place
ok "packages are removed as install.rst says" purge
ok "no file is left" nothing_left
echo "    1..$n"
exit $failed
