/* SPDX-License-Identifier: GPL-2.0 */
#define max(a, b) ((a) > (b) ? (a) : (b))
