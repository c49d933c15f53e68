/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Errors with values in them: NL_SET_ERR_MSG_ATTR_FMT() came in 6.3, together
 * with room for the text in struct netlink_ext_ack.  Before, an error is a
 * pointer, which is read after the function that set it, and its lock, are gone.
 *
 * So the texts stay in a ring.  Should it come round before one is read, that
 * one reads as another, and nothing worse: a text ends where its slot ends, so
 * its length never changes.
 */
#ifndef _IQCN_COMPAT_LINUX_NETLINK_H
#define _IQCN_COMPAT_LINUX_NETLINK_H

#include_next <linux/netlink.h>

#ifndef NL_SET_ERR_MSG_ATTR_FMT
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/string.h>

#define IQCN_ERR_TEXTS		64
#define IQCN_ERR_TEXT_LEN	96

static inline const char *iqcn_err_text(const char *text)
{
	static char texts[IQCN_ERR_TEXTS][IQCN_ERR_TEXT_LEN];
	static atomic_t next;
	char *slot = texts[(u32)atomic_inc_return(&next) % IQCN_ERR_TEXTS];
	size_t len = strnlen(text, IQCN_ERR_TEXT_LEN - 1);

	/* the last byte is 0 and stays so */
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
