/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_IF_VLAN_H
#define SHIM_LINUX_IF_VLAN_H

#include <linux/if_ether.h>
#include <linux/types.h>

#define VLAN_HLEN	4

struct vlan_hdr {
	__be16 h_vlan_TCI;
	__be16 h_vlan_encapsulated_proto;
};

static inline bool eth_type_vlan(__be16 proto)
{
	return proto == htons(ETH_P_8021Q) || proto == htons(ETH_P_8021AD);
}

#endif /* SHIM_LINUX_IF_VLAN_H */
