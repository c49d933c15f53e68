/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text with a few styles, on a terminal or on the standard output.
 */
#ifndef _IQCN_SCREEN_H
#define _IQCN_SCREEN_H

#include <stdbool.h>

enum look {
	LOOK_PLAIN,
	LOOK_STRONG,
	LOOK_HEAD,	/* head of a table */
	LOOK_GOOD,
	LOOK_SOME,
	LOOK_BAD,
	/* blocks of color, or text on a terminal without colors */
	LOOK_BLOCK_GOOD,
	LOOK_BLOCK_SOME,
	LOOK_BLOCK_BAD,
	LOOK_MAX
};

/* Keys without a character.  Tab counts as right, Shift-Tab as left */
enum {
	SCREEN_KEY_NONE = -1,	/* no key pressed */
	SCREEN_KEY_OTHER = 256,
	SCREEN_KEY_UP,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
};

/* Prints an error and returns false on failure.  @batch: append to the standard
 * output, without keys.
 */
bool screen_open(bool batch);
/* Restores the terminal, so that later messages are visible */
void screen_close(void);

int screen_rows(void);		/* 0: unlimited */
int screen_width(void);
/* Adapt to a new size of the terminal */
void screen_resize(void);
/* A character or SCREEN_KEY_*; does not wait */
int screen_key(void);

void screen_begin(void);
/* Append to the line, as far as there is room */
__attribute__((format(printf, 2, 3)))
void screen_put(enum look look, const char *format, ...);
/* Fill the rest of the line */
void screen_fill(enum look look);
void screen_next_line(void);
void screen_last_line(void);
int screen_row(void);
void screen_end(void);

#endif /* _IQCN_SCREEN_H */
