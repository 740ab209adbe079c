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
struct stop_rule_set;
struct strategy;
struct study;

struct plugin_rule {
	const struct stopper *stopper;
	struct option_value *options;
	bool veto; /* it only prevents stops */
};

struct plugin_backend {
	const struct launcher *launcher;
	struct option_value *options;
};

struct plugins {
	const struct strategy *strategy;
	struct option_value *strategy_options;
	struct plugin_rule *rules; /* in the order of study.json */
	size_t n_rules;
	struct option_value *convergence; /* limits.convergence; NULL = no */
	struct plugin_backend *backends; /* in order of preference */
	size_t n_backends;
};

/*
 * Resolve every name, read every option block, and try what only opening
 * shows (rules that do not fit, patterns of trial.metrics); errors stand at
 * their place in study.json.  On -1 nothing is left to free.
 */
int plugins_read(struct plugins *, const struct study *, struct err *);
void plugins_free(struct plugins *);
/* The second half of plugins_read: what only trying shows. */
int plugins_check(const struct plugins *, const struct study *, struct err *);
/* Processes of one trial that share trial.batch. */
int plugins_replicas(const struct plugin_backend *, const struct study *);
/* Whether attempts would find what they are started with, where that can be
 * told from here; an error names the key of study.json. */
int plugins_check_programs(
    const struct plugins *, const struct study *, struct err *);
/* Dollars of one attempt at most; 0 = it costs nothing; NaN = not known. */
double plugins_worst_cost(const struct plugin_backend *, const struct study *);
/* Milliseconds of one attempt at most; 0 = no bound. */
int64_t plugins_worst_ms(const struct plugin_backend *, const struct study *);
/* Open the rules as one; study gives them max_steps, the goal and its name. */
int plugins_open_rules(struct stop_rule_set **, const struct plugins *,
    const struct study *, struct err *);

#endif /* HPOTUNE_PLUGINS_H */
