/*
 * A stopping rule answers keep or stop for one report of one trial.
 *
 * It is a pure function of the recorded curves in the order they were
 * recorded.  What it keeps in state is a cache: feeding the same history again
 * gives the same state, so a restart and a replay give the same answers.
 * All values inside are turned so that smaller is better.
 */

#ifndef HPOTUNE_STOPPER_H
#define HPOTUNE_STOPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history;
struct option;
struct option_value;

enum verdict {
	VERDICT_KEEP,
	VERDICT_STOP,
	VERDICT_PAUSE, /* a stop that may be taken back: promote */
	VERDICT_SUSPENDED /* would stop, but a guard forbids it */
};

struct judgement {
	enum verdict verdict;
	bool diverged; /* the stop is for non-finite reports */
	const char *rule; /* name of the rule that decided, borrowed */
	double value; /* what stood for the trial, user's sign */
	double
	    threshold; /* what it was compared with, user's sign; NaN = nothing */
	int64_t pool; /* trials that were compared */
	char why[192]; /* one clause for the user */
};

/* A trial that VERDICT_PAUSE has ended for now. */
struct stopper_paused {
	int64_t trial;
	int64_t step; /* at which it was judged */
};

struct stopper_env {
	int64_t max_steps; /* 0 = unknown */
	int64_t last_step; /* … with which a trial ends; 0 = max_steps */
	bool maximize;
	const char *study; /* its name: some rules hash it */
};

struct stopper {
	const char *name;
	const char *about;
	const char *source;
	const struct option *options;
	bool wants_curves;

	int (*open)(void **state, const struct option_value *,
	    const struct stopper_env *, struct err *);
	void (*close)(void *state);
	/* After history_report: the trial reported step. */
	void (*observe)(
	    void *state, const struct history *, int64_t trial, int64_t step);
	/* After history_end (or history_retry): its place in the pools changed. */
	void (*ended)(void *state, const struct history *, int64_t trial);
	/*
	 * Judge the trial at the step it has just reported (the newest of its
	 * curve).  Only called for steps that were not judged before.
	 */
	void (*judge)(void *state, const struct history *, int64_t trial,
	    int64_t step, struct judgement *);
	/*
	 * Of n paused trials the one that goes on first by what is known now,
	 * with the numbers of the rung that lets it (verdict VERDICT_KEEP); 0:
	 * none does.  The answer depends on the curves and on who is paused,
	 * not on the order of either.  NULL: the rule never pauses.
	 */
	int64_t (*promote)(void *state, const struct history *,
	    const struct stopper_paused *, size_t n, struct judgement *);
	/*
	 * For view medians: how many values are in the pool at step and their
	 * median (user's sign); false when the rule keeps no such pool or the
	 * pool is empty.  NULL when the rule has none.
	 */
	bool (*median)(void *state, const struct history *, int64_t step,
	    int64_t *trials, double *median);
};

/* All of them, in the order of the manual.  Ends with NULL. */
extern const struct stopper *const stoppers[];
const struct stopper *stopper_find(const char *name);

/*
 * The rules of one study as one: any of them may stop; a rule with "veto"
 * only prevents.  Opened from the list in study.json by the server (or by
 * replay), which reads the options of each.
 */
struct stop_rule_set;
struct stop_rule_set *stop_rule_set_new(void);
/* Takes over a rule opened with these options. */
int stop_rule_set_add(struct stop_rule_set *, const struct stopper *,
    const struct option_value *, const struct stopper_env *, bool veto,
    struct err *);
void stop_rule_set_free(struct stop_rule_set *);
bool stop_rule_set_wants_curves(const struct stop_rule_set *);
void stop_rule_set_observe(struct stop_rule_set *, const struct history *,
    int64_t trial, int64_t step);
void stop_rule_set_ended(
    struct stop_rule_set *, const struct history *, int64_t trial);
/* For view medians: that of the first rule that keeps one. */
bool stop_rule_set_median(struct stop_rule_set *, const struct history *,
    int64_t step, int64_t *trials, double *median);
/*
 * The first rule that stops fills out; else the first that pauses; else the
 * first that was suspended; else VERDICT_KEEP with the first rule's numbers.
 * A veto rule turns a stop or a pause into VERDICT_SUSPENDED unless it would
 * stop or pause the trial too.
 */
void stop_rule_set_judge(struct stop_rule_set *, const struct history *,
    int64_t trial, int64_t step, struct judgement *);
/* The first answer of a rule that pauses, or 0. */
int64_t stop_rule_set_promote(struct stop_rule_set *, const struct history *,
    const struct stopper_paused *, size_t n, struct judgement *);

#endif /* HPOTUNE_STOPPER_H */
