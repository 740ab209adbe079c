/* Learning curves, a selection when there are many, and the medians. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"

enum {
	HEIGHT = 340,
	LINES = 60, /* at most */
	LEADERS = 10, /* of them the best */
	COARSE = 12, /* and in letters; of them the best: */
	COARSE_LEADERS = 4,
	POINTS = 1000000, /* the most points read */
	OTHER_POINTS =
	    20000, /* of each line, when they are not the plain ones */
	PARTS = 100 /* of a long curve, each of 32 points */
};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct curves {
	struct page *r;
	size_t *order; /* trials with reports; the first n are drawn */
	size_t all, n;
	size_t thick; /* the trial with the thicker line; r->n = none */
	struct sparkline *lines; /* n of them */
	struct sparkline medians;
	size_t held; /* marks of suspended stops */
	bool beside; /* each line has a colour of its own */
};

/* The best one, those that may be it, others with a value, those without. */
static int
curves_rank(const struct page *r, size_t trial)
{
	if (trial == r->best)
		return 0;
	if (page_data_is_candidate(&r->trials[trial]))
		return 1;
	return isnan(r->trials[trial].objective) ? 3 : 2;
}

/* Select the best, then others from the first trial to the last. */
static void
lines_choose(struct curves *c)
{
	struct page *r = c->r;
	size_t most = r->coarse ? COARSE : LINES;
	size_t leaders = r->coarse ? COARSE_LEADERS : LEADERS;
	size_t i, rest, step;

	c->order = xcalloc(r->n + 1, sizeof *c->order);
	for (i = 0; i < r->n; i++)
		if (r->trials[i].reports > 0)
			c->order[c->all++] = i;
	page_data_sort(r, c->order, c->all, curves_rank);
	c->n = c->all;
	if (c->all <= most)
		return;
	/* Every step-th of the others, from best to worst. */
	rest = most - leaders;
	step = (c->all - leaders) / rest;
	for (i = 0; i < rest; i++)
		c->order[leaders + i] = c->order[leaders + (i + 1) * step - 1];
	c->n = most;
}

/* The metric that is drawn. */
static const char *
curves_metric(const struct page *r)
{
	return r->curves.metric != NULL ? r->curves.metric : r->study->metric;
}

/* Whether the lines are those of the objective by step. */
static bool
curves_plain(const struct page *r)
{
	return !r->curves.seconds &&
	       strcmp(curves_metric(r), r->study->metric) == 0;
}

/* What is asked for instead: x is a step, or a millisecond. */
static int
curves_other_read(
    struct sparkline *s, const struct page *r, int64_t trial, struct err *e)
{
	struct store_rows *rows;

	if (store_list_metric(&rows, r->store, trial, curves_metric(r),
		r->curves.seconds, OTHER_POINTS, e) != 0)
		return -1;
	return rows_take_curve(s, rows, e);
}

/*
 * An exponential mean whose weights sum to one from the first value on; values that
 * are not finite stay as they are.
 */
static void
curves_smooth(struct sparkline *s, double weight)
{
	double mean = 0, sum = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!isfinite(s->values[i]))
			continue;
		mean = weight * mean + (1 - weight) * s->values[i];
		sum = weight * sum + (1 - weight);
		s->values[i] = mean / sum;
	}
}

/* Where a point of a line is on the x axis. */
static double
curves_x(const struct page *r, const struct sparkline *s, size_t k)
{
	return r->curves.seconds ? (double)s->steps[k] / 1000
				 : (double)s->steps[k];
}

static int
section_curves_lines_read(struct curves *c, struct err *e)
{
	/* A part of the steps is drawn in all of its reports. */
	bool whole = page_data_zoom(c->r, "curves.x") != NULL;
	size_t i, points = 0;

	c->lines = xcalloc(c->n + 1, sizeof *c->lines);
	for (i = 0; i < c->n && points < POINTS; i++) {
		int64_t trial = c->r->trials[c->order[i]].number;

		if ((curves_plain(c->r)
			    ? rows_curve_of_trial(&c->lines[i], c->r->store,
				  trial, whole ? POINTS : PARTS, e)
			    : curves_other_read(
				  &c->lines[i], c->r, trial, e)) != 0)
			return -1;
		if (c->r->curves.smooth > 0)
			curves_smooth(&c->lines[i], c->r->curves.smooth);
		points += c->lines[i].n;
	}
	c->n = i;
	if (!curves_plain(c->r))
		return 0; /* medians are of the objective by step */
	return rows_curve_of_medians(
	    &c->medians, c->r->store, whole ? POINTS : 32 * PARTS, e);
}

/* The ranges of both axes over all lines. */
static void
section_curves_frame_fit(struct curves *c, struct chart *chart)
{
	const double *steps = page_data_zoom(c->r, "curves.x");
	const double *range = page_data_zoom(c->r, "curves.y");
	size_t i, k, n = c->medians.n, at = 0;
	double *values, last = c->r->curves.seconds ? 0.001 : 1;

	for (i = 0; i < c->n; i++)
		n += c->lines[i].n;
	values = xcalloc(n + 1, sizeof *values);
	for (i = 0; i <= c->n; i++) {
		const struct sparkline *s =
		    i < c->n ? &c->lines[i] : &c->medians;

		for (k = 0; k < s->n; k++)
			if (steps == NULL ||
			    (curves_x(c->r, s, k) >= steps[0] &&
				curves_x(c->r, s, k) <= steps[1]))
				values[at++] = s->values[k];
		if (s->n > 0)
			last = fmax(last, curves_x(c->r, s, s->n - 1));
	}
	if (c->r->curves.logarithmic) {
		/* What a logarithm does not have is not drawn. */
		for (i = k = 0; i < at; i++)
			if (values[i] > 0)
				values[k++] = values[i];
		at = k;
		if (at > 0)
			chart->y.kind = AXIS_LOG;
	}
	axis_fit(&chart->y, values, at);
	free(values);
	chart->x = (struct axis){ .kind = c->r->curves.seconds ? AXIS_TIME
							       : AXIS_COUNT,
		.low = 0,
		.high = last };
	if (steps != NULL)
		axis_zoom(&chart->x, steps);
	if (range != NULL)
		axis_zoom(&chart->y, range);
	else
		chart->y.open = chart->x.open;
}

/* Whether a point, or a line from or to it, may be between the ends of x. */
static bool
is_near(const struct page *r, const struct sparkline *s, size_t k,
    const struct axis *x)
{
	return (k + 1 == s->n || curves_x(r, s, k + 1) >= x->low) &&
	       (k == 0 || curves_x(r, s, k - 1) <= x->high);
}

static void
section_curves_line_put(const struct page *r, const struct sparkline *s,
    struct chart *chart, struct buf *d)
{
	struct decimate_line line = { .d = d, .column = 3 };
	size_t k;

	for (k = 0; k < s->n; k++)
		if (is_near(r, s, k, &chart->x))
			decimate_line_add(&line,
			    axis_at(&chart->x, curves_x(r, s, k)),
			    isfinite(s->values[k]) &&
				    (chart->y.kind != AXIS_LOG ||
					s->values[k] > 0)
				? axis_at(&chart->y, s->values[k])
				: NAN);
	decimate_line_end(&line);
}

/* The class of line i; colours come again when there are more lines. */
static const char *
line_class(const struct curves *c, size_t i)
{
	size_t trial = c->order[i];

	if (c->beside)
		return section_line_classes[i % SECTION_LINE_CLASSES];
	return page_data_class(&c->r->trials[trial], trial == c->thick);
}

/*
 * A ring where a guard, or a veto, first suspended the stop of a trial: at the
 * first of consecutive judgements.
 */
static int
section_curves_held_put(struct curves *c, struct chart *chart, struct err *e)
{
	char number[32];
	const char *bind[] = { number, NULL };
	struct buf d = { 0 }, trials = { 0 };
	struct store_rows *rows;
	size_t i;
	int rc = 0;

	if (!curves_plain(c->r))
		return 0;
	for (i = 0; i < c->n && rc == 0; i++) {
		(void)snprintf(number, sizeof number, "%" PRId64,
		    c->r->trials[c->order[i]].number);
		if (store_rows_open(&rows, c->r->store,
			"SELECT step, value FROM (SELECT step, value, verdict, "
			"lag(verdict) OVER (ORDER BY step, time) AS before "
			"FROM stops WHERE trial = CAST(? AS INTEGER)) "
			"WHERE verdict = 'suspended' AND "
			"before IS NOT 'suspended' LIMIT 20",
			bind, e) != 0) {
			rc = -1;
			break;
		}
		while ((rc = store_rows_next(rows, e)) == 1) {
			double step = store_rows_real(rows, 0);
			double value = rows_real(rows, 1);

			if (!isfinite(value) || !axis_holds(&chart->x, step) ||
			    (chart->y.open && !axis_holds(&chart->y, value)))
				continue;
			chart_mark_put(&d, MARK_RING, axis_at(&chart->x, step),
			    axis_at(&chart->y, value));
			buf_printf(&trials, "%s ", number);
			c->held++;
		}
		store_rows_close(rows);
	}
	chart_path_trials(chart, "m held", &d, &trials);
	return rc;
}

/* The best line above the others, the medians on top. */
static void
section_curves_lines_put(struct curves *c, struct chart *chart)
{
	struct buf d = { 0 }, text = { 0 };
	size_t i;

	for (i = c->n; i-- > 0;) {
		section_curves_line_put(c->r, &c->lines[i], chart, &d);
		if (d.len == 0)
			continue;
		buf_clear(&text);
		page_data_describe(&text, c->r, &c->r->trials[c->order[i]]);
		chart_path_titled(chart, line_class(c, i), &d, buf_str(&text));
	}
	section_curves_line_put(c->r, &c->medians, chart, &d);
	chart_path(chart, "median", &d);
	buf_free(&text);
}

static void
section_curves_key_put(struct html *h, const char *class, const char *text)
{
	struct chart c = { .h = h };
	struct buf d = { 0 };

	chart_legend_open(&c);
	buf_puts(&d, "M0 6h12");
	chart_path(&c, class, &d);
	chart_legend_close(&c, text);
}

static void
held_key_put(struct html *h)
{
	struct chart c = { .h = h };
	struct buf d = { 0 };

	chart_legend_open(&c);
	chart_mark_put(&d, MARK_RING, 6, 6);
	chart_path(&c, "m held", &d);
	chart_legend_close(&c, "a guard suspended its stop from here");
}

/* name NULL: of the thicker line. */
static void
thick_or_key_put(struct curves *c, const char *class, const char *name)
{
	char text[40];

	(void)snprintf(text, sizeof text, "trial %" PRId64,
	    c->r->trials[c->thick < c->r->n ? c->thick : 0].number);
	section_curves_key_put(&c->r->h, class,
	    name != NULL	     ? name
	    : c->thick == c->r->best ? "best trial"
				     : text);
}

/* A key for each class that is drawn. */
static void
class_keys_put(struct curves *c)
{
	static const struct {
		const char *class, *name;
	} kinds[] = { { "top", NULL }, { "curve", "completed" },
		{ "cut", "stopped early" }, { "bad", "other" } };
	size_t i, k;

	for (k = 0; k < COUNT(kinds); k++)
		for (i = 0; i < c->n; i++)
			if (strcmp(line_class(c, i), kinds[k].class) == 0) {
				thick_or_key_put(
				    c, kinds[k].class, kinds[k].name);
				break;
			}
}

static void
trial_keys_put(struct curves *c)
{
	char text[40];
	size_t i;

	for (i = 0; i < c->n; i++) {
		(void)snprintf(text, sizeof text, "trial %" PRId64,
		    c->r->trials[c->order[i]].number);
		section_curves_key_put(&c->r->h, line_class(c, i), text);
	}
}

static void
section_curves_notes_put(struct curves *c)
{
	struct html *h = &c->r->h;

	html_open(h, "p");
	html_attr(h, "class", "keys");
	if (c->beside)
		trial_keys_put(c);
	else
		class_keys_put(c);
	if (c->medians.n > 0)
		section_curves_key_put(h, "median", "running median");
	if (c->held > 0)
		held_key_put(h);
	html_close(h, "p");
	if (c->n < c->all)
		section_note(h,
		    "%zu of %zu curves are drawn: the best ones, and others "
		    "evenly from the better to the worse; %zu are left out.",
		    c->n, c->all, c->all - c->n);
}

static void
section_curves_values_put(struct curves *c)
{
	struct html *h = &c->r->h;
	size_t i;

	section_values_open(h, section_line_heads, SECTION_LINE_COLUMNS,
	    "The curves as a table");
	for (i = 0; i < c->n; i++)
		section_line_row(
		    h, &c->r->trials[c->order[i]], NULL, &c->lines[i]);
	section_line_row(h, NULL, "running median", &c->medians);
	section_values_close(h);
}

static int
section_curves_drawing_put(struct curves *c, struct err *e)
{
	struct chart chart = { .h = &c->r->h,
		.width = page_data_width(c->r),
		.height = page_data_height(c->r, HEIGHT) };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	int rc;

	section_curves_frame_fit(c, &chart);
	chart.zoom = c->r->zoomable ? "curves" : NULL;
	chart_frame(&chart, 64);
	buf_printf(&name, "%s of %zu trial%s by %s", curves_metric(c->r), c->n,
	    c->n == 1 ? "" : "s", c->r->curves.seconds ? "time" : "step");
	chart_open(&chart, buf_str(&name));
	chart_x(&chart, ticks,
	    axis_ticks(&chart.x, page_data_ticks(c->r, 10), ticks),
	    c->r->curves.seconds ? "since the trial began" : "step");
	buf_clear(&name);
	buf_printf(&name, "%s%s%s", curves_metric(c->r),
	    c->r->curves.smooth > 0 ? ", smoothed" : "",
	    chart.y.kind == AXIS_LOG ? " (logarithmic)" : "");
	chart_y(&chart, ticks, axis_ticks(&chart.y, 7, ticks), buf_str(&name));
	chart_clip_open(&chart, "clip-curves");
	section_curves_lines_put(c, &chart);
	rc = section_curves_held_put(c, &chart, e);
	chart_clip_close(&chart);
	chart_close(&chart);
	buf_free(&name);
	return rc;
}

/* Whether there is anything to draw. */
static bool
has_points(const struct curves *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->lines[i].n > 0)
			return true;
	return c->medians.n > 0;
}

static int
section_curves_put(struct curves *c, struct err *e)
{
	struct page *r = c->r;
	int rc = section_curves_lines_read(c, e);
	size_t i;

	if (rc == 0 && c->n > 0 && !has_points(c)) {
		section_begin(&r->h, "Learning curves");
		section_note(&r->h, "No value of %s has been reported.",
		    curves_metric(r));
		section_end(&r->h);
	} else if (rc == 0 && c->n > 0) {
		section_begin(&r->h, "Learning curves");
		rc = section_curves_drawing_put(c, e);
		section_curves_notes_put(c);
		section_curves_values_put(c);
		section_end(&r->h);
	}
	for (i = 0; c->lines != NULL && i < c->n; i++)
		sparkline_free(&c->lines[i]);
	sparkline_free(&c->medians);
	free(c->lines);
	free(c->order);
	return rc;
}

static int
curves_section_put(struct page *r, struct err *e)
{
	struct curves c = { .r = r, .thick = r->best };

	lines_choose(&c);
	return section_curves_put(&c, e);
}

const struct page_section section_curves = { "curves", curves_section_put };

int
section_trial_curves(
    struct page *r, const size_t *trials, size_t n, struct err *e)
{
	struct curves c = {
		.r = r, .thick = trials[0], .all = n, .n = n, .beside = n > 1
	};

	c.order = xcalloc(n + 1, sizeof *c.order);
	memcpy(c.order, trials, n * sizeof *c.order);
	return section_curves_put(&c, e);
}
