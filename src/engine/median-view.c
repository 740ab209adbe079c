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
#include "src/base/search.h"
#include "src/engine/median-view.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "strategies/stopper.h"

enum { MEDIAN_VIEW_FLUSH_MAX = 4096 }; /* rows written in one turn */

/* Index of the first known step that is not less than step. */
static size_t
first_at(const struct median_view *v, int64_t step)
{
	size_t at;

	SEARCH_FIRST(at, v->n, v->steps[at].step < step);
	return at;
}

static void
step_insert(struct median_view *v, int64_t step)
{
	size_t n = v->n, i = first_at(v, step);

	if (i < n && v->steps[i].step == step)
		return;
	if (n == v->cap) {
		v->cap = n < 64 ? 64 : n * 2;
		v->steps = xreallocarray(v->steps, v->cap, sizeof *v->steps);
	}
	memmove(&v->steps[i + 1], &v->steps[i], (n - i) * sizeof *v->steps);
	v->steps[i] = (struct median_view_step){ .step = step };
	v->n++;
}

/* The rule of which the view shows the median: the study's begun, or median. */
static const struct stopper *
view_rule(const struct plugins *plugins)
{
	const struct stopper *begun = stopper_find("begun");

	return plugins->n_rules == 1 && plugins->rules->stopper == begun
		   ? begun
		   : stopper_find("median");
}

/*
 * Whether the study's only rule is that one, with a pool that equals the view's:
 * last values of all trials that reached the step, or what begun compares.
 */
static bool
rule_is_median(const struct stopper *median, const struct plugins *plugins)
{
	bool begun = strcmp(median->name, "begun") == 0;
	const struct {
		const char *name, *text;
	} plain[] = { { "value", begun ? "best" : "last" },
		{ "reference", "last" },
		{ "pool", begun ? "begun" : "reached" },
		{ "aggregate", "percentile" }, { "by", "steps" } };
	const struct plugin_rule *rule = plugins->rules;
	const struct option_value *o;
	size_t i;

	if (plugins->n_rules != 1 || rule->stopper != median ||
	    plugin_option_get(rule->options, "metric")->is_set)
		return false;
	for (i = 0; i < sizeof plain / sizeof *plain; i++) {
		o = plugin_option_get(rule->options, plain[i].name);
		if (strcmp(o->text, plain[i].text) != 0)
			return false;
	}
	o = plugin_option_get(rule->options, "percentile");
	return o->number == 50;
}

int
median_view_open(struct median_view *v, const struct plugins *plugins,
    struct stop_rule_set *rules, const struct history *history,
    const struct stopper_env *env, struct err *e)
{
	v->history = history;
	v->rules = rules;
	v->median = view_rule(plugins);
	v->begun = strcmp(v->median->name, "begun") == 0;
	if (rule_is_median(v->median, plugins))
		return 0;
	if (plugin_options_read(
		&v->options, v->median->options, NULL, NULL, e) != 0)
		return -1;
	return v->median->open(&v->state, v->options, env, e);
}

void
median_view_close(struct median_view *v)
{
	if (v->state != NULL)
		v->median->close(v->state);
	if (v->options != NULL)
		plugin_options_free(v->options);
	free(v->steps);
	free(v->last);
}

static void
median_observe(struct median_view *v, int64_t trial, int64_t step)
{
	if (v->state != NULL)
		v->median->observe(v->state, v->history, trial, step);
}

/* Rows that the report of this step has made outdated. */
static void
median_mark(struct median_view *v, int64_t trial, int64_t step)
{
	struct curve c = history_curve(v->history, trial);
	ptrdiff_t at = curve_at(&c, step);
	int64_t from = step, until = step + 1;
	size_t i;

	if (at >= 0 && (size_t)at + 1 < c.n)
		until = curve_step(&c, (size_t)at + 1);
	else if (at > 0)
		from = curve_step(&c, (size_t)at - 1) + 1;
	for (i = first_at(v, from); i < v->n && v->steps[i].step < until; i++)
		v->steps[i].old = true;
}

void
median_view_report(struct median_view *v, int64_t trial, int64_t step)
{
	median_observe(v, trial, step);
	step_insert(v, step);
	median_mark(v, trial, step);
}

/* Whether the step is behind all of the trial so far, which it then is the last of. */
static bool
median_load_last(struct median_view *v, int64_t trial, int64_t step)
{
	size_t cap = v->n_last;

	if ((size_t)trial >= cap) {
		v->n_last = (size_t)trial < 64 ? 64 : (size_t)trial * 2;
		v->last = xreallocarray(v->last, v->n_last, sizeof *v->last);
		for (; cap < v->n_last; cap++)
			v->last[cap] = -1;
	}
	if (step <= v->last[trial])
		return false;
	v->last[trial] = step;
	return true;
}

void
median_view_load(struct median_view *v, int64_t trial, int64_t step)
{
	median_observe(v, trial, step);
	/* Most trials report the same steps: the next one is that of the hint. */
	if (v->hint >= v->n || v->steps[v->hint].step != step) {
		step_insert(v, step);
		v->hint = first_at(v, step);
	}
	/* Rows may be from before another attempt, and of as many trials. */
	if (!median_load_last(v, trial, step))
		median_mark(v, trial, step);
	v->hint = v->hint + 1 < v->n ? v->hint + 1 : 0;
}

/* The rows that are there, beside the steps, both ascending. */
struct median_rows {
	struct median_view *view;
	size_t step, last; /* how many of both lie before the row */
	size_t n_last; /* trials that have reported */
};

static int
median_row(void *arg, int64_t step, int64_t trials)
{
	struct median_rows *r = arg;
	struct median_view *v = r->view;

	for (; r->step < v->n && v->steps[r->step].step < step; r->step++)
		v->steps[r->step].old = true;
	while (r->last < r->n_last && v->last[r->last] < step)
		r->last++;
	if (r->step == v->n || v->steps[r->step].step > step)
		return 0;
	if ((int64_t)(r->n_last - r->last) != trials)
		v->steps[r->step].old = true;
	r->step++;
	return 0;
}

static int
compare_steps(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int
median_view_loaded(
    struct median_view *v, struct store *store, bool all, struct err *e)
{
	struct median_rows r = { .view = v };
	size_t i;
	int rc = 0;

	for (i = 0; i < v->n_last; i++)
		if (v->last[i] >= 0)
			v->last[r.n_last++] = v->last[i];
	if (r.n_last > 0)
		qsort(v->last, r.n_last, sizeof *v->last, compare_steps);
	if (!all && !v->begun)
		rc = store_walk_medians(store, median_row, &r, e);
	for (; r.step < v->n; r.step++)
		v->steps[r.step].old = true;
	free(v->last);
	v->last = NULL;
	v->n_last = 0;
	return rc;
}

void
median_view_end(struct median_view *v, int64_t trial)
{
	struct curve c;
	size_t i;

	if (v->state != NULL)
		v->median->ended(v->state, v->history, trial);
	if (!v->begun)
		return;
	/* A trial that was stopped counts at all steps after its last. */
	c = history_curve(v->history, trial);
	i = c.n > 0 ? first_at(v, curve_step(&c, c.n - 1)) : v->n;
	for (; i < v->n; i++)
		v->steps[i].old = true;
}

static bool
median_at(struct median_view *v, int64_t step, int64_t *trials, double *median)
{
	if (v->state == NULL)
		return stop_rule_set_median(
		    v->rules, v->history, step, trials, median);
	return v->median->median(v->state, v->history, step, trials, median);
}

static void
median_write(
    struct median_view *v, struct store *store, struct median_view_step *m)
{
	int64_t trials;
	double median;

	m->old = false;
	if (!median_at(v, m->step, &trials, &median)) {
		trials = 0;
		median = NAN;
	}
	(void)store_median_put(store, m->step, trials, median, NULL);
}

bool
median_view_flush(struct median_view *v, struct store *store, bool all)
{
	size_t i, k, written = 0;

	/*
	 * Continue where the last call ended, so that each step gets its turn.
	 */
	for (k = 0; k < v->n; k++) {
		i = (v->next + k) % v->n;
		if (!v->steps[i].old)
			continue;
		if (written == MEDIAN_VIEW_FLUSH_MAX && !all) {
			v->next = i;
			return true;
		}
		median_write(v, store, &v->steps[i]);
		written++;
	}
	return false;
}
