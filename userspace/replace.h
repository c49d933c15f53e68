/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace files atomically, so that the textfile collector of node_exporter
 * never reads a partial file.
 */
#ifndef _IQCN_REPLACE_H
#define _IQCN_REPLACE_H

#include <stddef.h>

/* On failure, prints an error and returns EXIT_FAILURE; @path is unchanged then
 */
int replace_file(const char *path, const char *text, size_t len);

#endif /* _IQCN_REPLACE_H */
