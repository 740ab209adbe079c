/* Decimation by squares (marks) and columns (lines). */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"

enum { LOWEST, HIGHEST, LAST };

void
decimate_init(struct decimate *t, double width, double height, double size)
{
	t->size = size;
	t->columns = (size_t)ceil(width / size) + 1;
	t->rows = (size_t)ceil(height / size) + 1;
	t->taken = xcalloc(t->columns * t->rows, sizeof *t->taken);
}

void
decimate_fini(struct decimate *t)
{
	free(t->taken);
	t->taken = NULL;
}

static size_t
decimate_square(double at, double size, size_t n)
{
	double i = floor(at / size);

	return !(i > 0) ? 0 : i >= (double)n ? n - 1 : (size_t)i;
}

bool
decimate_take(struct decimate *t, double x, double y)
{
	unsigned char *taken =
	    &t->taken[decimate_square(y, t->size, t->rows) * t->columns +
		      decimate_square(x, t->size, t->columns)];
	bool first = !*taken;

	*taken = 1;
	return first;
}

void
decimate_put(struct buf *out, double at)
{
	char text[32];
	size_t n;

	(void)snprintf(text, sizeof text, "%.1f", at);
	n = strlen(text);
	if (n > 2 && strcmp(text + n - 2, ".0") == 0)
		text[n - 2] = '\0';
	buf_puts(out, strcmp(text, "-0") == 0 ? "0" : text);
}

static void
decimate_point_put(struct decimate_line *t, int which)
{
	buf_putc(t->d, t->drawn > 0 ? 'L' : 'M');
	decimate_put(t->d, t->x[which]);
	buf_putc(t->d, ' ');
	decimate_put(t->d, t->y[which]);
	t->drawn++;
}

/* The extremes of a column in the order they came, then its last point. */
static void
column_put(struct decimate_line *t)
{
	int early = t->order[LOWEST] <= t->order[HIGHEST] ? LOWEST : HIGHEST;
	int late = early == LOWEST ? HIGHEST : LOWEST;

	if (t->n == 0)
		return;
	decimate_point_put(t, early);
	if (t->order[late] != t->order[early])
		decimate_point_put(t, late);
	if (t->order[late] != t->n - 1)
		decimate_point_put(t, LAST);
	t->n = 0;
}

static void
extreme(struct decimate_line *t, int which, bool is, double x, double y)
{
	if (t->n > 0 && !is)
		return;
	t->x[which] = x;
	t->y[which] = y;
	if (which != LAST)
		t->order[which] = t->n;
}

void
decimate_line_add(struct decimate_line *t, double x, double y)
{
	if (!isfinite(x) || !isfinite(y)) {
		decimate_line_end(t);
		return;
	}
	if (t->n > 0 && !(x < t->start + t->column))
		column_put(t);
	if (t->n == 0)
		t->start = x;
	extreme(t, LOWEST, y < t->y[LOWEST], x, y);
	extreme(t, HIGHEST, y > t->y[HIGHEST], x, y);
	extreme(t, LAST, true, x, y);
	t->n++;
}

void
decimate_line_end(struct decimate_line *t)
{
	column_put(t);
	/* A single point: a ring whose line fills it nearly. */
	if (t->drawn == 1)
		buf_puts(t->d, "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0");
	t->drawn = 0;
}
