/*
 * Which checkpoints of ended trials are kept: the best ones, the last ones, and
 * those that a trial may still continue from, under a limit of bytes.
 */

#ifndef HPOTUNE_KEEP_H
#define HPOTUNE_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The object "keep" of study.json. */
struct keep_rule {
	bool given; /* false: every checkpoint is kept */
	int64_t best; /* so many of the best trials */
	int64_t last; /* so many of the last trials */
	int64_t bytes; /* all of them together; 0 = unlimited */
};

/* A checkpoint. */
struct keep_item {
	int64_t trial;
	bool needed; /* a trial may continue from it */
	bool ranked; /* completed, with a result */
	double violation; /* of constraints; 0 = none */
	double loss; /* smaller is better */
	bool front; /* on the Pareto front of several objectives */
	bool hopeful; /* further replicates may make it one of the best */
	int64_t bytes;
	bool deleted; /* the answer */
};

/*
 * Set deleted of each.  What is needed is never deleted.  Above the limit the
 * last ones are deleted from the oldest on, then the hopeful ones, then the best
 * ones, from the worst on; the best one stays, and so does a front.  The order of the items changes.
 */
void keep_choose(const struct keep_rule *, struct keep_item *, size_t n);

#endif /* HPOTUNE_KEEP_H */
