# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Fetch packages of releases that the host's apt does not know, without
# privileges, from the mirror of the host's own packages.  apt verifies what it
# fetches.  Sourced by lab.sh.

# Name of the host's release in its package lists; the mirror of this release
# also has the other releases
APT_RELEASE=bookworm

# apt_uri RELEASE: print the URI of a release in the host's package lists, if
# any
apt_uri()
{
	# shellcheck disable=SC2016
	apt-get indextargets --no-release-info \
		--format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
		awk -v release="$1" '$1 == release { print $2; exit }'
}

# apt_own DIR RELEASE...: create package lists of only these releases in DIR;
# security releases are omitted if the host has no lists of them, because the
# mirror does not have them
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

# apt_in DIR ARGUMENT...: run apt-get with the package lists in DIR
apt_in()
{
	apt-get -q -o Dir::Etc::SourceList="$1/sources.list" \
		-o Dir::Etc::SourceParts=- -o Dir::Etc::Preferences=- \
		-o Dir::Etc::PreferencesParts=- -o Dir::State="$1/state" \
		-o Dir::Cache="$1/cache" -o APT::Sandbox::User=root "${@:2}"
}
