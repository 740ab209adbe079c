/*
 * The metrics that the open attempt of a trial has reported: names, greatest
 * steps and numbers of reports, limited so that a mistake of the program does
 * not fill the disk; and duplicate detection, for backends that may deliver a
 * report twice.
 */

#ifndef HPOTUNE_ATTEMPT_METRICS_H
#define HPOTUNE_ATTEMPT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stopper.h"

struct launch_event;
struct live_trial;
struct tuner;

/* A report without a step, kept to recognize a duplicate. */
struct attempt_report {
	int64_t time_us;
	double value;
};

struct attempt_metric {
	char *name;
	int64_t last_step; /* the greatest it has reported */
	/* By time; kept for backends that may deliver reports twice. */
	struct attempt_report *seen;
	size_t n_seen, cap_seen;
	bool seen_read; /* includes what the database has */
	struct attempt_places *places; /* attempt-steps.c; NULL: none yet */
	/* The first report that this server has seen, and whether its step came again. */
	bool has_first, again;
	int64_t first_step;
	double first_value;
};

/* All zero: none yet. */
struct attempt_metrics {
	struct attempt_metric *list;
	size_t n;
	size_t next; /* likely next one: reports repeat their order */
	int64_t reports[2]; /* [1] of the objective, [0] of the others */
	int64_t up_us; /* turn in which this server saw it run; 0 = not yet */
	/* Turn of the first report without a time; 0 = none, or not seen. */
	int64_t first_us;
	/* Used up by earlier attempts, when past_read; by it, at a report. */
	struct stop_spent past, spent;
	bool past_read;
	/* What is added to steps of a library that begins again (attempt-steps.c) */
	int64_t offset;
	bool offset_known;
	bool warned_names; /* warned: too many metrics */
	bool warned_reports[2]; /* … too many reports */
};

/* Clear all; also frees the memory. */
void attempt_metrics_clear(struct attempt_metrics *);
/* Add one read from the database: its greatest step and number of reports. */
void attempt_metrics_restore(struct attempt_metrics *, const char *name,
    int64_t last_step, int64_t reports, bool objective);
/* How many reports of any metric there were. */
int64_t attempt_metrics_reports(const struct attempt_metrics *);
/* The greatest step of any metric, or 0. */
int64_t attempt_metrics_last_step(const struct attempt_metrics *);

/*
 * The metric of a report (ev is a LAUNCH_REPORT; aim: of an objective or a
 * constraint, which are never too many), or NULL when it is not to be
 * recorded: a duplicate, or beyond a limit, which is logged once. *step: as
 * given, or the next one.
 */
struct attempt_metric *
attempt_metrics_accept(struct tuner *, struct live_trial *,
    const struct launch_event *ev, bool aim, int64_t *step);
/*
 * What the trial has used up at a report of this time: its ended attempts, and
 * the seconds since the open one began, in dollars by the price of its backend
 * (0 where it has none).  Never less than at an earlier report.
 */
struct stop_spent
attempt_metrics_spent(struct tuner *, struct live_trial *, int64_t time_us);
/*
 * Whether a report that was recorded shows that the steps of its attempt have begun
 * again: another value of the first step, after two steps or more, and then one of
 * a step that is reported, too.
 */
bool attempt_metrics_begins_again(
    struct attempt_metric *, int64_t step, double value);
/* Mark a report as recorded. */
void attempt_metrics_recorded(
    struct attempt_metric *, const struct launch_event *ev);

#endif /* HPOTUNE_ATTEMPT_METRICS_H */
