// SPDX-License-Identifier: GPL-2.0
/*
 * seqfuzz: random sequences of legal operations on qdiscs, devices, namespaces
 * and packets, by several processes at a time.
 *
 *   seqfuzz [--seed N] [--seconds S] [--workers W] [--netns K] [--count N]
 *	     [--shortest US] [--without OPERATION]... [--user] [--trace]
 *
 * The workers share K network namespaces.  Each worker draws its operations
 * from its own seed, which is printed and follows from --seed.  All workers
 * focus on one namespace and one device for a while: each is chosen in two
 * thirds of the cases, in order to find races between requests for the same
 * device.
 *
 *   --count N		each worker ends after N operations, or after --seconds
 *			if these pass first
 *   --shortest US	minimum of the qdisc's timers (default: 10)
 *   --without OPERATION
 *			omit an operation
 *   --user		run in a new user namespace, as uid 65534 if started as
 *			root
 *   --trace		print each operation before it starts
 *
 * The kernel may refuse any operation.  It is a failure if a worker dies, if a
 * single request takes longer than 30 s, or if packets are left in a queue
 * whose device is down.  The caller checks the kernel log.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/gen_stats.h>
#include <linux/genetlink.h>
#include <linux/iqcn_netlink.h>
#include <linux/psample.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "seqfuzz.h"

#define STUCK_MS		30000

uint64_t random_state;
uint64_t seed = 1;
unsigned int n_slots = 3, shortest_us = 10;
bool as_user;
static long seconds = 10, count;
static unsigned int n_workers = 4;
static bool trace;

struct shared *shared;
struct worker *me;
struct place places[MAX_SLOTS];
int published[MAX_SLOTS];
int home;
bool alone;
int family, groups[3];

void die(const char *what)
{
	fprintf(stderr, "seqfuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ll + ts.tv_nsec / 1000;
}

int64_t now_ms(void)
{
	return now_us() / 1000;
}

/* Show the parent that this worker is not stuck */
void beat(void)
{
	if (me)
		me->since_ms = now_ms();
}

static struct op {
	const char *name;
	int (*run)(struct place *p);
	unsigned int weight;		/* 0 after --without */
} ops[] = {
	{ "tree", op_tree, 30 },
	{ "iqcn", op_iqcn, 80 },
	{ "qdisc-other", op_qdisc_other, 10 },
	{ "qdisc-del", op_qdisc_del, 20 },
	{ "class", op_class, 20 },
	{ "clsact", op_clsact, 5 },
	{ "filter-add", op_filter_add, 80 },
	{ "filter-del", op_filter_del, 20 },
	{ "mirred", op_mirred, 10 },
	{ "link-add", op_link_add, 40 },
	{ "link-del", op_link_del, 15 },
	{ "link-up", op_link_up, 40 },
	{ "link-mtu", op_link_mtu, 20 },
	{ "link-txqlen", op_link_txqlen, 5 },
	{ "link-move", op_link_move, 15 },
	{ "link-rename", op_link_rename, 5 },
	{ "link-master", op_link_master, 15 },
	{ "link-address", op_link_address, 10 },
	{ "tap", op_tap, 10 },
	{ "tap-type", op_tap_type, 10 },
	{ "tap-speed", op_tap_speed, 10 },
	{ "tap-packets", op_tap_packets, 20 },
	{ "netns", op_netns, 2 },
	{ "process", op_process, 2 },
	{ "dump", op_dump, 20 },
	{ "dump-links", op_dump_links, 2 },
	{ "genl", op_genl, 40 },
	{ "flush", op_flush, 10 },
	{ "lease", op_lease, 30 },
	{ "listen", op_listen, 20 },
	{ "sysfs", op_sysfs, 15 },
	{ "debugfs", op_debugfs, 5 },
	{ "data", op_data, 100 },
	{ "answer", op_answer, 60 },
	{ "control", op_control, 40 },
	{ "scene-tree", op_scene_tree, 25 },
	{ "scene-tap", op_scene_tap, 5 },
	{ "scene-mtu", op_scene_mtu, 5 },
};

_Static_assert(ARRAY_SIZE(ops) <= MAX_OPS, "room for counters");

static unsigned int any_op(void)
{
	static unsigned int sum;
	unsigned int i, at;

	if (!sum)
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			sum += ops[i].weight;
	at = below(sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return i;
}

int any_step(struct place *p)
{
	unsigned int i = any_op();
	int64_t start_us = now_us();
	int err;

	me->op = i;
	beat();
	if (trace)
		dprintf(1, "%d %u %s\n", (int)(me - shared->worker), p->slot,
			ops[i].name);
	err = ops[i].run(p);
	if (err)
		me->refused[i]++;
	else
		me->done[i]++;
	me->us[i] += now_us() - start_us;
	return err;
}

/*
 * A worker
 */

static void work(uint64_t worker_seed, int64_t end_ms)
{
	struct place *p;
	long n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	random_state = worker_seed;
	for (n = 0; !shared->stop && now_ms() < end_ms && (!count || n < count);
	     n++) {
		p = visit((below(3) ? focus() : draw()) % n_slots);
		shared->ops++;
		if (p)
			any_step(p);
		/* let timers run; virtual time passes only in sleeps */
		if (!below(8))
			usleep(below(200));
	}
	/* keep the namespaces until the parent has checked them */
	me->parked = true;
	for (;;)
		pause();
}

/*
 * The parent
 */

static struct {
	struct left {
		int index;
		uint32_t handle, parent;
		uint32_t qlen, backlog;
		bool iqcn;
	} qdisc[1024];
	unsigned int n;
} left;

static void take_qdisc(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[TCA_MAX + 1], *stats[TCA_STATS_MAX + 1];
	const struct tcmsg *tc = nlmsg_data(nlh);
	struct gnet_stats_queue queue;

	if (left.n == ARRAY_SIZE(left.qdisc) ||
	    nlmsg_parse(nlh, sizeof(*tc), tb, TCA_MAX, NULL) || !tb[TCA_KIND] ||
	    !tb[TCA_STATS2] ||
	    nla_parse_nested(stats, TCA_STATS_MAX, tb[TCA_STATS2], NULL) ||
	    !stats[TCA_STATS_QUEUE])
		return;
	nla_memcpy(&queue, stats[TCA_STATS_QUEUE], sizeof(queue));
	left.qdisc[left.n++] = (struct left){
		.index = tc->tcm_ifindex, .handle = tc->tcm_handle,
		.parent = tc->tcm_parent, .qlen = queue.qlen,
		.backlog = queue.backlog,
		.iqcn = !strcmp(nla_get_string(tb[TCA_KIND]), "iqcn"),
	};
}

/* Set all devices down.  Return: the number of nonempty iqcn queues */
static unsigned int queues_left(struct place *p)
{
	struct tcmsg tc = {};
	unsigned int i, bad = 0;

	left.n = 0;
	ask(p->rtnl, request(RTM_GETQDISC, NLM_F_DUMP, &tc, sizeof(tc)),
	    take_qdisc, NULL);
	for (i = 0; i < left.n; i++) {
		set_up(p, left.qdisc[i].index, false);
		/* skip the other qdiscs of the device */
		while (i + 1 < left.n &&
		       left.qdisc[i + 1].index == left.qdisc[i].index)
			i++;
	}
	left.n = 0;
	ask(p->rtnl, request(RTM_GETQDISC, NLM_F_DUMP, &tc, sizeof(tc)),
	    take_qdisc, NULL);
	for (i = 0; i < left.n; i++) {
		if (!left.qdisc[i].iqcn ||
		    (!left.qdisc[i].qlen && !left.qdisc[i].backlog))
			continue;
		printf("# left in netns %u: device %d, qdisc %x: of %x: %u packets, %u bytes\n",
		       p->slot, left.qdisc[i].index, left.qdisc[i].handle >> 16,
		       left.qdisc[i].parent, left.qdisc[i].qlen,
		       left.qdisc[i].backlog);
		bad++;
	}
	return bad;
}

static void find_families(void)
{
	struct nl_sock *sk = open_netlink(NETLINK_GENERIC);

	if (!sk)
		die("netlink");
	family = genl_ctrl_resolve(sk, IQCN_FAMILY_NAME);
	if (family < 0) {
		fprintf(stderr, "seqfuzz: is the module sch_iqcn loaded?\n");
		exit(2);
	}
	groups[0] = genl_ctrl_resolve_grp(sk, IQCN_FAMILY_NAME,
					  IQCN_MCGRP_STATE);
	groups[1] = genl_ctrl_resolve_grp(sk, IQCN_FAMILY_NAME,
					  IQCN_MCGRP_CNP);
	groups[2] = genl_ctrl_resolve_grp(sk, PSAMPLE_GENL_NAME,
					  PSAMPLE_NL_MCGRP_SAMPLE_NAME);
	if (groups[2] < 0) {
		printf("# module psample is not loaded: no samples\n");
		groups[2] = groups[0];
	}
	nl_socket_free(sk);
}

static void make_slots(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < n_slots; i++) {
		if (unshare(CLONE_NEWNET))
			die("unshare");
		fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die("/proc/self/ns/net");
		published[i] = fd;
		shared->slot[i] = slot_word(1, fd);
	}
	go_home();
}

static pid_t start_worker(unsigned int i, uint64_t worker_seed, int64_t end_ms)
{
	unsigned int slot;
	pid_t pid;

	shared->worker[i].since_ms = now_ms();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	for (slot = 0; slot < n_slots; slot++)
		close_fd(&published[slot]);
	me = &shared->worker[i];
	work(worker_seed, end_ms);
	return 0;
}

static void start_workers(int64_t end_ms)
{
	uint64_t worker_seed;
	unsigned int i;

	random_state = seed;
	for (i = 0; i < n_workers; i++) {
		worker_seed = draw();
		printf("# worker %u: seed %#llx\n", i,
		       (unsigned long long)worker_seed);
		fflush(stdout);
		shared->worker[i].pid = start_worker(i, worker_seed, end_ms);
	}
}

/* Print the kernel stack of a stuck worker, if it is readable */
static void show_stack(pid_t pid)
{
	char path[64], buf[4096];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (len > 0) {
		buf[len] = 0;
		printf("%s", buf);
	}
	close_fd(&fd);
}

/* Return: a description of what is wrong with worker @i, or NULL */
static const char *wrong_with(unsigned int i)
{
	struct worker *w = &shared->worker[i];
	static char text[128];
	int status;

	if (waitpid(w->pid, &status, WNOHANG) == w->pid) {
		snprintf(text, sizeof(text), "worker %u ended by %s %d in %s",
			 i, WIFSIGNALED(status) ? "signal" : "itself,",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
			 WEXITSTATUS(status), ops[w->op].name);
		w->pid = 0;
		return text;
	}
	if (!w->parked && now_ms() - w->since_ms > STUCK_MS) {
		snprintf(text, sizeof(text), "worker %u: %s takes over %d s", i,
			 ops[w->op].name, STUCK_MS / 1000);
		show_stack(w->pid);
		return text;
	}
	return NULL;
}

/* Close the parent's namespaces that a worker has replaced */
static void drop_slots(void)
{
	unsigned int i;

	for (i = 0; i < n_slots; i++)
		if (published[i] >= 0 &&
		    shared->slot[i] != slot_word(1, published[i]))
			close_fd(&published[i]);
}

/* Wait until all workers are parked.  Return: what went wrong, or NULL */
static const char *supervise(void)
{
	const char *wrong = NULL;
	unsigned int i, parked;

	do {
		usleep(10000);
		drop_slots();
		parked = 0;
		for (i = 0; i < n_workers && !wrong; i++) {
			wrong = wrong_with(i);
			parked += shared->worker[i].parked;
		}
	} while (parked < n_workers && !wrong);
	shared->stop = true;
	return wrong;
}

/* Kill the workers, but do not wait forever for one that does not die */
static void kill_workers(void)
{
	int64_t end_ms = now_ms() + 5000;
	unsigned int i;

	for (i = 0; i < n_workers; i++)
		if (shared->worker[i].pid)
			kill(shared->worker[i].pid, SIGKILL);
	for (i = 0; i < n_workers; i++)
		while (shared->worker[i].pid &&
		       !waitpid(shared->worker[i].pid, NULL, WNOHANG) &&
		       now_ms() < end_ms)
			usleep(1000);
}

static unsigned long long report(void)
{
	unsigned long long done, refused, us, all = 0;
	unsigned int i, w;

	printf("# %-14s %10s %10s %10s\n", "operation", "done", "refused",
	       "us each");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		done = 0;
		refused = 0;
		us = 0;
		for (w = 0; w < n_workers; w++) {
			done += shared->worker[w].done[i];
			refused += shared->worker[w].refused[i];
			us += shared->worker[w].us[i];
		}
		printf("# %-14s %10llu %10llu %10llu\n", ops[i].name, done,
		       refused, us / (done + refused ?: 1));
		all += done + refused;
	}
	return all;
}

static int fuzz(void)
{
	int64_t start_ms = now_ms(), end_ms = start_ms + seconds * 1000;
	const char *wrong;
	unsigned long long all;
	unsigned int i, bad = 0;
	struct place *p;
	double took_s;

	start_workers(end_ms);
	wrong = supervise();
	/* terminate if one of the parent's own requests does not return */
	alarm(STUCK_MS / 1000);
	for (i = 0; i < n_slots && !wrong; i++) {
		p = visit(i);
		if (p)
			bad += queues_left(p);
	}
	kill_workers();
	alarm(0);
	took_s = (now_ms() - start_ms) / 1000.0;
	all = report();
	if (!wrong && bad)
		wrong = "packets are left in queues of devices that are down";
	printf("seqfuzz: %llu operations in %.1f s, seed %llu: %s%s\n", all,
	       took_s, (unsigned long long)seed, wrong ? "FAILED: " : "ok",
	       wrong ? wrong : "");
	return !!wrong;
}

static void usage(void)
{
	fprintf(stderr,
		"Usage: seqfuzz [--seed N] [--seconds S] [--workers W] [--netns K] [--count N]\n"
		"               [--shortest US] [--without OPERATION]... [--user] [--trace]\n");
	exit(2);
}

static void leave_out(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (strcmp(ops[i].name, name))
			continue;
		ops[i].weight = 0;
		return;
	}
	usage();
}

static void parse(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "seed", 1, 0, 's' }, { "seconds", 1, 0, 't' },
		{ "workers", 1, 0, 'w' }, { "netns", 1, 0, 'n' },
		{ "count", 1, 0, 'c' }, { "shortest", 1, 0, 'S' },
		{ "without", 1, 0, 'W' }, { "user", 0, 0, 'u' },
		{ "trace", 0, 0, 'T' }, {}
	};
	int c;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 't')
			seconds = strtol(optarg, NULL, 0);
		else if (c == 'w')
			n_workers = strtoul(optarg, NULL, 0);
		else if (c == 'n')
			n_slots = strtoul(optarg, NULL, 0);
		else if (c == 'c')
			count = strtol(optarg, NULL, 0);
		else if (c == 'S')
			shortest_us = strtoul(optarg, NULL, 0);
		else if (c == 'W')
			leave_out(optarg);
		else if (c == 'u')
			as_user = true;
		else if (c == 'T')
			trace = true;
		else
			usage();
	}
	if (optind < argc || !n_workers || n_workers > MAX_WORKERS ||
	    !n_slots || n_slots > MAX_SLOTS || seconds < 1 || count < 0 ||
	    shortest_us < 10 || shortest_us > 1000000)
		usage();
}

int main(int argc, char **argv)
{
	unsigned int i;

	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	printf("# seed %llu, %u workers, %u namespaces, %ld s, as %s\n",
	       (unsigned long long)seed, n_workers, n_slots, seconds,
	       as_user ? "nobody" : "root");
	if (as_user ? !enter_user_namespace(!getuid()) : unshare(CLONE_NEWNET) != 0)
		die("unshare");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (i = 0; i < MAX_SLOTS; i++) {
		places[i] = (struct place){
			.netns = -1, .packet = -1, .sysfs = -1,
		};
		published[i] = -1;
	}
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0)
		die("/proc/self/ns/net");
	find_families();
	make_slots();
	return fuzz();
}
