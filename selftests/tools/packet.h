/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields, checksums and ICRC of RoCEv2 packets, independent of the module's
 * code.
 */
#ifndef PACKET_H
#define PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define ROCE_PORT	4791
#define MAX_FRAME	16384

static inline void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static inline void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static inline uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline uint32_t sum16(const uint8_t *p, unsigned int len, uint32_t sum)
{
	unsigned int i;

	for (i = 0; i + 1 < len; i += 2)
		sum += get16(p + i);
	if (len & 1)
		sum += p[len - 1] << 8;
	return sum;
}

static inline uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* CRC over a datagram from IP on, without the 4 bytes of its ICRC */
static inline uint32_t icrc(const uint8_t *ip, unsigned int len, bool v6)
{
	static const uint8_t lrh[8] = { 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff };
	uint8_t copy[MAX_FRAME];
	unsigned int l4 = v6 ? 40 : 20;
	uint32_t crc;

	memcpy(copy, ip, len);
	if (v6) {
		copy[0] |= 0x0f;
		copy[1] = copy[2] = copy[3] = copy[7] = 0xff;
	} else {
		copy[1] = copy[8] = copy[10] = copy[11] = 0xff;
	}
	copy[l4 + 6] = copy[l4 + 7] = 0xff;
	copy[l4 + 8 + 4] = 0xff;
	crc = crc32(0, lrh, sizeof(lrh));
	return crc32(crc, copy, len);
}

#endif /* PACKET_H */
