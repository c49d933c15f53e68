/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text in a few looks: on a terminal, or one after the other.
 */
#ifndef _IQCN_SCREEN_H
#define _IQCN_SCREEN_H

#include <stdbool.h>

enum look {
	LOOK_PLAIN,
	LOOK_STRONG,
	LOOK_HEAD,	/* of a table */
	LOOK_GOOD,
	LOOK_SOME,
	LOOK_BAD,
	/* blocks of colour where there are colours, else what is written */
	LOOK_BLOCK_GOOD,
	LOOK_BLOCK_SOME,
	LOOK_BLOCK_BAD,
	LOOK_MAX
};

/* What has no character.  Right is Tab, too, and left Shift-Tab. */
enum {
	SCREEN_KEY_NONE = -1,	/* none is pressed */
	SCREEN_KEY_OTHER = 256,
	SCREEN_KEY_UP,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
};

/* Says what is wrong if it returns false.  @batch: to the standard output, never
 * erased, and without keys.
 */
bool screen_open(bool batch);
/* The terminal is as it was before; what is said then can be read */
void screen_close(void);

int screen_rows(void);		/* 0: without end */
int screen_width(void);
/* The size is another one */
void screen_resize(void);
/* A character, or one of the above; does not wait */
int screen_key(void);

void screen_begin(void);
/* To the right of what is in this line, as far as there is room */
__attribute__((format(printf, 2, 3)))
void screen_put(enum look look, const char *format, ...);
/* The rest of the line */
void screen_fill(enum look look);
void screen_next_line(void);
void screen_last_line(void);
int screen_row(void);
void screen_end(void);

#endif /* _IQCN_SCREEN_H */
