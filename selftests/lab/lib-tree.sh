# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Newer kernel sources, or parts of them, that linux-source-6.1 does not have:
# fetched from Debian's linux-source packages and kept.  Sourced by lab.sh.

# The generic netlink client, tools/net/ynl
YNL_RELEASE=bookworm-backports
YNL_PACKAGE=linux-source-6.12

# tc's own tests, tools/testing/selftests/tc-testing: the newest available.  sid
# drops a package when it has the next kernel, while backports keeps its own.
TDC_SOURCES="sid:linux-source-7.2 bookworm-backports:linux-source-6.12"

ynl_dir()
{
	echo "$LAB_CACHE/ynl-${YNL_PACKAGE#linux-source-}"
}

# Print the directory of the newest tests of tc that have been fetched
tdc_dir()
{
	local s dir

	for s in $TDC_SOURCES; do
		dir=$LAB_CACHE/tdc-${s##*-}
		[ ! -d "$dir" ] || { echo "$dir"; return; }
	done
}

tree_download()
{
	local tmp=$1 release=$2 package=$3

	apt_own "$tmp" "$release" &&
		(cd "$tmp" && apt_in "$tmp" download "$package")
}

# tree_unpack TMP PROOF MEMBER...: unpack members of the source package into
# TMP/tree, and check that the file PROOF is among them
tree_unpack()
{
	local tmp=$1 proof=$2
	shift 2

	mkdir "$tmp/tree"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb |
		tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ -C "$tmp/tree" --strip-components=1 --wildcards "$@"
	[ -e "$tmp/tree/$proof" ]
}

# tree_fetch DIR RELEASE PACKAGE PROOF MEMBER...: fetch unless DIR exists, print
# DIR
tree_fetch()
{
	local dir=$1 release=$2 package=$3 tmp=$1.tmp lock rc=0
	shift 3

	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -d "$dir" ]; then
		rm -rf "$tmp"
		mkdir -p "$tmp"
		if { tree_download "$tmp" "$release" "$package" &&
		     tree_unpack "$tmp" "$@"; } >"$tmp.log" 2>&1; then
			mv "$tmp/tree" "$dir"
			rm -f "$tmp.log"
		else
			tail -n 5 "$tmp.log" >&2
			echo "lab: cannot fetch $package of $release" >&2
			rc=1
		fi
		rm -rf "$tmp"
	fi
	exec {lock}>&-
	[ $rc != 0 ] || echo "$dir"
	return $rc
}

ynl_fetch()
{
	tree_fetch "$(ynl_dir)" $YNL_RELEASE $YNL_PACKAGE tools/net/ynl/cli.py \
		'*/tools/net/ynl' '*/Documentation/netlink/*.yaml' || exit 1
}

# Fetch the tests of tc from the first of TDC_SOURCES that is available
tdc_fetch()
{
	local s version tests=tools/testing/selftests/tc-testing

	for s in $TDC_SOURCES; do
		version=${s##*-}
		tree_fetch "$LAB_CACHE/tdc-$version" "${s%%:*}" "${s#*:}" \
			$tests/tc-tests/infra/qdiscs.json "*/$tests" && return
	done
	exit 1
}
