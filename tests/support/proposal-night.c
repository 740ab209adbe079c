/* Plays nights of proposals. */

#include <math.h>
#include <string.h>

#include "src/model/evidence/proposal-rule.h"
#include "tests/support/proposal-night.h"

enum { PAIRS = PROPOSAL_NIGHT_PAIRS };

bool
proposal_night_rule(
    const double *a, const double *b, size_t others, double level, size_t *runs)
{
	return proposal_rule_judge(a, b, PAIRS, PAIRS, others, level, runs) ==
	       PROPOSAL_KEPT;
}

bool
proposal_night_once(
    const double *a, const double *b, size_t others, double level, size_t *runs)
{
	(void)others;
	(void)level;
	*runs = 1;
	return a[0] < b[0];
}

bool
proposal_night_mean_of_three(
    const double *a, const double *b, size_t others, double level, size_t *runs)
{
	(void)others;
	(void)level;
	*runs = 3;
	return a[0] + a[1] + a[2] < b[0] + b[1] + b[2];
}

bool
proposal_night_t_test(
    const double *a, const double *b, size_t others, double level, size_t *runs)
{
	double mean = 0, squares = 0;
	size_t i;

	(void)others;
	(void)level;
	*runs = 10;
	for (i = 0; i < 10; i++)
		mean += (b[i] - a[i]) / 10;
	for (i = 0; i < 10; i++)
		squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
	return mean / sqrt(squares / 90) > 1.833;
}

struct proposal_night
proposal_night_run(
    proposal_night_judge *judge, const struct proposal_night_world *world)
{
	double a[PAIRS], b[PAIRS], level, spent = 0, best = 0, effect;
	struct proposal_night night = { .runs = PROPOSAL_RULE_BAND };
	size_t i, k, runs, had = PROPOSAL_RULE_BAND, others = 0;

	world->noise(world->arg, b);
	for (k = 1; k <= PROPOSAL_NIGHT; k++) {
		effect = world->effect(world->arg);
		world->noise(world->arg, a);
		for (i = 0; i < PAIRS; i++)
			a[i] = a[i] + best - effect;
		level = proposal_rule_level(PROPOSAL_NIGHT_ALPHA, k, spent);
		if (!judge(a, b, others, level, &runs)) {
			spent += level;
			night.runs += (double)runs;
			/* The baseline runs once for all. */
			night.runs += runs > had ? (double)(runs - had) : 0;
			had = runs > had ? runs : had;
			others++;
			continue;
		}
		night.runs += (double)runs;
		night.kept_false += effect <= 0;
		night.kept_true += effect > 0;
		best -= effect;
		memcpy(b, a, sizeof b);
		had = runs;
		others = 0;
	}
	return night;
}
