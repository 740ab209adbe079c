/*
 * What the engine and readers ask of the store beside single rows.  A function
 * that lists opens the rows of its answer, with these columns in this order; the
 * caller closes them (store_rows_close).  A function with an error returns 0, or
 * -1; one without it returns what it has when there is no answer.  No table is
 * named outside of src/store: what no view has is asked here.
 */

#ifndef HPOTUNE_QUERIES_H
#define HPOTUNE_QUERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct store;
struct store_rows;

/*
 * Expressions for queries over the views.  The study.json of the last run; the
 * name of the first objective's metric, and its goal; sums over all attempts; how
 * many trials are on the front.
 */
#define STORE_SQL_JSON "(SELECT json FROM t_study)"
#define STORE_SQL_METRIC "(SELECT metric FROM t_study)"
#define STORE_SQL_GOAL "(SELECT goal FROM t_study)"
#define STORE_SQL_GPU_SECONDS "(SELECT sum(gpu_seconds) FROM t_total)"
#define STORE_SQL_JOULES "(SELECT sum(energy) FROM t_total)"
#define STORE_SQL_FRONT_COUNT "(SELECT count(*) FROM t_front WHERE inside = 1)"
/* The sum of a column over the trials that have ended: trials, cost in dollars. */
#define STORE_SQL_ENDED(column)                                \
	"(SELECT sum(" column ") FROM t_total WHERE state IN " \
	"('completed', 'stopped', 'failed', 'cancelled'))"
/* A relation of the aims, objectives first: metric, goal; NULL: a constraint. */
#define STORE_SQL_AIMS "(SELECT metric, goal FROM t_aim ORDER BY position)"
/* The result of a trial in the aim at a position, a number from 1. */
#define STORE_SQL_RESULT(trial, position)                          \
	"(SELECT value FROM t_outcome AS o WHERE o.trial = " trial \
	" AND o.position = " position ")"
/*
 * A relation of the trials with what view trials has not: times in microseconds
 * (the creation is the study's), the class of the last end, the sum of the
 * violations.
 */
#define STORE_SQL_TRIALS                                                      \
	"(SELECT trial, state, objective, params, attempts, seconds, cost, "  \
	"why, forgotten, outside, setting, source, started_us, ended_us, "    \
	"violation, (SELECT created_us FROM t_study) AS created_us, (SELECT " \
	"end_class FROM t_attempt AS a WHERE a.trial = t.trial ORDER BY "     \
	"a.attempt DESC LIMIT 1) AS end_class FROM t_trial AS t)"

/* The relation to read all rows of a view from, in one pass. */
const char *store_view_source(struct store *, const char *view);

/* Trials. */

/* state, trials: of each state that any has. */
int store_list_counts(struct store_rows **, struct store *, struct err *);
/* How many there are; the greatest number; 0 on an error. */
int64_t store_trials_count(struct store *);
int64_t store_trials_last(struct store *);
/*
 * A text that says how far the trials are, to be compared alone: after an end of
 * the study, and while it waits.  False on an error.
 */
bool store_trials_mark(struct store *, bool end, char *mark, size_t n);
/* Settings of completed trials that reported; replicates are of one. */
int64_t store_settings_completed(struct store *);
/* Mean seconds of the newest 20 trials that have ended; 0 = none. */
double store_seconds_lately(struct store *);
/* Seconds of all trials that have ended, and of their GPUs. */
int store_seconds_used(
    struct store *, double *seconds, double *gpu_seconds, struct err *);
/*
 * trial, seconds that it took, or would have taken without its stop; with
 * settings: setting, their mean.  schema/006-pace.sql explains the seconds of a
 * step.
 */
int store_list_durations(
    struct store_rows **, struct store *, bool settings, struct err *);
/*
 * Of the newest trials, as many as a model of memory reads: how many ran out of
 * the memory of a GPU and of the machine, by the class or the words of their last
 * attempt.
 */
int store_memory_overruns(
    struct store *, double *of_gpu, double *of_machine, struct err *);
/*
 * Of the same: trial, or with settings setting, greatest peak of this memory in
 * bytes, whether one ran out of it, its parameters as JSON (with settings: of one of
 * its replicates).
 */
int store_list_memory_peaks(struct store_rows **, struct store *, bool of_gpu,
    bool settings, struct err *);
/* trial: those that failed and are not forgotten, by number. */
int store_list_failed(struct store_rows **, struct store *, struct err *);
/* trial: those that may be on the front, in the order of their ends. */
int store_list_feasible(struct store_rows **, struct store *, struct err *);
/* trial: replicates of a setting but the first, by number. */
int
store_list_later_replicates(struct store_rows **, struct store *, struct err *);
/* How many the user has the study forget. */
int store_trials_forgotten(struct store *, int64_t *n, struct err *);
/* trial, its own number of steps, 0 = none: all trials by number. */
int store_list_own_steps(struct store_rows **, struct store *, struct err *);
/* How many wait for a machine, and how many a rule has paused. */
int store_trials_waiting(
    struct store *, int64_t *machine, int64_t *paused, struct err *);
/* Whether the attempt with this uuid has not ended: 1, 0, or -1. */
int store_attempt_is_open(struct store *, const char *uuid, struct err *);
/* Attempts that have not ended and that another program runs (ask and tell). */
int store_attempts_asked(struct store *, int64_t *n, struct err *);
/*
 * trial, attempt, place or, where it has none, its backend, backend, start and end
 * in seconds since 1970, class of the end, GPUs.  By trial and attempt.
 */
int
store_list_attempt_times(struct store_rows **, struct store *, struct err *);
/*
 * Microseconds to the first report, and all, of the first 20 trials whose program
 * is a Python that was started cold; none where study.json has another command.
 */
int
store_list_python_starts(struct store_rows **, struct store *, struct err *);
/*
 * Whether a study with one objective has finished, with 20 completed trials at
 * least and up to 2,000 reports of theirs, and three of four that reported were
 * not stopped: of fewer, the completed ones are no picture of all.
 */
int store_curves_whole(struct store *, bool *whole, struct err *);
/* trial, goal (NULL: a constraint), value, violation: by trial and aim. */
int store_list_results(struct store_rows **, struct store *, struct err *);
/*
 * A SELECT of the front, freed by the caller: trial, the value in each objective
 * by position (names may occur twice), params; the best in the first one first.
 */
char *store_front_sql(size_t objectives, bool maximize);
/* position, trials on the front, least and greatest value: by objective. */
int store_list_front_ranges(
    struct store_rows **, struct store *, size_t objectives, struct err *);

/* Reports. */

/*
 * step on the axis of the medians, value: some parts of the curve of a trial, of
 * up to 32 reports each, spread over its steps, and its end; all of it where it
 * is shorter.  Each is found without reading those between.
 */
int store_list_curve_parts(struct store_rows **, struct store *, int64_t trial,
    int parts, struct err *);
/* step, median: the same of the medians, each point alone. */
int store_list_median_parts(
    struct store_rows **, struct store *, int points, struct err *);
/* The same as store_list_curve_parts of the whole curve. */
int store_list_curve(
    struct store_rows **, struct store *, int64_t trial, struct err *);
/* step, value, and where it is on their axis the median and its trials. */
int store_list_curve_beside_medians(
    struct store_rows **, struct store *, int64_t trial, struct err *);
/*
 * The first reports of a metric of a trial: step, value; by_time: milliseconds
 * since its start, value.
 */
int store_list_metric(struct store_rows **, struct store *, int64_t trial,
    const char *name, bool by_time, int most, struct err *);
/* name: metrics but the objective, in the order of their first reports. */
int store_list_metric_names(
    struct store_rows **, struct store *, int most, struct err *);
/* The same of those that one of these trials has reported. */
int store_list_metric_names_of(struct store_rows **, struct store *,
    const int64_t *trials, size_t n, int most, struct err *);
/*
 * name, value, time in microseconds, step, seq: reports of a trial recorded after
 * this seq, in that order; most -1: all.
 */
int store_list_reports_after(struct store_rows **, struct store *,
    int64_t trial, int64_t seq, int most, struct err *);
/* trial, name, step, value: all but the objective's; by trial and metric. */
int
store_list_other_reports(struct store_rows **, struct store *, struct err *);
/* trial, step, name, value, time in microseconds: all; by trial and time. */
int
store_list_reports_by_time(struct store_rows **, struct store *, struct err *);
/*
 * View hindsight, after 20 completed trials.  Of its trials that would have been
 * stopped, crossed are those whose order has changed since: a completed trial
 * with a worse result was better at that step.
 */
struct store_hindsight {
	double trials, stopped, judged, crossed;
	bool stops; /* the rule of the study stops trials */
	bool careful; /* … and is the one that loses the fewest */
};
int store_hindsight_get(struct store *, struct store_hindsight *, struct err *);

/* The study. */

/* Proposals of settings in the place of the baseline. */
struct store_proposals {
	int64_t all, kept, open;
	int64_t standing; /* the one that is the baseline now; 0 = none */
	int64_t trial; /* … its first trial */
};
int store_proposals_get(struct store *, struct store_proposals *, struct err *);
/*
 * How many trials ran beside the search: to confirm a setting, and for proposals.
 * The baseline's count as the first kind where there is one.
 */
int store_contest_trials(struct store *, double n[2], struct err *);

/* How many trials there were when its space, or its strategy, was another one. */
int64_t store_trials_before_change(struct store *);
/* trial or NULL, text: events of the area "doubt", the oldest first. */
int store_list_doubts(struct store_rows **, struct store *, struct err *);
/* Whether the latest event of the area has this text; false on an error. */
bool store_event_is_last(struct store *, const char *area, const char *text);
/* text, or no row: the latest of the first 1,000 events with this pattern. */
int store_list_early_event(
    struct store_rows **, struct store *, const char *like, struct err *);
/* The same of the last 1,000 of the area, of no trial, with one of them. */
int store_list_late_event(struct store_rows **, struct store *,
    const char *area, const char *like, const char *or_like, struct err *);

#endif /* HPOTUNE_QUERIES_H */
