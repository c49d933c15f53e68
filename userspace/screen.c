// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of text with a few styles.
 */
#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "iqcn.h"
#include "out.h"
#include "screen.h"

#define LINE_SIZE 512
#define CTRL_L 12
/* The bytes of a function key arrive at once, so Esc needs only a short wait */
#define ESC_DELAY_MS 25

static const struct {
	attr_t color;		/* with colors */
	short front, back;
	attr_t mono;		/* without colors */
} looks[LOOK_MAX] = {
	[LOOK_PLAIN]	  = { A_NORMAL, -1, -1, A_NORMAL },
	[LOOK_STRONG]	  = { A_BOLD, -1, -1, A_BOLD },
	[LOOK_HEAD]	  = { A_REVERSE, -1, -1, A_REVERSE },
	[LOOK_GOOD]	  = { A_NORMAL, COLOR_GREEN, -1, A_NORMAL },
	[LOOK_SOME]	  = { A_NORMAL, COLOR_YELLOW, -1, A_NORMAL },
	[LOOK_BAD]	  = { A_BOLD, COLOR_RED, -1, A_BOLD },
	[LOOK_BLOCK_GOOD] = { A_NORMAL, COLOR_GREEN, COLOR_GREEN, A_NORMAL },
	[LOOK_BLOCK_SOME] = { A_NORMAL, COLOR_YELLOW, COLOR_YELLOW, A_NORMAL },
	[LOOK_BLOCK_BAD]  = { A_NORMAL, COLOR_RED, COLOR_RED, A_BOLD },
};

static SCREEN *terminal;	/* NULL: print lines to the standard output */
static bool colors;
static int row, column;
static char line[LINE_SIZE];	/* the current line, without a terminal */

static void begin_colors(void)
{
	size_t i;

	colors = has_colors() && start_color() == OK &&
		  use_default_colors() == OK;
	for (i = 0; colors && i < LOOK_MAX; i++)
		init_pair(i + 1, looks[i].front, looks[i].back);
}

bool screen_open(bool batch)
{
	const char *term = getenv("TERM");

	if (batch)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fail("top", "this is not a terminal: try \"iqcn monitor\" or \"iqcn top --batch\"");
		return false;
	}
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		fail("unknown terminal type (TERM)",
		     term ? term : "not set");
		return false;
	}
	begin_colors();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESC_DELAY_MS);
	curs_set(0);
	return true;
}

void screen_close(void)
{
	if (!terminal)
		return;
	/* messages after this start on an empty line */
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

int screen_rows(void)
{
	return terminal ? LINES : 0;
}

int screen_width(void)
{
	return terminal ? COLS : screen_columns();
}

void screen_resize(void)
{
	struct winsize size;

	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

int screen_key(void)
{
	int key;

	/* curses reports a new size as a key */
	do {
		key = terminal ? getch() : ERR;
	} while (key == KEY_RESIZE);
	switch (key) {
	case ERR:
		return SCREEN_KEY_NONE;
	case KEY_UP:
		return SCREEN_KEY_UP;
	case KEY_DOWN:
		return SCREEN_KEY_DOWN;
	case KEY_LEFT:
	case KEY_BTAB:
		return SCREEN_KEY_LEFT;
	case KEY_RIGHT:
	case '\t':
		return SCREEN_KEY_RIGHT;
	case KEY_PPAGE:
		return SCREEN_KEY_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_KEY_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_KEY_HOME;
	case CTRL_L:
		redrawwin(stdscr);
		return SCREEN_KEY_OTHER;
	}
	return key < SCREEN_KEY_OTHER ? key : SCREEN_KEY_OTHER;
}

void screen_begin(void)
{
	row = 0;
	column = 0;
	if (terminal)
		erase();
}

void screen_put(enum look look, const char *format, ...)
{
	int room = screen_width() - column;
	char text[LINE_SIZE];
	va_list args;

	if (room > LINE_SIZE - 1 - column)
		room = LINE_SIZE - 1 - column;
	if (room <= 0)
		return;
	va_start(args, format);
	vsnprintf(text, room + 1, format, args);
	va_end(args);
	if (!terminal) {
		strcpy(line + column, text);
	} else if (row < LINES) {
		attrset(colors ? looks[look].color | COLOR_PAIR(look + 1) :
				  looks[look].mono);
		mvaddstr(row, column, text);
	}
	column += strlen(text);
}

void screen_fill(enum look look)
{
	screen_put(look, "%*s", screen_width(), "");
}

int screen_row(void)
{
	return row;
}

void screen_last_line(void)
{
	row = screen_rows() - 1;
	column = 0;
}

void screen_next_line(void)
{
	if (!terminal) {
		while (column && line[column - 1] == ' ')
			column--;
		printf("%.*s\n", column, line);
	}
	row++;
	column = 0;
}

void screen_end(void)
{
	if (terminal)
		refresh();
	else if (fflush(stdout))
		out_closed();
}
