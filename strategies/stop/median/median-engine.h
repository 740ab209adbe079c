/*
 * The median family: one engine, configured by a struct. median.c has the rules
 * that are pure configurations.
 */

#ifndef HPOTUNE_MEDIAN_ENGINE_H
#define HPOTUNE_MEDIAN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "strategies/stop/median/best-ranks.h"
#include "strategies/stop/median/pool.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stop/stop-verdict.h"
#include "strategies/stopper.h"
#include "strategies/stop/median/curve-summary.h"

struct curve;
struct history;

struct median_rule {
	const char *name;
	struct curve_summary_rule own; /* summary of the judged trial */
	struct pool_rule pool; /* what it is compared with */
	int64_t min_trials; /* minimum size of the pool */
	int64_t warmup_steps; /* steps below are not judged */
	int64_t warmup_reports; /* this many first reports are not judged */
	int64_t interval; /* judge every this many reports */
	int64_t guard; /* the guard tests this many best trials; 0 = none */
	int64_t spare; /* of pool.begun: the best that spare others; 0 = none */
	int64_t diverged_after; /* 0 = never */
};

/* State of an opened rule. */
struct median_engine {
	struct median_rule rule;
	struct stopper_env env;
	struct pool *pool;
	struct curve_summary_cache *own; /* values of judged trials */
	struct best_ranks *ranks; /* NULL: none spares another one */
	/* Where the guard last found the best trial stopped; a shortcut. */
	int64_t witness_trial;
	size_t witness;
};

/* Set guard and diverged_after from the options of these names. */
void median_engine_read(struct median_rule *, const struct option_value *);
/* Initialise a rule whose state begins with a zeroed struct median_engine. */
void median_engine_init(struct median_engine *, const struct median_rule *,
    const struct stopper_env *);
/*
 * Functions of struct stopper; close frees the state, which begins with a
 * struct median_engine.
 */
void median_engine_open(
    void **state, const struct median_rule *, const struct stopper_env *);
void median_engine_close(void *state);
void median_engine_observe(
    void *state, const struct history *, int64_t trial, int64_t step);
void median_engine_ended(void *state, const struct history *, int64_t trial);
void median_engine_judge(void *state, const struct history *, int64_t trial,
    int64_t step, struct judgement *);
bool median_engine_view(void *state, const struct history *, int64_t step,
    int64_t *trials, double *median);

/* Whether report i is judged, by warm-up, interval and lateness. */
bool median_engine_judges(
    const struct median_engine *, const struct curve *, size_t i);

/* Fill in why: "0.712 is below the median 0.803 of 12 trials at step 4". */
void median_engine_explain(
    const struct median_engine *, struct judgement *, int64_t step);

/*
 * Table entry of a rule: opener(state, name, values, env, err) fills a
 * median_rule and opens it, judger judges.
 */
#define MEDIAN_FAMILY_RULE(                                                   \
    symbol, rule_name, table, opener, judger, words, from)                    \
	static int open_##symbol(void **state,                                \
	    const struct option_value *values, const struct stopper_env *env, \
	    struct err *e)                                                    \
	{                                                                     \
		return opener(state, rule_name, values, env, e);              \
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

#endif /* HPOTUNE_MEDIAN_ENGINE_H */
