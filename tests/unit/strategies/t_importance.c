/* Importances of functions whose answer is known. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "strategies/importance/importance.h"
#include "tests/support/tap.h"

enum { TRIALS = 600, DIMS_MAX = 8, TREES = 64 };

struct problem {
	struct json_doc *doc;
	struct space *space;
	struct importance_data data;
	double *points, *losses;
};

static const char numbers[] = "{\"a\":{\"type\":\"float\",\"min\":0,\"max\":1},"
			      "\"b\":{\"type\":\"float\",\"min\":0,\"max\":1},"
			      "\"c\":{\"type\":\"float\",\"min\":0,\"max\":1}}";
static const char mixed[] =
    "{\"kind\":{\"type\":\"choice\",\"values\":[\"p\",\"q\",\"r\"]},"
    "\"deep\":{\"type\":\"int\",\"min\":1,\"max\":9,"
    "\"when\":{\"kind\":[\"p\"]}},"
    "\"one\":{\"type\":\"choice\",\"values\":[5]},"
    "\"log\":{\"type\":\"int\",\"min\":1,\"max\":4000,\"scale\":\"log\"}}";

/* Random points of a space, snapped as trials are. */
static void
problem_open(struct problem *p, const char *space)
{
	struct err e = ERR_INIT;
	struct value values[DIMS_MAX];
	struct rng rng;
	size_t i, d;

	*p = (struct problem){ 0 };
	if (json_parse(&p->doc, space, strlen(space), NULL, false, &e) != 0 ||
	    space_read(&p->space, json_root(p->doc), &e) != 0)
		abort();
	p->points = xcalloc(TRIALS * p->space->n, sizeof *p->points);
	p->losses = xcalloc(TRIALS, sizeof *p->losses);
	rng_init(&rng, 4, 2);
	for (i = 0; i < TRIALS; i++) {
		double *u = p->points + i * p->space->n;

		for (d = 0; d < p->space->n; d++)
			u[d] = rng_uniform(&rng);
		space_decode(p->space, u, values);
		for (d = 0; d < p->space->n; d++)
			if (!space_active(p->space, d, values))
				values[d].kind = VALUE_NONE;
		space_encode(p->space, values, u);
	}
	p->data = (struct importance_data){ .space = p->space,
		.n = TRIALS,
		.points = p->points,
		.losses = p->losses };
}

static void
problem_close(struct problem *p)
{
	free(p->points);
	free(p->losses);
	space_free(p->space);
	json_free(p->doc);
}

/* Variances of a and 2 b are 1/12 and 4/12; c does nothing. */
static void
test_sum(void)
{
	double ped[DIMS_MAX], shares[DIMS_MAX];
	struct problem p;
	size_t i;

	problem_open(&p, numbers);
	for (i = 0; i < TRIALS; i++)
		p.losses[i] = 1e6 + p.points[3 * i] + 2 * p.points[3 * i + 1];
	importance_fanova(shares, &p.data, TREES);
	is_near(shares[0], 0.2, 0.04, "fANOVA: a fifth of the variance");
	is_near(shares[1], 0.8, 0.06, "fANOVA: four fifths");
	is_near(shares[2], 0, 0.01, "fANOVA: nothing");
	ok(shares[0] + shares[1] + shares[2] <= 1, "not more than all of it");
	importance_ped_anova(ped, &p.data, 0.1, 1);
	ok(ped[1] > 2 * ped[0] && ped[0] > 4 * ped[2],
	    "PED-ANOVA has the same order (%g, %g, %g)", ped[1], ped[0],
	    ped[2]);
	importance_ped_anova(ped, &p.data, 1, 1);
	ok(ped[0] == 0 && ped[1] == 0 && ped[2] == 0,
	    "all trials are no better than all trials");
	problem_close(&p);
}

/* A product: half of the variance of (2a-1)(2b-1) is in no parameter alone. */
static void
test_interaction(void)
{
	struct importance_pair pairs[] = { { 0, 1, 0 }, { 0, 2, 0 },
		{ 1, 2, 0 } };
	struct importance_pair found[IMPORTANCE_PAIRS];
	double shares[DIMS_MAX];
	struct problem p;
	size_t i, trials;

	problem_open(&p, numbers);
	for (i = 0; i < TRIALS; i++)
		p.losses[i] =
		    (2 * p.points[3 * i] - 1) * (2 * p.points[3 * i + 1] - 1);
	importance_fanova(shares, &p.data, TREES);
	ok(shares[0] < 0.1 && shares[1] < 0.1 && shares[2] < 0.1,
	    "an interaction belongs to no parameter (%g, %g, %g)", shares[0],
	    shares[1], shares[2]);
	importance_fanova_pairs(pairs, 3, &p.data, TREES);
	ok(pairs[0].share > 0.6, "but to the pair (%g)", pairs[0].share);
	ok(pairs[1].share < 0.1 && pairs[2].share < 0.1,
	    "and to no other one (%g, %g)", pairs[1].share, pairs[2].share);
	i = importance_interactions(found, &trials, &p.data, shares, TREES);
	ok(i >= 1 && found[0].a + found[0].b == 1 && found[0].share > 0.6,
	    "it is the first of the interactions (%g)", found[0].share);
	ok(trials > 0 && trials <= IMPORTANCE_PAIR_TRIALS,
	    "which are computed from %zu trials", trials);
	ok(i < 2 || found[1].share <= found[0].share,
	    "the greatest share comes first");
	for (i = 0; i < TRIALS; i++)
		p.losses[i] = p.points[3 * i] + 2 * p.points[3 * i + 1];
	importance_fanova_pairs(pairs, 3, &p.data, TREES);
	ok(pairs[0].share < 0.05, "a sum has no interaction (%g)",
	    pairs[0].share);
	for (i = 0; i < TRIALS; i++)
		p.losses[i] = 1;
	is_int((long long)importance_interactions(
		   found, &trials, &p.data, shares, TREES),
	    0, "equal results have none that is worth a line");
	problem_close(&p);
}

/* Each choice of kind turns the slope of log the other way. */
static void
test_interaction_mixed(void)
{
	struct importance_pair pairs[] = { { 0, 3, 0 }, { 3, 0, 0 },
		{ 0, 2, 0 } };
	struct problem p;
	const double *u;
	size_t i;

	problem_open(&p, mixed);
	for (i = 0; i < TRIALS; i++) {
		u = p.points + 4 * i;
		p.losses[i] = (u[0] < 0.34 ? 1 : -0.5) * (2 * u[3] - 1);
	}
	importance_fanova_pairs(pairs, 3, &p.data, TREES);
	ok(pairs[0].share > 0.6, "a choice and a number interact (%g)",
	    pairs[0].share);
	is_near(
	    pairs[1].share, pairs[0].share, 1e-9, "in either order of the two");
	is_near(pairs[2].share, 0, 1e-9, "one value interacts with nothing");
	problem_close(&p);
}

static void
test_conditional(void)
{
	double ped[DIMS_MAX], shares[DIMS_MAX];
	struct problem p;
	const double *u;
	size_t i;

	problem_open(&p, mixed);
	for (i = 0; i < TRIALS; i++) {
		u = p.points + 4 * i;
		p.losses[i] = isnan(u[1]) ? 1 : -3 * u[1];
	}
	importance_fanova(shares, &p.data, TREES);
	importance_ped_anova(ped, &p.data, 0.1, 1);
	ok(shares[0] > 0.5, "the parent carries most of it (%g)", shares[0]);
	ok(shares[1] > 0.05, "its child what it adds (%g)", shares[1]);
	ok(ped[1] > 5 * ped[3], "PED-ANOVA sees the child where it is active");
	ok(shares[2] == 0 && ped[2] == 0, "one value has no importance");
	problem_close(&p);
}

static void
test_nothing(void)
{
	double ped[DIMS_MAX], shares[DIMS_MAX];
	struct problem p;
	size_t d;

	problem_open(&p, mixed);
	importance_fanova(shares, &p.data, TREES);
	importance_ped_anova(ped, &p.data, 0.1, 1);
	for (d = 0; d < 4; d++)
		ok(shares[d] == 0 && ped[d] == 0,
		    "equal losses make nothing important");
	p.data.n = 1;
	importance_fanova(shares, &p.data, TREES);
	importance_ped_anova(ped, &p.data, 0.1, 1);
	ok(shares[0] == 0 && ped[0] == 0, "one trial makes nothing important");
	problem_close(&p);
}

/* The same trials give the same numbers. */
static void
test_again(void)
{
	double a[DIMS_MAX], b[DIMS_MAX];
	struct problem p;
	size_t i;

	problem_open(&p, mixed);
	for (i = 0; i < TRIALS; i++)
		p.losses[i] = p.points[4 * i] + sin(9 * p.points[4 * i + 3]);
	importance_fanova(a, &p.data, TREES);
	importance_fanova(b, &p.data, TREES);
	ok(memcmp(a, b, 4 * sizeof *a) == 0, "the forest is always the same");
	problem_close(&p);
}

int
main(void)
{
	test_sum();
	test_interaction();
	test_interaction_mixed();
	test_conditional();
	test_nothing();
	test_again();
	return done_testing();
}
