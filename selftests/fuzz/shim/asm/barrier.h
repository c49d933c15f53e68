/* SPDX-License-Identifier: GPL-2.0 */
/* barriers are in linux/compiler.h */
