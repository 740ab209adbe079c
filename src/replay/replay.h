/*
 * What a stopping rule would have saved, killed and cost on recorded curves.
 * The rules are the plug-ins themselves, with records as input.
 */

#ifndef HPOTUNE_REPLAY_H
#define HPOTUNE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve_file;
struct err;
struct history;
struct store;
struct stopper_env;
struct stop_rule_set;
struct study;

/* A rule as a study would name it. */
struct replay_rule;
/* text is a rule's name, its JSON block, or a JSON list of both. */
int replay_rule_read(struct replay_rule **, const char *text, struct err *);
void replay_rule_free(struct replay_rule *);
/* The text of a rule, as it was written. */
const char *replay_rule_text(const struct replay_rule *);
/*
 * The option second_look of a rule, the greatest of a list; where it is not
 * given, the default for trials with checkpoints.
 */
double replay_rule_second_look(const struct replay_rule *);
int replay_rule_open(struct stop_rule_set **, const struct replay_rule *,
    const struct stopper_env *, struct err *);

/* What became of one trial, in numbers of reports. */
struct replay_chart_row {
	int64_t trial;
	int64_t run; /* before it was stopped, or all */
	int64_t again; /* in its second look */
	int64_t skipped;
	double result; /* of its whole curve, in the user's sign; NaN = none */
	/* All reports, of which run + again were run; in the user's sign. */
	int64_t *steps;
	double *values;
	size_t n;
};

/* What became of the best trial of a study. */
enum replay_fate {
	REPLAY_KEPT, /* it ran to its end */
	REPLAY_FOUND, /* it was stopped, and resumed by a second look */
	REPLAY_LOST
};

/* The studies of one file. */
struct replay_chart {
	char *file; /* owned */
	/* The trials of its first study, the best first; NULL: not wanted. */
	struct replay_chart_row *rows;
	size_t n;
	enum replay_fate *fates; /* of each study */
	size_t n_fates, cap_fates;
};

/* Of one rule: a chart for each file. */
struct replay_charts {
	struct replay_chart *list;
	size_t n;
	bool rows; /* wanted: the trials of each first study */
};

/* The studies that follow are of this file. */
void replay_charts_begin(struct replay_charts *, const char *file);
void replay_charts_free(struct replay_charts *);

/* Sums over studies. */
struct replay_sum {
	struct replay_charts *charts; /* NULL = not wanted */
	int64_t studies;
	int64_t trials, stopped;
	int64_t reports, skipped;
	/* Sum of the shares of reports, by weight, that were not run. */
	double saved;
	int64_t killed; /* studies whose best trial was stopped */
	/*
	 * (best found - best of all) / (median trial - best of all); a stopped
	 * trial counts with its results so far.
	 */
	double regret;
	/* After the second look; saved is less what it spent. */
	struct replay_looked {
		int64_t resumed; /* trials */
		double saved;
		double saved_squares; /* sum of the squares of these shares */
		int64_t killed;
		double regret;
		double hurt; /* sum of the shares H before the first look */
	} looked;
	/*
	 * The greatest step beyond max_steps, where rules do not decide; 0 =
	 * none.
	 */
	int64_t beyond;
	int64_t max_steps; /* … that beyond exceeds */
};

/*
 * The 95 % interval of the share of studies that lose their best trial after
 * the second look (Wilson), of independent studies.
 */
void replay_lost_interval(const struct replay_sum *, double *low, double *high);

/* How studies are drawn from curves. */
struct replay_plan {
	int64_t workers; /* parallel trials, each makes a report in turn */
	int64_t trials; /* per study, drawn without replacement */
	int64_t seeds; /* studies */
	uint64_t seed;
	bool maximize;
	bool value_last; /* the last report counts, not the best */
	/* Each curve of a file is that of a whole trial: compare shares. */
	bool own_steps;
	/* NULL, or called with turn_arg after each study, which may take long. */
	void (*turn)(void *arg);
	void *turn_arg;
};

/* Add plan.seeds studies drawn from the curves to the sum. */
int replay_simulate(struct replay_sum *, const struct curve_file *,
    const struct replay_plan *, const struct replay_rule *, struct err *);
/* Add one recorded study, its reports in the order they were recorded. */
int replay_recorded(struct replay_sum *, struct store *,
    const struct replay_rule *, struct err *);
/*
 * The curves of a study's completed trials, with as many steps as the
 * study's trials have; goal and value_last go to the plan.
 */
int replay_recorded_curves(
    struct curve_file *, struct replay_plan *, struct store *, struct err *);

/*
 * Constraints decide which trial is best, and a rule's guard uses the best: set
 * the constraints of the history, and a trial's violations before its end.
 */
void replay_set_objectives(struct history *, const struct study *);
int replay_results(struct history *, const struct study *, struct store *,
    int64_t trial, struct err *);
/* The median of n numbers, which are sorted in place; NaN when n is 0. */
double replay_median(double *v, size_t n);

#endif /* HPOTUNE_REPLAY_H */
