// SPDX-License-Identifier: GPL-2.0
/*
 * Client of the generic netlink family iqcn.
 *
 * One socket receives answers and events: an answer has the sequence number of
 * its request, an event has none.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "genl.h"
#include "iqcn.h"

/* The largest message that the kernel builds if the buffer has room for it */
#define RECEIVE_BYTES 32768
/* Larger than the message of any object */
#define OBJECT_BYTES 4096
/* Larger than any request */
#define REQUEST_BYTES 256
/* Room for events while the program does something else; the kernel may cap it
 */
#define SOCKET_BYTES (4 << 20)
#define DUMP_TRIES 10

#ifndef NETLINK_EXT_ACK
#define NETLINK_EXT_ACK 11
#endif

/* After this many events during a request, receive only the answer */
#define EVENTS_REQUEST 100000
/* The most events that genl_events() handles at once */
#define EVENTS_POLL 1000

/* The controller's group reports that the module is unloaded */
static const struct {
	const char *family, *group;
} groups[] = {
	{ IQCN_FAMILY_NAME, IQCN_MCGRP_STATE },
	{ IQCN_FAMILY_NAME, IQCN_MCGRP_CNP },
	{ "nlctrl", "notify" },
};

/* The text for EPERM: strerror() does not name the capability */
static const char *const denied[IQCN_CMD_MAX + 1] = {
	[IQCN_CMD_FLOW_GET] = FLOWS_NEED " (try sudo)",
	[IQCN_CMD_FLOW_FLUSH] = "flushing flows" NEEDS_ADMIN " (try sudo)",
	[IQCN_CMD_QUEUE_CLEAR] = "resetting peaks" NEEDS_ADMIN " (try sudo)",
	[IQCN_CMD_LEASE] = "a lease" NEEDS_ADMIN " (try sudo, or observe)",
};

/* Handles one message of an answer; returns NL_OK to continue, or NL_STOP */
typedef int (*part_fn)(struct genl *g, struct nlattr *head, int len);

struct genl {
	struct nl_sock *sk;
	struct nl_cb *cb;
	int family;
	int groups[ARRAY_SIZE(groups)];
	bool joined;
	uint64_t overruns;
	unsigned int n_events;	/* during this request or genl_events() */
	char why[256];

	/* the current request */
	int cmd;
	uint32_t seq;		/* 0: none */
	bool done;
	bool interrupted;
	int err;
	part_fn part;

	/* and its answer */
	const struct object *object;
	char *objects;
	size_t n, room;
	void *one;
	flow_fn flow_fn;
	void *flow_arg;
	uint64_t flushed;

	event_fn event_fn;
	void *event_arg;
};

static int set_error(struct genl *g, int err, const char *why)
{
	snprintf(g->why, sizeof(g->why), "%s", why);
	g->err = err;
	g->done = true;
	return err;
}

/* Use the extack message, if @tlvs has one */
static void set_kernel_error(struct genl *g, int err, struct nlattr *tlvs,
			     int len)
{
	struct nlattr *msg = NULL;
	const char *why = strerror(-err);

	if (len > 0)
		msg = nla_find(tlvs, len, NLMSGERR_ATTR_MSG);
	if (msg && nla_len(msg) > 1)
		why = nla_get_string(msg);
	else if (err == -EPERM && denied[g->cmd])
		why = denied[g->cmd];
	set_error(g, err, why);
}

static int set_nl_error(struct genl *g, int nlerr)
{
	if (nlerr == -NLE_PERM)
		return set_error(g, -EPERM, denied[IQCN_CMD_FLOW_GET]);
	return set_error(g, -EIO, nl_geterror(nlerr));
}

/* Detect that the family has disappeared, and its multicast groups with it */
static int on_control(struct genl *g, struct nlmsghdr *nlh)
{
	struct genlmsghdr *hdr = nlmsg_data(nlh);
	struct nlattr *id;

	if (!genlmsg_valid_hdr(nlh, 0) || hdr->cmd != CTRL_CMD_DELFAMILY)
		return NL_SKIP;
	id = nla_find(genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0),
		      CTRL_ATTR_FAMILY_ID);
	if (!id || nla_len(id) != sizeof(uint16_t) ||
	    nla_get_u16(id) != g->family)
		return NL_SKIP;
	set_error(g, -ENOENT, strerror(ENOENT));
	return NL_STOP;
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genl *g = arg;
	struct genlmsghdr *hdr;
	struct event event;

	if (nlh->nlmsg_type == GENL_ID_CTRL && !nlh->nlmsg_seq)
		return on_control(g, nlh);
	if (nlh->nlmsg_type != g->family || !genlmsg_valid_hdr(nlh, 0))
		return NL_SKIP;
	hdr = genlmsg_hdr(nlh);
	if (g->seq && nlh->nlmsg_seq == g->seq)
		return g->part(g, genlmsg_attrdata(hdr, 0),
			       genlmsg_attrlen(hdr, 0));
	if (nlh->nlmsg_seq || !g->event_fn)
		return NL_SKIP;
	g->n_events++;
	object_parse(&event_object, &event, genlmsg_attrdata(hdr, 0),
		     genlmsg_attrlen(hdr, 0));
	g->event_fn(&event, hdr->cmd, g->event_arg);
	return NL_OK;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct genl *g = arg;

	g->interrupted = true;
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genl *g = arg;
	int err = 0, len = nlmsg_datalen(nlh) - sizeof(err);

	if (nlh->nlmsg_seq != g->seq)
		return NL_SKIP;
	g->done = true;
	if (len >= 0)
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	if (err < 0)
		set_kernel_error(g, err, nlmsg_attrdata(nlh, sizeof(err)),
				 nlmsg_attrlen(nlh, sizeof(err)));
	return NL_OK;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct genl *g = arg;

	if (nlmsg_hdr(msg)->nlmsg_seq == g->seq)
		g->done = true;
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)e - 1;
	struct genl *g = arg;
	size_t skip = sizeof(*e);

	if (e->msg.nlmsg_seq != g->seq)
		return NL_SKIP;
	/* the error repeats the request, unless it is capped to the header */
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - sizeof(e->msg);
	set_kernel_error(g, e->error, nlmsg_attrdata(nlh, skip),
			 nlh->nlmsg_flags & NLM_F_ACK_TLVS ?
				 nlmsg_attrlen(nlh, skip) : 0);
	return NL_STOP;
}

static int any_seq(struct nl_msg *msg, void *arg)
{
	return NL_OK;
}

static int receive(struct genl *g)
{
	int err = nl_recvmsgs(g->sk, g->cb);

	/* the socket buffer overran: events were lost */
	if (err == -NLE_NOMEM && g->joined) {
		g->overruns++;
		return 0;
	}
	return err < 0 && !g->done ? set_nl_error(g, err) : 0;
}

static struct nl_msg *new_request(struct genl *g, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_BYTES);

	g->cmd = cmd;
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, g->family, 0,
			       flags, cmd, IQCN_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	set_error(g, -ENOMEM, strerror(ENOMEM));
	return NULL;
}

static int set_membership(struct genl *g, bool on)
{
	int (*set)(struct nl_sock *sk, int group, ...) =
		on ? nl_socket_add_memberships : nl_socket_drop_memberships;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		err = set(g->sk, g->groups[i], 0);
		if (err < 0)
			return set_nl_error(g, err);
	}
	return 0;
}

/* The kernel continues a dump when the socket has room, which it never has
 * while events arrive faster than they are read.  So leave the groups until the
 * end of the dump if there are too many events.
 */
static int receive_answer(struct genl *g)
{
	bool quiet = false;

	while (!g->done && !receive(g)) {
		if (quiet || g->n_events < EVENTS_REQUEST)
			continue;
		g->overruns++;
		quiet = true;
		if (set_membership(g, false))
			return g->err;
	}
	if (quiet)
		set_membership(g, true);
	return g->err;
}

/* Frees @msg */
static int request(struct genl *g, struct nl_msg *msg, part_fn part)
{
	int err;

	g->done = false;
	g->interrupted = false;
	g->err = 0;
	g->part = part;
	g->n_events = 0;
	dev_forget();
	err = nl_send_auto(g->sk, msg);
	g->seq = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	if (err < 0)
		return set_nl_error(g, err);
	err = receive_answer(g);
	g->seq = 0;
	return err;
}

static int keep_object(struct genl *g, struct nlattr *head, int len)
{
	size_t size = g->object->size, room = g->room ? 2 * g->room : 16;
	char *more;

	if (g->n == g->room) {
		more = realloc(g->objects, room * size);
		if (!more) {
			set_error(g, -ENOMEM, strerror(ENOMEM));
			return NL_STOP;
		}
		g->objects = more;
		g->room = room;
	}
	object_parse(g->object, g->objects + size * g->n++, head, len);
	return NL_OK;
}

/* Repeat the dump until it is consistent, up to DUMP_TRIES times in all */
static int collect(struct genl *g, const struct object *object, int cmd,
		   uint32_t ifindex, uint32_t filter)
{
	struct nl_msg *msg;
	int i, err;

	g->object = object;
	g->objects = NULL;
	g->room = 0;
	for (i = 0; i < DUMP_TRIES; i++) {
		msg = new_request(g, cmd, NLM_F_DUMP);
		if (!msg)
			return g->err;
		if (ifindex)
			nla_put_u32(msg, IQCN_A_QUEUE_IFINDEX, ifindex);
		if (filter)
			nla_put_u32(msg, IQCN_A_QUEUE_FILTER, filter);
		g->n = 0;
		err = request(g, msg, keep_object);
		if (err || !g->interrupted)
			return err;
	}
	return set_error(g, -EINTR, "the list kept changing during the dump");
}

int genl_ports(struct genl *g, struct port **ports, size_t *n)
{
	int err = collect(g, &port_object, IQCN_CMD_PORT_GET, 0, 0);

	*ports = (struct port *)g->objects;
	*n = err ? 0 : g->n;
	return err;
}

int genl_queues(struct genl *g, uint32_t ifindex, uint32_t filter,
		struct queue **queues, size_t *n)
{
	int err = collect(g, &queue_object, IQCN_CMD_QUEUE_GET, ifindex,
			  filter);

	*queues = (struct queue *)g->objects;
	*n = err ? 0 : g->n;
	return err;
}

static int keep_one(struct genl *g, struct nlattr *head, int len)
{
	object_parse(g->object, g->one, head, len);
	g->done = true;
	return NL_STOP;
}

int genl_port(struct genl *g, uint32_t ifindex, struct port *p)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_PORT_GET, 0);

	if (!msg)
		return g->err;
	nla_put_u32(msg, IQCN_A_PORT_IFINDEX, ifindex);
	g->object = &port_object;
	g->one = p;
	return request(g, msg, keep_one);
}

int genl_queue(struct genl *g, uint32_t ifindex, uint32_t parent,
	       const uint64_t mask[IQCN_QUEUE_MASK_WORDS], struct queue *q)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_QUEUE_GET, 0);

	if (!msg)
		return g->err;
	nla_put_u32(msg, IQCN_A_QUEUE_IFINDEX, ifindex);
	nla_put_u32(msg, IQCN_A_QUEUE_PARENT, parent);
	nla_put(msg, IQCN_A_QUEUE_MASK, IQCN_QUEUE_MASK_WORDS * sizeof(*mask),
		mask);
	g->object = &queue_object;
	g->one = q;
	return request(g, msg, keep_one);
}

void genl_receive_little(struct genl *g)
{
	nl_socket_set_msg_buf_size(g->sk, OBJECT_BYTES);
}

static int pass_flow(struct genl *g, struct nlattr *head, int len)
{
	struct flow flow;

	object_parse(&flow_object, &flow, head, len);
	if (g->flow_fn(&flow, g->flow_arg))
		return NL_OK;
	g->done = true;
	return NL_STOP;
}

int genl_flows(struct genl *g, uint32_t ifindex, uint32_t filter, flow_fn fn,
	       void *arg)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_FLOW_GET, NLM_F_DUMP);

	if (!msg)
		return g->err;
	if (ifindex)
		nla_put_u32(msg, IQCN_A_FLOW_IFINDEX, ifindex);
	if (filter)
		nla_put_u32(msg, IQCN_A_FLOW_FILTER, filter);
	g->flow_fn = fn;
	g->flow_arg = arg;
	return request(g, msg, pass_flow);
}

static int take_flushed(struct genl *g, struct nlattr *head, int len)
{
	struct nlattr *attr = nla_find(head, len, IQCN_A_FLOW_FLUSHED);

	if (attr && nla_len(attr) == sizeof(g->flushed))
		g->flushed = nla_get_u64(attr);
	return NL_OK;
}

int genl_flush(struct genl *g, uint32_t ifindex, uint32_t parent,
	       uint64_t *flushed)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_FLOW_FLUSH, NLM_F_ACK);
	int err;

	if (!msg)
		return g->err;
	if (ifindex)
		nla_put_u32(msg, IQCN_A_FLOW_IFINDEX, ifindex);
	if (parent)
		nla_put_u32(msg, IQCN_A_FLOW_PARENT, parent);
	g->flushed = 0;
	err = request(g, msg, take_flushed);
	*flushed = g->flushed;
	return err;
}

/* The only answer is the acknowledgment */
static int no_part(struct genl *g, struct nlattr *head, int len)
{
	return NL_OK;
}

int genl_clear(struct genl *g, uint32_t ifindex, uint32_t parent)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_QUEUE_CLEAR, NLM_F_ACK);

	if (!msg)
		return g->err;
	if (ifindex)
		nla_put_u32(msg, IQCN_A_QUEUE_IFINDEX, ifindex);
	if (parent)
		nla_put_u32(msg, IQCN_A_QUEUE_PARENT, parent);
	return request(g, msg, no_part);
}

int genl_lease(struct genl *g, const struct lease *l)
{
	struct nl_msg *msg = new_request(g, IQCN_CMD_LEASE, NLM_F_ACK);

	if (!msg)
		return g->err;
	nla_put_u32(msg, IQCN_A_LEASE_IFINDEX, l->ifindex);
	nla_put_u32(msg, IQCN_A_LEASE_PARENT, l->parent);
	nla_put_u32(msg, IQCN_A_LEASE_MS, l->ms);
	nla_put_u32(msg, IQCN_A_LEASE_FILTER_N, 1);
	nla_put_u32(msg, IQCN_A_LEASE_FILTER_NS, l->filter_ns);
	if (l->supplements)
		nla_put_u32(msg, IQCN_A_LEASE_SUPPLEMENT_PPS,
			    l->supplement_pps);
	return request(g, msg, no_part);
}

int genl_join(struct genl *g)
{
	size_t i;
	int n;

	/* resolve the groups before joining any, because libnl would mistake
	 * an event for the answer
	 */
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		n = genl_ctrl_resolve_grp(g->sk, groups[i].family,
					  groups[i].group);
		if (n < 0)
			return set_nl_error(g, n);
		g->groups[i] = n;
	}
	g->joined = true;
	return set_membership(g, true);
}

void genl_on_event(struct genl *g, event_fn fn, void *arg)
{
	g->event_fn = fn;
	g->event_arg = arg;
}

int genl_fd(const struct genl *g)
{
	return nl_socket_get_fd(g->sk);
}

int genl_events(struct genl *g)
{
	struct pollfd p = { .fd = genl_fd(g), .events = POLLIN };

	g->done = false;
	g->err = 0;
	g->n_events = 0;
	/* devices may have been renamed */
	dev_forget();
	while (!g->err && g->n_events < EVENTS_POLL && poll(&p, 1, 0) > 0)
		receive(g);
	return g->err;
}

uint64_t genl_overruns(const struct genl *g)
{
	return g->overruns;
}

const char *genl_why(const struct genl *g)
{
	return g->why;
}

static int set_callbacks(struct genl *g)
{
	g->cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!g->cb)
		return -NLE_NOMEM;
	nl_cb_set(g->cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, g);
	nl_cb_set(g->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, g);
	nl_cb_set(g->cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, g);
	nl_cb_set(g->cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, g);
	nl_cb_set(g->cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_seq, g);
	nl_cb_err(g->cb, NL_CB_CUSTOM, on_error, g);
	return 0;
}

static int connect_genl(struct genl *g)
{
	int on = 1, err;

	g->sk = nl_socket_alloc();
	if (!g->sk)
		return -NLE_NOMEM;
	err = set_callbacks(g);
	if (err)
		return err;
	err = genl_connect(g->sk);
	if (err)
		return err;
	/* without a peek, a message takes one system call.  Errors of the
	 * optional settings below are ignored, because older kernels lack some
	 * of them.
	 */
	nl_socket_disable_msg_peek(g->sk);
	/* NLM_F_ACK is set only in requests that have no other answer */
	nl_socket_disable_auto_ack(g->sk);
	nl_socket_set_msg_buf_size(g->sk, RECEIVE_BYTES);
	nl_socket_set_buffer_size(g->sk, SOCKET_BYTES, 0);
	setsockopt(genl_fd(g), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	return 0;
}

int genl_fail(const struct genl *g, int err)
{
	if (err == -ENOENT)
		return fail("module sch_iqcn", "it has been unloaded");
	return fail("netlink family " IQCN_FAMILY_NAME, g->why);
}

struct genl *genl_open(void)
{
	struct genl *g = calloc(1, sizeof(*g));
	int err;

	if (!g) {
		fail("netlink socket", strerror(ENOMEM));
		return NULL;
	}
	err = connect_genl(g);
	if (err) {
		fail("netlink socket", nl_geterror(err));
		goto err_free;
	}
	g->family = genl_ctrl_resolve(g->sk, IQCN_FAMILY_NAME);
	if (g->family >= 0)
		return g;
	if (g->family != -NLE_OBJ_NOTFOUND)
		fail("netlink family " IQCN_FAMILY_NAME,
		     nl_geterror(g->family));
	else if (access(SYS_MODULE, F_OK))
		fail("module sch_iqcn", "not loaded, and the kernel does not find it");
	else
		fail("module sch_iqcn", "it is older than this tool, which needs netlink family "
		     IQCN_FAMILY_NAME);

err_free:
	genl_close(g);
	return NULL;
}

void genl_close(struct genl *g)
{
	if (!g)
		return;
	nl_cb_put(g->cb);
	nl_socket_free(g->sk);
	free(g);
}

int genl_family_version(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct nl_cache *families = NULL;
	struct genl_family *family;
	int version = -1;

	if (!sk)
		return version;
	/* a query by name would load the module, but a dump of all families
	 * does not
	 */
	if (!genl_connect(sk) && !genl_ctrl_alloc_cache(sk, &families)) {
		family = genl_ctrl_search_by_name(families, IQCN_FAMILY_NAME);
		if (family)
			version = genl_family_get_version(family);
		genl_family_put(family);
		nl_cache_free(families);
	}
	nl_socket_free(sk);
	return version;
}
