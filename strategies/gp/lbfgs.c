/*
 * L-BFGS: Nocedal, "Updating quasi-Newton matrices with limited storage",
 * Mathematics of Computation 35 (1980).  Bounds by projection: coordinates held
 * by a bound are left out of the direction, and the line search bends at the
 * bounds (Bertsekas, "Projected Newton methods for optimization problems with
 * simple constraints", SIAM J.  Control Optim. 20, 1982).
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/lbfgs.h"

enum {
	PAIRS = 10, /* steps that are remembered */
	CUTS_MAX = 20 /* step halvings before giving up */
};

static const double enough = 1e-4; /* of the decrease the slope promises */

/* One start on its way. */
struct descent {
	double *x, *g; /* where it is */
	double *to, *g_to; /* trial point and its gradient */
	double *dir;
	double *s, *y; /* PAIRS x d, a ring */
	double f, step;
	size_t n_pairs, newest;
	unsigned evals, cuts;
	bool begun, done;
};

static double
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double
inside(const struct lbfgs *l, size_t i, double x)
{
	return fmin(fmax(x, l->low[i]), l->high[i]);
}

/*
 * Whether a bound holds the coordinate: the descent direction leaves the box.
 */
static bool
is_held(const struct lbfgs *l, const struct descent *d, size_t i)
{
	return (d->x[i] <= l->low[i] && d->g[i] >= 0) ||
	       (d->x[i] >= l->high[i] && d->g[i] <= 0);
}

/* Of a pair, what lies in free coordinates. */
static double
dot_free(const double *a, const double *b, const bool *held, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (!held[i])
			sum += a[i] * b[i];
	return sum;
}

static void
add(double *to, double factor, const double *a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] += factor * a[i];
}

/* Whether the pair has enough curvature to be used. */
static bool
pair_bends(double sy, double yy)
{
	return sy > 1e-10 * yy && yy > 0;
}

/* The two loops of the paper, over the free coordinates. */
static void
direction_turn(const struct lbfgs *l, struct descent *d, const bool *held)
{
	double alpha[PAIRS] = { 0 }, sy, yy, scale = 0;
	size_t n = l->d, i, at;
	const double *s, *y;

	for (i = 0; i < d->n_pairs; i++) {
		at = (d->newest + PAIRS - i) % PAIRS;
		s = d->s + at * n;
		y = d->y + at * n;
		sy = dot_free(s, y, held, n);
		yy = dot_free(y, y, held, n);
		if (!pair_bends(sy, yy))
			continue;
		if (scale == 0)
			scale = sy / yy;
		alpha[i] = dot_free(s, d->dir, held, n) / sy;
		add(d->dir, -alpha[i], y, n);
	}
	for (i = 0; i < n && scale != 0; i++)
		d->dir[i] *= scale;
	for (i = d->n_pairs; i-- > 0;) {
		at = (d->newest + PAIRS - i) % PAIRS;
		s = d->s + at * n;
		y = d->y + at * n;
		sy = dot_free(s, y, held, n);
		if (!pair_bends(sy, dot_free(y, y, held, n)))
			continue;
		add(d->dir, alpha[i] - dot_free(y, d->dir, held, n) / sy, s, n);
	}
}

/* Choose the next trial point from x; false: no descent direction. */
static bool
descent_aim(const struct lbfgs *l, struct descent *d)
{
	bool few[64], *held = few;
	double norm = 0, slope;
	size_t i;

	if (l->d > sizeof few)
		held = xcalloc(l->d, sizeof *held);
	for (i = 0; i < l->d; i++) {
		held[i] = is_held(l, d, i);
		d->dir[i] = held[i] ? 0 : -d->g[i];
		norm = fmax(norm, fabs(d->dir[i]));
	}
	direction_turn(l, d, held);
	for (i = 0; i < l->d; i++)
		if (held[i])
			d->dir[i] = 0;
	slope = dot(d->dir, d->g, l->d);
	if (!(slope < 0) || !isfinite(slope)) {
		d->n_pairs = 0;
		for (i = 0; i < l->d; i++)
			d->dir[i] = held[i] ? 0 : -d->g[i];
	}
	d->step = d->n_pairs > 0 ? 1 : fmin(1, 1 / norm);
	d->cuts = 0;
	if (held != few)
		free(held);
	return norm > l->gradient_tol;
}

static void
pair_keep(const struct lbfgs *l, struct descent *d)
{
	size_t at = (d->newest + 1) % PAIRS, i;
	double *s = d->s + at * l->d, *y = d->y + at * l->d;

	for (i = 0; i < l->d; i++) {
		s[i] = d->to[i] - d->x[i];
		y[i] = d->g_to[i] - d->g[i];
	}
	if (!pair_bends(dot(s, y, l->d), dot(y, y, l->d)))
		return;
	d->newest = at;
	if (d->n_pairs < PAIRS)
		d->n_pairs++;
}

static void
descent_move(const struct lbfgs *l, struct descent *d, double f)
{
	memcpy(d->x, d->to, l->d * sizeof *d->x);
	memcpy(d->g, d->g_to, l->d * sizeof *d->g);
	d->f = f;
}

/* The step was too long: a shorter one, or straight down, or the end. */
static void
descent_cut(const struct lbfgs *l, struct descent *d, double f, double slope)
{
	double cut = 0.5;

	if (++d->cuts > CUTS_MAX) {
		d->done = d->n_pairs == 0;
		d->n_pairs = 0;
		d->done = d->done || !descent_aim(l, d);
		return;
	}
	if (isfinite(f) && slope < 0)
		cut = fmin(fmax(-slope / (2 * (f - d->f - slope)), 0.1), 0.5);
	d->step *= cut;
}

/* Process the value f of the trial point. */
static void
descent_hear(const struct lbfgs *l, struct descent *d, double f)
{
	double slope = 0, old = d->f;
	size_t i;

	d->evals++;
	if (!d->begun) {
		d->begun = true;
		descent_move(l, d, f);
		d->done = !isfinite(f) || !descent_aim(l, d);
	} else {
		for (i = 0; i < l->d; i++)
			slope += d->g[i] * (d->to[i] - d->x[i]);
		if (f <= old + enough * slope && slope <= 0) {
			pair_keep(l, d);
			descent_move(l, d, f);
			d->done = old - f <= l->value_tol * fmax(fabs(f), 1) ||
				  !descent_aim(l, d);
		} else
			descent_cut(l, d, f, slope);
	}
	d->done = d->done || d->evals >= l->max_evals;
}

static void
descent_ask(const struct lbfgs *l, struct descent *d)
{
	size_t i;

	for (i = 0; i < l->d; i++)
		d->to[i] = inside(
		    l, i, d->x[i] + (d->begun ? d->step * d->dir[i] : 0));
}

static void
descents_init(
    const struct lbfgs *l, struct descent *d, double *x, size_t r, double *room)
{
	size_t i, n = l->d;

	for (i = 0; i < r; i++) {
		d[i] = (struct descent){ .x = x + i * n, .f = INFINITY };
		d[i].g = room;
		d[i].to = room + n;
		d[i].g_to = room + 2 * n;
		d[i].dir = room + 3 * n;
		d[i].s = room + 4 * n;
		d[i].y = room + (4 + PAIRS) * n;
		room += (4 + 2 * PAIRS) * n;
	}
}

/* Evaluate one batch; returns its size. */
static size_t
descents_turn(const struct lbfgs *l, struct descent *d, size_t r, size_t *which,
    double *x, double *f, double *g)
{
	size_t n = l->d, k = 0, i;

	for (i = 0; i < r; i++) {
		if (d[i].done)
			continue;
		descent_ask(l, &d[i]);
		memcpy(x + k * n, d[i].to, n * sizeof *x);
		which[k++] = i;
	}
	if (k == 0)
		return 0;
	l->eval(l->arg, which, x, k, f, g);
	for (i = 0; i < k; i++) {
		memcpy(d[which[i]].g_to, g + i * n, n * sizeof *g);
		descent_hear(l, &d[which[i]], f[i]);
	}
	return k;
}

void
lbfgs_run(const struct lbfgs *l, double *x, size_t r, double *f)
{
	size_t n = l->d, i;
	struct descent *d = xcalloc(r, sizeof *d);
	double *room = xcalloc(r * n * (4 + 2 * PAIRS) + 1, sizeof *room);
	double *at = xcalloc(r * (2 * n + 1), sizeof *at);
	size_t *which = xcalloc(r, sizeof *which);

	descents_init(l, d, x, r, room);
	while (descents_turn(l, d, r, which, at, at + r * n, at + r * (n + 1)))
		;
	for (i = 0; i < r; i++)
		f[i] = d[i].f;
	free(d);
	free(room);
	free(at);
	free(which);
}
