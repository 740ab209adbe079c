/*
 * Signs that a study does not measure what its user means to measure: results
 * that are equal although the settings differ, steps that begin anew, and the
 * like.  Each is said once in the life of a study, as an event of the area
 * "doubt", which the terminal, hpotune status and the page of the study show.
 *
 * A sign is demanded to be certain rather than early: a study without a fault
 * must not be doubted.  The table in study-doubts.c has the conditions.
 */

#ifndef HPOTUNE_STUDY_DOUBTS_H
#define HPOTUNE_STUDY_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct history;
struct plugins;
struct store;
struct study;

enum study_doubt {
	DOUBT_SAME, /* the curves of different settings are equal */
	DOUBT_ONE_REPORT, /* of max_steps */
	DOUBT_FEW_STEPS, /* far fewer than max_steps */
	DOUBT_MANY_STEPS, /* far more than max_steps */
	DOUBT_BEGINS_AGAIN, /* an attempt with a checkpoint, from step 1 */
	DOUBT_NOT_FINITE, /* no trial has a finite number */
	DOUBT_CONSTANT, /* all curves are flat */
	DOUBT_DIRECTION, /* the goal is against the metric's name */
	DOUBT_UNCOMPARED, /* no rule has compared a trial */
	DOUBT_STEP_REGEX, /* trial.step_regex has found no step */
	DOUBT_REPEATED, /* one attempt reports its steps several times */
	DOUBT_ENDS, /* trials end badly, all after one step; no max_steps */
	DOUBT_BUFFERED, /* reports come at the end of a trial only */
	STUDY_DOUBTS
};

/* Borrowed. */
struct study_doubts_env {
	const struct study *study;
	const struct plugins *plugins;
	const struct history *history;
	struct store *store;
	/* Record an event with this text; trial 0: of no trial. */
	void (*say)(void *arg, int64_t trial, int attempt, const char *text);
	void *arg;
};

/* All zero but env: nothing is known yet. */
struct study_doubts {
	struct study_doubts_env env;
	bool ready; /* what earlier servers have seen is counted, too */
	bool said[STUDY_DOUBTS];
	/* Over completed trials with a report, those of earlier servers too: */
	int64_t completed;
	int64_t first; /* the one with which the others are compared */
	bool differs; /* a curve is another than that of first */
	bool reports; /* one has more than one report */
	bool far; /* one has come to a quarter of max_steps */
	bool changes; /* one changes its value, or has too few reports */
	bool towards; /* one ends no worse than it began, or is too short */
	bool finite; /* any trial has reported a finite number */
	int64_t infinite; /* trials that ended with none */
	/* Of this server alone: */
	int64_t bad_step; /* the last one of the trials that failed; */
	int64_t bad; /* how many trials, with equal ones */
	int64_t seen; /* completed trials */
	bool compared; /* a rule has compared a trial with others */
	bool stepped; /* a report had a step */
};

/*
 * The first report of an attempt that began with a checkpoint of its trial, which
 * had come to last_step; has_step: the program printed its step.
 */
void study_doubts_begun(struct study_doubts *, int64_t trial, int attempt,
    int64_t last_step, bool has_step, int64_t step);
/* The steps of an attempt have begun again, and come to this one. */
void study_doubts_repeated(
    struct study_doubts *, int64_t trial, int attempt, int64_t step);
/*
 * A trial has ended in this state, and its row and its curve are written;
 * last_step: the last one that it reported.
 */
void study_doubts_ended(
    struct study_doubts *, int64_t trial, enum trial_state, int64_t last_step);
/*
 * Say one, unless it was said of this study before.  The text follows the first
 * words of the doubt.  trial 0: of no trial.
 */
void study_doubts_say(struct study_doubts *, int64_t trial, int attempt,
    enum study_doubt, const char *, ...) __attribute__((format(printf, 5, 6)));

#endif /* HPOTUNE_STUDY_DOUBTS_H */
