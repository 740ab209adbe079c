/*
 * A study run again: records go in, the rule decides which of them would not
 * have been there.  Knows trials and sums; refuses to know where the records
 * come from.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/server/replay/replay-internal.h"
#include "strategies/stopper.h"

int
rerun_open(struct rerun *r, const struct replay_rule *rule,
    const struct stopper_env *env, bool value_last, struct err *e)
{
	*r = (struct rerun){ .value_last = value_last,
		.max_steps = env->max_steps,
		.last_step = env->last_step };
	if (replay_rule_open(&r->set, rule, env, e) == -1)
		return -1;
	r->history = history_new(0, env->maximize, HISTORY_CURVES);
	return 0;
}

void
rerun_close(struct rerun *r)
{
	stopper_set_free(r->set);
	history_free(r->history);
	free(r->trials);
}

static struct rerun_trial *
rerun_trial(struct rerun *r, int64_t trial)
{
	while ((int64_t)r->n < trial) {
		if (r->n == r->cap) {
			r->cap = r->cap == 0 ? 128 : r->cap * 2;
			r->trials = xreallocarray(
			    r->trials, r->cap, sizeof(*r->trials));
		}
		r->trials[r->n++] = (struct rerun_trial){ .full = NAN,
			.found = NAN,
			.known = -1,
			.last = INT64_MIN };
		history_add(r->history, (int64_t)r->n, NULL);
	}
	return &r->trials[trial - 1];
}

/* A trial's result after one more report. */
static double
result_after(const struct rerun *r, double before, double value)
{
	if (r->value_last)
		return value;
	if (!isfinite(value) || before <= value)
		return before;
	return value;
}

void
rerun_begin(struct rerun *r, int64_t trial)
{
	(void)rerun_trial(r, trial);
}

void
rerun_know(struct rerun *r, int64_t trial, int64_t step, bool late)
{
	struct rerun_trial *t = rerun_trial(r, trial);

	t->known = step;
	t->late = late;
}

static void
rerun_stop(struct rerun *r, int64_t trial, int64_t step)
{
	struct rerun_trial *t = rerun_trial(r, trial);

	t->judged = true;
	if (step == t->known && t->late)
		return;
	t->stopped = true;
	t->really = step == t->known;
	if (t->really)
		return;
	history_end(r->history, trial, TRIAL_STOPPED,
	    history_turn(r->history, t->found));
	stopper_set_ended(r->set, r->history, trial);
}

/* Whether the server would have judged this report: only news, in order. */
static bool
rerun_judges(
    struct rerun *r, struct rerun_trial *t, int64_t step, bool is_new, size_t n)
{
	bool newest = step > t->last;

	if (newest)
		t->last = step;
	return is_new && newest && !t->judged &&
	       (r->last_step == 0 || step < r->last_step) &&
	       (r->max_steps == 0 || (int64_t)n < r->max_steps);
}

bool
rerun_report(struct rerun *r, int64_t trial, int64_t step, double value)
{
	struct rerun_trial *t = rerun_trial(r, trial);
	double turned = history_turn(r->history, value);
	struct judgement j;
	struct curve c;
	bool is_new;

	r->greatest = step > r->greatest ? step : r->greatest;
	t->reports++;
	t->full = result_after(r, t->full, turned);
	if (t->stopped && !t->really) {
		t->skipped++;
		return true;
	}
	t->found = result_after(r, t->found, turned);
	is_new = history_report(r->history, trial, step, value);
	stopper_set_observe(r->set, r->history, trial, step);
	c = history_curve(r->history, trial);
	if (!rerun_judges(r, t, step, is_new, c.n))
		return t->stopped;
	stopper_set_judge(r->set, r->history, trial, step, &j);
	/* Nobody knows what the records would be after a promotion. */
	if (j.verdict == VERDICT_STOP || j.verdict == VERDICT_PAUSE)
		rerun_stop(r, trial, step);
	return t->stopped;
}

void
rerun_end(struct rerun *r, int64_t trial, bool completed)
{
	struct rerun_trial *t = rerun_trial(r, trial);

	if (t->stopped && !t->really)
		return;
	history_end(r->history, trial,
	    completed ? TRIAL_COMPLETED : TRIAL_STOPPED,
	    history_turn(r->history, t->found));
	stopper_set_ended(r->set, r->history, trial);
}

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

/* The middle one of all trials' full results. */
static double
median_result(const struct rerun *r)
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

void
rerun_sum(struct replay_sum *sum, const struct rerun *r)
{
	double there = NAN, found = NAN, gap;
	int64_t reports = 0, skipped = 0;
	const struct rerun_trial *t, *best = NULL;
	size_t i;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		reports += t->reports;
		skipped += t->skipped;
		sum->stopped += t->stopped;
		if (isfinite(t->full) && !(there <= t->full)) {
			there = t->full;
			best = t;
		}
		if (isfinite(t->found) && !(found <= t->found))
			found = t->found;
	}
	if (r->max_steps > 0 && r->greatest > r->max_steps) {
		sum->beyond = r->greatest;
		sum->max_steps = r->max_steps;
	}
	sum->studies++;
	sum->trials += (int64_t)r->n;
	sum->reports += reports;
	sum->skipped += skipped;
	if (reports > 0)
		sum->saved += (double)skipped / (double)reports;
	sum->killed += best != NULL && best->stopped;
	gap = median_result(r) - there;
	if (gap > 0 && isfinite(found))
		sum->regret += (found - there) / gap;
}
