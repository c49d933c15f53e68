# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Debian's kernels, each with the root of its own release: compiler, headers,
# tc. Sourced by lab.sh.
#
# Packages are unpacked, not installed, so no privileges are needed.  Of the
# files that their scripts would create, a compiler and tc need only those of
# distro_unpack() and distro_finish().  Commands that run in such a root before
# its kernel is booted run in User Mode Linux, where the host's user is root and
# may chroot.

DISTROS="bookworm backports sid"

DISTRO_PACKAGES="base-files base-passwd bash dash coreutils diffutils findutils grep
	sed mawk gzip tar util-linux mount hostname make gcc libc6-dev
	libnl-3-dev libnl-genl-3-dev libjson-c-dev libncurses-dev zlib1g-dev pkg-config
	kmod procps busybox-static tcpdump jq ethtool perftest rdma-core ibverbs-providers
	ibverbs-utils rdmacm-utils"
DISTRO_KERNEL_PACKAGES="linux-image-amd64 linux-headers-amd64 iproute2"

is_distro()
{
	[[ " $DISTROS " == *" $1 "* ]]
}

# distro_releases NAME: print the releases of its packages
distro_releases()
{
	case $1 in
	bookworm) echo bookworm bookworm-updates bookworm-security ;;
	backports) echo bookworm bookworm-updates bookworm-security \
		bookworm-backports ;;
	*) echo "$1" ;;
	esac
}

distro_packages()
{
	local p

	echo $DISTRO_PACKAGES
	for p in $DISTRO_KERNEL_PACKAGES; do
		[ "$1" != backports ] || p+=/bookworm-backports
		echo "$p"
	done
}

# Print the directory of a distribution.  Its name has a hash of the packages
# and of the functions that install them.  Versions are not part of the hash,
# because sid has new ones every day; "lab.sh renew" installs them.
distro_dir()
{
	local hash

	hash=$({ distro_releases "$1"; distro_packages "$1"
		 declare -f distro_unpack distro_finish distro_memory; } | sha256sum)
	echo "$LAB_CACHE/root-$1-${hash:0:12}"
}

# Print the release of the distribution's kernel
distro_version()
{
	basename "$(distro_dir "$1")"/root/usr/lib/modules/*
}

distro_download()
{
	local dir=$1 name=$2

	mkdir -p "$dir"
	# shellcheck disable=SC2046
	apt_own "$dir" $(distro_releases "$name") &&
		: >"$dir/none-installed" &&
		apt_in "$dir" -o Dir::State::status="$dir/none-installed" \
			-o Debug::NoLocking=1 -y -d --no-install-recommends \
			install $(distro_packages "$name")
}

# Unpack the packages.  /bin and others are links to directories in /usr; in the
# older release, a script of a package would create these links.
distro_unpack()
{
	local dir=$1 root=$1/root deb d

	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} || return
	for d in bin sbin lib lib64; do
		ln -s usr/$d "$root/$d" || return
	done
	for deb in "$dir"/cache/archives/*.deb; do
		echo "${deb##*/}"
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$root" --keep-directory-symlink --no-same-owner \
				--exclude='./usr/share/doc/*' \
				--exclude='./usr/share/man/*' \
				--exclude='./usr/share/locale/*' || return
	done
}

# Create the files that the packages' scripts would create, if they are needed
distro_finish()
{
	local root=$1/root

	mkdir -p "$root/mnt" "$root/tmp" &&
		cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd" &&
		cp "$root/usr/share/base-passwd/group.master" "$root/etc/group" &&
		echo tcpdump:x:100:65534::/:/usr/sbin/nologin >>"$root/etc/passwd" &&
		ln -sf mawk "$root/usr/bin/awk" &&
		ln -sf gcc "$root/usr/bin/cc" &&
		ln -sf dash "$root/usr/bin/sh" || return
	/sbin/depmod -b "$root" "$(basename "$root"/usr/lib/modules/*)"
}

# Create a root in memory, without compilers and most drivers: a guest whose
# clock skips idle time must not wait for files, because its clock would jump
distro_memory()
{
	local dir=$1

	(cd "$dir/root" && {
		find . -maxdepth 1
		find . -path './usr/*' -prune -o -path './boot/*' -prune -o -print
		find usr -maxdepth 1
		find usr/bin usr/sbin usr/lib64 ! -size +4096k
		find usr/lib -maxdepth 1
		find usr/lib/modprobe.d
		find usr/lib/x86_64-linux-gnu ! -name '*.a' ! -name '*san.so*'
		find usr/lib/modules -maxdepth 3
		find usr/lib/modules/*/kernel/{net,lib,crypto,arch/x86/crypto}
		find usr/lib/modules/*/kernel/drivers/net -maxdepth 1
		find usr/lib/modules/*/kernel/drivers/net/{bonding,vxlan}
		find usr/lib/modules/*/kernel/{drivers/infiniband,fs} -maxdepth 1
		find usr/lib/modules/*/kernel/{drivers/infiniband/{core,sw/rxe},fs/configfs}
	} | sort -u | cpio -o -H newc -R 0:0) >"$dir/root.cpio"
}

distro_build()
{
	local dir tmp

	dir=$(distro_dir "$1")
	if [ ! -e "$dir/.complete" ]; then
		tmp=$dir.tmp
		rm -rf "$dir" "$tmp"
		mkdir -p "$tmp"
		distro_download "$tmp" "$1" >"$tmp.log" 2>&1 &
		progress "$tmp.log" "fetching Debian $1" || exit 1
		{ distro_unpack "$tmp" && distro_finish "$tmp" &&
			distro_memory "$tmp"; } \
			>"$tmp.log" 2>&1 &
		progress "$tmp.log" "unpacking Debian $1" || exit 1
		rm -rf "$tmp/cache" "$tmp/state" "$tmp.log"
		mv "$tmp" "$dir"
		touch "$dir/.complete"
	fi
}

# distro_run NAME COMMAND...: run a command in its root, with this tree on /mnt
distro_run()
{
	local name=$1
	shift

	is_distro "$name" || die "no such distribution: $name"
	kernel_build "$name"
	lab_run uml -w "$LAB/chroot.sh" "$(distro_dir "$name")/root" \
		"$(dirname "$(dirname "$LAB")")" "$@"
}
