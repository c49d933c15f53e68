// SPDX-License-Identifier: GPL-2.0
/*
 * badstab: LD_PRELOAD for tc that replaces a qdisc's size table ("stab") with
 * one that the kernel refuses.
 *
 * tc itself never sends an invalid table.  Before 6.3, the kernel checks the
 * table after it has initialized the qdisc, so this tests the error path after
 * init.  Later kernels check the table first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Above STAB_SIZE_LOG_MAX */
#define BAD_LOG		31

static void spoil(struct rtattr *stab)
{
	struct rtattr *base = RTA_DATA(stab);

	if (RTA_OK(base, (int)RTA_PAYLOAD(stab)) &&
	    (base->rta_type & NLA_TYPE_MASK) == TCA_STAB_BASE)
		((struct tc_sizespec *)RTA_DATA(base))->cell_log = BAD_LOG;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*next)(int fd, const struct msghdr *msg, int flags) =
		dlsym(RTLD_NEXT, "sendmsg");
	struct nlmsghdr *nlh = msg->msg_iov[0].iov_base;
	struct rtattr *attr;
	int len;

	if (msg->msg_iov[0].iov_len >= NLMSG_LENGTH(sizeof(struct tcmsg)) &&
	    nlh->nlmsg_type == RTM_NEWQDISC) {
		len = TCA_PAYLOAD(nlh);
		for (attr = TCA_RTA(NLMSG_DATA(nlh)); RTA_OK(attr, len);
		     attr = RTA_NEXT(attr, len))
			if ((attr->rta_type & NLA_TYPE_MASK) == TCA_STAB)
				spoil(attr);
	}
	return next(fd, msg, flags);
}
