/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client of the generic netlink family iqcn: one socket for requests, dumps and
 * events.
 *
 * Functions return 0 or a negative errno, and genl_why() says what is wrong.
 */
#ifndef _IQCN_GENL_H
#define _IQCN_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"

/* Reading flows and joining the groups fails with -EPERM without the capability */
#define NEEDS_ADMIN \
	" needs CAP_NET_ADMIN in the namespace's user namespace"
#define FLOWS_NEED "reading flows" NEEDS_ADMIN

struct genl;

/* @cmd: IQCN_CMD_*_NTF.  May be called within a dump, too. */
typedef void (*event_fn)(const struct event *e, int cmd, void *arg);
/* Returns whether to go on */
typedef bool (*flow_fn)(const struct flow *f, void *arg);

/* The kernel loads the module if it knows it.  Frees on error, as close does;
 * what is wrong then has been said.
 */
struct genl *genl_open(void);
void genl_close(struct genl *g);
const char *genl_why(const struct genl *g);

/* Negative: there is none, and no module is loaded for it */
int genl_family_version(void);

/*
 * Those of the whole namespace, or of one device.  Ports and queues come at once,
 * as they were at one time: asked for again if one came or went meanwhile.
 * To be freed with free(), on error too.
 */
int genl_ports(struct genl *g, struct port **ports, size_t *n);
int genl_queues(struct genl *g, uint32_t ifindex, uint32_t filter,
		struct queue **queues, size_t *n);
/*
 * One by one.  Those that were there all the time come once, others may or may
 * not.  When @fn has had enough there is only genl_close().
 */
int genl_flows(struct genl *g, uint32_t ifindex, uint32_t filter, flow_fn fn,
	       void *arg);
/* @parent 0: of all queues of the device */
int genl_flush(struct genl *g, uint32_t ifindex, uint32_t parent,
	       uint64_t *flushed);

/* Says what is wrong with a dump or with events; returns EXIT_FAILURE */
int genl_fail(const struct genl *g, int err);

/* All groups of the family, and that the family is gone */
int genl_join(struct genl *g);
void genl_on_event(struct genl *g, event_fn fn, void *arg);
/* Readable when there are events */
int genl_fd(const struct genl *g);
/* Takes some of what is there and does not wait; -ENOENT: the module is unloaded */
int genl_events(struct genl *g);
/* How often events were lost for want of room in the socket */
uint64_t genl_overruns(const struct genl *g);

#endif /* _IQCN_GENL_H */
