/*
 * bohb: TPE's densities, fitted to results at one budget, the largest one that
 * enough trials have reached (Falkner, Klein and Hutter, "BOHB: robust and
 * efficient hyperparameter optimization at scale", ICML 2018).  Use it with the
 * rules hyperband and asha, which allocate the budgets; this file needs only
 * the steps of their rungs.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "strategies/tpe/tpe.h"

extern const struct strategy strategy_random;

static const struct option options[] = {
	{ .name = "min_points_in_model",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1e6,
	    .help = "trials that a density is made of, at least; when not "
		    "given, one more than there are parameters" },
	{ .name = "top_n_percent",
	    .type = OPTION_REAL,
	    .min = 1,
	    .max = 99,
	    .def = "15",
	    .help = "the share of the trials that is good" },
	{ .name = "num_samples",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1e6,
	    .def = "64",
	    .help = "points drawn, of which the best is tried" },
	{ .name = "random_fraction",
	    .type = OPTION_REAL,
	    .max = 1,
	    .def = "0.3333333333333333",
	    .help = "the share of the points that are random" },
	{ .name = "min_resource",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 9007199254740992.0,
	    .def = "1",
	    .help = "the smallest budget in steps, as of the stopping rule" },
	{ .name = "reduction_factor",
	    .type = OPTION_INT,
	    .min = 2,
	    .max = 9007199254740992.0,
	    .def = "3",
	    .help = "factor between two budgets" },
	{ .type = OPTION_END },
};

/* What a trial showed at the budget. */
struct shown {
	double loss;
	int64_t trial;
};

struct shown_list {
	struct shown *list;
	size_t n; /* by trial, failed ones last */
	size_t n_shown; /* … without these */
};

static void
shown_put(struct shown_list *s, int64_t trial, double loss)
{
	s->list[s->n++] =
	    (struct shown){ isnan(loss) ? INFINITY : loss, trial };
}

/* A trial that failed by its own fault is the worst at every budget. */
static void
shown_failed(struct shown_list *s, const struct history *h)
{
	int64_t t;

	s->n_shown = s->n;
	for (t = history_first(h); t <= history_count(h); t++)
		if (history_state(h, t) == TRIAL_FAILED)
			shown_put(s, t, INFINITY);
}

/* Full training: the results of completed trials. */
static void
shown_at_end(struct shown_list *s, const struct history *h)
{
	int64_t t;

	s->n = 0;
	for (t = history_first(h); t <= history_count(h); t++)
		if (history_state(h, t) == TRIAL_COMPLETED)
			shown_put(s, t, history_loss(h, t));
	shown_failed(s, h);
}

/* The first report at or past the step, as on the rungs of the rules. */
static void
shown_at_step(struct shown_list *s, const struct history *h, int64_t step)
{
	enum trial_state state;
	struct curve c;
	int64_t t;
	size_t i;

	s->n = 0;
	for (t = 1; t <= history_count(h); t++) {
		state = history_state(h, t);
		if (state == TRIAL_CANCELLED || state == TRIAL_FAILED)
			continue;
		c = history_curve(h, t);
		i = (size_t)(curve_at(&c, step - 1) + 1);
		if (i < c.n)
			shown_put(s, t, curve_value(&c, i));
	}
	shown_failed(s, h);
}

static int64_t
last_step(const struct history *h)
{
	int64_t t, last = -1;
	struct curve c;

	for (t = 1; t <= history_count(h); t++) {
		c = history_curve(h, t);
		if (c.n > 0 && curve_step(&c, c.n - 1) > last)
			last = curve_step(&c, c.n - 1);
	}
	return last;
}

/* The largest budget that least trials have reached; false: none. */
static bool
shown_find(struct shown_list *s, const struct history *h, size_t least,
    const struct option_value *values)
{
	int64_t step = (int64_t)plugin_option_number(values, "min_resource");
	int64_t factor =
	    (int64_t)plugin_option_number(values, "reduction_factor");
	int64_t last = last_step(h), first = step;

	shown_at_end(s, h);
	if (s->n_shown >= least)
		return true;
	while (step <= last / factor)
		step *= factor;
	for (; step >= first; step /= factor) {
		shown_at_step(s, h, step);
		if (s->n_shown >= least)
			return true;
	}
	return false;
}

static int
better_first(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

/* Trials from … to - 1 of those ranked, by their numbers. */
static int64_t *
numbers(const struct shown_list *s, size_t from, size_t to)
{
	int64_t *list = xcalloc(to - from + 1, sizeof *list);
	size_t i;

	for (i = from; i < to; i++)
		list[i - from] = s->list[i].trial;
	qsort(list, to - from, sizeof *list, search_by_int64);
	return list;
}

/*
 * The good trials are the best share, the bad ones the others; each list has at
 * least the minimum for a density, so with few trials some are in both.
 */
static void
shown_split(
    struct tpe_split *split, struct shown_list *s, size_t least, double percent)
{
	size_t good = (size_t)floor(percent * (double)s->n / 100), bad;

	good = good < least ? least : good;
	bad = s->n - good < least ? least : s->n - good;
	qsort(s->list, s->n, sizeof *s->list, better_first);
	*split = (struct tpe_split){
		.below = numbers(s, 0, good),
		.n_below = good,
		.above = numbers(s, s->n - bad, s->n),
		.n_above = bad,
	};
}

static size_t
points_least(const struct option_value *values, const struct space *space)
{
	const struct option_value *v =
	    plugin_option_get(values, "min_points_in_model");

	return v->is_set ? (size_t)v->number : space->n + 1;
}

/* Uses a stream of its own: random points must not depend on this draw. */
static bool
random_falls(const struct strategy_ask *ask, const struct option_value *values)
{
	struct strategy_ask other = *ask;
	struct rng rng;

	other.seed = ~ask->seed;
	strategy_rng(&rng, &other);
	return rng_uniform(&rng) <
	       plugin_option_number(values, "random_fraction");
}

static int
bohb_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	size_t least = points_least(values, ask->space);
	const struct history *h = ask->history;
	struct shown_list s = { 0 };
	struct tpe_question q = { .ask = ask };
	bool any = false;

	if (h != NULL && !random_falls(ask, values)) {
		s.list =
		    xcalloc((size_t)(history_count(h) - history_first(h)) + 2,
			sizeof *s.list);
		/* As in the paper: two more than a density needs. */
		any = shown_find(&s, h, least + 2, values);
	}
	if (any) {
		shown_split(&q.split, &s, least,
		    plugin_option_number(values, "top_n_percent"));
		q.rule = q.good_rule = (struct parzen_rule){ .prior_weight = 1,
			.magic_clip = true,
			.weights = PARZEN_UNIFORM };
		q.n_candidates =
		    (size_t)plugin_option_number(values, "num_samples");
		strategy_rng(&q.rng, ask);
		tpe_candidates_best(&q, out->x, TPE_JOINT);
		tpe_split_free(&q.split);
	}
	free(s.list);
	return any ? 0 : strategy_random.suggest(out, ask, NULL, e);
}

extern const struct strategy strategy_bohb;
const struct strategy strategy_bohb = {
	.name = "bohb",
	.about = "tpe at the largest budget that enough trials have reached",
	.source = "Falkner et al. 2018",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.suggest = bohb_suggest,
};
