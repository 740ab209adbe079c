/* Settings and their replicates: what is due, what has ended, and the rows. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/replicates/replicates.h"
#include "src/model/history/history.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

void
replicates_open(struct replicates *r, const struct study *study,
    const struct history *trials)
{
	unsigned keep = HISTORY_CURVES | HISTORY_POINTS;

	*r = (struct replicates){ .count = study->replicates.count,
		.study = study,
		.trials = trials,
		.n_aims = study->n_objectives + study->n_constraints };
	if (r->count == 0)
		return;
	r->history = history_new(study->space->n, study->maximize, keep);
	r->losses = xcalloc(r->n_aims, sizeof *r->losses);
}

void
replicates_close(struct replicates *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		free(r->list[i].list);
		free(r->list[i].held);
		free(r->list[i].values);
		free(r->list[i].commit);
	}
	for (i = 0; i < r->n_aims && r->losses != NULL; i++)
		free(r->losses[i]);
	free(r->list);
	free(r->losses);
	free(r->setting_of);
	free(r->number_of);
	history_free(r->history);
}

const double *
replicates_losses(const struct replicates *r, size_t aim, size_t i)
{
	return r->losses[aim] + i * r->count;
}

/* What the setting's completed replicates come to, aim by aim. */
static void
values_refresh(struct replicates *r, size_t i)
{
	struct setting *s = &r->list[i];
	size_t a;

	s->violation = 0;
	for (a = 0; a < r->n_aims; a++) {
		s->values[a] = replicate_stats_value(replicates_losses(r, a, i),
		    r->count, r->study->replicates.quantile);
		if (a >= r->study->n_objectives && s->values[a] > 0)
			s->violation += s->values[a];
	}
	s->value = s->values[0];
}

/*
 * Compute a setting's state and value, after one of its replicates has changed.
 */
static void
setting_refresh(struct replicates *r, size_t i)
{
	struct setting *s = &r->list[i];
	bool stopped = false, failed = false, cancelled = s->outside;
	size_t begun = 0, k;

	s->completed = 0;
	for (k = 0; k < r->count; k++) {
		if (s->list[k].trial == 0)
			continue;
		begun++;
		s->completed += s->list[k].state == TRIAL_COMPLETED;
		stopped |= s->list[k].state == TRIAL_STOPPED;
		failed |= s->list[k].state == TRIAL_FAILED;
		cancelled |= s->list[k].state == TRIAL_CANCELLED;
	}
	s->state = begun == 0		      ? SETTING_FORGOTTEN
		   : failed		      ? SETTING_FAILED
		   : stopped		      ? SETTING_STOPPED
		   : cancelled		      ? SETTING_CANCELLED
		   : s->completed == r->count ? SETTING_COMPLETED
					      : SETTING_OPEN;
	values_refresh(r, i);
	s->dirty = true;
}

static bool
is_stopped(const struct replicate *one)
{
	return one->trial != 0 && (one->state == TRIAL_STOPPED || one->paused);
}

/* A trial's loss of an objective, or how much it breaks a constraint. */
static double
trial_loss(const struct replicates *r, int64_t trial, size_t aim)
{
	size_t n = r->study->n_objectives;
	double value;

	if (r->n_aims == 1)
		return history_loss(r->trials, trial);
	if (aim < n)
		return history_losses(r->trials, trial)[aim];
	value = history_violations(r->trials, trial)[aim - n];
	/* Which it did not report, or never as a finite number. */
	return isnan(value) ? INFINITY : value;
}

/* What a setting that was stopped has come to, with the stopped replicates. */
static double
stopped_value(const struct replicates *r, size_t i, size_t aim)
{
	const struct setting *s = &r->list[i];
	double *losses = xcalloc(r->count, sizeof *losses), value, loss;
	size_t k;

	memcpy(losses, replicates_losses(r, aim, i), r->count * sizeof *losses);
	for (k = 0; k < r->count; k++) {
		if (!is_stopped(&s->list[k]))
			continue;
		loss = trial_loss(r, s->list[k].trial, aim);
		losses[k] =
		    loss > -INFINITY &&
			    (aim >= r->study->n_objectives || loss < INFINITY)
			? loss
			: NAN;
	}
	value = replicate_stats_value(
	    losses, r->count, r->study->replicates.quantile);
	free(losses);
	return value;
}

/* The last report of the stopped replicate: strategies see how far it came. */
static void
stopped_report(struct replicates *r, size_t i)
{
	const struct setting *s = &r->list[i];
	struct curve c;
	size_t k;

	for (k = 0; k < r->count; k++) {
		if (!is_stopped(&s->list[k]))
			continue;
		c = history_curve(r->trials, s->list[k].trial);
		if (c.n > 0)
			history_report(r->history, (int64_t)i + 1,
			    curve_step(&c, c.n - 1),
			    history_flip_sign(
				r->trials, curve_value(&c, c.n - 1)));
		return;
	}
}

static bool
setting_paused(const struct setting *s, size_t count)
{
	size_t k;

	for (k = 0; k < count; k++)
		if (s->list[k].paused)
			return true;
	return false;
}

/* What strategies see of it: of a stopped one what it has come to. */
static double
results_show(struct replicates *r, size_t i, bool stopped)
{
	size_t a, n = r->study->n_objectives;
	const struct setting *s = &r->list[i];
	double *values = xcalloc(r->n_aims, sizeof *values), first;

	for (a = 0; a < r->n_aims; a++) {
		values[a] = stopped ? stopped_value(r, i, a) : s->values[a];
		if (a < n && r->study->objectives[a].maximize)
			values[a] = -values[a];
	}
	first = values[0];
	if (history_has_results(r->history))
		history_results(r->history, (int64_t)i + 1, values, values + n);
	free(values);
	return first;
}

/* A replicate has changed: what the setting comes to, also for strategies. */
static void
setting_show(struct replicates *r, size_t i)
{
	int64_t number = (int64_t)i + 1;
	enum trial_state shown = TRIAL_COMPLETED;
	struct setting *s = &r->list[i];
	double value = NAN;

	setting_refresh(r, i);
	if (history_state(r->history, number) != TRIAL_RUNNING)
		history_retry(r->history, number);
	switch (s->state) {
	case SETTING_OPEN:
		/* A restart knows no report of an earlier pause. */
		if (setting_paused(s, r->count))
			shown = TRIAL_STOPPED;
		else if (isnan(s->value))
			return;
		break;
	case SETTING_COMPLETED:
		break;
	case SETTING_CANCELLED:
		if (isnan(s->value) || s->outside)
			shown = TRIAL_CANCELLED;
		break;
	case SETTING_STOPPED:
		shown = TRIAL_STOPPED;
		stopped_report(r, i);
		break;
	case SETTING_FAILED:
		shown = TRIAL_FAILED;
		break;
	case SETTING_FORGOTTEN:
		shown = TRIAL_CANCELLED;
		break;
	}
	if (shown != TRIAL_FAILED)
		value = results_show(r, i, shown == TRIAL_STOPPED);
	history_end(r->history, number, shown, value);
}

/* The replicate that setting i gets next, from 1; 0: none for now. */
static int
setting_next(const struct replicates *r, size_t i)
{
	const struct setting *s = &r->list[i];
	size_t k, completed = 0, pending = 0;
	int next = 0;

	if (s->state != SETTING_OPEN || s->behind ||
	    setting_paused(s, r->count))
		return 0;
	for (k = r->count; k-- > 0;) {
		if (s->list[k].trial == 0)
			next = (int)k + 1;
		else if (s->list[k].state == TRIAL_COMPLETED)
			completed++;
		else
			pending++;
	}
	/* As many more at once as it has: Hutter et al., LION 5, 2011. */
	if (r->study->replicates.racing && pending >= completed)
		return 0;
	return next;
}

bool
replicates_due(const struct replicates *r, int64_t *setting, int *replicate,
    struct value *values)
{
	const struct space *space = r->study->space;
	size_t i, k, found = r->n;
	double value, least = INFINITY;
	int next;

	for (i = 0; i < r->n; i++) {
		if ((next = setting_next(r, i)) == 0)
			continue;
		/* Without a race the first one, else the best one. */
		value = r->study->replicates.racing ? r->list[i].place : 0;
		if (found == r->n || value < least) {
			found = i;
			least = value;
			*replicate = next;
		}
	}
	if (found == r->n)
		return false;
	*setting = (int64_t)found + 1;
	if (values == NULL)
		return true;
	k = r->study->replicates.param;
	space_decode(space, history_point(r->history, *setting), values);
	values[k] = space->params[k].values[*replicate - 1];
	return true;
}

static struct setting *
setting_get(struct replicates *r, size_t number)
{
	size_t a, i;

	if (number > r->cap) {
		r->cap = 2 * number + 16;
		r->list = xreallocarray(r->list, r->cap, sizeof *r->list);
		for (a = 0; a < r->n_aims; a++)
			r->losses[a] = xreallocarray(r->losses[a],
			    r->cap * r->count, sizeof *r->losses[a]);
	}
	for (; r->n < number; r->n++) {
		r->list[r->n] = (struct setting){
			.list = xcalloc(r->count, sizeof *r->list->list),
			.values = xcalloc(r->n_aims, sizeof(double)),
			.place = INFINITY,
		};
		for (a = 0; a < r->n_aims; a++)
			for (i = 0; i < r->count; i++)
				r->losses[a][r->n * r->count + i] = NAN;
	}
	return &r->list[number - 1];
}

/* The place of a replicate of a setting; NULL: there is none. */
static struct replicate *
replicate_place(const struct replicates *r, struct setting *s, int number)
{
	size_t k = (size_t)number - 1;

	if (number < 1 || k >= r->count + REPLICATES_MAX)
		return NULL;
	if (k < r->count)
		return &s->list[k];
	if (s->held == NULL)
		s->held = xcalloc(REPLICATES_MAX, sizeof *s->held);
	return &s->held[k - r->count];
}

bool
replicates_add(
    struct replicates *r, const struct store_trial *row, const double *point)
{
	size_t n = (size_t)row->number;
	int64_t setting = row->setting;
	int number = row->replicate;
	struct replicate *one;
	struct setting *s;
	bool first;

	if (r->count == 0)
		return true;
	/* Of a study that a command reads before its start has replicates. */
	if (setting < 1 || setting > row->number || number < 1) {
		setting = row->number;
		number = 1;
	}
	r->n_trials = row->number;
	if (row->source == SOURCE_DEFAULT && r->default_setting == 0)
		r->default_setting = setting;
	if (n >= r->trials_cap) {
		r->trials_cap = 2 * n + 64;
		r->setting_of = xreallocarray(
		    r->setting_of, r->trials_cap, sizeof *r->setting_of);
		r->number_of = xreallocarray(
		    r->number_of, r->trials_cap, sizeof *r->number_of);
	}
	r->setting_of[n] = setting;
	r->number_of[n] = number;
	s = setting_get(r, (size_t)setting);
	first = !s->tried;
	if (first) {
		history_add(r->history, setting, point);
		s->commit = row->commit != NULL ? xstrdup(row->commit) : NULL;
	}
	s->tried = true;
	one = replicate_place(r, s, number);
	if (one != NULL && !row->forgotten)
		*one = (struct replicate){ .trial = row->number,
			.state = TRIAL_RUNNING };
	if (replicates_is_held(r, row->number)) {
		r->n_held++;
		r->contests_due = true;
		/* No setting begins with it, except in a damaged file. */
		if (!first)
			return false;
	} else
		s->outside |= row->outside != NULL;
	setting_show(r, (size_t)setting - 1);
	return first;
}

/* The replicate that a trial is; NULL: none, or forgotten. */
static struct replicate *
replicate_of(struct replicates *r, int64_t trial, size_t *i, size_t *k)
{
	if (r->count == 0 || trial < 1)
		return NULL;
	*i = (size_t)r->setting_of[trial] - 1;
	for (*k = 0; *k < r->count; (*k)++)
		if (r->list[*i].list[*k].trial == trial)
			return &r->list[*i].list[*k];
	return NULL;
}

/* The same of one that is for a contest. */
static struct replicate *
replicate_held(struct replicates *r, int64_t trial)
{
	struct setting *s;
	size_t k;

	if (!replicates_is_held(r, trial))
		return NULL;
	s = &r->list[r->setting_of[trial] - 1];
	for (k = 0; k < REPLICATES_MAX && s->held != NULL; k++)
		if (s->held[k].trial == trial)
			return &s->held[k];
	return NULL;
}

static bool
any_ended(const struct replicates *r, size_t i)
{
	size_t k;

	for (k = 0; k < r->count; k++)
		if (r->list[i].list[k].trial != 0 &&
		    r->list[i].list[k].state != TRIAL_RUNNING)
			return true;
	return false;
}

bool
replicates_ended(struct replicates *r, int64_t trial, enum trial_state shown)
{
	struct replicate *one = replicate_held(r, trial);
	bool first;
	size_t i, k, a;

	if (one != NULL) {
		one->state = shown;
		r->contests_due = true;
	}
	if ((one = replicate_of(r, trial, &i, &k)) == NULL)
		return false;
	first = !any_ended(r, i);
	one->state = shown;
	one->paused = false;
	for (a = 0; a < r->n_aims; a++)
		r->losses[a][i * r->count + k] =
		    shown == TRIAL_COMPLETED ? trial_loss(r, trial, a) : NAN;
	setting_show(r, i);
	r->race_due = true;
	return first;
}

void
replicates_paused(struct replicates *r, int64_t trial)
{
	struct replicate *one;
	size_t i, k;

	if ((one = replicate_of(r, trial, &i, &k)) == NULL)
		return;
	one->paused = true;
	setting_show(r, i);
}

void
replicates_revived(struct replicates *r, int64_t trial)
{
	struct replicate *one = replicate_held(r, trial);
	size_t i, k, a;

	if (one != NULL) {
		one->state = TRIAL_RUNNING;
		r->contests_due = true;
	}
	if ((one = replicate_of(r, trial, &i, &k)) == NULL)
		return;
	one->state = TRIAL_RUNNING;
	one->paused = false;
	for (a = 0; a < r->n_aims; a++)
		r->losses[a][i * r->count + k] = NAN;
	setting_show(r, i);
	r->race_due = true;
}

int64_t
replicates_first_trial(const struct replicates *r, size_t i)
{
	size_t k;

	for (k = 0; k < r->count; k++)
		if (r->list[i].list[k].trial != 0 &&
		    r->list[i].list[k].state == TRIAL_COMPLETED)
			return r->list[i].list[k].trial;
	return 0;
}

const struct setting *
replicates_whole(const struct replicates *r, int64_t trial, int64_t *first)
{
	size_t i = (size_t)r->setting_of[trial] - 1;

	if (r->list[i].state != SETTING_COMPLETED)
		return NULL;
	*first = replicates_first_trial(r, i);
	return &r->list[i];
}

bool
replicates_is_held(const struct replicates *r, int64_t trial)
{
	return r->count > 0 && trial >= 1 &&
	       (size_t)r->number_of[trial] > r->count;
}

double
replicates_loss(const struct replicates *r, int64_t trial)
{
	return trial_loss(r, trial, 0);
}

int
replicates_number(const struct replicates *r, int64_t trial)
{
	return r->number_of[trial];
}

bool
replicates_alone(const struct replicates *r, int64_t trial)
{
	const struct setting *s;
	size_t k;

	if (r->count == 0)
		return true;
	s = &r->list[r->setting_of[trial] - 1];
	for (k = 0; k < r->count; k++)
		if (s->list[k].trial != 0 && s->list[k].trial != trial &&
		    (s->list[k].state == TRIAL_FAILED ||
			s->list[k].state == TRIAL_STOPPED))
			return false;
	return true;
}

bool
replicates_over(const struct replicates *r, int64_t trial, char *why, size_t n)
{
	const struct setting *s = &r->list[r->setting_of[trial] - 1];
	enum trial_state by =
	    s->state == SETTING_FAILED ? TRIAL_FAILED : TRIAL_STOPPED;
	size_t k;

	if (s->state != SETTING_FAILED && s->state != SETTING_STOPPED)
		return false;
	for (k = 0; k < r->count; k++) {
		if (s->list[k].trial == 0 || s->list[k].state != by)
			continue;
		(void)snprintf(why, n,
		    "replicate %zu of its setting, trial %" PRId64 ", %s",
		    k + 1, s->list[k].trial,
		    by == TRIAL_FAILED ? "failed" : "was stopped");
		break;
	}
	return true;
}
