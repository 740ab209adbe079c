/* Several studies in one chart: the best value so far, by trials, time, cost. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-frame.h"
#include "src/web/web-page.h"
#include "src/web/web-studies.h"

enum { STUDIES = 8, HEIGHT = 320 };

/* What the best value is drawn against. */
enum against {
	BY_TRIALS, /* completed ones */
	BY_TIME, /* seconds since the study was created */
	BY_COST, /* of all trials that have ended */
	AGAINST
};

/* Where the best value improved. */
struct line {
	char *id, *metric;
	bool maximize;
	double *at[AGAINST], *best;
	size_t n;
	double last[AGAINST];
};

static void
lines_fini(struct line *lines, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		free(lines[i].id);
		free(lines[i].metric);
		for (k = 0; k < AGAINST; k++)
			free(lines[i].at[k]);
		free(lines[i].best);
	}
}

/* Completed trials that violate no constraint, in the order of their ends. */
static int
line_read(struct line *line, struct page *r, struct err *e)
{
	static const char sql[] =
	    "SELECT objective, (julianday(ended) - (SELECT julianday(created) "
	    "FROM study)) * 86400, spent FROM (SELECT trial, state, objective, "
	    "ended, sum(coalesce(cost, 0)) OVER (ORDER BY ended, trial) AS "
	    "spent, forgotten FROM trials WHERE ended IS NOT NULL) AS t "
	    "WHERE state = 'completed' AND forgotten = 0 AND "
	    "objective BETWEEN -1.7976931348623157e308 AND "
	    "1.7976931348623157e308 AND NOT EXISTS (SELECT 1 FROM outcomes "
	    "WHERE outcomes.trial = t.trial AND violation > 0) "
	    "ORDER BY ended, trial";
	struct store_rows *rows;
	double value;
	size_t k;
	int rc;

	for (k = 0; k < AGAINST; k++)
		line->at[k] = xcalloc(r->n + 1, sizeof *line->at[k]);
	line->best = xcalloc(r->n + 1, sizeof *line->best);
	if (store_rows_open(&rows, r->store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		value = store_rows_real(rows, 0);
		line->last[BY_TRIALS]++;
		line->last[BY_TIME] = store_rows_real(rows, 1);
		line->last[BY_COST] = store_rows_real(rows, 2);
		if (line->n > 0 &&
		    !page_data_better(r, value, line->best[line->n - 1]))
			continue;
		for (k = 0; k < AGAINST; k++)
			line->at[k][line->n] = line->last[k];
		line->best[line->n++] = value;
	}
	store_rows_close(rows);
	return rc;
}

static int
study_read(struct line *line, const struct web_study *s, struct err *e)
{
	struct page r;
	int rc;

	line->id = xstrdup(s->id);
	rc = web_page_open(&r, s, e);
	if (rc == 0) {
		line->metric = xstrdup(r.study->metric);
		line->maximize = r.study->maximize;
		if (r.aims.several)
			rc = err_set(e, ERR_USAGE,
			    "%s has several objectives: there is no best value "
			    "to compare",
			    s->id);
		else
			rc = line_read(line, &r, e);
	}
	web_page_close(&r);
	return rc;
}

static void
line_put(struct chart *c, const struct line *line, size_t at, const double *x,
    double last)
{
	static const char *const classes[STUDIES] = { "s0", "s1", "s2", "s3",
		"s4", "s5", "s6", "s7" };
	struct buf d = { 0 }, class = { 0 };
	struct decimate_line thin = { .d = &d, .column = 0.5 };
	size_t i;

	for (i = 0; i < line->n; i++) {
		if (i > 0)
			decimate_line_add(&thin, axis_at(&c->x, x[i]),
			    axis_at(&c->y, line->best[i - 1]));
		decimate_line_add(
		    &thin, axis_at(&c->x, x[i]), axis_at(&c->y, line->best[i]));
	}
	if (line->n > 0)
		decimate_line_add(&thin, axis_at(&c->x, last),
		    axis_at(&c->y, line->best[line->n - 1]));
	decimate_line_end(&thin);
	if (d.len > 0) {
		buf_printf(&class, "study %s", classes[at]);
		chart_path_titled(c, buf_str(&class), &d, line->id);
	}
	buf_free(&class);
}

/* Nothing when no study has got anywhere there, such as without costs. */
static void
chart_put(struct html *h, const struct line *lines, size_t n, enum against by)
{
	static const struct {
		const char *title, *name, *axis;
		enum axis_kind kind;
	} kinds[AGAINST] = {
		[BY_TRIALS] = { "Best value by trials", "trials",
		    "completed trials", AXIS_COUNT },
		[BY_TIME] = { "Best value by time", "time",
		    "since the study was created", AXIS_TIME },
		[BY_COST] = { "Best value by cost", "cost",
		    "dollars of all ended trials", AXIS_LINEAR },
	};
	struct chart c = { .h = h, .width = PAGE_WIDTH, .height = HEIGHT };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	double *values, most = 0;
	size_t i, k, all = 0;

	for (i = 0; i < n; i++) {
		all += lines[i].n;
		most = fmax(most, lines[i].last[by]);
	}
	if (by == BY_COST && !(most > 0))
		return;
	values = xcalloc(all + 1, sizeof *values);
	all = 0;
	for (i = 0; i < n; i++)
		for (k = 0; k < lines[i].n; k++)
			values[all++] = lines[i].best[k];
	axis_fit(&c.y, values, all);
	free(values);
	c.x = (struct axis){
		.kind = kinds[by].kind, .low = 0, .high = most > 0 ? most : 1
	};
	section_begin(h, kinds[by].title);
	chart_frame(&c, 64);
	buf_printf(
	    &name, "best %s so far by %s", lines[0].metric, kinds[by].name);
	chart_open(&c, buf_str(&name));
	chart_x(&c, ticks, axis_ticks(&c.x, 10, ticks), kinds[by].axis);
	chart_y(&c, ticks, axis_ticks(&c.y, 7, ticks), lines[0].metric);
	for (i = 0; i < n; i++)
		line_put(&c, &lines[i], i, lines[i].at[by], lines[i].last[by]);
	chart_close(&c);
	section_end(h);
	buf_free(&name);
}

/* The same in numbers: what each study has reached, where, and what it took. */
static void
values_put(struct html *h, const struct line *lines, size_t n)
{
	static const char *const heads[] = { "study", "metric", "best",
		"at completed trial", "of", "after", "of" };
	enum { HEADS = sizeof heads / sizeof *heads };
	struct buf texts[HEADS] = { { 0 } };
	const struct line *line;
	const char *cells[HEADS];
	size_t i, k;

	section_values_open(h, heads, HEADS, "The best values as a table");
	for (i = 0; i < n; i++) {
		line = &lines[i];
		buf_puts(&texts[0], line->id);
		buf_puts(&texts[1], line->metric);
		if (line->n > 0) {
			rows_put_number(
			    &texts[2], line->best[line->n - 1], PAGE_DIGITS);
			buf_printf(&texts[3], "%.0f",
			    line->at[BY_TRIALS][line->n - 1]);
			duration_put(&texts[5],
			    llround(1000 * line->at[BY_TIME][line->n - 1]));
		}
		buf_printf(&texts[4], "%.0f", line->last[BY_TRIALS]);
		duration_put(&texts[6], llround(1000 * line->last[BY_TIME]));
		for (k = 0; k < HEADS; k++)
			cells[k] = buf_str(&texts[k]);
		section_values_row(h, cells, HEADS);
		for (k = 0; k < HEADS; k++)
			buf_clear(&texts[k]);
	}
	section_values_close(h);
	for (k = 0; k < HEADS; k++)
		buf_free(&texts[k]);
}

static void
keys_put(struct html *h, const struct line *lines, size_t n)
{
	struct buf d = { 0 }, class = { 0 };
	struct chart c = { .h = h };
	size_t i;

	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (i = 0; i < n; i++) {
		chart_legend_open(&c);
		buf_puts(&d, "M0 6h12");
		buf_printf(&class, "study s%zu", i);
		chart_path(&c, buf_str(&class), &d);
		buf_clear(&class);
		chart_legend_close(&c, lines[i].id);
	}
	html_close(h, "p");
	buf_free(&class);
}

int
web_page_compare(struct buf *out, const struct web_access *access,
    struct web_studies *all, const struct web_address *address, struct err *e)
{
	static const struct web_step steps[] = { { "studies", "/" },
		{ "compare", NULL } };
	struct line lines[STUDIES] = { { 0 } };
	const struct web_study *s;
	struct html h = { 0 };
	const char *id;
	size_t n, k;
	int rc = 0;

	for (n = 0; n < STUDIES && rc == 0 &&
		    (id = web_address_param(address, "study", n)) != NULL;) {
		s = web_studies_find(all, id);
		rc = s == NULL ? err_set(e, ERR_USAGE, "%s: no such study", id)
			       : study_read(&lines[n++], s, e);
	}
	if (rc == 0 && n == 0)
		rc = err_set(e, ERR_USAGE,
		    "no study is given: /compare?study=NAME&study=NAME");
	if (rc == 0) {
		web_frame_begin(&h, access, "compare", NULL, steps, 2);
		html_leaf(&h, "h1", NULL, "Studies beside each other");
		keys_put(&h, lines, n);
		for (k = 0; k < AGAINST; k++)
			chart_put(&h, lines, n, (enum against)k);
		values_put(&h, lines, n);
		web_frame_end(&h);
		buf_add(out, h.out.data, h.out.len);
	}
	buf_free(&h.out);
	lines_fini(lines, n);
	return rc;
}
