# SPDX-License-Identifier: GPL-2.0
#
# make help lists the targets.  Everything is built in build/, except for
# kernels, which are in a cache (selftests/lab/lab.sh).

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr
DESTDIR ?=
# Libraries are in a directory per architecture on Debian and in lib64 on
# Fedora; on Arch lib64 is a link to lib
TRIPLET := $(shell $(CC) -print-multiarch 2>/dev/null)
LIBDIR ?= $(PREFIX)/$(or $(TRIPLET:%=lib/%),$(shell \
	[ -d /usr/lib64 ] && [ ! -L /usr/lib64 ] && echo lib64),lib)
SBINDIR ?= $(PREFIX)/sbin
TC_DIR ?= $(LIBDIR)/tc
UNIT_DIR ?= $(PREFIX)/lib/systemd/system
DATA_DIR ?= $(PREFIX)/share/iqcn
COMPLETION_DIR ?= $(PREFIX)/share/bash-completion/completions
WIRESHARK_DIR ?= $(LIBDIR)/wireshark/plugins
OS_RELEASE ?= /etc/os-release

B := build
LAB := selftests/lab/lab.sh
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
CFLAGS += $(CPPFLAGS) $(LDFLAGS)
UAPI := $(wildcard kmod/include/uapi/linux/*.h)
PARAMS := kmod/config_table.h kmod/config_defaults.h
# the tool computes defaults with the module's code
DERIVE := kmod/params.h $(wildcard kmod/algo/*.h)
TOOL_INCLUDES := -Ikmod/include/uapi -idirafter userspace/kernel -idirafter kmod
# without fused multiply-add, a policy has the same values on every machine
EXACT := -ffp-contract=off
# plugin and tool have the version of the module
VERSION := $(shell sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' kmod/qdisc.c)
TOOL_PKGS := libnl-3.0 libnl-genl-3.0 json-c ncurses
NL_GENL = $(shell pkg-config --cflags --libs libnl-genl-3.0)
# the release that kbuild installs for; Debian's kernelrelease target prints
# another
RELEASE = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h),$(error no kernel headers in $(KDIR)))

help:
	@echo 'sch_iqcn: an intelligent congestion point for DCQCN'
	@echo
	@echo 'on this machine:'
	@echo '  modules      build/sch_iqcn.ko for KDIR (default: the running kernel)'
	@echo '  tc-plugin    build/q_iqcn.so, tc'"'"'s words for the qdisc'
	@echo '  userspace    build/iqcn, which shows the state of the qdiscs'
	@echo '  install      install-module (KDIR) and install-tools: everything else, such'
	@echo '               as man pages (DESTDIR, PREFIX; TC_DIR, UNIT_DIR, ..., see Makefile)'
	@echo '  dist         build/sch_iqcn-VERSION.tar.gz, sources for packages'
	@echo '  uninstall    stop the units and remove the files of install; needs the same'
	@echo '               variables'
	@echo '  rocehost     build/rocehost.ko, RoCEv2 hosts in the kernel, for tests'
	@echo 'in the lab, as any user, on any kernel:'
	@echo '  lab          the kernels that the others boot'
	@echo '  demo         watch the box send the CNPs that a receiver fails to send'
	@echo '  scenario     S=NAME: one of selftests/scenarios/, its variants side by side'
	@echo '               S=methods: every method of the box and what it costs (6 min)'
	@echo '               S=flows: queue depth by number of flows (4 min)'
	@echo '               S=seeds: how much the figures of some vary with the seed (6 min)'
	@echo '               S=marking: those that mark, on enqueue and on dequeue (40 min)'
	@echo '  scenarios    all of them but methods: tables, plots, JSON in build/results'
	@echo '  figures      update the marked blocks of README and Documentation from these'
	@echo '  top          S=NAME V=VARIANT: iqcn top, in this terminal, during one of them;'
	@echo '               N=SWITCH: on one of several'
	@echo '  train        train a policy for iqcn agent, in build/agent (an hour); STEPS=1800,'
	@echo '               SEED=1, REWARD=few|literal'
	@echo '  bench        cost of packets, compared with other qdiscs (15 min); HERE=1: on this'
	@echo '               machine, as root, after make modules rocehost tc-plugin userspace'
	@echo '  test         static checks, KUnit, host tests, smoke: after each edit (3 min)'
	@echo '  check        the tests of CI (15 min, and the kernels once)'
	@echo '  check-kernels'
	@echo '               the module on Debian'"'"'s kernels 6.1, 6.12 and 7.2 (nightly)'
	@echo '  check-debug  the tests on four debug kernels: KASAN and lockdep, preemption, two'
	@echo '               CPUs, data races (nightly; MINUTES=10 of stress)'
	@echo '  nightly      check-kernels, check-debug, stress, soak, fuzz, mutants, scenarios,'
	@echo '               bench, coverage, and what check leaves out: MINUTES=30 for each'
	@echo '               part without a limit (hours); CONTINUE=1: without those that'
	@echo '               passed on this commit'
	@echo '  soak         HOURS=24 of virtual time with flows that come and go (7 min)'
	@echo '  fuzz         SECONDS=N: the parser of packets, with libFuzzer (on this machine)'
	@echo '  coverage     lines of the module that the tests run'
	@echo '  mutants      small faults in the module, one at a time: does a test fail?'
	@echo '               ONLY=PATTERN: those with such names (nightly; 26 min)'
	@echo '  stress       MINUTES=10 of everything that may break a qdisc, while hosts send;'
	@echo '               K=stock, K=uml-smp, ...: on that kernel'
	@echo '  reliability  results of the last runs of these, as a table, also in Documentation'
	@echo 'and:'
	@echo '  clean        remove build/'
	@echo 'to read, in Documentation/: tutorial.rst, networking/iqcn.rst, man/'

all: modules tc-plugin userspace

# Sources are copied for each kernel: nothing is built among them.  Headers that
# no longer exist are removed from the copy.
define copy-sources
	@mkdir -p $(2)
	@cp -au $(1)/. $(2)/
	@cd $(2) && find . -path ./rocehost -prune -o -name '*.h' -print | \
		while read -r f; do \
			[ -e "$(CURDIR)/$(1)/$$f" ] || rm "$$f"; \
		done
endef

# Name the distribution's package of headers.  Its name has the release of the
# kernel on Debian and Fedora, and the kernel's flavor on Arch and openSUSE.
define no-headers
	kernel=$$(uname -r); \
	echo "There are no kernel headers in $(KDIR)." >&2; \
	if [ "$(KDIR)" != "/lib/modules/$$kernel/build" ]; then \
		echo "Give KDIR=DIRECTORY, in which the headers of a kernel are." >&2; \
		exit 1; \
	fi; \
	ID="" ID_LIKE=""; \
	[ ! -r "$(OS_RELEASE)" ] || . "$(OS_RELEASE)"; \
	base=$$(cat "/lib/modules/$$kernel/pkgbase" 2>/dev/null); \
	case " $$ID $$ID_LIKE " in \
	*" debian "*) how="apt-get install linux-headers-$$kernel" ;; \
	*" fedora "* | *" rhel "*) how="dnf install kernel-devel-$$kernel" ;; \
	*" arch "*) how="pacman -S $${base:-linux}-headers" ;; \
	*" suse "* | *" opensuse "*) \
		how="zypper install kernel-$${kernel##*-}-devel" ;; \
	*) how="" ;; \
	esac; \
	if [ "$$how" ]; then \
		echo "To install them, run as root: $$how" >&2; \
	else \
		echo "Install the package with the headers of Linux $$kernel." >&2; \
	fi; \
	exit 1
endef

# kbuild rebuilds as needed, except after a change of the kernel
modules:
	@[ -e "$(KDIR)/Makefile" ] || { $(no-headers); }
	@[ "$(KDIR)" = "$$(cat $(B)/kmod/key 2>&1)" ] || \
		{ rm -rf $(B)/kmod && mkdir -p $(B)/kmod && echo "$(KDIR)" >$(B)/kmod/key; }
	$(call copy-sources,kmod,$(B)/kmod)
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod modules
	cp $(B)/kmod/sch_iqcn.ko $(B)/

# rocehost is built below the module's sources, because it uses some of them
rocehost: modules
	@cp -au selftests/rocehost $(B)/kmod/
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod/rocehost modules
	cp $(B)/kmod/rocehost/rocehost.ko $(B)/

tc-plugin: $(B)/q_iqcn.so
$(B)/q_iqcn.so $(B)/unchecked/q_iqcn.so $(B)/trapping/q_iqcn.so: tc-plugin/q_iqcn.c \
		tc-plugin/tc_abi.h $(PARAMS) $(UAPI) kmod/qdisc.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -fPIC -Ikmod/include/uapi \
		-DIQCN_VERSION='"$(VERSION)"' $(PLUGIN_FLAGS) -o $@ $<

userspace: $(B)/iqcn
$(B)/iqcn: $(wildcard userspace/*.[ch]) $(PARAMS) $(DERIVE) $(UAPI) kmod/qdisc.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) $(EXACT) $(TOOL_INCLUDES) -DIQCN_VERSION='"$(VERSION)"' \
		-DTC_DIR='"$(TC_DIR)"' -o $@ $(wildcard userspace/*.c) \
		$(shell pkg-config --cflags --libs $(TOOL_PKGS))

# FILE:PLACE of the files that install-tools installs, and uninstall-tools
# removes
PROGRAMS = $(B)/iqcn:$(SBINDIR)/iqcn \
	contrib/systemd/iqcn-qdisc:$(PREFIX)/libexec/iqcn-qdisc \
	contrib/senders/iqcn-senders:$(DATA_DIR)/iqcn-senders
FILES = $(B)/q_iqcn.so:$(TC_DIR)/q_iqcn.so \
	userspace/iqcn.bash:$(COMPLETION_DIR)/iqcn \
	contrib/wireshark/iqcn.lua:$(WIRESHARK_DIR)/iqcn.lua \
	contrib/grafana/iqcn.json:$(DATA_DIR)/grafana.json \
	contrib/prometheus/iqcn.rules.yml:$(DATA_DIR)/iqcn.rules.yml \
	contrib/agent/long-haul.policy:$(DATA_DIR)/long-haul.policy \
	Documentation/man/iqcn.8:$(PREFIX)/share/man/man8/iqcn.8 \
	Documentation/man/tc-iqcn.8:$(PREFIX)/share/man/man8/tc-iqcn.8
UNITS = contrib/systemd/iqcn@.service:$(UNIT_DIR)/iqcn@.service \
	contrib/systemd/iqcn-agent@.service:$(UNIT_DIR)/iqcn-agent@.service \
	contrib/systemd/iqcn-metrics.service:$(UNIT_DIR)/iqcn-metrics.service \
	contrib/systemd/iqcn-metrics.timer:$(UNIT_DIR)/iqcn-metrics.timer

what = $(firstword $(subst :, ,$(1)))
place = $(DESTDIR)$(lastword $(subst :, ,$(1)))
# commands of a foreach, hence the empty line
define put
	install -D -m $(1) $(call what,$(2)) $(call place,$(2))

endef
define adapt
	sed -i -e 's|^\(Exec[A-Za-z]*=\)/usr/sbin/|\1$(SBINDIR)/|' \
		-e 's|^\(Exec[A-Za-z]*=\)/usr/libexec/|\1$(PREFIX)/libexec/|' \
		-e 's|/usr/share/iqcn/|$(DATA_DIR)/|' $(call place,$(1))

endef
define drop
	rm -f $(call place,$(1))

endef
# directories that may be empty without our files
define drop-dir
	[ ! -d $(DESTDIR)$(1) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(1)

endef
# stop units before their files are removed; this deletes the qdiscs
define stop-units
	[ ! -d /run/systemd/system ] || \
		systemctl stop 'iqcn-agent@*.service' 'iqcn@*.service' \
			'iqcn-metrics.*' || true
	[ ! -d /run/systemd/system ] || \
		systemctl disable iqcn-agent@.service iqcn@.service \
			iqcn-metrics.timer || true

endef
define reload-units
	[ ! -d /run/systemd/system ] || systemctl daemon-reload

endef

install: install-module install-tools

# kbuild runs depmod only where it finds the kernel's System.map
install-module: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod INSTALL_MOD_DIR=extra modules_install \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))
	$(if $(DESTDIR),@echo 'run depmod on the target machine',\
		depmod $(RELEASE))

install-tools: tc-plugin userspace
	$(foreach f,$(PROGRAMS),$(call put,755,$(f)))
	$(foreach f,$(FILES) $(UNITS),$(call put,644,$(f)))
	$(foreach f,$(UNITS),$(call adapt,$(f)))

uninstall: uninstall-tools uninstall-module

uninstall-module:
	rm -f $(DESTDIR)/lib/modules/$(RELEASE)/extra/sch_iqcn.ko*
	$(if $(DESTDIR),,depmod $(RELEASE))

uninstall-tools:
	$(if $(DESTDIR),,$(stop-units))
	$(foreach f,$(PROGRAMS) $(FILES) $(UNITS),$(call drop,$(f)))
	$(foreach d,$(DATA_DIR) $(TC_DIR) $(COMPLETION_DIR) $(WIRESHARK_DIR),$(call drop-dir,$(d)))
	$(if $(DESTDIR),,$(reload-units))

# Sources for the packages of distributions: contrib/rpm and contrib/arch
DIST = COPYING Documentation Makefile NEWS README.md contrib dkms.conf kmod \
	selftests/rocehost tc-plugin userspace
dist:
	@mkdir -p $(B)
	tar --transform 's|^|sch_iqcn-$(VERSION)/|' -czf \
		$(B)/sch_iqcn-$(VERSION).tar.gz $(DIST)

# Programs for tests, most of them in the lab.  Some are static, because static
# programs start faster there.
tools: $(B)/roce $(B)/mutate $(B)/linktype $(B)/relay $(B)/psample $(B)/genl $(B)/netfuzz $(B)/seqfuzz $(B)/failnl.so $(B)/badstab.so $(B)/failmod $(B)/iqcn_test $(B)/nlfile.so $(B)/params $(B)/unchecked/q_iqcn.so $(B)/trapping/q_iqcn.so
$(B)/roce $(B)/mutate: $(B)/%: selftests/tools/%.c $(addprefix selftests/tools/,netns.h packet.h random.h)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -static -o $@ $< -lz
$(B)/linktype: selftests/tools/linktype.c selftests/tools/netns.h
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -static -o $@ $<
$(B)/relay: selftests/tools/relay.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -static -o $@ $<
$(B)/psample: selftests/tools/psample.c selftests/tools/netns.h
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -o $@ $< $(NL_GENL)
$(B)/genl: selftests/tools/genl.c selftests/tools/netns.h $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -Ikmod/include/uapi -o $@ $< $(NL_GENL)
# a table of attributes, from the headers
$(B)/attrs.h: selftests/fuzz/attrs.awk $(UAPI)
	@mkdir -p $(B)
	awk -f $^ >$@
$(B)/netfuzz: selftests/tools/netfuzz.c selftests/tools/random.h $(B)/attrs.h
	$(CC) $(CFLAGS) -I$(B) -Ikmod/include/uapi -o $@ $<
$(B)/seqfuzz: $(wildcard selftests/tools/seqfuzz/*.[ch]) $(addprefix selftests/tools/,packet.h random.h) $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -Ikmod/include/uapi -o $@ $(filter %.c,$^) $(NL_GENL) -lz
$(B)/badstab.so: selftests/tools/badstab.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl
$(B)/failnl.so: selftests/tools/failnl.c selftests/tools/failnth.h
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl
$(B)/failmod: selftests/tools/failmod.c selftests/tools/failnth.h
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -o $@ $<

# for tc-plugin/tests/
$(B)/nlfile.so: tc-plugin/tests/nlfile.c
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl
$(B)/params: tc-plugin/tests/params.c selftests/tools/random.h $(PARAMS) $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -Ikmod/include/uapi -o $@ $<
# a plugin that does not check ranges, for tests of the kernel's checks
$(B)/unchecked/q_iqcn.so: PLUGIN_FLAGS = -DIQCN_UNCHECKED
# a plugin in which undefined behavior always traps, so that tc ends
$(B)/trapping/q_iqcn.so: PLUGIN_FLAGS = \
	-fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error

# tests of iqcn's code that needs no kernel; they run on any machine
$(B)/iqcn_test: $(wildcard userspace/*.[ch] userspace/tests/*.[ch]) $(PARAMS) \
		$(DERIVE) $(UAPI)
	@mkdir -p $(B)
	$(CC) $(CFLAGS) -fsanitize=address,undefined,float-cast-overflow \
		-fno-sanitize-recover=all $(EXACT) $(TOOL_INCLUDES) -DIQCN_VERSION='"$(VERSION)"' \
		-DTC_DIR='"$(TC_DIR)"' -rdynamic -o $@ $(wildcard userspace/tests/*.c) \
		$(filter-out userspace/main.c,$(wildcard userspace/*.c)) \
		$(shell pkg-config --cflags --libs $(TOOL_PKGS))

# The module's packet parsers as a program for libFuzzer.  An IP header may be
# unaligned, as in the kernel.
$(B)/rocev2_fuzz: selftests/fuzz/rocev2_fuzz.c kmod/rocev2.c kmod/rocev2.h \
		kmod/algo/pairing.h kmod/algo/macctl.h $(shell find selftests/fuzz/shim -type f) $(UAPI)
	@mkdir -p $(B)
	clang -g -O1 -Wall -Wextra -Wno-unused-parameter -Wno-address-of-packed-member \
		-fsanitize=fuzzer,address,undefined -fno-sanitize=alignment \
		-fno-sanitize-recover=all -Iselftests/fuzz/shim -Ikmod \
		-Ikmod/include/uapi -o $@ $(filter %.c,$^) -lz

# lab-KERNEL: the module for a kernel of the lab, and the hosts that generate
# traffic in it; for kernels with KUnit, also their tests.  Warnings are errors,
# unless W=1.  C=2 runs sparse on all files.
lab-%: W = 1e
lab-%: tc-plugin userspace tools
	$(LAB) build $*
	@key=$$($(LAB) key $*) && [ "$$key" = "$$(cat $(B)/$*/key 2>&1)" ] || \
		{ rm -rf $(B)/$* && mkdir -p $(B)/$* && echo "$$key" >$(B)/$*/key; }
	$(call copy-sources,kmod,$(B)/$*)
	$(LAB) make $* -s M=$(CURDIR)/$(B)/$* W=$(W) C=$(C) \
		$(if $(filter uml%,$*),CONFIG_NET_SCH_IQCN_KUNIT_TEST=m) modules
	$(call copy-sources,selftests/rocehost,$(B)/$*/rocehost)
	$(LAB) make $* -s M=$(CURDIR)/$(B)/$*/rocehost W=$(W) C=$(C) \
		$(if $(filter uml%,$*),CONFIG_NET_SCH_IQCN_KUNIT_TEST=m) modules

lab:
	$(LAB) packages lab
	$(MAKE) lab-uml lab-stock

demo:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/demo/demo.sh

# make scenario S=NAME [V=VARIANT,VARIANT | CONTINUE=1]
# If there is no scenario NAME, NAME stands for all of NAME-*
# S=methods is all of methods-*, S=marking runs most of the others twice,
# S=seeds runs some with several seeds, and S=flows generates its scenarios
scenario:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/scenarios/$(if $(filter methods marking flows seeds,$(S)),$(S).sh,scenarios.sh $(if $(CONTINUE),-c) $(MISSES) $(if $(V),-v $(V)) $(S))

scenarios: MISSES = -k
scenarios: S = $(filter-out methods-%,$(basename $(notdir $(wildcard selftests/scenarios/*.scenario))))
scenarios: scenario

# copy figures of the scenarios into README and Documentation
figures:
	$(LAB) packages lab
	@selftests/figures/figures.sh

# virtual time passes so slowly that an interval of 5 ms yields a picture every
# half second
top: S = incast-512
top:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/scenarios/scenarios.sh $(if $(V),-v $(V)) \
		-w "$(CURDIR)/$(B)/iqcn $(if $(N),-n $(N)) top --interval 5ms" $(S)

# make train [STEPS=1800] [SEED=1] [REWARD=few|literal]
train: STEPS = 1800
train: SEED = 1
train: REWARD = few
train: POLICY = $(B)/agent/long-haul$(if $(filter literal,$(REWARD)),-literal)
train:
	$(LAB) packages agent
	@$(MAKE) -s lab-uml
	@selftests/agent/agent.sh train --steps $(STEPS) --seed $(SEED) \
		--reward $(REWARD) --out $(POLICY).policy --curve $(POLICY).svg

# make bench [HERE=1] [CASES="uncongested ..."]
bench:
ifdef HERE
	@selftests/bench/bench.sh -h $(CASES)
else
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@$(MAKE) -s lab-uml-smp
	@$(MAKE) -s lab-stock
	@selftests/bench/bench.sh $(CASES)
endif

# make soak [HOURS=24]
soak: HOURS = 24
soak:
	$(LAB) packages lab
	@$(MAKE) -s lab-uml
	@selftests/soak/soak.sh -m $$(($(HOURS) * 60))

# make fuzz [SECONDS=N] [KEEP=1]: KEEP updates the corpus
fuzz: SECONDS = 60
fuzz: $(B)/rocev2_fuzz
	@selftests/fuzz/fuzz.sh $(SECONDS) $(if $(KEEP),-k)

# make coverage [TESTS="iqcn_bts.sh ..."]
coverage:
	$(LAB) packages check
	@$(MAKE) -s lab-uml-cov
	@selftests/coverage/coverage.sh $(TESTS)

# make mutants [ONLY='timer.c:*'] [CONTINUE=1]
mutants:
	$(LAB) packages lab
	@selftests/mutants/mutants.sh $(if $(CONTINUE),-r) $(if $(ONLY),'$(ONLY)')

# tests to run after each edit
test:
	$(LAB) packages check
	@selftests/check/check.sh test

check:
	$(LAB) packages check
	@selftests/check/check.sh check

# make check-kernels [K="sid ..."]
check-kernels:
	$(LAB) packages lab
	@selftests/kernels/kernels.sh $(K)

# make check-debug [K="uml-smp ..."] [MINUTES=10]
check-debug: MINUTES = 10
check-debug:
	$(LAB) packages check
	@selftests/debug/debug.sh -m $(MINUTES) $(K)

reliability:
	@selftests/reliability/reliability.sh

# make stress [K=stock] [MINUTES=10]
stress: MINUTES = 10
stress:
	$(LAB) packages check
ifdef K
	@$(MAKE) -s lab-$(K)
	@selftests/stress/stress.sh -k $(K) $(MINUTES)
else
	@$(MAKE) -s lab-uml
	@$(MAKE) -s lab-uml-debug
	@selftests/stress/stress.sh $(MINUTES)
endif

# make nightly [MINUTES=30] [HOURS=24] [CONTINUE=1]
nightly:
	@MINUTES=$(MINUTES) HOURS=$(HOURS) selftests/nightly/nightly.sh \
		$(if $(CONTINUE),-c)

clean:
	rm -rf $(B)

.PHONY: help all dist modules rocehost tc-plugin userspace install install-module install-tools uninstall uninstall-module uninstall-tools tools lab demo scenario scenarios figures top train soak fuzz coverage mutants stress reliability bench test check check-kernels check-debug nightly clean
.DELETE_ON_ERROR:
