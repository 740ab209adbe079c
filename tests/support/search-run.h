/*
 * A strategy on a test function (tests/support/test-functions.h): suggest,
 * place, complete, as the server does it, in memory.
 */

#ifndef HPOTUNE_SEARCH_RUN_H
#define HPOTUNE_SEARCH_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "tests/support/test-functions.h"

struct kernels;

struct search_run_state {
	const struct function *function;
	const struct strategy *strategy;
	const struct kernels *kernels; /* from search_run_open: a CPU's */
	struct json_doc *space_doc, *options_doc;
	struct space *space;
	struct option_value *options;
	struct history *history;
	uint64_t seed;
	struct err err;
};

/* options: a JSON object.  False, with err: the options are wrong. */
bool search_run_open(struct search_run_state *, const struct function *,
    const char *strategy, const char *options, uint64_t seed);
void search_run_close(struct search_run_state *);
/* Ask for the next point, without placing it; 0, 1 or -1 as suggest. */
int search_run_ask(struct search_run_state *, double *x);
/* Ask and place: the trial's number, or 0. */
int64_t search_run_next(struct search_run_state *);
/* The trial completes with what the function gives; its first loss. */
double search_run_tell(struct search_run_state *, int64_t trial);
/*
 * n trials, of which parallel run at a time and end in the order they came.
 * Returns the least feasible loss, or the hypervolume of several.  NaN when it
 * was not answered.
 */
double search_run(struct search_run_state *, int n, int parallel);
/* What there is so far, as search_run says it. */
double search_run_found(const struct search_run_state *);

#endif /* HPOTUNE_SEARCH_RUN_H */
