/*
 * Rebuilds the tuner's state from the database at a start, and adopts the
 * attempts that the last server left running.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/median-view.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/restore.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/engine/warmstart/warmstart.h"
#include "src/model/history/history.h"
#include "src/model/pareto-front.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"

/* The trials of other studies, before our own: their last points suffice. */

struct warm_load {
	struct tuner *tuner;
	struct value *values;
	double *point;
	int64_t number; /* of the next trial: up to 0 */
	struct err *err;
};

static double
restore_metric_of(const struct json *metrics, const char *name)
{
	double value;

	return json_number(json_get(metrics, name), &value) ? value : NAN;
}

/* All objectives, and the violations of constraints. */
static void
results_load(
    struct warm_load *wl, const struct store_warm *row, const struct json *m)
{
	const struct study *study = wl->tuner->study;
	double *objectives = xcalloc(study->n_objectives, sizeof *objectives);
	double *broken = xcalloc(study->n_constraints + 1, sizeof *broken);
	size_t i;

	objectives[0] = row->objective;
	for (i = 0; i < study->n_objectives && study->n_objectives > 1; i++)
		objectives[i] =
		    restore_metric_of(m, study->objectives[i].metric);
	for (i = 0; i < study->n_constraints; i++)
		broken[i] = study_violation(&study->constraints[i],
		    restore_metric_of(m, study->constraints[i].metric));
	history_results(wl->tuner->history, wl->number, objectives, broken);
	free(objectives);
	free(broken);
}

static int
on_warm(void *arg, const struct store_warm *row)
{
	struct warm_load *wl = arg;
	const struct space *space = wl->tuner->study->space;
	struct history *h = wl->tuner->history;
	struct json_doc *doc = NULL;
	char why[200];
	bool fits;
	size_t i;

	if (json_parse(&doc, row->params, strlen(row->params), NULL, false,
		wl->err) != 0)
		return err_add(wl->err, "the parameters of trial %lld of %s",
		    (long long)row->trial, row->source);
	/* The space may have changed since. */
	fits =
	    warmstart_fit(space, json_root(doc), wl->values, why, sizeof why);
	json_free(doc);
	for (i = 0; i < space->n && !fits; i++)
		wl->point[i] = 0.5;
	if (fits)
		space_encode(space, wl->values, wl->point);
	history_add(h, wl->number, wl->point);
	/*
	 * The last point of the curve suffices: rules never see these trials.
	 */
	if (row->last_step >= 0)
		history_report(h, wl->number, row->last_step, row->last_value);
	if (history_has_results(h) &&
	    json_parse(&doc, row->metrics != NULL ? row->metrics : "{}",
		row->metrics != NULL ? strlen(row->metrics) : 2, NULL, false,
		wl->err) == 0) {
		results_load(wl, row, json_root(doc));
		json_free(doc);
	}
	history_end(
	    h, wl->number, fits ? row->state : TRIAL_CANCELLED, row->objective);
	wl->number++;
	return 0;
}

static int
warm_trials_load(struct tuner *t, struct err *e)
{
	struct warm_load wl = { .tuner = t, .err = e };
	int64_t n;
	int rc;

	if (!t->plugins.strategy->wants_points &&
	    t->plugins.convergence == NULL)
		return 0;
	if (store_warm_count(t->store, &n, e) != 0)
		return -1;
	if (n == 0)
		return 0;
	history_add_prior(t->history, (size_t)n);
	wl.number = 1 - n;
	wl.values = xcalloc(t->study->space->n, sizeof *wl.values);
	wl.point = xcalloc(t->study->space->n, sizeof *wl.point);
	rc = store_walk_warm(t->store, on_warm, &wl, e);
	free(wl.values);
	free(wl.point);
	return rc;
}

/*
 * Outcomes read back: of ended trials, what outcome.c recorded; of the others,
 * their last reports so far.
 */

struct restored_outcomes {
	struct tuner *tuner;
	size_t n; /* trials */
	double *values; /* each tuner->outcomes.n_aims */
	enum end_class *last;
	bool *failed; /* its latest end so far, in the order of records */
	bool *better;
};

static bool
restore_outcomes_has(const struct restored_outcomes *o, int64_t trial)
{
	return trial >= 1 && (uint64_t)trial <= o->n;
}

static int
restore_on_value(void *arg, int64_t trial, size_t i, double value)
{
	struct restored_outcomes *o = arg;
	size_t n = o->tuner->outcomes.n_aims;

	if (restore_outcomes_has(o, trial) && i < n)
		o->values[(size_t)(trial - 1) * n + i] = value;
	return 0;
}

static int
on_failed(void *arg, int64_t trial, enum end_class last)
{
	struct restored_outcomes *o = arg;

	if (restore_outcomes_has(o, trial))
		o->last[trial - 1] = last;
	return 0;
}

/* Call after the values were read. */
static int
on_front(void *arg, int64_t trial, bool inside, bool better)
{
	struct restored_outcomes *o = arg;
	struct tuner *t = o->tuner;
	double losses[STUDY_OBJECTIVES_MAX], value;
	size_t i;

	if (!restore_outcomes_has(o, trial) || t->outcomes.front == NULL ||
	    t->replicates.count > 0)
		return 0;
	o->better[trial - 1] = better;
	for (i = 0; i < t->study->n_objectives; i++) {
		value = o->values[(size_t)(trial - 1) * t->outcomes.n_aims + i];
		losses[i] = t->study->objectives[i].maximize ? -value : value;
	}
	if (inside)
		pareto_front_load(t->outcomes.front, trial, losses);
	return 0;
}

static int
restore_outcomes_load(
    struct restored_outcomes **out, struct tuner *t, struct err *e)
{
	struct restored_outcomes *o = xcalloc(1, sizeof *o);
	size_t i;
	int rc;

	*out = o;
	o->tuner = t;
	o->n = (size_t)t->n_trials;
	o->last = xcalloc(o->n + 1, sizeof *o->last);
	o->failed = xcalloc(o->n + 1, sizeof *o->failed);
	rc = store_walk_failed(t->store, on_failed, o, e);
	if (rc != 0 || t->outcomes.n_aims == 0)
		return rc;
	o->values = xcalloc(o->n + 1, t->outcomes.n_aims * sizeof *o->values);
	for (i = 0; i < o->n * t->outcomes.n_aims; i++)
		o->values[i] = NAN;
	o->better = xcalloc(o->n + 1, sizeof *o->better);
	rc = store_walk_outcomes(t->store, restore_on_value, o, e);
	if (rc == 0)
		rc = store_walk_front(t->store, on_front, o, e);
	return rc;
}

static void
restore_outcomes_free(struct restored_outcomes *o)
{
	if (o == NULL)
		return;
	free(o->values);
	free(o->last);
	free(o->failed);
	free(o->better);
	free(o);
}

static void
restore_outcomes_ended(struct restored_outcomes *o, int64_t trial,
    enum trial_state state, double objective, bool outside)
{
	size_t i = (size_t)(trial - 1);
	struct outcome one = {
		.trial = trial,
		.state = state,
		.last = o->last[i],
		.objective = objective,
		.values = o->values != NULL
			      ? o->values + i * o->tuner->outcomes.n_aims
			      : NULL,
		.known = true,
		.outside = outside,
		.better = o->better != NULL && o->better[i],
	};

	o->failed[i] = state == TRIAL_FAILED;
	outcome_ended(o->tuner, &one);
}

struct load {
	struct tuner *tuner;
	struct restored_outcomes *outcomes;
	struct value *values;
	double *point;
	bool *outside; /* of each trial: the space does not have its setting */
	size_t cap;
	struct err *err;
};

static struct store_trial
trial_copy(const struct store_trial *row)
{
	struct store_trial copy = *row;

	copy.params = xstrdup(row->params);
	copy.backend = row->backend != NULL ? xstrdup(row->backend) : NULL;
	copy.why = row->why != NULL ? xstrdup(row->why) : NULL;
	copy.outside = row->outside != NULL ? xstrdup(row->outside) : NULL;
	copy.commit = row->commit != NULL ? xstrdup(row->commit) : NULL;
	return copy;
}

/*
 * Read a trial's setting into values and point.  One that the space does not
 * have gets the middle of it, which is not used: for the strategy the trial is
 * cancelled.  A command may come between a change of study.json and the start
 * that records it.
 */
static int
load_values(struct load *ld, const struct store_trial *row, bool *outside)
{
	const struct tuner *t = ld->tuner;
	const struct space *space = t->study->space;
	struct err e = ERR_INIT;
	size_t i;

	*outside = row->outside != NULL;
	if (!*outside &&
	    space_parse_values(space, row->params, ld->values, &e) == 0) {
		space_encode(space, ld->values, ld->point);
		return 0;
	}
	/* study.json gives contests fewer replicates now, or none. */
	if (!*outside && !t->env.hold &&
	    !(trial_state_final(row->state) &&
		row->replicate > (int)t->replicates.count)) {
		*ld->err = e;
		return err_add(ld->err, "the parameters of trial %lld",
		    (long long)row->number);
	}
	*outside = true;
	for (i = 0; i < space->n; i++)
		ld->point[i] = 0.5;
	return 0;
}

/* Trials have no gaps, and come in order. */
static void
load_outside(struct load *ld, int64_t trial, bool outside)
{
	size_t n = (size_t)trial;

	if (n >= ld->cap) {
		ld->cap = 2 * n + 64;
		ld->outside =
		    xreallocarray(ld->outside, ld->cap, sizeof *ld->outside);
	}
	ld->outside[n] = outside;
}

/*
 * Load a trial that is not final; values: its setting, where it is read
 * already, or NULL.
 */
static void
load_live(
    struct tuner *t, const struct store_trial *row, const struct value *values)
{
	size_t n = t->study->space->n;
	struct store_trial copy = trial_copy(row);
	struct value *own = NULL;

	if (values != NULL) {
		own = xcalloc(n, sizeof *own);
		memcpy(own, values, n * sizeof *own);
	}
	live_set_add(&t->live, live_trial_new(&copy, own));
}

/* By its setting; what the trial reported is read in the order of records. */
static void
load_own_steps(struct tuner *t, const struct store_trial *row)
{
	if (t->study->trial.own_steps != NULL)
		judged_set_own(
		    &t->judged, row->number, row->own_steps, NULL, NULL);
}

static int
restore_on_trial(void *arg, const struct store_trial *row)
{
	struct load *ld = arg;
	struct tuner *t = ld->tuner;
	bool points =
	    t->plugins.strategy->wants_points || t->study->replicates.count > 0;
	bool outside = row->outside != NULL;

	if (points && load_values(ld, row, &outside) != 0)
		return -1;
	load_outside(ld, row->number, outside);
	t->n_trials = row->number;
	/* The first one that has a commit has that of the study. */
	if (t->commit == NULL && row->commit != NULL)
		t->commit = xstrdup(row->commit);
	judged_add(
	    &t->judged, row->number, row->replicate, points ? ld->point : NULL);
	load_own_steps(t, row);
	if (replicates_add(&t->replicates, row, ld->point))
		new_trial_restore(&t->suggestions, row->number,
		    row->forgotten || outside ||
			    replicates_is_held(&t->replicates, row->number)
			? NULL
			: row->params,
		    row->source);
	if (row->from > 0 || row->member > 0)
		history_set_parent(
		    t->history, row->number, row->from, row->member);
	if (row->forgotten)
		judged_end(&t->judged, row->number, TRIAL_CANCELLED, NAN);
	if (!trial_state_final(row->state))
		load_live(t, row, points && !outside ? ld->values : NULL);
	return 0;
}

/* A step of the history that the rules read. */
static void
load_observe(void *arg, int64_t trial, int64_t at)
{
	struct tuner *t = arg;

	stop_rule_set_observe(judged_rules(&t->judged, trial),
	    judged_history(&t->judged, trial), trial, at);
	if (judged_compares(&t->judged, trial))
		median_view_load(&t->medians, trial, at);
}

static void
load_report(struct tuner *t, const struct store_record *row)
{
	int64_t at = judged_at(&t->judged, row->trial, row->step);
	const char *own = t->study->trial.own_metric;
	struct stop_report report = { .trial = row->trial,
		.metric = row->metric != NULL ? row->metric : t->study->metric,
		.step = at,
		.value = row->value,
		.spent = { row->seconds, row->dollars } };
	struct stop_rule_set *rules = judged_rules(&t->judged, row->trial);

	if (own != NULL && row->metric != NULL &&
	    strcmp(own, row->metric) == 0) {
		judged_set_own(&t->judged, row->trial,
		    study_own_steps_of(row->value), load_observe, t);
		report.step = judged_at(&t->judged, row->trial, row->step);
	}

	if (row->metric == NULL) {
		(void)judged_report(
		    &t->judged, row->trial, row->step, row->value);
		if (at >= 0)
			load_observe(t, row->trial, at);
	}
	if (report.step >= 0)
		(void)stop_rule_set_report(rules, &report);
}

/*
 * In the order they were recorded: a rule may compare a trial with what was
 * known when the trial started, and "trials in a row" counts ends in order.
 */
static int
restore_on_record(void *arg, const struct store_record *row)
{
	struct load *ld = arg;

	if (row->state == TRIAL_RUNNING)
		load_report(ld->tuner, row);
	else if (row->state == TRIAL_WAITING)
		outcome_revive(ld->tuner, row->trial,
		    ld->outcomes->failed[row->trial - 1]);
	else
		restore_outcomes_ended(ld->outcomes, row->trial, row->state,
		    row->value, ld->outside[row->trial]);
	return 0;
}

static int
on_open_attempt(void *arg, const struct store_attempt *att)
{
	struct load *ld = arg;
	struct tuner *t = ld->tuner;
	struct live_trial *l = live_set_find(&t->live, att->trial);
	int i, backend = -1;
	bool external;

	if (l == NULL || l->row.attempts != att->attempt)
		return 0;
	external = strcmp(att->backend, ASK_BACKEND) == 0;
	if (t->env.without_backends && !external)
		return 0;
	for (i = 0; i < t->n_backends && !external; i++)
		if (strcmp(t->backends[i].type->name, att->backend) == 0)
			backend = i;
	if (!external && backend < 0)
		return err_set(ld->err, ERR_USAGE,
		    "trial %lld still runs on the backend %s, which study.json "
		    "does not have any more",
		    (long long)att->trial, att->backend);
	live_trial_restore(l, att, backend);
	if (!external)
		slots_take(&t->backends[backend].slots, att->slot, att->trial);
	return 0;
}

static void
on_asker(void *arg, int64_t trial, const struct asker *asker)
{
	struct load *ld = arg;
	struct live_trial *l = live_set_find(&ld->tuner->live, trial);

	if (l != NULL && l->open && l->external)
		live_trial_set_asker(l, asker);
}

struct load_live {
	struct live_trial *live;
	const char *metric; /* the objective */
};

static int
on_last_step(void *arg, const char *name, int64_t step, int64_t reports)
{
	struct load_live *ll = arg;

	attempt_metrics_restore(&ll->live->metrics, name, step, reports,
	    strcmp(name, ll->metric) == 0);
	return 0;
}

/* Trials that a rule has paused: their results so far go to the history. */
static void
load_paused(struct tuner *t)
{
	const struct live_trial *l;
	size_t i;

	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (l->row.state == TRIAL_WAITING && l->row.is_paused)
			paused_add(t, t->live.list[i]);
	}
}

static int
load_looked(struct tuner *t, struct live_trial *l, struct err *e)
{
	bool had;

	if (second_looks_had(t->store, l->row.number, &had, e) != 0)
		return -1;
	if (had)
		live_trial_set_looked(l);
	return 0;
}

static int
load_lives(struct tuner *t, struct err *e)
{
	struct load_live ll = { .metric = t->study->metric };
	struct live_trial *l;
	struct store_past past;
	struct curve c;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		c = history_curve(t->history, l->row.number);
		if (c.n > 0 && judged_at(&t->judged, l->row.number, 0) >= 0)
			live_trial_set_judged(l, curve_step(&c, c.n - 1));
		/* The first attempt has no past, and is no second look. */
		if (l->row.attempts == 1 && l->open) {
			if (outcome_restore(t, l, e) != 0)
				return -1;
		} else if (l->row.attempts > 0) {
			if (store_attempt_past(
				t->store, l->row.number, &past, e) != 0 ||
			    outcome_restore(t, l, e) != 0)
				return -1;
			live_trial_restore_past(l, &past);
			if (load_looked(t, l, e) != 0)
				return -1;
		}
		ll.live = l;
		if (l->open && store_walk_last_steps(t->store, l->row.number,
				   l->att.attempt, on_last_step, &ll, e) != 0)
			return -1;
	}
	return 0;
}

/* Whether the last run's study.json is that of this one, limits aside. */
static bool
study_is_same(const struct tuner *t)
{
	struct json_doc *before = NULL, *now = NULL;
	const struct json *j;
	struct buf b = { 0 };
	bool same;

	study_put_json(&b, t->study);
	same = t->row.json != NULL &&
	       json_parse(&before, t->row.json, strlen(t->row.json), NULL,
		   false, NULL) == 0 &&
	       json_parse(&now, b.data, b.len, NULL, false, NULL) == 0 &&
	       json_count(json_root(before)) == json_count(json_root(now));
	j = same ? json_first(json_root(now)) : NULL;
	for (; same && j != NULL; j = json_next(j))
		same =
		    strcmp(json_key(j), "limits") == 0 ||
		    (json_get(json_root(before), json_key(j)) != NULL &&
			json_same(j, json_get(json_root(before), json_key(j))));
	json_free(before);
	json_free(now);
	buf_free(&b);
	return same;
}

/* Rows of steps that are shares of their trials', or of some trials, have all to be new. */
static int
load_medians(struct tuner *t, struct err *e)
{
	bool all = t->study->trial.own_steps != NULL ||
		   t->study->trial.own_metric != NULL ||
		   t->study->replicates.count > 0 || !study_is_same(t);

	return median_view_loaded(&t->medians, t->store, all, e);
}

int
restore_tuner(struct tuner *t, struct err *e)
{
	struct load ld = { .tuner = t, .err = e };
	int rc;

	if (store_read_begin(t->store, e) != 0)
		return -1;
	ld.values = xcalloc(t->study->space->n, sizeof *ld.values);
	ld.point = xcalloc(t->study->space->n, sizeof *ld.point);
	rc = warm_trials_load(t, e);
	if (rc == 0)
		rc = store_walk_trials(t->store, restore_on_trial, &ld, e);
	if (rc == 0)
		rc = contests_load(&t->contests, t->store, e);
	if (rc == 0)
		rc = restore_outcomes_load(&ld.outcomes, t, e);
	if (rc == 0)
		rc = store_walk_records(t->store,
		    stop_rule_set_metrics(t->judged.rules), restore_on_record,
		    &ld, e);
	if (rc == 0)
		rc = load_medians(t, e);
	if (rc == 0)
		rc =
		    store_walk_open_attempts(t->store, on_open_attempt, &ld, e);
	if (rc == 0)
		rc = asker_walk(t->store, on_asker, &ld, e);
	if (rc == 0)
		rc = load_lives(t, e);
	store_read_end(t->store);
	if (rc == 0)
		load_paused(t);
	if (rc == 0)
		replicates_race(&t->replicates);
	restore_outcomes_free(ld.outcomes);
	free(ld.values);
	free(ld.point);
	free(ld.outside);
	return rc;
}

int
restore_broken_gpus(
    struct gpu_status **gpus, size_t *n, struct store *store, struct err *e)
{
	struct store_rows *rows = NULL;
	int rc;

	*gpus = NULL;
	*n = 0;
	if (store_rows_open(&rows, store,
		"SELECT uuid, coalesce(why, state) FROM gpus "
		"WHERE state IN ('suspect', 'quarantined')",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		*gpus = xreallocarray(*gpus, *n + 1, sizeof **gpus);
		(*gpus)[(*n)++] = (struct gpu_status){
			.uuid = xstrdup(store_rows_text(rows, 0)),
			.why = xstrdup(store_rows_text(rows, 1)),
		};
	}
	store_rows_close(rows);
	return rc;
}

void
restore_broken_gpus_free(struct gpu_status *gpus, size_t n)
{
	while (n-- > 0) {
		free((char *)gpus[n].uuid);
		free((char *)gpus[n].why);
	}
	free(gpus);
}
