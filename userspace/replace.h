/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that are replaced atomically, as node_exporter's textfile collector needs.
 */
#ifndef _IQCN_REPLACE_H
#define _IQCN_REPLACE_H

#include <stddef.h>

/* Prints an error and returns EXIT_FAILURE if that fails; then @path is unchanged */
int replace_file(const char *path, const char *text, size_t len);

#endif /* _IQCN_REPLACE_H */
