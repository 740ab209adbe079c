/*
 * The live screen on a terminal whose size changes: a model of a terminal
 * receives the output of redraw, and then has each line of the screen once,
 * below the earlier contents.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/view/redraw.h"
#include "tests/support/tap.h"

enum { ROWS = 400, COLUMNS = 200 };

/* All rows since the beginning; the last `height` of them are the screen. */
struct terminal {
	bool breaks; /* lines again when its width changes; else it cuts them */
	int width, height;
	char row[ROWS][COLUMNS + 1];
	bool goes_on[ROWS]; /* the row after it is the same line's */
	int n; /* rows there are */
	int at, column; /* the cursor */
};

static void
row_begin(struct terminal *t, int at)
{
	t->at = at;
	t->column = 0;
	if (t->at >= ROWS) {
		printf("Bail out! the model of the terminal is full\n");
		exit(1);
	}
	if (t->at >= t->n)
		t->n = t->at + 1;
}

static void
letter(struct terminal *t, char c)
{
	char *row;

	if (t->column == t->width) {
		t->goes_on[t->at] = true;
		row_begin(t, t->at + 1);
	}
	row = t->row[t->at];
	while ((int)strlen(row) <= t->column)
		strcat(row, " ");
	row[t->column++] = c;
}

static void
erase_below(struct terminal *t)
{
	int i;

	t->row[t->at][t->column] = '\0';
	t->goes_on[t->at] = false;
	for (i = t->at + 1; i < t->n; i++) {
		t->row[i][0] = '\0';
		t->goes_on[i] = false;
	}
	t->n = t->at + 1;
}

static void
cursor_up(struct terminal *t, int by)
{
	int top = t->n > t->height ? t->n - t->height : 0;

	t->at = t->at - by > top ? t->at - by : top;
}

static void
terminal_write(struct terminal *t, const char *text)
{
	char *end;
	long n;

	for (; *text != '\0'; text++) {
		if (*text == '\n') {
			t->goes_on[t->at] = false;
			row_begin(t, t->at + 1);
		} else if (*text == '\033' && text[1] == '[') {
			n = strtol(text + 2, &end, 10);
			if (*end == 'A')
				cursor_up(t, (int)n);
			else if (*end == 'J')
				erase_below(t);
			else if (*end != 'm')
				ok(false, "the model supports ESC [ %c", *end);
			text = end;
		} else
			letter(t, *text);
	}
}

/* Another width: what is there is broken again, or cut. */
static void
terminal_resize(struct terminal *t, int width, int height)
{
	struct terminal *old = xcalloc(1, sizeof *old);
	int i, at = 0, column = 0;
	const char *p;

	*old = *t;
	*t = (struct terminal){
		.breaks = old->breaks, .width = width, .height = height, .n = 1
	};
	for (i = 0; i < old->n; i++) {
		if (i == old->at) {
			at = t->at;
			column = 0;
		}
		for (p = old->row[i]; *p != '\0'; p++)
			if (t->breaks || p - old->row[i] < width)
				letter(t, *p);
		if (i + 1 < old->n && !(t->breaks && old->goes_on[i]))
			row_begin(t, t->at + 1);
	}
	t->at = at;
	t->column = column;
	free(old);
}

/* How often a row that begins so is there. */
static int
count(const struct terminal *t, const char *begin)
{
	int i, n = 0;

	for (i = 0; i < t->n; i++)
		n += strncmp(t->row[i], begin, strlen(begin)) == 0;
	return n;
}

/* A screen of lines of this width, which tell the turn: "<3.0 xxxx". */
static void
draw(struct terminal *t, struct redraw *r, int turn, int lines, int width)
{
	struct buf text = { 0 }, out = { 0 };
	size_t line;
	int i;

	for (i = 0; i < lines; i++) {
		buf_puts(&text, "\033[1m");
		line = text.len;
		buf_printf(&text, "<%d.%d ", turn, i);
		while (text.len - line < (size_t)width)
			buf_putc(&text, 'x');
		buf_puts(&text, "\033[0m\n");
	}
	redraw_text(r, &out, buf_str(&text), t->width, t->height);
	terminal_write(t, buf_str(&out));
	buf_free(&text);
	buf_free(&out);
}

/* Only this turn's lines are there, each once, under what was there before. */
static void
whole(struct terminal *t, int turn, int lines, bool above, const char *what)
{
	int i, rows = t->width > 0 ? count(t, "<") + count(t, "x") : 0;
	char begin[32];

	ok(rows == lines, "%s: no pieces", what);
	for (i = 0; i < lines; i++) {
		(void)snprintf(begin, sizeof begin, "<%d.%d ", turn, i);
		if (count(t, begin) != 1)
			break;
	}
	ok(i == lines, "%s: each line is there", what);
	if (above)
		is_int(count(t, "$ hpotune"), 1, "what stood above is there");
}

static void
sizes(bool breaks)
{
	static const struct {
		int width, height;
		const char *what;
	} changes[] = {
		{ 80, 24, "nothing changes" },
		{ 40, 24, "half of the width" },
		{ 80, 24, "the whole again" },
		{ 30, 24, "three rows for a line" },
		{ 120, 24, "more than ever" },
		{ 120, 40, "higher" },
		{ 61, 40, "a line and a bit" },
	};
	struct terminal *t = xcalloc(1, sizeof *t);
	struct redraw r = { 0 };
	size_t i;
	bool above = true;

	*t = (struct terminal){ .breaks = breaks, .width = 80, .height = 24 };
	row_begin(t, 0);
	terminal_write(t, "$ hpotune start\n");
	draw(t, &r, 0, 6, 80);
	for (i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		/* Where lines are cut, rows above may go with them. */
		above = above && (breaks || changes[i].width >= t->width);
		terminal_resize(t, changes[i].width, changes[i].height);
		draw(t, &r, (int)i + 1, 6, t->width);
		whole(t, (int)i + 1, 6, above, changes[i].what);
	}
	redraw_fini(&r);
	free(t);
}

/* More lines than the terminal has rows. */
static void
heights(void)
{
	struct terminal *t = xcalloc(1, sizeof *t);
	struct redraw r = { 0 };

	*t = (struct terminal){ .breaks = true, .width = 80, .height = 24 };
	row_begin(t, 0);
	terminal_write(t, "$ hpotune start\n");
	draw(t, &r, 0, 10, 80);
	draw(t, &r, 1, 30, 80);
	draw(t, &r, 2, 30, 80);
	whole(t, 2, 23, true, "more lines than rows");
	redraw_fini(&r);
	free(t);
}

/* A warning stands above the screen, which is drawn again below it. */
static void
between(void)
{
	struct terminal *t = xcalloc(1, sizeof *t);
	struct redraw r = { 0 };
	struct buf out = { 0 };

	*t = (struct terminal){ .breaks = true, .width = 80, .height = 24 };
	row_begin(t, 0);
	terminal_write(t, "$ hpotune start\n");
	draw(t, &r, 0, 6, 80);
	terminal_resize(t, 50, 24);
	redraw_clear(&r, &out, 50);
	buf_puts(&out, "warning: disk\n");
	terminal_write(t, buf_str(&out));
	draw(t, &r, 1, 6, 50);
	whole(t, 1, 6, true, "a warning");
	is_int(count(t, "warning: disk"), 1, "the warning is there");
	redraw_fini(&r);
	buf_free(&out);
	free(t);
}

int
main(void)
{
	sizes(true);
	sizes(false);
	heights();
	between();
	return done_testing();
}
