/*
 * Draws one study of a replay: a bar per trial, the best trial on top, or its
 * curves on a page.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/table.h"
#include "src/cli/replay-chart.h"
#include "src/html/chart.h"
#include "src/html/html.h"
#include "src/html/page.h"
#include "src/server/replay/replay.h"

enum {
	CHART_ROWS = 40, /* trials that are drawn */
	CHART_WIDTH = 50, /* columns of the longest bar */
	CHART_STUDIES = 60 /* of a file, whose marks are drawn */
};

/* By enum replay_fate. */
static const char *const fates_utf8[] = { "·", "○", "×" };
static const char *const fates_ascii[] = { ".", "o", "x" };

/* Marks of reports that are run, run in a second look, and not run. */
struct marks {
	const char *run, *again, *skipped;
};

static int64_t
row_reports(const struct replay_chart_row *row)
{
	return row->run + row->again + row->skipped;
}

/* Columns of the bar up to this number of reports. */
static int64_t
columns_of(int64_t reports, int64_t most)
{
	return most > 0 ? (reports * CHART_WIDTH + most / 2) / most : 0;
}

static char *
bar_of(const struct replay_chart_row *row, int64_t most, const struct marks *m)
{
	int64_t run = columns_of(row->run, most),
		again = columns_of(row->run + row->again, most),
		all = columns_of(row_reports(row), most), i;
	struct buf bar = { 0 };

	for (i = 0; i < all; i++)
		buf_puts(&bar, i < run	   ? m->run
			       : i < again ? m->again
					   : m->skipped);
	return buf_take(&bar);
}

static void
row_put(struct table *table, const struct replay_chart_row *row, int64_t most,
    const struct marks *m)
{
	enum table_tint tint = row->skipped > 0 ? TABLE_FAINT
			       : row->again > 0 ? TABLE_GOOD
						: TABLE_PLAIN;
	char *bar = bar_of(row, most, m);

	table_cell_real(table, (double)row->trial, 15);
	table_cell_real(table, row->result, 6);
	table_cell(table, bar, tint);
	table_cell(table,
	    row->skipped > 0 ? "stopped"
	    : row->again > 0 ? "second look"
			     : "",
	    tint);
	free(bar);
}

/* The best trials of the first study of a file. */
static void
bars_put(struct buf *out, const struct replay_chart *chart, const char *rule,
    const struct marks *m, const struct cli *cli)
{
	struct table *table = table_new();
	int64_t most = 0;
	size_t i;

	buf_printf(out,
	    "\nOne study of %s with %s, its trials by result; %s run, %s run "
	    "in "
	    "a second look, %s not run\n\n",
	    chart->file, rule, m->run, m->again, m->skipped);
	table_column(table, "trial", TABLE_RIGHT);
	table_column(table, "result", TABLE_RIGHT);
	table_column(table, "reports", TABLE_LEFT);
	table_column(table, "", TABLE_LEFT);
	for (i = 0; i < chart->n; i++)
		if (row_reports(&chart->rows[i]) > most)
			most = row_reports(&chart->rows[i]);
	for (i = 0; i < chart->n && i < CHART_ROWS; i++)
		row_put(table, &chart->rows[i], most, m);
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	if (chart->n > CHART_ROWS)
		buf_printf(out, "and %zu trials with worse results\n",
		    chart->n - CHART_ROWS);
}

/* A mark for each study, and how many more there are; free it. */
static char *
fates_text(const struct replay_chart *chart, const char *const *marks)
{
	struct buf text = { 0 };
	size_t i;

	for (i = 0; i < chart->n_fates && i < CHART_STUDIES; i++)
		buf_puts(&text, marks[chart->fates[i]]);
	if (chart->n_fates > CHART_STUDIES)
		buf_printf(
		    &text, " and %zu more", chart->n_fates - CHART_STUDIES);
	return buf_take(&text);
}

/* All studies of all rules and files. */
static void
fates_put(struct buf *out, const struct replay_charts *charts,
    const char *const *rules, size_t n, const char *const *marks,
    const struct cli *cli)
{
	struct table *table = table_new();
	char *text;
	size_t i, k;

	buf_printf(out,
	    "\nThe best trial of each study: %s runs to its end, %s is stopped "
	    "and resumed by a second look, %s is lost\n\n",
	    marks[REPLAY_KEPT], marks[REPLAY_FOUND], marks[REPLAY_LOST]);
	table_column(table, "rule", TABLE_LEFT);
	table_column(table, "file", TABLE_LEFT);
	table_column(table, "studies", TABLE_LEFT);
	for (i = 0; i < n; i++)
		for (k = 0; k < charts[i].n; k++) {
			if (charts[i].list[k].n_fates == 0)
				continue;
			text = fates_text(&charts[i].list[k], marks);
			table_cell(table, rules[i], TABLE_PLAIN);
			table_cell(table, charts[i].list[k].file, TABLE_PLAIN);
			table_cell(table, text, TABLE_PLAIN);
			free(text);
		}
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
}

void
replay_chart_put(struct buf *out, const struct replay_charts *charts,
    const char *const *rules, size_t n, const struct cli *cli)
{
	static const struct marks blocks = { "█", "▒", "·" },
				  letters = { "#", "+", "." };
	const struct marks *m = text_is_utf8() ? &blocks : &letters;
	size_t i, k;

	fates_put(out, charts, rules, n,
	    text_is_utf8() ? fates_utf8 : fates_ascii, cli);
	for (i = 0; i < n; i++)
		for (k = 0; k < charts[i].n; k++)
			if (charts[i].list[k].rows != NULL)
				bars_put(
				    out, &charts[i].list[k], rules[i], m, cli);
}

/* ---- the page ------------------------------------------------------------ */

enum { PAGE_HIGH = 420, PAGE_WIDE = 880 };

/* The part of a curve between two reports; a value that is none breaks it. */
static void
curve_part(struct chart *c, const struct replay_chart_row *row, size_t from,
    size_t to, const char *class)
{
	struct buf d = { 0 };
	bool pen = false;
	size_t i;

	for (i = from; i < to; i++) {
		if (!isfinite(row->values[i])) {
			pen = false;
			continue;
		}
		buf_printf(&d, "%s%.1f %.1f", pen ? "L" : "M",
		    axis_at(&c->x, (double)row->steps[i]),
		    axis_at(&c->y, row->values[i]));
		pen = true;
	}
	chart_path(c, class, &d);
}

/* The class of what was run before a stop, and of what was not. */
static void
curve_put(struct chart *c, const struct replay_chart_row *row)
{
	size_t run = (size_t)row->run, again = run + (size_t)row->again;
	bool whole = row->skipped == 0 && row->again == 0;

	again = again > row->n ? row->n : again;
	run = run > row->n ? row->n : run;
	if (row->skipped > 0)
		curve_part(c, row, again > 0 ? again - 1 : 0, row->n, "bad");
	if (row->again > 0)
		curve_part(c, row, run > 0 ? run - 1 : 0, again, "top");
	curve_part(c, row, 0, run, whole ? "curve" : "cut");
}

/* The ranges of both axes. */
static void
page_axes(struct chart *c, const struct replay_chart *chart)
{
	size_t n = 0, i, k;
	double *values;

	c->x = (struct axis){ .kind = AXIS_COUNT, .low = 0, .high = 1 };
	for (i = 0; i < chart->n; i++)
		n += chart->rows[i].n;
	values = xcalloc(n + 1, sizeof *values);
	for (n = 0, i = 0; i < chart->n; i++)
		for (k = 0; k < chart->rows[i].n; k++) {
			values[n++] = chart->rows[i].values[k];
			axis_include(&c->x, (double)chart->rows[i].steps[k]);
		}
	axis_fit(&c->y, values, n);
	free(values);
}

static void
page_curves(struct html *h, const struct replay_chart *chart)
{
	struct chart c = { .h = h, .width = PAGE_WIDE, .height = PAGE_HIGH };
	struct tick ticks[AXIS_TICKS];
	size_t i;

	page_axes(&c, chart);
	chart_frame(&c, 64);
	chart_open(&c, "curves of the trials");
	chart_x(&c, ticks, axis_ticks(&c.x, 10, ticks), "step");
	chart_y(&c, ticks, axis_ticks(&c.y, 7, ticks), NULL);
	for (i = chart->n; i-- > 0;)
		curve_put(&c, &chart->rows[i]);
	chart_close(&c);
}

static void
page_head(struct html *h)
{
	html_head_open(h, PAGE_ABOUT);
	html_meta(h, "http-equiv", "Content-Security-Policy",
	    "default-src 'none'; style-src 'unsafe-inline'");
	html_leaf(h, "title", NULL, "hpotune replay");
	html_style(h, page_style);
	html_close(h, "head");
}

/* The curves of the first study of a file. */
static void
page_study(struct html *h, const struct replay_chart *chart)
{
	int64_t stopped = 0, looks = 0;
	size_t i;

	for (i = 0; i < chart->n; i++) {
		looks += chart->rows[i].again > 0;
		stopped +=
		    chart->rows[i].again > 0 || chart->rows[i].skipped > 0;
	}
	page_curves(h, chart);
	html_open(h, "p");
	html_attr(h, "class", "keys");
	html_textf(h,
	    "%zu trials. Thin: run to the end. Orange: run until the rule "
	    "stopped them (%lld). Grey: not run. Thick: run in a second look "
	    "(%lld).",
	    chart->n, (long long)stopped, (long long)looks);
	html_close(h, "p");
}

static void
page_file(struct html *h, const struct replay_chart *chart)
{
	char *fates = fates_text(chart, fates_utf8);

	html_leaf(h, "h3", NULL, chart->file);
	html_open(h, "p");
	html_textf(h, "The best trial of each study: ");
	html_leaf(h, "code", NULL, fates);
	html_close(h, "p");
	if (chart->rows != NULL)
		page_study(h, chart);
	free(fates);
}

int
replay_chart_write(const char *path, const struct replay_charts *charts,
    const char *const *rules, size_t n, struct err *e)
{
	struct html h = { .depth = 0 };
	size_t i, k;
	int rc;

	page_head(&h);
	html_open(&h, "body");
	html_open(&h, "main");
	html_leaf(&h, "h1", NULL, "Studies with stopping rules");
	html_open(&h, "p");
	html_attr(&h, "class", "keys");
	html_textf(&h,
	    "The best trial of a study: %s runs to its end, %s is stopped and "
	    "resumed by a second look, %s is lost. The curves are those of the "
	    "first study of each file.",
	    fates_utf8[REPLAY_KEPT], fates_utf8[REPLAY_FOUND],
	    fates_utf8[REPLAY_LOST]);
	html_close(&h, "p");
	for (i = 0; i < n; i++) {
		html_open(&h, "section");
		html_leaf(&h, "h2", NULL, rules[i]);
		for (k = 0; k < charts[i].n; k++)
			if (charts[i].list[k].n_fates > 0)
				page_file(&h, &charts[i].list[k]);
		html_close(&h, "section");
	}
	html_close(&h, "main");
	html_close(&h, "body");
	html_close(&h, "html");
	rc = page_file_write(path, &h.out, e);
	buf_free(&h.out);
	return rc;
}
