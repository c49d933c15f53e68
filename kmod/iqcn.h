/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of sch_iqcn, their locks and their lifetimes.
 *
 *   iqcn_net ---* port (net_device) ---* queue (Qdisc) ---* flow
 *   netns.h        port.h                queue.h            flow.h
 *                  |                                         |
 *                  '---* hosts (a pair of addresses) --------'
 *
 * Locks, outer to inner:
 *
 *   RTNL		ports and queues are created and destroyed, parameters
 *			change
 *   qdisc root lock	enqueue, dequeue, reset, change of parameters
 *   port->lock		flows are created, killed, paired, and move between
 *			queues; hosts
 *   queue->lock	state of the queue, its lists of flows, state of its
 *			flows; a move of a flow takes the locks of both queues,
 *			under port->lock
 *   port->budget_lock	the CNP budget, and the queue to which the filter of
 *			CNPs is coupled
 *   iqcn_net->cm_lock	snooped connections, and requests for them (rdma_cm.c)
 *   ring->lock		events that wait to be sent
 *   in filter.c	windows of the filter, and samples of the incast ratio;
 *			no other lock is held
 *
 * All of these locks but RTNL are taken with BHs off.  No lock is held while a
 * CNP is injected.
 *
 * A flow is looked up under RCU and freed after a grace period.  The flow table
 * and every queued packet that points to the flow hold a reference.  flow->ext
 * is accessed under the locks and freed with its last user.  A flow that has
 * left the table is dead: flow->queue is NULL, and the only operation left is a
 * put.  queue->recent holds no references, so a flow leaves it before it dies.
 * A queue is part of its qdisc, which is freed after a grace period, too.
 *
 * A port is created with the first queue of a device.  It ends with the last
 * queue, or when the device is unregistered or moves to another namespace
 * (NETDEV_UNREGISTER).  The stack may destroy a qdisc later than that, because
 * a request for a tc filter holds a reference to the filter's parent qdisc
 * while it waits for RTNL.  The queue of such a qdisc has no port (queue->port
 * is NULL): it marks and counts, like the queue of a device that is not
 * Ethernet.  So nothing that belongs to a device or a namespace waits for
 * ->destroy.  A work item frees the port after a grace period and after its
 * flows.
 */
#ifndef _IQCN_H
#define _IQCN_H

#include "cnp.h"
#include "config.h"
#include "flow.h"
#include "netns.h"
#include "port.h"
#include "queue.h"
#include "timer.h"

#endif /* _IQCN_H */
