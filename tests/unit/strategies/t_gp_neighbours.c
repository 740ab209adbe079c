/* Neighbours of a setting of choices and steps, for gp's search beside one. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

/* A choice, one that depends on its first value, and three numbers. */
static const char text[] =
    "{\"c\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"k\": {\"type\": \"choice\", \"values\": [1, 2], "
    "\"when\": {\"c\": [1]}},"
    "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 16},"
    "\"w\": {\"type\": \"int\", \"min\": 1, \"max\": 17},"
    "\"f\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}";

enum { C, K, N, W, F, D };

static void
check_are(const struct gp_axes *g)
{
	double a[D] = { 0.125, 0.25, 0.5 / 16, 0.5 / 17, 0.1 }, b[D];

	memcpy(b, a, sizeof a);
	b[W] = 16.5 / 17;
	b[F] = 0.9;
	ok(gp_neighbours_are(g, a, b),
	    "17 levels and continuous numbers do not count");
	b[N] = 15.5 / 16;
	ok(gp_neighbours_are(g, a, b), "one of 16 levels is another");
	b[K] = 0.75;
	ok(!gp_neighbours_are(g, a, b), "and a choice");
	b[N] = a[N];
	ok(gp_neighbours_are(g, a, b), "only the choice");
	b[C] = 0.375;
	b[K] = 0.5;
	ok(gp_neighbours_are(g, a, b),
	    "a choice that one of them lacks does not count");
	b[N] = 15.5 / 16;
	ok(!gp_neighbours_are(g, a, b), "its parent does");
}

static void
check_make(const struct gp_axes *g)
{
	enum { M = 2000 };
	double *rows = calloc((size_t)M * D, sizeof *rows), *x;
	double centre[D] = { 0.375, 0.5, 7.5 / 16, 0.5 / 17, 0.1 };
	size_t of[D] = { 0 }, none = 0, new[2] = { 0 }, beyond = 0, i;
	struct rng rng;

	rng_init(&rng, 3, 0);
	for (i = 0; i < (size_t)M * D; i++)
		rows[i] = rng_uniform(&rng);
	gp_neighbours_make(rows, M, g, centre, &rng);
	gp_axes_snap(g, rows, M);
	for (i = 0; i < M; i++) {
		x = rows + i * D;
		beyond += !gp_neighbours_are(g, x, centre);
		none += x[C] == centre[C] && x[N] == centre[N];
		of[C] += x[C] != centre[C];
		of[N] += x[N] != centre[N];
		of[W] += x[W] != centre[W];
		of[F] += x[F] != centre[F];
		if (x[C] == 0.125)
			new[x[K] > 0.5]++;
	}
	is_int((long long)beyond, 0, "all are neighbours");
	ok(none > M / 2 && none < M * 3 / 4,
	    "more than half with the same choices: %zu", none);
	ok(of[C] > M / 12 && of[N] > M / 12,
	    "the others with one of each kind: %zu and %zu", of[C], of[N]);
	ok(new[0] > 20 && new[1] > 20,
	    "what depends on a new choice is free: %zu and %zu", new[0],
	    new[1]);
	ok(of[F] == M && of[W] > M * 9 / 10, "other numbers are as they were");
	free(rows);
}

/* A whole number, one that half of the trials have, and a choice. */
static const char region[] =
    "{\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 20},"
    "\"c\": {\"type\": \"choice\", \"values\": [1, 2]},"
    "\"h\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
    "\"when\": {\"c\": [1]}}}";

static void
space_open(struct json_doc **doc, struct space **space, const char *json)
{
	struct err e = ERR_INIT;

	if (json_parse(doc, json, strlen(json), "test", false, &e) != 0 ||
	    space_read(space, json_root(*doc), &e) != 0)
		printf("# %s\n", e.text);
}

/* Trials 3 and 9 are the same setting; n is 8 to 12, h at most 0.3. */
static void
check_region(void)
{
	struct history *h = history_new(3, false, HISTORY_POINTS);
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct gp_rows rows;
	struct gp_axes g;
	double x[3], low[3], high[3];
	int64_t t;

	space_open(&doc, &space, region);
	gp_axes_init(&g, space);
	for (t = 1; t <= 12; t++) {
		x[0] = ((double)(t == 9 ? 3 : t % 5) + 7.5) / 20;
		x[1] = t % 2 == 0 ? 0.75 : 0.25;
		x[2] = t % 2 == 0 ? NAN : t == 9 ? 0.09 : 0.03 * (double)t;
		if (t == 11)
			x[2] = 0.3;
		history_add(h, t, x);
		history_end(h, t, TRIAL_COMPLETED, (double)t);
	}
	gp_training_rows_init(&rows, &g, h, 1000);
	ok(gp_region_choose(&rows, &g, 9, low, high) && rows.trials[0] == 9,
	    "the trial in the centre comes first, before its equal");
	is_near(low[0], 6.5 / 20, 1e-9, "one below the whole numbers there");
	is_near(high[0], 12.5 / 20, 1e-9, "and one above");
	is_near(low[2], 0.03, 1e-9, "bounds of a parameter that some lack");
	is_near(high[2], 0.3, 1e-9, "are those of the others");
	gp_training_rows_free(&rows);
	gp_axes_free(&g);
	space_free(space);
	json_free(doc);
	history_free(h);
}

static const char six[] =
    "{\"a\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"b\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"c\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"d\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"e\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
    "\"f\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}";

/*
 * The third of 41 trials is the best: it has the second value of each choice,
 * which is nearly as good as the first.
 */
static void
check_suggestions(void)
{
	static const double cost[] = { 0, 0.2, 2, 2 };
	struct strategy_run r;
	struct gp_axes g;
	double x[DIMS_MAX], best[6], row[6], sum;
	int beside = 0, i;
	size_t k;

	gp_open(&r, six, FEW, 1);
	gp_axes_init(&g, r.space);
	for (i = 1; i <= 41; i++) {
		for (sum = 0, k = 0; k < 6; k++) {
			x[k] = fmod(i * sqrt((double)(k * k + 2)), 1);
			if (i == 3)
				x[k] = 0.4;
			else if (k == (size_t)i % 5)
				x[k] = 0.9;
			if (k < 5)
				sum += cost[(int)(4 * x[k])];
		}
		space_snap(r.space, x);
		history_add(r.history, i, x);
		history_end(r.history, i, TRIAL_COMPLETED, sum);
	}
	is_int(history_best(r.history), 3, "the best trial");
	gp_axes_encode(&g, history_point(r.history, 3), best);
	for (i = 0; i < 6; i++) {
		r.seed = (uint64_t)i;
		history_end(
		    r.history, strategy_run_next(&r, x), TRIAL_CANCELLED, NAN);
		if (i % 4 != 0)
			continue;
		gp_axes_encode(&g, x, row);
		beside += gp_neighbours_are(&g, row, best);
	}
	is_int(beside, 2, "every fourth suggestion is beside the best trial");
	gp_axes_free(&g);
	strategy_run_close(&r);
}

int
main(void)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct gp_axes axes;

	space_open(&doc, &space, text);
	gp_axes_init(&axes, space);
	is_int((long long)axes.d, D, "five axes in the order of the space");
	check_are(&axes);
	check_make(&axes);
	check_region();
	check_suggestions();
	gp_axes_free(&axes);
	space_free(space);
	json_free(doc);
	return done_testing();
}
