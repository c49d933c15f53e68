// SPDX-License-Identifier: GPL-2.0
/*
 * Order and rates of flows.
 */
#define _GNU_SOURCE	/* qsort_r() */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iqcn.h"
#include "rank.h"

/* A flow when it was last dumped, all 0 if it never was */
struct seen {
	uint64_t age_ns;
	uint32_t ce_sent;
	uint32_t cnps;
};

/* The flows of a port, indexed by their id */
struct seen_port {
	uint32_t dev;
	size_t room;
	struct seen *flows;
};

struct rates {
	struct seen_port *ports;
	size_t n_ports;
	uint64_t begin_ns;	/* of this dump */
	uint64_t end_ns;	/* of the previous dump */
};

struct rates *rates_new(void)
{
	return calloc(1, sizeof(struct rates));
}

void rates_free(struct rates *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n_ports; i++)
		free(r->ports[i].flows);
	free(r->ports);
	free(r);
}

void rates_begin(struct rates *r, uint64_t now_ns)
{
	r->begin_ns = now_ns;
}

void rates_end(struct rates *r, uint64_t now_ns)
{
	r->end_ns = now_ns;
}

static struct seen_port *seen_port(struct rates *r, uint32_t dev)
{
	struct seen_port *ports;
	size_t i;

	for (i = 0; i < r->n_ports; i++)
		if (r->ports[i].dev == dev)
			return &r->ports[i];
	ports = realloc(r->ports, (i + 1) * sizeof(*ports));
	if (!ports)
		return NULL;
	ports[i] = (struct seen_port){ .dev = dev };
	r->ports = ports;
	r->n_ports++;
	return &ports[i];
}

static struct seen *seen(struct rates *r, const struct flow *f)
{
	struct seen_port *p = seen_port(r, f->dev);
	struct seen *flows;
	size_t room;

	if (!p)
		return NULL;
	if (f->id < p->room)
		return &p->flows[f->id];
	room = 2 * p->room > f->id ? 2 * p->room : f->id + 64;
	flows = realloc(p->flows, room * sizeof(*flows));
	if (!flows)
		return NULL;
	memset(flows + p->room, 0, (room - p->room) * sizeof(*flows));
	p->flows = flows;
	p->room = room;
	return &flows[f->id];
}

static bool is_one_of(uint32_t dev, const struct port *ports, size_t n,
		      size_t guess)
{
	size_t i;

	/* usually both lists of ports have the same order */
	for (i = 0; i < n; i++)
		if (ports[(guess + i) % n].ifindex == dev)
			return true;
	return false;
}

void rates_keep(struct rates *r, const struct port *ports, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < r->n_ports; i++)
		if (is_one_of(r->ports[i].dev, ports, n, kept))
			r->ports[kept++] = r->ports[i];
		else
			free(r->ports[i].flows);
	r->n_ports = kept;
}

/* Is @f the flow that had this id in the previous dump?  The id may have been
 * reused meanwhile.  But the same flow has aged by at least the time from the
 * end of the previous dump to the beginning of this one.
 */
static bool is_same(const struct rates *r, const struct seen *s,
		    const struct flow *f)
{
	return s->age_ns && f->age_ns > s->age_ns &&
	       f->age_ns - s->age_ns >= r->begin_ns - r->end_ns;
}

static uint64_t per_second(uint64_t n, uint64_t ns)
{
	return ns ? n * 1e9 / ns + 0.5 : 0;
}

int rates_update(struct rates *r, const struct flow *f, struct speed *speed)
{
	struct seen *s = seen(r, f), then = {};
	uint32_t cnps = f->cnp_seen + f->cnp_sent;
	uint64_t ns;

	if (s && is_same(r, s, f))
		then = *s;
	ns = f->age_ns - then.age_ns;
	speed->ce_pps = per_second((uint32_t)f->ce_sent - then.ce_sent, ns);
	speed->cnp_pps = per_second(cnps - then.cnps, ns);
	if (!s)
		return -ENOMEM;
	*s = (struct seen){ f->age_ns, f->ce_sent, cnps };
	return 0;
}

int parse_order(const char *word, enum order *order)
{
	static const char *const names[] = {
		[ORDER_CNPS] = "cnps",
		[ORDER_RATE] = "rate",
		[ORDER_AGE] = "age",
	};
	size_t i;

	for (i = ORDER_CNPS; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], word)) {
			*order = i;
			return EXIT_SUCCESS;
		}
	return misuse("the order must be cnps, rate or age, not", word);
}

struct ranking {
	enum order order;
	size_t limit;
	struct ranked *list;
	size_t n, room;
	bool sifted;		/* the first @limit are sorted */
};

struct ranking *ranking_new(enum order order, size_t limit)
{
	struct ranking *r = calloc(1, sizeof(*r));

	if (r) {
		r->order = order;
		r->limit = limit;
	}
	return r;
}

void ranking_free(struct ranking *r)
{
	if (r)
		free(r->list);
	free(r);
}

static int larger_first(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int ranked_cmp(const void *x, const void *y, void *order)
{
	const struct ranked *a = x, *b = y;
	int cmp = 0;

	switch (*(enum order *)order) {
	case ORDER_CNPS:
		cmp = larger_first(a->flow.cnp_seen + a->flow.cnp_sent,
				   b->flow.cnp_seen + b->flow.cnp_sent);
		break;
	case ORDER_RATE:
		cmp = larger_first(a->speed.ce_pps, b->speed.ce_pps);
		break;
	case ORDER_AGE:
		cmp = larger_first(a->flow.age_ns, b->flow.age_ns);
		break;
	case ORDER_CNP_RATE:
		cmp = larger_first(a->speed.cnp_pps, b->speed.cnp_pps);
		break;
	case ORDER_NONE:
		break;
	}
	/* make the order unique */
	if (!cmp)
		cmp = larger_first(b->flow.dev, a->flow.dev);
	return cmp ? cmp : larger_first(b->flow.id, a->flow.id);
}

static void cut(struct ranking *r)
{
	if (r->n)
		qsort_r(r->list, r->n, sizeof(*r->list), ranked_cmp, &r->order);
	if (r->limit && r->n > r->limit)
		r->n = r->limit;
	r->sifted = r->limit && r->n == r->limit;
}

static int make_room(struct ranking *r)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct ranked *list;

	if (r->n < r->room)
		return 0;
	list = realloc(r->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	r->list = list;
	r->room = room;
	return 0;
}

int ranking_add(struct ranking *r, const struct ranked *flow)
{
	int err;

	/* fast path: most flows are not among the first @limit */
	if (r->sifted &&
	    ranked_cmp(flow, &r->list[r->limit - 1], &r->order) > 0)
		return 0;
	if (r->limit && r->n >= 2 * r->limit)
		cut(r);
	err = make_room(r);
	if (!err)
		r->list[r->n++] = *flow;
	return err;
}

const struct ranked *ranking_list(struct ranking *r, size_t *n)
{
	cut(r);
	*n = r->n;
	return r->list;
}

void ranking_empty(struct ranking *r, enum order order)
{
	r->n = 0;
	r->sifted = false;
	r->order = order;
}
