# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The QEMU of bookworm-backports, unpacked; it uses the host's libraries.
# Debian 12's own does not emulate two CPUs correctly.  If one CPU patches code
# (a static key) that the other is translating, the latter may keep a
# translation of the temporary breakpoint, and take an exception forever: "soft
# lockup", usually in the receive path, after seconds of ping while clsact is
# added and deleted.  With QEMU 10 the same test does not fail.  Sourced by
# lab.sh.

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

# qemu_build: fetch and unpack QEMU unless it is there
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
