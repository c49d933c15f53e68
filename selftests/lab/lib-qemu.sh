# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The QEMU that guests run in: that of bookworm-backports, unpacked beside the
# machine's, whose libraries it uses.  Debian 12's own is not fit for two emulated
# CPUs.  When one patches code (a static key) that the other is translating, the
# latter may keep a translation of the breakpoint that was there meanwhile, and so
# takes an exception for ever: "soft lockup", in the receive path as a rule, after
# seconds of ping beside clsact that comes and goes.  With QEMU 10 that ran as long
# as it was told to.  Sourced by lab.sh.

QEMU_RELEASE=bookworm-backports
QEMU_PACKAGES="qemu-system-x86 qemu-system-common qemu-system-data seabios"

qemu_dir()
{
	echo "$LAB_CACHE/qemu-$QEMU_RELEASE"
}

qemu_unpack()
{
	local tmp=$1 deb

	apt_own "$tmp" $QEMU_RELEASE || return
	# shellcheck disable=SC2086
	(cd "$tmp" && apt_in "$tmp" download $QEMU_PACKAGES) || return
	mkdir "$tmp/root"
	for deb in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$tmp/root" --no-same-owner \
				--exclude='./usr/share/doc/*' \
				--exclude='./usr/share/man/*' || return
	done
	[ -x "$tmp/root/usr/bin/qemu-system-x86_64" ]
}

# qemu_build: have it there
qemu_build()
{
	local dir tmp lock

	dir=$(qemu_dir)
	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -d "$dir" ]; then
		tmp=$dir.tmp
		rm -rf "$tmp"
		mkdir -p "$tmp"
		qemu_unpack "$tmp" >"$tmp.log" 2>&1 &
		progress "$tmp.log" "fetching QEMU" || exit 1
		mv "$tmp/root" "$dir"
		rm -rf "$tmp" "$tmp.log"
	fi
	exec {lock}>&-
}
