/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of commands, for who reads them and who lists them.
 */
#ifndef _ROCEHOST_CONFIG_H
#define _ROCEHOST_CONFIG_H

#include "rocehost.h"

/* What a word's value is; see rh_kinds */
enum rh_kind {
	RH_NUMBER,
	RH_TIME,
	RH_RATE,
	RH_BYTES,
	RH_SHARE,
	RH_SIZE,
	RH_ENDLESSLY,
	RH_SPORT,
	RH_IP,
	RH_MAC,
	RH_NAME,
	RH_RP,
	RH_FLAG,
};

/**
 * struct rh_word - a word
 * @name: how it is written
 * @kind: what follows it
 * @off: where the value goes
 * @min: least value
 * @max: greatest value; RH_NAME: room for it
 */
struct rh_word {
	const char *name;
	enum rh_kind kind;
	u16 off;
	u64 min;
	u64 max;
};

/**
 * struct rh_command - a command
 * @name: how it is written
 * @what: what comes right after it
 * @words: what may follow, in any order but for "rp"
 * @run: does it; RTNL held
 */
struct rh_command {
	const char *name;
	const char *what;
	const struct rh_word *words;
	int (*run)(struct net *net, char *line);
};

extern const char * const rh_kinds[];
extern const char * const rh_rp_styles[];
extern const struct rh_word rh_host_words[];
extern const struct rh_command rh_commands[];

#endif /* _ROCEHOST_CONFIG_H */
