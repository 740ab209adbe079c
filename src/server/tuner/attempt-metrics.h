/*
 * The metrics that the open attempt of a trial has reported: their names, how
 * far each has come, and how often, so that a mistake of the program does not
 * fill the disk; and which reports are recorded already, for launchers that may
 * deliver one twice.
 */

#ifndef HPOTUNE_ATTEMPT_METRICS_H
#define HPOTUNE_ATTEMPT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_event;
struct live_trial;
struct tuner;

/* A report without a step, by which it is known when it comes again. */
struct attempt_report {
	int64_t time_us;
	double value;
};

struct attempt_metric {
	char *name;
	int64_t last_step; /* the greatest it has reported */
	/* By time; kept for launchers that may say things again. */
	struct attempt_report *seen;
	size_t n_seen, cap_seen;
	bool seen_read; /* what the store had is in it */
};

/* All zero: none yet. */
struct attempt_metrics {
	struct attempt_metric *list;
	size_t n;
	size_t next; /* most likely: reports repeat their order */
	int64_t reports[2]; /* [1] of the objective, [0] of the others */
	bool warned_names; /* that there are too many metrics */
	bool warned_reports[2]; /* … and too many reports */
};

/* Forget all; also what frees it. */
void attempt_metrics_clear(struct attempt_metrics *);
/* One read back from the store: its greatest step, and how many reports. */
void attempt_metrics_restore(struct attempt_metrics *, const char *name,
    int64_t last_step, int64_t reports, bool objective);
/* The greatest step of any metric, or 0. */
int64_t attempt_metrics_last_step(const struct attempt_metrics *);

/*
 * The metric of a report (ev is a LAUNCH_REPORT), or NULL when it is not to be
 * recorded: it is already, or there are too many, which the user hears once.
 * *step: as given, or the next one.
 */
struct attempt_metric *attempt_metrics_accept(struct tuner *,
    struct live_trial *, const struct launch_event *ev, int64_t *step);
/* It is recorded. */
void attempt_metrics_recorded(
    struct attempt_metric *, const struct launch_event *ev);

#endif /* HPOTUNE_ATTEMPT_METRICS_H */
