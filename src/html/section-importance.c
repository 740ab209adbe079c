/* Parameter importance: shares of PED-ANOVA as bars. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cli/common/trial-points.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"
#include "strategies/importance/importance.h"

/* ---- each parameter against the objective: small charts ------------------ */

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
	struct buf d[MARKS] = { { 0 } }, trials = { 0 };
	struct decimate thin;
	double x, y;
	size_t k, trial;

	for (k = MARKS; k-- > 0;) {
		decimate_init(&thin, c->width, c->height, SQUARE);
		for (trial = 0; trial < r->n; trial++)
			if (page_data_mark(&r->trials[trial]) == k &&
			    place(r, c, trial, i, &x, &y) &&
			    decimate_take(&thin, x, y)) {
				chart_mark_put(&d[k], k, x, y);
				buf_printf(&trials, "%" PRId64 " ",
				    r->trials[trial].number);
			}
		decimate_fini(&thin);
		chart_path_trials(c, chart_mark_class(k), &d[k], &trials);
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

static int
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

/* ---- shares of the parameters -------------------------------------------- */

enum {
	LEAST = 10, /* trials below which no result is shown */
	HINTS = 50, /* … below which the result is marked as uncertain */
	BAR = 100
};

#define GOOD 0.1 /* the share of good trials */

/* The completed trials as the command importance selects them; their number. */
static size_t
trials_take(const struct page *r, double *points, double *losses)
{
	size_t dims = r->study->space->n, i, n = 0;
	const struct page_trial *t;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (t->state != TRIAL_COMPLETED || t->objective != t->objective)
			continue;
		memcpy(points + n * dims, r->points + i * dims,
		    dims * sizeof *points);
		losses[n++] = r->study->maximize ? -t->objective : t->objective;
	}
	return n;
}

/* most: the greatest share, which has the longest bar. */
static void
row_put(struct html *h, const char *name, double share, double most)
{
	html_open(h, "tr");
	html_leaf(h, "td", NULL, name);
	html_open(h, "td");
	html_attr(h, "class", "n");
	html_textf(h, "%.1f %%", 100 * share);
	html_close(h, "td");
	html_open(h, "td");
	html_attr(h, "class", "share");
	html_open(h, "svg");
	html_attr(h, "xmlns", "http://www.w3.org/2000/svg");
	html_attrf(h, "viewBox", "0 0 %d 4", BAR);
	html_attr(h, "preserveAspectRatio", "none");
	html_attr(h, "aria-hidden", "true");
	html_open(h, "rect");
	html_attr(h, "class", "bar");
	html_attrf(h, "width", "%.1f", BAR * share / most);
	html_attr(h, "height", "4");
	html_close(h, "rect");
	html_close(h, "svg");
	html_close(h, "td");
	html_close(h, "tr");
}

/* The greatest shares first, limited to the first ones. */
static void
shares_put(struct page *r, const size_t *order, const double *share)
{
	const struct param *params = r->study->space->params;
	struct html *h = &r->h;
	size_t i, rows = 0, rest = 0;
	double sum = 0;

	html_open(h, "table");
	html_open(h, "tbody");
	for (i = 0; i < r->study->space->n; i++) {
		if (params[order[i]].type == PARAM_FIXED)
			continue;
		if (rows++ < PAGE_ROWS)
			row_put(h, params[order[i]].name, share[order[i]],
			    share[order[0]]);
		else {
			rest++;
			sum += share[order[i]];
		}
	}
	html_close(h, "tbody");
	html_close(h, "table");
	if (rest > 0)
		section_note(
		    h, "%zu others: together %.1f %%.", rest, 100 * sum);
}

static int
share_compare(const void *a, const void *b, void *arg)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const double *share = arg;

	if (share[i] != share[j])
		return share[i] > share[j] ? -1 : 1;
	return (i > j) - (i < j);
}

static void
importance_put(
    struct page *r, const size_t *order, const double *share, size_t n)
{
	section_begin(&r->h, "Parameters that mattered");
	shares_put(r, order, share);
	section_note(&r->h,
	    "PED-ANOVA of %zu completed trials: how much each parameter alone "
	    "brings a trial among the best %.0f %% by %s.%s",
	    n, 100 * GOOD, r->study->metric,
	    n < HINTS ? " With so few of them the numbers are hints." : "");
	section_end(&r->h);
}

int
section_importance(struct page *r, struct err *e)
{
	size_t dims = r->study->space->n, i;
	double *points = xcalloc(r->n * dims + 1, sizeof *points);
	double *losses = xcalloc(r->n + 1, sizeof *losses);
	double *share = xcalloc(dims + 1, sizeof *share);
	size_t *order = xcalloc(dims + 1, sizeof *order);
	struct importance_data data = {
		.space = r->study->space, .points = points, .losses = losses
	};
	int rc;

	for (i = 0; i < dims; i++)
		order[i] = i;
	data.n = trials_take(r, points, losses);
	if (data.n >= LEAST) {
		importance_ped_anova(share, &data, GOOD, 1);
		if (trial_points_shares(share, dims) > 0) {
			qsort_r(
			    order, dims, sizeof *order, share_compare, share);
			importance_put(r, order, share, data.n);
		}
	}
	rc = section_params(r, order, e);
	if (rc == 0 && dims > 1 && share[order[1]] > 0)
		section_contour(r, order[0], order[1]);
	free(points);
	free(losses);
	free(share);
	free(order);
	return rc;
}
