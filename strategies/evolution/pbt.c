/*
 * pbt: population-based training.  The members train in segments of some steps;
 * between two segments a bad member takes over the checkpoint and the settings
 * of a good one, and perturbs the settings (Jaderberg et al., "Population based
 * training of neural networks", arXiv:1711.09846, 2017; the options are named
 * as in Ray Tune).  A trial is one segment of one member.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/evolution/pbt.h"
#include "strategies/strategy.h"

static const struct option options[] = {
	{ .name = "population",
	    .type = OPTION_INT,
	    .min = 2,
	    .max = 1e6,
	    .def = "10",
	    .help = "members" },
	{ .name = "perturbation_interval",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 9007199254740992.0,
	    .def = "5",
	    .help = "steps of a segment, which is one trial" },
	{ .name = "quantile_fraction",
	    .type = OPTION_REAL,
	    .max = 0.5,
	    .def = "0.25",
	    .help = "the share of the members that is replaced, and of those "
		    "that replace them" },
	{ .name = "resample_probability",
	    .type = OPTION_REAL,
	    .max = 1,
	    .def = "0.25",
	    .help = "probability that a changed parameter is drawn from "
		    "its whole range" },
	{ .name = "perturb_up",
	    .type = OPTION_REAL,
	    .min = 1,
	    .max = 1e6,
	    .def = "1.2",
	    .help = "otherwise it is multiplied by this" },
	{ .name = "perturb_down",
	    .type = OPTION_REAL,
	    .min = 1e-6,
	    .max = 1,
	    .def = "0.8",
	    .help = "or by this" },
	{ .name = "mutate",
	    .type = OPTION_WORDS,
	    .help = "the parameters that are changed; when not given, all" },
	{ .type = OPTION_END },
};

/* What became of one member so far. */
struct member {
	int64_t head; /* its newest trial */
	int64_t last; /* its newest one with a result; 0 = none */
};

struct pbt {
	const struct strategy_ask *ask;
	const struct history *h;
	int64_t interval;
	struct member *members;
	size_t n;
	int64_t *ranked; /* results of the members, the best first */
	size_t n_ranked;
	size_t quantile; /* so many are good, and as many bad */
};

static bool
has_result(const struct history *h, int64_t trial)
{
	return history_state(h, trial) == TRIAL_COMPLETED &&
	       !isnan(history_loss(h, trial));
}

/* Segments from the beginning of the training to the end of this trial. */
static int64_t
depth_of(const struct history *h, int64_t trial)
{
	int64_t n = 0;

	for (; trial > 0; trial = history_parent(h, trial))
		n++;
	return n;
}

static void
members_read(struct pbt *p)
{
	int64_t t, m;

	for (t = 1; t <= history_count(p->h); t++) {
		m = history_member(p->h, t);
		if (m < 1)
			continue;
		if ((size_t)m > p->n) {
			p->members = xreallocarray(
			    p->members, (size_t)m, sizeof *p->members);
			memset(p->members + p->n, 0,
			    ((size_t)m - p->n) * sizeof *p->members);
			p->n = (size_t)m;
		}
		p->members[m - 1].head = t;
		if (has_result(p->h, t))
			p->members[m - 1].last = t;
	}
}

static bool
ranks_before(const struct history *h, int64_t a, int64_t b)
{
	double x = history_loss(h, a), y = history_loss(h, b);

	return x != y ? x < y : a < b;
}

/* As in Ray Tune: rounded up, but never more than half of them. */
static void
members_rank(struct pbt *p, double fraction)
{
	size_t i, k;
	int64_t t;

	p->ranked = xcalloc(p->n + 1, sizeof *p->ranked);
	for (i = 0; i < p->n; i++) {
		if ((t = p->members[i].last) == 0)
			continue;
		for (k = p->n_ranked++;
		     k > 0 && ranks_before(p->h, t, p->ranked[k - 1]); k--)
			p->ranked[k] = p->ranked[k - 1];
		p->ranked[k] = t;
	}
	p->quantile = (size_t)ceil(fraction * (double)p->n_ranked);
	if (p->quantile > p->n_ranked / 2)
		p->quantile = p->n_ranked / 2;
}

static bool
is_bad(const struct pbt *p, int64_t trial)
{
	size_t i;

	for (i = p->n_ranked - p->quantile; i < p->n_ranked; i++)
		if (p->ranked[i] == trial)
			return true;
	return false;
}

/*
 * Select the member with the least progress among those not running. 0; 1 when
 * all have finished; 2 when a running one must end first.
 */
static int
member_next(const struct pbt *p, size_t *next)
{
	int64_t max = p->ask->max_steps, depth, least = INT64_MAX;
	bool running = false;
	size_t i;

	for (i = 0; i < p->n; i++) {
		depth = depth_of(p->h, p->members[i].head);
		if (p->members[i].head == 0 ||
		    history_state(p->h, p->members[i].head) == TRIAL_RUNNING)
			running = running || p->members[i].head != 0;
		else if (depth < least &&
			 (max == 0 || depth < (max - 1) / p->interval + 1)) {
			least = depth;
			*next = i;
		}
	}
	return least < INT64_MAX ? 0 : running ? 2 : 1;
}

/* The trial from which the member continues, and whether with new settings. */
static int64_t
member_source(
    const struct pbt *p, const struct member *m, struct rng *rng, bool *explore)
{
	size_t good = p->quantile > 0 ? p->quantile : 1;

	*explore = m->head != m->last || is_bad(p, m->head);
	if (!*explore || p->n_ranked == 0)
		return m->last;
	return p->ranked[rng_below(rng, good)];
}

/* The next segment of an existing member. */
static int
member_go_on(struct suggestion *out, const struct pbt *p,
    const struct option_value *values)
{
	struct pbt_change change = {
		.resample =
		    plugin_option_number(values, "resample_probability"),
		.up = plugin_option_number(values, "perturb_up"),
		.down = plugin_option_number(values, "perturb_down"),
		.only = plugin_option_text(values, "mutate"),
	};
	const struct space *space = p->ask->space;
	size_t i, next = 0;
	struct rng rng;
	bool explore;
	int rc = member_next(p, &next);

	if (rc != 0)
		return rc;
	strategy_rng(&rng, p->ask);
	out->member = (int64_t)next + 1;
	out->from = member_source(p, &p->members[next], &rng, &explore);
	if (out->from == 0)
		/* No member has a result yet. */
		for (i = 0; i < space->n; i++)
			out->x[i] = prior_move_one(
			    &space->params[i], rng_uniform(&rng));
	else {
		memcpy(out->x, history_point(p->h, out->from),
		    space->n * sizeof *out->x);
		if (explore)
			pbt_explore(out->x, space, &change, &rng);
	}
	out->until = (depth_of(p->h, out->from) + 1) * p->interval;
	if (p->ask->max_steps > 0 && out->until > p->ask->max_steps)
		out->until = p->ask->max_steps;
	return 0;
}

static int
pbt_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct pbt p = { .ask = ask,
		.h = ask->history,
		.interval = (int64_t)plugin_option_number(
		    values, "perturbation_interval") };
	struct rng rng;
	size_t i;
	int rc = 0;

	(void)e;
	if (p.h != NULL)
		members_read(&p);
	if (p.n < (size_t)plugin_option_number(values, "population")) {
		strategy_rng(&rng, ask);
		for (i = 0; i < ask->space->n; i++)
			out->x[i] = rng_uniform(&rng);
		prior_move(ask->space, out->x);
		out->member = (int64_t)p.n + 1;
		out->until = p.interval;
	} else {
		members_rank(
		    &p, plugin_option_number(values, "quantile_fraction"));
		rc = member_go_on(out, &p, values);
	}
	free(p.members);
	free(p.ranked);
	return rc;
}

static int
pbt_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	const struct option_value *v = plugin_option_get(values, "mutate");
	const char *s = v->text;
	char name[256];
	size_t len;

	for (; s != NULL && *s != '\0'; s += len + (s[len] == ',')) {
		len = strcspn(s, ",");
		(void)snprintf(name, sizeof name, "%.*s", (int)len, s);
		if (space_find(space, name) < 0)
			return err_set(e, ERR_USAGE,
			    "pbt: mutate: no such parameter: \"%.200s\"", name);
	}
	return 0;
}

extern const struct strategy strategy_pbt;
const struct strategy strategy_pbt = {
	.name = "pbt",
	.about = "a population whose members continue from each other's "
		 "checkpoints",
	.source = "Jaderberg et al. 2017; options as Ray Tune",
	.options = options,
	.wants_points = true,
	.repeats = true,
	.continues = true,
	.check = pbt_check,
	.suggest = pbt_suggest,
};
