/* SPDX-License-Identifier: GPL-2.0 */
/* the fuzzer has one thread */
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define unlikely(x) __builtin_expect(!!(x), 0)
