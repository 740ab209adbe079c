/*
 * Narrow: at each step a share of the trials continues, which shrinks as they
 * advance; the learning-curve bank protects trials with a good win probability,
 * and stops late those with none.  Continuous successive halving on every step,
 * in which stopped trials stay in the count.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/extrapolate/extrapolate-engine.h"

/* The options that narrow, short and careful share. */
#define NARROW_OPTIONS(warmup, halving, chance, ended, guarded)               \
	{ "keep", OPTION_REAL, 0, 100, "50", NULL,                            \
		"percent that continue at the end of the warm-up" },          \
	    { "halving_steps", OPTION_STEPS, 1, DBL_MAX, halving, NULL,       \
		    "after this many more steps it is half of them" },        \
	    { "least", OPTION_REAL, 0, 100, "8", NULL,                        \
		    "percent that always continue" },                         \
	    { "min_trials", OPTION_INT, 1, DBL_MAX, "5", NULL,                \
		    "fewest other trials that may judge" },                   \
	    { "min_completed", OPTION_INT, 0, STOP_GUARD_MAX, ended, NULL,    \
		    "no trial is stopped before so many have completed" },    \
	    { "warmup_steps", OPTION_STEPS, 0, DBL_MAX, warmup, NULL,         \
		    "smaller steps are not judged" },                         \
	    { "chance", OPTION_REAL, 0, 1, chance, NULL,                      \
		    "a trial with at least this chance to beat the best "     \
		    "continues" },                                            \
	    { "hopeless", OPTION_REAL, 0, 1, "0.01", NULL,                    \
		    "one with less than this is stopped, unless it is among " \
		    "the best 3 %" },                                         \
	    { "hopeless_steps", OPTION_STEPS, 0, DBL_MAX, "30%", NULL,        \
		    "but not at smaller steps" },                             \
	    OPTION_TEMPER, OPTION_GUARD(guarded), OPTION_DIVERGED("3")

static const struct option narrow_options[] = {
	NARROW_OPTIONS("20%", "15%", "0.25", "0", "true"), OPTION_CLOSE
};
static const struct option short_options[] = {
	NARROW_OPTIONS("5%", "40%", "0.25", "0", "true"), OPTION_CLOSE
};
static const struct option careful_options[] = { NARROW_OPTIONS("15%", "15%",
						     "0.15", "1", "3"),
	{ "second_look", OPTION_SHARE, 0, 0, "50%", NULL,
	    "budget of second looks at stopped trials, as a share of the "
	    "full cost" },
	{ NULL, OPTION_END, 0, 0, NULL, NULL, NULL } };

/* A trial in the best share may win whatever the bank predicts. */
static const double narrow_top = 0.03;

struct narrow {
	struct extrapolate_engine runner;
	double keep, least; /* shares */
	double halving; /* steps */
	int64_t min_trials, min_completed;
	double chance, hopeless;
	int64_t hopeless_steps;
};

/* The inputs of a judgement. */
struct verge {
	int64_t ahead, all; /* others */
	double share; /* maximum share ahead */
	bool known; /* the probability is known */
	struct curve_guess guess;
};

static int
narrow_open_as(void **state, const char *name,
    const struct option_value *values, const struct stopper_env *env,
    struct err *e)
{
	struct narrow *r = xcalloc(1, sizeof(*r));

	if (extrapolate_engine_init(&r->runner, name, values, env, e) == -1) {
		free(r);
		return -1;
	}
	r->keep = plugin_option_number(values, "keep") / 100;
	r->least = plugin_option_number(values, "least") / 100;
	r->min_trials = plugin_option_count(values, "min_trials");
	r->min_completed = plugin_option_count(values, "min_completed");
	r->chance = plugin_option_number(values, "chance");
	r->hopeless = plugin_option_number(values, "hopeless");
	r->halving = (double)env->max_steps *
		     plugin_option_number(values, "halving_steps");
	if (!plugin_option_get(values, "halving_steps")->is_share)
		r->halving /= (double)env->max_steps;
	r->hopeless_steps = plugin_option_steps(
	    plugin_option_get(values, "hopeless_steps"), env->max_steps, 0);
	*state = r;
	return 0;
}

static int
narrow_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	return narrow_open_as(state, "narrow", values, env, e);
}

static int
short_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	return narrow_open_as(state, "short", values, env, e);
}

static int
careful_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	return narrow_open_as(state, "careful", values, env, e);
}

/* The maximum share of trials ahead of one that continues. */
static double
narrow_share(const struct narrow *r, int64_t done)
{
	double past = (double)(done - r->runner.warmup);
	double share = r->keep * exp2(-past / r->halving);

	return share < r->least ? r->least : share;
}

/* A judged trial, and where. */
struct behind {
	const struct narrow *rule;
	const struct verge *verge;
	size_t passed;
};

/* Whether a best trial was as far behind at this mark. */
static bool
best_behind(void *arg, const struct history *h, int64_t best)
{
	const struct behind *b = arg;
	const struct narrow *r = b->rule;
	const struct curve_grid *m = peer_curves_grid(r->runner.field);
	struct curve c = history_curve(h, best);
	double values[CURVE_GRID_MAX], share = 0;
	int64_t ahead, all;

	if (c.n > 0 && curve_grid_read(m, &c, c.n - 1, values) >= b->passed &&
	    !isnan(values[b->passed - 1])) {
		ahead = peer_curves_count_ahead(r->runner.field, b->passed - 1,
		    values[b->passed - 1], &all);
		share = all > 1 ? (double)ahead / (double)(all - 1) : 0;
	}
	return (double)b->verge->ahead <= share * (double)b->verge->all;
}

static void
narrow_explain(const struct narrow *r, const struct history *h,
    const struct verge *g, bool hopeless, int64_t step, struct judgement *j)
{
	char odds[64] = "";
	const char *side = r->runner.env.maximize ? "above" : "below";

	if (hopeless) {
		j->threshold =
		    history_flip_sign(h, peer_curves_best(r->runner.field));
		snprintf(j->why, sizeof(j->why),
		    "a chance of %.2g, below %g, to end %s %.6g, the best: it "
		    "heads for %.6g give or take %.2g at step %lld",
		    g->guess.p, r->hopeless, side, j->threshold,
		    history_flip_sign(h, g->guess.mean), g->guess.sd,
		    (long long)step);
		return;
	}
	if (g->known)
		snprintf(odds, sizeof(odds),
		    ", and the chance to beat the best is %.2g", g->guess.p);
	snprintf(j->why, sizeof(j->why),
	    "%.6g is behind %lld of %lld others at step %lld, "
	    "where the best %.3g %% continue%s",
	    j->value, (long long)g->ahead, (long long)g->all, (long long)step,
	    100 * g->share, odds);
}

/* Whether too many are ahead, and the bank does not object. */
static bool
narrow_behind(const struct narrow *r, const struct verge *g)
{
	return (double)g->ahead > g->share * (double)g->all &&
	       !(g->known && g->guess.p >= r->chance);
}

static bool
enough_completed(const struct narrow *r, const struct history *h)
{
	int64_t best[STOP_GUARD_MAX];

	return r->min_completed == 0 ||
	       history_bests(h, best, (size_t)r->min_completed) ==
		   (size_t)r->min_completed;
}

static bool
narrow_hopeless(const struct narrow *r, const struct verge *g, int64_t done)
{
	return done >= r->hopeless_steps && g->known &&
	       g->guess.p < r->hopeless &&
	       (double)g->ahead > narrow_top * (double)g->all;
}

static void
narrow_guard(struct narrow *r, const struct history *h,
    const struct extrapolate_view *v, const struct verge *g, bool hopeless,
    struct judgement *j)
{
	struct behind b = { r, g, v->passed };
	int64_t would;

	would = hopeless ? extrapolate_engine_guard(&r->runner, h, r->hopeless)
			 : stop_guard_find(h, r->runner.guard, best_behind, &b);
	if (would != 0)
		stop_suspend(h, would, j);
}

static void
narrow_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	struct narrow *r = state;
	struct extrapolate_view v;
	struct verge g = { 0 };
	bool behind, hopeless;
	int64_t done;

	if (!extrapolate_engine_begin(&r->runner, h, trial, step, &v, j))
		return;
	done = curve_grid_steps_done(&v.curve, v.at);
	g.ahead = peer_curves_count_ahead(
	    r->runner.field, v.passed - 1, v.own, &g.all);
	g.all--;
	g.share = narrow_share(r, done);
	j->pool = g.all;
	j->threshold =
	    history_flip_sign(h, peer_curves_rank(r->runner.field, v.passed - 1,
				     (int64_t)floor(g.share * (double)g.all)));
	if (g.all < r->min_trials)
		return;
	if ((double)g.ahead > g.share * (double)g.all ||
	    done >= r->hopeless_steps)
		g.known = extrapolate_engine_guess(&r->runner, v.values,
		    v.passed, peer_curves_best(r->runner.field), &g.guess);
	behind = narrow_behind(r, &g);
	hopeless = !behind && narrow_hopeless(r, &g, done);
	if ((!behind && !hopeless) || !enough_completed(r, h))
		return;
	j->verdict = VERDICT_STOP;
	narrow_explain(r, h, &g, hopeless, step, j);
	narrow_guard(r, h, &v, &g, hopeless, j);
}

extern const struct stopper stopper_narrow;
const struct stopper stopper_narrow = {
	.name = "narrow",
	.about = "worse than a shrinking share of the trials, with "
		 "little chance to become the best",
	.source = NULL,
	.options = narrow_options,
	.open = narrow_open,
	.close = extrapolate_engine_close,
	.observe = extrapolate_engine_observe,
	.ended = extrapolate_engine_ended,
	.judge = narrow_judge,
};

extern const struct stopper stopper_short;
const struct stopper stopper_short = {
	.name = "short",
	.about = "narrow from early on and slower: for runs of equal steps "
		 "whose curves cross little",
	.source = NULL,
	.options = short_options,
	.open = short_open,
	.close = extrapolate_engine_close,
	.observe = extrapolate_engine_observe,
	.ended = extrapolate_engine_ended,
	.judge = narrow_judge,
};

extern const struct stopper stopper_careful;
const struct stopper stopper_careful = {
	.name = "careful",
	.about = "narrow with second looks: loses the best trial least often",
	.source = NULL,
	.options = careful_options,
	.open = careful_open,
	.close = extrapolate_engine_close,
	.observe = extrapolate_engine_observe,
	.ended = extrapolate_engine_ended,
	.judge = narrow_judge,
};
