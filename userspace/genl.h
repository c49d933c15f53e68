/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client of the generic netlink family iqcn: one socket for requests, dumps and
 * events.
 *
 * Functions return 0 or a negative errno; genl_why() has the error as text.
 */
#ifndef _IQCN_GENL_H
#define _IQCN_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"

/* Without CAP_NET_ADMIN, reading flows and joining the groups fail with -EPERM
 */
#define NEEDS_ADMIN \
	" needs CAP_NET_ADMIN in the namespace's user namespace"
#define FLOWS_NEED "reading flows" NEEDS_ADMIN

struct genl;

/* @cmd: IQCN_CMD_*_NTF.  May also be called during any request */
typedef void (*event_fn)(const struct event *e, int cmd, void *arg);
/* Returns whether to continue */
typedef bool (*flow_fn)(const struct flow *f, void *arg);

/* The kernel loads the module if it is installed.  Prints an error and returns
 * NULL on failure.
 */
struct genl *genl_open(void);
void genl_close(struct genl *g);
const char *genl_why(const struct genl *g);

/* Returns the version of the family, or a negative number if the family does
 * not exist.  This function does not load the module.
 */
int genl_family_version(void);

/*
 * All ports or queues of the namespace, or the queues of one device.  The list
 * is consistent: the dump is repeated if it changed meanwhile.  The caller
 * frees the list with free(), also on error.
 */
int genl_ports(struct genl *g, struct port **ports, size_t *n);
int genl_queues(struct genl *g, uint32_t ifindex, uint32_t filter,
		struct queue **queues, size_t *n);
/* Get one port or queue; -ENODEV or -ENOENT if there is none.  @mask is sent as
 * IQCN_A_QUEUE_MASK; members that it does not select are 0.
 */
int genl_port(struct genl *g, uint32_t ifindex, struct port *p);
int genl_queue(struct genl *g, uint32_t ifindex, uint32_t parent,
	       const uint64_t mask[IQCN_QUEUE_MASK_WORDS], struct queue *q);
/* Shrinks the receive buffer to one object, which makes frequent requests
 * cheaper.  Dumps are not possible afterwards.
 */
void genl_receive_little(struct genl *g);
/*
 * Calls @fn for each flow.  A flow that appears or disappears during the dump
 * may or may not be reported.  After @fn has returned false, only genl_close()
 * is allowed.
 */
int genl_flows(struct genl *g, uint32_t ifindex, uint32_t filter, flow_fn fn,
	       void *arg);
/* @parent: 0 for all queues of the device */
int genl_flush(struct genl *g, uint32_t ifindex, uint32_t parent,
	       uint64_t *flushed);

/* Resets peaks; @ifindex 0: of all queues, @parent 0: of all queues of the
 * device
 */
int genl_clear(struct genl *g, uint32_t ifindex, uint32_t parent);

/* A filter of one CNP per @filter_ns, and supplements, in force for @ms */
struct lease {
	uint32_t ifindex;
	uint32_t parent;
	uint32_t ms;
	uint32_t filter_ns;
	bool supplements;	/* also lease supplement_pps */
	uint32_t supplement_pps;
};

int genl_lease(struct genl *g, const struct lease *l);

/* Prints the error @err that another function returned; returns EXIT_FAILURE.
 * For -ENOENT, prints that the module was unloaded.
 */
int genl_fail(const struct genl *g, int err);

/* Join all groups of the family, and the one that reports its removal */
int genl_join(struct genl *g);
void genl_on_event(struct genl *g, event_fn fn, void *arg);
/* Readable when there are events */
int genl_fd(const struct genl *g);
/* Handles pending events without waiting; -ENOENT: the module was unloaded */
int genl_events(struct genl *g);
/* How often events were lost: the socket buffer was full, or too many events
 * arrived during a request
 */
uint64_t genl_overruns(const struct genl *g);

#endif /* _IQCN_GENL_H */
