/*
 * What strategies and those who ask them share.  A strategy is asked for a
 * setting that satisfies the conditions of the space: for its next points in
 * turn, and when none of them does, its first one is moved to where they hold.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/where.h"
#include "strategies/memory/memory-model.h"
#include "strategies/strategy.h"

enum {
	TRIES = 30,
	ANCHORS = 8, /* settings of which the nearest is moved to */
	DRAWS = 1 << 8 /* streams of random numbers for one answer */
};

static uint64_t
stream_of(const struct strategy_ask *ask, unsigned draw)
{
	return ((uint64_t)ask->trial * (TRIES * DRAWS) +
		   ask->redraw % TRIES * DRAWS + draw)
	       << 1;
}

/* A setting that satisfies them; study.json was checked to have one. */
static void
anchor_draw(double *u, const struct strategy_ask *ask, unsigned draw)
{
	if (where_search(u, ask->space, NULL, ask->seed,
		stream_of(ask, draw)) != WHERE_FOUND)
		(void)where_search(u, ask->space, NULL, 0, 0);
}

static double
distance(const double *a, const double *b, size_t n)
{
	double sum = 0, step;
	size_t i;

	for (i = 0; i < n; i++) {
		step = a[i] - b[i];
		/* NaN: inactive in one of them. */
		sum += step == step ? step * step : a[i] == b[i] ? 0 : 0.25;
	}
	return sum;
}

/* The parent of a population, or the nearest of some random settings. */
static void
anchor_choose(double *anchor, const struct suggestion *out,
    const struct strategy_ask *ask)
{
	size_t n = ask->space->n;
	double *u = xcalloc(n, sizeof *u);
	unsigned i;

	if (out->from > 0 && ask->history != NULL &&
	    where_holds(ask->space, history_point(ask->history, out->from))) {
		memcpy(anchor, history_point(ask->history, out->from),
		    n * sizeof *anchor);
		free(u);
		return;
	}
	anchor_draw(anchor, ask, 0);
	for (i = 1; i < ANCHORS; i++) {
		anchor_draw(u, ask, i);
		if (distance(u, out->x, n) < distance(anchor, out->x, n))
			memcpy(anchor, u, n * sizeof *anchor);
	}
	free(u);
}

/*
 * What a strategy has learned is in its point: move that as little as possible.
 * The others have no wish: any setting.
 */
static void
suggestion_repair(const struct strategy *strategy, struct suggestion *out,
    const struct strategy_ask *ask)
{
	double *anchor;

	if (!strategy->wants_points) {
		anchor_draw(out->x, ask, 0);
		return;
	}
	anchor = xcalloc(ask->space->n, sizeof *anchor);
	space_snap(ask->space, out->x);
	anchor_choose(anchor, out, ask);
	where_approach(out->x, ask->space, anchor);
	free(anchor);
}

/* The first of the answers that satisfies the conditions of the space. */
static int
suggest_allowed(const struct strategy *strategy, struct suggestion *out,
    const struct strategy_ask *ask, const struct option_value *values,
    struct err *e)
{
	struct suggestion begin = *out, first = { 0 };
	struct strategy_ask again = *ask;
	size_t n = ask->space->n;
	unsigned i;
	int rc;

	rc = strategy->suggest(out, ask, values, e);
	if (rc != 0 || where_holds(ask->space, out->x))
		return rc;
	first = *out;
	first.x = xcalloc(n, sizeof *first.x);
	memcpy(first.x, out->x, n * sizeof *first.x);
	for (i = 1; i < TRIES && rc == 0; i++) {
		again.redraw = ask->redraw + i;
		*out = begin;
		rc = strategy->suggest(out, &again, values, e);
		if (rc == 0 && where_holds(ask->space, out->x))
			break;
	}
	if (rc == 0 && i == TRIES) {
		memcpy(begin.x, first.x, n * sizeof *first.x);
		*out = first;
		out->x = begin.x;
		suggestion_repair(strategy, out, ask);
	}
	free(first.x);
	return rc;
}

/* The first of the answers that is likely to fit, or the likeliest. */
static int
suggest_fitting(const struct strategy *strategy, struct suggestion *out,
    const struct strategy_ask *ask, const struct option_value *values,
    struct err *e)
{
	struct suggestion begin = *out, best = { 0 };
	struct strategy_ask again = *ask;
	size_t n = ask->space->n;
	double *x = xcalloc(2 * n, sizeof *x);
	unsigned i;
	int rc = 0;

	for (i = 0; i < TRIES && best.fits < MEMORY_MODEL_LEAST; i++) {
		/* Beyond the redraws for conditions. */
		again.redraw = ask->redraw + i * TRIES;
		*out = begin;
		rc = suggest_allowed(strategy, out, &again, values, e);
		if (rc != 0)
			break;
		memcpy(x + n, out->x, n * sizeof *x);
		space_snap(ask->space, x + n);
		out->fits = memory_model_fits(ask->memory, x + n, &out->memory);
		if (i > 0 && out->fits <= best.fits)
			continue;
		best = *out;
		memcpy(x, out->x, n * sizeof *x);
	}
	if (i > 0) {
		memcpy(begin.x, x, n * sizeof *x);
		*out = best;
		out->x = begin.x;
		rc = 0;
	}
	free(x);
	return rc;
}

/* A population goes on from settings that ran. */
static bool
minds_memory(const struct strategy *strategy)
{
	return strategy->wants_points && !strategy->continues;
}

int
strategy_suggest(const struct strategy *strategy, struct suggestion *out,
    const struct strategy_ask *ask, const struct option_value *values,
    struct err *e)
{
	struct strategy_ask with = *ask;
	struct memory_model *model = NULL;
	int rc;

	if (minds_memory(strategy))
		model = memory_model_new(ask->space, ask->history);
	with.memory = model;
	rc = model != NULL ? suggest_fitting(strategy, out, &with, values, e)
			   : suggest_allowed(strategy, out, &with, values, e);
	memory_model_free(model);
	return rc;
}

void
strategy_rng(struct rng *rng, const struct strategy_ask *ask)
{
	/* Trials count from the low bits, redraws from the high bits. */
	rng_init(
	    rng, ask->seed, (uint64_t)ask->trial ^ (uint64_t)ask->redraw << 48);
}
