/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which parameters follow the link or other parameters.
 */
#ifndef _IQCN_DERIVE_H
#define _IQCN_DERIVE_H

#include <stdbool.h>
#include <stdint.h>

/* What the defaults of a queue depend on */
struct link {
	bool known;
	uint64_t bps;		/* of the link or a shaper, if it is known */
	uint32_t packet_bytes;	/* the largest packet */
	bool ethernet;
};

/* Defaults follow these values, by TCA_IQCN_*.  Returns bits, 1 << TCA_IQCN_*: those
 * of the parameters with TCA_IQCN_* as @follows that have to be set so that all of
 * them get their values in @v on @link, except for cnp-rate.
 */
uint64_t derive_needed(const uint64_t *v, const struct link *link);
/* The default of cnp-rate of a port that sends at @bps */
uint32_t derive_cnp_rate(uint64_t bps);
/* Speed of a link that does not report one */
uint64_t derive_default_bps(void);

#endif /* _IQCN_DERIVE_H */
