# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Kernels by name: where they are and how they are built.  Sourced by lab.sh.

LAB_SOURCE=/usr/src/linux-source-6.1.tar.xz
LAB_PATCH=$LAB/linux-6.1.patch

# Kernels built from later sources, which are fetched: RELEASE PACKAGE
declare -A OWN_SOURCES=(
	[uml-preempt]="bookworm-backports linux-source-6.12"
	[uml-smp]="sid linux-source-7.2"
	[x86-kcsan]="bookworm-backports linux-source-6.12"
)

# Make builds identical for all users and times, because the version string
# seeds the kernel's random numbers (lab.sh run -s)
export KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab

die()
{
	echo "lab: $*" >&2
	exit 1
}

# progress LOG WHAT: show the progress of the background command that writes
# LOG, until it ends; one line on a terminal, otherwise a line every half minute
progress()
{
	local pid=$! log=$1 what=$2 start=$SECONDS line last=-30 n

	while kill -0 "$pid" 2>/dev/null; do
		n=$(wc -l 2>/dev/null <"$log" || echo 0)
		line="$what: $((SECONDS - start)) s, $n steps"
		if [ -t 2 ]; then
			printf '\r%s ' "$line" >&2
		elif [ $((SECONDS - start - last)) -ge 30 ]; then
			echo "$line" >&2
			last=$((SECONDS - start))
		fi
		sleep 0.5
	done
	wait "$pid"
	n=$?
	[ ! -t 2 ] || echo >&2
	[ $n = 0 ] || tail -n 30 "$log" >&2
	return $n
}

# source_is_own KERNEL: are its sources those of OWN_SOURCES?
source_is_own()
{
	[ -n "${OWN_SOURCES[$1]-}" ]
}

# source_version KERNEL: print the Debian version of linux-source-6.1, or the
# upstream version of a kernel in OWN_SOURCES
source_version()
{
	if source_is_own "$1"; then
		echo "${OWN_SOURCES[$1]##*linux-source-}"
	else
		dpkg-query -W -f='${Version}' linux-source-6.1 2>/dev/null ||
			die "linux-source-6.1 is not installed"
	fi
}

# source_dir [KERNEL]: print the directory of its sources.  For a kernel of
# OWN_SOURCES, whose sources are fetched, the name contains only the upstream
# version, so the sources are kept until they are renewed.  Otherwise it
# contains the Debian version and a hash of the patch.
source_dir()
{
	local kernel=${1:-uml} version

	version=$(source_version "$kernel") || exit 1
	source_is_own "$kernel" ||
		version+=-$(sha256sum <"$LAB_PATCH" | head -c 8)
	echo "$LAB_CACHE/linux-$version"
}

# source_patch DIR: patch the sources in DIR.  The patch only saves time, so a
# version of Linux to which it does not apply is built without it.  Patch never
# asks (-f).
source_patch()
{
	local how=(-p1 -s -f -F0 --no-backup-if-mismatch -d "$1" -i "$LAB_PATCH")

	command -v patch >/dev/null || die "patch is not installed"
	if patch --dry-run "${how[@]}" >/dev/null; then
		patch "${how[@]}"
	else
		echo "lab: $(basename "$LAB_PATCH") does not apply, so tests take longer" >&2
	fi
}

# source_unpack [KERNEL]: unpack the sources.  The tree gets its name when it is
# complete.
source_unpack()
{
	local dir tmp lock from=${OWN_SOURCES[${1:-uml}]-}

	dir=$(source_dir "$@") || exit 1
	if [ -n "$from" ]; then
		[ -d "$dir" ] || echo "fetching ${from#* } of ${from% *}" >&2
		# shellcheck disable=SC2086
		tree_fetch "$dir" $from Makefile '*' >/dev/null || exit 1
		return
	fi
	exec {lock}>"$dir.lock"
	flock "$lock"
	[ ! -d "$dir" ] || return 0
	tmp=$dir.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	tar -xf "$LAB_SOURCE" -C "$tmp" --strip-components=1 \
		>"$tmp.log" 2>&1 &
	progress "$tmp.log" "unpacking Linux" || exit 1
	source_patch "$tmp" || die "cannot patch $tmp"
	mv "$tmp" "$dir"
	rm -f "$tmp.log"
}

# is_own KERNEL: is it built here, from sources and KERNEL.config?
is_own()
{
	[[ $1 == uml || $1 == uml-* || $1 == x86-* ]]
}

own_arch()
{
	case $1 in
	x86-*) echo x86_64 ;;
	*) echo um ;;
	esac
}

# own_config KERNEL: print its options, without comments.  KERNEL.config
# overrides the same options of uml.config; "is not set" also removes options
# that a later Kconfig does not have.
own_config()
{
	if [ "$1" = uml ]; then
		set -- "$LAB/uml.config"
	else
		set -- "$LAB/$1.config" "$LAB/uml.config"
	fi
	awk '{ option = $1 == "#" ? $2 : $1; sub(/=.*/, "", option) }
	option ~ /^CONFIG_/ && !seen[option]++' "$@"
}

# Print the directory, named after a hash of everything that affects the build
own_dir()
{
	local version hash

	version=$(source_version "$1") || exit 1
	hash=$({ own_config "$1"; gcc --version | head -n 1
		 env | grep ^KBUILD_BUILD_ | sort
		 source_is_own "$1" || cat "$LAB_PATCH"; } | sha256sum)
	echo "$LAB_CACHE/$1-$version-${hash:0:12}"
}

# Configure the kernel, and fail if Kconfig drops an option
own_configure()
{
	local kernel=$1 dir=$2 log=$3 line

	make -C "$(source_dir "$kernel")" ARCH="$(own_arch "$kernel")" O="$dir" \
		KCONFIG_ALLCONFIG="$dir/lab.config" allnoconfig \
		>"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$dir/.config" ||
			die "the kernel does not take $line" ;;
		esac
	done <"$dir/lab.config"
}

# Build the kernel.  make continues an interrupted build.
own_build()
{
	local dir log what=(linux modules)

	dir=$(own_dir "$1") || exit 1
	[ ! -e "$dir/.complete" ] || return 0
	source_unpack "$1"
	mkdir -p "$dir"
	log=$dir/build.log
	own_config "$1" >"$dir/lab.config"
	own_configure "$1" "$dir" "$log" || exit 1
	# KCSAN only for our modules, because the CPUs are emulated
	[ "$1" != x86-kcsan ] || what=(KCSAN_SANITIZE=n bzImage modules)
	make -C "$(source_dir "$1")" ARCH="$(own_arch "$1")" O="$dir" -j"$(nproc)" \
		"${what[@]}" >"$log" 2>&1 &
	progress "$log" "building $1 (about 1300 steps)" || exit 1
	# a kernel for QEMU needs an initramfs that mounts the host's file
	# system
	[ "$(own_arch "$1")" = um ] || host_initramfs "$dir" ""
	touch "$dir/.complete"
}

# Print the library that replaces the host's random numbers (seed.c)
uml_seed_library()
{
	local lib

	lib=$LAB_CACHE/seed-$(sha256sum <"$LAB/seed.c" | head -c 12).so
	if [ ! -e "$lib" ]; then
		gcc -O2 -Wall -shared -fPIC -o "$lib.$$" "$LAB/seed.c" >&2 &&
			mv "$lib.$$" "$lib" || return 1
	fi
	echo "$lib"
}

# Print the newest version whose headers are installed.  Not the cloud flavor:
# it cannot mount the host's files (9p).
stock_version()
{
	local v

	v=$(printf '%s\n' /usr/src/linux-headers-6.1.*-amd64 |
		grep -v cloud | sort -V | tail -n 1)
	[ -d "$v" ] || die "linux-headers-amd64 is not installed"
	echo "${v#/usr/src/linux-headers-}"
}

stock_dir()
{
	echo "$LAB_CACHE/stock-$(stock_version)"
}

# Modules that the initramfs needs to mount the host's files
STOCK_MODULES="virtio_pci 9pnet_virtio 9p overlay"

# host_initramfs DIR VERSION [MODULE...]: create DIR/initramfs.cpio with these
# modules
host_initramfs()
{
	local dir=$1 version=$2 root=$1/initramfs m what f
	shift 2

	rm -rf "$root"
	mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/sys" "$root/dev" \
		"$root/lower" "$root/rw" "$root/new"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for m; do
		modprobe -d "$dir/root" -S "$version" --show-depends "$m" |
			while read -r what f _; do
				[ "$what" = insmod ] || continue
				echo "${f##*/}"
				cp -n "$f" "$root/lib/"
			done || die "no module $m for $version"
	done | awk '!seen[$0]++' >"$root/lib/order"
	cp "$LAB/initramfs-init.sh" "$root/init"
	# a guest may be reading the old file
	(cd "$root" && find . | cpio -o -H newc -R 0:0 2>/dev/null) \
		>"$dir/initramfs.cpio.tmp" &&
		mv "$dir/initramfs.cpio.tmp" "$dir/initramfs.cpio"
}

# Fetch and unpack the image, without installing it on this machine
stock_build()
{
	local dir version tmp deb

	version=$(stock_version) || exit 1
	dir=$(stock_dir)
	if [ ! -e "$dir/.complete" ]; then
		tmp=$dir.tmp
		rm -rf "$dir" "$tmp"
		mkdir -p "$tmp/root"
		(cd "$tmp" && apt-get download "linux-image-$version" \
			>apt.log 2>&1) ||
			{ cat "$tmp/apt.log" >&2
			  die "cannot download linux-image-$version; try: apt-get update && apt-get install --only-upgrade linux-headers-amd64"; }
		deb=$(echo "$tmp"/*.deb)
		dpkg-deb -x "$deb" "$tmp/root" || exit 1
		rm -f "$deb"
		/sbin/depmod -b "$tmp/root" "$version" || exit 1
		mv "$tmp" "$dir"
		touch "$dir/.complete"
	fi
	# the initramfs contains a file of this tree, so create it every time,
	# which is fast
	# shellcheck disable=SC2086
	host_initramfs "$dir" "$version" $STOCK_MODULES
}

# guest_dir KERNEL: print the directory of a kernel for QEMU.  For a Debian
# kernel, the unpacked package is in its subdirectory root/.
guest_dir()
{
	if [ "$1" = stock ]; then
		stock_dir
	elif is_own "$1"; then
		own_dir "$1"
	else
		distro_dir "$1"
	fi
}

guest_version()
{
	if [ "$1" = stock ]; then
		stock_version
	elif is_own "$1"; then
		cat "$(own_dir "$1")/include/config/kernel.release"
	elif is_distro "$1"; then
		distro_version "$1"
	else
		die "no kernel is called $1"
	fi
}

# guest_image KERNEL: print the image for QEMU, which newer packages have in the
# modules' directory
guest_image()
{
	local root version f

	root=$(guest_dir "$1")/root
	version=$(guest_version "$1") || exit 1
	for f in "$root/boot/vmlinuz-$version" "$root/lib/modules/$version/vmlinuz" \
		 "${root%/root}/arch/x86/boot/bzImage"; do
		[ ! -e "$f" ] || { echo "$f"; return; }
	done
	die "no image of $version"
}

kernel_build()
{
	local lock

	[[ $1 == uml || $1 == uml-* ]] || qemu_build
	exec {lock}>"$LAB_CACHE/$1.lock"
	flock "$lock"
	if [ "$1" = stock ]; then
		stock_build
	elif is_own "$1"; then
		[ -e "$LAB/$1.config" ] || die "no kernel is called $1"
		own_build "$1"
	else
		is_distro "$1" || die "no kernel is called $1"
		distro_build "$1"
	fi
	exec {lock}>&-
}

# kernel_renew KERNEL: delete what was fetched from a moving release
kernel_renew()
{
	if is_distro "$1"; then
		rm -rf "$(distro_dir "$1")"
	elif source_is_own "$1"; then
		rm -rf "$(source_dir "$1")" "$(own_dir "$1")"
	else
		die "$1 is built from this machine's packages"
	fi
}

# kernel_key KERNEL: print its key: a module built for another key does not fit
kernel_key()
{
	if is_own "$1"; then
		basename "$(own_dir "$1")"
	else
		guest_version "$1"
	fi
}

# kernel_make KERNEL ARG...: run make, out of tree
kernel_make()
{
	local kernel=$1 dir
	shift

	if [ "$kernel" = stock ]; then
		make -j"$(nproc)" -C "/usr/src/linux-headers-$(stock_version)" "$@"
	elif is_own "$kernel"; then
		dir=$(own_dir "$kernel") || exit 1
		# coverage only for our modules
		[ "$kernel" != uml-cov ] || set -- GCOV_PROFILE=y KCOV_INSTRUMENT=y "$@"
		make -j"$(nproc)" -C "$dir" ARCH="$(own_arch "$kernel")" "$@"
	else
		die "no kernel is called $kernel"
	fi
}
