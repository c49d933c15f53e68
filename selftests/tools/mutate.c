// SPDX-License-Identifier: GPL-2.0
/*
 * mutate: send invalid RoCEv2 packets through the box.
 *
 *   mutate FROM TO COUNT SEED <FRAMES
 *
 * FRAMES contains valid frames from Ethernet on, one per line in hexadecimal,
 * as printed by "roce send --hex".  mutate derives COUNT frames from them and
 * sends these on FROM, a NETNS/DEVICE.  They must arrive at TO, another device,
 * unchanged and in order: the box must not change, delay or drop a packet
 * because of its contents.  Lengths, checksums and ICRC of half of the frames
 * are corrected, so that these get further in the parser.  All random values
 * follow from SEED.  mutate prints "sent N same N others N"; others are packets
 * that the box itself sent, and frames that it changed or reordered.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "packet.h"
#include "random.h"

uint64_t random_state;

#define MAX_BASES	256
#define MAX_LEN		2048
/* Frames sent before the output is compared */
#define BATCH		64
/* The stack drops shorter frames with a tag */
#define WHOLE_TAG	22

/* A frame and the offsets of its headers */
struct frame {
	uint8_t data[MAX_LEN];
	unsigned int len, l3, udp;
	bool v6;
};

static struct frame bases[MAX_BASES], sent[BATCH];
static unsigned int n_bases;

static void die(const char *what)
{
	fprintf(stderr, "mutate: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void read_bases(void)
{
	char line[2 * MAX_LEN + 2];
	struct frame *f;
	unsigned int byte, at;

	while (n_bases < MAX_BASES && fgets(line, sizeof(line), stdin)) {
		f = &bases[n_bases];
		f->len = 0;
		while (sscanf(line + 2 * f->len, "%2x", &byte) == 1)
			f->data[f->len++] = byte;
		at = 12;
		while (get16(f->data + at) != ETH_P_IP &&
		       get16(f->data + at) != ETH_P_IPV6)
			at += 4;
		f->v6 = get16(f->data + at) == ETH_P_IPV6;
		f->l3 = at + 2;
		f->udp = f->l3 + (f->v6 ? 40 : 20);
		n_bases++;
	}
	if (!n_bases)
		die("no frames");
}

/* Insert @n zero bytes at @at */
static bool insert(struct frame *f, unsigned int at, unsigned int n)
{
	if (at > f->len || f->len + n > MAX_LEN - 128)
		return false;
	memmove(f->data + at + n, f->data + at, f->len - at);
	memset(f->data + at, 0, n);
	f->len += n;
	return true;
}

static void push_tag(struct frame *f)
{
	static const uint16_t protos[] = { ETH_P_8021Q, ETH_P_8021AD, 0x9100 };

	if (!insert(f, 12, 4))
		return;
	put16(f->data + 12, protos[below(3)]);
	put16(f->data + 14, draw());
	f->l3 += 4;
	f->udp += 4;
}

static void push_options(struct frame *f)
{
	unsigned int i, n = 4 * (1 + below(10));

	if ((f->data[f->l3] & 0xf) + n / 4 > 15 || !insert(f, f->udp, n))
		return;
	for (i = 0; i < n; i++)
		f->data[f->udp + i] = below(2) ? 1 : draw();
	f->data[f->l3] += n / 4;
	f->udp += n;
}

static void push_extension(struct frame *f)
{
	static const uint8_t types[] = { 0, 43, 44, 60, 51, 50, 59, 135 };
	unsigned int n = 8 * (1 + below(3)), first = f->l3 + 40;
	uint8_t next = f->data[f->l3 + 6];

	if (!insert(f, first, n))
		return;
	f->data[f->l3 + 6] = types[below(sizeof(types))];
	f->data[first] = next;
	/* mostly the correct length */
	f->data[first + 1] = below(8) ? n / 8 - 1 : draw();
	put16(f->data + first + 2, below(2) ? 0 : draw());
	f->udp += n;
}

static void cut(struct frame *f)
{
	f->len = WHOLE_TAG + below(f->len - WHOLE_TAG + 1);
}

static void grow(struct frame *f)
{
	unsigned int i, n = 1 + below(64), at = f->len;

	if (insert(f, at, n))
		for (i = 0; i < n; i++)
			f->data[at + i] = draw();
}

static uint8_t odd_byte(void)
{
	static const uint8_t odd[] = { 0, 1, 0x10, 0x40, 0x7f, 0x80, 0xff, 17 };

	return below(4) ? odd[below(sizeof(odd))] : draw();
}

/* Change anything but the MAC addresses, by which the frame is forwarded */
static void scratch(struct frame *f)
{
	unsigned int at = 12 + below(f->len - 12);

	if (below(2))
		f->data[at] ^= 1 << below(8);
	else
		f->data[at] = odd_byte();
}

static void number(struct frame *f)
{
	unsigned int at = f->l3 + 2 * below(20);
	uint16_t v;

	if (at + 2 > f->len)
		return;
	v = get16(f->data + at);
	if (below(2))
		v += below(2) ? 1 : -1;
	else
		v = below(2) ? 0xffff : draw();
	put16(f->data + at, v);
}

static void fragment(struct frame *f)
{
	if (!f->v6 && f->l3 + 8 <= f->len)
		put16(f->data + f->l3 + 6, draw() & 0x3fff);
}

/* Change a field of the BTH or of a CM message */
static void transport(struct frame *f)
{
	static const uint8_t ops[] = { 0x07, 0x0a, 0x0c, 0x0d, 0x11, 0x12, 0x20,
				       0x64, 0x81, 0x80, 0xa7, 0xff };
	static const uint16_t attrs[] = { 0x10, 0x13, 0x14, 0x15, 0x16 };
	uint8_t *bth = f->data + f->udp + 8;

	if (f->udp + 8 + 12 > f->len)
		return;
	switch (below(5)) {
	case 0:
		bth[0] = ops[below(sizeof(ops))];
		break;
	case 1:
		put32(bth + 4, below(2) ? below(4) : draw());
		break;
	case 2:
		put32(bth + 8, draw());
		break;
	case 3:
		/* DestQP of the reverse direction, or of another flow */
		bth[5] ^= 0x80;
		bth[7] += below(3);
		break;
	default:
		if (f->udp + 8 + 38 <= f->len)
			put16(bth + 36, attrs[below(5)]);
	}
}

/* Correct lengths, checksum and ICRC */
static void put_right(struct frame *f)
{
	uint8_t *d = f->data, *ip = d + f->l3;
	uint32_t crc;

	if (f->len < f->udp + 8 + 12 + 4)
		return;
	put16(d + f->udp + 4, f->len - f->udp);
	if (f->v6) {
		put16(ip + 4, f->len - f->l3 - 40);
	} else {
		put16(ip + 2, f->len - f->l3);
		put16(ip + 10, 0);
		put16(ip + 10, fold(sum16(ip, 4 * (*ip & 0xf), 0)));
	}
	crc = icrc(ip, f->len - 4 - f->l3, f->v6);
	d[f->len - 4] = crc;
	d[f->len - 3] = crc >> 8;
	d[f->len - 2] = crc >> 16;
	d[f->len - 1] = crc >> 24;
}

static void mutate(struct frame *f)
{
	int n;

	*f = bases[below(n_bases)];
	for (n = below(4); n >= 0; n--) {
		switch (below(10)) {
		case 0:
			push_tag(f);
			break;
		case 1:
			if (f->v6)
				push_extension(f);
			else
				push_options(f);
			break;
		case 2:
			fragment(f);
			break;
		case 3:
			grow(f);
			break;
		case 4:
			number(f);
			break;
		case 5:
		case 6:
		case 7:
			transport(f);
			break;
		default:
			scratch(f);
		}
	}
	if (below(2))
		put_right(f);
	if (!below(8))
		cut(f);
}

static int open_device(char *where)
{
	struct sockaddr_ll sll = { .sll_family = AF_PACKET };
	char *slash = strchr(where, '/');
	int fd, on = 1, size = 64 << 20;

	if (!slash || netns_enter(where, slash - where))
		die(where);
	sll.sll_ifindex = if_nametoindex(slash + 1);
	sll.sll_protocol = htons(ETH_P_ALL);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || bind(fd, (void *)&sll, sizeof(sll)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)))
		die(where);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return fd;
}

/* Receive a frame as it was on the wire.  Return: its length, -1: none waits */
static int take(int fd, uint8_t *frame)
{
	char ctrl[256];
	struct sockaddr_ll from;
	struct iovec iov = { frame + 4, MAX_FRAME - 4 };
	struct msghdr msg = { &from, sizeof(from), &iov, 1, ctrl, sizeof(ctrl) };
	struct tpacket_auxdata aux;
	struct cmsghdr *c;
	int len;

	do {
		msg.msg_controllen = sizeof(ctrl);
		msg.msg_namelen = sizeof(from);
		len = recvmsg(fd, &msg, MSG_DONTWAIT);
		if (len < 0)
			return -1;
	} while (from.sll_pkttype == PACKET_OUTGOING);
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			continue;
		memmove(frame, frame + 4, 12);
		put16(frame + 12, aux.tp_vlan_tpid);
		put16(frame + 14, aux.tp_vlan_tci);
		return len + 4;
	}
	memmove(frame, frame + 4, len);
	return len;
}

/* Compare received frames with the @n that were sent.  Return: how many of
 * those were received.
 */
static unsigned int compare(int fd, unsigned int n, unsigned long *others)
{
	static uint8_t frame[MAX_FRAME];
	unsigned int i, at = 0, same = 0;
	int len;

	while ((len = take(fd, frame)) >= 0) {
		/* a missing frame does not affect the others */
		for (i = at; i < n; i++)
			if ((unsigned int)len == sent[i].len &&
			    !memcmp(frame, sent[i].data, len))
				break;
		if (i < n) {
			at = i + 1;
			same++;
		} else {
			++*others;
		}
	}
	return same;
}

static void show_missing(unsigned int n)
{
	unsigned int i, j;

	fprintf(stderr, "mutate: at least one of these is missing:\n");
	for (i = 0; i < n; i++, fputc('\n', stderr))
		for (j = 0; j < sent[i].len; j++)
			fprintf(stderr, "%02x", sent[i].data[j]);
}

int main(int argc, char **argv)
{
	unsigned long count, left, total = 0, same = 0, others = 0;
	unsigned int n, i, good;
	int from, to;

	if (argc != 5) {
		fprintf(stderr, "Usage: mutate FROM TO COUNT SEED <FRAMES\n");
		return 2;
	}
	count = strtoul(argv[3], NULL, 0);
	random_state = strtoull(argv[4], NULL, 0);
	read_bases();
	to = open_device(argv[2]);
	from = open_device(argv[1]);
	for (left = count; left; left -= n) {
		n = left < BATCH ? left : BATCH;
		for (i = 0; i < n; i++) {
			mutate(&sent[i]);
			if (send(from, sent[i].data, sent[i].len, 0) < 0)
				die("send");
		}
		good = compare(to, n, &others);
		if (good != n && total == same)
			show_missing(n);
		total += n;
		same += good;
	}
	printf("sent %lu same %lu others %lu\n", total, same, others);
	return 0;
}
