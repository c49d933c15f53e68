# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of iqcn(8): commands, their options and arguments, and the devices
# that have a qdisc iqcn.

# Do not use compgen, which expands its words: a device may be named $(reboot)
_iqcn_reply()
{
	local word

	for word; do
		[[ $word != "${COMP_WORDS[COMP_CWORD]}"* ]] ||
			COMPREPLY+=("$(printf %q "$word")")
	done
}

_iqcn_devs()
{
	local d

	for d in /sys/class/net/*/iqcn; do
		[ -d "$d" ] || continue
		d=${d%/iqcn}
		_iqcn_reply "${d##*/}"
	done
}

_iqcn()
{
	local prev=${COMP_WORDS[COMP_CWORD - 1]} command="" mode="" dev="" i

	# the first non-option is the command, and the next one is the device;
	# "agent" has a mode before the device
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--src | --dst | --qp | --sort | --limit | --interval | \
			--count | --flows | -o | --output | --policy | --action | \
			--reward | --lease | --explore | --seed | --log | \
			--metrics) ((i++)) ;;
		-n | --netns) [ -n "$command" ] || ((i++)) ;;
		-*) ;;
		*)
			if [ -z "$command" ]; then
				command=${COMP_WORDS[i]}
			elif [ "$command,$mode" = agent, ]; then
				mode=${COMP_WORDS[i]}
			elif [ -z "$dev" ]; then
				dev=${COMP_WORDS[i]}
			fi
			;;
		esac
	done

	COMPREPLY=()
	case $command,$prev in
	,-n | ,--netns)
		for i in /run/netns/*; do
			[ ! -e "$i" ] || _iqcn_reply "${i##*/}"
		done
		;;
	,*)
		_iqcn_reply show showconf flows monitor top flush clear check \
			agent metrics version help -j -n
		;;
	show,*) _iqcn_reply --details --absolute -j ;;
	flows,--sort | top,--sort) _iqcn_reply cnps rate age ;;
	flows,--limit | flows,--src | flows,--dst | flows,--qp) ;;
	flows,*)
		_iqcn_reply --congested --paired --src --dst --qp --sort \
			--limit -j
		;;
	monitor,--interval | top,--interval) ;;
	monitor,--count | top,--count) ;;
	monitor,*)
		_iqcn_reply --interval --count --events-only --samples-only -j
		;;
	top,*) _iqcn_reply --interval --sort --batch --count ;;
	# a file name
	metrics,-o | metrics,--output) compopt -o default ;;
	metrics,--flows | flush,parent | clear,parent) ;;
	metrics,*) _iqcn_reply -o --flows --openmetrics ;;
	flush,"$dev" | clear,"$dev") _iqcn_reply root parent -j ;;
	agent,--policy | agent,--log | agent,--metrics) compopt -o default ;;
	agent,--reward) _iqcn_reply few literal ;;
	agent,--interval | agent,--count | agent,--lease | agent,--action) ;;
	agent,--explore | agent,--seed | agent,parent) ;;
	agent,*)
		if [ -z "$mode" ]; then
			_iqcn_reply run observe eval
		elif [ "$mode" != eval ] && [ "$prev" = "$dev" ]; then
			_iqcn_reply root parent
		fi
		_iqcn_reply --policy
		[ "$mode" = eval ] ||
			_iqcn_reply --action --interval --reward --count \
				--log --metrics -j
		[ "$mode" = eval ] || [ "$mode" = observe ] ||
			_iqcn_reply --lease --explore --seed
		;;
	help,*) ;;
	*) _iqcn_reply -j ;;
	esac
	case $command,$prev in
	*,--sort | *,--limit | *,--interval | *,--count) ;;
	*,--src | *,--dst | *,--qp) ;;
	show,* | showconf,* | flows,* | monitor,* | top,* | flush,* | clear,*)
		[ -n "$dev" ] || _iqcn_devs
		;;
	agent,--policy | agent,--log | agent,--metrics | agent,--reward) ;;
	agent,--lease | agent,--action | agent,--explore | agent,--seed) ;;
	agent,*)
		[ -n "$dev" ] || [ -z "$mode" ] || [ "$mode" = eval ] ||
			_iqcn_devs
		;;
	esac
}

complete -F _iqcn iqcn
