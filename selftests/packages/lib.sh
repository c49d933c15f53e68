# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Common parts of the tests of packages: a clean copy of the tree ($TREE), and
# functions that run commands as an unprivileged user or extract the commands of
# documents.  KTAP.  Sourced after $HERE has been set.

TOP=$(cd "$HERE/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
TREE=$WORK/sch-iqcn

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
		env HOME="$WORK" "$@"
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

# document NAME: extract the commands of a document to files LINE.WHERE, see
# extract.awk.  Do not ignore make, nor systemctl, because the guest runs
# systemd.
document()
{
	local out=$WORK/docs/${1##*/}

	mkdir -p "$out" &&
	grep -vE '^(systemctl |make\()' selftests/docs/ignore >"$WORK/ignore" &&
	awk -f selftests/docs/extract.awk -v doc="$1" -v out="$out" \
		-v ignore="$WORK/ignore" "$1"
}

# files ROOT: list its files as in a merged /usr
files()
{
	(cd "$1" && find . -type f) | sed -E 's|^\./(usr/)?||' | sort
}
