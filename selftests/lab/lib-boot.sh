# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Boot a kernel, run a script in it, and return its verdict.  Sourced by lab.sh.
#
# The guest prints the verdict in a line of its own on the console (see
# init.sh). Without such a line the run has failed, whatever else happened.

LAB_TIMEOUT_S=${LAB_TIMEOUT_S:-1500}
# before the timeout, a guest in QEMU with the host's clock prints what still
# runs
LAB_WATCH_S=$((LAB_TIMEOUT_S * 9 / 10))

# Pass on the guest's output without the line of the verdict, and return the
# verdict
lab_verdict()
{
	local line rc=""

	while IFS= read -r line; do
		if [[ $line =~ ^@@lab-exit\ ([0-9]+)@@ ]]; then
			rc=${BASH_REMATCH[1]}
		elif [ -z "$rc" ]; then
			printf '%s\n' "${line%$'\r'}"
		fi
	done
	return "${rc:-98}"
}

# lab_ended RUN STATUS VERDICT: explain a missing verdict by the exit status.
# The status does not matter otherwise, because the kernel may abort while it
# powers off.
lab_ended()
{
	local run=$1 status=$2 verdict=$3

	if [ "$verdict" = 98 ]; then
		echo "lab: the kernel ended without a verdict, status $status$(
			[ "$status" != 124 ] || echo ": $LAB_TIMEOUT_S s are over")"
		tail -n 20 "$run/stderr"
	fi
	return "$verdict"
}

# Settings that are passed to the tests in the environment
LAB_SETTINGS="IQCN_SEED IQCN_FUZZ IQCN_CORPUS IQCN_FLOOD IQCN_SEQUENCES_S IQCN_FAIL_FAST"

# With a seed the guest has the host's directories at these places, and this
# PATH. Each system call that takes a name advances the clock by a microsecond,
# and random numbers depend on the time.  A program that looks up a command in
# PATH, or resolves a name component by component, would otherwise make them
# depend on the user's PATH and on the location of the clone, the cache and the
# results.
PLACE_TREE=/run/sch_iqcn
PLACE_CACHE=/run/cache
PLACE_OUT=/run/out
FIXED_PATH=/usr/sbin:/usr/bin:/sbin:/bin

# lab_places RUN OUT: write the list for init.sh, the tree first
lab_places()
{
	{
		echo "$PLACE_TREE $TOP"
		echo "$PLACE_CACHE $LAB_CACHE"
		[ -z "$2" ] || echo "$PLACE_OUT $(realpath "$2")"
	} >"$1/places"
}

# place_of WORD: print WORD with the guest's path; it may be a path or
# VARIABLE=PATH
place_of()
{
	local word=$1 before="" from to

	if [ -n "$seed" ]; then
		if [[ $word =~ ^[A-Z_]+= ]]; then
			before=${BASH_REMATCH[0]}
			word=${word#"$before"}
		fi
		for from in "$TOP" "$LAB_CACHE"; do
			to=$PLACE_TREE
			[ "$from" = "$TOP" ] || to=$PLACE_CACHE
			case $word in
			"$from" | "$from"/*)
				word=$to${word#"$from"}
				break
				;;
			esac
		done
	fi
	# not echo: WORD may be -n
	printf '%s\n' "$before$word"
}

# export_line NAME VALUE: print a line of the guest's command
export_line()
{
	printf 'export %s=%q\n' "$1" "$(place_of "$2")"
}

# lab_prepare RUN WORD...: write the guest's command
lab_prepare()
{
	local run=$1 name word
	shift

	{
		if [ -n "$seed" ]; then
			echo "cd $PLACE_TREE"
			export_line PATH "$FIXED_PATH"
		else
			printf 'cd %q\n' "$PWD"
			# a distribution's root has its own PATH
			is_distro "$kernel" ||
				export_line PATH "$PATH:/usr/sbin:/sbin"
		fi
		export_line IQCN_LAB "$kernel"
		export_line IQCN_YNL "$(ynl_dir)"
		export_line IQCN_TDC "$(tdc_dir)"
		for name in $LAB_SETTINGS; do
			[ -z "${!name-}" ] || export_line "$name" "${!name}"
		done
		[ -z "$tty" ] || export_line TERM "$TERM"
		# directory of modules for kernels that have none in /lib
		! is_own "$kernel" ||
			export_line LAB_MODULES "$(own_dir "$kernel")"
		for word; do
			printf '%q ' "$(place_of "$word")"
		done
		echo
	} >"$run/cmd"
}

# uml_pin: pin this shell and its children to a CPU that no other of our kernels
# uses, if there is one.  The kernel and its processes take turns, so a second
# CPU would not help.  It would even hurt: each switch would be an interrupt to
# the other CPU, and these interrupts would take a third of the total time.
uml_pin()
{
	local cpu lock

	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		exec {lock}>>"$LAB_CACHE/cpu-$cpu.lock" || return
		if flock -n "$lock" &&
		   taskset -pc "$cpu" "$BASHPID" >/dev/null 2>&1; then
			# released when the last process that inherited this
			# descriptor exits
			return
		fi
		exec {lock}>&-
	done
}

# uml_boot KERNEL MB PARAMETERS RUN SEED: boot User Mode Linux.  The working
# directory is RUN so that the command line, which seeds the kernel's random
# numbers, is the same everywhere.  setarch -R makes the heap start at the end
# of the image, because the kernel treats the gap between them as memory: up to
# 1 GB, which takes 16 MB to manage.
uml_boot()
{
	local kernel=$1 mem=$2 clock=$3 run=$4 seed=$5 dir fixed=()

	dir=$(own_dir "$kernel") || exit 1
	[ "$kernel" = uml-smp ] || uml_pin
	cd "$run" && ln -s "$LAB/init.sh" init.sh || exit 1
	if [ -n "$seed" ]; then
		# LD_PRELOAD needs a name without spaces
		ln -s "$(uml_seed_library)" seed.so || exit 1
		export LD_PRELOAD=./seed.so LAB_SEED=$seed
		clock+=" time-travel-start=1700000000000000000"
	fi
	! setarch -R true 2>/dev/null || fixed=(setarch -R)
	TMPDIR=${LAB_TMPDIR:-/dev/shm} timeout --foreground -k 5 "$LAB_TIMEOUT_S" \
		"${fixed[@]}" "$dir/linux" mem="${mem}M" \
		root=/dev/root rootfstype=hostfs rootflags=/ rw quiet \
		init=/proc/self/cwd/init.sh con0=null,fd:1 con=null uml_dir=./ \
		random.trust_cpu=on kunit.enable=1 log_buf_len=16M $clock \
		</dev/null 2>stderr
}

# qemu_boot KERNEL ACCEL MB RUN INITRD APPEND [OPTION...].  No huge pages: an
# emulated CPU takes two milliseconds to clear one, at any time.  No cmpxchg16b:
# with QEMU 7.2 the flags after it sometimes were the contents of RAX, and the
# kernel crashed or hung; later versions have not been tried.  tsc=reliable: on
# a busy host the kernel would consider the TSC unstable.
qemu_boot()
{
	local kernel=$1 accel=$2 mem=$3 run=$4 initrd=$5 append=$6 dir
	shift 6
	dir=$(qemu_dir)

	# $accel may contain options, and the last -smp takes effect
	# shellcheck disable=SC2086
	timeout --foreground -k 5 "$LAB_TIMEOUT_S" \
		"$dir/usr/bin/qemu-system-x86_64" -L "$dir/usr/share/qemu" \
		-L "$dir/usr/share/seabios" -nodefaults -no-reboot -machine q35 \
		-cpu max,-cx16 -smp 2 -accel $accel -m "${mem}M" \
		-display none -serial stdio \
		-kernel "$(guest_image "$kernel")" -initrd "$initrd" "$@" \
		-append "console=ttyS0 quiet panic=-1 log_buf_len=16M transparent_hugepage=never tsc=reliable $append" \
		</dev/null 2>"$run/stderr"
}

# host_boot KERNEL ACCEL MB RUN APPEND: boot with the host's file system over 9p
host_boot()
{
	qemu_boot "$1" "$2" "$3" "$4" "$(guest_dir "$1")/initramfs.cpio" "$5" \
		-fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=host,mount_tag=host
}

# qemu_accel RUN: print the accelerator.  /dev/kvm is no proof: on some machines
# it exists, but no kernel boots.
qemu_accel()
{
	local mark result

	mark=$(stock_dir)/accel-$(cat /proc/sys/kernel/random/boot_id)
	if [ ! -e "$mark" ]; then
		kernel_build stock >&2
		result=tcg,thread=multi
		if [ -w /dev/kvm ] &&
		   (LAB_TIMEOUT_S=20 host_boot stock kvm 512 "$1" lab.probe) |
			grep -q '@@lab-probe@@'; then
			result=kvm
		fi
		echo "$result" >"$mark"
	fi
	cat "$mark"
}

# qemu_counted KERNEL: print an accelerator whose clock counts instructions, one
# per nanosecond of guest time, and skips idle time: timers do not depend on the
# speed or the load of the host.  The CPUs take turns; 6.1 does not boot a
# second CPU this way.
qemu_counted()
{
	echo "tcg,thread=single -icount shift=0,sleep=off"
	[[ $(guest_version "$1") != 6.1.* ]] || echo "-smp 1"
}

# guest_modules KERNEL DIR MODULE: make DIR/lib from the kernel's modules and
# one more. depmod runs here because it takes a minute under emulation.
guest_modules()
{
	local kernel=$1 tree=$2 module=$3 version

	version=$(guest_version "$kernel")
	mkdir -p "$tree/lib"
	cp -rs "$(guest_dir "$kernel")/root/lib/modules" "$tree/lib/" || exit 1
	mkdir -p "$tree/lib/modules/$version/extra"
	cp "$module" "$tree/lib/modules/$version/extra/"
	# create new files instead of writing through the links
	rm -f "$tree/lib/modules/$version"/modules.{dep,alias,symbols,softdep,devname}*
	/sbin/depmod -b "$tree" "$version" || exit 1
}

# distro_initrd KERNEL RUN MODULE: create RUN/initrd from the distribution's
# root and the parts of this tree that the guest needs, under the same names as
# here
distro_initrd()
{
	local kernel=$1 run=$2 module=$3 top stage=$2/stage

	top=$(dirname "$(dirname "$LAB")")
	mkdir -p "$stage$top/build/$kernel" "$stage$top/kmod" "$stage$run" \
		"$stage/usr/lib" &&
		cp -r "$top/selftests" "$stage$top/" &&
		cp -r "$top/kmod/include" "$stage$top/kmod/" &&
		find "$top/build/$kernel" -maxdepth 1 -type f \
			-exec cp {} "$stage$top/build/$kernel/" \; &&
		cp -r "$top/build/$kernel/unchecked" \
			"$stage$top/build/$kernel/" &&
		cp "$run/cmd" "$stage$run/" || exit 1
	if [ -n "$module" ]; then
		guest_modules "$kernel" "$run" "$module"
		find "$run/lib" -type l -delete
		mv "$run/lib/modules" "$stage/usr/lib/"
	fi
	{
		cat "$(distro_dir "$kernel")/root.cpio"
		(cd "$stage" && find . | cpio -o -H newc -R 0:0 2>/dev/null)
	} >"$run/initrd" || exit 1
}

# guest_boot KERNEL ACCEL MB RUN MODULE APPEND
guest_boot()
{
	local kernel=$1 accel=$2 mem=$3 run=$4 module=$5 append=$6 modules=""

	if is_distro "$kernel"; then
		distro_initrd "$kernel" "$run" "$module"
		qemu_boot "$kernel" "$accel" "$mem" "$run" "$run/initrd" \
			"$append rdinit=$LAB/init.sh -- $run"
		return
	fi
	if [ "$kernel" = stock ]; then
		# resolve links, because the initramfs prepends the mount point
		# of the host's root to this name, and a link would not stay
		# below that mount point
		modules=$(realpath "$(stock_dir)/root/lib/modules") || exit 1
		if [ -n "$module" ]; then
			guest_modules stock "$run" "$module"
			modules=$run/lib/modules
		fi
	elif [ -n "$module" ]; then
		die "run: $kernel does not load modules by name (-k)"
	fi
	host_boot "$kernel" "$accel" "$mem" "$run" \
		"lab.init=$LAB/init.sh lab.run=$run lab.modules=$modules $append"
}

# lab_run KERNEL [-w] [-t] [-c] [-m MB] [-k MODULE] [-s SEED] [-o DIR] SCRIPT
# [ARG...]
lab_run()
{
	local kernel=$1 clock=time-travel=inf-cpu mem="" module="" seed="" out=""
	local run opt OPTIND=1 tty="" settings rc counted="" accel append=""
	shift

	while getopts wtcm:k:s:o: opt; do
		case $opt in
		w) clock="" ;;
		t) tty=con1=fd:3,fd:3 ;;
		c) counted=lab.counted ;;
		m) mem=$OPTARG ;;
		k) module=$OPTARG ;;
		s) seed=$OPTARG ;;
		o) out=$OPTARG ;;
		*) die "run: options: -w, -t, -c, -m MB, -k MODULE, -s SEED, -o DIR" ;;
		esac
	done
	shift $((OPTIND - 1))
	case $kernel,$seed in
	*,) ;;
	uml-smp,*) die "run: two CPUs are not reproducible by a seed (-s)" ;;
	uml*,[0-9]*) ;;
	*) die "run: -s takes a number, and requires User Mode Linux" ;;
	esac
	case $kernel in
	# uml-smp has no virtual time, and a second CPU only with seccomp;
	# kmemleak is off, because it would take a backtrace per allocation in
	# addition to KASAN's; later kernels run KUnit tests only on request
	uml-smp) clock="ncpus=2 seccomp=on kmemleak=off kunit.autorun=1" ;;
	# with virtual time, a normal grace period takes some ticks, which would
	# be 30 ms for each socket of a test
	uml-preempt) clock+=" rcupdate.rcu_expedited=1" ;;
	# more and longer watchpoints than the defaults, which suit CPUs that
	# are a hundred times as fast; even longer watchpoints in interrupts
	# would starve processes
	x86-kcsan) append="kcsan.skip_watch=500 kcsan.udelay_task=2000 kcsan.udelay_interrupt=300" ;;
	esac
	[ -z "$out" ] || [ -n "$seed" ] || die "run: -o requires -s"
	kernel_build "$kernel"

	run=$(mktemp -d) || exit 1
	# the trap also runs if a signal ends the shell
	# shellcheck disable=SC2064
	trap "rm -rf '$run'" EXIT
	[ -z "$seed" ] || lab_places "$run" "$out" || exit 1
	lab_prepare "$run" "$@"
	case $kernel in
	uml | uml-*)
		[ -n "$mem" ] || mem=1024
		if [ -n "$tty" ]; then
			exec 3<>/dev/tty || exit 1
			settings=$(stty -g <&3)
		fi
		(uml_boot "$kernel" "$mem" "$clock $tty" "$run" "$seed") |
			lab_verdict
		lab_ended "$run" "${PIPESTATUS[@]}"
		rc=$?
		[ -z "$tty" ] || stty "$settings" <&3
		return "$rc"
		;;
	*)
		if [ -n "$counted" ]; then
			accel=$(qemu_counted "$kernel")
			clock=$counted
		else
			accel=$(qemu_accel "$run")
			clock=lab.watch=$LAB_WATCH_S
		fi
		guest_boot "$kernel" "$accel" "${mem:-2048}" "$run" "$module" \
			"$clock $append" | lab_verdict
		lab_ended "$run" "${PIPESTATUS[@]}"
		;;
	esac
}
