/*
 * Scores some hundreds of settings of the rule median on recorded curves: which
 * would have saved most without stopping the best trial.
 */

#ifndef HPOTUNE_POLICY_SEARCH_H
#define HPOTUNE_POLICY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/replay/replay.h"

struct curve_file;
struct buf;

struct policy_setting {
	const char *value, *reference;
	bool completed; /* only completed trials form the pool */
	bool guard;
	bool as_is; /* median with its default options */
	int percentile, min_trials;
	int interval; /* decides at every interval-th report */
	int warmup; /* percent of the steps of a trial */
	struct replay_sum sum;
	bool best; /* no other one saves more and kills no more */
};

struct policy_grid {
	struct policy_setting *policies; /* the first: median by default */
	size_t n;
};

void policy_grid_open(struct policy_grid *);
void policy_grid_close(struct policy_grid *);
/*
 * Add plan.seeds studies drawn from the curves to the sum of each policy; the
 * same studies as replay_simulate draws.
 */
void policy_search_run(struct policy_grid *, const struct curve_file *,
    const struct replay_plan *);
/* Fewest curves of one file that are halved for a test of the choice. */
enum { POLICY_SEARCH_HALVES = 40 };
/*
 * The same with each half of the curves, which plan.seed draws: the
 * studies of a half have at most as many trials as the half has curves.
 */
void policy_search_halves(struct policy_grid halves[2],
    const struct curve_file *, const struct replay_plan *);
/* Mark the best, and return the recommended one. */
const struct policy_setting *policy_grid_choose(struct policy_grid *);
/* Add the sums of another grid of the same settings. */
void policy_grid_add(struct policy_grid *, const struct policy_grid *);
/* What was chosen on one half of the files, and how it did on the other. */
struct policy_held {
	const struct policy_setting *chosen, *held; /* of halves; NULL: none */
	/*
	 * A choice that the other half contradicted; told when chosen is NULL.
	 */
	const struct policy_setting *lost, *lost_held;
};
/*
 * Choose on each half of the files; a choice holds unless it stops the best
 * trial on the other half in more than 1 % of the studies and more often than
 * median by default does there.  Returns the setting of all, the one that saves
 * more when both hold, median by default when none does.
 */
const struct policy_setting *policy_grid_validate(
    struct policy_held *, struct policy_grid *all, struct policy_grid *halves);
/* The sums as shares of all studies. */
struct policy_means {
	double saved, killed, regret;
};
struct policy_means policy_grid_means(const struct policy_setting *);
/* The value of "stopping" in study.json. */
void policy_grid_put_rule(struct buf *, const struct policy_setting *);

#endif /* HPOTUNE_POLICY_SEARCH_H */
