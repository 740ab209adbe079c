/*
 * Nights of 100 proposals of known effect with the noise of recorded curves: what the
 * rule for proposals keeps, beside what people do.  Each line of the input is the
 * noise of one setting, values of mean 0 and deviation 1 (bench/referee.sh); a night
 * draws its runs from one line.
 */

#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/proposal-night.h"

enum { NIGHTS = 2000, RULES = 4 };

struct line {
	double *v;
	size_t n;
};

/* What a night is made of: a proposal in five helps, by so many deviations. */
struct world {
	struct rng r;
	const struct line *noise;
	double helps;
};

static void
referee_noise(void *arg, double *to)
{
	struct world *w = arg;
	size_t i;

	for (i = 0; i < PROPOSAL_NIGHT_PAIRS; i++)
		to[i] =
		    w->noise
			->v[(size_t)(rng_uniform(&w->r) * (double)w->noise->n)];
}

static double
referee_effect(void *arg)
{
	struct world *w = arg;

	return rng_uniform(&w->r) < 0.2 ? w->helps : 0;
}

static void
referee_row_print(int rule, const struct line *lines, size_t n, double helps)
{
	static const char *const names[RULES] = { "ours", "once better",
		"mean of three", "t test of ten" };
	static proposal_night_judge *const judges[RULES] = {
		proposal_night_rule, proposal_night_once,
		proposal_night_mean_of_three, proposal_night_t_test
	};
	struct world w = { .helps = helps };
	const struct proposal_night_world world = {
		.arg = &w, .noise = referee_noise, .effect = referee_effect
	};
	double wrong = 0, kept_false = 0, kept_true = 0, runs = 0;
	struct proposal_night night;
	size_t i;

	rng_init(&w.r, 41, 1);
	for (i = 0; i < NIGHTS; i++) {
		w.noise = &lines[(size_t)(rng_uniform(&w.r) * (double)n)];
		night = proposal_night_run(judges[rule], &world);
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
