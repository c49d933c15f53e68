/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the parts of seqfuzz; see main.c.
 *
 * An operation is a function op_NAME, which sends random requests of one kind
 * through the sockets of a struct place.  It returns 0, or the error with which
 * the kernel has refused one of them.
 */
#ifndef SEQFUZZ_H
#define SEQFUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../random.h"

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

#define ARRAY_SIZE(_array)	(sizeof(_array) / sizeof((_array)[0]))
#define one_of(_array)		((_array)[below(ARRAY_SIZE(_array))])
#define MAX_WORKERS		16
#define MAX_SLOTS		8
#define MAX_OPS			48
#define FAN			3	/* children of a classful qdisc */

struct worker {
	pid_t pid;
	atomic_int op;
	atomic_long since_ms;		/* start of the current request */
	atomic_bool parked;
	uint64_t done[MAX_OPS], refused[MAX_OPS], us[MAX_OPS];
};

/* Memory shared by workers and parent */
struct shared {
	/* namespace of each slot: generation << 48 | pid << 24 | fd */
	atomic_ulong slot[MAX_SLOTS];
	atomic_uint ops;		/* number of operations of all workers */
	atomic_bool stop;
	struct worker worker[MAX_WORKERS];
};

/* A worker's sockets in the namespace of a slot */
struct place {
	unsigned int slot;
	uint64_t word;			/* shared->slot[slot] when they were opened */
	int netns;
	int packet;
	int sysfs;			/* a separate mount */
	struct nl_sock *rtnl, *genl;
};

/* Options */
extern uint64_t seed;
extern unsigned int n_slots, shortest_us;
extern bool as_user;

extern struct shared *shared;
extern struct worker *me;
extern struct place places[MAX_SLOTS];
extern int published[MAX_SLOTS];	/* namespace that this process provides */
extern int home;			/* the workers' own namespace */
extern bool alone;			/* this process has its own namespace */
extern int family, groups[3];		/* generic netlink ids */

/* main.c */
void die(const char *what);
int64_t now_us(void);
int64_t now_ms(void);
void beat(void);
int any_step(struct place *p);

/* place.c */
struct nl_msg *request(int type, int flags, void *head, size_t len);
int ask(struct nl_sock *sk, struct nl_msg *msg,
	void (*take)(struct nlmsghdr *nlh, void *arg), void *arg);
struct nl_sock *open_netlink(int protocol);
struct nl_sock *open_netlink_in(const struct place *p, int protocol);
void close_fd(int *fd);
void close_place(struct place *p);
bool open_place(struct place *p);
void go_home(void);
uint64_t slot_word(uint64_t generation, int fd);
struct place *visit(unsigned int slot);

/* link.c */
struct device {
	const char *name;
	const char *type;		/* NULL: added by another operation */
	const char *other;		/* peer, or lower device */
};

struct tap {
	int fd;
	char name[16];
};

extern const struct device devices[];
extern struct tap taps[2];

#define N_FOCUS		9		/* devices that workers focus on */
#define N_DUMMIES	3		/* the first of them, all dummies */

uint64_t focus(void);
const struct device *any_device(void);
int index_of(const struct place *p, const char *name);
int any_index(struct place *p);
int add_link(struct place *p, const struct device *d);
int set_up(struct place *p, int index, bool up);
int set_u32(struct place *p, int index, int attr, uint32_t value);

/* qdisc.c */
#define HANDLE(_major, _minor)	((uint32_t)(_major) << 16 | (_minor))
#define TREE			HANDLE(1, 0)
#define INGRESS			TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define EGRESS			TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)

int add_full_tree(struct place *p, int index);
uint32_t any_parent(void);
int add_iqcn(struct place *p, int index, uint32_t parent, int flags,
	     const uint32_t *attrs);
int del_qdisc(struct place *p, int index, uint32_t parent);
int add_mirred(struct place *p, int index, uint32_t parent, int to,
	       int eaction);

/* packet.c */
enum { DATA, ACK, CNP };

struct flow {
	uint8_t sender, receiver;	/* IPv6 if the number of the sender is odd */
	uint8_t ecn;
	uint16_t vid;
	uint32_t qp;
};

extern struct flow flow;

void any_flow(void);
int send_one(struct place *p, int index, int type);
int send_any(struct place *p, int index, int type, unsigned int n);

/* read.c */
struct nl_sock *listen_in(const struct place *p);

/* netns.c */
bool enter_user_namespace(bool drop);

/* A random number below 2^@bits, all magnitudes equally likely */
static inline uint64_t any_size(unsigned int bits)
{
	return draw() >> (64 - bits) >> below(bits);
}

int op_link_add(struct place *p);
int op_link_del(struct place *p);
int op_link_up(struct place *p);
int op_link_mtu(struct place *p);
int op_link_txqlen(struct place *p);
int op_link_move(struct place *p);
int op_link_rename(struct place *p);
int op_link_master(struct place *p);
int op_link_address(struct place *p);
int op_tap(struct place *p);
int op_tap_type(struct place *p);
int op_tap_speed(struct place *p);
int op_tree(struct place *p);
int op_class(struct place *p);
int op_iqcn(struct place *p);
int op_qdisc_other(struct place *p);
int op_qdisc_del(struct place *p);
int op_clsact(struct place *p);
int op_filter_add(struct place *p);
int op_filter_del(struct place *p);
int op_mirred(struct place *p);
int op_dump(struct place *p);
int op_dump_links(struct place *p);
int op_genl(struct place *p);
int op_flush(struct place *p);
int op_lease(struct place *p);
int op_listen(struct place *p);
int op_sysfs(struct place *p);
int op_debugfs(struct place *p);
int op_data(struct place *p);
int op_answer(struct place *p);
int op_tap_packets(struct place *p);
int op_control(struct place *p);
int op_scene_tree(struct place *p);
int op_scene_tap(struct place *p);
int op_scene_mtu(struct place *p);
int op_netns(struct place *p);
int op_process(struct place *p);

#endif /* SEQFUZZ_H */
