/*
 * The first points of a model-based strategy, before there are enough finished
 * trials.  Any strategy has the two options and the calls below, under
 * the same names.
 *
 *	static const struct option options[] = { STARTUP_OPTIONS("10"), …
 *	if (startup_wanted_asked(values, ask->history))
 *		return startup_suggest(out, ask, values, e);
 *
 * startup_wanted: only trials that have finished count, and with eight workers
 * seven more trials come from the start than with one.  startup_wanted_asked:
 * those that run count, too, once a few have finished.  With one worker the two
 * are the same.
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
#define STARTUP_OPTIONS(def_)                                \
	{                                                    \
		.name = "n_startup_trials",                  \
		.type = OPTION_INT,                          \
		.max = 1e9,                                  \
		.def = def_,                                 \
		.help = "trials before the model is used",   \
	},                                                   \
	{                                                    \
		.name = "startup", .type = OPTION_TEXT,      \
		.choices = startup_choices, .def = "random", \
		.help = "method for the first points",       \
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
/*
 * Whether fewer than n trials have a usable result, and also fewer than n have
 * one or run, or fewer than five have one.
 */
bool startup_lasts(const struct history *, double n);
/*
 * Whether there is one objective and no parameter with more than one value is an
 * unordered choice or has a condition.  history may be NULL.
 */
bool startup_is_of_numbers(const struct space *, const struct history *);
/*
 * How many trials come before the first model of gp where no option says it: 6
 * of numbers alone (startup_is_of_numbers); 5 with one objective, without
 * conditions, and where at least half of the parameters are choices or numbers
 * of at most 16 values; otherwise 10.  history may be NULL.
 */
double startup_trials(const struct space *, const struct history *);
/*
 * Whether fewer than n_startup_trials have finished; for _asked as in
 * startup_lasts.  history may be NULL.
 */
bool startup_wanted(const struct option_value *, const struct history *);
bool startup_wanted_asked(const struct option_value *, const struct history *);
/* Fill in one of the first points; results as of strategy.suggest. */
int startup_suggest(struct suggestion *, const struct strategy_ask *,
    const struct option_value *, struct err *);

#endif /* HPOTUNE_STARTUP_H */
