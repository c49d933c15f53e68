/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of commands, for the parser and for the listing.
 */
#ifndef _ROCEHOST_CONFIG_H
#define _ROCEHOST_CONFIG_H

#include "rocehost.h"

/* Type of a word's value; see rh_kinds */
enum rh_kind {
	RH_NUMBER,
	RH_TIME,
	RH_RATE,
	RH_BYTES,
	RH_SHARE,
	RH_SIZE,
	RH_ENDLESSLY,
	RH_SPORT,
	RH_AUTO,
	RH_TIME_AUTO,
	RH_PRIOS,
	RH_IP,
	RH_MAC,
	RH_NAME,
	RH_RP,
	RH_TRANSPORT,
	RH_LB,
	RH_FLAG,
};

/**
 * enum rh_needs - conditions without which a word has no effect
 * @RH_NEEDS_REPS: "lb reps" is given
 * @RH_NEEDS_EXPIRY: "recurrent" is not given
 * @RH_NEEDS_RTW: "rtw" is given
 * @RH_NEEDS_RP: "rp" is "connectx" or "paper", not "off"
 */
enum rh_needs {
	RH_NEEDS_REPS = BIT(0),
	RH_NEEDS_EXPIRY = BIT(1),
	RH_NEEDS_RTW = BIT(2),
	RH_NEEDS_RP = BIT(3),
};

/**
 * struct rh_word - a word of a command
 * @name: the word
 * @kind: type of its value
 * @off: offset of the value in the command's parameters
 * @min: minimum
 * @max: maximum; RH_NAME: size of the buffer
 * @needs: enum rh_needs bits: conditions without which the word has no effect
 */
struct rh_word {
	const char *name;
	enum rh_kind kind;
	u16 off;
	u64 min;
	u64 max;
	u8 needs;
};

/**
 * struct rh_command - a command
 * @name: the command
 * @what: its fixed arguments, as text for the list in /proc/net/rocehost/ctl
 * @words: words that may follow, in any order, except that "rp connectx" and
 *	"rp paper" precede the words that they set
 * @run: executes it; RTNL held
 */
struct rh_command {
	const char *name;
	const char *what;
	const struct rh_word *words;
	int (*run)(struct net *net, char *line);
};

extern const char * const rh_kinds[];
const char * const *rh_names(enum rh_kind kind);
extern const struct rh_word rh_host_words[];
extern const struct rh_command rh_commands[];

#endif /* _ROCEHOST_CONFIG_H */
