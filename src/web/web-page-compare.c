/* Several studies in one chart: the best value so far, by trials, time, cost. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/web/studies/web-studies.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-database.h"
#include "src/web/web-page.h"
#include "src/web/web-sink.h"
#include "src/web/web-zoom.h"

enum { STUDIES = 8, HEIGHT = 320 };

/* What the best value is drawn against. */
enum against {
	BY_TRIALS, /* completed ones */
	BY_TIME, /* seconds since the study was created */
	BY_COST, /* of all trials that have ended */
	AGAINST
};

/* Where the best value of a study improved. */
struct line {
	char *id, *metric;
	char *trouble; /* why it is not drawn, or NULL */
	bool maximize;
	double *at[AGAINST], *best;
	size_t n;
	double last[AGAINST];
};

static void
web_page_compare_lines_fini(struct line *lines, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		free(lines[i].id);
		free(lines[i].metric);
		free(lines[i].trouble);
		for (k = 0; k < AGAINST; k++)
			free(lines[i].at[k]);
		free(lines[i].best);
	}
}

/* Completed trials that violate no constraint, in the order of their ends. */
static int
web_page_compare_line_read(struct line *line, struct page *r, struct err *e)
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
	if (rc == 0 && line->n == 0)
		return err_set(e, ERR_USAGE, "no trial has completed%s",
		    r->aims.constraints ? " and kept all constraints" : "");
	return rc;
}

static int
web_page_compare_study_read(struct line *line, const char *root,
    const struct web_study *s, struct err *e)
{
	struct page r;
	int rc;

	if (s == NULL)
		return err_set(e, ERR_USAGE, "no such study");
	rc = web_database_open(&r, root, s, e);
	if (rc == 0) {
		line->metric = xstrdup(r.study->metric);
		line->maximize = r.study->maximize;
		if (r.aims.several)
			rc = err_set(e, ERR_USAGE,
			    "several objectives, so that no value is the "
			    "best: its page has its front");
		else
			rc = web_page_compare_line_read(line, &r, e);
	}
	web_database_close(&r);
	return rc;
}

static void
web_page_compare_line_put(struct chart *c, const struct line *line, size_t at,
    const double *x, double last)
{
	static const char *const classes[STUDIES] = { "s0", "s1", "s2", "s3",
		"s4", "s5", "s6", "s7" };
	struct buf d = { 0 }, class = { 0 };
	struct decimate_line thin = { .d = &d, .column = 0.5 };
	size_t i;

	if (line->trouble != NULL)
		return;
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

/* What stands in addresses, headings, and at the axes. */
static const struct {
	const char *title, *name, *x, *y, *axis;
	enum axis_kind kind;
} kinds[AGAINST] = {
	[BY_TRIALS] = { "Best value by trials", "trials", "trials.x",
	    "trials.y", "completed trials", AXIS_COUNT },
	[BY_TIME] = { "Best value by time", "time", "time.x", "time.y",
	    "since the study was created", AXIS_TIME },
	[BY_COST] = { "Best value by cost", "cost", "cost.x", "cost.y",
	    "dollars of all ended trials", AXIS_LINEAR },
};

/* The greatest trial, time or cost of all lines. */
static double
web_page_compare_last_of(const struct line *lines, size_t n, enum against by)
{
	double most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmax(most, lines[i].last[by]);
	return most;
}

/* The whole range, or the one of the address. */
static void
web_page_compare_axes_fit(struct chart *c, const struct line *lines, size_t n,
    enum against by, const struct web_address *a)
{
	double most = web_page_compare_last_of(lines, n, by), *values, range[2];
	size_t i, k, all = 0;

	for (i = 0; i < n; i++)
		all += lines[i].n;
	values = xcalloc(all + 1, sizeof *values);
	all = 0;
	for (i = 0; i < n; i++)
		for (k = 0; k < lines[i].n; k++)
			values[all++] = lines[i].best[k];
	axis_fit(&c->y, values, all);
	free(values);
	c->x = (struct axis){
		.kind = kinds[by].kind, .low = 0, .high = most > 0 ? most : 1
	};
	if (web_zoom_range(range, a, kinds[by].x))
		axis_zoom(&c->x, range);
	if (web_zoom_range(range, a, kinds[by].y))
		axis_zoom(&c->y, range);
}

/* What the y axes show: the metric, unless the studies have several. */
static const char *
web_page_compare_metric_of(const struct line *lines, size_t n)
{
	const char *metric = "";
	size_t i;

	for (i = 0; i < n; i++) {
		if (lines[i].trouble != NULL)
			continue;
		if (*metric != '\0' && strcmp(metric, lines[i].metric) != 0)
			return "best value";
		metric = lines[i].metric;
	}
	return metric;
}

/*
 * Draw a chart, but none when no study has got anywhere there, such as without
 * costs.
 */
static void
web_page_compare_chart_put(struct html *h, const struct line *lines, size_t n,
    enum against by, const struct web_address *a)
{
	struct chart c = { .h = h,
		.width = PAGE_WIDTH,
		.height = HEIGHT,
		.zoom = kinds[by].name };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	size_t i;

	if (by == BY_COST && !(web_page_compare_last_of(lines, n, by) > 0))
		return;
	web_page_compare_axes_fit(&c, lines, n, by, a);
	section_begin(h, kinds[by].title);
	chart_frame(&c, 64);
	buf_printf(&name, "best %s so far by %s",
	    web_page_compare_metric_of(lines, n), kinds[by].name);
	chart_open(&c, buf_str(&name));
	chart_x(&c, ticks, axis_ticks(&c.x, 10, ticks), kinds[by].axis);
	chart_y(&c, ticks, axis_ticks(&c.y, 7, ticks),
	    web_page_compare_metric_of(lines, n));
	buf_clear(&name);
	buf_printf(&name, "clip-%s", kinds[by].name);
	chart_clip_open(&c, buf_str(&name));
	for (i = 0; i < n; i++)
		web_page_compare_line_put(
		    &c, &lines[i], i, lines[i].at[by], lines[i].last[by]);
	chart_clip_close(&c);
	chart_close(&c);
	section_end(h);
	buf_free(&name);
}

/* The same in numbers: what each study has reached, where, and what it took. */
static void
web_page_compare_values_put(struct html *h, const struct line *lines, size_t n)
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
		if (line->trouble != NULL)
			continue;
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

/* The colours of the studies, whose names lead to their pages. */
static void
web_page_compare_keys_put(
    struct html *h, const char *root, const struct line *lines, size_t n)
{
	struct buf d = { 0 }, class = { 0 };
	struct chart c = { .h = h };
	char *address;
	size_t i;

	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (i = 0; i < n; i++) {
		if (lines[i].trouble != NULL)
			continue;
		address = web_page_address(root, lines[i].id, "");
		chart_legend_open(&c);
		buf_puts(&d, "M0 6h12");
		buf_printf(&class, "study s%zu", i);
		chart_path(&c, buf_str(&class), &d);
		buf_clear(&class);
		html_close(h, "svg");
		web_page_link(h, address, lines[i].id);
		html_close(h, "span");
		free(address);
	}
	html_close(h, "p");
	buf_free(&class);
}

/* Studies that are not drawn, and values that cannot be compared. */
static void
web_page_compare_notes_put(struct html *h, const struct line *lines, size_t n)
{
	const struct line *first = NULL;
	struct buf b = { 0 };
	bool differ = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (lines[i].trouble != NULL) {
			section_note(h, "Not drawn: %s: %s.", lines[i].id,
			    lines[i].trouble);
			continue;
		}
		if (first == NULL)
			first = &lines[i];
		differ |= strcmp(lines[i].metric, first->metric) != 0 ||
			  lines[i].maximize != first->maximize;
		buf_printf(&b, "%s%s %s %s", b.len > 0 ? ", " : "", lines[i].id,
		    lines[i].maximize ? "maximizes" : "minimizes",
		    lines[i].metric);
	}
	if (differ)
		section_note(h, "Their objectives differ: %s.", buf_str(&b));
	buf_free(&b);
}

static void
web_page_compare_page_put(struct html *h, const struct web_access *access,
    const struct line *lines, size_t n, const struct web_address *address)
{
	const struct web_step steps[] = { { "studies", address->root },
		{ "compare", NULL } };
	size_t k;

	web_page_begin(
	    h, access, address->root, "compare", WEB_PAGE_REFETCH, steps, 2);
	html_leaf(h, "h1", NULL, "Studies beside each other");
	html_open(h, "div");
	html_attr(h, "id", "part-compare");
	web_page_compare_keys_put(h, address->root, lines, n);
	web_page_compare_notes_put(h, lines, n);
	for (k = 0; k < AGAINST; k++)
		web_page_compare_chart_put(
		    h, lines, n, (enum against)k, address);
	web_page_compare_values_put(h, lines, n);
	if (web_address_param(address, "study", STUDIES) != NULL)
		section_note(h, "The first %d studies are shown.", STUDIES);
	html_close(h, "div");
	web_zoom_put_compare(
	    h, address, web_page_compare_last_of(lines, n, BY_COST) > 0);
	web_page_end(h);
}

int
web_page_compare(struct buf *out, const struct web_access *access,
    struct web_studies *all, const struct web_address *address,
    struct web_sink *sink, struct err *e)
{
	struct line lines[STUDIES] = { { 0 } };
	struct html h = { 0 };
	const char *id;
	size_t n, drawn = 0;
	int rc = 0;

	for (n = 0; n < STUDIES &&
		    (id = web_address_param(address, "study", n)) != NULL;
	     n++) {
		struct err wrong = ERR_INIT;

		lines[n].id = xstrdup(id);
		web_sink_at(sink, (int64_t)n);
		if (web_page_compare_study_read(&lines[n], address->root,
			web_studies_find(all, id), &wrong) == 0)
			drawn++;
		else {
			lines[n].trouble = xstrdup(wrong.text);
			lines[n].n = 0;
			if (drawn == 0 && rc == 0)
				rc = err_set(
				    e, ERR_USAGE, "%s: %s", id, wrong.text);
		}
	}
	if (n == 0)
		rc = err_set(e, ERR_USAGE,
		    "no study is given: compare?study=NAME&study=NAME");
	if (drawn > 0) {
		rc = 0;
		web_page_compare_page_put(&h, access, lines, n, address);
		buf_add(out, h.out.data, h.out.len);
	}
	buf_free(&h.out);
	web_page_compare_lines_fini(lines, n);
	return rc;
}
