// SPDX-License-Identifier: GPL-2.0
/*
 * roce: RoCEv2 packets for tests, on any interface.
 *
 *   roce send	data, ACKs, CNPs, CM messages, and invalid packets
 *   roce sniff	print one line per received RoCEv2 packet
 *   roce np	a receiver: ACKs, and CNPs at its own interval
 *   roce listen	an ordinary UDP socket on the port of RoCEv2
 *   roce raw	send given frames at given times
 *
 * Packet formats, ICRC and CNP repeat the module's on purpose: the tests check
 * the module against them.  The QP numbers of a flow's sender and receiver
 * differ by QP_XOR, so that the receiver can derive the sender's.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <linux/udp.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "netns.h"
#include "packet.h"

#define QP_XOR		0x800000u
#define MAX_FLOWS	65536
#define BATCH		64
/* Let packets accumulate for this time after the first one, because a wakeup
 * per packet would cost more than all the rest
 */
#define GATHER_NS	1000000

enum {
	OP_WRITE_MIDDLE	= 0x07,
	OP_WRITE_ONLY	= 0x0a,
	OP_ACK		= 0x11,
	OP_UD_SEND_ONLY	= 0x64,
	OP_CNP		= 0x81,
};

struct vlan {
	uint16_t proto, tci;
};

struct spec {
	uint8_t smac[6], dmac[6];
	struct vlan vlan[3];
	int vlans;
	bool v6;
	uint8_t src[16], dst[16];	/* IPv4 in the first four */
	uint8_t tos, ttl;
	uint16_t id;
	uint16_t sport, dport;
	uint8_t opcode;
	uint16_t pkey;
	uint32_t qp, psn;
	bool becn;
	uint8_t rsvd[16];		/* reserved bytes of a CNP */
	const char *cm;			/* req, rep, dreq, or NULL */
	uint32_t cm_local, cm_remote, cm_qp;
	unsigned int payload;
	const char *bad;
};

static void die(const char *what)
{
	fprintf(stderr, "roce: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void usage(void)
{
	fprintf(stderr,
"Usage: roce send [NETNS/]IFACE [options]   send packets\n"
"       roce sniff IFACE [options]  print received RoCEv2 packets\n"
"       roce np IFACE [options]     answer data with ACKs and CNPs\n"
"       roce listen ADDRESS [options]  receive CNPs with a UDP socket\n"
"       roce raw [NETNS/]IFACE HEX|+US...  send these frames, the next one US\n"
"                                          after the previous one\n"
"\n"
"packets:  --type data|ack|cnp|req|rep|dreq|udp  --src IP --dst IP\n"
"          --smac MAC --dmac MAC  --vlan [ad:]VID[:PCP] (outer first)\n"
"          --tos N --ttl N --sport N --opcode N --pkey N\n"
"          --qp N --psn N --len PAYLOAD --cm-local N --cm-remote N --cm-qp N\n"
"          --rsvd HEX  16 reserved bytes of CNPs\n"
"          --bad truncate:N|frag|morefrag|options|hopopts|udplen|udpshort|tver|icrc|\n"
"                csum\n"
"          --hex  print instead of sending\n"
"send:     --count N --interval US --flows N --gso SEGMENTS\n"
"          --spray N  source ports from --sport on, in turn for each flow\n"
"          --list [FLOW:]PSN[-PSN][e],...  send these: FLOW is added to the QP,\n"
"                 e: ECT(0) instead of the ECN bits of --tos\n"
"sniff:    --time MS --count N --type T --hex --mono (clock of trace events)\n"
"sniff, np: --ready FILE: write a line to FILE when listening\n"
"np:       --time MS --cnp US (0: none) --delay US (of CNPs) --ack N (0: none)\n"
"listen:   --time MS --count N\n");
	exit(2);
}

static bool is_bad(const struct spec *s, const char *kind)
{
	return s->bad && !strcmp(s->bad, kind);
}

static unsigned int build_cm(const struct spec *s, uint8_t *payload)
{
	static const struct {
		const char *name;
		uint16_t attr;
		unsigned int qpn;
	} msgs[] = {
		{ "req", 0x0010, 76 - 12 },
		{ "rep", 0x0013, 56 - 12 },
		{ "dreq", 0x0015, 52 - 12 },
	};
	unsigned int i;

	memset(payload, 0, 8 + 256);
	payload[8] = 1;
	payload[9] = 7;
	payload[10] = 2;
	payload[11] = 3;
	for (i = 0; i < 3; i++) {
		if (strcmp(s->cm, msgs[i].name))
			continue;
		put16(payload + 36 - 12, msgs[i].attr);
		put32(payload + 44 - 12, s->cm_local);
		put32(payload + 48 - 12, s->cm_remote);
		put32(payload + msgs[i].qpn, s->cm_qp << 8);
	}
	return 8 + 256;
}

static unsigned int put_rsvd(const struct spec *s, uint8_t *payload)
{
	memcpy(payload, s->rsvd, sizeof(s->rsvd));
	return sizeof(s->rsvd);
}

/* Build a packet.  Return: its length from L2 on; @l3 is the offset of IP */
static unsigned int build(const struct spec *s, uint8_t *f, unsigned int *l3)
{
	unsigned int at, ip, ext = 0, udp, len, udp_len, payload = s->payload;
	int i;

	memset(f, 0, 14 + 12 + 60 + 40 + 8 + 12 + 256);
	memcpy(f, s->dmac, 6);
	memcpy(f + 6, s->smac, 6);
	at = 12;
	for (i = 0; i < s->vlans; i++, at += 4) {
		put16(f + at, s->vlan[i].proto);
		put16(f + at + 2, s->vlan[i].tci);
	}
	put16(f + at, s->v6 ? ETH_P_IPV6 : ETH_P_IP);
	ip = at + 2;
	if (is_bad(s, "options") && !s->v6)
		ext = 4;
	if (is_bad(s, "hopopts") && s->v6)
		ext = 8;
	udp = ip + (s->v6 ? 40 : 20) + ext;

	/* BTH and payload */
	f[udp + 8] = s->opcode;
	f[udp + 9] = is_bad(s, "tver") ? 1 : 0;
	put16(f + udp + 10, s->pkey);
	put32(f + udp + 12, s->qp);
	if (s->becn)
		f[udp + 12] = 0x40;
	put32(f + udp + 16, s->psn);
	if (s->opcode == OP_CNP)
		payload = put_rsvd(s, f + udp + 20);
	else if (s->opcode == OP_ACK)
		payload = 4;
	else if (s->cm)
		payload = build_cm(s, f + udp + 20);
	else
		memset(f + udp + 20, 0xa5, payload);
	udp_len = 8 + 12 + payload + 4;
	len = udp + udp_len;

	put16(f + udp, s->sport);
	put16(f + udp + 2, s->dport);
	put16(f + udp + 4, udp_len);
	if (s->v6) {
		f[ip] = 0x60 | s->tos >> 4;
		f[ip + 1] = s->tos << 4;
		put16(f + ip + 4, udp_len + ext);
		f[ip + 6] = ext ? 0 : 17;
		f[ip + 7] = s->ttl;
		memcpy(f + ip + 8, s->src, 16);
		memcpy(f + ip + 24, s->dst, 16);
		if (ext) {
			f[ip + 40] = 17;
			f[ip + 42] = 1;		/* PadN */
			f[ip + 43] = 4;
		}
	} else {
		f[ip] = 0x45 + ext / 4;
		f[ip + 1] = s->tos;
		put16(f + ip + 2, len - ip);
		put16(f + ip + 4, s->id);
		put16(f + ip + 6, is_bad(s, "frag") ? 0x0010 :
				  is_bad(s, "morefrag") ? 0x2000 : 0x4000);
		f[ip + 8] = s->ttl;
		f[ip + 9] = 17;
		memcpy(f + ip + 12, s->src, 4);
		memcpy(f + ip + 16, s->dst, 4);
		if (ext)
			memset(f + ip + 20, 1, 4);	/* NOP */
		put16(f + ip + 10, fold(sum16(f + ip, 20 + ext, 0)));
	}
	/* the ICRC does not cover the checksum */
	if (is_bad(s, "csum") && !s->v6)
		f[ip + 10] ^= 1;
	if (is_bad(s, "udplen"))
		put16(f + udp + 4, udp_len + 100);
	if (is_bad(s, "udpshort"))
		put16(f + udp + 4, 8 + 12 + 4);

	if (s->dport == ROCE_PORT) {
		uint32_t crc = icrc(f + ip, len - 4 - ip, s->v6);

		if (is_bad(s, "icrc"))
			crc ^= 1;
		f[len - 4] = crc;
		f[len - 3] = crc >> 8;
		f[len - 2] = crc >> 16;
		f[len - 1] = crc >> 24;
	}
	if (s->v6) {
		uint32_t sum = sum16(f + ip + 8, 32, 17 + udp_len);
		uint16_t check = fold(sum16(f + udp, udp_len, sum));

		put16(f + udp + 6, check ? check : 0xffff);
	}
	if (s->bad && !strncmp(s->bad, "truncate:", 9)) {
		unsigned int cut = atoi(s->bad + 9);

		if (cut < len)
			len = cut;
	}
	*l3 = ip;
	return len;
}

/* A received frame */
struct seen {
	uint64_t ns;
	struct spec s;
	unsigned int len;
	bool icrc_ok, csum_ok;
	bool outgoing;
};

static bool parse(const uint8_t *f, unsigned int len, struct seen *r)
{
	struct spec *s = &r->s;
	unsigned int ip = 14, udp;
	uint16_t proto;
	uint32_t crc;

	if (len < 14)
		return false;
	memcpy(s->dmac, f, 6);
	memcpy(s->smac, f + 6, 6);
	proto = get16(f + 12);
	while ((proto == ETH_P_8021Q || proto == ETH_P_8021AD) &&
	       len >= ip + 4 && s->vlans < 3) {
		s->vlan[s->vlans].proto = proto;
		s->vlan[s->vlans++].tci = get16(f + ip);
		proto = get16(f + ip + 2);
		ip += 4;
	}
	s->v6 = proto == ETH_P_IPV6;
	if (len < ip + 40 + 20 || (proto != ETH_P_IP && !s->v6))
		return false;
	if (s->v6) {
		if (f[ip + 6] != 17)
			return false;
		s->tos = f[ip] << 4 | f[ip + 1] >> 4;
		s->ttl = f[ip + 7];
		memcpy(s->src, f + ip + 8, 16);
		memcpy(s->dst, f + ip + 24, 16);
		udp = ip + 40;
	} else {
		if (f[ip + 9] != 17 || f[ip] != 0x45)
			return false;
		s->tos = f[ip + 1];
		s->id = get16(f + ip + 4);
		s->ttl = f[ip + 8];
		memcpy(s->src, f + ip + 12, 4);
		memcpy(s->dst, f + ip + 16, 4);
		udp = ip + 20;
	}
	s->sport = get16(f + udp);
	s->dport = get16(f + udp + 2);
	if (s->dport != ROCE_PORT)
		return false;
	s->opcode = f[udp + 8];
	s->pkey = get16(f + udp + 10);
	s->becn = f[udp + 12] & 0x40;
	s->qp = get32(f + udp + 12) & 0xffffff;
	s->psn = get32(f + udp + 16) & 0xffffff;
	if (s->opcode == OP_CNP && len >= udp + 20 + sizeof(s->rsvd) + 4)
		memcpy(s->rsvd, f + udp + 20, sizeof(s->rsvd));
	r->len = len;
	if (s->v6)
		r->csum_ok = !fold(sum16(f + udp, len - udp,
					 sum16(f + ip + 8, 32,
					       17 + get16(f + udp + 4))));
	else
		r->csum_ok = !fold(sum16(f + ip, 20, 0));
	crc = icrc(f + ip, len - 4 - ip, s->v6);
	r->icrc_ok = f[len - 4] == (crc & 0xff) &&
		     f[len - 3] == (crc >> 8 & 0xff) &&
		     f[len - 2] == (crc >> 16 & 0xff) &&
		     f[len - 1] == crc >> 24;
	return true;
}

/* Enter the namespace of [NETNS/]NAME.  Return: the name */
static const char *enter_ns(const char *arg)
{
	const char *slash = strchr(arg, '/');

	if (!slash)
		return arg;
	if (netns_enter(arg, slash - arg))
		die(arg);
	return slash + 1;
}

static int ifindex_of(const char *iface)
{
	int ifindex = if_nametoindex(iface);

	if (!ifindex)
		die(iface);
	return ifindex;
}

static int open_socket(const char *iface, int proto)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(proto),
		.sll_ifindex = ifindex_of(iface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(proto));
	int on = 1, size = 256 << 20;

	if (fd < 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&sll, sizeof(sll)))
		die("bind");
	if (proto && (setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on,
				 sizeof(on)) ||
		      setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on,
				 sizeof(on))))
		die("setsockopt");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return fd;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL))
		;
}

/* Receive up to @max RoCEv2 packets with tags and times; wait for the first one
 * until @end_ns.  @more: further packets may be waiting.
 * Return: the number of packets, -1 if none arrived in time
 */
static int receive(int fd, uint64_t end_ns, struct seen *out, int max,
		   uint8_t (*frames)[MAX_FRAME], bool *more)
{
	static char ctrl[BATCH][256];
	struct sockaddr_ll from[BATCH];
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];
	uint64_t now = now_ns();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec left;
	int i, n, kept = 0;

	if (now >= end_ns)
		return -1;
	left.tv_sec = (end_ns - now) / 1000000000;
	left.tv_nsec = (end_ns - now) % 1000000000;
	if (ppoll(&p, 1, &left, NULL) <= 0)
		return -1;
	if (max > BATCH)
		max = BATCH;
	memset(msg, 0, sizeof(msg));
	for (i = 0; i < max; i++) {
		/* leave room to restore a stripped VLAN tag */
		iov[i] = (struct iovec){ frames[i] + 4, MAX_FRAME - 4 };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
		msg[i].msg_hdr.msg_name = &from[i];
		msg[i].msg_hdr.msg_namelen = sizeof(from[i]);
		msg[i].msg_hdr.msg_control = ctrl[i];
		msg[i].msg_hdr.msg_controllen = sizeof(ctrl[i]);
	}
	n = recvmmsg(fd, msg, max, MSG_DONTWAIT, NULL);
	*more = n == max;
	for (i = 0; i < n; i++) {
		uint8_t *f = frames[i] + 4;
		unsigned int len = msg[i].msg_len;
		struct seen *r = &out[kept];
		struct cmsghdr *c;

		memset(r, 0, sizeof(*r));
		for (c = CMSG_FIRSTHDR(&msg[i].msg_hdr); c;
		     c = CMSG_NXTHDR(&msg[i].msg_hdr, c)) {
			if (c->cmsg_level == SOL_SOCKET &&
			    c->cmsg_type == SO_TIMESTAMPNS) {
				struct timespec ts;

				memcpy(&ts, CMSG_DATA(c), sizeof(ts));
				r->ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
			} else if (c->cmsg_level == SOL_PACKET &&
				   c->cmsg_type == PACKET_AUXDATA) {
				struct tpacket_auxdata aux;

				memcpy(&aux, CMSG_DATA(c), sizeof(aux));
				if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
					continue;
				memmove(f - 4, f, 12);
				f -= 4;
				len += 4;
				put16(f + 12, aux.tp_vlan_tpid);
				put16(f + 14, aux.tp_vlan_tci);
			}
		}
		r->outgoing = from[i].sll_pkttype == PACKET_OUTGOING;
		if (!r->outgoing && parse(f, len, r)) {
			if (f != frames[kept])
				memmove(frames[kept], f, len);
			kept++;
		}
	}
	return kept;
}

/* Let packets accumulate unless the end is near */
static void gather(uint64_t end_ns)
{
	uint64_t now = now_ns();

	if (now + 2 * GATHER_NS < end_ns)
		sleep_until(now + GATHER_NS);
}

static const char *op_name(uint8_t op)
{
	switch (op) {
	case OP_CNP:
		return "cnp";
	case OP_ACK:
		return "ack";
	case OP_UD_SEND_ONLY:
		return "cm";
	default:
		return "data";
	}
}

static void print_hex(const uint8_t *p, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		printf("%02x", p[i]);
}

/* Print the reserved bytes of a CNP unless they are zero, as in most CNPs */
static void print_rsvd(const struct spec *s)
{
	static const uint8_t zero[sizeof(s->rsvd)];

	if (!memcmp(s->rsvd, zero, sizeof(zero)))
		return;
	printf(" rsvd ");
	print_hex(s->rsvd, sizeof(s->rsvd));
}

static void print_seen(const struct seen *r, const uint8_t *frame, bool hex)
{
	static const char *const ecn[] = { "not-ect", "ect1", "ect0", "ce" };
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	const struct spec *s = &r->s;
	int i;

	inet_ntop(s->v6 ? AF_INET6 : AF_INET, s->src, src, sizeof(src));
	inet_ntop(s->v6 ? AF_INET6 : AF_INET, s->dst, dst, sizeof(dst));
	printf("%llu %s %s > %s qp 0x%06x psn %u %s dscp %u ttl %u sport %u pkey 0x%04x becn %d icrc %s csum %s len %u vlan ",
	       (unsigned long long)r->ns, op_name(s->opcode), src, dst, s->qp,
	       s->psn, ecn[s->tos & 3], s->tos >> 2, s->ttl, s->sport, s->pkey,
	       s->becn, r->icrc_ok ? "ok" : "bad", r->csum_ok ? "ok" : "bad",
	       r->len);
	for (i = 0; i < s->vlans; i++)
		printf("%s%s%u.p%u", i ? "," : "",
		       s->vlan[i].proto == ETH_P_8021AD ? "ad:" : "",
		       s->vlan[i].tci & 0xfff, s->vlan[i].tci >> 13);
	if (!s->vlans)
		printf("-");
	if (hex) {
		printf(" hex ");
		print_hex(frame, r->len);
	}
	print_rsvd(s);
	putchar('\n');
}

/* A packet of --list */
struct item {
	uint32_t flow, psn;
	bool ect;
};

struct options {
	struct spec s;
	const char *type;
	unsigned long count, flows, spray;
	struct item *list;
	double interval_us;
	unsigned int gso;
	bool hex, mono;
	const char *ready;
	double time_ms, cnp_us, delay_us;
	unsigned int ack;
};

/* Send o->count GSO packets of o->gso segments, each a RoCEv2 packet, with a
 * UDP socket: the kernel adds the headers.
 */
static int send_gso(struct options *o)
{
	struct sockaddr_storage from = {}, to = {};
	struct sockaddr_in6 *f6 = (void *)&from, *t6 = (void *)&to;
	struct sockaddr_in *f4 = (void *)&from, *t4 = (void *)&to;
	static uint8_t payload[65536], frame[MAX_FRAME];
	unsigned int i, l3, len, seg = 0, at = 0;
	struct spec s = o->s;
	int fd, tos = s.tos, sndbuf = 256 << 20, size;

	for (i = 0; i < o->gso; i++, s.psn++) {
		len = build(&s, frame, &l3);
		l3 += (s.v6 ? 40 : 20) + 8;
		seg = len - l3;
		if (at + seg > 65000)
			usage();
		memcpy(payload + at, frame + l3, seg);
		at += seg;
	}
	size = seg;
	if (s.v6) {
		f6->sin6_family = t6->sin6_family = AF_INET6;
		f6->sin6_port = htons(s.sport);
		t6->sin6_port = htons(s.dport);
		memcpy(&f6->sin6_addr, s.src, 16);
		memcpy(&t6->sin6_addr, s.dst, 16);
	} else {
		f4->sin_family = t4->sin_family = AF_INET;
		f4->sin_port = htons(s.sport);
		t4->sin_port = htons(s.dport);
		memcpy(&f4->sin_addr, s.src, 4);
		memcpy(&t4->sin_addr, s.dst, 4);
	}
	fd = socket(from.ss_family, SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	/* a standing queue holds all packets at the same time */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf,
		       sizeof(sndbuf)) ||
	    setsockopt(fd, s.v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       s.v6 ? IPV6_TCLASS : IP_TOS, &tos, sizeof(tos)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		die("setsockopt");
	if (bind(fd, (void *)&from, sizeof(from)))
		die("bind");
	for (i = 0; i < o->count; i++)
		if (sendto(fd, payload, at, 0, (void *)&to, sizeof(to)) < 0)
			die("send");
	return 0;
}

/* Parse a frame in hexadecimal digits.  Return: its length. */
static unsigned int parse_frame(const char *hex, uint8_t *frame)
{
	unsigned int len = 0;
	int used;

	for (; *hex; hex += used)
		if (len == MAX_FRAME ||
		    sscanf(hex, "%2hhx%n", &frame[len++], &used) != 1 || used != 2)
			usage();
	return len;
}

static int do_raw(const char *iface, char **args)
{
	static uint8_t frame[MAX_FRAME];
	int fd = open_socket(iface, 0);
	uint64_t at = now_ns();
	unsigned int len;

	for (; *args; args++) {
		if (**args == '+') {
			at += strtoul(*args + 1, NULL, 10) * 1000;
			sleep_until(at);
			continue;
		}
		len = parse_frame(*args, frame);
		if (send(fd, frame, len, 0) < 0)
			die("send");
	}
	return 0;
}

/* Set the fields of packet @i that differ between packets */
static void set_packet(const struct options *o, unsigned long i, struct spec *s)
{
	unsigned long flow = i % o->flows, round = i / o->flows;

	s->sport = o->s.sport + (o->list ? i : round) % o->spray;
	s->qp = o->s.qp + flow;
	s->psn = o->s.psn + flow * 4099 + round;
	if (o->list) {
		s->qp = o->s.qp + o->list[i].flow;
		s->psn = o->list[i].psn;
		s->tos = o->list[i].ect ? (o->s.tos & ~3) | 2 : o->s.tos;
	}
	s->qp &= 0xffffff;
	s->psn &= 0xffffff;
}

static int do_send(const char *iface, struct options *o)
{
	static uint8_t frames[BATCH][MAX_FRAME];
	struct mmsghdr msg[BATCH] = {};
	struct iovec iov[BATCH];
	struct spec s = o->s;
	unsigned long i, sent = 0;
	uint64_t start;
	unsigned int l3, n = 0, len;
	int fd;

	if (o->hex) {
		len = build(&s, frames[0], &l3);
		print_hex(frames[0], len);
		putchar('\n');
		return 0;
	}
	if (o->gso > 1)
		return send_gso(o);
	fd = open_socket(iface, 0);
	start = now_ns();
	for (i = 0; i < o->count; i++) {
		set_packet(o, i, &s);
		len = build(&s, frames[n], &l3);
		iov[n] = (struct iovec){ frames[n], len };
		msg[n].msg_hdr.msg_iov = &iov[n];
		msg[n].msg_hdr.msg_iovlen = 1;
		n++;
		if (n < BATCH && i + 1 < o->count && !o->interval_us)
			continue;
		if (o->interval_us)
			sleep_until(start + (uint64_t)(i * o->interval_us *
						       1000));
		for (unsigned int done = 0; done < n;) {
			int r = sendmmsg(fd, msg + done, n - done, 0);

			if (r < 0 && errno == ENOBUFS) {
				/* a qdisc dropped the packet, which is expected
				 */
				done++;
				continue;
			}
			if (r < 0)
				die("send");
			done += r;
			sent += r;
		}
		n = 0;
	}
	close(fd);
	return sent ? 0 : 1;
}

/* CLOCK_MONOTONIC minus CLOCK_REALTIME, the clock of the stack's timestamps */
static int64_t mono_offset_ns(void)
{
	struct timespec before, after;
	int64_t real_ns;

	clock_gettime(CLOCK_MONOTONIC, &before);
	real_ns = now_ns();
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (before.tv_sec + after.tv_sec) * 500000000ll +
	       (before.tv_nsec + after.tv_nsec) / 2 - real_ns;
}

/* Notify the caller that no packet is missed from now on */
static void say_ready(const struct options *o)
{
	int fd;

	if (!o->ready)
		return;
	fd = creat(o->ready, 0600);
	if (fd < 0 || write(fd, "\n", 1) != 1)
		die(o->ready);
	close(fd);
}

static int do_sniff(const char *iface, struct options *o)
{
	static uint8_t frames[BATCH][MAX_FRAME];
	static struct seen r[BATCH];
	uint64_t end_ns = now_ns() + (uint64_t)(o->time_ms * 1e6);
	int fd = open_socket(iface, ETH_P_ALL);
	int64_t offset_ns = o->mono ? mono_offset_ns() : 0;
	unsigned long left = o->count;
	bool more;
	int i, n;

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	say_ready(o);
	while (left && (n = receive(fd, end_ns, r, BATCH, frames, &more)) >= 0) {
		for (i = 0; i < n && left; i++) {
			if (o->type && strcmp(o->type, op_name(r[i].s.opcode)))
				continue;
			r[i].ns += offset_ns;
			print_seen(&r[i], frames[i], o->hex);
			left--;
		}
		if (left && !more)
			gather(end_ns);
	}
	fflush(stdout);
	return 0;
}

/* Answer a data packet */
static void np_answer(int fd, const struct options *o, const struct seen *r,
		      uint8_t op)
{
	uint8_t frame[MAX_FRAME];
	struct spec s = o->s;
	unsigned int l3, len;

	memcpy(s.smac, r->s.dmac, 6);
	memcpy(s.dmac, r->s.smac, 6);
	memcpy(s.vlan, r->s.vlan, sizeof(s.vlan));
	s.vlans = r->s.vlans;
	s.v6 = r->s.v6;
	memcpy(s.src, r->s.dst, 16);
	memcpy(s.dst, r->s.src, 16);
	s.opcode = op;
	s.pkey = r->s.pkey;
	s.qp = r->s.qp ^ QP_XOR;
	s.psn = op == OP_CNP ? 0 : r->s.psn;
	s.becn = op == OP_CNP;
	s.sport = op == OP_CNP ? 0 : r->s.sport;
	s.tos = op == OP_CNP ? o->s.tos : 2;
	for (int i = 0; i < s.vlans; i++)
		s.vlan[i].tci = (s.vlan[i].tci & 0xfff) |
				(op == OP_CNP ? 6 << 13 : 0);
	len = build(&s, frame, &l3);
	if (send(fd, frame, len, 0) < 0 && errno != ENOBUFS)
		die("send");
}

struct np_flow {
	uint64_t cnp_ns;
	unsigned int unacked;
};

static int do_np(const char *iface, struct options *o)
{
	static uint8_t frames[BATCH][MAX_FRAME];
	static struct np_flow flows[MAX_FLOWS];
	static struct seen r[BATCH];
	uint64_t end_ns = now_ns() + (uint64_t)(o->time_ms * 1e6);
	int fd = open_socket(iface, ETH_P_ALL);
	unsigned long data = 0, ce = 0, acks = 0, cnps = 0;
	bool more;
	int i, n;

	say_ready(o);
	while ((n = receive(fd, end_ns, r, BATCH, frames, &more)) >= 0)
		for (i = 0; i < n; i++) {
			struct np_flow *f = &flows[r[i].s.qp % MAX_FLOWS];
			bool is_ce = (r[i].s.tos & 3) == 3;

			if (strcmp(op_name(r[i].s.opcode), "data"))
				continue;
			data++;
			ce += is_ce;
			if (o->ack && ++f->unacked >= o->ack) {
				f->unacked = 0;
				np_answer(fd, o, &r[i], OP_ACK);
				acks++;
			}
			if (is_ce && o->cnp_us &&
			    (!f->cnp_ns || r[i].ns - f->cnp_ns >=
			     (uint64_t)(o->cnp_us * 1000))) {
				f->cnp_ns = r[i].ns;
				if (o->delay_us)
					sleep_until(r[i].ns + (uint64_t)
						    (o->delay_us * 1000));
				np_answer(fd, o, &r[i], OP_CNP);
				cnps++;
			}
		}
	printf("data %lu ce %lu acks %lu cnps %lu\n", data, ce, acks, cnps);
	return 0;
}

/* Receive CNPs as an application would */
static int do_listen(const char *address, struct options *o)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
				     .sin6_port = htons(ROCE_PORT) };
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons(ROCE_PORT) };
	bool v6 = strchr(address, ':');
	struct timeval tv = { (long)o->time_ms / 1000,
			      (long)o->time_ms % 1000 * 1000 };
	unsigned long left = o->count;
	uint8_t buf[2048];
	ssize_t len;
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		die("socket");
	inet_pton(AF_INET6, address, &sin6.sin6_addr);
	inet_pton(AF_INET, address, &sin.sin_addr);
	if (bind(fd, v6 ? (void *)&sin6 : (void *)&sin,
		 v6 ? sizeof(sin6) : sizeof(sin)))
		die("bind");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	while (left && (len = recv(fd, buf, sizeof(buf), 0)) >= 12) {
		printf("opcode 0x%02x qp 0x%06x len %zd\n", buf[0],
		       get32(buf + 4) & 0xffffff, len);
		left--;
	}
	return left != 0;
}

static void get_mac(uint8_t *mac, const char *arg)
{
	unsigned int b[6];
	int i;

	if (sscanf(arg, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4],
		   &b[5]) != 6)
		usage();
	for (i = 0; i < 6; i++)
		mac[i] = b[i];
}

static void get_ip(struct spec *s, uint8_t *ip, const char *arg)
{
	if (strchr(arg, ':')) {
		s->v6 = true;
		if (inet_pton(AF_INET6, arg, ip) != 1)
			usage();
	} else if (inet_pton(AF_INET, arg, ip) != 1) {
		usage();
	}
}

static void get_vlan(struct spec *s, const char *arg)
{
	struct vlan *v = &s->vlan[s->vlans];
	unsigned int vid, pcp = 0;

	if (s->vlans == 3)
		usage();
	v->proto = ETH_P_8021Q;
	if (!strncmp(arg, "ad:", 3)) {
		v->proto = ETH_P_8021AD;
		arg += 3;
	}
	if (sscanf(arg, "%u:%u", &vid, &pcp) < 1)
		usage();
	v->tci = vid | pcp << 13;
	s->vlans++;
}

static void get_rsvd(struct spec *s, const char *arg)
{
	char byte[3] = {};
	unsigned int i;

	if (strlen(arg) != 2 * sizeof(s->rsvd) ||
	    strspn(arg, "0123456789abcdefABCDEF") != strlen(arg))
		usage();
	for (i = 0; i < sizeof(s->rsvd); i++) {
		memcpy(byte, arg + 2 * i, 2);
		s->rsvd[i] = strtoul(byte, NULL, 16);
	}
}

static void get_list(struct options *o, const char *arg)
{
	struct item item;
	unsigned long n = 0, last;
	char *end;

	do {
		item = (struct item){ .psn = strtoul(arg, &end, 0) };
		if (*end == ':') {
			item.flow = item.psn;
			item.psn = strtoul(end + 1, &end, 0);
		}
		last = *end == '-' ? strtoul(end + 1, &end, 0) : item.psn;
		item.ect = *end == 'e';
		end += item.ect;
		if (last < item.psn || (*end && *end != ','))
			usage();
		o->list = realloc(o->list, (n + last - item.psn + 1) *
				  sizeof(item));
		if (!o->list)
			die("list");
		for (; item.psn <= last; item.psn++)
			o->list[n++] = item;
		arg = end + 1;
	} while (*end);
	o->count = n;
}

static void set_type(struct options *o, const char *type)
{
	struct spec *s = &o->s;

	o->type = type;
	if (!strcmp(type, "ack")) {
		s->opcode = OP_ACK;
	} else if (!strcmp(type, "cnp")) {
		s->opcode = OP_CNP;
		s->psn = 0;
		s->becn = true;
		s->tos = 0xc2;
		s->sport = 0;
	} else if (!strcmp(type, "req") || !strcmp(type, "rep") ||
		   !strcmp(type, "dreq")) {
		s->opcode = OP_UD_SEND_ONLY;
		s->qp = 1;
		s->tos = 0;
		s->cm = type;
	} else if (!strcmp(type, "udp")) {
		s->dport = 5001;
	}
}

int main(int argc, char **argv)
{
	enum { SRC = 1, DST, SMAC, DMAC, VLAN, TOS, TTL, SPORT, OP,
	       PKEY, QP, PSN, LEN, CML, CMR, CMQ, BAD, HEX, COUNT, INTERVAL,
	       FLOWS, GSO, LIST, TIME, CNP, DELAY, ACK, MONO, READY, TYPE,
	       RSVD, SPRAY };
	static const struct option opts[] = {
		{ "src", 1, 0, SRC }, { "dst", 1, 0, DST },
		{ "smac", 1, 0, SMAC }, { "dmac", 1, 0, DMAC },
		{ "vlan", 1, 0, VLAN }, { "tos", 1, 0, TOS },
		{ "ttl", 1, 0, TTL },
		{ "sport", 1, 0, SPORT },
		{ "opcode", 1, 0, OP }, { "pkey", 1, 0, PKEY },
		{ "qp", 1, 0, QP }, { "psn", 1, 0, PSN }, { "len", 1, 0, LEN },
		{ "cm-local", 1, 0, CML }, { "cm-remote", 1, 0, CMR },
		{ "cm-qp", 1, 0, CMQ }, { "bad", 1, 0, BAD },
		{ "hex", 0, 0, HEX }, { "count", 1, 0, COUNT },
		{ "interval", 1, 0, INTERVAL }, { "flows", 1, 0, FLOWS },
		{ "gso", 1, 0, GSO }, { "list", 1, 0, LIST },
		{ "time", 1, 0, TIME }, { "cnp", 1, 0, CNP },
		{ "delay", 1, 0, DELAY }, { "ack", 1, 0, ACK },
		{ "mono", 0, 0, MONO }, { "ready", 1, 0, READY },
		{ "type", 1, 0, TYPE }, { "rsvd", 1, 0, RSVD },
		{ "spray", 1, 0, SPRAY }, {}
	};
	struct options o = {
		.s = {
			.tos = 2, .ttl = 64, .dport = ROCE_PORT,
			.sport = 0xc123, .opcode = OP_WRITE_MIDDLE,
			.pkey = 0xffff, .qp = 0x11, .psn = 100,
			.payload = 1024,
		},
		.count = 1, .flows = 1, .spray = 1, .time_ms = 1000, .ack = 1,
	};
	struct spec *s = &o.s;
	const char *target;
	int c;

	if (argc < 3)
		usage();
	if (!strcmp(argv[1], "raw")) {
		prctl(PR_SET_TIMERSLACK, 1);
		return do_raw(enter_ns(argv[2]), argv + 3);
	}
	/* apply --type first: other options override its defaults */
	while ((c = getopt_long(argc - 2, argv + 2, "", opts, NULL)) != -1)
		if (c == TYPE)
			set_type(&o, optarg);
	optind = 1;
	if (!strcmp(argv[1], "sniff"))
		o.count = -1ul;
	if (!strcmp(argv[1], "np"))
		s->tos = 0xc2;
	while ((c = getopt_long(argc - 2, argv + 2, "", opts, NULL)) != -1) {
		unsigned long n = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (c) {
		case SRC: get_ip(s, s->src, optarg); break;
		case DST: get_ip(s, s->dst, optarg); break;
		case SMAC: get_mac(s->smac, optarg); break;
		case DMAC: get_mac(s->dmac, optarg); break;
		case VLAN: get_vlan(s, optarg); break;
		case TOS: s->tos = n; break;
		case TTL: s->ttl = n; break;
		case SPORT: s->sport = n; break;
		case OP: s->opcode = n; break;
		case PKEY: s->pkey = n; break;
		case QP: s->qp = n; break;
		case PSN: s->psn = n; break;
		case LEN: s->payload = n; break;
		case CML: s->cm_local = n; break;
		case CMR: s->cm_remote = n; break;
		case CMQ: s->cm_qp = n; break;
		case RSVD: get_rsvd(s, optarg); break;
		case BAD: s->bad = optarg; break;
		case HEX: o.hex = true; break;
		case COUNT: o.count = n; break;
		case INTERVAL: o.interval_us = atof(optarg); break;
		case FLOWS: o.flows = n ? n : 1; break;
		case SPRAY: o.spray = n ? n : 1; break;
		case GSO: o.gso = n; break;
		case LIST: get_list(&o, optarg); break;
		case TIME: o.time_ms = atof(optarg); break;
		case CNP: o.cnp_us = atof(optarg); break;
		case DELAY: o.delay_us = atof(optarg); break;
		case ACK: o.ack = n; break;
		case READY: o.ready = optarg; break;
		case MONO: o.mono = true; break;
		case TYPE: break;
		default: usage();
		}
	}
	/* let sleeps end on time */
	prctl(PR_SET_TIMERSLACK, 1);
	target = enter_ns(argv[2]);
	if (!strcmp(argv[1], "send"))
		return do_send(target, &o);
	if (!strcmp(argv[1], "sniff"))
		return do_sniff(target, &o);
	if (!strcmp(argv[1], "np"))
		return do_np(target, &o);
	if (!strcmp(argv[1], "listen"))
		return do_listen(target, &o);
	usage();
}
