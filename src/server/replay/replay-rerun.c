/*
 * Runs a study again: takes records in order, and the rule decides which of
 * them would be missing.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/server/replay/replay-internal.h"
#include "strategies/stop/second-look/second-look.h"
#include "strategies/stopper.h"

int
replay_rerun_open(struct replay_rerun *r, const struct replay_rule *rule,
    const struct stopper_env *env, bool value_last, struct err *e)
{
	*r = (struct replay_rerun){ .value_last = value_last,
		.max_steps = env->max_steps,
		.last_step = env->last_step,
		.look_share = replay_rule_second_look(rule) };
	if (replay_rule_open(&r->set, rule, env, e) != 0)
		return -1;
	r->history = history_new(0, env->maximize, HISTORY_CURVES);
	return 0;
}

void
replay_rerun_close(struct replay_rerun *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->trials[i].rest);
	stop_rule_set_free(r->set);
	history_free(r->history);
	free(r->trials);
}

static struct replay_rerun_trial *
replay_rerun_trial(struct replay_rerun *r, int64_t trial)
{
	while ((int64_t)r->n < trial) {
		XGROW(r->trials, r->n, r->cap);
		r->trials[r->n++] = (struct replay_rerun_trial){ .full = NAN,
			.found = NAN,
			.known = -1,
			.last = INT64_MIN };
		history_add(r->history, (int64_t)r->n, NULL);
	}
	return &r->trials[trial - 1];
}

/* Update a trial's result by one report. */
static double
result_after(const struct replay_rerun *r, double before, double value)
{
	if (r->value_last)
		return value;
	if (!isfinite(value) || before <= value)
		return before;
	return value;
}

void
replay_rerun_begin(struct replay_rerun *r, int64_t trial)
{
	(void)replay_rerun_trial(r, trial);
}

void
replay_rerun_set_stop(
    struct replay_rerun *r, int64_t trial, int64_t step, bool late)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->known = step;
	t->late = late;
}

void
replay_rerun_leave_out(struct replay_rerun *r, int64_t trial)
{
	replay_rerun_trial(r, trial)->left_out = true;
}

static void
replay_rerun_stop(struct replay_rerun *r, int64_t trial, int64_t step)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->judged = true;
	if (step == t->known && t->late)
		return;
	t->stopped = true;
	t->really = step == t->known;
	if (t->really)
		return;
	history_end(r->history, trial, TRIAL_STOPPED,
	    history_flip_sign(r->history, t->found));
	stop_rule_set_ended(r->set, r->history, trial);
}

/*
 * Whether the server would have judged this report: only new steps, in order.
 */
static bool
replay_rerun_judges(struct replay_rerun *r, struct replay_rerun_trial *t,
    int64_t step, bool is_new, size_t n)
{
	bool newest = step > t->last;

	if (newest)
		t->last = step;
	return is_new && newest && !t->judged &&
	       (r->last_step == 0 || step < r->last_step) &&
	       (r->max_steps == 0 || (int64_t)n < r->max_steps);
}

/* Keep a report that the rule skips. */
static void
report_keep(struct replay_rerun_trial *t, int64_t step, double value)
{
	XGROW(t->rest, t->n_rest, t->cap_rest);
	t->rest[t->n_rest++] = (struct replay_report){ step, value };
}

bool
replay_rerun_report(
    struct replay_rerun *r, int64_t trial, int64_t step, double value)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);
	double turned = history_flip_sign(r->history, value);
	struct judgement j;
	struct curve c;
	bool is_new;

	r->greatest = step > r->greatest ? step : r->greatest;
	t->reports++;
	t->full = result_after(r, t->full, turned);
	if (t->stopped && !t->really) {
		t->skipped++;
		report_keep(t, step, value);
		return true;
	}
	t->found = result_after(r, t->found, turned);
	is_new = history_report(r->history, trial, step, value);
	stop_rule_set_observe(r->set, r->history, trial, step);
	c = history_curve(r->history, trial);
	if (!replay_rerun_judges(r, t, step, is_new, c.n))
		return t->stopped;
	stop_rule_set_judge(r->set, r->history, trial, step, &j);
	/* What a promoted trial would have reported is unknown. */
	if (j.verdict == VERDICT_STOP || j.verdict == VERDICT_PAUSE) {
		t->diverged = j.diverged;
		replay_rerun_stop(r, trial, step);
	}
	return t->stopped;
}

void
replay_rerun_series(struct replay_rerun *r, const struct stop_report *report)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, report->trial);
	struct judgement j;
	struct curve c;

	if (t->stopped && !t->really)
		return;
	if (!stop_rule_set_report(r->set, report) || t->judged)
		return;
	c = history_curve(r->history, report->trial);
	if (r->max_steps > 0 && (int64_t)c.n >= r->max_steps)
		return;
	stop_rule_set_judge_metric(
	    r->set, r->history, report->trial, report->metric, &j);
	if (j.verdict == VERDICT_STOP) {
		t->diverged = j.diverged;
		replay_rerun_stop(r, report->trial, report->step);
	}
}

void
replay_rerun_revive(struct replay_rerun *r, int64_t trial)
{
	const struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	if (t->stopped && !t->really)
		return;
	history_retry(r->history, trial);
	stop_rule_set_ended(r->set, r->history, trial);
}

void
replay_rerun_end(struct replay_rerun *r, int64_t trial, bool completed)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->failed = !completed;
	if (t->stopped && !t->really)
		return;
	history_end(r->history, trial,
	    completed ? TRIAL_COMPLETED : TRIAL_STOPPED,
	    history_flip_sign(r->history, t->found));
	stop_rule_set_ended(r->set, r->history, trial);
}

/* ---- the second look, when all trials are over -------------------------- */

/* The stopped trials, as second_look_decide takes them; returns the number. */
static size_t
look_list(const struct replay_rerun *r, struct second_look_trial *list)
{
	const struct replay_rerun_trial *t;
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (!t->stopped)
			continue;
		list[n++] = (struct second_look_trial){
			.trial = (int64_t)i + 1,
			.step = t->last,
			/* What a trial never reported cannot be replayed. */
			.candidate = t->n_rest > 0 && !t->diverged,
			.checkpoint = true,
		};
	}
	return n;
}

/* All further reports of the trial, and its end. */
static void
look_resume(struct replay_rerun *r, int64_t trial)
{
	struct replay_rerun_trial *t = &r->trials[trial - 1];
	size_t i;

	history_retry(r->history, trial);
	for (i = 0; i < t->n_rest; i++)
		history_report(
		    r->history, trial, t->rest[i].step, t->rest[i].value);
	history_end(r->history, trial,
	    t->failed ? TRIAL_STOPPED : TRIAL_COMPLETED,
	    history_flip_sign(r->history, t->full));
	t->resumed = true;
}

void
replay_look(struct replay_rerun *r)
{
	struct second_look_trial *list = xcalloc(r->n + 1, sizeof *list);
	struct second_look_study study = { .history = r->history,
		.max_steps = r->max_steps,
		.share = r->look_share,
		.stopped = list };
	struct second_look look;
	size_t i;

	study.n_stopped = look_list(r, list);
	second_look_hurt(&r->hurt, r->history, r->max_steps);
	for (;;) {
		second_look_decide(&look, &study);
		if (look.trial == 0)
			break;
		look_resume(r, look.trial);
		for (i = 0; list[i].trial != look.trial; i++)
			;
		list[i].price = look.price;
		list[i].candidate = false;
	}
	free(list);
}

/* ---- sums over studies, and charts -------------------------------------- */

static int
number_order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double
replay_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), number_order);
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
	int64_t reports, skipped, resumed, again; /* again: reports of looks */
	double there, found, after; /* results; after the second look */
	const struct replay_rerun_trial *best;
};

static struct study_sums
study_add(struct replay_sum *sum, const struct replay_rerun *r)
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
		s.again += t->resumed ? (int64_t)t->n_rest : 0;
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
replay_rerun_sum(struct replay_sum *sum, const struct replay_rerun *r)
{
	struct study_sums s = study_add(sum, r);
	double gap = median_result(r) - s.there;
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
		sum->saved += (double)s.skipped / (double)s.reports;
		sum->looked.saved +=
		    (double)(s.skipped - s.again) / (double)s.reports;
	}
	if (gap > 0 && isfinite(s.found)) {
		sum->regret += (s.found - s.there) / gap;
		sum->looked.regret += (s.after - s.there) / gap;
	}
}
