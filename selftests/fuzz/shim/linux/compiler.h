/* SPDX-License-Identifier: GPL-2.0 */
/* the fuzzer has one thread, so it needs no barriers */
#define smp_load_acquire(p) READ_ONCE(*(p))
/* the same */
#define smp_store_release(p, v) WRITE_ONCE(*(p), v)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define unlikely(x) __builtin_expect(!!(x), 0)
