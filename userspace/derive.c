// SPDX-License-Identifier: GPL-2.0
/*
 * The defaults of some parameters follow the link or other parameters.  Find
 * out which of these parameters a user has to set.  The module's own code
 * computes the defaults.
 */
#include <stddef.h>

#include "../kmod/params.h"
#include "derive.h"

static const struct {
	int attr;
	size_t offset;		/* of a u32 in struct iqcn_params */
} derived[] = {
#define DERIVED(_attr, _field) \
	{ TCA_IQCN_##_attr, offsetof(struct iqcn_params, _field) }
	DERIVED(LIMIT_BYTES, limit_bytes),
	DERIVED(KMIN_BYTES, mark.kmin_bytes),
	DERIVED(KMAX_BYTES, mark.kmax_bytes),
	DERIVED(ALPHA, pi.alpha),
	DERIVED(BETA, pi.beta),
	DERIVED(PERIOD_NS, period_ns),
	DERIVED(MIN_GAP_NS, min_gap_ns),
	DERIVED(THRESHOLD_BYTES, pfc.threshold_bytes),
	DERIVED(SETTLE_NS, pfc.settle_ns),
	DERIVED(PFC_MAX_NS, pfc.max_ns),
};

static u32 *field(struct iqcn_params *p, size_t i)
{
	return (u32 *)((char *)p + derived[i].offset);
}

/* Does a qdisc get the values of @p if the user sets only @user_set? */
static bool reproduces(const struct iqcn_params *p, const struct link *link,
		       u64 user_set)
{
	struct iqcn_params got = *p, wanted = *p;
	size_t i;

	got.user_set = user_set;
	iqcn_params_resolve(&got, link->bps, link->packet_bytes, link->ethernet,
			    IQCN_TIME_MIN_NS);
	for (i = 0; i < ARRAY_SIZE(derived); i++)
		if (*field(&got, i) != *field(&wanted, i))
			return false;
	return true;
}

/* Does the parameter follow the link's rate?  The others follow t1 or base-rtt.
 */
static bool follows_link(int attr)
{
	return attr != TCA_IQCN_PERIOD_NS && attr != TCA_IQCN_MIN_GAP_NS &&
	       attr != TCA_IQCN_SETTLE_NS;
}

uint64_t derive_needed(const uint64_t *v, const struct link *link)
{
	struct iqcn_params p = {
		.notify = v[TCA_IQCN_NOTIFY],
		.t1_ns = v[TCA_IQCN_T1_NS],
		.bandwidth_bps = v[TCA_IQCN_BANDWIDTH_BPS],
		.base_rtt_ns = v[TCA_IQCN_BASE_RTT_NS],
		.qref_bytes = v[TCA_IQCN_QREF_BYTES],
	};
	u64 needed = 0, less;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(derived); i++) {
		needed |= BIT_ULL(derived[i].attr);
		*field(&p, i) = v[derived[i].attr];
	}
	for (i = 0; i < ARRAY_SIZE(derived); i++) {
		if (!link->known && !p.bandwidth_bps &&
		    follows_link(derived[i].attr))
			continue;
		less = needed & ~BIT_ULL(derived[i].attr);
		if (reproduces(&p, link, less))
			needed = less;
	}
	return needed;
}

uint32_t derive_cnp_rate(uint64_t bps)
{
	return iqcn_default_cnp_rate(bps);
}

uint64_t derive_default_bps(void)
{
	return (u64)IQCN_DEFAULT_MBPS * 1000000;
}
