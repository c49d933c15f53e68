// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of a sender's methods other than DCQCN: selective repeat,
 * recycled entropies, recovery by RTT and ECN, proportional cuts, the gate, and
 * matches.
 *
 * Expected values follow from the rules at the top of each header.  They are
 * computed by hand or by a naive model.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "gate.h"
#include "match.h"
#include "ramp.h"
#include "ratio.h"
#include "reps.h"
#include "rp.h"
#include "sr.h"

#define MBIT	1000000ULL
#define GBIT	1000000000ULL

/* Both ends of a connection */
struct sr_ends {
	struct rc_requester rq;
	struct sr_sender s;
	struct rc_responder rs;
	struct sr_receiver r;
};

static struct sr_ends *sr_ends_new(struct kunit *test, u32 psn0)
{
	struct sr_ends *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->rq.psn0 = psn0;
	e->rs.epsn = psn0;
	return e;
}

/* Send a packet, which must be @seq; its entropy is its number */
static void sr_send(struct kunit *test, struct sr_ends *e, u64 seq, u64 now_ns)
{
	KUNIT_ASSERT_EQ(test, sr_next(&e->rq, &e->s), seq);
	sr_sent(&e->rq, &e->s, seq, seq, now_ns);
}

static void sr_send_all(struct kunit *test, struct sr_ends *e, u64 from, u64 to)
{
	for (; from < to; from++)
		sr_send(test, e, from, from);
}

/* Process an ACK of packet @psn; the receiver has all packets up to @upto */
static bool sr_take_ack(struct sr_ends *e, u32 upto, u32 psn, u64 behind)
{
	struct sr_ack ack = { .psn = psn & 0xffffff, .behind = behind };

	return sr_acked(&e->rq, &e->s, upto & 0xffffff, &ack);
}

static enum sr_verdict sr_take(struct sr_ends *e, u32 psn, bool last)
{
	return sr_received(&e->rs, &e->r, psn, last, false, 1);
}

/* The layout of the headers of data and of ACKs */
static void sr_bytes(struct kunit *test)
{
	static const u8 data[SR_DATA_LEN] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0xfe, 0xdc, 0xba, 0x98,
	};
	static const u8 bytes[SR_ACK_LEN] = {
		0x80, 0xff, 0xfe, 0xfd,
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
	};
	struct sr_ack ack = {
		.sent_ns = 0x0102030405060708, .psn = 0xfffefd, .ce = true,
		.behind = BIT_ULL(63) | 5,
	};
	u8 buf[SR_ACK_LEN] = {};
	u64 sent_ns;
	u32 msg;

	sr_data_encode(buf, 0x0102030405060708, 0xfedcba98);
	KUNIT_EXPECT_EQ(test, memcmp(buf, data, SR_DATA_LEN), 0);
	sr_data_decode(data, &sent_ns, &msg);
	KUNIT_EXPECT_EQ(test, sent_ns, 0x0102030405060708);
	KUNIT_EXPECT_EQ(test, msg, 0xfedcba98);

	sr_ack_encode(buf, &ack);
	KUNIT_EXPECT_EQ(test, memcmp(buf, bytes, SR_ACK_LEN), 0);
	memset(&ack, 0, sizeof(ack));
	sr_ack_decode(bytes, &ack);
	KUNIT_EXPECT_EQ(test, ack.sent_ns, 0x0102030405060708);
	KUNIT_EXPECT_EQ(test, ack.behind, 0x8000000000000005);
	KUNIT_EXPECT_EQ(test, ack.psn, 0xfffefd);
	KUNIT_EXPECT_TRUE(test, ack.ce);
	buf[0] = 0x7f;
	sr_ack_decode(buf, &ack);
	KUNIT_EXPECT_FALSE(test, ack.ce);
	KUNIT_EXPECT_EQ(test, ack.psn, 0xfffefd);
}

/* The window is 2048 packets, from the first unacknowledged packet on */
static void sr_window(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);

	sr_send_all(test, e, 0, 2047);
	KUNIT_EXPECT_TRUE(test, sr_may_send(&e->rq));
	sr_send(test, e, 2047, 2047);
	KUNIT_EXPECT_FALSE(test, sr_may_send(&e->rq));
	/* an ACK of the second packet does not move the window; an ACK of the
	 * first one moves it by two
	 */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 1, 0));
	KUNIT_EXPECT_FALSE(test, sr_may_send(&e->rq));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 0, 0, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 2);
	sr_send_all(test, e, 2048, 2050);
	KUNIT_EXPECT_FALSE(test, sr_may_send(&e->rq));
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 2048);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 2049, 2049, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 2050);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 0);
}

/* PSNs wrap at 2^24, at both ends */
static void sr_wrap(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0xfffffe);

	sr_send_all(test, e, 0, 6);
	/* PSNs 0xfffffe 0xffffff 0 1 2 3 */
	KUNIT_EXPECT_EQ(test, sr_take(e, 1, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 0xfffffe);
	/* bit 2: the third packet after 0xfffffe */
	KUNIT_EXPECT_EQ(test, sr_behind(&e->rs, &e->r), 4);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 0xfffffd, 1, 4));
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 5);
	KUNIT_EXPECT_EQ(test, sr_take(e, 0xfffffe, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, sr_take(e, 0xffffff, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 0);
	KUNIT_EXPECT_EQ(test, sr_take(e, 0, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 2);
	KUNIT_EXPECT_EQ(test, sr_take(e, 0xfffffe, false), SR_DUPLICATE);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 0xffffff, 0xffffff, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 2);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 1, 0, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 4);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 3, 3, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 6);
}

/* The receiver accepts packets in any order; messages complete in order */
static void sr_any_order(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 5);

	/* messages: 5 6, 7, 8 */
	KUNIT_EXPECT_EQ(test, sr_take(e, 7, true), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, sr_take(e, 6, true), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 5);
	KUNIT_EXPECT_EQ(test, e->rs.msn, 0);
	KUNIT_EXPECT_EQ(test, sr_take(e, 7, true), SR_DUPLICATE);
	KUNIT_EXPECT_EQ(test, sr_take(e, 5, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 8);
	KUNIT_EXPECT_EQ(test, e->rs.msn, 2);
	KUNIT_EXPECT_EQ(test, sr_take(e, 5, false), SR_DUPLICATE);
	KUNIT_EXPECT_EQ(test, sr_take(e, 6, true), SR_DUPLICATE);
	KUNIT_EXPECT_EQ(test, e->rs.msn, 2);
	/* a packet beyond the window, then the last packet of the window */
	KUNIT_EXPECT_EQ(test, sr_take(e, 8 + 2048, false), SR_DROP);
	KUNIT_EXPECT_EQ(test, sr_take(e, 8 + 2047, false), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, sr_take(e, 8, true), SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.epsn, 9);
	KUNIT_EXPECT_EQ(test, e->rs.msn, 3);
}

/* ACKs that are lost, late, or of packets that were never sent */
static void sr_lost_acks(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 100);

	sr_send_all(test, e, 0, 5);
	/* the ACKs of packets 0 to 2 are lost */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 103, 103, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 4);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 1);
	/* late */
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 101, 101, 0));
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 103, 103, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 4);
	/* late, with a bitmap after PSN 102: bit 0 is packet 3, which has been
	 * acknowledged; bit 1 is packet 4, which has not
	 */
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 101, 101, 1));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 101, 101, 2));
	KUNIT_EXPECT_EQ(test, e->rq.una, 5);
	/* never sent */
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 105, 105, 0));
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 104, 105, U64_MAX));
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, 99, 99, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 5);
	KUNIT_EXPECT_EQ(test, e->rq.high, 5);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 0);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), SR_NEVER);
}

/* Packets that are not acknowledged time out in the order of their last
 * transmissions
 */
static void sr_timeouts(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);

	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), SR_NEVER);
	sr_send_all(test, e, 0, 6);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 2, 0));
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 0);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 0);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 1);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 3);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 3);
	/* the lowest packet to retransmit is sent first */
	sr_send(test, e, 0, 10);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 3);
	sr_send(test, e, 1, 11);
	sr_send(test, e, 3, 12);
	sr_send(test, e, 6, 13);
	KUNIT_EXPECT_EQ(test, e->s.n_lost, 0);
	/* list: 4 5 0 1 3 6; acknowledge both ends and the middle */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 4, 0));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 1, 0));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 6, 0));
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 5);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 5);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 10);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 0);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 3);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), SR_NEVER);
	/* a late ACK of 0 to 4: of the lost packets 0, 3 and 5, only 5 is left
	 */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 4, 0, 0));
	KUNIT_EXPECT_EQ(test, e->s.n_lost, 1);
	sr_send(test, e, 5, 20);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 6, 5, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 7);
	sr_send(test, e, 7, 21);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 21);
}

/* The bitmap of packets to retransmit wraps with the window */
static void sr_repeat_wraps(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);

	sr_send_all(test, e, 0, 2040);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 2039, 2039, 0));
	/* indexes 2040 to 2047, 0, 1 */
	sr_send_all(test, e, 2040, 2050);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 2040, 2040, 0x7f));
	/* 2040 and 2042 to 2048 are acknowledged */
	KUNIT_EXPECT_EQ(test, e->rq.una, 2041);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 2);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 2041);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 2049);
	sr_send(test, e, 2041, 3000);
	sr_send(test, e, 2049, 3001);
	sr_send(test, e, 2050, 3002);
}

/* Retransmissions and new packets are listed after packet 100, the oldest in
 * flight, which is therefore the first to time out
 */
static void sr_many_sent(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);
	u64 i;

	sr_send_all(test, e, 0, 2048);
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, sr_expire(&e->s), i);
	for (i = 0; i < 100; i++)
		sr_send(test, e, i, 3000 + i);
	for (i = 101; i < 2048; i++)
		KUNIT_ASSERT_TRUE(test, sr_take_ack(e, -1, i, 0));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 99, 99, 0));
	KUNIT_EXPECT_EQ(test, e->rq.una, 100);
	sr_send_all(test, e, 2048, 2148);
	KUNIT_EXPECT_FALSE(test, sr_may_send(&e->rq));
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 101);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 100);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 100);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 2048);
}

/* sr_truncate() handles packets in each state */
static void sr_forgets(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);

	sr_send_all(test, e, 0, 10);
	sr_expire(&e->s);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 1);
	sr_send(test, e, 0, 20);
	KUNIT_EXPECT_EQ(test, sr_expire(&e->s), 2);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 4, 0));
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 7, 0));
	/* in flight: 3 5 6 8 9 0; to retransmit: 1 2; acknowledged: 4 7 */
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 6);
	sr_truncate(&e->rq, &e->s, 10);
	KUNIT_EXPECT_EQ(test, e->rq.high, 10);
	sr_truncate(&e->rq, &e->s, 2);
	KUNIT_EXPECT_EQ(test, e->rq.high, 2);
	KUNIT_EXPECT_EQ(test, e->rq.next, 2);
	KUNIT_EXPECT_EQ(test, e->s.n_lost, 1);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 1);
	KUNIT_EXPECT_EQ(test, sr_oldest_ns(&e->s), 20);
	/* an ACK of a packet that counts as never sent */
	KUNIT_EXPECT_FALSE(test, sr_take_ack(e, -1, 7, 0));
	/* the receiver is ahead of the sender */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 2, 7, 1));
	KUNIT_EXPECT_EQ(test, e->rq.una, 2);
	KUNIT_EXPECT_EQ(test, e->rq.high, 2);
	KUNIT_EXPECT_EQ(test, e->s.n_lost, 0);
	/* the packets from 2 on are sent again */
	sr_send_all(test, e, 2, 10);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 8);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, -1, 7, 0));
	/* packets before the first unacknowledged one remain acknowledged */
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 4, 4, 0));
	sr_truncate(&e->rq, &e->s, 2);
	KUNIT_EXPECT_EQ(test, e->rq.una, 5);
	KUNIT_EXPECT_EQ(test, e->rq.high, 5);
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 0);
	KUNIT_EXPECT_TRUE(test, sr_may_send(&e->rq));
	sr_send(test, e, 5, 40);
}

/* An ACK of every 4th packet acknowledges the others, too */
static void sr_ack_of_4(struct kunit *test)
{
	struct sr_ends *e = sr_ends_new(test, 0);
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, i, false,
						  false, 4), SR_TAKE);
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 3, false, false, 4),
			SR_TAKE_ACK);
	/* a packet that requests an ACK, after which the count restarts */
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 5, false, true, 4),
			SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 7, true, false, 4),
			SR_TAKE);
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 68, false, false, 4),
			SR_TAKE);
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 69, false, false, 4),
			SR_TAKE);
	/* after 4, the bitmap shows 5, 7 and 68, but has no bit for 69 */
	KUNIT_EXPECT_EQ(test, sr_behind(&e->rs, &e->r), BIT_ULL(63) | 4 | 1);
	/* a packet that does not complete the message, and one that does */
	e->rs.unacked = 0;
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 4, false, false, 4),
			SR_TAKE);
	KUNIT_EXPECT_EQ(test, sr_received(&e->rs, &e->r, 6, false, false, 4),
			SR_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, e->rs.msn, 1);

	sr_send_all(test, e, 0, 70);
	KUNIT_EXPECT_TRUE(test, sr_take_ack(e, 3, 5, BIT_ULL(63) | 4));
	/* 0 to 3, 5, 7 and 68 are acknowledged */
	KUNIT_EXPECT_EQ(test, e->s.n_sent, 63);
	KUNIT_EXPECT_EQ(test, e->rq.una, 4);
}

/* A connection through a network that loses, duplicates and reorders packets */
#define WALK_STEPS	100000
#define WALK_BAG	1024

enum walk_state { WALK_NEW, WALK_SENT, WALK_ACKED, WALK_LOST };

struct walk_ack {
	u64 upto;	/* all packets before this one were received */
	u64 seq;
	u64 behind;
};

struct walk {
	struct sr_ends e;
	struct rnd_state rnd;
	u8 state[WALK_STEPS + 64];
	u64 sent_ns[WALK_STEPS];
	bool got[WALK_STEPS + 65];
	u64 una;
	u64 high;
	u64 expected;
	u32 n_sent;
	u32 n_lost;
	u64 data[WALK_BAG];
	struct walk_ack acks[WALK_BAG];
	u32 n_data;
	u32 n_acks;
	u64 window;
};

static u32 walk_random(struct walk *w, u32 n)
{
	return prandom_u32_state(&w->rnd) % n;
}

static void walk_send(struct kunit *test, struct walk *w, u64 now_ns)
{
	u8 *lost = memchr(w->state + w->una, WALK_LOST, w->high - w->una);
	u64 seq = lost ? lost - w->state : w->high;

	KUNIT_ASSERT_EQ(test, sr_may_send(&w->e.rq), w->high - w->una < 2048);
	if (!lost && w->high - w->una >= w->window)
		return;
	KUNIT_ASSERT_EQ(test, sr_next(&w->e.rq, &w->e.s), seq);
	sr_sent(&w->e.rq, &w->e.s, seq, now_ns & 0xffff, now_ns);
	w->n_lost -= !!lost;
	w->n_sent++;
	w->high += !lost;
	w->state[seq] = WALK_SENT;
	w->sent_ns[seq] = now_ns;
	if (w->n_data < WALK_BAG)
		w->data[w->n_data++] = seq;
}

static void walk_receive(struct kunit *test, struct walk *w)
{
	u32 at = walk_random(w, w->n_data), i;
	u64 seq = w->data[at];
	enum sr_verdict wanted = w->got[seq] ? SR_DUPLICATE : SR_TAKE_ACK;
	struct walk_ack ack = { .seq = seq };

	/* keep half of the packets to deliver them again */
	if (walk_random(w, 2))
		w->data[at] = w->data[--w->n_data];
	if (seq >= w->expected + 2048)
		wanted = SR_DROP;
	KUNIT_ASSERT_EQ(test, sr_take(&w->e, (w->e.rq.psn0 + seq) & 0xffffff,
				      false), wanted);
	if (wanted == SR_DROP)
		return;
	w->got[seq] = true;
	while (w->got[w->expected])
		w->expected++;
	KUNIT_ASSERT_EQ(test, w->e.rs.epsn,
			(w->e.rq.psn0 + w->expected) & 0xffffff);
	ack.upto = w->expected;
	for (i = 0; i < 64; i++)
		ack.behind |= (u64)w->got[w->expected + 1 + i] << i;
	KUNIT_ASSERT_EQ(test, sr_behind(&w->e.rs, &w->e.r), ack.behind);
	/* with "ack 1", the bitmap of an ACK is empty */
	if (walk_random(w, 2))
		ack.behind = 0;
	if (w->n_acks < WALK_BAG)
		w->acks[w->n_acks++] = ack;
}

static bool walk_ack_one(struct walk *w, u64 seq)
{
	if (seq >= w->high || w->state[seq] == WALK_ACKED)
		return false;
	if (w->state[seq] == WALK_LOST)
		w->n_lost--;
	else
		w->n_sent--;
	w->state[seq] = WALK_ACKED;
	return true;
}

static void walk_acked(struct kunit *test, struct walk *w)
{
	u32 at = walk_random(w, w->n_acks), psn0 = w->e.rq.psn0, i;
	struct walk_ack ack = w->acks[at];
	bool progress = false;
	u64 seq;

	if (walk_random(w, 2))
		w->acks[at] = w->acks[--w->n_acks];
	for (seq = w->una; seq < ack.upto; seq++)
		progress |= walk_ack_one(w, seq);
	progress |= walk_ack_one(w, ack.seq);
	for (i = 0; i < 64; i++)
		if (ack.behind & BIT_ULL(i))
			progress |= walk_ack_one(w, ack.upto + 1 + i);
	while (w->state[w->una] == WALK_ACKED)
		w->una++;
	KUNIT_ASSERT_EQ(test, sr_take_ack(&w->e, psn0 + ack.upto - 1,
					  psn0 + ack.seq, ack.behind), progress);
}

static void walk_expire(struct kunit *test, struct walk *w)
{
	u64 oldest_ns = SR_NEVER, oldest = 0, seq;

	for (seq = w->una; seq < w->high; seq++)
		if (w->state[seq] == WALK_SENT && w->sent_ns[seq] < oldest_ns) {
			oldest_ns = w->sent_ns[seq];
			oldest = seq;
		}
	KUNIT_ASSERT_EQ(test, sr_oldest_ns(&w->e.s), oldest_ns);
	if (oldest_ns == SR_NEVER)
		return;
	KUNIT_ASSERT_EQ(test, sr_expire(&w->e.s), oldest_ns & 0xffff);
	w->state[oldest] = WALK_LOST;
	w->n_sent--;
	w->n_lost++;
}

/* Truncate, sometimes below the first unacknowledged packet */
static void walk_truncate(struct walk *w)
{
	u64 from = w->una > 5 ? w->una - 5 : 0;
	u64 seq = from + walk_random(w, w->high - from + 1);

	sr_truncate(&w->e.rq, &w->e.s, seq);
	while (w->high > max(seq, w->una)) {
		w->high--;
		w->n_sent -= w->state[w->high] == WALK_SENT;
		w->n_lost -= w->state[w->high] == WALK_LOST;
		w->state[w->high] = WALK_NEW;
	}
}

static void walk_step(struct kunit *test, struct walk *w, u64 now_ns)
{
	switch (walk_random(w, 12)) {
	case 0 ... 4:
		walk_send(test, w, now_ns);
		break;
	case 5 ... 7:
		if (w->n_data)
			walk_receive(test, w);
		break;
	case 8 ... 9:
		if (w->n_acks)
			walk_acked(test, w);
		break;
	case 10:
		/* lose a packet, an ACK, both or neither */
		if (w->n_data && walk_random(w, 2))
			w->n_data--;
		if (w->n_acks && walk_random(w, 2))
			w->n_acks--;
		break;
	case 11:
		if (walk_random(w, 3) == 0)
			walk_expire(test, w);
		if (walk_random(w, 300) == 0)
			walk_truncate(w);
		break;
	}
	KUNIT_ASSERT_EQ(test, w->e.rq.una, w->una);
	KUNIT_ASSERT_EQ(test, w->e.rq.high, w->high);
	KUNIT_ASSERT_EQ(test, w->e.s.n_sent, w->n_sent);
	KUNIT_ASSERT_EQ(test, w->e.s.n_lost, w->n_lost);
}

static void sr_walk(struct kunit *test)
{
	struct walk *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u64 i, most = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	prandom_seed_state(&w->rnd, 1);
	/* so that PSNs wrap */
	w->e.rq.psn0 = 0xfff800;
	w->e.rs.epsn = 0xfff800;
	for (i = 0; i < WALK_STEPS; i++) {
		/* let the window become full a quarter of the time */
		if (i % 1000 == 0)
			w->window = walk_random(w, 4) ? 100 : 2048;
		walk_step(test, w, i);
		most = max(most, w->high - w->una);
	}
	kunit_info(test, "%llu packets, at most %llu in the window", w->una,
		   most);
	KUNIT_EXPECT_GT(test, w->una, 4096);
	KUNIT_EXPECT_EQ(test, most, 2048);
	/* without further losses, all packets arrive */
	for (i = WALK_STEPS; w->una < w->high; i++) {
		KUNIT_ASSERT_LT(test, i, 2 * WALK_STEPS);
		w->window = 0;
		if (w->n_lost)
			walk_send(test, w, i);
		else if (w->n_data)
			walk_receive(test, w);
		else if (w->n_acks)
			walk_acked(test, w);
		else
			walk_expire(test, w);
	}
	KUNIT_EXPECT_EQ(test, w->e.s.n_sent, 0);
	KUNIT_EXPECT_EQ(test, w->e.s.n_lost, 0);
	KUNIT_EXPECT_GE(test, w->expected, w->high);
}

/* A host's pool with three connections */
#define POOL	16
#define CONNS	3

struct reps_host {
	struct reps_slot slots[POOL];
	struct reps_pool pool;
	struct reps r[CONNS];
};

static struct reps_host *reps_host_new(struct kunit *test, u32 n)
{
	struct reps_host *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	h->pool.slots = h->slots;
	reps_pool_init(&h->pool, n);
	for (i = 0; i < ARRAY_SIZE(h->r); i++)
		reps_init(&h->r[i]);
	return h;
}

/* Number of free slots */
static u32 reps_n_free(const struct reps_host *h)
{
	u16 slot;
	u32 n = 0;

	for (slot = h->pool.free; slot != REPS_NONE && n <= POOL;
	     slot = h->slots[slot].next)
		n++;
	return n;
}

static u16 reps_take(struct reps_host *h, u32 conn)
{
	return reps_next(&h->pool, &h->r[conn], 1000, 0);
}

static bool reps_good(struct reps_host *h, u32 conn, u16 entropy)
{
	return reps_acked(&h->pool, &h->r[conn], entropy, false, 3, 0);
}

/* Paragraphs 27, 28: before any ACK all packets have different entropies */
static void reps_explores(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);
	u32 i;

	KUNIT_EXPECT_LE(test, sizeof(struct reps), 25);
	for (i = 0; i < 12; i++)
		KUNIT_EXPECT_EQ(test, reps_next(&h->pool, &h->r[0], 5, 0),
				i % 5);
	/* a single path */
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, &h->r[1], 1, 0), 0);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, &h->r[1], 1, 0), 0);
	/* the maximum number of entropies */
	h->r[2].fresh = 16383;
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, &h->r[2], 16384, 0), 16383);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, &h->r[2], 16384, 0), 0);
}

/* Paragraphs 29, 30: the oldest entropy is used first, and each only once; an
 * ACK with CE adds none
 */
static void reps_recycles(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);

	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 0);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 1);
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 7));
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, &h->r[0], 5, true, 3, 0));
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 3));
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 9));
	/* other connections have FIFOs of their own */
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 0);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 7);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 3);
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 7));
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 9);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 7);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 2);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL);
}

/* Paragraph 29: a full FIFO drops the oldest entropy */
static void reps_full(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);
	u16 i;

	for (i = 11; i <= 15; i++)
		KUNIT_EXPECT_TRUE(test, reps_good(h, 0, i));
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL - 3);
	for (i = 13; i <= 15; i++)
		KUNIT_EXPECT_EQ(test, reps_take(h, 0), i);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 0);
	/* a FIFO of one */
	for (i = 21; i <= 23; i++)
		KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, &h->r[1], i,
						   false, 1, 0));
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 23);
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 0);
}

/* Paragraph 32: connections share a pool; if the pool is full, each connection
 * reuses its own slots
 */
static void reps_pool_full(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, 2);

	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 1));
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 2));
	KUNIT_EXPECT_FALSE(test, reps_good(h, 1, 3));
	KUNIT_EXPECT_TRUE(test, reps_good(h, 0, 4));
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 0);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 2);
	KUNIT_EXPECT_TRUE(test, reps_good(h, 1, 5));
	KUNIT_EXPECT_FALSE(test, reps_good(h, 2, 6));
	/* paragraph 31: a connection that ends returns its slots */
	reps_flush(&h->pool, &h->r[0]);
	KUNIT_EXPECT_TRUE(test, reps_good(h, 2, 8));
	KUNIT_EXPECT_EQ(test, reps_take(h, 2), 8);
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 5);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 0);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), 2);
	reps_flush(&h->pool, &h->r[0]);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), 2);
	/* a pool of one slot */
	reps_pool_init(&h->pool, 1);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), 1);
}

/* The entropy of a bad path is dropped wherever it is in the FIFO */
static void reps_forgets_bad(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);

	reps_good(h, 0, 1);
	reps_good(h, 0, 2);
	reps_good(h, 0, 1);
	reps_good(h, 1, 1);
	reps_bad(&h->pool, &h->r[0], 3);
	reps_bad(&h->pool, &h->r[0], 1);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL - 2);
	KUNIT_EXPECT_EQ(test, reps_take(h, 1), 1);
	reps_good(h, 0, 4);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 2);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 4);
	reps_good(h, 0, 5);
	reps_bad(&h->pool, &h->r[0], 5);
	reps_bad(&h->pool, &h->r[0], 5);
	KUNIT_EXPECT_EQ(test, reps_take(h, 0), 0);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL);
}

/* A frozen connection uses its entropies in turn, including those of ACKs with
 * CE.  If the FIFO is empty, it uses the entropy of the last ACK.
 */
static void reps_frozen(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);
	struct reps *r = &h->r[0];
	u32 i;

	/* a CE packet's path is congested, but works */
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, r, 4, true, 3, 40));
	KUNIT_EXPECT_EQ(test, r->n, 0);
	r->frozen_ns = 100;
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 50), 4);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 50), 4);
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, r, 7, true, 3, 50));
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 50), 7);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 51), 7);
	reps_good(h, 0, 8);
	/* no entropy is in the FIFO twice */
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, r, 8, false, 3, 52));
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, r, 7, true, 3, 53));
	KUNIT_EXPECT_EQ(test, r->n, 2);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 60), 7);
		KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 99), 8);
	}
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 100), 7);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 101), 8);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 102), 0);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL);
}

/* Check that each connection's list equals the model's, and that each slot is
 * in exactly one list
 */
static void reps_walk_check(struct kunit *test, const struct reps_host *h,
			    u16 want[CONNS][8], const u32 *n)
{
	u32 seen = 0, c, i, free = 0;
	u16 slot;

	for (c = 0; c < CONNS; c++) {
		KUNIT_ASSERT_EQ(test, h->r[c].n, n[c]);
		slot = h->r[c].head;
		for (i = 0; i < n[c]; i++, slot = h->slots[slot].next) {
			KUNIT_ASSERT_LT(test, slot, POOL);
			KUNIT_ASSERT_EQ(test, h->slots[slot].entropy,
					want[c][i]);
			KUNIT_ASSERT_FALSE(test, seen & BIT(slot));
			seen |= BIT(slot);
		}
	}
	for (slot = h->pool.free; slot != REPS_NONE; free++) {
		KUNIT_ASSERT_LT(test, slot, POOL);
		KUNIT_ASSERT_FALSE(test, seen & BIT(slot));
		seen |= BIT(slot);
		slot = h->slots[slot].next;
	}
	KUNIT_ASSERT_EQ(test, free + n[0] + n[1] + n[2], POOL);
	KUNIT_ASSERT_EQ(test, seen, BIT(POOL) - 1);
}

/* A frozen connection does not use an entropy whose packet has timed out, even
 * if no other entropy is left
 */
static void reps_timeouts(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);
	struct reps *r = &h->r[0];

	/* the connection's first packet times out on a broken path */
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 0), 0);
	reps_timeout(&h->pool, r, 0, 100);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 50), 1);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 50), 2);
	/* another entropy times out: the entropy of the last ACK remains */
	KUNIT_EXPECT_TRUE(test, reps_acked(&h->pool, r, 1, false, 3, 50));
	reps_flush(&h->pool, r);
	reps_timeout(&h->pool, r, 2, 150);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 149), 1);
	/* a packet with the entropy of the last ACK times out, too */
	reps_timeout(&h->pool, r, 1, 200);
	KUNIT_EXPECT_EQ(test, reps_next(&h->pool, r, 10, 199), 3);
	KUNIT_EXPECT_EQ(test, reps_n_free(h), POOL);
}

static void reps_walk(struct kunit *test)
{
	struct reps_host *h = reps_host_new(test, POOL);
	u16 want[CONNS][8] = {}, fresh[CONNS] = {};
	u16 alive[CONNS] = { REPS_NONE, REPS_NONE, REPS_NONE };
	u32 n[CONNS] = {}, full = 0, step;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 2);
	for (step = 0; step < 100000; step++) {
		u32 c = prandom_u32_state(&rnd) % CONNS, i, kept;
		u16 entropy = prandom_u32_state(&rnd) % 6, wanted, *w = want[c];
		bool frozen = prandom_u32_state(&rnd) % 4 == 0, room;

		h->r[c].frozen_ns = frozen ? step + 1 : step;
		switch (prandom_u32_state(&rnd) % 16) {
		case 0 ... 4:
			wanted = w[0];
			if (!n[c] && frozen && alive[c] != REPS_NONE) {
				wanted = alive[c];
			} else if (!n[c]) {
				wanted = fresh[c];
				fresh[c] = (fresh[c] + 1) % 6;
			} else {
				memmove(w, w + 1, 7 * sizeof(*w));
				n[c]--;
				if (frozen)
					w[n[c]++] = wanted;
			}
			KUNIT_ASSERT_EQ(test, reps_next(&h->pool, &h->r[c], 6,
							step), wanted);
			break;
		case 5 ... 13:
			room = n[0] + n[1] + n[2] < POOL;
			alive[c] = entropy;
			for (i = 0; i < n[c] && w[i] != entropy; i++)
				;
			if (frozen && i < n[c]) {
				room = true;
			} else if (n[c] && (n[c] == 8 || !room)) {
				memmove(w, w + 1, 7 * sizeof(*w));
				w[n[c] - 1] = entropy;
				room = true;
			} else if (room) {
				w[n[c]++] = entropy;
			}
			full += !room;
			KUNIT_ASSERT_EQ(test, reps_acked(&h->pool, &h->r[c],
							 entropy, false, 8,
							 step), room);
			break;
		case 14:
			for (i = 0, kept = 0; i < n[c]; i++)
				if (w[i] != entropy)
					w[kept++] = w[i];
			n[c] = kept;
			if (!frozen) {
				reps_bad(&h->pool, &h->r[c], entropy);
				break;
			}
			if (alive[c] == entropy)
				alive[c] = REPS_NONE;
			reps_timeout(&h->pool, &h->r[c], entropy, step);
			break;
		case 15:
			n[c] = 0;
			reps_flush(&h->pool, &h->r[c]);
			break;
		}
		reps_walk_check(test, h, want, n);
	}
	KUNIT_EXPECT_GT(test, full, 10);
}

/* Paragraphs 44, 52: the rate is doubled after an epoch without CE, and without
 * an RTT above the expected one
 */
static void ramp_epochs(struct kunit *test)
{
	struct ramp r = {};

	/* the first epoch ends with the ACK of the first packet */
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 0, 10, false, 100, 100));
	KUNIT_EXPECT_EQ(test, r.end, 10);
	/* packets that were sent before the start of an epoch do not end it */
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 1, 11, false, 100, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 9, 19, false, 100, 100));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 10, 20, false, 100, 100));
	/* a later packet also ends an epoch; an ACK that it has overtaken does
	 * not
	 */
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 25, 30, false, 100, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 20, 31, false, 100, 100));
	KUNIT_EXPECT_EQ(test, r.end, 30);
}

/* One CE packet or one long RTT prevents doubling, but only in its own epoch */
static void ramp_forbids(struct kunit *test)
{
	struct ramp r = { .end = 10 };
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, ramp_acked(&r, i, 10, i == 4, 100, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 10, 20, false, 100, 100));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 20, 30, false, 100, 100));
	/* an RTT that is too long by a nanosecond */
	for (i = 20; i < 30; i++)
		KUNIT_EXPECT_FALSE(test, ramp_acked(&r, i, 30, false,
						    i == 28 ? 101 : 1, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 30, 40, false, 1, 100));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 40, 50, false, 1, 100));
	/* the ACK that ends the epoch counts */
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 50, 60, true, 1, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 60, 70, false, 101, 100));
	/* CE and a long RTT at once */
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 65, 70, true, 1, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 66, 70, false, 999, 100));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 70, 80, false, 1, 100));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 80, 90, false, 1, 100));
}

/* "auto": 3/2 of the shortest RTT so far */
static void ramp_expects(struct kunit *test)
{
	struct ramp r = {};

	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 0, 1, false, 200, RAMP_AUTO));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 1, 2, false, 300, RAMP_AUTO));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 2, 3, false, 301, RAMP_AUTO));
	/* a shorter RTT, after which 152 is too long */
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 3, 4, false, 101, RAMP_AUTO));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 4, 5, false, 152, RAMP_AUTO));
	KUNIT_EXPECT_TRUE(test, ramp_acked(&r, 5, 6, false, 151, RAMP_AUTO));
	/* the shortest RTT may follow a long one in the same epoch; in the
	 * epoch after it, only CE prevents doubling
	 */
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 5, 6, false, 140, RAMP_AUTO));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 6, 7, false, 80, RAMP_AUTO));
	KUNIT_EXPECT_FALSE(test, ramp_acked(&r, 7, 8, true, 80, RAMP_AUTO));
}

static const struct rp_params rp = {
	.style = RP_PAPER,
	.line_bps = 40 * GBIT,
	.min_bps = 100 * MBIT,
	.alpha_ns = 55000,
	.increase_ns = 55000,
	.g = RP_ONE / 256,
	.f = 5,
	.rai_bps = 40 * MBIT,
	.rhai_bps = 200 * MBIT,
	.first_percent = 100,
};

/* Doubling and the timer end at the line rate */
static void ramp_doubles(struct kunit *test)
{
	struct rp_params off = rp;
	struct rp r = {};

	rp_start(&r, &rp, 3 * GBIT, 1000);
	KUNIT_EXPECT_EQ(test, rp_double(&r, &rp), RP_RAISED);
	KUNIT_EXPECT_EQ(test, r.rc_bps, 6 * GBIT);
	KUNIT_EXPECT_EQ(test, r.rt_bps, 6 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&r), 56000);
	/* a higher target rate is kept */
	r.rt_bps = 30 * GBIT;
	KUNIT_EXPECT_EQ(test, rp_double(&r, &rp), RP_RAISED);
	KUNIT_EXPECT_EQ(test, r.rc_bps, 12 * GBIT);
	KUNIT_EXPECT_EQ(test, r.rt_bps, 30 * GBIT);
	rp_double(&r, &rp);
	KUNIT_EXPECT_EQ(test, r.rc_bps, 24 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_double(&r, &rp), RP_RAISED);
	KUNIT_EXPECT_EQ(test, r.rc_bps, 40 * GBIT);
	KUNIT_EXPECT_EQ(test, r.rt_bps, 40 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&r), RP_NEVER);
	KUNIT_EXPECT_EQ(test, rp_double(&r, &rp), RP_NOTHING);
	off.style = RP_OFF;
	r.rc_bps = GBIT;
	KUNIT_EXPECT_EQ(test, rp_double(&r, &off), RP_NOTHING);
	KUNIT_EXPECT_EQ(test, r.rc_bps, GBIT);
}

/* Not inlined: mul_u64_u64_div_u64() of x86 is wrong with equal constants,
 * because the compiler passes both in the same register, which the product
 * overwrites
 */
static noinline u64 ratio_of(u64 cut_bps, u64 rate_bps, u64 line_bps, u64 floor)
{
	return ratio_cut(cut_bps, rate_bps, line_bps, floor);
}

/* Paragraphs 87-89: a larger share of the line rate means a larger cut, but no
 * cut exceeds the usual cut
 */
static void ratio_shares(struct kunit *test)
{
	u64 floor = RATIO_ONE / 8, last = 0, rate, cut;

	/* the whole line, half of it, an eighth, and less */
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 80, 80, floor), 1000);
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 40, 80, floor), 500);
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 10, 80, floor), 125);
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 1, 80, floor), 125);
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 0, 80, floor), 125);
	/* almost no floor */
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 0, 80, 1), 0);
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 20, 80, 1), 250);
	/* above the line rate */
	KUNIT_EXPECT_EQ(test, ratio_of(1000, 90, 80, floor), 1000);
	/* a floor of RATIO_ONE (100 %) leaves the usual cut unscaled */
	KUNIT_EXPECT_EQ(test, ratio_of(999999999999, 1, 1000 * GBIT, RATIO_ONE),
			999999999999);
	for (rate = 0; rate <= 1000 * GBIT; rate += 7 * GBIT + 3) {
		cut = ratio_of(500 * GBIT, rate, 1000 * GBIT, floor);
		KUNIT_EXPECT_GE(test, cut, last);
		KUNIT_EXPECT_LE(test, cut, 500 * GBIT);
		KUNIT_EXPECT_GE(test, cut, 62500 * MBIT);
		last = cut;
	}
}

/* Cut a flow at @rate_bps, with alpha 1.  Return: the new rate */
static u64 ratio_after(u64 rate_bps, u64 floor)
{
	struct rp_params p = rp;
	struct rp r = {};

	p.ratio_floor = floor;
	rp_start(&r, &p, rate_bps, 0);
	rp_cnp(&r, &p, 1000);
	return r.rc_bps;
}

/* With alpha 1 a CNP halves the rate.  With "ratio" the cut is scaled by rate /
 * line rate, but by no less than the floor.
 */
static void ratio_cuts(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ratio_after(40 * GBIT, 0), 20 * GBIT);
	KUNIT_EXPECT_EQ(test, ratio_after(10 * GBIT, 0), 5 * GBIT);
	KUNIT_EXPECT_EQ(test, ratio_after(10 * GBIT, RATIO_ONE), 5 * GBIT);
	KUNIT_EXPECT_EQ(test, ratio_after(40 * GBIT, RATIO_ONE / 8), 20 * GBIT);
	/* at half of the line rate the cut is a quarter */
	KUNIT_EXPECT_EQ(test, ratio_after(20 * GBIT, RATIO_ONE / 8), 15 * GBIT);
	/* at a quarter of the line rate the cut is an eighth */
	KUNIT_EXPECT_EQ(test, ratio_after(10 * GBIT, RATIO_ONE / 8),
			8750 * MBIT);
	/* below an eighth of the line rate the floor applies: a 16th */
	KUNIT_EXPECT_EQ(test, ratio_after(GBIT, RATIO_ONE / 8), 937500000);
	/* not below the minimum */
	KUNIT_EXPECT_EQ(test, ratio_after(101 * MBIT, RATIO_ONE / 8),
			100 * MBIT);
}

static void gate_acks(struct gate *g, const struct gate_params *p, u16 entropy,
		      int n, bool ce, u64 now_ns)
{
	while (n--)
		gate_acked(g, p, entropy, ce, 100, now_ns);
}

/* Averages move by the weight, and stay between 0 and 1 */
static void gate_averages(struct kunit *test)
{
	static const u64 weights[] = {
		1, 3, GATE_ONE / 16, GATE_ONE / 3, GATE_ONE - 1, GATE_ONE,
	};
	u64 average, last;
	int i, n;

	KUNIT_EXPECT_EQ(test, gate_average(0, true, GATE_ONE / 4),
			GATE_ONE / 4);
	KUNIT_EXPECT_EQ(test, gate_average(GATE_ONE / 4, true, GATE_ONE / 4),
			GATE_ONE / 16 * 7);
	KUNIT_EXPECT_EQ(test, gate_average(GATE_ONE / 4, false, GATE_ONE / 4),
			GATE_ONE / 16 * 3);
	/* with a weight of 1 only the last packet counts */
	KUNIT_EXPECT_EQ(test, gate_average(0, true, GATE_ONE), GATE_ONE);
	KUNIT_EXPECT_EQ(test, gate_average(GATE_ONE, true, GATE_ONE), GATE_ONE);
	KUNIT_EXPECT_EQ(test, gate_average(GATE_ONE, false, GATE_ONE), 0);
	KUNIT_EXPECT_EQ(test, gate_average(0, false, GATE_ONE), 0);
	for (i = 0; i < ARRAY_SIZE(weights); i++) {
		for (n = 0, average = 0; n < 1000; n++) {
			last = average;
			average = gate_average(average, true, weights[i]);
			KUNIT_ASSERT_GE(test, average, last);
			KUNIT_ASSERT_LE(test, average, GATE_ONE);
		}
		for (n = 0, average = GATE_ONE; n < 1000; n++) {
			last = average;
			average = gate_average(average, false, weights[i]);
			KUNIT_ASSERT_LE(test, average, last);
		}
	}
}

/* Paragraphs 100, 108: open above the threshold, but not at it */
static void gate_threshold(struct kunit *test)
{
	struct gate_params p = { .weight = GATE_ONE / 2,
				 .above = GATE_ONE / 4 * 3 };
	struct gate g = {};

	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 0));
	/* over all paths the average is 1/2, 3/4 and 7/8, and then 7/16 */
	gate_acks(&g, &p, 1, 1, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 2, 1, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 3, 1, true, 1000);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000000));
	gate_acks(&g, &p, 3, 1, false, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	/* with a threshold of 0, a single CE packet opens the gate */
	p.above = 0;
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
	/* no share is above 1 */
	p.above = GATE_ONE;
	p.weight = GATE_ONE;
	gate_acks(&g, &p, 3, 100, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	/* a weight of 0 disables the gate */
	p.weight = 0;
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
}

/* Paragraphs 111, 118: as many paths as "gate-most" says must be congested */
static void gate_most(struct kunit *test)
{
	struct gate_params p = { .weight = GATE_ONE / 2, .above = GATE_ONE / 2,
				 .most = 3 };
	struct gate g = {};
	int i;

	/* one or two congested paths do not open the gate */
	gate_acks(&g, &p, 4, 100, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 15, 2, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	/* a third path is at the threshold, and then above it */
	gate_acks(&g, &p, 0, 1, true, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 0, 1, true, 1000);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
	/* other paths without CE do not close the gate, but ACKs without CE on
	 * one of the three congested paths do
	 */
	for (i = 5; i < 15; i++)
		gate_acks(&g, &p, i, 10, false, 1000);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 4, 7, false, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	/* all 16 paths must be congested */
	p.most = 16;
	for (i = 0; i < 15; i++)
		gate_acks(&g, &p, i, 9, true, 1000);
	gate_acks(&g, &p, 15, 9, false, 1000);
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1000));
	gate_acks(&g, &p, 15, 9, true, 1000);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1000));
}

/* A path without an ACK for two RTTs, of 100 ns here, does not count */
static void gate_stale(struct kunit *test)
{
	struct gate_params p = { .weight = GATE_ONE, .above = 0, .most = 2 };
	struct gate g = {};

	/* a path without any ACK does not count */
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 0));
	gate_acks(&g, &p, 1, 1, true, 1000);
	gate_acks(&g, &p, 2, 1, true, 1050);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1200));
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1201));
	gate_acks(&g, &p, 1, 1, true, 1250);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1250));
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1251));
	/* the last RTT counts: it is 101 ns now */
	gate_acked(&g, &p, 3, false, 101, 1251);
	KUNIT_EXPECT_TRUE(test, gate_open(&g, &p, 1252));
	KUNIT_EXPECT_FALSE(test, gate_open(&g, &p, 1253));
}

static enum match_verdict packet_of(const struct match_rx *m, u64 msg)
{
	return match_packet(m, &msg);
}

/* Return: a receiver whose message 5 is in @state */
static struct match_rx match_in(enum match_state state)
{
	static const struct match_rx rx[MATCH_STATES] = {
		[MATCH_NONE] = { .complete = 5, .posted = 5 },
		[MATCH_FAILED] = { .complete = 5, .posted = 5, .canaries = 1 },
		[MATCH_POSTED] = { .complete = 5, .posted = 6 },
		[MATCH_COMPLETE] = { .complete = 6, .posted = 6 },
	};

	return rx[state];
}

/* Each state of a receiver, with a packet, a receive, and a completion */
static void match_receiver(struct kunit *test)
{
	struct match_rx m;
	int i;

	for (i = 0; i < MATCH_STATES; i++) {
		m = match_in(i);
		KUNIT_EXPECT_EQ(test, match_state(&m, 5), i);
	}

	/* packets: each one without a match causes an RTW */
	m = match_in(MATCH_NONE);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_NEW);
	/* if the table is full, no canary is recorded: nothing changes */
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_NONE);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_NEW);
	match_canary(&m, 5);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_FAILED);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_RTW);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_RTW);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_FAILED);
	m = match_in(MATCH_POSTED);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_TAKE);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_POSTED);
	m = match_in(MATCH_COMPLETE);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_TAKE);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_COMPLETE);

	/* receives: an RTS only after an RTW */
	m = match_in(MATCH_NONE);
	KUNIT_EXPECT_FALSE(test, match_post(&m));
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_POSTED);
	m = match_in(MATCH_FAILED);
	KUNIT_EXPECT_TRUE(test, match_post(&m));
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_POSTED);
	KUNIT_EXPECT_TRUE(test, m.rts);
	/* the receive of the next message */
	m = match_in(MATCH_POSTED);
	KUNIT_EXPECT_FALSE(test, match_post(&m));
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_POSTED);
	KUNIT_EXPECT_EQ(test, match_state(&m, 6), MATCH_POSTED);
	m = match_in(MATCH_COMPLETE);
	KUNIT_EXPECT_FALSE(test, match_post(&m));
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_COMPLETE);
	KUNIT_EXPECT_EQ(test, match_state(&m, 6), MATCH_POSTED);

	/* completion: of the previous message in states NONE and FAILED */
	m = match_in(MATCH_NONE);
	match_complete(&m, 5);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_NONE);
	m = match_in(MATCH_FAILED);
	match_complete(&m, 5);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_FAILED);
	m = match_in(MATCH_POSTED);
	match_complete(&m, 6);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_COMPLETE);
	match_complete(&m, 6);
	KUNIT_EXPECT_EQ(test, match_state(&m, 5), MATCH_COMPLETE);
}

/* The RTS is repeated until the message is complete */
static void match_repeats(struct kunit *test)
{
	struct match_rx m = match_in(MATCH_FAILED);

	match_post(&m);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5), MATCH_TAKE);
	KUNIT_EXPECT_TRUE(test, m.rts);
	match_complete(&m, 5);
	KUNIT_EXPECT_TRUE(test, m.rts);
	match_complete(&m, 6);
	KUNIT_EXPECT_FALSE(test, m.rts);
	/* no sender waits for the next message */
	KUNIT_EXPECT_FALSE(test, match_post(&m));
	KUNIT_EXPECT_FALSE(test, m.rts);
}

/* 64 messages can have a canary.  The sender of a later message waits at the
 * last of these 64.
 */
static void match_many(struct kunit *test)
{
	struct match_rx m = match_in(MATCH_NONE);
	u64 i;

	KUNIT_EXPECT_EQ(test, match_near(&m, 4), 4);
	KUNIT_EXPECT_EQ(test, match_near(&m, 5 + 63), 5 + 63);
	KUNIT_EXPECT_EQ(test, match_near(&m, 5 + 64), 5 + 63);
	KUNIT_EXPECT_EQ(test, match_near(&m, U64_MAX), 5 + 63);
	i = 5 + 64;
	KUNIT_EXPECT_EQ(test, match_packet(&m, &i), MATCH_NEW);
	KUNIT_EXPECT_EQ(test, i, 5 + 63);
	for (i = 5 + 63; i >= 5; i -= 2) {
		KUNIT_EXPECT_EQ(test, packet_of(&m, i), MATCH_NEW);
		match_canary(&m, i);
	}
	/* only messages with a canary, 6, 8, ..., cause an RTS */
	for (i = 5; i < 5 + 64; i++) {
		KUNIT_EXPECT_EQ(test, match_post(&m), i % 2 == 0);
		match_complete(&m, i + 1);
	}
	KUNIT_EXPECT_EQ(test, m.canaries, 0);
	KUNIT_EXPECT_EQ(test, packet_of(&m, 5 + 64), MATCH_NEW);
}

/* Each state of a sender, with RTW and RTS; an RNR NAK acts like an RTW */
static void match_sender(struct kunit *test)
{
	struct match_tx m = {};

	/* sending */
	KUNIT_EXPECT_EQ(test, match_limit(&m), MATCH_ALL);
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 3));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_SENDING);
	KUNIT_EXPECT_TRUE(test, match_rtw(&m, 5));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_WAITING);
	KUNIT_EXPECT_EQ(test, match_limit(&m), 5);
	/* waiting: the same message, a later one, an earlier one */
	KUNIT_EXPECT_FALSE(test, match_rtw(&m, 5));
	KUNIT_EXPECT_FALSE(test, match_rtw(&m, 6));
	KUNIT_EXPECT_EQ(test, match_limit(&m), 5);
	KUNIT_EXPECT_TRUE(test, match_rtw(&m, 4));
	KUNIT_EXPECT_EQ(test, match_limit(&m), 4);
	/* an RTS for an earlier message, and for the waiting one */
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 3));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_WAITING);
	KUNIT_EXPECT_TRUE(test, match_rts(&m, 4));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_SENDING);
	KUNIT_EXPECT_EQ(test, match_limit(&m), MATCH_ALL);
	/* an RTS for a later message: the waiting message has a receive, too */
	KUNIT_EXPECT_TRUE(test, match_rtw(&m, 6));
	KUNIT_EXPECT_TRUE(test, match_rts(&m, 7));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_SENDING);
	/* done */
	m.state = MATCH_DONE;
	KUNIT_EXPECT_FALSE(test, match_rtw(&m, 8));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_DONE);
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 8));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_DONE);
	KUNIT_EXPECT_EQ(test, match_limit(&m), MATCH_ALL);
}

/* An RTW that arrives after the RTS of its message is ignored */
static void match_stale(struct kunit *test)
{
	struct match_tx m = {};

	KUNIT_EXPECT_TRUE(test, match_rtw(&m, 0));
	KUNIT_EXPECT_TRUE(test, match_rts(&m, 0));
	KUNIT_EXPECT_FALSE(test, match_rtw(&m, 0));
	KUNIT_EXPECT_EQ(test, m.state, MATCH_SENDING);
	/* a repeated RTS, a later one, an older one, and an RTW that RTS 4
	 * makes stale
	 */
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 0));
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 4));
	KUNIT_EXPECT_FALSE(test, match_rts(&m, 2));
	KUNIT_EXPECT_FALSE(test, match_rtw(&m, 4));
	/* an RTW for the next message is not stale */
	KUNIT_EXPECT_TRUE(test, match_rtw(&m, 5));
	KUNIT_EXPECT_EQ(test, match_limit(&m), 5);
}

static struct kunit_case sr_cases[] = {
	KUNIT_CASE(sr_bytes),
	KUNIT_CASE(sr_window),
	KUNIT_CASE(sr_wrap),
	KUNIT_CASE(sr_any_order),
	KUNIT_CASE(sr_lost_acks),
	KUNIT_CASE(sr_timeouts),
	KUNIT_CASE(sr_repeat_wraps),
	KUNIT_CASE(sr_many_sent),
	KUNIT_CASE(sr_forgets),
	KUNIT_CASE(sr_ack_of_4),
	KUNIT_CASE(sr_walk),
	{}
};

static struct kunit_case reps_cases[] = {
	KUNIT_CASE(reps_explores),
	KUNIT_CASE(reps_recycles),
	KUNIT_CASE(reps_full),
	KUNIT_CASE(reps_pool_full),
	KUNIT_CASE(reps_forgets_bad),
	KUNIT_CASE(reps_frozen),
	KUNIT_CASE(reps_timeouts),
	KUNIT_CASE(reps_walk),
	{}
};

static struct kunit_case ramp_cases[] = {
	KUNIT_CASE(ramp_epochs),
	KUNIT_CASE(ramp_forbids),
	KUNIT_CASE(ramp_expects),
	KUNIT_CASE(ramp_doubles),
	{}
};

static struct kunit_case ratio_cases[] = {
	KUNIT_CASE(ratio_shares),
	KUNIT_CASE(ratio_cuts),
	{}
};

static struct kunit_case gate_cases[] = {
	KUNIT_CASE(gate_averages),
	KUNIT_CASE(gate_threshold),
	KUNIT_CASE(gate_most),
	KUNIT_CASE(gate_stale),
	{}
};

static struct kunit_case match_cases[] = {
	KUNIT_CASE(match_receiver),
	KUNIT_CASE(match_repeats),
	KUNIT_CASE(match_many),
	KUNIT_CASE(match_sender),
	KUNIT_CASE(match_stale),
	{}
};

static struct kunit_suite sr_suite = {
	.name = "rocehost_sr",
	.test_cases = sr_cases,
};

static struct kunit_suite reps_suite = {
	.name = "rocehost_reps",
	.test_cases = reps_cases,
};

static struct kunit_suite ramp_suite = {
	.name = "rocehost_ramp",
	.test_cases = ramp_cases,
};

static struct kunit_suite ratio_suite = {
	.name = "rocehost_ratio",
	.test_cases = ratio_cases,
};

static struct kunit_suite gate_suite = {
	.name = "rocehost_gate",
	.test_cases = gate_cases,
};

static struct kunit_suite match_suite = {
	.name = "rocehost_match",
	.test_cases = match_cases,
};

kunit_test_suites(&sr_suite, &reps_suite, &ramp_suite, &ratio_suite,
		  &gate_suite, &match_suite);

MODULE_LICENSE("GPL");
