/*
 * The common part of the rules on the learning-curve bank: trials among
 * competitors, and which trials are not judged.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/model/history/history.h"
#include "strategies/stop/extrapolate/extrapolate-engine.h"

enum {
	OWN_MARKS = 3, /* of the last so many values the best one counts */
	GUESS_LEAST = 4 /* values that a guess needs */
};

/* Values beyond so many units are taken as this far: spikes, and divergence. */
static const double units_far = 1.5;

int
extrapolate_engine_init(struct extrapolate_engine *r, const char *name,
    const struct option_value *values, const struct stopper_env *env,
    struct err *e)
{
	const struct option_value *warmup;

	if (env->max_steps < 2)
		return err_set(e, ERR_USAGE,
		    "rule \"%s\" needs trial.max_steps, of 2 or more: the "
		    "number of steps of a complete trial",
		    name);
	r->name = name;
	r->env = *env;
	r->field = peer_curves_new(env->max_steps);
	r->kernels = kernels_plain();
	r->bank = r->kernels->bank_new(
	    r->kernels->dev, peer_curves_grid(r->field)->n);
	r->temper = plugin_option_number(values, "temper");
	warmup = plugin_option_get(values, "warmup_steps");
	r->warmup = plugin_option_steps(warmup, env->max_steps, 0);
	r->guard = plugin_option_count(values, "guard");
	r->diverged_after = plugin_option_count(values, "diverged_after");
	return 0;
}

void
extrapolate_engine_close(void *state)
{
	struct extrapolate_engine *r = state;

	peer_curves_free(r->field);
	r->kernels->bank_free(r->kernels->dev, r->bank);
	free(r);
}

void
extrapolate_engine_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	struct extrapolate_engine *r = state;

	peer_curves_observe(r->field, h, trial, step);
}

void
extrapolate_engine_ended(void *state, const struct history *h, int64_t trial)
{
	struct extrapolate_engine *r = state;

	peer_curves_ended(r->field, h, trial);
}

/* Whether the curve has the best value reported by any trial. */
static bool
curve_leads(const struct curve *c, size_t i, double best)
{
	size_t k;

	for (k = 0; k <= i; k++)
		if (curve_value(c, k) <= best)
			return true;
	return false;
}

/* The values at the marks, when report i is the one that stands at the last. */
static bool
view_take(const struct extrapolate_engine *r, struct extrapolate_view *v)
{
	const struct curve_grid *m = peer_curves_grid(r->field);
	size_t i = v->at, j, known = 0;

	v->passed = curve_grid_passed(m, &v->curve, i);
	if (i > 0 && v->passed == curve_grid_passed(m, &v->curve, i - 1))
		return false;
	v->passed = curve_grid_read(m, &v->curve, i, v->values);
	v->own = INFINITY;
	for (j = 0; j < v->passed; j++)
		known += !isnan(v->values[j]);
	for (j = v->passed; j-- > 0 && j + OWN_MARKS >= v->passed;)
		v->own = fmin(v->own, v->values[j]);
	return known >= GUESS_LEAST;
}

bool
extrapolate_engine_begin(const struct extrapolate_engine *r,
    const struct history *h, int64_t trial, int64_t step,
    struct extrapolate_view *v, struct judgement *j)
{
	struct curve c = history_curve(h, trial);
	ptrdiff_t i = curve_at(&c, step);

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = r->name,
		.value = NAN,
		.threshold = NAN };
	if (i < 0 ||
	    stop_diverged(j, &r->env, &c, (size_t)i, r->diverged_after) ||
	    stop_is_late(&r->env, &c, (size_t)i) ||
	    curve_grid_steps_done(&c, (size_t)i) < r->warmup)
		return false;
	*v = (struct extrapolate_view){ .curve = c, .at = (size_t)i };
	if (!view_take(r, v))
		return false;
	j->value = history_flip_sign(h, v->own);
	return !curve_leads(&c, v->at, peer_curves_best(r->field));
}

/*
 * The unit of the bank: distance from the best value to the median at the start
 * of curves, or to the current median if that is larger.
 */
static double
bank_unit(const struct peer_curves *f, size_t passed, double best)
{
	double first = peer_curves_median(f, 0) - best;
	double now = peer_curves_median(f, passed - 1) - best;

	return isnan(first) || now > first ? now : first;
}

/* Convert values; returns their number. */
static size_t
units_take(
    double *out, const double *values, size_t passed, double best, double unit)
{
	size_t j, n = 0;
	double u;

	for (j = 0; j < passed; j++) {
		u = (values[j] - best) / unit;
		out[j] = u > units_far	  ? units_far
			 : u < -units_far ? -units_far
					  : u;
		n += !isnan(u);
	}
	return n;
}

bool
extrapolate_engine_guess(const struct extrapolate_engine *r,
    const double values[CURVE_GRID_MAX], size_t passed, double goal,
    struct curve_guess *g)
{
	double best = peer_curves_best(r->field), unit, units[CURVE_GRID_MAX];

	if (passed == 0 || !isfinite(best) || !isfinite(goal))
		return false;
	unit = bank_unit(r->field, passed, best);
	if (!(unit > 0) || !isfinite(unit) || !isfinite(1 / unit) ||
	    units_take(units, values, passed, best, unit) < GUESS_LEAST)
		return false;
	r->kernels->bank_guess(r->kernels->dev, r->bank, units, passed,
	    r->temper, (goal - best) / unit, g);
	g->mean = best + g->mean * unit;
	g->sd *= unit;
	return true;
}

/* Whether the best trial's chance after so many marks was below least. */
static bool
best_underrated(const struct extrapolate_engine *r, const double *values,
    size_t passed, double result, double least)
{
	struct curve_guess g;

	return extrapolate_engine_guess(r, values, passed, result, &g) &&
	       g.p < least;
}

/* What the guard tests a trial for. */
struct underrated {
	struct extrapolate_engine *engine;
	double least;
};

static bool
trial_underrated(void *arg, const struct history *h, int64_t best)
{
	const struct underrated *u = arg;
	struct extrapolate_engine *r = u->engine;
	double least = u->least;
	double values[CURVE_GRID_MAX], result = INFINITY;
	struct curve c;
	size_t i, k, passed;

	c = history_curve(h, best);
	for (i = 0; i < c.n; i++)
		if (curve_value(&c, i) < result && isfinite(curve_value(&c, i)))
			result = curve_value(&c, i);
	passed = c.n > 0 ? curve_grid_read(
			       peer_curves_grid(r->field), &c, c.n - 1, values)
			 : 0;
	if (r->witness_trial == best && r->witness < passed &&
	    best_underrated(r, values, r->witness, result, least))
		return true;
	for (k = GUESS_LEAST; k < passed; k++) {
		if (!best_underrated(r, values, k, result, least))
			continue;
		r->witness_trial = best;
		r->witness = k;
		return true;
	}
	return false;
}

int64_t
extrapolate_engine_guard(
    struct extrapolate_engine *r, const struct history *h, double least)
{
	struct underrated u = { r, least };

	return stop_guard_find(h, r->guard, trial_underrated, &u);
}
