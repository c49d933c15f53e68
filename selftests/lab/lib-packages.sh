# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Debian packages that the project needs, by purpose.  Sourced.

# to build the module, plugin, tools and kernels, and to boot the kernels
PKGS_LAB="gcc make libc6-dev zlib1g-dev libnl-3-dev libnl-genl-3-dev
	libjson-c-dev libncurses-dev pkg-config linux-source-6.1 linux-headers-amd64 flex bison bc
	libelf-dev libssl-dev xz-utils perl qemu-system-x86 busybox-static cpio
	kmod patch iproute2 procps tcpdump jq gnuplot-nox bsdextrautils"
# to check the sources, and for the tests
PKGS_CHECK="$PKGS_LAB sparse python3 python3-git python3-ply shellcheck git
	ethtool man-db tmux
	valgrind libc6-dbg
	clang libclang-rt-14-dev
	python3-scapy iputils-ping
	perftest rdma-core ibverbs-providers ibverbs-utils rdmacm-utils
	python3-yaml python3-jsonschema
	python3-docutils mininet bridge-utils
	tshark bpftrace trace-cmd
	curl prometheus prometheus-node-exporter python3-prometheus-client systemd
	build-essential debhelper dh-dkms dkms lintian udev locales
	rpm rpmlint makepkg pacman-package-manager libarchive-tools fakeroot"
# to train policies for iqcn agent
PKGS_AGENT="$PKGS_LAB python3-torch python3-numpy python3-matplotlib"

# pkgs_need LIST: install missing packages, or print how to
pkgs_need()
{
	local missing=() p

	for p in $1; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$p" \
			2>/dev/null)" = installed ] || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	local install=(apt-get -o DPkg::Lock::Timeout=120 install -y
		       --no-install-recommends "${missing[@]}")
	local sudo=()

	if [ "$(id -u)" != 0 ]; then
		if sudo -n true 2>/dev/null; then
			sudo=(sudo -n)
		else
			echo "Packages are missing. As root, run:" >&2
			echo "  apt-get update && ${install[*]}" >&2
			return 1
		fi
	fi
	echo "installing: ${missing[*]}"
	# apt-get update does not wait for its lock, which another one may have
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
		apt-get update || { sleep 30; apt-get update; } && "$@"
		' sh "${install[@]}" \
		>"$LAB_CACHE/apt.log" 2>&1 ||
		{ tail -n 20 "$LAB_CACHE/apt.log" >&2; return 1; }
}
