/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue that the agent controls, and the port of this queue.
 */
#ifndef _IQCN_AGENTPORT_H
#define _IQCN_AGENTPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

#include "agentguard.h"
#include "agentlaw.h"
#include "genl.h"

struct agent_port {
	struct genl *g;
	uint32_t ifindex;
	uint32_t parent;
	uint64_t mask[IQCN_QUEUE_MASK_WORDS]; /* the attributes to read */
	char name[IF_NAMESIZE];	/* for errors after the device is gone */
	struct agent_place place;
	uint64_t place_ns;	/* when @place was read */
	uint64_t bandwidth_bps;	/* parameter; 0: use roce_bps */
	struct agent_lease lease;	/* the last one that was requested */
	uint64_t lease_ns;	/* when the lease ends; 0: no lease */
	uint32_t lease_ms;	/* length of new leases */
	uint64_t renew_ns;	/* renew when less than this is left */
	bool acts;		/* mode "run": set leases; fail if another
				 * program leases the queue, or if the policy
				 * was not trained for the fiber
				 */
	uint64_t leases;	/* expected count of the queue's leases */
};

/*
 * Functions print an error and return EXIT_FAILURE if they fail.
 */

/* Finds the queue.  If @ifindex is 0, there must be exactly one queue with
 * notify supplement on all devices; if only @parent is 0, exactly one on the
 * device.  The caller sets acts, lease_ms and renew_ns before the call, and
 * calls agent_port_close() even after an error.
 */
int agent_port_open(struct agent_port *a, uint32_t ifindex, uint32_t parent);
void agent_port_close(struct agent_port *a);
/* Reads the queue, and from time to time its parameters */
int agent_port_sample(struct agent_port *a, struct agent_sample *s);
/* Leases the values of @action, raised to what the guard needs as far as the
 * present bounds of the parameters allow.  Sends no request if the current
 * lease has these values and need not be renewed yet.
 */
int agent_port_set(struct agent_port *a, int action, struct agent_needs needs,
		   uint64_t flows);
/* Ends the lease, so that the values of tc apply again */
int agent_port_release(struct agent_port *a);
/* Likewise, but without a message, for use after an error */
void agent_port_abandon(struct agent_port *a);

#endif /* _IQCN_AGENTPORT_H */
