/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of sch_iqcn and the rules that hold between them.
 *
 *   iqcn_net ---* port (net_device) ---* queue (Qdisc) ---* flow
 *   netns.h        port.h                queue.h            flow.h
 *                  |                                         |
 *                  '---* hosts (a pair of addresses) --------'
 *
 * Locks, outer to inner:
 *
 *   RTNL		ports come and go, queues join and leave, parameters change
 *   qdisc root lock	enqueue, dequeue, reset; taken by the stack only
 *   port->lock		flows come, go, move between queues, are paired; hosts
 *   queue->lock	state of the queue, lists and state of its flows; two of
 *			them for a flow that moves, with port->lock
 *   port->budget_lock	the CNP budget
 *   ring->lock		events that wait to be sent
 *
 * All but RTNL are taken with BHs off.  No lock is held while a CNP is injected.
 *
 * Lifetimes: a flow is found under RCU and freed after a grace period.  The table
 * holds one reference to it, and so does every packet in a queue that points to
 * it.  flow->ext is accessed under the locks and freed with its last user.  A flow
 * that has left the table is dead: flow->queue is NULL, and all that may be done
 * with it is a put.  queue->recent has no reference, so it drops a flow before
 * that dies.  A queue is part of its qdisc, which is freed after a grace period
 * too.
 *
 * A port begins with the first queue of a device and ends with the last, or when
 * the device is unregistered or moves to another namespace (NETDEV_UNREGISTER).
 * The stack may destroy a qdisc later than that: a request for a filter holds a
 * reference to its parent while it waits for RTNL.  Such a queue has no port any
 * more (queue->port is NULL): it marks and counts, like that of a device which is
 * not Ethernet.  So nothing that belongs to a device or a namespace waits for
 * ->destroy.  A port is freed after a grace period, and after its flows, by a work.
 */
#ifndef _IQCN_H
#define _IQCN_H

#include "cnp.h"
#include "config.h"
#include "flow.h"
#include "netns.h"
#include "port.h"
#include "queue.h"

#endif /* _IQCN_H */
