/*
 * The first points of a model-based strategy, before there are enough finished
 * trials.  Any strategy has the two options and the three calls below, under
 * the same names.
 *
 *	static const struct option options[] = { STARTUP_OPTIONS("10"), …
 *	if (startup_wanted(values, ask->history))
 *		return startup_suggest(out, ask, values, e);
 *
 * Trials of other studies (warm_start) count as finished: with enough of them
 * the first point comes from the model.
 */

#ifndef HPOTUNE_STARTUP_H
#define HPOTUNE_STARTUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/plugin-options.h"

struct err;
struct history;
struct space;
struct strategy_ask;
struct suggestion;

extern const char *const startup_choices[];

/* Rows of a table of options; def is a text. */
#define STARTUP_OPTIONS(def_)                                       \
	{                                                           \
		.name = "n_startup_trials",                         \
		.type = OPTION_INT,                                 \
		.max = 1e9,                                         \
		.def = def_,                                        \
		.help = "finished trials before the model is used", \
	},                                                          \
	{                                                           \
		.name = "startup", .type = OPTION_TEXT,             \
		.choices = startup_choices, .def = "random",        \
		.help = "method for the first points",              \
	}

/* For strategy.check: whether the first points are possible in this space. */
int
startup_check(const struct option_value *, const struct space *, struct err *);
/*
 * Number of trials with a usable result: completed, stopped or failed by
 * themselves.
 */
size_t startup_finished(const struct history *);
/*
 * Number of the trial that is the n-th with a usable result, in the order of
 * the numbers, those of other studies first; the last trial if there are fewer,
 * 0 if it is none of this study.
 */
int64_t startup_last(const struct history *, size_t n);
/* Whether there are fewer than n_startup_trials; history may be NULL. */
bool startup_wanted(const struct option_value *, const struct history *);
/* Fill in one of the first points; results as of strategy.suggest. */
int startup_suggest(struct suggestion *, const struct strategy_ask *,
    const struct option_value *, struct err *);

#endif /* HPOTUNE_STARTUP_H */
