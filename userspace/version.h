/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Versions of what has to fit together: this tool, tc's plugin, the module and
 * its netlink family.
 */
#ifndef _IQCN_VERSION_H
#define _IQCN_VERSION_H

#include <stdbool.h>

#define VERSION_SIZE 64

struct plugin {
	char path[4096];
	bool found;
	bool loads;
	char version[VERSION_SIZE];	/* "": it is older than versions */
	char why[256];			/* it does not load */
};

void plugin_look(struct plugin *p);

/* Whether it is loaded; @version is "" if it is, and says no version */
bool module_version(char *version);

#endif /* _IQCN_VERSION_H */
