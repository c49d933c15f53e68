/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel declarations that kmod/rocev2.c and kmod/algo/macctl.h need in
 * order to be compiled into a user-space program.  Where user space has a
 * header of the same name, the header in this directory extends it.
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

#define U8_MAX				UINT8_MAX
#define BIT(_n)				(1UL << (_n))
#define BIT_ULL(_n)			(1ULL << (_n))
#define sizeof_field(_type, _member)	sizeof(((_type *)NULL)->_member)
#define cpu_to_le32(_v)			htole32(_v)
#define le32_to_cpu(_v)			le32toh(_v)
#define __force

#endif /* SHIM_LINUX_TYPES_H */
