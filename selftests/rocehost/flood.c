// SPDX-License-Identifier: GPL-2.0
/*
 * Floods: packets of connections that do not exist, as an attacker would send.
 *
 * Every packet is valid RoCEv2 with a valid ICRC: data without payload, ACKs,
 * CNPs or connection requests.  Whatever the command does not set is random in
 * each packet: addresses, UDP source port, QP and PSN.
 *
 * The packets are sent in bursts, which the clock paces: ten million packets at
 * a rate of ten million packets per second take one second of virtual time, in
 * which everything else in the lab continues.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <net/ipv6.h>

#include "rocehost.h"

#define RH_FLOOD_BURST	64

/* Set @ip to @fixed or, if @fixed is unset, to a random unicast address: IPv4
 * from 1.0.0.0 to 126.255.255.255, or 2000::/3
 */
static void rh_flood_address(struct rnd_state *rnd, bool v6,
			     const struct in6_addr *fixed, struct in6_addr *ip)
{
	u32 host = prandom_u32_state(rnd);

	if (!ipv6_addr_any(fixed)) {
		*ip = *fixed;
	} else if (v6) {
		prandom_bytes_state(rnd, ip, sizeof(*ip));
		ip->s6_addr[0] = 0x20 | (ip->s6_addr[0] & 0x1f);
	} else {
		/* the first byte is 1 to 126; each of 1 to 4 is 1.5 times as
		 * likely as each of the others
		 */
		host = (host & 0xffffff) | ((host >> 24) % 126 + 1) << 24;
		ipv6_addr_set_v4mapped(htonl(host), ip);
	}
}

static void rh_flood_headers(const struct net_device *dev,
			     const struct rh_flood_conf *conf,
			     struct rnd_state *rnd, struct in6_addr *src,
			     struct rh_headers *h)
{
	bool v6 = !ipv6_addr_any(&conf->from) ?
		  !ipv6_addr_v4mapped(&conf->from) :
		  !ipv6_addr_any(&conf->to) && !ipv6_addr_v4mapped(&conf->to);
	struct rh_addr from = { dev->dev_addr, src };
	struct in6_addr dst;
	struct rh_addr to = { conf->via, &dst };
	u32 qp;

	rh_flood_address(rnd, v6, &conf->from, src);
	rh_flood_address(rnd, v6, &conf->to, &dst);
	qp = conf->qp == RH_NEVER ? prandom_u32_state(rnd) : conf->qp;
	rh_headers_init(h, &from, &to, 0, conf->ecn, prandom_u32_state(rnd),
			qp & IQCN_QPN_MASK);
}

static struct sk_buff *rh_flood_packet(const struct net_device *dev,
				       const struct rh_flood *flood,
				       struct rnd_state *rnd)
{
	const struct rh_flood_conf *conf = &flood->conf;
	u32 psn = prandom_u32_state(rnd), id = prandom_u32_state(rnd);
	struct in6_addr src;
	struct rh_headers h;

	if (conf->psn != RH_NEVER)
		psn = conf->psn + flood->packets;
	psn &= IQCN_PSN_MASK;
	rh_flood_headers(dev, conf, rnd, &src, &h);
	if (conf->ack)
		return rh_build_ack(&h, AETH_ACK, psn, 0, NULL);
	if (conf->cnp)
		return rh_build_cnp(&h, &src, conf->qp == RH_NEVER ? id :
							conf->qp, 0,
				    rh_headers_sport(&h));
	if (conf->req)
		return rh_build_cm(&h, IQCN_CM_REQ, id, psn, 0);
	return rh_build_bare(&h, psn);
}

static int rh_flood_burst(struct rh_flood *flood, struct net_device *dev,
			  struct rnd_state *rnd)
{
	u64 n = min_t(u64, RH_FLOOD_BURST, flood->conf.packets - flood->packets);
	struct sk_buff *skb;

	while (n--) {
		skb = rh_flood_packet(dev, flood, rnd);
		if (!skb)
			return -ENOMEM;
		skb->dev = dev;
		if (flood->conf.vlan)
			__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
					       flood->conf.vlan);
		flood->packets++;
		if (dev_queue_xmit(skb) != NET_XMIT_SUCCESS)
			flood->refused++;
	}
	return 0;
}

static int rh_flood_run(struct rh_flood *flood, struct net_device *dev)
{
	u64 start_ns = ktime_get_ns();
	struct rnd_state rnd;
	ktime_t due;
	int err;

	prandom_seed_state(&rnd, flood->conf.seed);
	while (flood->packets < flood->conf.packets) {
		if (signal_pending(current))
			return -EINTR;
		if (!netif_running(dev) || !READ_ONCE(rh_world.open))
			return -ENETDOWN;
		local_bh_disable();
		err = rh_flood_burst(flood, dev, &rnd);
		local_bh_enable();
		if (err)
			return err;
		due = ns_to_ktime(start_ns +
				  mul_u64_u64_div_u64(flood->packets,
						      NSEC_PER_SEC,
						      flood->conf.rate_pps));
		flood->late += ktime_after(ktime_get(), due);
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout_range(&due, 0, HRTIMER_MODE_ABS);
	}
	return 0;
}

/**
 * rh_flood() - send packets of connections that do not exist
 * @dev: device that sends them
 * @flood: parameters, and the result
 *
 * Context: RTNL held on entry and exit, released while packets are sent; may
 *	    sleep.
 * Return: 0, -ENOMEM, -EINTR, or -ENETDOWN if the device goes down or this
 * module is unloaded.
 */
int rh_flood(struct net_device *dev, struct rh_flood *flood)
{
	netdevice_tracker tracker;
	int err;

	netdev_hold(dev, &tracker, GFP_KERNEL);
	rtnl_unlock();
	err = rh_flood_run(flood, dev);
	/* before rtnl_lock(): the holder of RTNL may wait for this reference */
	netdev_put(dev, &tracker);
	rtnl_lock();
	return err;
}
