# SPDX-License-Identifier: GPL-2.0
#
# make help says what there is.  Everything that is built goes to build/, but
# kernels, which go to a cache (selftests/lab/lab.sh).

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr
DESTDIR ?=
TRIPLET := $(shell $(CC) -print-multiarch)
TC_DIR ?= $(PREFIX)/lib/$(TRIPLET)/tc

B := build
LAB := selftests/lab/lab.sh
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
UAPI := kmod/include/uapi/linux/iqcn.h
NL = $(shell pkg-config --cflags --libs libnl-3.0)

help:
	@echo 'sch_iqcn: an intelligent congestion point for DCQCN'
	@echo
	@echo 'on this machine:'
	@echo '  modules      build/sch_iqcn.ko for KDIR (default: the running kernel)'
	@echo '  tc-plugin    build/q_iqcn.so, tc'"'"'s words for the qdisc'
	@echo '  userspace    build/iqcn, which shows what the qdiscs do'
	@echo '  install      the three and their man pages (DESTDIR, PREFIX, KDIR)'
	@echo '  rocehost     build/rocehost.ko, RoCEv2 hosts in the kernel, for tests'
	@echo 'in the lab, as anybody, on any kernel:'
	@echo '  lab          the kernels that the others boot'
	@echo '  demo         watch the box send the CNPs that a receiver fails to send'
	@echo '  scenario     S=NAME: one of selftests/scenarios/, its variants side by side'
	@echo '               S=methods: every method of the box and what it costs (6 min)'
	@echo '  scenarios    all of them but methods: tables, plots, JSON in build/results'
	@echo '  check        every test'
	@echo 'and:'
	@echo '  clean        remove build/'

all: modules tc-plugin userspace

# A copy of kmod/ per kernel: nothing is built among the sources
define kmod-copy
	@mkdir -p $(1)
	@cp -au kmod/. $(1)/
endef

# kbuild knows what is up to date, unless it is for another kernel
modules:
	@[ "$(KDIR)" = "$$(cat $(B)/kmod/key 2>&1)" ] || \
		{ rm -rf $(B)/kmod && mkdir -p $(B)/kmod && echo "$(KDIR)" >$(B)/kmod/key; }
	$(call kmod-copy,$(B)/kmod)
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod modules
	cp $(B)/kmod/sch_iqcn.ko $(B)/

# beside the module's sources, some of which it uses
rocehost: modules
	@cp -au selftests/rocehost $(B)/kmod/
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod/rocehost modules
	cp $(B)/kmod/rocehost/rocehost.ko $(B)/

tc-plugin: $(B)/q_iqcn.so
$(B)/q_iqcn.so: tc-plugin/q_iqcn.c tc-plugin/tc_abi.h $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -shared -fPIC -Ikmod/include/uapi -o $@ $<

userspace: $(B)/iqcn
$(B)/iqcn: userspace/iqcn.c $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -Ikmod/include/uapi -o $@ $< $(NL)

install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod modules_install \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))
	install -D -m 644 $(B)/q_iqcn.so $(DESTDIR)$(TC_DIR)/q_iqcn.so
	install -D -m 755 $(B)/iqcn $(DESTDIR)$(PREFIX)/sbin/iqcn
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 \
		Documentation/man/tc-iqcn.8 Documentation/man/iqcn.8

# What runs in the lab.  roce is static: processes start faster there.
tools: $(B)/roce $(B)/psample
$(B)/roce: selftests/tools/roce.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -static -o $@ $< -lz
$(B)/psample: selftests/tools/psample.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -o $@ $< $(shell pkg-config --cflags --libs libnl-genl-3.0)

# lab-KERNEL: the module and its KUnit tests for a kernel of the lab, and for
# those that keep virtual time the hosts that make traffic in it
lab-%: tc-plugin userspace tools
	$(LAB) build $*
	@key=$$($(LAB) key $*) && [ "$$key" = "$$(cat $(B)/$*/key 2>&1)" ] || \
		{ rm -rf $(B)/$* && mkdir -p $(B)/$* && echo "$$key" >$(B)/$*/key; }
	$(call kmod-copy,$(B)/$*)
	$(LAB) make $* -s M=$(CURDIR)/$(B)/$* W=1 \
		$(if $(filter uml%,$*),CONFIG_NET_SCH_IQCN_KUNIT_TEST=m) modules
	$(if $(filter uml%,$*),@cp -au selftests/rocehost $(B)/$*/)
	$(if $(filter uml%,$*),$(LAB) make $* -s M=$(CURDIR)/$(B)/$*/rocehost W=1 \
		CONFIG_NET_SCH_IQCN_KUNIT_TEST=m modules)

lab:
	$(LAB) packages lab
	$(MAKE) lab-uml lab-stock

demo:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/demo/demo.sh

# make scenario S=NAME [V=VARIANT,VARIANT]
# S=methods is all of methods-*, which take longer than the others together
scenario:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/scenarios/$(if $(filter methods,$(S)),methods.sh,run.sh $(if $(V),-v $(V)) $(S))

scenarios: S = $(filter-out methods-%,$(basename $(notdir $(wildcard selftests/scenarios/*.scenario))))
scenarios: scenario

check:
	$(LAB) packages check
	@selftests/check.sh

clean:
	rm -rf $(B)

.PHONY: help all modules rocehost tc-plugin userspace install tools lab demo scenario scenarios check clean
.DELETE_ON_ERROR:
