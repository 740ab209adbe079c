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
 * bytes, whether one ran out of it.
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
/* trial, its own number of steps, 0 = none: all trials by number. */
int store_list_own_steps(struct store_rows **, struct store *, struct err *);
/* How many wait for a machine, and how many a rule has paused. */
int store_trials_waiting(
    struct store *, int64_t *machine, int64_t *paused, struct err *);

/* The study. */

/* How many trials there were when its space, or its strategy, was another one. */
int64_t store_trials_before_change(struct store *);
/* trial or NULL, text: events of the area "doubt", the oldest first. */
int store_list_doubts(struct store_rows **, struct store *, struct err *);
/* Whether the latest event of the area has this text; false on an error. */
bool store_event_is_last(struct store *, const char *area, const char *text);

#endif /* HPOTUNE_QUERIES_H */
