#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the recipes for other distributions: they pass the linters that Debian
# has, build as install.rst says, and contain the files that make install
# installs.  Also test that make modules names the package of kernel headers.
# KTAP.
#
# rpm and makepkg run on Debian, so they ignore dependencies, which are packages
# of other distributions.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/packages/lib.sh
. "$HERE/lib.sh"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

# session NAME: run the commands of install.rst for a distribution
session()
{
	# shellcheck disable=SC2016
	cd "$TREE" && ordinary bash -e -c '
		rpmbuild()
		{
			command rpmbuild --nodeps \
				--define "_unitdir /usr/lib/systemd/system" \
				--define "systemd_preun() true" "$@"
		}
		makepkg() { command makepkg --nodeps "$@"; }
		# do not install the packages, only check that they exist
		dnf() { ls -l "${@:2}"; }
		pacman() { ls -l "${@:2}"; }
		. "$1" && . "$2"' sh "$TREE/selftests/docs/lib-words.sh" \
		"$WORK"/docs/install.rst/*."$1"
}

check_spec()
{
	local out

	out=$(rpmlint -r contrib/rpm/sch-iqcn.rpmlintrc \
		contrib/rpm/sch-iqcn.spec 2>&1) &&
		rpmspec -P contrib/rpm/sch-iqcn.spec >/dev/null || {
		echo "$out"
		return 1
	}
	[[ $out == *" 0 errors, 0 warnings"* ]] || { echo "$out"; return 1; }
}

check_pkgbuild()
{
	local info

	shellcheck -S warning contrib/arch/PKGBUILD &&
		info=$(cd "$TREE/contrib/arch" && ordinary makepkg --printsrcinfo) &&
		grep -qx "pkgname = iqcn-tools" <<<"$info" &&
		grep -qx "pkgname = sch-iqcn-dkms" <<<"$info"
}

# names: print the names of files without the distribution's directories, and
# omit documentation and files of the package system
names()
{
	sed -E '/\/$|^\.[A-Z]+$/d; s|^\.?/||; s|^usr/||; s|^s?bin/|BIN/|
		s,^lib(64|/[a-z0-9_]+-linux-gnu)?/(tc|wireshark)/,LIB/\2/,
		s|(/man8/.*)\.gz$|\1|
		/^share\/(doc|licenses)\/|\/\.build-id\//d' | sort
}

# same COMMAND: check that the packages, whose files COMMAND lists, contain what
# make install-tools installs, and the sources of the module
same()
{
	diff <({ files "$WORK/root"
		 cd "$TREE" && find kmod dkms.conf -type f |
			sed "s|^|src/sch-iqcn-$version/|"; } | names) \
		<("$1" | names)
}

of_rpm()
{
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' \
		"$WORK"/rpmbuild/RPMS/*/*.rpm | sed -n '/^d/!s/^[^ ]* //p'
}

of_arch()
{
	local f

	for f in "$TREE"/contrib/arch/*.pkg.tar.*; do
		tar -tf "$f"
	done
}

installs()
{
	tree install-tools DESTDIR="$WORK/root"
}

# no_headers OS_RELEASE... -- WORDS: make modules must fail in a distribution
# with this os-release, and print WORDS
no_headers()
{
	local out lines=()

	while [ "$1" != -- ]; do
		lines+=("$1")
		shift
	done
	printf '%s\n' "${lines[@]}" >"$WORK/os-release"
	out=$(make -s -C "$TREE" modules OS_RELEASE="$WORK/os-release" \
		KDIR="/lib/modules/$(uname -r)/build" 2>&1) && return 1
	[[ $out == *"$2"* ]] || { echo "$out"; return 1; }
}

headers()
{
	local r

	r=$(uname -r)
	# this machine may have the headers
	[ ! -e "/lib/modules/$r/build/Makefile" ] || return 0
	no_headers ID=debian -- "apt-get install linux-headers-$r" &&
		no_headers ID=ubuntu ID_LIKE=debian -- \
			"apt-get install linux-headers-$r" &&
		no_headers ID=fedora -- "dnf install kernel-devel-$r" &&
		no_headers 'ID="almalinux"' 'ID_LIKE="rhel centos fedora"' -- \
			"dnf install kernel-devel-$r" &&
		no_headers ID=arch -- "pacman -S linux-headers" &&
		no_headers 'ID="opensuse-leap"' 'ID_LIKE="suse opensuse"' -- \
			"zypper install kernel-" &&
		no_headers ID=other -- "package with the headers of Linux $r"
}

headers_elsewhere()
{
	local out

	out=$(make -s -C "$TREE" modules KDIR=/nothing 2>&1) && return 1
	[[ $out == *"no kernel headers in /nothing"*"Give KDIR="* ]] ||
		{ echo "$out"; return 1; }
}

echo "TAP version 13"
copy_tree || exit 1
logged "make modules names the package of kernel headers" headers
logged "make modules says if KDIR has no headers" headers_elsewhere
(document Documentation/install.rst); result $? "install.rst contains the sessions"
logged "make install-tools" installs
logged "rpmlint" check_spec
if logged "packages build with rpm as install.rst says" session rpm; then
	logged "they contain what make install installs" same of_rpm
fi
logged "shellcheck and makepkg read PKGBUILD" check_pkgbuild
if logged "packages build with makepkg as install.rst says" session arch; then
	logged "they contain what make install installs" same of_arch
fi
echo "1..$n"
exit $failed
