/* Parameter importance: shares of PED-ANOVA as bars. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/decimate.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"
#include "strategies/importance/importance.h"

enum {
	WIDTH = 300,
	WIDTH_OF_TWO = 440,
	HEIGHT = 200,
	DRAWINGS = 24, /* at most */
	TOLD = 2000, /* marks with a tooltip in all charts */
	SQUARE = 5
};

/* The position of a trial's mark; false: none in this chart. */
static bool
section_importance_place(const struct page *r, const struct chart *c,
    size_t trial, size_t i, double *x, double *y)
{
	const struct page_trial *t = &r->trials[trial];
	double u = r->points[trial * r->study->space->n + i];

	if (isnan(t->objective) || isnan(u))
		return false;
	u += section_param_jitter(&r->study->space->params[i], t->number);
	if (u < c->x.low || u > c->x.high)
		return false;
	*x = axis_at(&c->x, u);
	*y = axis_at(&c->y, t->objective);
	return true;
}

static void
section_importance_marks_thinned(struct page *r, struct chart *c, size_t i)
{
	struct buf d[MARKS] = { { 0 } }, trials[MARKS] = { { 0 } };
	struct decimate thin[MARKS];
	double x, y;
	size_t k, trial;

	for (k = 0; k < MARKS; k++)
		decimate_init(&thin[k], c->width, c->height, SQUARE);
	for (trial = 0; trial < r->n; trial++) {
		k = page_data_mark(&r->trials[trial]);
		if (section_importance_place(r, c, trial, i, &x, &y) &&
		    decimate_take(&thin[k], x, y)) {
			chart_mark_put(&d[k], (enum chart_mark)k, x, y);
			buf_printf(&trials[k], "%" PRId64 " ",
			    r->trials[trial].number);
		}
	}
	for (k = MARKS; k-- > 0;) {
		decimate_fini(&thin[k]);
		chart_path_trials(
		    c, chart_mark_class((enum chart_mark)k), &d[k], &trials[k]);
	}
}

static void
section_importance_marks_told(struct page *r, struct chart *c, size_t i)
{
	struct buf d = { 0 }, text = { 0 };
	enum chart_mark mark;
	double x, y;
	size_t trial;

	for (trial = 0; trial < r->n; trial++) {
		if (!section_importance_place(r, c, trial, i, &x, &y))
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

/* false: no part of the parameter lies in the range. */
static bool
section_importance_range_take(
    const struct page *r, struct axis *x, size_t i, const double *range)
{
	double low = axis_param_unit(r->study->space, i, range[0]);
	double high = axis_param_unit(r->study->space, i, range[1]);

	if (!(high > low))
		return false;
	x->low = low;
	x->high = high;
	return true;
}

/*
 * Of a figure: as many beside each other as are more than half as wide; of a page:
 * one or two fill it, and more are three beside each other.
 */
static double
slice_width(const struct page *r, size_t n)
{
	double across = floor(r->width / (0.57 * WIDTH));

	if (!(r->width > 0))
		return n == 1 ? PAGE_WIDTH : n == 2 ? WIDTH_OF_TWO : WIDTH;
	return floor(r->width / (across > 1 ? across : 1));
}

static void
section_importance_drawing_put(struct page *r, size_t i, size_t n)
{
	const struct param *p = &r->study->space->params[i];
	struct chart c = { .h = &r->h,
		.width = slice_width(r, n),
		.height = HEIGHT,
		.y = r->value };
	struct tick ticks[AXIS_TICKS];
	struct buf d = { 0 }, name = { 0 }, zoom = { 0 };
	static const char *const scales[] = { [SCALE_LINEAR] = "linear",
		[SCALE_LOG] = "log",
		[SCALE_REVERSE_LOG] = "reverse-log" };
	struct chart_scale scale = { scales[p->scale], p->min, p->max };
	const double *range = NULL;
	double x, y;

	c.x = (struct axis){ .kind = AXIS_LINEAR, .low = 0, .high = 1 };
	if (section_param_is_number(r, i) && p->max > p->min) {
		buf_printf(&zoom, "slice.%s.x", p->name);
		range = page_data_zoom(r, buf_str(&zoom));
		if (range != NULL &&
		    section_importance_range_take(r, &c.x, i, range)) {
			scale.low = range[0];
			scale.high = range[1];
		} else
			range = NULL;
		zoom.len -= strlen(".x");
		zoom.data[zoom.len] = '\0';
		c.zoom = r->zoomable ? buf_str(&zoom) : NULL;
		c.scale = &scale;
	}
	chart_frame(&c, 48);
	buf_printf(&name, "%s against %s", r->study->metric, p->name);
	chart_open(&c, buf_str(&name));
	buf_clear(&name);
	buf_printf(&name, "%s%s", p->name,
	    p->scale == SCALE_LINEAR ? "" : " (logarithmic)");
	chart_x(&c, ticks,
	    axis_param(r->study->space, i, range, c.x.from, c.x.to,
		c.width < WIDTH ? 4 : 6, ticks),
	    buf_str(&name));
	chart_y(&c, ticks, axis_ticks(&c.y, 5, ticks), NULL);
	if (r->with_value * r->study->space->n <= TOLD)
		section_importance_marks_told(r, &c, i);
	else
		section_importance_marks_thinned(r, &c, i);
	if (r->best < r->n &&
	    section_importance_place(r, &c, r->best, i, &x, &y)) {
		chart_mark_put(&d, MARK_RING, x, y);
		chart_path(&c, "pick", &d);
	}
	chart_close(&c);
	buf_free(&name);
	buf_free(&zoom);
}

static void
section_importance_section_put(struct page *r, const size_t *order, size_t n)
{
	size_t i;

	section_begin(&r->h, "Parameters and results");
	html_open(&r->h, "div");
	html_attr(&r->h, "class", n <= 2 ? "grid2 few2" : "grid2");
	for (i = 0; i < n && i < DRAWINGS; i++)
		section_importance_drawing_put(r, order[i], n);
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
		section_importance_section_put(r, free_ones, n);
	free(free_ones);
	return 0;
}

enum {
	FOREST_TREES = 16,
	HINTS = 50, /* trials below which the result is marked as uncertain */
	BAR = 100
};

/* most: the greatest share, which has the longest bar. */
static void
section_importance_row_put(
    struct html *h, const char *name, double share, double most)
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
			section_importance_row_put(h, params[order[i]].name,
			    share[order[i]], share[order[0]]);
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

/* What the section shows of one objective. */
struct importance {
	struct page *r;
	size_t aim;
	const struct page_share *s;
};

/* With several objectives the title names this one. */
static void
section_of(const struct importance *m, const char *title)
{
	struct buf b = { 0 };

	buf_puts(&b, title);
	if (m->r->aims.several)
		buf_printf(&b, ": %s", m->r->aims.objectives[m->aim].metric);
	section_begin(&m->r->h, buf_str(&b));
	buf_free(&b);
}

static void
interactions_put(struct importance *m)
{
	struct importance_data data = { .space = m->r->study->space,
		.points = m->s->points,
		.losses = m->s->losses,
		.n = m->s->n };
	struct importance_pair pairs[IMPORTANCE_PAIRS];
	const struct param *params = m->r->study->space->params;
	struct html *h = &m->r->h;
	struct buf name = { 0 };
	size_t i, n, trials;

	n = importance_interactions(
	    pairs, &trials, &data, m->s->share, FOREST_TREES);
	if (n == 0)
		return;
	section_of(m, "Interactions");
	html_open(h, "table");
	html_open(h, "tbody");
	for (i = 0; i < n; i++) {
		buf_clear(&name);
		buf_printf(&name, "%s and %s", params[pairs[i].a].name,
		    params[pairs[i].b].name);
		section_importance_row_put(
		    h, buf_str(&name), pairs[i].share, pairs[0].share);
	}
	buf_free(&name);
	html_close(h, "tbody");
	html_close(h, "table");
	section_note(h,
	    "fANOVA of %zu trials: the share of the variance of %s that two "
	    "parameters explain together, beyond what each explains alone.",
	    trials, m->r->aims.objectives[m->aim].metric);
	section_end(h);
}

static void
importance_put(struct importance *m)
{
	struct page *r = m->r;

	section_of(m, "Parameters that mattered");
	shares_put(r, m->s->order, m->s->share);
	section_note(&r->h,
	    "PED-ANOVA of %zu completed trials: how much each parameter alone "
	    "brings a trial among the best %.0f %% by %s.%s",
	    m->s->n, 100 * PAGE_SHARE_GOOD, r->aims.objectives[m->aim].metric,
	    m->s->n < HINTS ? " With so few of them the numbers are hints."
			    : "");
	section_end(&r->h);
	interactions_put(m);
}

/* A parameter that can be on an axis; false: there is none of this name. */
static bool
param_find(const struct page *r, const char *name, size_t *i)
{
	const struct space *space = r->study->space;

	for (*i = 0; name != NULL && *i < space->n; (*i)++)
		if (strcmp(space->params[*i].name, name) == 0)
			return space->params[*i].type != PARAM_FIXED;
	return false;
}

/*
 * Draw the map of the two parameters that were asked for, or of the first two
 * of order.
 */
static void
section_importance_map_put(struct page *r, const struct page_share *s)
{
	size_t x, y;

	if (param_find(r, r->map[0], &x) && param_find(r, r->map[1], &y) &&
	    x != y)
		section_contour(r, x, y, false);
	else if (r->study->space->n > 1 && s->share[s->order[1]] > 0)
		section_contour(r, s->order[0], s->order[1], true);
}

static int
importance_section_put(struct page *r, struct err *e)
{
	struct importance m = { .r = r };
	int rc;

	for (m.aim = 0; m.aim < r->aims.n; m.aim++) {
		m.s = page_share_of(r, m.aim);
		if (r->study->space->n > 0 && m.s->share[m.s->order[0]] > 0)
			importance_put(&m);
	}
	/* The charts below are about the first objective. */
	rc = section_params(r, page_share_of(r, 0)->order, e);
	if (rc == 0)
		section_importance_map_put(r, page_share_of(r, 0));
	return rc;
}

const struct page_section section_importance = { "importance",
	importance_section_put };

static int
slice_put(struct page *r, struct err *e)
{
	return section_params(r, page_share_of(r, 0)->order, e);
}

const struct page_section section_slice = { "slice", slice_put };

static int
map_put(struct page *r, struct err *e)
{
	(void)e;
	section_importance_map_put(r, page_share_of(r, 0));
	return 0;
}

const struct page_section section_map = { "contour", map_put };

enum {
	ROW_HEIGHT = 18,
	LINE_HEIGHT = 13, /* of a chart in letters, whose rows are lines */
	FOOT = 36
};

/* One bar of the chart around y, from the left edge of its frame. */
static void
share_bar_put(struct chart *c, double y, double share)
{
	html_open(c->h, "rect");
	html_attr(c->h, "class", "bar");
	html_attrf(c->h, "x", "%.1f", c->left);
	html_attrf(c->h, "y", "%.1f", y - ROW_HEIGHT / 2.0 + 3);
	html_attrf(c->h, "width", "%.1f", axis_at(&c->x, share) - c->left);
	html_attrf(c->h, "height", "%d", ROW_HEIGHT - 6);
	html_close(c->h, "rect");
}

/* The shares of one objective as a chart, for a figure. */
static void
share_chart_put(const struct importance *m, const size_t *order, size_t n)
{
	struct page *r = m->r;
	struct chart c = { .h = &r->h,
		.width = page_data_width(r),
		.height = ROW_HEIGHT * (double)n + FOOT + 18 };
	double row = r->coarse ? LINE_HEIGHT : ROW_HEIGHT, top;
	struct tick ticks[AXIS_TICKS], names[PAGE_ROWS];
	struct buf name = { 0 };
	size_t i, len, widest = 0;

	for (i = 0; i < n; i++) {
		const char *full = r->study->space->params[order[i]].name;

		len = text_fit(full, 24);
		widest =
		    text_width(full) < 24
			? text_width(full) > widest ? text_width(full) : widest
			: 24;
		(void)snprintf(names[i].label, sizeof names[i].label, "%.*s%s",
		    (int)len, full, full[len] == '\0' ? "" : "...");
	}
	c.x = (struct axis){ .kind = AXIS_LINEAR,
		.low = 0,
		.high = 100 * m->s->share[order[0]] };
	if (r->coarse)
		c.height = LINE_HEIGHT * (double)(n + 2) + FOOT + 4;
	chart_frame(&c, 7.5 * (double)widest + 14);
	top = r->coarse ? 2 * LINE_HEIGHT : c.top;
	buf_printf(
	    &name, "importance for %s", r->aims.objectives[m->aim].metric);
	chart_open(&c, buf_str(&name));
	buf_puts(&name, ", %");
	chart_x(&c, ticks, axis_ticks(&c.x, page_data_ticks(r, 8), ticks),
	    buf_str(&name));
	for (i = 0; i < n; i++)
		names[i].at = top + row * ((double)i + 0.5);
	chart_y(&c, names, n, NULL);
	for (i = 0; i < n; i++)
		share_bar_put(&c, names[i].at, 100 * m->s->share[order[i]]);
	chart_close(&c);
	buf_free(&name);
}

static int
shares_section_put(struct page *r, struct err *e)
{
	struct importance m = { .r = r };
	size_t *order, i, n;

	(void)e;
	for (m.aim = 0; m.aim < r->aims.n; m.aim++) {
		m.s = page_share_of(r, m.aim);
		order = xcalloc(r->study->space->n + 1, sizeof *order);
		for (i = n = 0; i < r->study->space->n && n < PAGE_ROWS; i++)
			if (r->study->space->params[m.s->order[i]].type !=
			    PARAM_FIXED)
				order[n++] = m.s->order[i];
		if (n > 0 && m.s->share[order[0]] > 0) {
			section_of(&m, "Parameters that mattered");
			share_chart_put(&m, order, n);
			section_note(&r->h,
			    "PED-ANOVA of %zu completed trials: how much each "
			    "parameter alone brings a trial among the best "
			    "%.0f %% by %s.",
			    m.s->n, 100 * PAGE_SHARE_GOOD,
			    r->aims.objectives[m.aim].metric);
			section_end(&r->h);
		}
		free(order);
	}
	return 0;
}

const struct page_section section_shares = { "shares", shares_section_put };
