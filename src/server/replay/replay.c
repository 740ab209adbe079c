/*
 * Runs a study again: takes records in order, and the rule decides which of
 * them would be missing.  The records are those of a database, or curves that
 * workers draw from a file, each of which makes one report in turn.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/replay.h"
#include "src/store/store.h"
#include "strategies/stop/second-look/second-look.h"
#include "strategies/stopper.h"

struct replay_report {
	int64_t step;
	double value; /* in the user's sign */
};

/* One trial: its recorded results, and its state under the rule. */
struct replay_rerun_trial {
	int64_t reports, skipped;
	int64_t known; /* step at which it was stopped in the recording; -1 */
	bool late; /* … too late: it had run to its end */
	int64_t last; /* greatest step so far */
	double full, found; /* results, smaller is better; NaN = none */
	bool judged; /* stopped, or too late: no further decisions */
	bool stopped;
	bool really; /* stopped at its recorded stop, the last record */
	bool diverged; /* stopped for reports that are not finite */
	bool failed; /* its record does not end completed */
	bool resumed; /* by the second look */
	bool left_out; /* it is no part of the study as it is replayed */
	struct replay_report *rest; /* the skipped reports, owned */
	size_t n_rest, cap_rest;
};

struct replay_rerun {
	struct history *history;
	struct stop_rule_set *set;
	struct replay_rerun_trial *trials; /* [number - 1] */
	size_t n, cap;
	int64_t max_steps, last_step; /* of the rules */
	int64_t greatest; /* step of all */
	bool value_last;
	double look_share; /* option second_look of the rule */
	struct second_look_hurt hurt; /* set by replay_look */
};

static int
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

static void
replay_rerun_close(struct replay_rerun *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->trials[i].rest);
	stop_rule_set_free(r->set);
	history_free(r->history);
	free(r->trials);
}

/*
 * Trials are numbered from 1.  All up to this one are created, so the caller
 * must check its range.
 */
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

/* Create the trial, also when it never reports. */
static void
replay_rerun_begin(struct replay_rerun *r, int64_t trial)
{
	(void)replay_rerun_trial(r, trial);
}

/*
 * In the recording, the trial was stopped at this step; late: the decision came
 * after it had run to its end.
 */
static void
replay_rerun_set_stop(
    struct replay_rerun *r, int64_t trial, int64_t step, bool late)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->known = step;
	t->late = late;
}

/* No record of this trial follows; it does not count. */
static void
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

/* The next report of a trial, in the user's sign; true when it is stopped. */
static bool
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

/*
 * A report of a metric that rules read by another axis than its steps, or
 * beside the objective; that of the objective comes after replay_rerun_report.
 */
static void
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

/* The trial got its second look: its recorded end is undone. */
static void
replay_rerun_revive(struct replay_rerun *r, int64_t trial)
{
	const struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	if (t->stopped && !t->really)
		return;
	history_retry(r->history, trial);
	stop_rule_set_ended(r->set, r->history, trial);
}

/* The trial's recorded end (ignored if the rule stopped it before). */
static void
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

/*
 * When all trials are over: resume stopped ones, one at a time, each to the end
 * of its record, as second-look.h decides.  Trials have checkpoints.
 */
static void
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

/* Add the results of one study, after replay_look, to the sum. */
static void
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

/* ---- a recorded study --------------------------------------------------- */

struct records {
	struct replay_rerun rerun;
	const struct study *study;
	struct store *store;
	struct err *err;
};

void
replay_set_objectives(struct history *h, const struct study *study)
{
	if (study->n_objectives == 1 && study->n_constraints > 0)
		history_set_objectives(
		    h, 1, &study->maximize, study->n_constraints);
}

int
replay_results(struct history *h, const struct study *study,
    struct store *store, int64_t trial, struct err *e)
{
	size_t i, n = study->n_objectives, all = n + study->n_constraints;
	double *values;
	int rc;

	if (!history_has_results(h))
		return 0;
	values = xcalloc(all, sizeof *values);
	rc = store_outcome_get(store, trial, all, values, e);
	for (i = n; i < all; i++)
		values[i] =
		    study_violation(&study->constraints[i - n], values[i]);
	if (rc == 0)
		history_results(h, trial, values, values + n);
	free(values);
	return rc;
}

/*
 * Rules compare first replicates (judged.h): call this for each other replicate
 * of a recorded study, in the order of their numbers.
 */
static int
replay_each_other(struct store *s, void (*each)(void *, int64_t trial),
    void *arg, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, s,
		"SELECT trial FROM t_trial WHERE replicate > 1 ORDER BY trial",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		each(arg, store_rows_int(rows, 0));
	store_rows_close(rows);
	return rc;
}

static void
on_other(void *arg, int64_t trial)
{
	replay_rerun_leave_out(arg, trial);
}

/* Whether the study as it is replayed does not have the trial. */
static bool
is_left_out(const struct replay_rerun *r, int64_t trial)
{
	return trial >= 1 && (uint64_t)trial <= r->n &&
	       r->trials[trial - 1].left_out;
}

static int
on_record(void *arg, const struct store_record *row)
{
	struct records *r = arg;
	struct stop_report report = { .trial = row->trial,
		.metric = row->metric != NULL ? row->metric : r->study->metric,
		.step = row->step,
		.value = row->value,
		.spent = { row->seconds, row->dollars } };

	if (is_left_out(&r->rerun, row->trial))
		return 0;
	if (row->state == TRIAL_RUNNING) {
		if (row->metric == NULL)
			replay_rerun_report(
			    &r->rerun, row->trial, row->step, row->value);
		replay_rerun_series(&r->rerun, &report);
		return 0;
	}
	replay_rerun_begin(&r->rerun, row->trial);
	if (row->state == TRIAL_WAITING) {
		replay_rerun_revive(&r->rerun, row->trial);
		return 0;
	}
	if (replay_results(
		r->rerun.history, r->study, r->store, row->trial, r->err) != 0)
		return -1;
	replay_rerun_end(&r->rerun, row->trial, row->state == TRIAL_COMPLETED);
	return 0;
}

/* The recorded stops and their steps. */
static int
on_stopped(void *arg, int64_t trial, int64_t step, bool late)
{
	replay_rerun_set_stop(arg, trial, step, late);
	return 0;
}

/* The study recorded in a database. */
static int
replay_recorded_study(struct study **study, struct store *s, struct err *e)
{
	struct store_study row = { 0 };
	int rc;

	if (store_study_get(s, &row, e) != 0)
		return -1;
	rc = study_parse_recorded(study, row.json, row.dir, e);
	store_study_fini(&row);
	return rc;
}

int
replay_recorded(struct replay_sum *sum, struct store *s,
    const struct replay_rule *rule, struct err *e)
{
	struct stopper_env env;
	struct study *study;
	struct records r = { .store = s, .err = e };
	int rc;

	if (replay_recorded_study(&study, s, e) == -1)
		return -1;
	env = (struct stopper_env){ .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name,
		.metric = study->metric };
	r.study = study;
	rc = replay_rerun_open(&r.rerun, rule, &env, study->value_last, e);
	if (rc == 0) {
		replay_set_objectives(r.rerun.history, study);
		rc = replay_each_other(s, on_other, &r.rerun, e);
		if (rc == 0)
			rc = store_walk_stopped(s, on_stopped, &r.rerun, e);
		if (rc == 0)
			rc = store_walk_records(s,
			    stop_rule_set_metrics(r.rerun.set), false,
			    on_record, &r, e);
		if (rc == 0) {
			replay_look(&r.rerun);
			replay_rerun_sum(sum, &r.rerun);
		}
		replay_rerun_close(&r.rerun);
	}
	study_free(study);
	return rc;
}

/* ---- the curves of its completed trials; the rest of others is unknown -- */

struct reading {
	struct history *ends; /* final states only */
	struct curve_file *bank;
	struct curve_file_curve *curve;
	int64_t trial; /* of the curve */
};

static int
on_curve_end(void *arg, const struct store_record *row)
{
	struct reading *r = arg;

	while (history_count(r->ends) < row->trial)
		history_add(r->ends, history_count(r->ends) + 1, NULL);
	if (trial_state_final(row->state))
		history_end(r->ends, row->trial, row->state, row->value);
	return 0;
}

static int
on_curve_report(void *arg, int64_t trial, int64_t step, double value)
{
	struct reading *r = arg;

	if (trial > history_count(r->ends) ||
	    history_state(r->ends, trial) != TRIAL_COMPLETED)
		return 0;
	if (trial != r->trial)
		r->curve = curve_file_begin(r->bank);
	r->trial = trial;
	curve_file_report(r->bank, r->curve, step, value);
	return 0;
}

/* It is none of the curves. */
static void
on_other_curve(void *arg, int64_t trial)
{
	struct reading *r = arg;

	if (trial <= history_count(r->ends))
		history_retry(r->ends, trial);
}

int
replay_recorded_curves(struct curve_file *b, struct replay_plan *plan,
    struct store *s, struct err *e)
{
	struct reading r = { .bank = b };
	struct study *study;
	int rc;

	*b = (struct curve_file){ 0 };
	if (replay_recorded_study(&study, s, e) == -1)
		return -1;
	r.ends = history_new(0, study->maximize, 0);
	rc = store_walk_records(s, NULL, false, on_curve_end, &r, e);
	if (rc == 0)
		rc = replay_each_other(s, on_other_curve, &r, e);
	if (rc == 0)
		rc = store_walk_curves(s, on_curve_report, &r, e);
	if (rc == 0 && b->n == 0)
		rc = err_set(e, ERR_USAGE,
		    "%s: no completed trial has reported anything",
		    study->name);
	plan->maximize = study->maximize;
	plan->value_last = study->value_last;
	if (study->trial.max_steps > 0)
		b->max_steps = study->trial.max_steps;
	history_free(r.ends);
	study_free(study);
	if (rc != 0)
		curve_file_free(b);
	return rc;
}

/* ---- studies drawn from curves ------------------------------------------ */

struct worker {
	const struct curve_file_curve *curve; /* NULL: idle */
	int64_t trial;
	size_t at;
};

/* The remaining steps of a stopped trial count as saved. */
static void
skip_rest(struct replay_rerun *r, struct worker *w)
{
	for (; w->at < w->curve->n; w->at++)
		replay_rerun_report(r, w->trial, w->curve->steps[w->at],
		    w->curve->values[w->at]);
	w->curve = NULL;
}

static void
worker_turn(struct replay_rerun *r, struct worker *w)
{
	bool over = w->at == w->curve->n;

	if (!over) {
		over = replay_rerun_report(r, w->trial, w->curve->steps[w->at],
		    w->curve->values[w->at]);
		w->at++;
		if (over) {
			skip_rest(r, w);
			return;
		}
		over = w->at == w->curve->n;
	}
	if (over) {
		replay_rerun_end(r, w->trial, true);
		w->curve = NULL;
	}
}

static void
run_study(struct replay_rerun *r, const struct curve_file *b,
    const size_t *order, size_t trials, struct worker *workers,
    size_t n_workers)
{
	size_t next = 0, i, busy;

	do {
		busy = 0;
		for (i = 0; i < n_workers; i++) {
			if (workers[i].curve == NULL && next < trials) {
				workers[i].curve = &b->curves[order[next++]];
				workers[i].trial = (int64_t)next;
				workers[i].at = 0;
			}
			if (workers[i].curve == NULL)
				continue;
			worker_turn(r, &workers[i]);
			busy++;
		}
	} while (busy > 0);
}

int
replay_simulate(struct replay_sum *sum, const struct curve_file *b,
    const struct replay_plan *plan, const struct replay_rule *rule,
    struct err *e)
{
	struct stopper_env env = { .max_steps = b->max_steps,
		.last_step = curve_file_last_step(b),
		.maximize = plan->maximize,
		.study = "replay" };
	size_t trials = (size_t)plan->trials, n = (size_t)plan->workers;
	struct worker *workers = xcalloc(n, sizeof(*workers));
	size_t *order = xcalloc(b->n, sizeof(*order));
	struct replay_rerun r;
	int64_t k;
	int rc = 0;

	trials = trials > b->n ? b->n : trials;
	for (k = 0; k < plan->seeds && rc == 0; k++) {
		rng_sample(order, b->n, trials, plan->seed, (uint64_t)k);
		rc = replay_rerun_open(&r, rule, &env, plan->value_last, e);
		if (rc == -1)
			break;
		if (*stop_rule_set_metrics(r.set) != NULL) {
			rc = err_set(e, ERR_USAGE,
			    "rule %s reads another metric, seconds or cost: "
			    "these curves have one metric by steps; replay the "
			    "database of a study",
			    replay_rule_text(rule));
			replay_rerun_close(&r);
			break;
		}
		run_study(&r, b, order, trials, workers, n);
		replay_look(&r);
		replay_rerun_sum(sum, &r);
		replay_rerun_close(&r);
	}
	free(order);
	free(workers);
	return rc;
}
