/* The other metrics of the best trials by step: a small chart for each. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"

enum {
	WIDTH = 440,
	HEIGHT = 220,
	METRICS = 12, /* at most */
	LINES = 12, /* trials in each chart, */
	BEST = 10, /* of which the best ones */
	POINTS = 100000 /* of a line, at most */
};

struct drawing {
	struct page *r;
	const char *metric;
	const size_t *beside; /* trials to draw beside each other, or NULL */
	size_t order[LINES]; /* trials, the best first */
	size_t n;
	struct sparkline lines[LINES];
	struct chart c;
};

/* Order of two trials: those with a result first, by their objective. */
static bool
is_before(const struct page *r, size_t i, size_t j)
{
	const struct page_trial *a = &r->trials[i], *b = &r->trials[j];

	if (page_data_is_candidate(a) != page_data_is_candidate(b))
		return page_data_is_candidate(a);
	if (isnan(a->objective) || isnan(b->objective))
		return !isnan(a->objective);
	return page_data_better(r, a->objective, b->objective);
}

static void
section_metrics_trials_choose(struct drawing *d)
{
	const struct page *r = d->r;
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		if (r->trials[i].reports == 0)
			continue;
		for (k = d->n; k > 0 && is_before(r, i, d->order[k - 1]); k--)
			if (k < BEST)
				d->order[k] = d->order[k - 1];
		if (k == BEST)
			continue;
		d->order[k] = i;
		if (d->n < BEST)
			d->n++;
	}
}

static int
section_metrics_lines_read(struct drawing *d, struct err *e)
{
	char number[32], sql[200];
	const char *bind[] = { number, d->metric, NULL };
	size_t i;

	(void)snprintf(sql, sizeof sql,
	    "SELECT step, value FROM metrics WHERE trial = CAST(? AS INTEGER) "
	    "AND name = ? GROUP BY step HAVING "
	    "coalesce(attempt, 0) = max(coalesce(attempt, 0)) "
	    "ORDER BY step LIMIT %d",
	    POINTS);
	for (i = 0; i < d->n; i++) {
		(void)snprintf(number, sizeof number, "%" PRId64,
		    d->r->trials[d->order[i]].number);
		if (rows_curve(&d->lines[i], d->r->store, sql, bind, e) != 0)
			return -1;
	}
	return 0;
}

/* The ranges of both axes; false when there is nothing to draw. */
static bool
section_metrics_frame_fit(struct drawing *d)
{
	size_t i, k, n = 0, at = 0;
	int64_t last = 1;
	double *values;

	for (i = 0; i < d->n; i++)
		n += d->lines[i].n;
	values = xcalloc(n + 1, sizeof *values);
	for (i = 0; i < d->n; i++)
		for (k = 0; k < d->lines[i].n; k++) {
			values[at++] = d->lines[i].values[k];
			if (d->lines[i].steps[k] > last)
				last = d->lines[i].steps[k];
		}
	axis_fit(&d->c.y, values, n);
	free(values);
	d->c.x =
	    (struct axis){ .kind = AXIS_COUNT, .low = 0, .high = (double)last };
	return n > 0;
}

static void
section_metrics_line_put(struct drawing *d, size_t i)
{
	const struct sparkline *s = &d->lines[i];
	const struct page_trial *t = &d->r->trials[d->order[i]];
	struct buf path = { 0 }, text = { 0 };
	struct decimate_line line = { .d = &path, .column = 3 };
	size_t k;

	for (k = 0; k < s->n; k++)
		decimate_line_add(&line, axis_at(&d->c.x, (double)s->steps[k]),
		    isfinite(s->values[k]) ? axis_at(&d->c.y, s->values[k])
					   : NAN);
	decimate_line_end(&line);
	if (path.len > 0) {
		page_data_describe(&text, d->r, t);
		chart_path_titled(&d->c,
		    d->beside != NULL
			? section_line_classes[i % SECTION_LINE_CLASSES]
			: page_data_class(t, d->order[i] == d->r->best),
		    &path, buf_str(&text));
	}
	buf_free(&text);
}

static void
section_metrics_drawing_put(struct drawing *d)
{
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	size_t i;

	html_open(&d->r->h, "div");
	chart_frame(&d->c, 56);
	buf_printf(&name, "%s of %zu trial%s by step", d->metric, d->n,
	    d->n == 1 ? "" : "s");
	chart_open(&d->c, buf_str(&name));
	chart_x(&d->c, ticks, axis_ticks(&d->c.x, 6, ticks), "step");
	chart_y(&d->c, ticks, axis_ticks(&d->c.y, 5, ticks), d->metric);
	for (i = d->n; i-- > 0;)
		section_metrics_line_put(d, i);
	chart_close(&d->c);
	buf_clear(&name);
	buf_printf(&name, "%s as a table", d->metric);
	section_values_open(
	    &d->r->h, section_line_heads, SECTION_LINE_COLUMNS, buf_str(&name));
	for (i = 0; i < d->n; i++)
		section_line_row(
		    &d->r->h, &d->r->trials[d->order[i]], NULL, &d->lines[i]);
	section_values_close(&d->r->h);
	html_close(&d->r->h, "div");
	buf_free(&name);
}

static int
section_metrics_metric_put(struct page *r, const char *metric,
    const size_t *beside, size_t n, size_t *drawn, struct err *e)
{
	struct drawing d = { .r = r,
		.metric = metric,
		.beside = beside,
		.c = { .h = &r->h, .width = WIDTH, .height = HEIGHT } };
	size_t i;
	int rc;

	if (beside == NULL)
		section_metrics_trials_choose(&d);
	for (; d.n < n && d.n < LINES; d.n++)
		d.order[d.n] = beside[d.n];
	rc = section_metrics_lines_read(&d, e);
	if (rc == 0 && section_metrics_frame_fit(&d)) {
		if ((*drawn)++ == 0) {
			section_begin(&r->h, "Other metrics");
			html_open(&r->h, "div");
			html_attr(&r->h, "class", "grid2 wide2");
		}
		section_metrics_drawing_put(&d);
	}
	for (i = 0; i < d.n; i++)
		sparkline_free(&d.lines[i]);
	return rc;
}

/* beside NULL: the best trials; otherwise these n. */
static int
section_metrics_all_put(struct page *r, const size_t *beside, size_t n,
    size_t *drawn, struct err *e)
{
	struct store_rows *rows;
	int rc;

	*drawn = 0;
	if (store_list_metric_names(&rows, r->store, METRICS, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		if (section_metrics_metric_put(r, store_rows_text(rows, 0),
			beside, n, drawn, e) != 0) {
			rc = -1;
			break;
		}
	store_rows_close(rows);
	if (rc == 0 && *drawn > 0)
		html_close(&r->h, "div");
	return rc;
}

static int
section_metrics_put(struct page *r, struct err *e)
{
	size_t drawn;
	int rc = section_metrics_all_put(r, NULL, 0, &drawn, e);

	if (rc == 0 && drawn > 0) {
		if (r->aims.several)
			section_note(&r->h, "The %d best trials by %s at most.",
			    BEST, r->study->metric);
		else
			section_note(&r->h,
			    "The %d best trials at most; the thick line is the "
			    "best one.",
			    BEST);
		section_end(&r->h);
	}
	return rc;
}

int
section_trial_metrics(
    struct page *r, const size_t *trials, size_t n, struct err *e)
{
	size_t drawn;
	int rc = section_metrics_all_put(r, trials, n, &drawn, e);

	if (rc == 0 && drawn > 0)
		section_end(&r->h);
	return rc;
}

const struct page_section section_metrics = { "metrics", section_metrics_put };
