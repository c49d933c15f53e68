# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Run tc with the plugin, but without the kernel's qdiscs.  Source this file; $1
# is the directory that contains the plugin and the programs of the tests, by
# default build/.

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$TESTS/../..
TC_LIB_DIR=$(realpath "${1:-$TOP/build}")
TC=$(PATH=$PATH:/usr/sbin:/sbin command -v tc)
export TC_LIB_DIR

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

if [ ! -e "$TC_LIB_DIR/q_iqcn.so" ]; then
	echo "no plugin in $TC_LIB_DIR: run \"make tc-plugin\"" >&2
	exit 1
fi

# in_file FILE ARGUMENT...: run tc with FILE in place of the kernel's qdiscs
in_file()
{
	NLFILE=$1 LD_PRELOAD=$TC_LIB_DIR/nlfile.so "$TC" "${@:2}"
}
