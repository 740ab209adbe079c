/* Sums over studies that were run again, and their charts. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/replay/replay-rerun.h"
#include "src/replay/replay-sums.h"
#include "src/replay/replay.h"

double
replay_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), search_by_double);
	return n > 0 ? v[(n - 1) / 2] / 2 + v[n / 2] / 2 : NAN;
}

/* The median of all trials' full results. */
static double
median_result(const struct replay_rerun *r)
{
	double *v = xcalloc(r->n + 1, sizeof(*v)), median;
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		if (isfinite(r->trials[i].full))
			v[n++] = r->trials[i].full;
	median = replay_median(v, n);
	free(v);
	return median;
}

/* The smaller of two results, either of which may be NaN. */
static double
result_better(double a, double b)
{
	return isfinite(b) && !(a <= b) ? b : a;
}

/* What the trials of one study come to. */
struct study_sums {
	int64_t trials;
	int64_t reports, skipped, resumed;
	/* By weight: of all reports, the skipped ones, and those of looks. */
	double full, left, again;
	double there, found, after; /* results; after the second look */
	const struct replay_rerun_trial *best;
};

static struct study_sums
replay_sums_study_add(struct replay_sum *sum, const struct replay_rerun *r)
{
	struct study_sums s = { .there = NAN, .found = NAN, .after = NAN };
	const struct replay_rerun_trial *t;
	size_t i;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		s.trials += !t->left_out;
		s.reports += t->reports;
		s.skipped += t->skipped;
		s.resumed += t->resumed;
		s.full += t->weight * (double)t->reports;
		s.left += t->weight * (double)t->skipped;
		s.again += t->resumed ? t->weight * (double)t->n_rest : 0;
		sum->stopped += t->stopped;
		if (isfinite(t->full) && !(s.there <= t->full)) {
			s.there = t->full;
			s.best = t;
		}
		s.found = result_better(s.found, t->found);
		s.after =
		    result_better(s.after, t->resumed ? t->full : t->found);
	}
	return s;
}

/* The best result first, those without any last; then by number. */
static int
chart_order(const void *a, const void *b, void *maximize)
{
	const struct replay_chart_row *x = a, *y = b;
	int sign = *(const bool *)maximize ? -1 : 1;

	if (isnan(x->result) != isnan(y->result))
		return isnan(x->result) ? 1 : -1;
	if (x->result < y->result || x->result > y->result)
		return x->result < y->result ? -sign : sign;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

/* The reports that were run, then those that were skipped for good. */
static void
chart_reports(struct replay_chart_row *row, const struct replay_rerun *r,
    const struct replay_rerun_trial *t)
{
	struct curve c = history_curve(r->history, row->trial);
	size_t rest = t->resumed ? 0 : t->n_rest, i;

	row->n = c.n + rest;
	row->steps = xcalloc(row->n + 1, sizeof *row->steps);
	row->values = xcalloc(row->n + 1, sizeof *row->values);
	for (i = 0; i < row->n; i++) {
		row->steps[i] =
		    i < c.n ? curve_step(&c, i) : t->rest[i - c.n].step;
		row->values[i] =
		    i < c.n ? history_flip_sign(r->history, curve_value(&c, i))
			    : t->rest[i - c.n].value;
	}
}

void
replay_charts_begin(struct replay_charts *charts, const char *file)
{
	charts->list =
	    xreallocarray(charts->list, charts->n + 1, sizeof *charts->list);
	charts->list[charts->n++] =
	    (struct replay_chart){ .file = xstrdup(file) };
}

void
replay_charts_free(struct replay_charts *charts)
{
	struct replay_chart *chart;
	size_t i, k;

	for (i = 0; i < charts->n; i++) {
		chart = &charts->list[i];
		for (k = 0; k < chart->n; k++) {
			free(chart->rows[k].steps);
			free(chart->rows[k].values);
		}
		free(chart->rows);
		free(chart->fates);
		free(chart->file);
	}
	free(charts->list);
}

static void
chart_fill(struct replay_chart *chart, const struct replay_rerun *r)
{
	const struct replay_rerun_trial *t;
	bool maximize = history_flip_sign(r->history, 1) < 0;
	struct replay_chart_row *row;
	size_t i;

	chart->rows = xcalloc(r->n + 1, sizeof *chart->rows);
	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (t->left_out)
			continue;
		row = &chart->rows[chart->n++];
		*row = (struct replay_chart_row){
			.trial = (int64_t)i + 1,
			.run = t->reports - t->skipped,
			.again = t->resumed ? (int64_t)t->n_rest : 0,
			.skipped = t->resumed ? 0 : t->skipped,
			.result = history_flip_sign(r->history, t->full),
		};
		chart_reports(row, r, t);
	}
	qsort_r(
	    chart->rows, chart->n, sizeof *chart->rows, chart_order, &maximize);
}

/* One more study of the newest file. */
static void
charts_add(struct replay_charts *charts, const struct replay_rerun *r,
    enum replay_fate fate)
{
	struct replay_chart *chart = &charts->list[charts->n - 1];

	if (charts->rows && chart->n_fates == 0)
		chart_fill(chart, r);
	XGROW(chart->fates, chart->n_fates, chart->cap_fates);
	chart->fates[chart->n_fates++] = fate;
}

void
replay_sums_add(struct replay_sum *sum, const struct replay_rerun *r)
{
	struct study_sums s = replay_sums_study_add(sum, r);
	double gap = median_result(r) - s.there, kept;
	bool killed = s.best != NULL && s.best->stopped;

	if (r->max_steps > 0 && r->greatest > r->max_steps) {
		sum->beyond = r->greatest;
		sum->max_steps = r->max_steps;
	}
	if (sum->charts != NULL && sum->charts->n > 0)
		charts_add(sum->charts, r,
		    !killed	      ? REPLAY_KEPT
		    : s.best->resumed ? REPLAY_FOUND
				      : REPLAY_LOST);
	sum->studies++;
	sum->trials += s.trials;
	sum->reports += s.reports;
	sum->skipped += s.skipped;
	sum->killed += killed;
	sum->looked.resumed += s.resumed;
	sum->looked.killed += killed && !s.best->resumed;
	sum->looked.hurt += r->hurt.share;
	if (s.reports > 0) {
		sum->saved += s.left / s.full;
		kept = (s.left - s.again) / s.full;
		sum->looked.saved += kept;
		sum->looked.saved_squares += kept * kept;
	}
	if (gap > 0 && isfinite(s.found)) {
		sum->regret += (s.found - s.there) / gap;
		sum->looked.regret += (s.after - s.there) / gap;
	}
}

void
replay_lost_interval(const struct replay_sum *sum, double *low, double *high)
{
	const double z = 1.959964; /* of the normal distribution, 95 % */
	double n = (double)sum->studies, p, q, middle, half;

	*low = 0;
	*high = 1;
	if (sum->studies == 0)
		return;
	p = (double)sum->looked.killed / n;
	q = z * z / n;
	middle = (p + q / 2) / (1 + q);
	half = z * sqrt(p * (1 - p) / n + q / (4 * n)) / (1 + q);
	*low = fmax(0, middle - half);
	*high = fmin(1, middle + half);
}
