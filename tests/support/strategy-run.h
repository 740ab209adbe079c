/*
 * Repeated suggestions of a strategy in memory, with space and options in JSON;
 * the caller decides how each trial ends. tests/support/search-run.h has test
 * functions.
 */

#ifndef HPOTUNE_STRATEGY_RUN_H
#define HPOTUNE_STRATEGY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

enum { DIMS_MAX = 8 };

#define UNIT(name) "\"" name "\": {\"type\": \"float\", \"min\": 0, \"max\": 1}"

struct strategy_run {
	struct json_doc *space_doc, *options_doc;
	const struct strategy *strategy;
	const struct kernels *kernels; /* NULL, until the caller sets it */
	struct option_value *options;
	struct space *space;
	struct history *history;
	uint64_t seed;
};

/* How each trial of a history ends; mix: one of the others, by its number. */
enum ending { END_EQUAL, END_NAN, END_FAIL, END_STOP, END_INFINITE, END_MIX };

/* A space with a parameter of every kind, 8 in all. */
extern const char strategy_run_small[];

/* What is wrong with the space or the options is printed. */
void strategy_run_open(struct strategy_run *, const char *strategy,
    const char *space, const char *options, uint64_t seed);
void strategy_run_close(struct strategy_run *);
/* The next point, added to the history as one that runs; 0 = no answer. */
int64_t strategy_run_next(struct strategy_run *, double *x);
/* One trial in three reports before it ends. */
void strategy_run_end(struct strategy_run *, int64_t trial, enum ending);
/* Whether each number is in the cube, or NaN for one that is inactive. */
bool strategy_run_in_cube(const struct strategy_run *, const double *x);

#endif /* HPOTUNE_STRATEGY_RUN_H */
