/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue and the port that the agent observes and sets.
 */
#ifndef _IQCN_AGENTPORT_H
#define _IQCN_AGENTPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

#include "agentlaw.h"
#include "genl.h"

struct agent_port {
	struct genl *g;
	uint32_t ifindex;
	uint32_t parent;
	char name[IF_NAMESIZE];	/* for when the device has gone */
	struct agent_place place;
	uint64_t place_ns;	/* when it was read */
	uint64_t bandwidth_bps;	/* parameter; 0: the rate is the kernel's */
	struct agent_lease lease;	/* in force */
	uint64_t lease_ns;	/* when it ends, 0: there is none */
	uint32_t lease_ms;	/* length of new leases */
	uint64_t renew_ns;	/* renew when less than this is left */
	uint64_t leases;	/* of the queue, as far as the agent knows */
};

/*
 * Functions print an error and return EXIT_FAILURE if they fail.
 */

/* Finds the queue: @ifindex 0: of any device, @parent 0: the only one of the device.
 * The caller sets lease_ms and renew_ns, and calls agent_port_close() in any case.
 */
int agent_port_open(struct agent_port *a, uint32_t ifindex, uint32_t parent);
void agent_port_close(struct agent_port *a);
/* Reads the queue, and from time to time its parameters */
int agent_port_sample(struct agent_port *a, struct agent_sample *s);
/* Sets what an action wants, unless it is in force for long enough anyway */
int agent_port_set(struct agent_port *a, int action, uint64_t flows);
/* Lets the values of tc apply again */
int agent_port_release(struct agent_port *a);
/* Tries the same after an error, without another message */
void agent_port_abandon(struct agent_port *a);

#endif /* _IQCN_AGENTPORT_H */
