/* What became of the trials of a study as an HTML page, with their curves. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/cli/replay/replay-chart.h"
#include "src/cli/replay/replay-page.h"
#include "src/html/chart.h"
#include "src/html/html.h"
#include "src/html/page.h"
#include "src/replay/replay.h"

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
replay_page_curve_put(struct chart *c, const struct replay_chart_row *row)
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
		replay_page_curve_put(&c, &chart->rows[i]);
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
	char *fates = replay_chart_fates(chart, replay_chart_utf8);

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
replay_page_write(const char *path, const struct replay_charts *charts,
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
	    replay_chart_utf8[REPLAY_KEPT], replay_chart_utf8[REPLAY_FOUND],
	    replay_chart_utf8[REPLAY_LOST]);
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
