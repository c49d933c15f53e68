/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Properties of a flow as text.  @buf has VALUE_SIZE bytes.
 */
#ifndef _IQCN_FLOWS_H
#define _IQCN_FLOWS_H

#include "rank.h"

void dev_text(char *buf, const struct ranked *r);
void parent_text(char *buf, const struct ranked *r);
void src_text(char *buf, const struct ranked *r);
void dst_text(char *buf, const struct ranked *r);
void vlan_text(char *buf, const struct ranked *r);
void dest_qp_text(char *buf, const struct ranked *r);
void src_qp_text(char *buf, const struct ranked *r);
void pair_text(char *buf, const struct ranked *r);
void state_text(char *buf, const struct ranked *r);
void age_text(char *buf, const struct ranked *r);
void cnp_sent_text(char *buf, const struct ranked *r);
void cnp_seen_text(char *buf, const struct ranked *r);
void queued_text(char *buf, const struct ranked *r);

#endif /* _IQCN_FLOWS_H */
