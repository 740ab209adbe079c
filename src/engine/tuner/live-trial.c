/*
 * The only writer of struct live_trial, and the set of them.  Each state
 * transition is written to the database before it takes effect; other changes are
 * marked, and written at the end of the turn.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/engine/announce/trial-log.h"
#include "src/engine/tuner/attempt-metrics.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

static void
text_set(char **at, const char *text)
{
	char *copy = text != NULL && *text != '\0' ? xstrdup(text) : NULL;

	free(*at);
	*at = copy;
}

struct live_trial *
live_trial_new(struct store_trial *row, struct value *values)
{
	struct live_trial *l = xcalloc(1, sizeof *l);

	l->row = *row;
	l->values = values;
	l->judged_step = -1;
	*row = (struct store_trial){ 0 };
	return l;
}

void
live_trial_free(struct live_trial *l)
{
	store_trial_fini(&l->row);
	store_attempt_fini(&l->att);
	attempt_metrics_clear(&l->metrics);
	free(l->values);
	free(l->aims);
	free(l->start_error);
	free(l);
}

const struct value *
live_trial_values(const struct tuner *t, struct live_trial *l, struct err *e)
{
	const struct space *space = t->study->space;
	struct value *values;

	if (l->values != NULL)
		return l->values;
	values = xcalloc(space->n, sizeof *values);
	if (space_parse_values(space, l->row.params, values, e) == 0)
		return l->values = values;
	free(values);
	return NULL;
}

bool
live_trial_segment_done(const struct live_trial *l)
{
	return l->row.until > 0 && l->row.last_step >= l->row.until;
}

int64_t
live_trial_steps(const struct tuner *t, const struct live_trial *l)
{
	const struct study_trial *trial = &t->study->trial;

	if (l->row.own_steps > 0 && study_has_own_steps(trial))
		return l->row.own_steps;
	return trial->own_metric == NULL ? trial->max_steps : 0;
}

bool
live_trial_all_steps(const struct tuner *t, const struct live_trial *l)
{
	int64_t max = live_trial_steps(t, l);
	struct curve c;

	if (max == 0 || l->row.reports >= max || l->row.last_step >= max)
		return max > 0;
	if (l->row.reports == 0 || l->row.last_step < max - 1)
		return false;
	/* Steps that are counted from 0, not all of which are reported. */
	c = history_curve(t->history, l->row.number);
	return c.n > 0 && curve_step(&c, 0) == 0;
}

void
live_trial_write(struct tuner *t, struct live_trial *l)
{
	if (l->att_dirty)
		(void)store_attempt_put(t->store, &l->att, NULL);
	if (l->row_dirty)
		(void)store_trial_put(t->store, &l->row, NULL);
	l->att_dirty = l->row_dirty = false;
}

void
live_trial_set_state(
    struct tuner *t, struct live_trial *l, enum trial_event ev, const char *why)
{
	enum trial_state from = l->row.state, to = TRIAL_STATES;

	if (!trial_move(from, ev, &to))
		log_bug("trial %lld is %s: no %s moves it",
		    (long long)l->row.number, trial_state_name(from),
		    trial_event_name(ev));
	l->row.state = to;
	if (trial_state_final(to))
		l->row.ended_us =
		    l->row.attempts > 0 ? l->att.ended_us : t->turn_us;
	text_set(&l->row.why, why);
	if (l->open && trial_state_placed(to))
		l->att.state = to;
	l->row_dirty = true;
	l->att_dirty = l->att_dirty || l->open;
	t->durable = t->durable || ev != TRIAL_EV_UP;
	live_trial_write(t, l);
	if (!trial_state_final(to))
		trial_log_moved(&l->row);
}

void
live_trial_begin(struct tuner *t, struct live_trial *l, int backend,
    const struct store_attempt *att)
{
	attempt_metrics_clear(&l->metrics);
	store_attempt_fini(&l->att);
	l->found = false;
	l->backend = backend;
	l->external = backend < 0;
	l->att = *att;
	l->att.trial = l->row.number;
	l->att.attempt = ++l->row.attempts;
	l->att.state = TRIAL_STARTING;
	l->att.exit_code = -1;
	l->att.resumed_step = -1;
	l->row.not_before_us = 0;
	if (l->row.backend == NULL ||
	    strcmp(l->row.backend, l->att.backend) != 0)
		text_set(&l->row.backend, l->att.backend);
	(void)store_attempt_add(t->store, &l->att, NULL);
	l->open = true;
	live_trial_set_state(t, l, TRIAL_EV_PLACE, NULL);
}

void
live_trial_restore(
    struct live_trial *l, const struct store_attempt *att, int backend)
{
	l->att = *att;
	l->att.uuid = xstrdup(att->uuid);
	l->att.backend = xstrdup(att->backend);
	l->att.place = att->place != NULL ? xstrdup(att->place) : NULL;
	l->att.log = att->log != NULL ? xstrdup(att->log) : NULL;
	l->att.why = att->why != NULL ? xstrdup(att->why) : NULL;
	l->open = true;
	l->backend = backend;
	l->external = backend < 0;
	l->found = !l->external;
	l->start = l->external ? LIVE_START_CALLED : LIVE_START_UNKNOWN;
}

void
live_trial_set_asker(struct live_trial *l, const struct asker *asker)
{
	l->asker = *asker;
}

void
live_trial_restore_past(struct live_trial *l, const struct store_past *past)
{
	l->past = *past;
}

void
live_trial_set_start(struct live_trial *l, enum live_start start)
{
	l->start = start;
}

void
live_trial_set_start_error(struct live_trial *l, const char *error)
{
	free(l->start_error);
	l->start_error = error != NULL ? xstrdup(error) : NULL;
}

void
live_trial_refused(struct live_trial *l, int64_t start_at_ms)
{
	l->refusals++;
	l->start_at_ms = start_at_ms;
}

void
live_trial_accepted(struct live_trial *l)
{
	l->refusals = 0;
}

void
live_trial_hurry(struct live_trial *l)
{
	l->start_at_ms = 0;
}

void
live_trial_set_asked(struct live_trial *l, bool asked)
{
	l->asked = asked;
}

void
live_trial_set_trains(struct live_trial *l, bool trains)
{
	l->trains = trains;
}

bool
live_trial_warn_once(struct live_trial *l)
{
	bool first = !l->warned;

	l->warned = true;
	return first;
}

void
live_trial_up(
    struct tuner *t, struct live_trial *l, int64_t started_us, int cpus)
{
	l->att.started_us = started_us;
	if (cpus > 0)
		l->att.cpus = cpus;
	l->att_dirty = true;
	if (l->row.state == TRIAL_STARTING)
		live_trial_set_state(t, l, TRIAL_EV_UP, NULL);
}

void
live_trial_set_place(struct live_trial *l, const char *place)
{
	if (place == NULL ||
	    (l->att.place != NULL && strcmp(l->att.place, place) == 0))
		return;
	free(l->att.place);
	l->att.place = xstrdup(place);
	l->att_dirty = true;
}

void
live_trial_set_waits(struct live_trial *l, const char *why)
{
	const char *was = l->row.why != NULL ? l->row.why : "";

	if ((l->row.state != TRIAL_STARTING && l->row.state != TRIAL_RUNNING) ||
	    strcmp(was, why != NULL ? why : "") == 0)
		return;
	text_set(&l->row.why, why);
	l->row_dirty = true;
}

void
live_trial_set_cursor(struct live_trial *l, const struct launch_cursor *c)
{
	l->att.log_offset = c->log;
	l->att.metrics_offset = c->metrics;
	l->att.log_skip = c->log_skip;
	l->att.metrics_skip = c->metrics_skip;
	l->att_dirty = true;
}

void
live_trial_set_usage(struct live_trial *l, const struct gpu_usage *u)
{
	l->att.usage = *u;
	l->att_dirty = true;
}

void
live_trial_set_worst_cost(struct tuner *t, struct live_trial *l, double dollars)
{
	if (l->att.worst_cost == dollars)
		return;
	l->att.worst_cost = dollars;
	l->att_dirty = true;
	live_trial_write(t, l);
}

void
live_trial_set_cost(struct live_trial *l, double dollars)
{
	l->att.cost = dollars;
}

static bool
better(const struct study *study, double a, double b)
{
	if (!isfinite(b))
		return isfinite(a);
	return isfinite(a) && (study->maximize ? a > b : a < b);
}

void
live_trial_report(struct tuner *t, struct live_trial *l, int64_t step,
    double value, bool is_new)
{
	if (l->row.attempts > 1 && l->att.resumed_step < 0) {
		l->att.resumed_step = step;
		l->att_dirty = true;
	}
	/* Repeated steps are not progress. */
	if (is_new)
		l->row.free_retries = 0;
	l->row.reports += is_new;
	if (t->study->value_last ? step >= l->row.last_step
				 : better(t->study, value, l->row.objective))
		l->row.objective = value;
	if (step > l->row.last_step)
		l->row.last_step = step;
	l->row_dirty = true;
}

void
live_trial_set_aim(
    struct live_trial *l, size_t n_aims, size_t i, int64_t step, double value)
{
	size_t k;

	if (l->aims == NULL) {
		l->aims = xcalloc(n_aims, sizeof *l->aims);
		for (k = 0; k < n_aims; k++)
			l->aims[k] = (struct live_aim){ -1, NAN };
	}
	l->aims[i] = (struct live_aim){ step, value };
}

void
live_trial_set_objective(struct live_trial *l, double objective)
{
	l->row.objective = objective;
	l->row_dirty = true;
}

void
live_trial_set_violation(struct live_trial *l, double violation)
{
	l->row.violation = violation;
	l->row_dirty = true;
}

void
live_trial_set_own_steps(struct live_trial *l, int64_t steps)
{
	l->row.own_steps = steps;
}

void
live_trial_set_judged(struct live_trial *l, int64_t step)
{
	l->judged_step = step;
}

void
live_trial_set_verdict(struct live_trial *l, const struct judgement *j)
{
	l->verdict = *j;
	l->verdict_due =
	    j->verdict == VERDICT_STOP || j->verdict == VERDICT_PAUSE;
}

void
live_trial_verdict_taken(struct live_trial *l)
{
	l->verdict_due = false;
	l->row.is_paused = l->verdict.verdict == VERDICT_PAUSE;
	l->row.paused_step = l->judged_step;
	l->row_dirty = true;
}

void
live_trial_verdict_late(struct live_trial *l)
{
	l->verdict_due = false;
	l->verdict.verdict = VERDICT_KEEP;
}

/* A user's stop replaces other causes; a rule's stop stays a rule's. */
static bool
cause_outranks(enum stop_cause now, enum stop_cause wanted)
{
	if (now == STOP_NONE)
		return true;
	if (wanted == STOP_USER)
		return now != STOP_USER;
	if (wanted == STOP_LIMIT)
		return now == STOP_SHUTDOWN;
	return false;
}

void
live_trial_stop(struct tuner *t, struct live_trial *l, enum stop_cause cause,
    const char *why)
{
	if (cause_outranks(l->row.cause, cause)) {
		l->row.cause = cause;
		l->row_dirty = true;
		if (l->row.state != TRIAL_STOPPING)
			live_trial_set_state(t, l, TRIAL_EV_STOP, why);
		else
			live_trial_write(t, l);
		t->durable = true;
	}
	if (!l->asked)
		tuner_effect(t, EFFECT_STOP, l);
	l->asked = true;
}

/* Clear the start state of the last attempt. */
static void
reset_start(struct live_trial *l)
{
	l->start = LIVE_START_CALLED;
	l->asked = l->warned = false;
	l->refusals = 0;
	free(l->start_error);
	l->start_error = NULL;
}

void
live_trial_stop_done(struct live_trial *l, bool paused)
{
	l->row.is_paused = paused;
	l->row.cause = STOP_NONE;
	l->row_dirty = true;
	reset_start(l);
}

void
live_trial_set_looked(struct live_trial *l)
{
	l->looked = true;
}

void
live_trial_set_had_checkpoint(struct live_trial *l, bool had)
{
	l->had_checkpoint = had;
}

void
live_trial_renew(struct live_trial *l)
{
	l->row.failures = l->row.free_retries = 0;
	l->row.not_before_us = 0;
	l->row.cause = STOP_NONE;
	l->row.is_paused = false;
	l->row_dirty = true;
}

void
live_trial_resume(struct live_trial *l)
{
	l->row.is_paused = false;
	l->row_dirty = true;
}

void
live_trial_end_times(
    struct tuner *t, struct live_trial *l, const struct launch_exit *x)
{
	if (l->att.started_us == 0 && x != NULL)
		l->att.started_us =
		    x->started_us != 0 ? x->started_us : x->ended_us;
	if (l->att.started_us == 0)
		l->att.started_us = t->turn_us;
	l->att.ended_us =
	    x != NULL && x->ended_us != 0 ? x->ended_us : t->turn_us;
	/* Start and end may come from different clocks. */
	if (l->att.ended_us < l->att.started_us)
		l->att.ended_us = l->att.started_us;
	l->att_dirty = true;
}

void
live_trial_end(struct tuner *t, struct live_trial *l,
    const struct launch_exit *x, enum end_class c, const char *why)
{
	static const struct launch_exit lost = { .exit_code = -1 };
	bool ran = x != NULL && x->ran;

	if (x == NULL)
		x = &lost;
	l->att.state = TRIAL_STATES;
	l->att.end_class = c;
	l->att.exit_code = ran ? x->exit_code : -1;
	l->att.signal = x->signal;
	l->att.max_rss = x->max_rss;
	l->att.cpu_us = x->cpu_us;
	l->att.billed = x->billed;
	l->att.priced = x->priced;
	l->att.billable_s = x->billed ? x->billable_s : 0;
	l->att.trained_s = x->billed ? x->trained_s : 0;
	l->att.cost = x->priced ? x->cost : 0;
	l->att.before_s = x->before_s;
	l->att.after_s = x->after_s;
	text_set(&l->att.why, why);
	l->past.capacity += c == END_SPOT || c == END_CAPACITY;
	l->past.waits = end_class_waits(c) ? l->past.waits + 1 : 0;
	l->att_dirty = true;
	live_trial_write(t, l);
	l->open = false;
}

void
live_trial_undo(struct live_trial *l)
{
	l->open = l->att_dirty = false;
	l->row.not_before_us = 0;
	l->row.cause = STOP_NONE;
	if (--l->row.attempts == 0) {
		free(l->row.backend);
		l->row.backend = NULL;
	}
	l->row_dirty = true;
	reset_start(l);
}

void
live_trial_set_not_before(struct live_trial *l, int64_t time_us)
{
	l->row.not_before_us = time_us;
	l->row_dirty = true;
}

void
live_trial_add_retry(struct live_trial *l, bool free)
{
	if (free)
		l->row.free_retries++;
	else
		l->row.failures++;
	l->row_dirty = true;
}

void
live_trial_set_alone(struct live_trial *l)
{
	l->row.alone = true;
	l->row_dirty = true;
}

void
live_set_free(struct live_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		live_trial_free(s->list[i]);
	free(s->list);
	*s = (struct live_set){ 0 };
}

struct live_trial *
live_set_find(struct live_set *s, int64_t trial)
{
	size_t i;

	if (s->last_found != NULL && s->last_found->row.number == trial)
		return s->last_found;
	for (i = 0; i < s->n; i++)
		if (s->list[i]->row.number == trial)
			return s->last_found = s->list[i];
	return NULL;
}

void
live_set_add(struct live_set *s, struct live_trial *l)
{
	s->list = xreallocarray(s->list, s->n + 1, sizeof *s->list);
	s->list[s->n++] = l;
}

void
live_set_take(struct live_set *s, const struct live_trial *l)
{
	size_t i;

	for (i = 0; s->list[i] != l; i++)
		;
	s->list[i] = s->list[--s->n];
	s->last_found = NULL;
}

void
live_set_remove(struct live_set *s, struct live_trial *l)
{
	live_set_take(s, l);
	live_trial_free(l);
}

size_t
live_set_n_placed(const struct live_set *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += trial_state_placed(s->list[i]->row.state) &&
		     !s->list[i]->external;
	return n;
}

size_t
live_set_n_external(const struct live_set *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->list[i]->external;
	return n;
}
