// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn top: ports, queues and the flows with the most CNPs, updated
 * periodically.
 *
 * Ports and queues are sampled every interval.  A dump of all flows costs
 * kernel and tool one or two microseconds per flow, so dumps are spaced to use
 * at most 1/FLOWS_SHARE of a CPU.  The first FLOWS flows in the order are kept
 * in full; each other flow takes only a few bytes.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>

#include "genl.h"
#include "iqcn.h"
#include "out.h"
#include "rank.h"
#include "screen.h"
#include "signals.h"
#include "snapshot.h"
#include "top.h"

#define FLOWS 1000
#define FLOWS_SHARE 33
/* Flows of a dump between two checks for input */
#define FLOWS_RUN 4096

enum { WATCH_TIMER, WATCH_SIGNALS, WATCH_KEYS, WATCH_OUT, N_WATCH };

struct session {
	struct top top;
	bool batch;
	uint64_t count;		/* of updates, 0: endless */

	struct genl *g;
	struct pollfd watch[N_WATCH];
	struct rates *rates;
	/* the flows on the screen, and those of the current dump */
	struct ranking *shown, *next;
	uint64_t flows_due_ns;
	size_t n_dumped;
	bool no_memory;
	bool anew;		/* dump flows now */

	bool done;
	int ret;		/* exit status */
};

static void end(struct session *s, int ret)
{
	s->done = true;
	s->ret = ret;
}

/* Print the error after the terminal is restored */
static void end_genl(struct session *s, int err)
{
	screen_close();
	end(s, genl_fail(s->g, err));
}

static void end_no_memory(struct session *s)
{
	screen_close();
	end(s, fail("flows", strerror(ENOMEM)));
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void sample_queues(struct session *s)
{
	struct snapshot new = {};
	int err = snapshot_take(&new, s->g, 0);

	if (err) {
		snapshot_free(&new);
		/* the list kept changing; the next sample may succeed */
		if (err != -EINTR)
			end_genl(s, err);
		return;
	}
	snapshot_free(&s->top.before);
	s->top.before = s->top.now;
	s->top.now = new;
	rates_keep(s->rates, new.ports, new.n_ports);
}

static void on_input(struct session *s);

static bool on_flow(const struct flow *f, void *arg)
{
	struct ranked r = { *f };
	struct session *s = arg;

	s->no_memory = rates_update(s->rates, f, &r.speed) ||
		       ranking_add(s->next, &r);
	if (!(++s->n_dumped % FLOWS_RUN) && poll(s->watch, N_WATCH, 0) > 0) {
		on_input(s);
		if (!s->done && !s->batch)
			top_draw(&s->top);
	}
	return !s->no_memory && !s->done;
}

static void dump_flows(struct session *s)
{
	uint64_t begin_ns = now_ns(), cost_ns = cpu_ns();
	struct ranking *shown = s->shown;
	int err;

	s->anew = false;
	ranking_empty(s->next, s->top.order);
	rates_begin(s->rates, begin_ns);
	err = genl_flows(s->g, s->top.ifindex, 0, on_flow, s);
	rates_end(s->rates, now_ns());
	if (s->done)
		return;
	if (s->no_memory) {
		end_no_memory(s);
		return;
	}
	s->top.flows_denied = err == -EPERM;
	/* a device without a queue has no flows */
	if (err && err != -ENODEV && err != -EPERM) {
		end_genl(s, err);
		return;
	}
	s->shown = s->next;
	s->next = shown;
	s->top.flows = ranking_list(s->shown, &s->top.n_flows);
	s->top.flows_ns = begin_ns;
	s->flows_due_ns = now_ns() + (cpu_ns() - cost_ns) * FLOWS_SHARE;
}

static void update(struct session *s)
{
	sample_queues(s);
	if (!s->done && now_ns() >= s->flows_due_ns)
		dump_flows(s);
	if (s->done)
		return;
	top_draw(&s->top);
	if (s->count && !--s->count)
		s->done = true;
}

/* Dump again, because the last dump was for another device or order */
static void restart_flows(struct session *s)
{
	s->top.first = 0;
	s->anew = true;
}

static void next_order(struct session *s)
{
	switch (s->top.order) {
	case ORDER_CNP_RATE:
		s->top.order = ORDER_RATE;
		break;
	case ORDER_RATE:
		s->top.order = ORDER_AGE;
		break;
	default:
		s->top.order = ORDER_CNP_RATE;
	}
	restart_flows(s);
}

/* @step 1: next port, -1: previous port.  The view of all ports is between the
 * last and the first one.
 */
static void next_device(struct session *s, int step)
{
	const struct snapshot *now = &s->top.now;
	size_t i = 0, n = now->n_ports;

	while (i < n && now->ports[i].ifindex != s->top.ifindex)
		i++;
	i = (i + n + 1 + step) % (n + 1);
	s->top.ifindex = i < n ? now->ports[i].ifindex : 0;
	restart_flows(s);
}

static void scroll_by(struct session *s, long lines)
{
	if (lines < 0 && (size_t)-lines > s->top.first)
		s->top.first = 0;
	else
		s->top.first += lines;
}

static void on_key(struct session *s, int key)
{
	if (s->top.help) {
		s->top.help = false;
		return;
	}
	switch (key) {
	case 'q':
		s->done = true;
		break;
	case 's':
		next_order(s);
		break;
	case SCREEN_KEY_RIGHT:
		next_device(s, 1);
		break;
	case SCREEN_KEY_LEFT:
		next_device(s, -1);
		break;
	case SCREEN_KEY_UP:
		scroll_by(s, -1);
		break;
	case SCREEN_KEY_DOWN:
		scroll_by(s, 1);
		break;
	case SCREEN_KEY_PAGE_UP:
		scroll_by(s, -(long)s->top.lines);
		break;
	case SCREEN_KEY_PAGE_DOWN:
		scroll_by(s, s->top.lines);
		break;
	case SCREEN_KEY_HOME:
		s->top.first = 0;
		break;
	case 'p':
	case ' ':
		s->top.paused = !s->top.paused;
		break;
	case 'h':
	case '?':
		s->top.help = true;
		break;
	}
}

static void on_signal(struct session *s)
{
	unsigned int signals = signals_take();

	if (signals & SIGNALS_RESIZED)
		screen_resize();
	if (signals & SIGNALS_END)
		s->done = true;
}

static void on_input(struct session *s)
{
	int key;

	if (s->watch[WATCH_SIGNALS].revents)
		on_signal(s);
	/* the terminal or the reader is gone */
	if (s->watch[WATCH_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL) ||
	    s->watch[WATCH_OUT].revents)
		s->done = true;
	while (!s->done && (key = screen_key()) != SCREEN_KEY_NONE)
		on_key(s, key);
}

static void on_tick(struct session *s)
{
	uint64_t ticks;

	if (read(s->watch[WATCH_TIMER].fd, &ticks, sizeof(ticks)) ==
	    sizeof(ticks) && !s->top.paused)
		update(s);
}

static void event_loop(struct session *s)
{
	struct pollfd *p = s->watch;
	int n;

	while (!s->done && !out_closed()) {
		n = poll(p, N_WATCH, -1);
		/* interrupted, such as by SIGCONT */
		if (n < 0)
			continue;
		if (p[WATCH_SIGNALS].revents || p[WATCH_KEYS].revents ||
		    p[WATCH_OUT].revents)
			on_input(s);
		if (!s->done && s->anew)
			dump_flows(s);
		if (s->done)
			break;
		if (p[WATCH_TIMER].revents)
			on_tick(s);
		else if (!s->batch)
			top_draw(&s->top);
	}
}

static int start_timer(struct session *s)
{
	struct itimerspec when = {
		.it_value.tv_nsec = 1,
		.it_interval.tv_sec = s->top.interval_ns / NS_PER_S,
		.it_interval.tv_nsec = s->top.interval_ns % NS_PER_S,
	};
	struct pollfd *p = &s->watch[WATCH_TIMER];

	p->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	p->events = POLLIN;
	if (p->fd < 0 || timerfd_settime(p->fd, 0, &when, NULL))
		return fail("timer", strerror(errno));
	return EXIT_SUCCESS;
}

static int start(struct session *s)
{
	int ret;

	s->rates = rates_new();
	s->shown = ranking_new(s->top.order, FLOWS);
	s->next = ranking_new(s->top.order, FLOWS);
	if (!s->rates || !s->shown || !s->next)
		return fail("flows", strerror(ENOMEM));
	s->watch[WATCH_KEYS] = (struct pollfd){ STDIN_FILENO, POLLIN };
	s->watch[WATCH_OUT] = (struct pollfd){ STDOUT_FILENO, 0 };
	if (s->batch)
		s->watch[WATCH_KEYS].fd = -1;
	s->watch[WATCH_SIGNALS] = (struct pollfd){ signals_open(true), POLLIN };
	if (s->watch[WATCH_SIGNALS].fd < 0)
		return fail("signals", strerror(errno));
	ret = start_timer(s);
	if (!ret && !screen_open(s->batch))
		ret = EXIT_FAILURE;
	return ret;
}

static int run(struct session *s)
{
	int ret;

	s->g = genl_open();
	if (!s->g)
		return EXIT_FAILURE;
	ret = start(s);
	if (!ret) {
		event_loop(s);
		ret = s->ret;
	}
	screen_close();
	snapshot_free(&s->top.before);
	snapshot_free(&s->top.now);
	ranking_free(s->shown);
	ranking_free(s->next);
	rates_free(s->rates);
	genl_close(s->g);
	return ret;
}

enum { INTERVAL = 256, SORT, BATCH, COUNT };

static const struct option options[] = {
	{ "interval", required_argument, NULL, INTERVAL },
	{ "sort", required_argument, NULL, SORT },
	{ "batch", no_argument, NULL, BATCH },
	{ "count", required_argument, NULL, COUNT },
	{}
};

static int parse_args(struct session *s, int argc, char **argv)
{
	int c, ret = EXIT_SUCCESS;

	while (!ret && (c = next_option(argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			ret = misuse("top has no JSON output, use monitor", "-j");
			break;
		case INTERVAL:
			ret = parse_interval(optarg, &s->top.interval_ns);
			break;
		case SORT:
			ret = parse_order(optarg, &s->top.order);
			break;
		case BATCH:
			s->batch = true;
			break;
		case COUNT:
			ret = parse_count(optarg, &s->count);
			break;
		default:
			ret = EXIT_USAGE;
		}
	}
	if (!ret && argc > optind + 1)
		ret = misuse("unexpected word", argv[optind + 1]);
	/* sort by the rate in the interval, not by the total */
	if (s->top.order == ORDER_CNPS)
		s->top.order = ORDER_CNP_RATE;
	return ret ? ret : parse_dev(argv[optind], &s->top.ifindex);
}

int cmd_top(int argc, char **argv)
{
	struct session s = {
		.top.interval_ns = NS_PER_S,
		.top.order = ORDER_CNP_RATE,
	};
	int ret = parse_args(&s, argc, argv);

	return ret ? ret : run(&s);
}
