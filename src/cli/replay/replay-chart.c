/*
 * Draws one study of a replay: a bar per trial, the best trial on top, or its
 * curves on a page.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/replay/replay-chart.h"
#include "src/html/chart.h"
#include "src/replay/replay.h"
#include "src/view/table.h"

enum {
	CHART_ROWS = 40, /* trials that are drawn */
	CHART_WIDTH = 50, /* columns of the longest bar */
	CHART_STUDIES = 60 /* of a file, whose marks are drawn */
};

const char *const replay_chart_utf8[] = { "·", "○", "×" };
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
replay_chart_row_put(struct table *table, const struct replay_chart_row *row,
    int64_t most, const struct marks *m)
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
		replay_chart_row_put(table, &chart->rows[i], most, m);
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	if (chart->n > CHART_ROWS)
		buf_printf(out, "and %zu trials with worse results\n",
		    chart->n - CHART_ROWS);
}

char *
replay_chart_fates(const struct replay_chart *chart, const char *const *marks)
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
			text = replay_chart_fates(&charts[i].list[k], marks);
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
	    text_is_utf8() ? replay_chart_utf8 : fates_ascii, cli);
	for (i = 0; i < n; i++)
		for (k = 0; k < charts[i].n; k++)
			if (charts[i].list[k].rows != NULL)
				bars_put(
				    out, &charts[i].list[k], rules[i], m, cli);
}
