/*
 * The plug-ins a study names, found in the three lists, with their options
 * read and checked.  The tuner opens them; "hpotune check" only looks.
 */

#ifndef HPOTUNE_PLUGINS_H
#define HPOTUNE_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct launcher;
struct option_value;
struct stopper;
struct stopper_set;
struct strategy;
struct study;

struct plug_rule {
	const struct stopper *stopper;
	struct option_value *options;
	bool veto; /* it only prevents stops */
};

struct plug_backend {
	const struct launcher *launcher;
	struct option_value *options;
};

struct plugs {
	const struct strategy *strategy;
	struct option_value *strategy_options;
	struct plug_rule *rules; /* in the order of study.json */
	size_t n_rules;
	struct option_value *convergence; /* limits.convergence; NULL = no */
	struct plug_backend *backends; /* in order of preference */
	size_t n_backends;
};

/*
 * Resolve every name, read every option block, and try what only opening
 * shows (rules that do not fit, patterns of trial.metrics); errors stand at
 * their place in study.json.  On -1 nothing is left to free.
 */
int plugs_read(struct plugs *, const struct study *, struct err *);
void plugs_free(struct plugs *);
/* The second half of plugs_read: what only trying shows. */
int plugs_try(const struct plugs *, const struct study *, struct err *);
/* Processes of one trial that share trial.batch. */
int plugs_replicas(const struct plug_backend *, const struct study *);
/* Whether attempts would find what they are started with, where that can be
 * told from here; an error names the key of study.json. */
int
plugs_find_programs(const struct plugs *, const struct study *, struct err *);
/* Dollars of one attempt at most; 0 = it costs nothing; NaN = not known. */
double plugs_worst_cost(const struct plug_backend *, const struct study *);
/* Milliseconds of one attempt at most; 0 = no bound. */
int64_t plugs_worst_ms(const struct plug_backend *, const struct study *);
/* Open the rules as one; study gives them max_steps, the goal and its name. */
int plugs_open_rules(struct stopper_set **, const struct plugs *,
    const struct study *, struct err *);

#endif /* HPOTUNE_PLUGINS_H */
