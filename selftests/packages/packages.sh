#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages: they build from a clean copy of this tree as an unprivileged
# user, contain what make install installs, and work in the stock kernel as
# install.rst says (guest.sh).  KTAP.
#
# dkms compiles the packaged module for the stock kernel on this machine,
# because the guest would need ten minutes under emulation.  The guest installs
# the result as a dkms tarball.  The packages' scripts do everything else in the
# guest.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
TREE=$WORK/sch-iqcn
kernel=$("$LAB" key stock) || exit 1
headers=/usr/src/linux-headers-$kernel

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"
# logged NAME COMMAND...: run a test; show its output if it fails
logged()
{
	local name=$1 rc
	shift

	"$@" >"$WORK/log" 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 30 "$WORK/log" | sed 's/^/# /'
	result $rc "$name"
	return $rc
}

# ordinary COMMAND...: run a command as an unprivileged user
ordinary()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid nobody --regid nogroup --clear-groups \
			env HOME="$WORK" "$@"
	else
		"$@"
	fi
}

# tree ARG...: run make in $TREE, without messages about directories
tree()
{
	ordinary make -s --no-print-directory -C "$TREE" "$@"
}

# Copy the files that git tracks or would track
copy_tree()
{
	mkdir "$TREE" &&
	{ git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
		find . \( -path ./.git -o -path ./build \) -prune \
			-o -type f -print0
	} | tar --null --ignore-failed-read -T - -c 2>/dev/null |
		tar -x -C "$TREE" || return 1
	[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$WORK"
	chmod 755 "$WORK"
}

# document NAME: extract the commands of a document that are for the packages,
# one file per line number.  Commands of systemctl are kept, because the guest
# runs systemd.
document()
{
	local out=$WORK/docs/${1##*/}

	mkdir -p "$out" &&
	grep -v '^systemctl ' selftests/docs/ignore >"$WORK/ignore" &&
	awk -f selftests/docs/extract.awk -v doc="$1" -v out="$out" \
		-v ignore="$WORK/ignore" "$1"
}

# Give the sessions the names that guest.sh and build use
documents()
{
	document Documentation/install.rst &&
		document Documentation/man/tc-iqcn.8 || return 1
	cd "$WORK/docs" && mv install.rst/*.build build &&
	set -- install.rst/*.packages && [ $# = 2 ] && mv "$1" install &&
	mv "$2" remove && set -- tc-iqcn.8/*.packages && [ $# = 1 ] &&
	mv "$1" boot
}

# Build the binary packages as install.rst says, then the source package
build()
{
	# shellcheck disable=SC2016
	cd "$TREE" && ordinary bash -e -c '. "$1" && . "$2"' sh \
		"$TREE/selftests/docs/lib-words.sh" "$WORK/docs/build" &&
	ordinary dpkg-buildpackage -us -uc -S
}

check_lintian()
{
	ordinary lintian --fail-on error,warning,info --tag-display-limit 0 \
		"$WORK"/*.changes
}

# files ROOT: list its files as in a merged /usr
files()
{
	(cd "$1" && find . -type f) | sed -E 's|^\./(usr/)?||' | sort
}

unpack()
{
	ordinary mkdir "$WORK/tools" "$WORK/dkms" &&
	ordinary dpkg-deb -x "$WORK"/iqcn-tools_*_*.deb "$WORK/tools" &&
	ordinary dpkg-deb -x "$WORK"/sch-iqcn-dkms_*.deb "$WORK/dkms"
}

# Compare without compression of manual pages, and without the documentation
# that every package has
tools_contents()
{
	diff <(files "$WORK/root" | grep -v '^lib/modules/') \
		<(files "$WORK/tools" | sed '/^share\/man\//s/\.gz$//' |
			grep -vE '^share/(doc|lintian)/')
}

dkms_contents()
{
	local src

	src=$(echo "$WORK"/dkms/usr/src/*)
	diff <(cd "$TREE" && find kmod dkms.conf -type f | sort) \
		<(cd "$src" && find . -type f | sed 's|^\./||' | sort) &&
	diff -r "$TREE/kmod" "$src/kmod" &&
	files "$WORK/dkms" | grep -vE '^(src|share/doc)/' && return 1
	true
}

# make install installs the module for that kernel, and other files
installs()
{
	tree install KDIR="$headers" DESTDIR="$WORK/root" &&
	[[ $(/sbin/modinfo -F vermagic \
		"$WORK/root/lib/modules/$kernel/extra/sch_iqcn.ko") == \
		"$kernel "* ]] &&
	[ "$(files "$WORK/root" | wc -l)" -gt 5 ]
}

uninstalls()
{
	cp -a "$WORK/root" "$WORK/uninstalled" &&
	tree uninstall KDIR="$headers" DESTDIR="$WORK/uninstalled" &&
	find "$WORK/uninstalled" -type f -o -type d -name iqcn | grep . &&
		return 1
	# units of this machine, but not of a staged tree
	tree -n uninstall-tools | grep -q 'systemctl stop' &&
	! tree -n uninstall-tools DESTDIR="$WORK/uninstalled" | grep systemctl
}

dkms_builds()
{
	local dirs version

	version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TREE/dkms.conf")
	dirs=(--sourcetree "$WORK/dkms/usr/src" --dkmstree "$WORK/dkmstree"
	      --kernelsourcedir "$headers" -k "$kernel")
	ordinary mkdir "$WORK/dkmstree" &&
	ordinary /usr/sbin/dkms add "sch-iqcn/$version" "${dirs[@]}" &&
	ordinary /usr/sbin/dkms build "sch-iqcn/$version" "${dirs[@]}" &&
	ordinary /usr/sbin/dkms mktarball "sch-iqcn/$version" "${dirs[@]}" \
		--binaries-only --archive \
		"$WORK/sch-iqcn-$version.dkms.tar.gz"
}

echo "TAP version 13"
copy_tree || exit 1
(documents); result $? "install.rst and tc-iqcn(8) contain the sessions"
if logged "packages build as an ordinary user" build; then
	logged "lintian" check_lintian
	unpack || exit 1
	logged "make install" installs
	logged "iqcn-tools contains what make install installs" tools_contents
	logged "sch-iqcn-dkms contains the module's sources" dkms_contents
	logged "make uninstall removes all files" uninstalls
	logged "dkms builds the module for the stock kernel" dkms_builds
	"$LAB" run stock "$HERE/guest.sh" "$WORK"
	result $? "packages install, work and uninstall in the stock kernel"
fi
echo "1..$n"
exit $failed
