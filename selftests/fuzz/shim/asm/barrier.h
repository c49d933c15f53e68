/* SPDX-License-Identifier: GPL-2.0 */
/* the fuzzer has one thread */
#define smp_load_acquire(p) (*(p))
#define smp_store_release(p, v) (*(p) = (v))
