/* The series that a rule reads: another metric, or an axis other than steps. */

#ifndef HPOTUNE_STOP_SERIES_H
#define HPOTUNE_STOP_SERIES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct option_value;
struct stop_report;
struct stopper_env;

enum stop_axis { STOP_BY_STEPS, STOP_BY_SECONDS, STOP_BY_CENTS };

struct stop_series {
	char *metric; /* owned */
	char *against; /* a second metric on the same axis, or NULL; owned */
	enum stop_axis axis;
	struct history *curves; /* of metric */
	struct history *against_curves; /* NULL without against */
};

/* "step", "second", "cent" */
const char *stop_series_unit(const struct stop_series *);

/*
 * The series that these options of the rule name; *out is NULL when they name
 * none: the rule reads the objective by steps.  rule_env gets what the rule is
 * opened with.  ERR_USAGE: the goal of the metric is missing, or a share is
 * given of what has no known total.
 */
int stop_series_new(struct stop_series **out, struct stopper_env *rule_env,
    const char *rule, const struct option_value *values,
    const struct stopper_env *env, struct err *);

void stop_series_free(struct stop_series *);

/* Whether a series has curves of this metric. */
bool stop_series_reads(const struct stop_series *, const char *metric);

/*
 * Add a report of any metric.  True: it is of the metric, and the newest point
 * of the trial; *at is its position.
 */
bool stop_series_report(
    struct stop_series *, const struct stop_report *, int64_t *at);

/* The trial has ended in the history of the study, or runs again. */
void
stop_series_ended(struct stop_series *, const struct history *, int64_t trial);

/* The newest position of the trial, or -1. */
int64_t stop_series_at(const struct stop_series *, int64_t trial);

#endif /* HPOTUNE_STOP_SERIES_H */
