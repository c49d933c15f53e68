/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN's notification point: when does a CE packet cause a CNP?
 *
 * Two intervals limit CNPs: that of the QP (Zhu et al., SIGCOMM 2015, section
 * 3.2), and that of the whole host, because NICs cannot send enough CNPs when
 * many QPs are congested (US 12395431 B2, background).
 *
 * Pure: the caller supplies the time.
 */
#ifndef _ROCEHOST_NP_H
#define _ROCEHOST_NP_H

#include <linux/types.h>

/**
 * struct np_params - parameters of a host's notification points
 * @cnp_ns: minimum time between two CNPs of a QP
 * @limit_ns: minimum time between two CNPs of the host
 */
struct np_params {
	u64 cnp_ns;
	u64 limit_ns;
};

/**
 * struct np_clock - when the last CNP was sent
 * @last_ns: when the last CNP was sent
 * @any: a CNP has been sent
 */
struct np_clock {
	u64 last_ns;
	bool any;
};

/**
 * enum np_verdict - reaction to a CE packet
 * @NP_CNP: send a CNP
 * @NP_TOO_SOON: none, because of the QP's last CNP
 * @NP_LIMITED: none, because of the host's last CNP
 */
enum np_verdict {
	NP_CNP,
	NP_TOO_SOON,
	NP_LIMITED,
};

static inline bool np_too_soon(const struct np_clock *c, u64 interval_ns,
			       u64 now_ns)
{
	return c->any && now_ns - c->last_ns < interval_ns;
}

/**
 * np_ce() - decide whether a CE packet causes a CNP
 * @qp: last CNP of the QP
 * @host: last CNP of the host
 * @p: parameters
 * @now_ns: now
 *
 * Return: the decision; NP_CNP updates both clocks.
 */
static inline enum np_verdict np_ce(struct np_clock *qp, struct np_clock *host,
				    const struct np_params *p, u64 now_ns)
{
	if (np_too_soon(qp, p->cnp_ns, now_ns))
		return NP_TOO_SOON;
	if (np_too_soon(host, p->limit_ns, now_ns))
		return NP_LIMITED;
	*qp = *host = (struct np_clock){ .last_ns = now_ns, .any = true };
	return NP_CNP;
}

#endif /* _ROCEHOST_NP_H */
