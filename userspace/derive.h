/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The defaults of some parameters follow the link or other parameters.  Find
 * out which of these parameters a user has to set.
 */
#ifndef _IQCN_DERIVE_H
#define _IQCN_DERIVE_H

#include <stdbool.h>
#include <stdint.h>

/* The properties of a link on which defaults depend */
struct link {
	bool known;
	uint64_t bps;		/* of the link or a shaper; valid if known */
	uint32_t packet_bytes;	/* the largest packet */
	bool ethernet;
};

/* Returns which derived parameters, except cnp-rate, a user has to set on @link
 * so that all derived parameters get the values in @v: bits 1 << TCA_IQCN_*.
 * @v is indexed by TCA_IQCN_*.
 */
uint64_t derive_needed(const uint64_t *v, const struct link *link);
/* The default cnp-rate of a port that sends at @bps */
uint32_t derive_cnp_rate(uint64_t bps);
/* The speed that is assumed for a link that does not report one */
uint64_t derive_default_bps(void);

#endif /* _IQCN_DERIVE_H */
