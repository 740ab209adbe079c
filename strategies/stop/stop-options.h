/* Options of stopping rules: rows that several tables have. */

#ifndef HPOTUNE_STOP_OPTIONS_H
#define HPOTUNE_STOP_OPTIONS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/plugin-options.h"
#include "strategies/stop/stop-verdict.h"

/* Rows of option tables; def is the default as text. */
#define OPTION_COUNT(name, least, def, words)                      \
	{                                                          \
		name, OPTION_INT, least, DBL_MAX, def, NULL, words \
	}
#define OPTION_GUARD(def)                                                 \
	{                                                                 \
		"guard", OPTION_BOOL, 0, STOP_GUARD_MAX, def, NULL,       \
		    "stop no trial while the rule would have stopped "    \
		    "the best completed trial, or one of this many best " \
		    "ones"                                                \
	}
#define OPTION_DIVERGED(def)                                             \
	OPTION_COUNT("diverged_after", 0, def,                           \
	    "stop a trial after this many non-finite reports in a row; " \
	    "0 = never")
/* Of rules that may read a series (stop-series.c); choices end with NULL. */
#define OPTION_SERIES                                                         \
	{ "metric", OPTION_TEXT, 0, 0, NULL, NULL,                            \
		"the metric that is judged; when not given, the objective" }, \
	    { "goal", OPTION_TEXT, 0, 0, NULL, stop_goal_choices,             \
		    "whether that metric is minimized or maximized" },        \
	{                                                                     \
		"by", OPTION_TEXT, 0, 0, "steps", stop_by_choices,            \
		    "compare values at the same step, time or cost"           \
	}
extern const char *const stop_goal_choices[];
extern const char *const stop_by_choices[];
/* How every rule that stops ends its table. */
#define OPTION_CLOSE                                                           \
	{ "second_look", OPTION_SHARE, 0, 0, NULL, NULL,                       \
		"budget of second looks at stopped trials, as a share of the " \
		"full cost; 25% where they keep checkpoints" },                \
	{                                                                      \
		NULL, OPTION_END, 0, 0, NULL, NULL, NULL                       \
	}

#endif /* HPOTUNE_STOP_OPTIONS_H */
