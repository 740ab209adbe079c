/*
 * The setting of the next trial: from the user's queue, completed by the
 * strategy, or suggested by the strategy.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/durations.h"
#include "src/engine/memory-peaks.h"
#include "src/engine/replicates/proposals.h"
#include "src/engine/suggest/suggest.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/converge.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/study-end.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/tried-settings.h"
#include "src/model/where.h"
#include "src/store/queries.h"
#include "strategies/strategy.h"

enum {
	NEW_TRIAL_REDRAWS_MAX = 100, /* of the strategy, for one trial */
	REDRAWS_AT_ONCE = 16, /* in one turn */
	REUSED_AT_ONCE = 100
};

/* A setting that becomes a trial. */
struct next {
	struct value *values; /* one per parameter */
	char *params; /* the same as JSON, when it was needed; or NULL */
	struct suggest_answer answer;
	bool asked; /* the strategy contributed to it */
	int64_t queue_id; /* 0 = not from the queue */
	int64_t same_as; /* the trial whose result it takes; 0 = none */
	enum trial_source source;
	int64_t setting; /* it is a replicate of; 0: a new setting, or none */
	int replicate;
	bool proposed; /* a new setting that somebody proposed */
};

/* Once per study: each ask without a server starts a worker. */
static void
new_trial_on_event(void *arg, enum log_level level, const char *text)
{
	struct tuner *t = arg;
	char *event = xasprintf("%s: %s", t->plugins.strategy->name, text);

	if (!store_event_is_last(t->store, "strategy", event))
		tuner_event(t, level, "strategy", 0, 0, "%s", event);
	free(event);
}

/* What strategies see: trials, or the settings whose replicates they are. */
static struct history *
settings_seen(const struct tuner *t)
{
	return t->replicates.count > 0 ? t->replicates.history : t->history;
}

/* The number of the next one. */
static int64_t
next_setting(const struct tuner *t)
{
	return 1 + (t->replicates.count > 0 ? (int64_t)t->replicates.n
					    : t->n_trials);
}

/* Opened at first use: commands that only stop or list need no strategy. */
static int
suggest_ready(struct tuner *t, struct err *e)
{
	struct suggest_env env = {
		.loop = t->env.loop,
		.study = t->study,
		.plugins = &t->plugins,
		.history = settings_seen(t),
		.seed = t->row.seed,
		.state_dir = t->env.state_dir,
		.event = new_trial_on_event,
		.arg = t,
	};

	return t->suggestions.suggester != NULL
		   ? 0
		   : suggest_open(&t->suggestions.suggester, &env, e);
}

/*
 * Mean of the latest trials that ended, as recorded; 0 = none.  Only a strategy
 * that chooses among others depends on it.
 */
static double
trial_seconds(const struct tuner *t)
{
	return t->plugins.strategy->choose == NULL
		   ? 0
		   : store_seconds_lately(t->store);
}

/* Trials that run at a time. */
static int64_t
parallel(const struct tuner *t)
{
	int64_t n = capacity_parallel(t);
	int i;

	for (i = 0; n <= 0 && i < t->n_backends; i++)
		n -= t->backends[i].slots.n;
	return n < 0 ? -n : n;
}

/* What the strategy needs of durations and memory, after more trials have ended. */
static void
durations_refresh(struct tuner *t)
{
	struct suggestions *s = &t->suggestions;
	struct err e = ERR_INIT;

	s->seconds = trial_seconds(t);
	s->seconds_at = t->outcomes.n_over;
	if (t->plugins.strategy->wants_seconds &&
	    (durations_load(settings_seen(t), t->store, t->replicates.count > 0,
		 &e) != 0 ||
		durations_used(&s->time_used, t->store, &t->study->limits,
		    parallel(t), &e) != 0))
		store_fail_with(t->store, &e);
	else if (t->plugins.strategy->wants_points &&
		 (t->outcomes.n_failed != s->failed_at ||
		     history_has_memory(settings_seen(t))) &&
		 memory_peaks_load(settings_seen(t), t->store,
		     t->replicates.count > 0, &e) != 0)
		store_fail_with(t->store, &e);
	s->failed_at = t->outcomes.n_failed;
}

static struct suggest_question
question(struct tuner *t, unsigned redraw)
{
	struct suggestions *s = &t->suggestions;

	if (s->seconds_at != t->outcomes.n_over)
		durations_refresh(t);
	return (struct suggest_question){
		.trial = next_setting(t),
		.n_enqueued = s->n_enqueued,
		.redraw = redraw,
		.trial_seconds = s->seconds,
		.time_limited = t->study->limits.wall_time_ms > 0 ||
				t->study->limits.gpu_hours > 0,
		.time_used = s->time_used,
		.ended = t->outcomes.n_over,
	};
}

/* Ask the strategy; its failure ends the study. */
static enum suggest_result
new_trial_ask(struct tuner *t, struct next *next, unsigned redraw)
{
	struct suggest_question q = question(t, redraw);
	enum suggest_result asked = SUGGEST_FAILED;
	struct err e = ERR_INIT;
	char why[256];

	next->answer.values = next->values;
	if (suggest_ready(t, &e) == 0)
		asked = suggest_ask(
		    t->suggestions.suggester, &q, &next->answer, &e);
	next->asked = asked == SUGGEST_POINT;
	t->suggesting = asked == SUGGEST_LATER;
	if (asked != SUGGEST_FAILED)
		return asked;
	tuner_event(t, LOG_LEVEL_ERROR, "strategy", 0, 0, "%s: %s",
	    t->plugins.strategy->name, e.text);
	(void)snprintf(why, sizeof why, "the strategy %s: %s",
	    t->plugins.strategy->name, e.text);
	study_end_failed(t, why);
	return SUGGEST_FAILED;
}

static char *
params_json(const struct space *space, const struct value *values)
{
	struct buf b = { 0 };

	space_put_json(&b, space, values);
	return buf_take(&b);
}

/* The first trial with this setting, or 0; whether its result can be reused. */
static int64_t
known(struct tuner *t, struct next *next, bool *done)
{
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;
	int64_t trial;

	free(next->params);
	next->params = params_json(t->study->space, next->values);
	trial = tried_settings_find(t->suggestions.tried, next->params);
	*done = false;
	if (trial > 0 && store_trial_get(t->store, trial, &row, &e) != 0)
		store_fail_with(t->store, &e);
	else if (trial > 0) {
		*done = row.state == TRIAL_COMPLETED;
		if (strcmp(row.params, next->params) != 0)
			trial = 0;
	}
	store_trial_fini(&row);
	return trial;
}

/*
 * The strategy repeats settings.  In a finite space take any untried one;
 * otherwise a random one.
 */
static enum suggest_result
draw_other(struct tuner *t, struct next *next)
{
	const struct space *space = t->study->space;
	const struct strategy *random = strategy_find("random");
	struct strategy_ask q = {
		.space = space,
		.history = settings_seen(t),
		.seed = t->row.seed,
		.trial = next_setting(t),
		.redraw = t->suggestions.redraws,
	};
	struct suggestion s = { .made_by = "cpu" };
	struct suggest_answer *a = &next->answer;
	int rc = 0;

	a->from = 0;
	a->seconds = a->fits = a->memory = 0;
	(void)snprintf(a->made_by, sizeof a->made_by, "cpu");
	next->asked = true;
	if (tried_settings_other(t->suggestions.tried, next->values))
		return SUGGEST_POINT;
	if (t->suggestions.redraws > 2 * NEW_TRIAL_REDRAWS_MAX)
		return SUGGEST_EXHAUSTED;
	s.x = xcalloc(space->n, sizeof *s.x);
	rc = strategy_suggest(random, &s, &q, NULL, NULL);
	space_snap(space, s.x);
	space_decode(space, s.x, next->values);
	free(s.x);
	return rc == 0 ? SUGGEST_POINT : SUGGEST_EXHAUSTED;
}

/* Ask the strategy until its answer is new. */
static enum suggest_result
draw(struct tuner *t, struct next *next)
{
	bool reuse = t->study->duplicates == STUDY_DUPLICATES_REUSE, done;
	enum suggest_result asked;
	int n;

	if (t->plugins.strategy->repeats)
		return new_trial_ask(t, next, 0);
	t->suggestions.all_tried = tried_settings_all(t->suggestions.tried);
	if (t->suggestions.all_tried > 0)
		return SUGGEST_EXHAUSTED;
	for (n = 0; n < REDRAWS_AT_ONCE && !store_failed(t->store); n++) {
		asked = t->suggestions.redraws > NEW_TRIAL_REDRAWS_MAX
			    ? draw_other(t, next)
			    : new_trial_ask(t, next, t->suggestions.redraws);
		if (asked != SUGGEST_POINT)
			return asked;
		t->suggestions.redraw_seconds += next->answer.seconds;
		/* The user's own strategy may suggest any setting. */
		if (where_broken(t->study->space, next->values) == NULL) {
			next->same_as = known(t, next, &done);
			if (next->same_as == 0 || (reuse && done))
				return SUGGEST_POINT;
		}
		t->suggestions.redraws++;
	}
	t->suggesting = true;
	loop_wake(t->env.loop);
	return SUGGEST_LATER;
}

/* Take a queued setting, params as JSON, from the queue without a trial. */
static enum suggest_result
queued_drop(struct tuner *t, struct next *next, const char *params,
    const char *what, const char *on)
{
	tuner_event(t, LOG_LEVEL_ERROR, "enqueue", 0, 0,
	    "a queued setting was dropped: %s%s: %.200s", what, on, params);
	(void)store_queue_take(t->store, next->queue_id, 0, NULL);
	return SUGGEST_FAILED;
}

/*
 * A setting of the queue; the strategy completes open parameters, which are
 * moved to where the conditions of the study hold.
 */
static enum suggest_result
queued_fill(struct tuner *t, struct next *next, const char *params,
    const struct value *over)
{
	const struct space *space = t->study->space;
	enum suggest_result asked = SUGGEST_EXHAUSTED;
	const char *broken = where_broken(space, over);

	/* Accepted before the conditions were changed. */
	if (broken != NULL)
		return queued_drop(
		    t, next, params, "it does not satisfy ", broken);
	/* A member of a population must continue with the setting. */
	if (!space_is_full(space, over) || t->plugins.strategy->continues)
		asked = new_trial_ask(t, next, 0);
	if (asked == SUGGEST_LATER || asked == SUGGEST_FAILED)
		return asked;
	if (asked == SUGGEST_POINT)
		partial_setting_overlay(space, next->values, over);
	else
		memcpy(next->values, over, space->n * sizeof *over);
	partial_setting_complete(space, next->values);
	broken = where_broken(space, next->values);
	if (broken == NULL || where_complete(space, next->values, over,
				  t->row.seed, (uint64_t)t->n_trials + 1))
		return SUGGEST_POINT;
	return queued_drop(t, next, params,
	    "no completion of it was found that satisfies ", broken);
}

/* The next setting of the queue; empty when none waits, or it was dropped. */
static enum suggest_result
queued(struct tuner *t, struct next *next)
{
	const struct space *space = t->study->space;
	struct value *over = xcalloc(space->n, sizeof *over);
	enum suggest_result asked = SUGGEST_FAILED;
	struct err e = ERR_INIT;
	char *params = NULL;
	int rc;

	rc = store_queue_next(
	    t->store, &next->queue_id, &params, &next->source, NULL);
	if (rc > 0) {
		next->queue_id = 0;
		asked = SUGGEST_EXHAUSTED;
	} else if (rc == 0 &&
		   space_parse_values(space, params, over, &e) == 0) {
		/* The strategy has nothing to say of it. */
		if (t->replicates.count > 0)
			over[t->study->replicates.param] =
			    space->params[t->study->replicates.param].values[0];
		asked = queued_fill(t, next, params, over);
	} else if (rc == 0)
		/* Without its place in params: "1:15: ". */
		asked = queued_drop(t, next, params,
		    e.text + strspn(e.text, "0123456789: "), "");
	free(over);
	free(params);
	return asked;
}

/* Write the rows of a new trial: the trial, the queue entry, the suggestion. */
static void
new_trial_write(
    struct tuner *t, const struct next *next, const struct store_trial *row)
{
	struct store_suggestion s = {
		.trial = row->number,
		.strategy = next->answer.strategy != NULL
				? next->answer.strategy
				: t->plugins.strategy->name,
		.why = next->answer.why,
		.made_by = next->answer.made_by,
		.seconds = next->queue_id != 0 ? next->answer.seconds
					       : t->suggestions.redraw_seconds,
		.redraws = next->queue_id != 0 ? 0 : t->suggestions.redraws,
		.same_as = next->same_as,
		.from_trial = next->answer.from,
		.memory = next->answer.memory,
		.fits = next->answer.fits,
	};

	if (s.memory == 0)
		(void)gpu_need_of(&t->gpu_need, next->values, &s.memory);
	(void)store_trial_add(t->store, row, NULL);
	if (next->queue_id != 0)
		(void)store_queue_take(
		    t->store, next->queue_id, row->number, NULL);
	if (next->asked)
		(void)store_suggestion_add(t->store, &s, NULL);
}

/*
 * The commit that a new trial runs: that of its setting, or of the study; the
 * caller frees it.  NULL: the study has none.
 */
static char *
new_trial_commit(struct tuner *t, const struct next *next)
{
	const char *commit = NULL;

	if (t->commit == NULL && t->study->trial.source.hash != NULL)
		t->commit = xstrdup(t->study->trial.source.hash);
	if (next->setting > 0)
		commit = proposals_commit(&t->contests, next->setting);
	if (commit == NULL)
		commit = t->commit;
	return commit != NULL ? xstrdup(commit) : NULL;
}

/* Takes over values and params of next. */
static struct live_trial *
new_trial_begin(struct tuner *t, struct next *next)
{
	const struct space *space = t->study->space;
	double *point = xcalloc(space->n, sizeof *point);
	struct live_trial *l;
	struct store_trial row = {
		.number = ++t->n_trials,
		.state = TRIAL_WAITING,
		.params = next->params != NULL
			      ? next->params
			      : params_json(space, next->values),
		.source = next->source,
		.objective = NAN,
		.last_step = -1,
		.from = next->answer.from,
		.member = next->answer.member,
		.until = next->answer.until,
		.own_steps = study_own_steps(t->study, next->values),
		.commit = new_trial_commit(t, next),
	};

	if (t->replicates.count > 0) {
		row.setting =
		    next->setting > 0 ? next->setting : next_setting(t);
		row.replicate = next->setting > 0 ? next->replicate : 1;
	}
	t->suggestions.n_enqueued += row.source != SOURCE_STRATEGY;
	new_trial_write(t, next, &row);
	if (next->proposed)
		proposals_begun(&t->contests, t->store, row.setting);
	space_encode(space, next->values, point);
	judged_add(&t->judged, row.number, row.replicate, point);
	judged_set_own(&t->judged, row.number, row.own_steps, NULL, NULL);
	if (replicates_add(&t->replicates, &row, point)) {
		if (!next->proposed)
			tried_settings_add(
			    t->suggestions.tried, row.params, row.number);
		t->suggestions.redraws = 0;
		t->suggestions.redraw_seconds = 0;
	}
	if (row.member > 0 || row.from > 0)
		history_set_parent(
		    t->history, row.number, row.from, row.member);
	free(point);
	l = live_trial_new(&row, next->values);
	next->values = NULL;
	next->params = NULL;
	live_set_add(&t->live, l);
	return l;
}

/* End a new trial at once with the result of the earlier trial. */
static void
new_trial_reuse(struct tuner *t, struct live_trial *l, int64_t trial)
{
	char *why = xasprintf("the result of trial %" PRId64, trial);
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(t->store, trial, &row, &e) != 0 ||
	    outcome_copy(t, l, trial, &e) != 0)
		store_fail_with(t->store, &e);
	else {
		live_trial_set_objective(l, row.objective);
		outcome_move(t, l, TRIAL_EV_REUSE, why);
		outcome_finish(t, l);
		live_set_remove(&t->live, l);
	}
	store_trial_fini(&row);
	free(why);
}

/* One trial: it waits, or was ended by reuse, or is not available yet. */
static enum suggest_result
new_trial_make(struct tuner *t, struct live_trial **l, bool *reused)
{
	struct next next = { .source = SOURCE_STRATEGY };
	enum suggest_result asked;

	*reused = false;
	next.values = xcalloc(t->study->space->n, sizeof *next.values);
	if (contests_due(
		&t->contests, &next.setting, &next.replicate, next.values) ||
	    replicates_due(
		&t->replicates, &next.setting, &next.replicate, next.values))
		asked = SUGGEST_POINT;
	else
		asked = queued(t, &next);
	next.proposed = next.setting >= next_setting(t);
	if (next.proposed)
		next.source = SOURCE_ENQUEUE;
	if (asked == SUGGEST_EXHAUSTED) {
		next.source = SOURCE_STRATEGY;
		asked = draw(t, &next);
		t->suggestions.exhausted = asked == SUGGEST_EXHAUSTED;
	}
	if (store_failed(t->store))
		asked = SUGGEST_FAILED;
	if (asked == SUGGEST_POINT) {
		*l = new_trial_begin(t, &next);
		*reused = next.same_as > 0 && !store_failed(t->store);
		if (*reused)
			new_trial_reuse(t, *l, next.same_as);
	}
	free(next.values);
	free(next.params);
	return asked;
}

struct live_trial *
new_trial_next(struct tuner *t)
{
	struct live_trial *l = NULL;
	enum suggest_result asked;
	int64_t setting;
	bool reused;
	int n, replicate;

	if (!contests_due(&t->contests, &setting, &replicate, NULL) &&
	    (!converge_known(t) || limits_converged(t)))
		return NULL;
	replicates_race(&t->replicates);
	for (n = 0; n < REUSED_AT_ONCE && limits_allow_new(t); n++) {
		asked = new_trial_make(t, &l, &reused);
		/* A program that asks is not to come again for that. */
		if (asked == SUGGEST_EXHAUSTED &&
		    (t->env.hold || t->env.asked) && study_end_confirm(t))
			continue;
		if (asked != SUGGEST_POINT)
			return NULL;
		if (!reused)
			return store_failed(t->store) ? NULL : l;
	}
	loop_wake(t->env.loop);
	return NULL;
}

/* A grid of another space begins again. */
void
new_trial_open(struct tuner *t)
{
	t->suggestions = (struct suggestions){
		.n_before = store_trials_before_change(t->store),
		.tried = tried_settings_new(t->study->space, t->row.seed),
	};
	tried_settings_reserve(
	    t->suggestions.tried, (size_t)store_trials_last(t->store));
}

void
new_trial_close(struct suggestions *s)
{
	suggest_close(s->suggester);
	tried_settings_free(s->tried);
}

void
new_trial_restore(struct suggestions *s, int64_t trial, const char *params,
    enum trial_source source)
{
	s->n_enqueued += source != SOURCE_STRATEGY || trial <= s->n_before;
	if (params != NULL)
		tried_settings_add(s->tried, params, trial);
}

void
new_trial_ahead(struct tuner *t)
{
	struct suggestions *s = &t->suggestions;
	struct suggest_question q;

	s->redraws = 0;
	s->redraw_seconds = 0;
	if (s->suggester == NULL)
		return;
	if (!limits_allow_new(t)) {
		suggest_cancel(s->suggester);
		return;
	}
	q = question(t, 0);
	(void)suggest_ahead(s->suggester, &q);
}

void
new_trial_reopen(struct suggestions *s)
{
	s->exhausted = false;
}
