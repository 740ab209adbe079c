/*
 * Keeps the view medians up to date lazily: marks steps with outdated rows, and
 * rewrites these from time to time.
 *
 * A value counts at each step up to the trial's next report, and a trial counts
 * at a step once it has reached it; so one report makes the rows of all
 * reported steps between its neighbours outdated.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/curve.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/server/tuner/tuner-internal.h"

enum { MEDIAN_VIEW_FLUSH_MAX = 4096 }; /* rows written in one turn */

/* Index of the first known step that is not less than step. */
static size_t
first_at(const struct tuner *t, int64_t step)
{
	size_t lo = 0, hi = t->n_median_steps, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->median_steps[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
step_insert(struct tuner *t, int64_t step)
{
	size_t n = t->n_median_steps, i = first_at(t, step);

	if (i < n && t->median_steps[i].step == step)
		return;
	if (n == t->cap_median_steps) {
		t->cap_median_steps = n < 64 ? 64 : n * 2;
		t->median_steps = xreallocarray(t->median_steps,
		    t->cap_median_steps, sizeof *t->median_steps);
	}
	memmove(&t->median_steps[i + 1], &t->median_steps[i],
	    (n - i) * sizeof *t->median_steps);
	t->median_steps[i] = (struct median_view_step){ .step = step };
	t->n_median_steps++;
}

void
median_view_touch(struct tuner *t, int64_t trial, int64_t step)
{
	struct curve c = history_curve(t->history, trial);
	ptrdiff_t at = curve_at(&c, step);
	int64_t from = step, until = step + 1;
	size_t i;

	step_insert(t, step);
	if (at >= 0 && (size_t)at + 1 < c.n)
		until = curve_step(&c, (size_t)at + 1);
	else if (at > 0)
		from = curve_step(&c, (size_t)at - 1) + 1;
	for (i = first_at(t, from);
	     i < t->n_median_steps && t->median_steps[i].step < until; i++)
		t->median_steps[i].old = true;
}

void
median_view_load(struct tuner *t, int64_t step)
{
	step_insert(t, step);
	/* The last server may have crashed before it wrote the row. */
	t->median_steps[first_at(t, step)].old = true;
}

/*
 * Whether the study's only rule is the plain median, whose pool equals the
 * view's: last values of all trials that reached the step.
 */
static bool
rule_is_median(const struct tuner *t)
{
	static const struct {
		const char *name, *text;
	} plain[] = { { "value", "last" }, { "reference", "last" },
		{ "pool", "reached" }, { "aggregate", "percentile" } };
	const struct plugin_rule *rule = t->plugins.rules;
	const struct option_value *v;
	size_t i;

	if (t->plugins.n_rules != 1 || rule->stopper != t->median)
		return false;
	for (i = 0; i < sizeof plain / sizeof *plain; i++) {
		v = plugin_option_get(
		    t->median->options, rule->options, plain[i].name);
		if (strcmp(v->text, plain[i].text) != 0)
			return false;
	}
	v = plugin_option_get(t->median->options, rule->options, "percentile");
	return v->number == 50;
}

int
median_view_open(struct tuner *t, const struct stopper_env *env, struct err *e)
{
	t->median = stopper_find("median");
	if (rule_is_median(t))
		return 0;
	if (plugin_options_read(
		&t->median_options, t->median->options, NULL, NULL, e) != 0)
		return -1;
	return t->median->open(&t->median_state, t->median_options, env, e);
}

void
median_view_close(struct tuner *t)
{
	if (t->median_state != NULL)
		t->median->close(t->median_state);
	if (t->median_options != NULL)
		plugin_options_free(t->median_options, t->median->options);
}

void
median_view_observe(struct tuner *t, int64_t trial, int64_t step)
{
	if (t->median_state != NULL)
		t->median->observe(t->median_state, t->history, trial, step);
}

void
median_view_end(struct tuner *t, int64_t trial)
{
	if (t->median_state != NULL)
		t->median->ended(t->median_state, t->history, trial);
}

static bool
median_at(struct tuner *t, int64_t step, int64_t *trials, double *median)
{
	if (t->median_state == NULL)
		return stop_rule_set_median(
		    t->rules, t->history, step, trials, median);
	return t->median->median(
	    t->median_state, t->history, step, trials, median);
}

static void
median_write(struct tuner *t, struct median_view_step *m)
{
	struct err e = ERR_INIT;
	int64_t trials;
	double median;

	m->old = false;
	if (!median_at(t, m->step, &trials, &median)) {
		trials = 0;
		median = NAN;
	}
	if (store_median_put(t->store, m->step, trials, median, &e) != 0)
		tuner_store_failed(t, &e);
}

bool
median_view_flush(struct tuner *t, bool all)
{
	size_t i, k, n = t->n_median_steps, written = 0;
	struct median_view_step *m;

	/*
	 * Continue where the last call ended, so that each step gets its turn.
	 */
	for (k = 0; k < n && !t->store_failed; k++) {
		i = (t->median_next + k) % n;
		m = &t->median_steps[i];
		if (!m->old)
			continue;
		if (written == MEDIAN_VIEW_FLUSH_MAX && !all) {
			t->median_next = i;
			return true;
		}
		median_write(t, m);
		written++;
	}
	return false;
}
