/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the unit tests of iqcn share.
 */
#ifndef _IQCN_TEST_H
#define _IQCN_TEST_H

#include <stdbool.h>

#define check(cond) check_at(__LINE__, cond, #cond)

void check_at(int line, bool ok, const char *what);
void check_text(int line, const char *got, const char *wanted);

/* agent_test.c */
void test_agent_log2(void);
void test_agent_depth(void);
void test_agent_reward(void);
void test_agent_in_bytes(void);
void test_agent_restarted(void);
void test_agent_state(void);
void test_agent_lease(void);
void test_agent_trust(void);
void test_agent_guard(void);
void test_agent_random(void);
void test_agent_totals(void);
void test_policy(void);
void test_policy_refused(void);
void test_policy_truncated(void);
void test_policy_noise(void);

#endif /* _IQCN_TEST_H */
