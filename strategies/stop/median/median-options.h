/*
 * Shared by the rules of the median family: reading common options, and the
 * table entry of a rule.
 */

#ifndef HPOTUNE_MEDIAN_OPTIONS_H
#define HPOTUNE_MEDIAN_OPTIONS_H

#include "strategies/stop/median/median-engine.h"
#include "strategies/stop/stop-options.h"

/* Set guard and diverged_after of the rule from the options of these names. */
void
median_options_guards(struct median_rule *, const struct stop_options_reader *);

/*
 * Table entry of a rule: opener(state, name, reader, env, err) fills a
 * median_rule and opens it, judger judges.
 */
#define MEDIAN_FAMILY_RULE(                                                   \
    symbol, rule_name, table, opener, judger, words, from)                    \
	static int open_##symbol(void **state,                                \
	    const struct option_value *values, const struct stopper_env *env, \
	    struct err *e)                                                    \
	{                                                                     \
		struct stop_options_reader r = { table, values };             \
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
		.open = open_##symbol,                                        \
		.close = median_engine_close,                                 \
		.observe = median_engine_observe,                             \
		.ended = median_engine_ended,                                 \
		.judge = judger,                                              \
		.median = median_engine_view,                                 \
	}

#endif /* HPOTUNE_MEDIAN_OPTIONS_H */
