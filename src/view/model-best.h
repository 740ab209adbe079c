/* The trial that a model of the results holds best, where noise is large. */

#ifndef HPOTUNE_MODEL_BEST_H
#define HPOTUNE_MODEL_BEST_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct objectives;
struct store;

struct model_best {
	int64_t trial, looks; /* held best, and with the best result */
	double result, result_looks;
	double expected, expected_looks; /* of a further trial there */
	double noise; /* deviation of the results of a setting */
};

/*
 * From the best and the newest 128 completed trials.  1; 0: results are not
 * noisy, the two trials are the same, there are too few, or several objectives,
 * constraints or replicates; -1.
 */
int model_best_find(struct model_best *, struct store *,
    const struct objectives *, struct err *);
/*
 * Append "results have noise of about 0.2: trial 31 is held best, expected 0.35 …";
 * nothing when model_best_find returns 0.
 */
int model_best_put(struct buf *, struct store *, const struct objectives *,
    int digits, struct err *);

#endif /* HPOTUNE_MODEL_BEST_H */
