/*
 * The simulated world: clock, random numbers, attempts and their fates.
 * Independent of backends and studies; things happen at their time even if no
 * backend is attached.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/study/study.h"
#include "trials/pretend/pretend.h"

#define NEVER INT64_MAX
#define LATE_MAX_MS 4000

struct pretend_world {
	struct pretend_faults faults;
	struct pretend_script script;
	struct rng dice;
	struct loop *loop; /* NULL while no backend is open */
	int64_t offset_ms; /* world time at the loop's 0 */
	int64_t now_ms; /* while no loop */
	int64_t wall_us; /* wall time at the world's 0 */
	struct pretend_attempt **all;
	size_t n, cap;
	struct pretend_attempt **live; /* coming or running */
	size_t n_live, most;
	int64_t *saved; /* [trial]: step of its checkpoint, 0 = none */
	size_t n_saved;
};

struct pretend_world *
pretend_world_new(uint64_t seed, const struct pretend_faults *faults)
{
	struct pretend_world *w = xcalloc(1, sizeof *w);

	if (faults != NULL)
		w->faults = *faults;
	rng_init(&w->dice, seed, 0);
	return w;
}

static void
pretend_world_attempt_free(struct pretend_attempt *a)
{
	free(a->reports);
	free(a);
}

void
pretend_world_free(struct pretend_world *w)
{
	size_t i;

	if (w == NULL)
		return;
	for (i = 0; i < w->n; i++)
		pretend_world_attempt_free(w->all[i]);
	free(w->all);
	free(w->live);
	free(w->saved);
	free(w);
}

int64_t
pretend_world_now(const struct pretend_world *w)
{
	return w->loop != NULL ? w->offset_ms + loop_now_ms(w->loop)
			       : w->now_ms;
}

void
pretend_world_attach(struct pretend_world *w, struct loop *loop,
    const struct pretend_script *script)
{
	w->offset_ms = w->now_ms - loop_now_ms(loop);
	w->wall_us = loop_wall_us(loop) - 1000 * w->now_ms;
	w->loop = loop;
	w->script = *script;
}

void
pretend_world_detach(struct pretend_world *w)
{
	w->now_ms = pretend_world_now(w);
	w->loop = NULL;
}

void
pretend_world_pass(struct pretend_world *w, int64_t ms)
{
	w->now_ms += ms;
	pretend_world_run(w);
}

bool
pretend_world_dice(struct pretend_world *w, double share)
{
	return share > 0 && rng_uniform(&w->dice) < share;
}

const struct pretend_faults *
pretend_world_faults(const struct pretend_world *w)
{
	return &w->faults;
}

size_t
pretend_world_count(const struct pretend_world *w)
{
	return w->n;
}

const struct pretend_attempt *
pretend_world_get(const struct pretend_world *w, size_t i)
{
	return w->all[i];
}

size_t
pretend_world_running(const struct pretend_world *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->n_live; i++)
		n += w->live[i]->state == PRETEND_RUNS;
	return n;
}

size_t
pretend_world_most(const struct pretend_world *w)
{
	return w->most;
}

struct pretend_attempt *
pretend_world_find(struct pretend_world *w, const char *uuid)
{
	size_t i;

	for (i = w->n; i-- > 0;)
		if (strcmp(w->all[i]->uuid, uuid) == 0)
			return w->all[i];
	return NULL;
}

/* The checkpoint of a trial: the step it was written after. */
static int64_t *
saved_step(struct pretend_world *w, int64_t trial)
{
	size_t want = (size_t)trial + 1;

	if (want > w->n_saved) {
		w->saved = xreallocarray(w->saved, want * 2, sizeof *w->saved);
		memset(w->saved + w->n_saved, 0,
		    (want * 2 - w->n_saved) * sizeof *w->saved);
		w->n_saved = want * 2;
	}
	return &w->saved[trial];
}

int64_t
pretend_world_saved(struct pretend_world *w, int64_t trial)
{
	return *saved_step(w, trial);
}

/* Some time around ms. */
static int64_t
pretend_world_jitter(struct pretend_world *w, double ms)
{
	return (int64_t)llround(ms * (0.75 + 0.5 * rng_uniform(&w->dice)));
}

/* SIGTERM, the grace, SIGKILL. */
static void
attempt_stop(
    struct pretend_world *w, struct pretend_attempt *a, int64_t at, bool now)
{
	struct pretend_life *f = &a->life;

	if (a->state == PRETEND_COMING && a->stop_ms < 0)
		a->stop_ms = at;
	if (a->state != PRETEND_RUNS)
		return;
	if (f->kill_ms == NEVER) {
		a->stop_ms = at;
		f->kill_ms = at + f->grace_ms;
		f->end_ms = at + 1 + (int64_t)rng_below(&w->dice, 50);
		if (pretend_world_dice(w, w->faults.slow_stop))
			f->end_ms = at + pretend_world_jitter(
					     w, 0.6 * (double)f->grace_ms);
		if (f->hangs || pretend_world_dice(w, w->faults.ignore_stop))
			f->end_ms = NEVER;
	}
	if (now && f->kill_ms > at + 1)
		f->kill_ms = at + 1;
}

static void
pretend_world_attempt_over(struct pretend_world *w, struct pretend_attempt *a,
    int64_t at, enum pretend_state state)
{
	size_t i;

	a->state = state;
	a->ended_ms = at;
	a->exit.stopped = a->exit.ran && a->stop_ms >= 0;
	a->exit.ended_us = w->wall_us + 1000 * at;
	a->exit.cpu_us = 1000 * (at - a->started_ms);
	a->exit.max_rss = INT64_C(1) << 20;
	for (i = 0; w->live[i] != a; i++)
		;
	w->live[i] = w->live[--w->n_live];
}

static void
pretend_world_attempt_begin(
    struct pretend_world *w, struct pretend_attempt *a, int64_t at)
{
	struct pretend_life *f = &a->life;
	int64_t back, first = *saved_step(w, a->trial) + 1;
	size_t n;

	if (first > 1 && pretend_world_dice(w, w->faults.repeat)) {
		back = (int64_t)rng_below(&w->dice, 3);
		first = first > back ? first - back : 1;
	}
	a->state = PRETEND_RUNS;
	a->started_ms = at;
	f->next_step = first;
	if (f->last_step < first - 1)
		f->last_step = first - 1;
	f->report_ms = at + pretend_world_jitter(w, w->script.step_ms);
	if (f->limit_ms != NEVER)
		f->limit_ms += at;
	a->exit = (struct launch_exit){ .ran = true,
		.started_us = w->wall_us + 1000 * at };
	if (f->never_runs || f->waits) {
		a->exit.ran = false;
		a->exit.exit_code = -1;
		if (f->never_runs)
			(void)snprintf(a->exit.why, sizeof a->exit.why,
			    "the simulated command does not exist");
		else
			a->exit.end = pretend_world_dice(w, 0.5) ? END_CAPACITY
								 : END_QUOTA;
		pretend_world_attempt_over(w, a, at, PRETEND_ENDED);
		return;
	}
	n = pretend_world_running(w);
	if (n > w->most)
		w->most = n;
	if (a->stop_ms >= 0)
		attempt_stop(w, a, at, false);
}

static void
attempt_report(struct pretend_world *w, struct pretend_attempt *a, int64_t at)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY };
	struct pretend_life *f = &a->life;
	int64_t step = f->next_step++;
	double value;

	if (f->gaps && step % 3 == 2)
		return;

	value = pretend_curve_value(
	    &w->script, a->trial, a->attempt, f->quality, step);
	if (pretend_world_dice(w, w->faults.nonfinite))
		value = odd[rng_below(&w->dice, 3)];
	if (step > 1 && pretend_world_dice(w, w->faults.backwards))
		step -= 1 + (int64_t)rng_below(&w->dice, step > 3 ? 3 : 1);
	XGROW(a->reports, a->n_reports, f->cap);
	a->reports[a->n_reports++] =
	    (struct pretend_report){ .has_step = !f->stepless,
		    .step = step,
		    .value = value,
		    .time_us = w->wall_us + 1000 * at };
	/* A trial of even number writes its checkpoint at every third step. */
	if (a->trial % 2 == 0 && f->next_step % 3 == 0)
		*saved_step(w, a->trial) = f->next_step - 1;
}

/* Reaction to SIGTERM: write the checkpoint and exit. */
static void
attempt_obey(struct pretend_world *w, struct pretend_attempt *a, int64_t at)
{
	if (pretend_world_dice(w, w->faults.last_words))
		attempt_report(w, a, at);
	*saved_step(w, a->trial) = a->life.next_step - 1;
	a->exit.exit_code = 0;
	if (pretend_world_dice(w, 0.5)) {
		a->exit.exit_code = -1;
		a->exit.signal = 15;
	}
	pretend_world_attempt_over(w, a, at, PRETEND_ENDED);
}

static void
attempt_killed(struct pretend_world *w, struct pretend_attempt *a, int64_t at)
{
	a->exit.exit_code = -1;
	a->exit.signal = 9;
	pretend_world_attempt_over(w, a, at, PRETEND_ENDED);
}

/* The script's last step is done, or was not to be. */
static void
attempt_finish(struct pretend_world *w, struct pretend_attempt *a, int64_t at)
{
	struct pretend_life *f = &a->life;

	if (f->hangs) {
		f->report_ms = NEVER;
		return;
	}
	if (f->dies_of_memory) {
		a->exit.oom = true;
		attempt_killed(w, a, at);
		return;
	}
	a->exit.exit_code = f->fails ? 1 : 0;
	pretend_world_attempt_over(
	    w, a, at, f->loses ? PRETEND_LOST : PRETEND_ENDED);
}

static int64_t
attempt_due(const struct pretend_attempt *a)
{
	const struct pretend_life *f = &a->life;
	int64_t due = f->report_ms;

	if (a->state == PRETEND_COMING)
		return a->started_ms;
	if (f->end_ms < due)
		due = f->end_ms;
	if (f->kill_ms < due)
		due = f->kill_ms;
	return f->limit_ms < due ? f->limit_ms : due;
}

/* The next thing in the life of an attempt, at its time. */
static void
attempt_step(struct pretend_world *w, struct pretend_attempt *a)
{
	struct pretend_life *f = &a->life;
	int64_t at = attempt_due(a);

	if (a->state == PRETEND_COMING)
		pretend_world_attempt_begin(w, a, at);
	else if (f->kill_ms == at)
		attempt_killed(w, a, at);
	else if (f->end_ms == at)
		attempt_obey(w, a, at);
	else if (f->limit_ms == at) {
		f->limit_ms = NEVER;
		a->exit.timeout = true;
		attempt_stop(w, a, at, false);
	} else if (f->next_step <= f->last_step) {
		attempt_report(w, a, at);
		f->report_ms = at + pretend_world_jitter(w, w->script.step_ms);
	} else
		attempt_finish(w, a, at);
}

static struct pretend_attempt *
first_due(const struct pretend_world *w)
{
	struct pretend_attempt *best = NULL;
	size_t i;

	for (i = 0; i < w->n_live; i++)
		if (best == NULL || attempt_due(w->live[i]) < attempt_due(best))
			best = w->live[i];
	return best;
}

void
pretend_world_run(struct pretend_world *w)
{
	int64_t now = pretend_world_now(w);
	struct pretend_attempt *a;

	while ((a = first_due(w)) != NULL && attempt_due(a) <= now)
		attempt_step(w, a);
}

int64_t
pretend_world_next(const struct pretend_world *w)
{
	const struct pretend_attempt *a = first_due(w);
	int64_t due = a != NULL ? attempt_due(a) : NEVER;

	return due == NEVER ? -1 : due - pretend_world_now(w);
}

/* What fate has in store for an attempt. */
static void
attempt_fate(struct pretend_world *w, struct pretend_attempt *a)
{
	const struct pretend_faults *bad = &w->faults;
	struct pretend_life *f = &a->life;
	struct rng g;
	int64_t steps = w->script.steps;

	rng_init(&g, w->script.seed, (uint64_t)a->trial << 16 ^ a->attempt);
	f->last_step = steps;
	f->fails = rng_uniform(&g) < w->script.fail ||
		   pretend_world_dice(w, bad->fail);
	f->loses = pretend_world_dice(w, bad->lost);
	f->dies_of_memory = pretend_world_dice(w, bad->oom);
	f->hangs = pretend_world_dice(w, bad->hang);
	f->never_runs = pretend_world_dice(w, bad->no_run);
	f->waits = pretend_world_dice(w, bad->waits);
	if (f->fails || f->loses || f->dies_of_memory || f->hangs)
		f->last_step = (int64_t)rng_below(&g, (uint64_t)steps + 1);
	else if (pretend_world_dice(w, bad->silent))
		f->last_step = 0;
	if (bad->worse > 0 && f->quality > 1 - bad->worse) {
		f->fails = true;
		f->last_step = 0;
	}
	/* The same for all attempts of a trial. */
	rng_init(&g, w->script.seed + 1, (uint64_t)a->trial);
	f->stepless = rng_uniform(&g) < bad->stepless;
	f->gaps = rng_uniform(&g) < bad->gaps;
	f->second = rng_uniform(&g) < bad->second;
	f->again = rng_uniform(&g) < bad->again;
}

struct pretend_attempt *
pretend_world_start(struct pretend_world *w, const struct launch_spec *spec,
    double quality, bool abandoned)
{
	struct pretend_attempt *a = xcalloc(1, sizeof *a);
	int64_t now = pretend_world_now(w);

	*a = (struct pretend_attempt){ .trial = spec->trial,
		.attempt = spec->attempt,
		.state = PRETEND_ABANDONED,
		.started_ms = -1,
		.stop_ms = -1,
		.ended_ms = -1,
		.life = { .quality = quality,
		    .report_ms = NEVER,
		    .end_ms = NEVER,
		    .kill_ms = NEVER,
		    .limit_ms = NEVER } };
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", spec->uuid);
	if (w->n == w->cap) {
		w->cap = w->cap < 16 ? 16 : w->cap * 2;
		w->all = xreallocarray(w->all, w->cap, sizeof *w->all);
		w->live = xreallocarray(w->live, w->cap, sizeof *w->live);
	}
	w->all[w->n++] = a;
	if (abandoned)
		return a;
	w->live[w->n_live++] = a;
	/* The trial starts from the checkpoint of the one that it continues. */
	if (spec->from > 0 && *saved_step(w, spec->trial) == 0)
		w->saved[spec->trial] = w->saved[spec->from];
	a->life.grace_ms = spec->settings->grace_ms;
	if (spec->settings->max_run_ms > 0)
		a->life.limit_ms = spec->settings->max_run_ms;
	attempt_fate(w, a);
	a->state = PRETEND_COMING;
	a->started_ms = now;
	if (pretend_world_dice(w, w->faults.late))
		a->started_ms += (int64_t)rng_below(&w->dice, LATE_MAX_MS);
	pretend_world_run(w);
	return a;
}

void
pretend_world_stop(struct pretend_world *w, struct pretend_attempt *a, bool now)
{
	attempt_stop(w, a, pretend_world_now(w), now);
}

bool
pretend_world_abandon(struct pretend_world *w, struct pretend_attempt *a)
{
	if (a->state == PRETEND_COMING) {
		pretend_world_attempt_over(w, a, -1, PRETEND_ABANDONED);
		a->started_ms = -1;
	}
	return a->state == PRETEND_ABANDONED;
}

void
pretend_world_forget(struct pretend_world *w, struct pretend_attempt *a)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (w->all[i] == a) {
			w->all[i] = w->all[--w->n];
			pretend_world_attempt_free(a);
			return;
		}
}
