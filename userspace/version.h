/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Versions of the tc plugin and the module, which must match that of the tool.
 */
#ifndef _IQCN_VERSION_H
#define _IQCN_VERSION_H

#include <stdbool.h>

#define VERSION_SIZE 64

struct plugin {
	char path[4096];
	bool found;
	bool loads;	/* tc on this machine can load it */
	char version[VERSION_SIZE];	/* "": too old to report one */
	const char *why;		/* why tc cannot load it */
};

/* Reads the file, but does not load it: the plugin needs functions of tc */
void plugin_find(struct plugin *p);

/* Returns whether the module is loaded; @version is "" if it does not report
 * one
 */
bool module_version(char *version);

#endif /* _IQCN_VERSION_H */
