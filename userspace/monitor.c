// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn monitor: events as they happen, and periodic samples of the queues.
 *
 * One socket receives events and samples.  The kernel sends events in batches,
 * with a delay, so each record is kept for HOLD_NS before it is written, to
 * write all records in the order of their times.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <net/if.h>

#include "genl.h"
#include "iqcn.h"
#include "out.h"
#include "record.h"
#include "signals.h"
#include "snapshot.h"

#define INTERVAL_NS (NS_PER_S / 100)
/* The kernel delays events by 10 ms and a tick or two */
#define HOLD_NS (NS_PER_S / 20)

/* Events of a group that the kernel reports as dropped */
struct lost {
	const char *group;
	bool known;
	uint64_t events;
};

struct monitor {
	/* arguments */
	const char *dev;
	uint32_t ifindex;
	uint64_t interval_ns;
	uint64_t count;		/* of samples, or of events if there are no
				 * samples; 0: no limit
				 */
	bool json;
	bool events;
	bool samples;

	struct genl *g;
	int timer, signals;
	struct records records;
	struct snapshot before, now;
	struct lost state_lost, cnp_lost;
	uint64_t overruns;

	uint64_t end_ns;	/* write no later records; 0: no end yet */
	bool enough;		/* @count events were written */
	bool done;
	int ret;		/* exit status */
};

static void end(struct monitor *m, int ret)
{
	m->done = true;
	m->ret = ret;
}

static void add(struct monitor *m, struct record *r)
{
	if (records_add(&m->records, r))
		end(m, fail("records", strerror(ENOMEM)));
}

static void add_lost(struct monitor *m, const char *group, uint64_t events)
{
	struct record r;

	record_lost(&r, m->json, now_ns(), group, events);
	add(m, &r);
}

static void add_late(struct monitor *m, uint64_t missed)
{
	struct record r;

	record_late(&r, m->json, now_ns(), missed);
	add(m, &r);
}

/* Record how many events were lost since the previous call for @l.  Events that
 * were lost before the start do not count.
 */
static void check_lost(struct monitor *m, struct lost *l, uint64_t events)
{
	if (l->known && events > l->events)
		add_lost(m, l->group, events - l->events);
	/* an event may carry an older value of the counter than a port does */
	if (!l->known || events > l->events)
		l->events = events;
	l->known = true;
}

static void check_overruns(struct monitor *m)
{
	uint64_t overruns = genl_overruns(m->g);

	if (overruns != m->overruns)
		add_lost(m, NULL, 0);
	m->overruns = overruns;
}

static void on_event(const struct event *e, int cmd, void *arg)
{
	struct lost *lost = NULL;
	struct monitor *m = arg;
	struct record r;

	switch (cmd) {
	case IQCN_CMD_QUEUE_STATE_NTF:
	case IQCN_CMD_FLOW_STATE_NTF:
	case IQCN_CMD_PFC_NTF:
	case IQCN_CMD_LEASE_NTF:
		lost = &m->state_lost;
		break;
	case IQCN_CMD_CNP_NTF:
		lost = &m->cnp_lost;
		break;
	default:
		return;
	}
	check_lost(m, lost, e->lost);
	if (m->ifindex && e->dev != m->ifindex)
		return;
	record_event(&r, m->json, e, cmd);
	add(m, &r);
}

/* The device exists, but has no qdisc iqcn now */
static bool is_bare(const struct monitor *m, int err)
{
	char name[IF_NAMESIZE];

	return err == -ENODEV && m->ifindex && if_indextoname(m->ifindex, name);
}

/* Sample ports and queues */
static void sample(struct monitor *m)
{
	struct port *p;
	int err;

	snapshot_free(&m->before);
	m->before = m->now;
	memset(&m->now, 0, sizeof(m->now));
	err = snapshot_take(&m->now, m->g, m->ifindex);
	if (err == -EINTR)
		add_late(m, 1);
	else if (err == -ENODEV && !is_bare(m, err))
		end(m, fail(m->dev, "the device is gone"));
	else if (err && !is_bare(m, err))
		end(m, genl_fail(m->g, err));
	if (!m->events)
		return;
	/* each port has the counters of the namespace */
	for (p = m->now.ports; p < m->now.ports + m->now.n_ports; p++) {
		check_lost(m, &m->state_lost, p->state_lost);
		check_lost(m, &m->cnp_lost, p->cnp_lost);
	}
}

/* Write the records up to @until_ns, or up to the last one that is wanted */
static void write_records(struct monitor *m, uint64_t until_ns)
{
	const struct record *r;
	size_t i;

	for (i = 0; i < m->records.n && !m->enough; i++) {
		r = &m->records.list[i];
		if (r->time_ns > until_ns)
			break;
		record_write(r);
		if (!m->samples && r->event && m->count && !--m->count)
			m->enough = true;
	}
	records_drop(&m->records, i);
	if (i && fflush(stdout))
		out_closed();
}

static void write_old_records(struct monitor *m)
{
	uint64_t now = now_ns();

	/* shortly after boot, now is less than HOLD_NS */
	if (now > HOLD_NS)
		write_records(m, now - HOLD_NS);
}

static void on_tick(struct monitor *m)
{
	uint64_t ticks = 0;
	struct record r;
	size_t i;

	if (read(m->timer, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	if (ticks > 1)
		add_late(m, ticks - 1);
	sample(m);
	for (i = 0; i < m->now.n_queues; i++) {
		record_sample(&r, m->json, m->now.time_ns, &m->now.queues[i],
			      snapshot_queue(&m->before, &m->now, i));
		add(m, &r);
	}
	if (m->count && !--m->count)
		m->end_ns = m->now.time_ns;
}

static void on_readable(struct monitor *m)
{
	int err = genl_events(m->g);

	if (err)
		end(m, genl_fail(m->g, err));
}

/* Time until the next record must be written or the monitor must end; -1:
 * neither
 */
static int wait_ms(const struct monitor *m)
{
	uint64_t now = now_ns(), due = UINT64_MAX;

	if (m->records.n)
		due = m->records.list[0].time_ns + HOLD_NS;
	if (m->end_ns && m->end_ns + HOLD_NS < due)
		due = m->end_ns + HOLD_NS;
	if (due == UINT64_MAX)
		return -1;
	return due <= now ? 0 : (due - now) / 1000000 + 1;
}

enum { WATCH_GENL, WATCH_SIGNALS, WATCH_OUT, WATCH_TIMER, N_WATCH };

static void event_loop(struct monitor *m)
{
	struct pollfd p[N_WATCH] = {
		[WATCH_GENL] = { genl_fd(m->g), POLLIN },
		[WATCH_SIGNALS] = { m->signals, POLLIN },
		[WATCH_OUT] = { STDOUT_FILENO, 0 },
		[WATCH_TIMER] = { m->timer, POLLIN },
	};

	while (!m->done && !m->enough) {
		if (poll(p, N_WATCH, wait_ms(m)) < 0)
			continue;
		/* the reader is gone */
		if (p[WATCH_OUT].revents || out_closed())
			return;
		if (p[WATCH_GENL].revents)
			on_readable(m);
		if (p[WATCH_TIMER].revents && !m->done)
			on_tick(m);
		if (p[WATCH_SIGNALS].revents)
			m->end_ns = now_ns();
		check_overruns(m);
		if (m->end_ns) {
			p[WATCH_SIGNALS].fd = -1;
			p[WATCH_TIMER].fd = -1;
			if (now_ns() >= m->end_ns + HOLD_NS)
				break;
		}
		if (!m->done)
			write_old_records(m);
	}
	write_records(m, m->end_ns ? m->end_ns : UINT64_MAX);
}

static int subscribe(struct monitor *m)
{
	int err;

	genl_on_event(m->g, on_event, m);
	if (!m->events)
		return EXIT_SUCCESS;
	err = genl_join(m->g);
	if (err == -EPERM)
		return fail("events", FLOWS_NEED " (try sudo, or --samples-only)");
	return err ? genl_fail(m->g, err) : EXIT_SUCCESS;
}

/* The first sample is taken now, the others at multiples of the interval */
static int start_timer(struct monitor *m)
{
	struct itimerspec when = {
		.it_value.tv_nsec = 1,
		.it_interval.tv_sec = m->interval_ns / NS_PER_S,
		.it_interval.tv_nsec = m->interval_ns % NS_PER_S,
	};

	m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (m->timer < 0 ||
	    (m->samples && timerfd_settime(m->timer, 0, &when, NULL)))
		return fail("timer", strerror(errno));
	return EXIT_SUCCESS;
}

static int start(struct monitor *m)
{
	int ret;

	/* let signals take effect only between two records */
	m->signals = signals_open(false);
	if (m->signals < 0)
		return fail("signals", strerror(errno));
	ret = subscribe(m);
	if (ret)
		return ret;
	sample(m);
	snapshot_free(&m->now);
	return m->done ? m->ret : start_timer(m);
}

static int monitor(struct monitor *m)
{
	int ret;

	m->g = genl_open();
	if (!m->g)
		return EXIT_FAILURE;
	ret = start(m);
	if (!ret) {
		event_loop(m);
		ret = m->ret;
	}
	snapshot_free(&m->before);
	snapshot_free(&m->now);
	records_free(&m->records);
	genl_close(m->g);
	return ret;
}

enum { INTERVAL = 256, COUNT, EVENTS_ONLY, SAMPLES_ONLY };

static const struct option options[] = {
	{ "interval", required_argument, NULL, INTERVAL },
	{ "count", required_argument, NULL, COUNT },
	{ "events-only", no_argument, NULL, EVENTS_ONLY },
	{ "samples-only", no_argument, NULL, SAMPLES_ONLY },
	{}
};

static int parse_args(struct monitor *m, int argc, char **argv)
{
	int c, ret = EXIT_SUCCESS;

	while (!ret && (c = next_option(argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			m->json = true;
			break;
		case INTERVAL:
			ret = parse_interval(optarg, &m->interval_ns);
			break;
		case COUNT:
			ret = parse_count(optarg, &m->count);
			break;
		case EVENTS_ONLY:
			m->samples = false;
			break;
		case SAMPLES_ONLY:
			m->events = false;
			break;
		default:
			ret = EXIT_USAGE;
		}
	}
	if (ret)
		return ret;
	if (!m->samples && !m->events)
		return misuse("nothing to print with",
			      "--events-only --samples-only");
	if (argc - optind > 1)
		return misuse("unexpected word", argv[optind + 1]);
	m->dev = argv[optind];
	return parse_dev(m->dev, &m->ifindex);
}

int cmd_monitor(int argc, char **argv)
{
	struct monitor m = {
		.interval_ns = INTERVAL_NS,
		.events = true,
		.samples = true,
		.state_lost = { IQCN_MCGRP_STATE },
		.cnp_lost = { IQCN_MCGRP_CNP },
	};
	int ret = parse_args(&m, argc, argv);

	return ret ? ret : monitor(&m);
}
