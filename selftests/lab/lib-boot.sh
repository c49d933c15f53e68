# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Boot a kernel, run a script in it, tell how it ended.  Sourced by lab.sh.
#
# The guest says how it ended in a line of its own on the console (see
# init.sh): no such line is a failure, whatever else happened.

LAB_TIMEOUT_S=${LAB_TIMEOUT_S:-1500}

# The guest's output as it comes, without the verdict, which is returned
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
	if [ -z "$rc" ]; then
		echo "lab: the kernel ended without a verdict"
		rc=98
	fi
	return "$rc"
}

# Files for the guest: the command, quoted
lab_prepare()
{
	local run=$1
	shift

	{
		printf 'cd %q\n' "$PWD"
		printf 'export PATH=%q\n' "$PATH:/usr/sbin:/sbin"
		printf 'export IQCN_LAB=%q\n' "$kernel"
		# where modules of User Mode Linux are
		[[ $kernel != uml* ]] ||
			printf 'export LAB_MODULES=%q\n' "$(uml_dir "$kernel")"
		printf '%q ' "$@"
		echo
	} >"$run/cmd"
}

# Its directory is the one that it runs in, so that the command line is the same
# wherever that is: the kernel's random numbers begin with it.
uml_boot()
{
	local kernel=$1 mem=$2 clock=$3 run=$4 seed=$5 dir

	dir=$(uml_dir "$kernel") || exit 1
	cd "$run" && ln -s "$LAB/init.sh" init.sh || exit 1
	if [ -n "$seed" ]; then
		# by a name without spaces
		ln -s "$(uml_seed_library)" seed.so || exit 1
		export LD_PRELOAD=./seed.so LAB_SEED=$seed
		clock+=" time-travel-start=1700000000000000000"
	fi
	TMPDIR=${LAB_TMPDIR:-/dev/shm} timeout --foreground -k 5 "$LAB_TIMEOUT_S" \
		"$dir/linux" mem="${mem}M" \
		root=/dev/root rootfstype=hostfs rootflags=/ rw quiet \
		init=/proc/self/cwd/init.sh con0=null,fd:1 con=null uml_dir=./ \
		random.trust_cpu=on kunit.enable=1 log_buf_len=16M $clock \
		</dev/null 2>/dev/null
}

qemu_boot()
{
	local accel=$1 mem=$2 append=$3 dir

	dir=$(stock_dir)
	timeout --foreground -k 5 "$LAB_TIMEOUT_S" qemu-system-x86_64 -nodefaults \
		-no-reboot -machine q35 -accel "$accel" -cpu max -smp 2 \
		-m "${mem}M" -display none -serial stdio \
		-kernel "$dir/root/boot/vmlinuz-$(stock_version)" \
		-initrd "$dir/initramfs.cpio" \
		-fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=host,mount_tag=host \
		-append "console=ttyS0 quiet panic=-1 log_buf_len=16M $append" \
		</dev/null 2>/dev/null
}

# /dev/kvm is not enough: some machines have it and start no kernel with it
qemu_accel()
{
	local mark result

	mark=$(stock_dir)/accel-$(cat /proc/sys/kernel/random/boot_id)
	if [ ! -e "$mark" ]; then
		result=tcg,thread=multi
		if [ -w /dev/kvm ] &&
		   (LAB_TIMEOUT_S=20 qemu_boot kvm 512 lab.probe) 2>/dev/null |
			grep -q '@@lab-probe@@'; then
			result=kvm
		fi
		echo "$result" >"$mark"
	fi
	cat "$mark"
}

# The stock kernel's modules and one more.  Here, because depmod takes a minute
# under emulation.
stock_modules()
{
	local tree=$1 module=$2 version

	version=$(stock_version)
	mkdir -p "$tree"
	cp -rs "$(stock_dir)/root/lib" "$tree/"
	mkdir -p "$tree/lib/modules/$version/extra"
	cp "$module" "$tree/lib/modules/$version/extra/"
	# written anew, not through the links
	rm -f "$tree/lib/modules/$version"/modules.{dep,alias,symbols,softdep,devname}*
	/sbin/depmod -b "$tree" "$version" || exit 1
	echo "$tree/lib/modules"
}

# lab_run KERNEL [-w] [-m MB] [-k MODULE] [-s SEED] SCRIPT [ARG...]
lab_run()
{
	local kernel=$1 clock=time-travel=inf-cpu mem="" module="" modules seed=""
	local run opt OPTIND=1
	shift

	while getopts wm:k:s: opt; do
		case $opt in
		w) clock="" ;;
		m) mem=$OPTARG ;;
		k) module=$OPTARG ;;
		s) seed=$OPTARG ;;
		*) die "run: -w, -m MB, -k MODULE and -s SEED are all there is" ;;
		esac
	done
	shift $((OPTIND - 1))
	case $kernel,$seed in
	*, | uml*,[0-9]*) ;;
	*) die "run: -s wants a number, and User Mode Linux" ;;
	esac
	kernel_build "$kernel"

	run=$(mktemp -d) || exit 1
	# also when it is interrupted
	# shellcheck disable=SC2064
	trap "rm -rf '$run'" EXIT
	lab_prepare "$run" "$@"
	case $kernel in
	uml | uml-debug)
		[ -n "$mem" ] || mem=1024
		(uml_boot "$kernel" "$mem" "$clock" "$run" "$seed") | lab_verdict
		# it may abort while it powers off
		return "${PIPESTATUS[1]}"
		;;
	stock)
		modules=$(stock_dir)/root/lib/modules
		[ -z "$module" ] || modules=$(stock_modules "$run" "$module")
		qemu_boot "$(qemu_accel)" "${mem:-2048}" \
			"lab.init=$LAB/init.sh lab.run=$run lab.modules=$modules" |
			lab_verdict
		return "${PIPESTATUS[1]}"
		;;
	esac
}
