/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wires: pairs of Ethernet devices, connected by a link with rate, delay and
 * priority-based flow control (PFC).
 *
 *	wire.c		devices, transmission, delivery, obeying PFC
 *	wire_buffer.c	buffers of switches, sending PFC
 *	line.h, mmu.h, pfc.h	the pure parts of both
 *
 * Locks: buffer->lock, then wire->lock.  Packets with a struct wire_tag
 * (wire_buffer.c) are freed without these locks, because the kfree_skb probe
 * takes buffer->lock.
 */
#ifndef _ROCEHOST_WIRE_H
#define _ROCEHOST_WIRE_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "line.h"
#include "mmu.h"
#include "pfc.h"

/* A queue may hand over its next frame this long before the line is free, so
 * that late timers do not leave the line idle: in the lab, timers are up to
 * 500 ns late
 */
#define WIRE_AHEAD_NS	1000
/* A packet that reaches the driver at most this long after its stamp is sent at
 * the time of the stamp
 */
#define WIRE_LATE_NS	4000
/* One run of a timer may deliver all data that arrives within this time */
#define WIRE_BATCH_NS	1000
/* Maximum number of scheduled changes of a wire */
#define WIRE_EVENTS	16

struct wire;

/**
 * struct wire_conf - words of "wire"; see config.c
 * @rate_bps: rate of each direction
 * @delay_ns: propagation delay
 * @pfc: bit mask of the priorities with PFC
 * @buffer_bytes: size of the buffer of each end's switch
 * @alpha: see struct mmu_queue
 * @headroom_bytes: see struct mmu_queue, or WIRE_AUTO
 * @resume_bytes: see struct mmu_queue
 * @pfc_hide: do not pass PFC frames to the stack
 * @flap_ns: length of the pauses that both ends send periodically, whatever
 *	their buffers hold; 0: pause only as the buffers require
 * @flap_gap_ns: time between two such pauses
 */
struct wire_conf {
	u64 rate_bps;
	u64 delay_ns;
	u64 pfc;
	u64 buffer_bytes;
	u64 alpha;
	u64 headroom_bytes;
	u64 resume_bytes;
	u64 pfc_hide;
	u64 flap_ns;
	u64 flap_gap_ns;
};

#define WIRE_AUTO	U64_MAX

/**
 * struct wire_prio_stats - counters of a priority of an end
 * @rx_pause: PFC frames received that stop it
 * @tx_pause: PFC frames sent that stop it
 * @paused_ps: time for which it was stopped by the peer
 * @overflow: frames dropped because the headroom was full
 */
struct wire_prio_stats {
	u64 rx_pause;
	u64 tx_pause;
	u64 paused_ps;
	u64 overflow;
};

/**
 * struct wire_stats - counters of an end
 * @tx_packets: frames sent, PFC included
 * @tx_bytes: their bytes
 * @rx_packets: frames received, PFC included
 * @rx_bytes: their bytes
 * @lost: frames lost because the link or the peer was down
 * @lost_ps: when the last frame was lost
 * @busy_ps: time for which frames were on the line
 * @prio: counters by priority
 */
struct wire_stats {
	u64 tx_packets;
	u64 tx_bytes;
	u64 rx_packets;
	u64 rx_bytes;
	u64 lost;
	u64 lost_ps;
	u64 busy_ps;
	struct wire_prio_stats prio[PFC_PRIOS];
};

/**
 * struct wire_buffer - the buffer of a switch (a namespace) or of a host's NIC
 * @lock: covers the following and the queues of its ports
 * @mmu: the buffer
 */
struct wire_buffer {
	spinlock_t lock;	/* mmu, ingress queues of its ports */
	struct mmu mmu;
};

/**
 * struct wire_port - an end that is attached to a buffer
 * @end: the end
 * @buffer: its buffer
 * @own: the buffer, if the end is a host's NIC
 * @id: key in the table of ports; no later port gets the same one, so a frame
 *	of a detached port is not taken for a frame of another port
 * @gone: detached; @buffer->lock
 * @in: ingress queues by priority; @buffer->lock
 * @rcu: for kfree_rcu()
 */
struct wire_port {
	struct wire_end *end;
	struct wire_buffer *buffer;
	struct wire_buffer own;
	u32 id;
	bool gone;
	struct mmu_queue in[PFC_PRIOS];
	struct rcu_head rcu;
};

/**
 * struct wire_end - a device of a wire
 * @wire: the wire
 * @dev: the device
 * @port: its port while it is registered, written under RTNL
 * @timer: expires for the next event of the following fields
 * @line: the direction away from the device
 * @data: frames on the way to the device, by the time of arrival
 * @pfc: PFC frames on the way to the device, by the time of arrival
 * @up: the device is up
 * @busy: the queues are stopped until the line is free
 * @paused: priorities stopped by the peer
 * @paused_from_ps: when the pause of each of these priorities began
 * @paused_to_ps: when the pause of each of these priorities ends
 * @resumed_ps: when a priority was last resumed
 * @refresh_ps: when to repeat the pause of @port's queues, U64_MAX: never
 * @flap_ps: when the next pause of @wire->conf.flap_ns begins or ends,
 *	U64_MAX: never
 * @flaps: such a pause has begun
 * @total: counters since the creation
 * @run: counters of the run, while rh_counting()
 *
 * Fields from @line on are covered by @wire's lock.
 */
struct wire_end {
	struct wire *wire;
	struct net_device *dev;
	struct wire_port __rcu *port;
	struct hrtimer timer;

	struct line line;
	struct sk_buff_head data;
	struct sk_buff_head pfc;
	bool up;
	bool busy;
	u8 paused;
	u64 paused_from_ps[PFC_PRIOS];
	u64 paused_to_ps[PFC_PRIOS];
	u64 resumed_ps;
	u64 refresh_ps;
	u64 flap_ps;
	bool flaps;
	struct wire_stats total;
	struct wire_stats run;
};

/**
 * struct wire_event - a change of a wire
 * @at_ns: time of the change, relative to the epoch
 * @rate_bps: new rate, 0: the link goes down or up
 * @down: the link goes down
 * @silent: the carrier does not change
 */
struct wire_event {
	u64 at_ns;
	u64 rate_bps;
	bool down;
	bool silent;
};

/**
 * struct wire - a link
 * @list: entry in the list of wires; RTNL
 * @refs: devices that have not been freed
 * @conf: parameters
 * @lock: protects both ends, and the members from @down to @epoch_ns
 * @down: the link is down
 * @events: changes, sorted by time; written only before a run starts
 * @n_events: their number
 * @next_event: index of the next one
 * @epoch_ns: when the run began, U64_MAX: no run has been started
 * @ends: the ends
 */
struct wire {
	struct list_head list;
	refcount_t refs;
	struct wire_conf conf;

	spinlock_t lock;	/* both ends, and @down to @epoch_ns */
	bool down;
	struct wire_event events[WIRE_EVENTS];
	u32 n_events;
	u32 next_event;
	u64 epoch_ns;
	struct wire_end ends[2];
};

static inline struct wire_end *wire_peer(struct wire_end *end)
{
	return &end->wire->ends[end == &end->wire->ends[0]];
}

extern struct list_head wire_list;

/* wire.c */
int wire_init(void);
void wire_exit(void);
int wire_new(struct net *net, const char *a, const char *b,
	     const struct wire_conf *conf);
struct wire_end *wire_end_of(const struct net_device *dev);
void wire_add_event(struct wire *wire, const struct wire_event *event);
void wire_start(u64 epoch_ns);
void wire_stop(void);
bool wire_paused(const struct net_device *dev, u8 prio);
void wire_send_pfc(struct wire_end *end, u8 classes, u16 quanta, u64 at_ps);
u64 wire_paused_ns(const struct net_device *dev, u64 now_ns);
void wire_snapshot(struct wire_end *end, const struct wire_stats *stats,
		   struct wire_stats *copy);

/* wire_buffer.c */
int wire_buffer_init(void);
void wire_buffer_exit(void);
u64 wire_headroom(const struct wire_conf *conf);
int wire_attach(struct wire_end *end, struct wire_buffer *buffer);
void wire_detach(struct wire_end *end);
const struct net_device *wire_buffer_lacks(u64 *need, u64 *have);
void wire_stamp(struct sk_buff *skb, u64 at_ps);
u64 wire_stamped_ps(const struct sk_buff *skb);
bool wire_admit(struct wire_end *end, struct sk_buff *skb, u8 prio, u64 at_ps);
void wire_release(struct sk_buff *skb, u64 at_ps);
void wire_forget_pauses(struct wire_end *end);
void wire_refresh(struct wire_end *end, u64 at_ps);
void wire_flap(struct wire_end *end, bool pause, u64 at_ps);

#endif /* _ROCEHOST_WIRE_H */
