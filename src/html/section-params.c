/* Each parameter against the objective: a grid of small charts. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"

enum {
	WIDTH = 300,
	HEIGHT = 200,
	DRAWINGS = 24, /* at most */
	TOLD = 2000, /* marks with a tooltip in all charts */
	SQUARE = 5,
	COLUMNS = 12 /* up to so many values are drawn as columns */
};

/* A fixed horizontal offset of a trial within its column. */
static double
jitter(const struct param *p, int64_t number)
{
	uint64_t levels = param_levels(p);

	if (levels == 0 || levels > COLUMNS)
		return 0;
	return (fmod((double)number * 0.6180339887498949, 1) - 0.5) * 0.6 /
	       (double)levels;
}

/* The position of a trial's mark; false: none in this chart. */
static bool
place(const struct page *r, const struct chart *c, size_t trial, size_t i,
    double *x, double *y)
{
	const struct page_trial *t = &r->trials[trial];
	double u = r->points[trial * r->study->space->n + i];

	if (isnan(t->objective) || isnan(u))
		return false;
	u += jitter(&r->study->space->params[i], t->number);
	*x = c->x.from + u * (c->x.to - c->x.from);
	*y = axis_at(&c->y, t->objective);
	return true;
}

static void
marks_thinned(struct page *r, struct chart *c, size_t i)
{
	struct buf d[MARKS] = { { 0 } };
	struct decimate thin;
	double x, y;
	size_t k, trial;

	for (k = MARKS; k-- > 0;) {
		decimate_init(&thin, c->width, c->height, SQUARE);
		for (trial = 0; trial < r->n; trial++)
			if (page_data_mark(&r->trials[trial]) == k &&
			    place(r, c, trial, i, &x, &y) &&
			    decimate_take(&thin, x, y))
				chart_mark_put(&d[k], k, x, y);
		decimate_fini(&thin);
		chart_path(c, chart_mark_class(k), &d[k]);
	}
}

static void
marks_told(struct page *r, struct chart *c, size_t i)
{
	struct buf d = { 0 }, text = { 0 };
	enum chart_mark mark;
	double x, y;
	size_t trial;

	for (trial = 0; trial < r->n; trial++) {
		if (!place(r, c, trial, i, &x, &y))
			continue;
		mark = page_data_mark(&r->trials[trial]);
		chart_mark_put(&d, mark, x, y);
		buf_clear(&text);
		page_data_describe(&text, r, &r->trials[trial]);
		chart_path_titled(
		    c, chart_mark_class(mark), &d, buf_str(&text));
	}
	buf_free(&text);
}

static void
drawing_put(struct page *r, size_t i)
{
	const struct param *p = &r->study->space->params[i];
	struct chart c = {
		.h = &r->h, .width = WIDTH, .height = HEIGHT, .y = r->value
	};
	struct tick ticks[AXIS_TICKS];
	struct buf d = { 0 }, name = { 0 };
	double x, y;

	chart_frame(&c, 48);
	buf_printf(&name, "%s against %s", r->study->metric, p->name);
	chart_open(&c, buf_str(&name));
	buf_clear(&name);
	buf_printf(&name, "%s%s", p->name,
	    p->scale == SCALE_LINEAR ? "" : " (logarithmic)");
	chart_x(&c, ticks,
	    axis_param(r->study->space, i, c.x.from, c.x.to, 6, ticks),
	    buf_str(&name));
	chart_y(&c, ticks, axis_ticks(&c.y, 5, ticks), NULL);
	if (r->with_value * r->study->space->n <= TOLD)
		marks_told(r, &c, i);
	else
		marks_thinned(r, &c, i);
	if (r->best < r->n && place(r, &c, r->best, i, &x, &y)) {
		chart_mark_put(&d, MARK_RING, x, y);
		chart_path(&c, "pick", &d);
	}
	chart_close(&c);
	buf_free(&name);
}

static void
section_put(struct page *r, const size_t *order, size_t n)
{
	size_t i;

	section_begin(&r->h, "Parameters and results");
	html_open(&r->h, "div");
	html_attr(&r->h, "class", "grid2");
	for (i = 0; i < n && i < DRAWINGS; i++)
		drawing_put(r, order[i]);
	html_close(&r->h, "div");
	section_note(&r->h,
	    "Upwards: %s. Each trial stands where its parameter was active%s.",
	    r->study->metric,
	    r->best < r->n ? "; the ring is the best one" : "");
	if (n > DRAWINGS)
		section_note(&r->h,
		    "%d of %zu parameters are drawn, in the order of their "
		    "importance.",
		    DRAWINGS, n);
	section_end(&r->h);
}

int
section_params(struct page *r, const size_t *order, struct err *e)
{
	const struct space *space = r->study->space;
	size_t *free_ones = xcalloc(space->n + 1, sizeof *free_ones);
	size_t i, n = 0;

	(void)e;
	for (i = 0; i < space->n; i++)
		if (space->params[order[i]].type != PARAM_FIXED)
			free_ones[n++] = order[i];
	if (n > 0 && r->with_value > 0)
		section_put(r, free_ones, n);
	free(free_ones);
	return 0;
}
