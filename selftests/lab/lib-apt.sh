# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Packages of releases that this machine's apt does not know, fetched as anybody,
# from where the machine's own packages come.  apt verifies what it gets.  Sourced
# by lab.sh.

# What the machine's lists call its own release, from whose mirror the others come
APT_RELEASE=bookworm

# apt_uri RELEASE: where the machine has it from, if it has
apt_uri()
{
	# shellcheck disable=SC2016
	apt-get indextargets --no-release-info \
		--format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
		awk -v release="$1" '$1 == release { print $2; exit }'
}

# apt_own DIR RELEASE...: lists in DIR, of these releases and no other; one that is
# in no mirror of ours (security) is left out
apt_own()
{
	local dir=$1 mirror uri release
	shift

	mirror=$(apt_uri $APT_RELEASE)
	if [ -z "$mirror" ]; then
		echo "apt has no mirror of $APT_RELEASE"
		return 1
	fi
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" || return
	for release; do
		uri=$(apt_uri "$release")
		case $release,$uri in
		*-security,) continue ;;
		*,) uri=$mirror ;;
		esac
		echo "deb $uri $release main"
	done >"$dir/sources.list"
	apt_in "$dir" update
}

# apt_in DIR ARGUMENT...: apt-get by those lists
apt_in()
{
	apt-get -q -o Dir::Etc::SourceList="$1/sources.list" \
		-o Dir::Etc::SourceParts=- -o Dir::Etc::Preferences=- \
		-o Dir::Etc::PreferencesParts=- -o Dir::State="$1/state" \
		-o Dir::Cache="$1/cache" -o APT::Sandbox::User=root "${@:2}"
}
