/*
 * Nights of 100 proposals of known effect, for the test of the rule for proposals and
 * for bench/referee: what that rule keeps, and what people do in its place.  Losses are
 * in deviations of a run.
 */

#ifndef HPOTUNE_PROPOSAL_NIGHT_H
#define HPOTUNE_PROPOSAL_NIGHT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	PROPOSAL_NIGHT = 100, /* proposals of a night */
	PROPOSAL_NIGHT_PAIRS = 100 /* runs of one at the most */
};
#define PROPOSAL_NIGHT_ALPHA 0.05

/* What a judge makes of one night. */
struct proposal_night {
	int kept_false, kept_true;
	double runs;
};

/*
 * A way to judge a on b, losses of PAIRS runs: whether it is kept; others: proposals
 * since one was; runs: of a.
 */
typedef bool proposal_night_judge(const double *a, const double *b,
    size_t others, double level, size_t *runs);

/* The rule of src/model/evidence. */
proposal_night_judge proposal_night_rule;
/* What an agent does: keep it if it is better once. */
proposal_night_judge proposal_night_once;
proposal_night_judge proposal_night_mean_of_three;
/* A paired t test of ten at 5 %. */
proposal_night_judge proposal_night_t_test;

struct proposal_night_world {
	void *arg;
	/* The noise of PAIRS runs. */
	void (*noise)(void *arg, double *to);
	/* How much better the next proposal is than the baseline. */
	double (*effect)(void *arg);
};

struct proposal_night
proposal_night_run(proposal_night_judge *, const struct proposal_night_world *);

#endif /* HPOTUNE_PROPOSAL_NIGHT_H */
