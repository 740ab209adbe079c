/*
 * NSGA-II: new points by crossover and mutation of good parents.  Deb, Pratap,
 * Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm:
 * NSGA-II" (2002); Deb and Agrawal, "Simulated binary crossover for continuous
 * search space" (1995).  Names and defaults of the options are those of Optuna,
 * but for the population, which is smaller (strategies/README.md).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/evolution/nsga2.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"

static const char *const crossovers[] = { "uniform", "sbx", NULL };
static const char *const mutations[] = { "uniform", "polynomial", NULL };

static const struct option options[] = {
	STARTUP_OPTIONS(NULL),
	{ .name = "population_size",
	    .type = OPTION_INT,
	    .min = 2,
	    .max = 1e6,
	    .def = "10",
	    .help = "trials of a generation, and parents of the next" },
	{ .name = "crossover",
	    .type = OPTION_TEXT,
	    .choices = crossovers,
	    .def = "uniform",
	    .help = "each parameter from one parent, or near and between both "
		    "(sbx, numbers)" },
	{ .name = "crossover_prob",
	    .type = OPTION_REAL,
	    .max = 1,
	    .def = "0.9",
	    .help = "how often a child has two parents" },
	{ .name = "swapping_prob",
	    .type = OPTION_REAL,
	    .max = 1,
	    .def = "0.5",
	    .help = "how often a parameter is the second parent's" },
	{ .name = "crossover_eta",
	    .type = OPTION_REAL,
	    .max = 1000,
	    .help = "sbx: greater values give children nearer to a parent; 2 "
		    "with one objective, 20 with several" },
	{ .name = "mutation",
	    .type = OPTION_TEXT,
	    .choices = mutations,
	    .def = "uniform",
	    .help = "any value, or one near (polynomial, numbers)" },
	{ .name = "mutation_prob",
	    .type = OPTION_REAL,
	    .max = 1,
	    .help = "how often a parameter changes: 1 / number of "
		    "parameters" },
	{ .name = "mutation_eta",
	    .type = OPTION_REAL,
	    .max = 1000,
	    .def = "20",
	    .help = "polynomial: greater values give smaller changes" },
	{ .type = OPTION_END },
};

/* One child in the making. */
struct birth {
	const struct strategy_ask *ask;
	const struct option_value *values;
	const struct nsga2_member *parents;
	size_t n_parents, n; /* n: parameters */
	struct rng rng;
	double *child;
};

/* A number, or choices in an order. */
static bool
nsga2_is_number(const struct param *p)
{
	return p->type == PARAM_FLOAT || p->type == PARAM_INT ||
	       (p->type == PARAM_CHOICE && p->ordered);
}

/* The better one of two that chance picks; never the one at except. */
static size_t
tournament(struct birth *b, size_t except)
{
	size_t n = b->n_parents - (except < b->n_parents), x, y;
	const struct nsga2_member *p, *q;

	x = rng_below(&b->rng, n);
	y = rng_below(&b->rng, n);
	x += x >= except;
	y += y >= except;
	p = &b->parents[x];
	q = &b->parents[y];
	if (p->rank != q->rank)
		return p->rank < q->rank ? x : y;
	return q->space > p->space ? y : x;
}

static const double *
nsga2_point(const struct birth *b, size_t parent)
{
	return history_point(b->ask->history, b->parents[parent].told.trial);
}

/*
 * Distance of a child from its parent towards a bound at distance room, for the
 * uniform number u and parents that are apart by this much.
 */
static double
sbx_reach(double u, double room, double apart, double eta)
{
	double bound = 2 - pow(1 + 2 * room / apart, -(eta + 1));
	double q = u * bound <= 1 ? u * bound : 1 / (2 - u * bound);

	return pow(q, 1 / (eta + 1)) * apart;
}

/* One of the two children that lie around the parents. */
static double
sbx(struct birth *b, double x, double y)
{
	const struct option_value *eta =
	    plugin_option_get(b->values, "crossover_eta");
	double low = fmin(x, y), high = fmax(x, y);
	double apart = fmax(high - low, 1e-10), u = rng_uniform(&b->rng), at;
	double index = history_n_objectives(b->ask->history) > 1 ? 20 : 2;

	if (eta->is_set)
		index = eta->number;
	if (rng_uniform(&b->rng) < 0.5)
		at = (low + high - sbx_reach(u, low, apart, index)) / 2;
	else
		at = (low + high + sbx_reach(u, 1 - high, apart, index)) / 2;
	return fmin(fmax(at, 0), 1);
}

static double
inherit(struct birth *b, size_t i, double x, double y)
{
	bool second = rng_uniform(&b->rng) <
		      plugin_option_number(b->values, "swapping_prob");

	if (isnan(x) || isnan(y))
		return isnan(x) ? y : x;
	if (plugin_option_says(b->values, "crossover", "sbx") &&
	    nsga2_is_number(&b->ask->space->params[i]) &&
	    rng_uniform(&b->rng) < 0.5)
		return sbx(b, x, y);
	return second ? y : x;
}

/*
 * A child of one parent or two; parameters that neither has are drawn at
 * random.
 */
static void
conceive(struct birth *b)
{
	size_t first = tournament(b, SIZE_MAX), second = first, i;

	if (b->n_parents > 1 &&
	    rng_uniform(&b->rng) <
		plugin_option_number(b->values, "crossover_prob"))
		second = tournament(b, first);
	for (i = 0; i < b->n; i++) {
		b->child[i] = first == second
				  ? nsga2_point(b, first)[i]
				  : inherit(b, i, nsga2_point(b, first)[i],
					nsga2_point(b, second)[i]);
		if (isnan(b->child[i]))
			b->child[i] = rng_uniform(&b->rng);
	}
}

static double
nsga2_polynomial(double x, double u, double eta)
{
	double q;

	if (u <= 0.5) {
		q = 2 * u + (1 - 2 * u) * pow(1 - x, eta + 1);
		return x + pow(q, 1 / (eta + 1)) - 1;
	}
	q = 2 * (1 - u) + 2 * (u - 0.5) * pow(x, eta + 1);
	return x + 1 - pow(q, 1 / (eta + 1));
}

static void
mutate(struct birth *b, size_t i)
{
	double u = rng_uniform(&b->rng);

	if (plugin_option_says(b->values, "mutation", "polynomial") &&
	    nsga2_is_number(&b->ask->space->params[i]))
		u = nsga2_polynomial(b->child[i], u,
		    plugin_option_number(b->values, "mutation_eta"));
	b->child[i] = fmin(fmax(u, 0), 1);
}

/* Parameters that this child will have and that could be otherwise. */
static size_t
active(const struct birth *b, size_t *list)
{
	const struct space *space = b->ask->space;
	double *u = xcalloc(b->n + 1, sizeof *u);
	size_t i, n = 0;

	memcpy(u, b->child, b->n * sizeof *u);
	space_snap(space, u);
	for (i = 0; i < b->n; i++)
		if (!isnan(u[i]) && param_levels(&space->params[i]) != 1)
			list[n++] = i;
	free(u);
	return n;
}

/* Chance changes a few; of a child of one parent one in any case. */
static void
vary(struct birth *b)
{
	const struct option_value *prob =
	    plugin_option_get(b->values, "mutation_prob");
	size_t *list = xcalloc(b->n + 1, sizeof *list), k, i;
	size_t n = active(b, list), changed = 0;
	bool same = true;
	double p;

	p = prob->is_set ? prob->number : 1 / fmax(1, (double)n);
	for (k = 0; k < n; k++)
		if (rng_uniform(&b->rng) < p) {
			mutate(b, list[k]);
			changed++;
		}
	for (i = 0; i < b->n_parents && changed == 0; i++) {
		for (same = true, k = 0; k < n && same; k++)
			same = b->child[list[k]] == nsga2_point(b, i)[list[k]];
		if (same && n > 0)
			mutate(b, list[rng_below(&b->rng, n)]);
		changed += same;
	}
	free(list);
}

static int
nsga2_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	return startup_check(values, space, e);
}

/* The first generation is the start, unless another number is set. */
static bool
is_start(const struct option_value *values, const struct history *h)
{
	if (h == NULL || plugin_option_get(values, "n_startup_trials")->is_set)
		return startup_wanted(values, h);
	return (double)startup_finished(h) <
	       plugin_option_number(values, "population_size");
}

static int
nsga2_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct birth b = { .ask = ask, .values = values, .child = out->x };
	struct nsga2_member *parents;

	if (is_start(values, ask->history))
		return startup_suggest(out, ask, values, e);
	parents = nsga2_select(ask->history,
	    (size_t)plugin_option_number(b.values, "population_size"),
	    &b.n_parents);
	b.parents = parents;
	b.n = ask->space->n;
	if (b.n_parents == 0) {
		free(parents);
		return startup_suggest(out, ask, values, e);
	}
	strategy_rng(&b.rng, ask);
	conceive(&b);
	vary(&b);
	free(parents);
	return 0;
}

const struct strategy strategy_nsga2 = {
	.name = "nsga2",
	.about = "children of good trials, for several objectives",
	.source = "Deb et al. 2002; as Optuna 5",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.several = true,
	.constraints = true,
	.check = nsga2_check,
	.suggest = nsga2_suggest,
};
