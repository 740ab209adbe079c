/*
 * Nights of 100 proposals of known effect with the noise of recorded curves: what the
 * rule for proposals keeps, beside what people do.  Each line of the input is the
 * noise of one setting, values of mean 0 and deviation 1 (bench/referee.sh); a night
 * draws its runs from one line.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/evidence/proposal-rule.h"

enum { NIGHTS = 2000, NIGHT = 100, PAIRS = 30, RULES = 4 };
#define ALPHA 0.05

struct line {
	double *v;
	size_t n;
};

struct night {
	int kept_false, kept_true;
	double runs;
};

/* Whether a is kept in the place of b; runs: of a. */
static bool
referee_judge(
    int rule, const double *a, const double *b, double level, size_t *runs)
{
	double mean = 0, squares = 0;
	size_t i;

	switch (rule) {
	case 0:
		return proposal_rule_judge(a, b, PAIRS, PAIRS, level, runs) ==
		       PROPOSAL_KEPT;
	case 1:
		*runs = 1;
		return a[0] < b[0];
	case 2:
		*runs = 3;
		return a[0] + a[1] + a[2] < b[0] + b[1] + b[2];
	default:
		*runs = 10;
		for (i = 0; i < 10; i++)
			mean += (b[i] - a[i]) / 10;
		for (i = 0; i < 10; i++)
			squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
		return mean / sqrt(squares / 90) > 1.833;
	}
}

static void
referee_runs_draw(
    struct rng *r, const struct line *noise, double by, double *to)
{
	size_t i;

	for (i = 0; i < PAIRS; i++)
		to[i] =
		    by + noise->v[(size_t)(rng_uniform(r) * (double)noise->n)];
}

/* A proposal in five helps by this many deviations; 0: none does. */
static struct night
referee_night(struct rng *r, int rule, const struct line *noise, double helps)
{
	double a[PAIRS], b[PAIRS], level, spent = 0, best = 0, effect;
	struct night night = { .runs = PROPOSAL_RULE_BAND };
	size_t k, runs, had = PROPOSAL_RULE_BAND;

	referee_runs_draw(r, noise, 0, b);
	for (k = 1; k <= NIGHT; k++) {
		effect = rng_uniform(r) < 0.2 ? helps : 0;
		referee_runs_draw(r, noise, best - effect, a);
		level = proposal_rule_levels(ALPHA, k) - spent;
		if (!referee_judge(rule, a, b, level, &runs)) {
			spent += level;
			night.runs += (double)runs;
			/* The baseline runs once for all. */
			night.runs += runs > had ? (double)(runs - had) : 0;
			had = runs > had ? runs : had;
			continue;
		}
		night.runs += (double)runs;
		night.kept_false += effect <= 0;
		night.kept_true += effect > 0;
		best -= effect;
		memcpy(b, a, sizeof b);
		had = runs;
	}
	return night;
}

static void
referee_row_print(int rule, const struct line *lines, size_t n, double helps)
{
	static const char *const names[RULES] = { "ours", "once better",
		"mean of three", "t test of ten" };
	double wrong = 0, kept_false = 0, kept_true = 0, runs = 0;
	struct night night;
	struct rng r;
	size_t i;

	rng_init(&r, 41, 1);
	for (i = 0; i < NIGHTS; i++) {
		night = referee_night(&r, rule,
		    &lines[(size_t)(rng_uniform(&r) * (double)n)], helps);
		wrong += night.kept_false > 0;
		kept_false += night.kept_false;
		kept_true += night.kept_true;
		runs += night.runs;
	}
	printf("%3.1f %-14s %5.1f %% of nights; a night: %5.2f false, %5.2f "
	       "true, %4.0f runs; %.2f true for 100 runs\n",
	    helps, names[rule], 100 * wrong / NIGHTS, kept_false / NIGHTS,
	    kept_true / NIGHTS, runs / NIGHTS, 100 * kept_true / runs);
}

int
main(void)
{
	static const double effects[] = { 0, 0.5, 1, 2 };
	struct line *lines = NULL;
	char *text = NULL, *at, *end;
	size_t n = 0, cap = 0, i;
	double value;
	int rule;

	while (getline(&text, &cap, stdin) > 0) {
		lines = xreallocarray(lines, n + 1, sizeof *lines);
		lines[n] = (struct line){ 0 };
		for (at = text;; at = end) {
			value = strtod(at, &end);
			if (end == at)
				break;
			lines[n].v = xreallocarray(
			    lines[n].v, lines[n].n + 1, sizeof *lines[n].v);
			lines[n].v[lines[n].n++] = value;
		}
		n += lines[n].n > 0;
	}
	free(text);
	if (n == 0)
		return 1;
	printf("# %zu settings\n", n);
	for (i = 0; i < 4; i++)
		for (rule = 0; rule < RULES; rule++)
			referee_row_print(rule, lines, n, effects[i]);
	for (i = 0; i < n; i++)
		free(lines[i].v);
	free(lines);
	return 0;
}
