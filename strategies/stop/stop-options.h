/*
 * What the rules of the median family share when their options are listed and
 * read.
 */

#ifndef HPOTUNE_STOP_OPTIONS_H
#define HPOTUNE_STOP_OPTIONS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/plugin-options.h"
#include "strategies/stop/median/median-engine.h"

struct stop_reader {
	const struct option *table;
	const struct option_value *values;
};

double stop_number(const struct stop_reader *, const char *name);
const char *stop_text(const struct stop_reader *, const char *name);
/* A whole number that may be beyond what int64_t holds. */
int64_t stop_count(const struct stop_reader *, const char *name);
/* The options guard and diverged_after. */
void stop_read_guards(struct median_rule *, const struct stop_reader *);

/* Rows of option tables; def is the default as text. */
#define OPTION_COUNT(name, least, def, words)                      \
	{                                                          \
		name, OPTION_INT, least, DBL_MAX, def, NULL, words \
	}
#define OPTION_GUARD(def)                                                     \
	{                                                                     \
		"guard", OPTION_BOOL, 0, 0, def, NULL,                        \
		    "stop nobody while the rule would have stopped the best " \
		    "completed trial"                                         \
	}
#define OPTION_DIVERGED(def)                                              \
	OPTION_COUNT("diverged_after", 0, def,                            \
	    "so many reports in a row that are not finite stop a trial; " \
	    "0 = never")
#define OPTION_CLOSE                                     \
	{                                                \
		NULL, OPTION_END, 0, 0, NULL, NULL, NULL \
	}

/*
 * One rule of the family: opener(state, name, reader, env, err) fills a
 * median_rule and opens it, judger judges.
 */
#define FAMILY_RULE(symbol, rule_name, table, opener, judger, words, from)    \
	static int open_##symbol(void **state,                                \
	    const struct option_value *values, const struct stopper_env *env, \
	    struct err *e)                                                    \
	{                                                                     \
		struct stop_reader r = { table, values };                     \
                                                                              \
		return opener(state, rule_name, &r, env, e);                  \
	}                                                                     \
                                                                              \
	extern const struct stopper stopper_##symbol;                         \
	const struct stopper stopper_##symbol = {                             \
		.name = rule_name,                                            \
		.about = words,                                               \
		.source = from,                                               \
		.options = table,                                             \
		.wants_curves = true,                                         \
		.open = open_##symbol,                                        \
		.close = median_close,                                        \
		.observe = median_observe,                                    \
		.ended = median_ended,                                        \
		.judge = judger,                                              \
		.median = median_view,                                        \
	}

#endif /* HPOTUNE_STOP_OPTIONS_H */
