/*
 * The plug-ins that a study names, found in the three lists, with their options
 * read and checked.  The tuner opens them; "hpotune check" only reads.
 */

#ifndef HPOTUNE_PLUGINS_H
#define HPOTUNE_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct backend_type;
struct option_value;
struct stopper;
struct stop_rule_set;
struct strategy;
struct study;

struct plugin_rule {
	const struct stopper *stopper;
	struct option_value *options;
	bool veto; /* it only vetoes stops */
};

struct plugin_backend {
	const struct backend_type *type;
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
 * Resolve all names, read all option blocks, and check what only opening shows
 * (rules that conflict, patterns of trial.metrics); errors name their position
 * in study.json.  On -1 there is nothing to free.
 */
int plugins_read(struct plugins *, const struct study *, struct err *);
void plugins_free(struct plugins *);
/*
 * The option second_look of a rule: into share where it is given or the rule
 * has a default (careful), the greatest of several.  A rule that only vetoes has no say.
 */
void
plugins_second_look(const struct plugin_rule *, double *share, bool *given);
/* Why trials start cold in spite of trial.warm, one clause; NULL: they need not. */
const char *plugins_cold(const struct plugin_backend *, const struct study *);
/* Processes of one trial that share trial.batch. */
int plugins_replicas(const struct plugin_backend *, const struct study *);
/*
 * Whether the programs, folders and templates of attempts exist, as far as this machine
 * can check; an error names the key of study.json.
 */
int plugins_check_programs(
    const struct plugins *, const struct study *, struct err *);
/* Whether this machine may use all backends: credentials; may ask services. */
int plugins_check_access(
    const struct plugins *, const struct study *, struct err *);
/* Upper bound of the cost of one attempt, dollars; 0 = free; NaN = unknown. */
double plugins_worst_cost(const struct plugin_backend *, const struct study *);
/* As usual_cost of backend.h; NaN: nothing is known of it. */
double plugins_usual_cost(const struct plugin_backend *, const struct study *,
    int64_t *ms, struct buf *on);
/* GPUs of one attempt, which are counted; 0 = none; -1 = not counted. */
int64_t
plugins_attempt_gpus(const struct plugin_backend *, const struct study *);
/* Upper bound of the duration of one attempt, milliseconds; 0 = none. */
int64_t plugins_worst_ms(const struct plugin_backend *, const struct study *);
/*
 * Open the rules as one; they take max_steps, the goal and the study's name
 * from study.
 */
int plugins_open_rules(struct stop_rule_set **, const struct plugins *,
    const struct study *, struct err *);

/* Whether trials of the strategy of this name continue earlier ones. */
bool plugins_strategy_continues(const char *name);

#endif /* HPOTUNE_PLUGINS_H */
