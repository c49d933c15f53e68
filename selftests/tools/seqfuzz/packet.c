// SPDX-License-Identifier: GPL-2.0
/*
 * Packets: data from a few hosts to a few QPs or to arbitrary QPs, and the
 * answers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../packet.h"
#include "seqfuzz.h"

#define QP_XOR		0x800000u

static const uint8_t opcodes[] = { 0x0a, 0x11, 0x81 };
static uint32_t psns[64];		/* next PSN, by QP */

struct flow flow;

void any_flow(void)
{
	flow = (struct flow){
		.sender = 2 + below(4), .receiver = 16 + below(4),
		.ecn = below(4), .vid = below(4) ? 0 : 5,
		.qp = below(8) ? below(ARRAY_SIZE(psns)) : draw() & 0xffffff,
	};
}

/* Write UDP, BTH and payload, with room for the ICRC.  Return: the length */
static unsigned int put_udp(uint8_t *f, int type)
{
	static const unsigned int lens[] = { 0, 64, 256, 1024, 1200 };
	unsigned int payload = type == DATA ? one_of(lens) :
			       type == ACK ? 4 : 16;
	uint32_t *psn = &psns[flow.qp % ARRAY_SIZE(psns)];

	put16(f, 49152 + flow.qp % 16384);
	put16(f + 2, ROCE_PORT);
	put16(f + 4, 8 + 12 + payload + 4);
	memset(f + 6, 0, 2 + 12 + payload + 4);
	f[8] = opcodes[type];
	put16(f + 10, 0xffff);
	put32(f + 12, type == DATA ? flow.qp : flow.qp ^ QP_XOR);
	if (type == CNP)
		f[12] = 0x40;		/* BECN */
	put32(f + 16, (type == DATA ? (*psn)++ : *psn - 1) & 0xffffff);
	return 8 + 12 + payload + 4;
}

static unsigned int put_ip(uint8_t *f, int type)
{
	uint8_t src = type == DATA ? flow.sender : flow.receiver;
	uint8_t dst = type == DATA ? flow.receiver : flow.sender;
	bool v6 = flow.sender & 1;
	unsigned int l4 = v6 ? 40 : 20, len;
	uint32_t crc;

	len = put_udp(f + l4, type);
	memset(f, 0, l4);
	if (v6) {
		f[0] = 0x60;
		f[1] = flow.ecn << 4;
		put16(f + 4, len);
		f[6] = 17;
		f[7] = 64;
		put16(f + 8, 0xfd01);
		put16(f + 24, 0xfd01);
		f[23] = src;
		f[39] = dst;
	} else {
		f[0] = 0x45;
		f[1] = flow.ecn;
		put16(f + 2, l4 + len);
		f[6] = 0x40;
		f[8] = 64;
		f[9] = 17;
		put32(f + 12, 0x0a010000 | src);
		put32(f + 16, 0x0a010000 | dst);
		put16(f + 10, fold(sum16(f, 20, 0)));
	}
	crc = icrc(f, l4 + len - 4, v6);
	memcpy(f + l4 + len - 4, &crc, 4);
	if (v6)
		put16(f + l4 + 6,
		      fold(sum16(f + l4, len, sum16(f + 8, 32, 17 + len))));
	return l4 + len;
}

static unsigned int put_frame(uint8_t *f, int type)
{
	unsigned int at = 12;

	memset(f, 0, 12);
	f[0] = 2;
	f[6] = 2;
	f[5] = type == DATA ? flow.receiver : flow.sender;
	f[11] = type == DATA ? flow.sender : flow.receiver;
	if (flow.vid) {
		put16(f + at, ETH_P_8021Q);
		put16(f + at + 2, flow.vid);
		at += 4;
	}
	put16(f + at, flow.sender & 1 ? ETH_P_IPV6 : ETH_P_IP);
	return at + 2 + put_ip(f + at + 2, type);
}

/* Send a packet of the current flow */
int send_one(struct place *p, int index, int type)
{
	static uint8_t frame[2048];
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = index,
	};

	if (!index)
		return -ENODEV;
	beat();
	if (sendto(p->packet, frame, put_frame(frame, type), MSG_DONTWAIT,
		   (void *)&to, sizeof(to)) < 0)
		return -errno;
	return 0;
}

int send_any(struct place *p, int index, int type, unsigned int n)
{
	int err = -ENODEV;

	while (n--) {
		any_flow();
		err = send_one(p, index, type);
	}
	return err;
}

int op_data(struct place *p)
{
	return send_any(p, any_index(p), DATA, 1 + below(32));
}

/* A packet that is sent on one of these devices is received by another device:
 * the veth peer, or with a0 the device to which mirred redirects packets
 */
static const char * const peers[] = { "a0", "vb0", "vb1", "va0" };

/* Write a MAC control frame: PFC in half of the cases.  Return: the length */
static unsigned int put_control(uint8_t *f)
{
	static const uint16_t opcodes[] = { 0x0101, 0x0101, 0x0101, 1, 2, 0xffff };
	static const uint8_t group[] = { 0x01, 0x80, 0xc2, 0, 0, 0x01 };
	unsigned int at = 12, i;

	memset(f, 0, 64);
	memcpy(f, group, sizeof(group));
	f[6] = 2;
	if (!below(8)) {
		put16(f + at, ETH_P_8021Q);
		put16(f + at + 2, 5);
		at += 4;
	}
	put16(f + at, ETH_P_PAUSE);
	put16(f + at + 2, one_of(opcodes));
	put16(f + at + 4, below(4) ? 0xff : any_size(16));
	for (i = 0; i < 8; i++)
		put16(f + at + 6 + 2 * i, below(2) ? any_size(16) : 0);
	return below(8) ? 60 : at + 2 + below(20);
}

/* Make a device receive PFC and PAUSE frames */
int op_control(struct place *p)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	unsigned int n = 1 + below(8);
	uint8_t frame[64];
	int err = 0;

	to.sll_ifindex = index_of(p, one_of(peers));
	if (!to.sll_ifindex)
		return -ENODEV;
	while (n--)
		if (sendto(p->packet, frame, put_control(frame), MSG_DONTWAIT,
			   (void *)&to, sizeof(to)) < 0)
			err = -errno;
	return err;
}

/* Make a device receive ACKs or CNPs */
int op_answer(struct place *p)
{
	return send_any(p, index_of(p, one_of(peers)), below(2) ? ACK : CNP,
			1 + below(8));
}

int op_tap_packets(struct place *p)
{
	struct tap *tap = &one_of(taps);
	static uint8_t frame[65536];
	int n, err = -ENODEV;

	if (tap->fd < 0)
		return err;
	for (n = 0; n < 16; n++) {
		if (read(tap->fd, frame, sizeof(frame)) < 0 && n > 3)
			break;
		any_flow();
		if (write(tap->fd, frame, put_frame(frame, below(3))) > 0)
			err = 0;
	}
	return err;
}
