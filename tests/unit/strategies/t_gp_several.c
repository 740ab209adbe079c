/*
 * Several losses as one: the norm, its scale, and that each part of the front
 * is the best for some weights.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"
#include "tests/support/tap.h"

enum { ROWS = 6, DRAWS = 200 };

/* Three on the front, two that are dominated, and one without a result. */
static const double losses[ROWS][2] = { { 0, 1 }, { 1, 0 }, { 0.3, 0.3 },
	{ 0.9, 0.9 }, { 1, 2 }, { NAN, NAN } };
static const double nothing;

/* As rows and history; the second loss times scale, plus shift. */
static struct history *
history_of(struct gp_rows *rows, double scale, double shift)
{
	const bool goals[2] = { false, false };
	struct history *h = history_new(1, false, HISTORY_POINTS);
	double values[2];
	size_t i;

	history_set_objectives(h, 2, goals, 0);
	*rows = (struct gp_rows){ .n = ROWS, .d = 1 };
	rows->trials = xcalloc(ROWS, sizeof *rows->trials);
	rows->kinds = xcalloc(ROWS, sizeof *rows->kinds);
	rows->x = xcalloc(ROWS, sizeof *rows->x);
	for (i = 0; i < ROWS; i++) {
		rows->trials[i] = (int64_t)i + 1;
		rows->kinds[i] = isnan(losses[i][0]) ? GP_BAD : GP_COMPLETED;
		values[0] = losses[i][0];
		values[1] = losses[i][1] * scale + shift;
		history_add(h, (int64_t)i + 1, &nothing);
		history_results(h, (int64_t)i + 1, values, NULL);
		history_end(h, (int64_t)i + 1,
		    isnan(values[0]) ? TRIAL_FAILED : TRIAL_COMPLETED,
		    values[0]);
	}
	return h;
}

static void
check_norm(void)
{
	static const double half[] = { 0.5, 0.5 }, one[] = { 0, 1 };
	static const double some[] = { 0.2, 0.8 }, none[] = { 0.2, NAN };

	ok(fabs(gp_several_norm(some, half, 2) - 0.425) < 1e-12,
	    "the largest weighted loss, and a twentieth of the sum");
	ok(fabs(gp_several_norm(some, one, 2) - 0.84) < 1e-12,
	    "with one weight it is that loss");
	ok(isnan(gp_several_norm(none, half, 2)), "NaN when a loss is missing");
}

static void
check_draws(void)
{
	double values[ROWS], scaled[ROWS], apart = 0;
	struct gp_rows rows, others;
	struct history *h = history_of(&rows, 1, 0);
	struct history *far = history_of(&others, 1e6, -5e7);
	size_t best[ROWS] = { 0 }, i, k, at, none = 0;
	struct rng rng, same;

	rng_init(&rng, 1, 0);
	rng_init(&same, 1, 0);
	for (i = 0; i < DRAWS; i++) {
		gp_several_losses(values, &rows, h, &rng);
		gp_several_losses(scaled, &others, far, &same);
		for (at = 0, k = 1; k + 1 < ROWS; k++)
			if (values[k] < values[at])
				at = k;
		best[at]++;
		for (k = 0; k + 1 < ROWS; k++)
			apart = fmax(apart, fabs(values[k] - scaled[k]));
		none += isnan(values[ROWS - 1]);
	}
	ok(best[0] > 0 && best[1] > 0 && best[2] > 0,
	    "each row of the front is the best of some draws: %zu, %zu, %zu",
	    best[0], best[1], best[2]);
	ok(best[3] + best[4] == 0, "a dominated row of none");
	ok(none == DRAWS, "a failed trial has no value");
	ok(apart < 1e-6, "the unit of a loss does not matter: %g", apart);
	history_free(h);
	history_free(far);
	gp_training_rows_free(&rows);
	gp_training_rows_free(&others);
}

int
main(void)
{
	check_norm();
	check_draws();
	return done_testing();
}
