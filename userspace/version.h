/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Versions of tool, tc plugin, module and netlink family, which must match.
 */
#ifndef _IQCN_VERSION_H
#define _IQCN_VERSION_H

#include <stdbool.h>

#define VERSION_SIZE 64

struct plugin {
	char path[4096];
	bool found;
	bool loads;
	char version[VERSION_SIZE];	/* "": too old to report one */
	char why[256];			/* why it does not load */
};

void plugin_find(struct plugin *p);

/* Returns whether the module is loaded; @version is "" if it does not report one */
bool module_version(char *version);

#endif /* _IQCN_VERSION_H */
