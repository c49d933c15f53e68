#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages: they build from a clean copy of this tree as an unprivileged
# user, contain what make install installs, and work in the stock kernel as
# install.rst says (guest.sh).  KTAP.
#
#   packages.sh [-b]	-b: without modules and the test in the guest
#
# The module and rocehost are compiled on this machine, because that would take
# ten minutes in the emulated guest: dkms compiles the packaged module for the
# stock kernel, and make compiles rocehost from the packaged examples.  The
# guest installs the module as a dkms tarball.  The packages' scripts do
# everything else in the guest.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/packages/lib.sh
. "$HERE/lib.sh"
kernel=$("$LAB" key stock) || exit 1
headers=/usr/src/linux-headers-$kernel

# clab FILE: change the tutorial's commands for containerlab so that they use
# the package's examples, as install.rst says
clab()
{
	grep -q containerlab "$1" &&
		sed 's|Documentation/examples/|examples/|; s|build/|examples/|' \
			"$1" >"$WORK/docs/clab"
}

# Extract the commands of the documents to files with the names that guest.sh
# and build() use
documents()
{
	document Documentation/install.rst &&
		document Documentation/man/tc-iqcn.8 &&
		document Documentation/tutorial.rst || return 1
	cd "$WORK/docs" && mv install.rst/*.build build &&
	clab "$(grep -l containerlab tutorial.rst/*.bare)" &&
	set -- install.rst/*.examples && [ $# = 1 ] && mv "$1" examples &&
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

unpack()
{
	ordinary mkdir "$WORK/tools" "$WORK/dkms" &&
	ordinary dpkg-deb -x "$WORK"/iqcn-tools_*_*.deb "$WORK/tools" &&
	ordinary dpkg-deb -x "$WORK"/sch-iqcn-dkms_*.deb "$WORK/dkms"
}

# Compare the names of files without the compression of manual pages, and
# without the documentation that every package has
tools_contents()
{
	diff <(files "$WORK/root") \
		<(files "$WORK/tools" | sed '/^share\/man\//s/\.gz$//' |
			grep -vE '^share/(doc|lintian)/')
}

# The package contains all files that its documents show or refer to, except
# those that only the source tree has
tools_documents()
{
	local doc=$WORK/tools/usr/share/doc/iqcn-tools f target

	cd "$doc" || return 1
	for f in README.md *.rst networking/*.rst; do
		sed -nE 's/^!\[[^]]*\]\(([^)]+).*/\1/p
			 s/^ *\.\. (image|figure|include):: (.*)/\2/p
			 s/^__ ([a-z].*)/\1/p
			 s/.*\]\(([^)#]+).*/\1/p' "$f" |
			while IFS= read -r target; do
				case $target in
				http* | man/* | CONTRIBUTING.md | NEWS) continue ;;
				esac
				[ -e "$(dirname "$f")/$target" ] ||
					echo "$f: no $target"
			done
	done >"$WORK/missing"
	cat "$WORK/missing"
	[ ! -s "$WORK/missing" ] && [ -e examples/rocehost/rocehost.h ] &&
		[ -x examples/mininet-iqcn.py ]
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

tools_install()
{
	tree install-tools DESTDIR="$WORK/root" &&
	[ "$(files "$WORK/root" | wc -l)" -gt 5 ]
}

# make install also installs the module for the stock kernel
installs()
{
	tree install KDIR="$headers" DESTDIR="$WORK/root" &&
	[[ $(/sbin/modinfo -F vermagic \
		"$WORK/root/lib/modules/$kernel/extra/sch_iqcn.ko") == \
		"$kernel "* ]]
}

uninstalls()
{
	local extra=$WORK/uninstalled/lib/modules/$kernel/extra

	cp -a "$WORK/root" "$WORK/uninstalled" &&
	# without make install, there is no module
	ordinary mkdir -p "$extra" && ordinary touch "$extra/sch_iqcn.ko" &&
	tree uninstall KDIR="$headers" DESTDIR="$WORK/uninstalled" &&
	find "$WORK/uninstalled" -type f -o -type d -name iqcn | grep . &&
		return 1
	# make stops units on this machine, but not for a staged tree; "grep -q"
	# would end early, and make would die of SIGPIPE
	tree -n uninstall-tools | grep 'systemctl stop' >/dev/null &&
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

# refused CONFIG...: dkms does not build for a kernel with these options
refused()
{
	local dirs version out

	version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TREE/dkms.conf")
	dirs=(--sourcetree "$WORK/dkms/usr/src" --dkmstree "$WORK/dkmstree"
	      --kernelsourcedir "$WORK/rt" -k 6.1.0-rt)
	ordinary mkdir -p "$WORK/rt" &&
	{ cat "$headers/.config" && printf '%s\n' "$@"; } >"$WORK/rt/.config" &&
	out=$(ordinary /usr/sbin/dkms build "sch-iqcn/$version" "${dirs[@]}" 2>&1)
	[ $? = 77 ] && [[ $out == *BUILD_EXCLUSIVE* ]] || { echo "$out"; return 1; }
}

# Build as install.rst says, but with the packages' files in other places
rocehost_builds()
{
	ordinary cp -r "$WORK/tools/usr/share/doc/iqcn-tools/examples" \
		"$WORK/examples" &&
	ordinary make -s -C "$WORK/examples" KDIR="$headers" \
		IQCN="$(echo "$WORK"/dkms/usr/src/sch-iqcn-*/kmod)" &&
	[[ $(/sbin/modinfo -F vermagic "$WORK/examples/rocehost.ko") == \
		"$kernel "* ]]
}

echo "TAP version 13"
copy_tree || exit 1
(documents); result $? "install.rst and tc-iqcn(8) contain the sessions"
if logged "packages build as an ordinary user" build; then
	logged "lintian" check_lintian
	unpack || exit 1
	logged "make install-tools" tools_install
	logged "iqcn-tools contains what make install-tools installs" \
		tools_contents
	logged "sch-iqcn-dkms contains the module's sources" dkms_contents
	[ "${1-}" = -b ] || logged "make install" installs
	logged "make uninstall removes all files" uninstalls
	logged "documents of iqcn-tools refer to files that it has" tools_documents
	if [ "${1-}" != -b ]; then
		logged "dkms builds the module for the stock kernel" dkms_builds
		logged "dkms refuses a kernel with PREEMPT_RT" \
			refused CONFIG_PREEMPT_RT=y
		logged "rocehost builds from the packages' files" rocehost_builds
		"$LAB" run stock "$HERE/guest.sh" "$WORK"
		result $? "packages install, work and uninstall in the stock kernel"
	fi
fi
echo "1..$n"
exit $failed
