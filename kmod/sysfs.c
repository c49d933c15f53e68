// SPDX-License-Identifier: GPL-2.0
/*
 * Values of a port in sysfs, one per file: /sys/class/net/DEV/iqcn/NAME.
 */
#include <linux/iqcn_netlink.h>
#include <linux/sysfs.h>

#include "iqcn.h"

/* One file per value.  iqcn_sysfs_del() waits for readers of the files before
 * the port is freed.
 */
struct iqcn_attribute {
	struct device_attribute attr;
	const struct iqcn_value *value;
};

static struct iqcn_attribute iqcn_value_attrs[IQCN_A_PORT_MAX + 1];
static struct attribute *iqcn_attrs[IQCN_A_PORT_MAX + 2];

static ssize_t iqcn_value_show(struct device *d, struct device_attribute *attr,
			       char *buf)
{
	const struct iqcn_attribute *a = container_of(attr,
						      struct iqcn_attribute,
						      attr);
	struct iqcn_port *port;
	ssize_t len = -ENODEV;

	rcu_read_lock();
	port = iqcn_port_find(to_net_dev(d));
	if (port)
		len = sysfs_emit(buf, "%llu\n", a->value->get(port));
	rcu_read_unlock();
	return len;
}

/**
 * iqcn_sysfs_module_init() - build the list of files
 *
 * Context: process.
 */
void iqcn_sysfs_module_init(void)
{
	struct iqcn_attribute *a;
	int i, n = 0;

	for (i = 0; i <= IQCN_A_PORT_MAX; i++) {
		if (!iqcn_values[i].name)
			continue;
		a = &iqcn_value_attrs[n];
		a->value = &iqcn_values[i];
		sysfs_attr_init(&a->attr.attr);
		a->attr.attr.name = a->value->name;
		a->attr.attr.mode = 0444;
		a->attr.show = iqcn_value_show;
		iqcn_attrs[n++] = &a->attr.attr;
	}
}

static const struct attribute_group iqcn_attr_group = {
	.name = "iqcn",
	.attrs = iqcn_attrs,
};

/**
 * iqcn_sysfs_add() - create the files of a port
 * @port: port, not yet in its namespace's list
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0 or a negative error.
 */
int iqcn_sysfs_add(struct iqcn_port *port, struct netlink_ext_ack *extack)
{
	int err;

	err = sysfs_create_group(&port->dev->dev.kobj, &iqcn_attr_group);
	if (err)
		NL_SET_ERR_MSG(extack, "Cannot create iqcn/ in the device's sysfs directory");
	return err;
}

/**
 * iqcn_sysfs_del() - remove the files of a port
 * @port: port, not in its namespace's list
 *
 * Context: RTNL; waits for readers.
 */
void iqcn_sysfs_del(struct iqcn_port *port)
{
	sysfs_remove_group(&port->dev->dev.kobj, &iqcn_attr_group);
}
