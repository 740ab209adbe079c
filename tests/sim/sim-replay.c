/*
 * Reports: those of the ledger are in the store, once and in order; the result
 * of a trial is the best or the last of them; and rules that replay the
 * recorded history judge as the server did.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/replay/replay.h"
#include "src/store/store.h"
#include "strategies/stop/second-look/second-look.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "tests/sim/sim.h"

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static double
real_or_nan(const struct store_rows *r, int col)
{
	return store_rows_null(r, col) ? NAN : store_rows_real(r, col);
}

/* Reports of one attempt: index i must be this row. */
static void
check_report(struct sim *s, const struct pretend_attempt *a, size_t i,
    const struct store_rows *r)
{
	int64_t step =
	    a->reports[i].has_step ? a->reports[i].step : (int64_t)i + 1;

	if (store_rows_int(r, 2) != step ||
	    !same(real_or_nan(r, 3), a->reports[i].value))
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d report %zu was %" PRId64
		    ": %g, recorded is %" PRId64 ": %g",
		    a->trial, a->attempt, i + 1, step, a->reports[i].value,
		    store_rows_int(r, 2), real_or_nan(r, 3));
}

static void
check_count(struct sim *s, const struct pretend_attempt *a, size_t n)
{
	if (a != NULL && n != a->n_reports)
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d made %zu reports, "
		    "%zu are recorded",
		    a->trial, a->attempt, a->n_reports, n);
}

static const char reports_sql[] =
    "SELECT a.trial, a.uuid, m.step, m.value FROM t_attempt AS a "
    "LEFT JOIN t_metric AS m ON m.trial = a.trial AND m.attempt = a.attempt "
    "AND m.name_id = 1 ORDER BY a.trial, a.attempt, m.seq";

static void
check_reports(struct sim *s)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;
	const struct pretend_attempt *a = NULL, *now;
	size_t n = 0;

	if (store_rows_open(&r, s->reader, reports_sql, NULL, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		return;
	}
	while (*s->wrong == '\0' && store_rows_next(r, &e) == 1) {
		now = pretend_world_find(s->world, store_rows_text(r, 1));
		if (now != a) {
			check_count(s, a, n);
			a = now;
			n = 0;
		}
		if (store_rows_null(r, 2))
			continue;
		if (a == NULL || n >= a->n_reports)
			sim_wrong(s,
			    "trial %" PRId64 " has a report that "
			    "nobody made",
			    store_rows_int(r, 0));
		else
			check_report(s, a, n, r);
		n++;
	}
	if (*s->wrong == '\0')
		check_count(s, a, n);
	store_rows_close(r);
}

static void
check_objective(struct sim *s, int64_t trial, double recorded)
{
	double worth = sim_worth(s, trial, INT64_MAX);

	if (!same(worth, recorded))
		sim_wrong(s, "trial %" PRId64 " is worth %g, not %g", trial,
		    worth, recorded);
}

void
sim_check_curves(struct sim *s)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	check_reports(s);
	if (store_rows_open(&r, s->reader,
		"SELECT trial, objective FROM t_trial WHERE trial NOT IN "
		"(SELECT trial FROM t_suggestion WHERE same_as IS NOT NULL)",
		NULL, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		return;
	}
	while (*s->wrong == '\0' && store_rows_next(r, &e) == 1)
		check_objective(s, store_rows_int(r, 0), real_or_nan(r, 1));
	store_rows_close(r);
}

/* A row of stops, or what a trial must be excused for. */
struct stop {
	int64_t trial, step, pool;
	double value, threshold;
	int64_t at; /* of a rule by another axis or metric; -1: by steps */
	bool stops, pauses, seen;
};

struct replay {
	struct sim *s;
	struct history *history; /* of first replicates, or of all trials */
	struct stop_rule_set *rules;
	struct history *trials; /* of all, for other replicates */
	struct stop_rule_set *others;
	const struct stopper *median;
	void *median_state;
	struct stop *stops;
	size_t n_stops;
	bool touched[128]; /* somebody but a rule had a word in it */
	bool stopped[128];
	bool looked
	    [128]; /* it went on after its end: only what diverges stops */
	bool other[128]; /* it is no first replicate */
	int64_t judged[128];
	int64_t own[128]; /* steps of the trial; 0: max_steps */
};

static struct history *
replay_history(const struct replay *rp, int64_t trial)
{
	return rp->other[trial] ? rp->trials : rp->history;
}

static struct stop_rule_set *
replay_rules(const struct replay *rp, int64_t trial)
{
	return rp->other[trial] ? rp->others : rp->rules;
}

static struct stop *
stop_find(struct replay *rp, int64_t trial, int64_t step, int64_t at)
{
	size_t i;

	for (i = 0; i < rp->n_stops; i++)
		if (rp->stops[i].trial == trial && rp->stops[i].step == step &&
		    rp->stops[i].at == at)
			return &rp->stops[i];
	return NULL;
}

/* Where the rules see a step of the trial. */
static int64_t
replay_at(const struct replay *rp, int64_t trial, int64_t step)
{
	if (rp->other[trial])
		return step;
	return study_axis_step(
	    rp->s->study->trial.max_steps, rp->own[trial], step);
}

/* The verdict of fresh rules against the row, or the lack of one. */
static void
replay_judge(struct replay *rp, int64_t trial, int64_t step, const char *series)
{
	struct judgement j = { .verdict = VERDICT_KEEP };
	int64_t max = rp->s->study->trial.max_steps;
	int64_t at = replay_at(rp, trial, step);
	struct history *h = replay_history(rp, trial);
	struct stop_rule_set *rules = replay_rules(rp, trial);
	struct curve c = history_curve(h, trial);
	struct stop *row;

	if (series != NULL)
		stop_rule_set_judge_metric(rules, h, trial, series, &j);
	row = stop_find(rp, trial, step,
	    series != NULL ? j.at
	    : at != step   ? at
			   : -1);
	if (rp->own[trial] > 0)
		max = rp->own[trial];

	if (row == NULL &&
	    (rp->touched[trial] || (rp->stopped[trial] && !rp->looked[trial]) ||
		(max > 0 && (int64_t)c.n >= max)))
		return;
	if (series == NULL) {
		if (curve_step(&c, c.n - 1) != at || at <= rp->judged[trial])
			return;
		rp->judged[trial] = at;
		stop_rule_set_judge(rules, h, trial, at, &j);
	}
	if (rp->looked[trial] && !j.diverged && row == NULL)
		return;
	if (row == NULL && j.verdict != VERDICT_KEEP)
		sim_wrong(rp->s,
		    "fresh rules %s trial %" PRId64 " at step %" PRId64
		    ", the server did not: %s",
		    j.verdict == VERDICT_SUSPENDED ? "suspend" : "stop", trial,
		    step, j.why);
	if (row == NULL)
		return;
	row->seen = true;
	rp->stopped[trial] = rp->stopped[trial] || row->stops;
	if ((j.verdict == VERDICT_SUSPENDED) == row->stops ||
	    (j.verdict == VERDICT_PAUSE) != row->pauses ||
	    j.verdict == VERDICT_KEEP || j.pool != row->pool ||
	    !same(j.value, row->value) || !same(j.threshold, row->threshold))
		sim_wrong(rp->s,
		    "trial %" PRId64 " step %" PRId64
		    ": recorded %s of %g against %g in %" PRId64
		    ", fresh rules: %d of %g against %g in %" PRId64,
		    trial, step, row->stops ? "stop" : "suspension", row->value,
		    row->threshold, row->pool, (int)j.verdict, j.value,
		    j.threshold, j.pool);
}

/* A report, for the rules that read the objective by steps, and the others. */
static void
replay_report(struct replay *rp, const struct store_record *r)
{
	struct stop_report report = { .trial = r->trial,
		.metric = r->metric != NULL ? r->metric : rp->s->study->metric,
		.step = replay_at(rp, r->trial, r->step),
		.value = r->value,
		.spent = { r->seconds, r->dollars } };
	struct history *h = replay_history(rp, r->trial);
	struct stop_rule_set *rules = replay_rules(rp, r->trial);
	bool is_new;

	if (r->metric == NULL) {
		is_new = history_report(h, r->trial, report.step, r->value);
		stop_rule_set_observe(rules, h, r->trial, report.step);
		if (!rp->other[r->trial])
			rp->median->observe(
			    rp->median_state, h, r->trial, report.step);
		if (is_new)
			replay_judge(rp, r->trial, r->step, NULL);
	}
	if (stop_rule_set_report(rules, &report))
		replay_judge(rp, r->trial, r->step, report.metric);
}

static void
replay_ended(struct replay *rp, int64_t trial)
{
	struct history *h = replay_history(rp, trial);

	stop_rule_set_ended(replay_rules(rp, trial), h, trial);
	if (!rp->other[trial])
		rp->median->ended(rp->median_state, h, trial);
}

/*
 * The history of all trials has the first replicates, too: a rule whose rungs
 * the length of trials lays fills them from it.
 */
static void
replay_put(struct history *all, const struct store_record *r)
{
	while (history_count(all) < r->trial)
		history_add(all, history_count(all) + 1, NULL);
	if (r->state == TRIAL_RUNNING && r->metric == NULL)
		(void)history_report(all, r->trial, r->step, r->value);
	else if (r->state == TRIAL_WAITING)
		history_retry(all, r->trial);
	else if (r->state != TRIAL_RUNNING)
		history_end(all, r->trial, r->state, r->value);
}

static int
on_record(void *arg, const struct store_record *r)
{
	struct replay *rp = arg;
	struct history *h = replay_history(rp, r->trial);
	struct err e = ERR_INIT;
	char number[24];

	if (h != rp->trials)
		replay_put(rp->trials, r);
	(void)snprintf(number, sizeof number, "%" PRId64, r->trial);
	while (history_count(h) < r->trial)
		history_add(h, history_count(h) + 1, NULL);
	if (r->state == TRIAL_RUNNING) {
		replay_report(rp, r);
	} else if (r->state == TRIAL_WAITING) {
		/* Who was retried may be stopped again, by the same rules. */
		history_retry(h, r->trial);
		replay_ended(rp, r->trial);
		rp->looked[r->trial] = true;
		rp->touched[r->trial] =
		    rp->touched[r->trial] || sim_number(rp->s,
						 "SELECT count(*) FROM t_retry "
						 "WHERE trial = ?",
						 number) > 0;
	} else {
		if (replay_results(
			h, rp->s->study, rp->s->reader, r->trial, &e) != 0)
			sim_wrong(rp->s, "%s", e.text);
		history_end(h, r->trial, r->state, r->value);
		replay_ended(rp, r->trial);
	}
	return *rp->s->wrong != '\0';
}

static void
replay_rows(struct replay *rp)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	if (store_rows_open(&r, rp->s->reader,
		"SELECT trial, step, pool, "
		"value, threshold, verdict, pause, coalesce(at, -1) "
		"FROM t_stop "
		"WHERE verdict <> 'keep' ORDER BY seq",
		NULL, &e) == 0) {
		while (store_rows_next(r, &e) == 1) {
			rp->stops = xreallocarray(
			    rp->stops, rp->n_stops + 1, sizeof *rp->stops);
			rp->stops[rp->n_stops++] =
			    (struct stop){ .trial = store_rows_int(r, 0),
				    .step = store_rows_int(r, 1),
				    .pool = store_rows_int(r, 2),
				    .value = real_or_nan(r, 3),
				    .threshold = real_or_nan(r, 4),
				    .stops = strcmp(store_rows_text(r, 5),
						 "stop") == 0,
				    .pauses = store_rows_int(r, 6) != 0,
				    .at = store_rows_int(r, 7) };
		}
		store_rows_close(r);
	}
	/* A segment that is over is no longer judged. */
	memset(rp->touched,
	    rp->s->leaves > 0 ||
		strcmp(rp->s->study->strategy.name, "pbt") == 0,
	    sizeof rp->touched);
	if (store_rows_open(&r, rp->s->reader,
		"SELECT trial FROM t_trial WHERE replicate > 1", NULL,
		&e) == 0) {
		while (store_rows_next(r, &e) == 1)
			rp->other[store_rows_int(r, 0)] = true;
		store_rows_close(r);
	}
	if (store_rows_open(&r, rp->s->reader,
		"SELECT trial, own_steps FROM t_trial WHERE own_steps > 0",
		NULL, &e) == 0) {
		while (store_rows_next(r, &e) == 1)
			rp->own[store_rows_int(r, 0)] = store_rows_int(r, 1);
		store_rows_close(r);
	}
	/* The last ones: a limit stopped them, and met all their steps. */
	if (store_rows_open(&r, rp->s->reader,
		"SELECT DISTINCT trial FROM "
		"t_attempt WHERE end_class = 'user' UNION SELECT trial FROM "
		"t_trial WHERE state = 'cancelled' UNION SELECT t.trial FROM "
		"t_trial AS t JOIN t_attempt AS a ON a.trial = t.trial AND "
		"a.attempt = t.attempts WHERE t.state = 'completed' AND "
		"end_class = 'stopped' AND NOT EXISTS (SELECT 1 FROM t_stop AS "
		"s WHERE s.trial = t.trial AND s.verdict = 'stop' AND late)",
		NULL, &e) == 0) {
		while (store_rows_next(r, &e) == 1)
			rp->touched[store_rows_int(r, 0)] = true;
		store_rows_close(r);
	}
}

static void
replay_medians(struct replay *rp)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;
	int64_t trials = 0, step;
	double median = NAN;

	if (store_rows_open(&r, rp->s->reader,
		"SELECT step, trials, median "
		"FROM medians",
		NULL, &e) != 0) {
		sim_wrong(rp->s, "%s", e.text);
		return;
	}
	while (*rp->s->wrong == '\0' && store_rows_next(r, &e) == 1) {
		step = store_rows_int(r, 0);
		if (!rp->median->median(rp->median_state, rp->history, step,
			&trials, &median)) {
			trials = 0;
			median = NAN;
		}
		if (trials != store_rows_int(r, 1) ||
		    !same(median, real_or_nan(r, 2)))
			sim_wrong(rp->s,
			    "the median of step %" PRId64 " is %g "
			    "of %" PRId64 ", the view has %g of %" PRId64,
			    step, median, trials, real_or_nan(r, 2),
			    store_rows_int(r, 1));
	}
	store_rows_close(r);
}

/*
 * A study that ran to its end has resumed everybody that its rules let go on.
 * A trial that went on after a pause may be judged by what it repeats, so only
 * those count that a pause ended.  What second looks brought came after the
 * pauses had ended.
 */
static void
replay_promote(struct replay *rp)
{
	struct stopper_paused paused[128];
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;
	struct judgement j;
	int64_t trial;
	size_t n = 0;

	if (*rp->s->wrong != '\0' || strstr(rp->s->why, " are done") == NULL ||
	    memchr(rp->looked, true, sizeof rp->looked) != NULL)
		return;
	if (store_rows_open(&r, rp->s->reader,
		"SELECT trial, max(step) FROM t_stop JOIN t_trial USING "
		"(trial) "
		"WHERE state = 'stopped' AND t_trial.why LIKE '%never "
		"resumed%' "
		"AND pause AND verdict = 'stop' GROUP BY trial",
		NULL, &e) != 0) {
		sim_wrong(rp->s, "%s", e.text);
		return;
	}
	while (store_rows_next(r, &e) == 1) {
		trial = store_rows_int(r, 0);
		paused[n++] = (struct stopper_paused){ trial,
			replay_at(rp, trial, store_rows_int(r, 1)) };
	}
	store_rows_close(r);
	trial = stop_rule_set_promote(rp->rules, rp->history, paused, n, &j);
	if (trial != 0)
		sim_wrong(rp->s,
		    "trial %" PRId64 " was paused and could have gone on: %s",
		    trial, j.why);
}

/* The stopped trials as they are recorded, for the decision. */
struct looks {
	const struct replay *replay;
	bool given;
	struct second_look_trial list[128];
	size_t n;
};

static int
on_stopped(void *arg, const struct store_stopped *row)
{
	struct looks *l = arg;
	struct sim *s = l->replay->s;
	bool kept = pretend_world_saved(s->world, row->trial) > 0;
	char number[24];

	(void)snprintf(number, sizeof number, "%" PRId64, row->trial);
	if (l->replay->other[row->trial])
		return 0;
	l->list[l->n++] = (struct second_look_trial){
		.trial = row->trial,
		.step = replay_at(l->replay, row->trial, row->step),
		.price = row->price,
		.candidate = !row->looked && row->backend != NULL &&
			     strcmp(row->backend, "ask") != 0 &&
			     (l->given || kept) &&
			     sim_number(s,
				 "SELECT count(*) FROM t_trial AS a JOIN "
				 "t_trial AS b USING (setting) WHERE a.trial = "
				 "CAST(? AS INTEGER) AND b.trial <> a.trial "
				 "AND b.state IN ('failed', 'stopped')",
				 number) == 0,
		.checkpoint = kept,
	};
	return 0;
}

/* Nobody is left whom the budget allows a second look. */
static void
replay_looks(struct replay *rp, const struct plugins *plugins)
{
	struct looks l = { .replay = rp };
	struct second_look_study study = { .history = rp->history,
		.max_steps = rp->s->study->trial.max_steps,
		.stopped = l.list };
	struct second_look look;
	struct err e = ERR_INIT;
	size_t i;

	if (*rp->s->wrong != '\0' ||
	    (strstr(rp->s->why, " are done") == NULL &&
		strstr(rp->s->why, " were no better") == NULL))
		return;
	for (i = 0; i < plugins->n_rules; i++)
		plugins_second_look(&plugins->rules[i], &study.share, &l.given);
	if (!l.given && !plugins->strategy->continues)
		study.share = SECOND_LOOK_SHARE;
	if (store_walk_looks(rp->s->reader, on_stopped, &l, &e) != 0)
		sim_wrong(rp->s, "%s", e.text);
	study.n_stopped = l.n;
	second_look_decide(&look, &study);
	if (look.trial != 0)
		sim_wrong(rp->s,
		    "trial %" PRId64 " could have had a second look: %" PRId64
		    " steps of %" PRId64 ", %" PRId64 " spent",
		    look.trial, look.price, look.budget, look.spent);
}

static void
replay_run(struct replay *rp, const struct plugins *plugins, struct err *e)
{
	size_t i;

	replay_rows(rp);
	if (store_walk_records(rp->s->reader, stop_rule_set_metrics(rp->rules),
		on_record, rp, e) < 0)
		sim_wrong(rp->s, "%s", e->text);
	for (i = 0; i < rp->n_stops && *rp->s->wrong == '\0'; i++)
		if (!rp->stops[i].seen)
			sim_wrong(rp->s,
			    "the stop of trial %" PRId64 " at step %" PRId64
			    " was judged at no report",
			    rp->stops[i].trial, rp->stops[i].step);
	replay_medians(rp);
	replay_promote(rp);
	replay_looks(rp, plugins);
}

void
sim_replay(struct sim *s)
{
	struct stopper_env env = { .max_steps = s->study->trial.max_steps,
		.maximize = s->study->maximize,
		.study = s->study->name };
	struct replay rp = { .s = s };
	struct option_value *options = NULL;
	struct plugins plugins;
	struct err e = ERR_INIT;

	memset(rp.judged, 0xff, sizeof rp.judged);
	rp.history =
	    history_new(s->study->space->n, s->study->maximize, HISTORY_CURVES);
	replay_set_objectives(rp.history, s->study);
	rp.trials =
	    history_new(s->study->space->n, s->study->maximize, HISTORY_CURVES);
	replay_set_objectives(rp.trials, s->study);
	if (plugins_read(&plugins, s->study, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		history_free(rp.history);
		history_free(rp.trials);
		return;
	}
	rp.median = stopper_find("begun");
	if (plugins.n_rules != 1 || plugins.rules->stopper != rp.median)
		rp.median = stopper_find("median");
	if (plugins_open_rules(&rp.rules, &plugins, s->study, &e) != 0 ||
	    plugins_open_rules(&rp.others, &plugins, s->study, &e) != 0 ||
	    plugin_options_read(&options, rp.median->options, NULL, NULL, &e) !=
		0 ||
	    rp.median->open(&rp.median_state, options, &env, &e) != 0)
		sim_wrong(s, "%s", e.text);
	else {
		stop_rule_set_compare_nothing(rp.others);
		replay_run(&rp, &plugins, &e);
	}
	if (rp.median_state != NULL)
		rp.median->close(rp.median_state);
	if (options != NULL)
		plugin_options_free(options);
	stop_rule_set_free(rp.rules);
	stop_rule_set_free(rp.others);
	plugins_free(&plugins);
	history_free(rp.history);
	history_free(rp.trials);
	free(rp.stops);
}
