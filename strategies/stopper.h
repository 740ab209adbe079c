/*
 * The interface of a stopping rule, which decides keep or stop for one report
 * of one trial.
 *
 * It is a pure function of the recorded curves in the order they were
 * recorded.  Its state is a cache: the same history gives the same state, so a
 * restart and a replay give the same results.  All values passed in are
 * oriented so that smaller is better.
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
	VERDICT_PAUSE, /* a stop that may be undone: promote */
	VERDICT_SUSPENDED /* would stop, but the guard prevents it */
};

struct judgement {
	enum verdict verdict;
	bool diverged; /* stopped because of non-finite reports */
	const char *rule; /* name of the deciding rule, borrowed */
	double value; /* value of the trial, with the user's sign */
	double threshold; /* its threshold, with the user's sign; NaN = none */
	int64_t pool; /* number of trials compared */
	char why[192]; /* one clause for the user */
	/*
	 * Of a rule with the options metric or by: what it read, borrowed from
	 * the rules; NULL: the objective by steps.
	 */
	const char *metric;
	const char *unit; /* of at: "step", "second" or "cent" */
	int64_t at; /* where the values were compared */
};

/* What a trial had used up when it made a report; NaN = unknown. */
struct stop_spent {
	double seconds; /* that its attempts ran */
	double dollars;
};

/* A report of any metric, in the user's sign. */
struct stop_report {
	int64_t trial;
	const char *metric;
	int64_t step;
	double value;
	struct stop_spent spent;
};

/* A trial paused by VERDICT_PAUSE. */
struct stopper_paused {
	int64_t trial;
	int64_t step; /* at which it was judged */
};

struct stopper_env {
	int64_t max_steps; /* 0 = unknown */
	int64_t last_step; /* last step of a trial; 0 = max_steps */
	bool maximize;
	const char *study; /* its name: some rules hash it */
	const char *metric; /* of the objective; NULL = unknown */
	/*
	 * Set by the rule set for a rule that reads a series (stop-series.c),
	 * else NULL: what steps are ("second", "cent"; NULL = steps), the name
	 * of its metric, and the curves that the option against names.
	 */
	const char *unit;
	const char *series;
	const struct history *against;
};

struct stopper {
	const char *name;
	const char *about;
	const char *source;
	const struct option *options;
	bool alone; /* it judges a trial by its own reports alone */

	int (*open)(void **state, const struct option_value *,
	    const struct stopper_env *, struct err *);
	void (*close)(void *state);
	/* Called after history_report: the trial reported step. */
	void (*observe)(
	    void *state, const struct history *, int64_t trial, int64_t step);
	/*
	 * Called after history_end and history_retry: its role in the pools
	 * changed.
	 */
	void (*ended)(void *state, const struct history *, int64_t trial);
	/*
	 * Judge the trial at the step it has just reported (the newest of its
	 * curve).  Called only once per step.
	 */
	void (*judge)(void *state, const struct history *, int64_t trial,
	    int64_t step, struct judgement *);
	/*
	 * The one of n paused trials that is resumed first by the current
	 * state, with the numbers of the rung that allows it (verdict
	 * VERDICT_KEEP); 0: none.  The result depends on the curves and on
	 * which trials are paused, not on the order of either.  NULL: the rule
	 * never pauses.
	 */
	int64_t (*promote)(void *state, const struct history *,
	    const struct stopper_paused *, size_t n, struct judgement *);
	/*
	 * For the view medians: the number of values in the pool at step and
	 * their median (user's sign); false when the rule has no such pool or
	 * the pool is empty.  NULL = no medians.
	 */
	bool (*median)(void *state, const struct history *, int64_t step,
	    int64_t *trials, double *median);
};

/* All rules in the order of the manual, ending with NULL. */
extern const struct stopper *const stoppers[];
const struct stopper *stopper_find(const char *name);

/*
 * The rules of one study as one: any of them may stop; a rule with "veto" only
 * prevents.  Opened from the list in study.json by the server (or by replay),
 * which reads the options of each.
 */
struct stop_rule_set;
struct stop_rule_set *stop_rule_set_new(void);
/* Add a rule opened with these options; takes ownership of state. */
int stop_rule_set_add(struct stop_rule_set *, const struct stopper *,
    const struct option_value *, const struct stopper_env *, bool veto,
    struct err *);
void stop_rule_set_free(struct stop_rule_set *);
/*
 * From now on only rules that judge a trial by its own reports stop one; the
 * others stop what diverges.
 */
void stop_rule_set_compare_nothing(struct stop_rule_set *);
void stop_rule_set_observe(struct stop_rule_set *, const struct history *,
    int64_t trial, int64_t step);
void stop_rule_set_ended(
    struct stop_rule_set *, const struct history *, int64_t trial);
/* For the view medians: that of the first rule that has one. */
bool stop_rule_set_median(struct stop_rule_set *, const struct history *,
    int64_t step, int64_t *trials, double *median);
/*
 * The metrics that some rule reads beside the objective by steps, each once;
 * ends with NULL.  Borrowed until the next rule is added.
 */
const char *const *stop_rule_set_metrics(const struct stop_rule_set *);
/*
 * Read a metric that no rule does, so that the walks of callers have it; the
 * name is borrowed until the set is freed, NULL: none.
 */
void stop_rule_set_read_metric(struct stop_rule_set *, const char *metric);
/*
 * A rule compares by seconds or by cost, which are then needed for reports.
 */
bool stop_rule_set_reads_spent(const struct stop_rule_set *);
/*
 * A report was recorded; call it for every report of the metrics above, also
 * of the objective.  True: it is the newest one where rules compare, and
 * stop_rule_set_judge_metric is to be called.
 */
bool stop_rule_set_report(struct stop_rule_set *, const struct stop_report *);
/* As stop_rule_set_judge, by the rules that read the series of this metric. */
void stop_rule_set_judge_metric(struct stop_rule_set *, const struct history *,
    int64_t trial, const char *metric, struct judgement *);
/*
 * The rules without a series: out gets the result of the first rule that stops; else of the first that
 * pauses; else of the first that was suspended; else VERDICT_KEEP with the
 * first rule's numbers.  A veto rule turns a stop or a pause into
 * VERDICT_SUSPENDED unless it would stop or pause the trial too.
 */
void stop_rule_set_judge(struct stop_rule_set *, const struct history *,
    int64_t trial, int64_t step, struct judgement *);
/* The first non-zero result of a rule that pauses, or 0. */
int64_t stop_rule_set_promote(struct stop_rule_set *, const struct history *,
    const struct stopper_paused *, size_t n, struct judgement *);

#endif /* HPOTUNE_STOPPER_H */
