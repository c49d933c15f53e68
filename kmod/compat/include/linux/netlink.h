/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NL_SET_ERR_MSG_ATTR_FMT() for kernels before 6.3.  Since then struct
 * netlink_ext_ack has room for a formatted text.  Before, it has only a
 * pointer, which is read after the function that set it has returned and its
 * lock has been released.
 *
 * So the texts are stored in a ring.  If the ring wraps before a text is read,
 * the reader gets another text, and nothing worse: each text ends at the end of
 * its slot, so a length that was taken earlier remains valid.
 */
#ifndef _IQCN_COMPAT_LINUX_NETLINK_H
#define _IQCN_COMPAT_LINUX_NETLINK_H

#include_next <linux/netlink.h>

#ifndef NL_SET_ERR_MSG_ATTR_FMT
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/string.h>

#define IQCN_ERR_TEXTS		64
#define IQCN_ERR_TEXT_LEN	80

static inline const char *iqcn_err_text(const char *text)
{
	static char texts[IQCN_ERR_TEXTS][IQCN_ERR_TEXT_LEN];
	static atomic_t next;
	char *slot = texts[(u32)atomic_inc_return(&next) % IQCN_ERR_TEXTS];
	size_t len = strnlen(text, IQCN_ERR_TEXT_LEN - 1);

	/* the last byte of a slot is always 0 */
	memset(slot, ' ', IQCN_ERR_TEXT_LEN - 1 - len);
	slot += IQCN_ERR_TEXT_LEN - 1 - len;
	return memcpy(slot, text, len);
}

#define NL_SET_ERR_MSG_ATTR_FMT(extack, attr, fmt, args...)		\
do {									\
	struct netlink_ext_ack *__extack = (extack);			\
	char __text[IQCN_ERR_TEXT_LEN];					\
									\
	snprintf(__text, sizeof(__text), fmt, ##args);			\
	do_trace_netlink_extack(__text);				\
	if (__extack) {							\
		__extack->_msg = iqcn_err_text(__text);			\
		__extack->bad_attr = (attr);				\
		__extack->policy = NULL;				\
	}								\
} while (0)
#endif

#endif /* _IQCN_COMPAT_LINUX_NETLINK_H */
