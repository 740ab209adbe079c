/*
 * Studies with replicates: trials belong to settings.  Strategies see settings
 * as trials, in a history of their own.  Which settings get further replicates,
 * and which have ended.  Everything here follows from the rows of t_trial;
 * t_setting is written for readers.
 */

#ifndef HPOTUNE_REPLICATES_H
#define HPOTUNE_REPLICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct history;
struct store;
struct store_trial;
struct study;
struct value;

/* The state of a setting follows from those of its replicates. */
enum setting_state {
	SETTING_OPEN, /* further replicates may follow */
	SETTING_COMPLETED,
	SETTING_STOPPED,
	SETTING_FAILED,
	SETTING_CANCELLED,
	SETTING_FORGOTTEN /* none of its trials is left */
};

/* One replicate of a setting. */
struct replicate {
	int64_t trial; /* 0 = not begun */
	/* TRIAL_RUNNING until it has ended; cancelled also by the machine. */
	enum trial_state state;
	bool paused; /* by a rule; state is TRIAL_RUNNING */
};

struct setting {
	struct replicate *list; /* count of them */
	/* Replicates beyond count: REPLICATES_MAX of them; NULL = none begun. */
	struct replicate *held;
	enum setting_state state;
	size_t completed; /* replicates */
	/*
	 * By n_aims: losses of the objectives, then violations of constraints
	 * (at most 0: satisfied); NaN: no replicate is completed.
	 */
	double *values;
	char *commit; /* hash of what its trials run; NULL = none */
	double value; /* the first of them */
	double violation; /* sum of those above 0 */
	/*
	 * The setting's order among others, smaller is better: its value, or
	 * how many are better in every respect.  Set by the race.
	 */
	double place;
	int64_t front; /* the trial that t_front has of it; 0 = none */
	bool outside; /* the space does not have it any more */
	bool tried; /* it was given to the history */
	bool dirty; /* its row is an older one */
	bool behind; /* it is no candidate for further replicates */
};

/*
 * All files may read it; only replicates.c writes it, and replicates-rows.c what
 * says whether the rows are those of today: dirty, front, front_known.
 */
struct replicates {
	size_t count; /* of a setting; 0 = the study has none */
	const struct study *study;
	const struct history *trials;
	struct history *history; /* of settings, as strategies see them */
	struct setting *list; /* setting 1 first */
	size_t n, cap;
	bool race_due; /* a result has changed */
	size_t n_aims; /* objectives and constraints */
	double **losses; /* by aim: n times count; NaN = not completed */
	bool front_known; /* t_front was written by this process */
	int64_t *setting_of; /* of trial 1, 2, … */
	int *number_of; /* its replicate, from 1 */
	size_t trials_cap;
	int64_t n_trials; /* the last one that was added */
	int64_t n_held; /* trials beyond count, which are for contests */
	bool contests_due; /* one of them has ended, or runs again */
	/* That of the first trial with the defaults of the parameters; 0 = none. */
	int64_t default_setting;
};

/* The study and the history of trials are borrowed. */
void replicates_open(
    struct replicates *, const struct study *, const struct history *trials);
void replicates_close(struct replicates *);

/*
 * The replicate to be started next, before a new setting is asked for: true with
 * its setting (from 1), number (from 1) and, unless NULL, values, one per
 * parameter.
 */
bool replicates_due(const struct replicates *, int64_t *setting, int *replicate,
    struct value *values);
/*
 * A trial that was begun or read back, with its point.  False: it is no first
 * trial of its setting.  Without replicates it is always a first one.
 */
bool replicates_add(
    struct replicates *, const struct store_trial *, const double *point);
/*
 * A trial ended in the state that strategies see, after its end in the history of
 * trials; true when it is the first end in its setting.
 */
bool replicates_ended(struct replicates *, int64_t trial, enum trial_state);
/* A rule has paused the trial: others of its setting are not begun meanwhile. */
void replicates_paused(struct replicates *, int64_t trial);
/* A trial that had ended, or was paused, runs again. */
void replicates_revived(struct replicates *, int64_t trial);
/*
 * The trial's setting when all its replicates have completed, with the first of
 * them; or NULL.
 */
const struct setting *
replicates_whole(const struct replicates *, int64_t trial, int64_t *first);
/*
 * The rank of each setting, from 1, as view settings has it; NaN: none.  With
 * several objectives by the first one.
 */
void replicates_rank(const struct replicates *, double *ranks);
/* Whether setting i, from 0, gets further replicates, as it may be the best. */
bool replicates_hopeful(const struct replicates *, size_t i);
/* Whether the trial is for a contest: the search does not count it. */
bool replicates_is_held(const struct replicates *, int64_t trial);
/* The loss of a completed trial by the first objective. */
double replicates_loss(const struct replicates *, int64_t trial);
/* Which replicate the trial is, from 1. */
int replicates_number(const struct replicates *, int64_t trial);
/* Whether no other replicate of its setting was stopped or has failed. */
bool replicates_alone(const struct replicates *, int64_t trial);
/*
 * Whether the setting of this trial has ended by one of its replicates: why then
 * says which one, for the others.
 */
bool
replicates_over(const struct replicates *, int64_t trial, char *why, size_t n);

/*
 * Where results have changed: which settings may still be the best, and the
 * standard errors that strategies see.
 */
void replicates_race(struct replicates *);
/* Write the rows of settings that have changed. */
void replicates_write(struct replicates *, struct store *);

/*
 * Whether setting i, from 0, is on the front of several objectives: of those
 * that break no constraint and have the most replicates none is better in all.
 */
bool replicates_on_front(const struct replicates *, size_t i);
/* Of setting i, from 0: its first completed trial, or 0. */
int64_t replicates_first_trial(const struct replicates *, size_t i);
/* … and its losses by an aim. */
const double *
replicates_losses(const struct replicates *, size_t aim, size_t i);

#endif /* HPOTUNE_REPLICATES_H */
