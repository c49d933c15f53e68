// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn version: versions of tool, tc plugin, module and netlink family.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf.h"
#include "genl.h"
#include "iqcn.h"
#include "out.h"
#include "version.h"

#define PLUGIN "q_iqcn.so"

static void plugin_read(struct plugin *p)
{
	struct elf elf;

	p->why = elf_open(&elf, p->path);
	if (p->why)
		return;
	/* the symbol that tc looks up in a plugin */
	if (elf_has(&elf, "iqcn_qdisc_util")) {
		p->loads = true;
		elf_string(&elf, "iqcn_plugin_version", p->version,
			   sizeof(p->version));
	} else {
		p->why = "it has no symbol iqcn_qdisc_util";
	}
	elf_close(&elf);
}

void plugin_find(struct plugin *p)
{
	const char *dir = getenv("TC_LIB_DIR");

	memset(p, 0, sizeof(*p));
	snprintf(p->path, sizeof(p->path), "%s/" PLUGIN, dir ? dir : TC_DIR);
	p->found = !access(p->path, F_OK);
	if (p->found)
		plugin_read(p);
}

bool module_version(char *version)
{
	FILE *f = fopen(SYS_MODULE "/version", "r");

	*version = '\0';
	if (!f)
		return !access(SYS_MODULE, F_OK);
	if (fgets(version, VERSION_SIZE, f))
		version[strcspn(version, "\n")] = '\0';
	fclose(f);
	return true;
}

/* JSON null if there is no version */
static struct json_object *text_or_null(const char *text)
{
	return *text ? json_object_new_string(text) : NULL;
}

static void version_json(const struct plugin *p, const char *module,
			 int family)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "iqcn", text_or_null(IQCN_VERSION));
	json_object_object_add(o, "q_iqcn", text_or_null(p->version));
	json_object_object_add(o, "sch_iqcn", text_or_null(module));
	json_object_object_add(o, "family", family < 0 ? NULL :
			       json_object_new_int(family));
	json_line(o);
}

static void version_text(const struct plugin *p, bool loaded,
			 const char *module, int family)
{
	printf("iqcn %s\n", IQCN_VERSION);
	printf("q_iqcn %s\n", !p->found ? "not found" :
	       !p->loads ? "does not load" :
	       *p->version ? p->version : "has no version");
	printf("sch_iqcn %s\n", !loaded ? "not loaded" :
	       *module ? module : "has no version");
	if (family < 0)
		printf("family none\n");
	else
		printf("family %d\n", family);
}

int cmd_version(int argc, char **argv)
{
	char module[VERSION_SIZE];
	struct plugin plugin;
	bool json = false, loaded;
	int family;

	if (!parse_json(argc, argv, &json))
		return EXIT_USAGE;
	if (argc > optind)
		return misuse("unexpected word", argv[optind]);
	plugin_find(&plugin);
	loaded = module_version(module);
	family = genl_family_version();
	if (json)
		version_json(&plugin, module, family);
	else
		version_text(&plugin, loaded, module, family);
	return EXIT_SUCCESS;
}
