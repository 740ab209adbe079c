/* The conditions of the doubts; the header says what they are for. */

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/engine/doubts/study-doubts.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "strategies/stopper.h"

enum {
	SAME_TRIALS = 5, /* with equal curves of different values */
	SAME_TRIALS_FLAT = 20, /* … of one or two: an accuracy of 1 is one */
	SAME_VALUES = 3,
	ONE_REPORT_TRIALS = 2,
	ONE_REPORT_STEPS = 4, /* least max_steps */
	FEW_TRIALS = 5,
	FEW_SHARE = 4, /* one in this many of max_steps */
	MANY_TIMES = 2, /* max_steps */
	NOT_FINITE_TRIALS = 3,
	CONSTANT_TRIALS = 5,
	CONSTANT_REPORTS = 5, /* of each */
	DIRECTION_TRIALS = 5,
	DIRECTION_REPORTS = 3,
	UNCOMPARED_TRIALS = 10,
	STEP_REGEX_TRIALS = 2,
	ENDS_TRIALS = 2,
	ENDS_STEPS = 3
};

/* The first words of each, by which it is known in the database. */
static const char *const heads[STUDY_DOUBTS] = {
	[DOUBT_SAME] = "all results are equal",
	[DOUBT_ONE_REPORT] = "one report for each trial",
	[DOUBT_FEW_STEPS] = "few of max_steps",
	[DOUBT_MANY_STEPS] = "more steps than max_steps",
	[DOUBT_BEGINS_AGAIN] = "steps begin again",
	[DOUBT_NOT_FINITE] = "no result is a number",
	[DOUBT_CONSTANT] = "the metric does not change",
	[DOUBT_DIRECTION] = "the goal is against the metric",
	[DOUBT_UNCOMPARED] = "no trial is compared",
	[DOUBT_STEP_REGEX] = "no step is read",
	[DOUBT_REPEATED] = "steps are repeated",
	[DOUBT_ENDS] = "trials end badly after the same step",
	[DOUBT_BUFFERED] = "reports come at the end",
};

/* Words in the names of metrics that are better when greater, and smaller. */
static const char *const greater_words[] = { "acc", "accuracy", "auc", "auroc",
	"f1", "bleu", "rouge", "iou", "miou", "dice", "recall", "precision",
	"reward", "map", NULL };
static const char *const smaller_words[] = { "loss", "error", "err", "rmse",
	"mse", "mae", "mape", "ppl", "perplexity", "wer", "cer", "nll",
	"logloss", NULL };
/* With one of these a name means the contrary, or something else. */
static const char *const turning_words[] = { "neg", "negative", "minus", "inv",
	"inverse", "no", "not", "one", "delta", "diff", "gap", NULL };

/* What an earlier server has said. */
static void
doubts_recall(struct study_doubts *d)
{
	struct store_rows *rows;
	const char *text;
	int i;

	if (store_list_doubts(&rows, d->env.store, NULL) != 0)
		return;
	while (store_rows_next(rows, NULL) == 1) {
		text = store_rows_text(rows, 1);
		for (i = 0; i < STUDY_DOUBTS; i++)
			if (strncmp(text, heads[i], strlen(heads[i])) == 0)
				d->said[i] = true;
	}
	store_rows_close(rows);
}

static bool
curve_same(const struct curve *a, const struct curve *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (curve_step(a, i) != curve_step(b, i) ||
		    !(curve_value(a, i) == curve_value(b, i)))
			return false;
	return true;
}

static bool
curve_flat(const struct curve *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if (!(curve_value(c, i) == curve_value(c, 0)))
			return false;
	return true;
}

static bool
curve_finite(const struct curve *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (isfinite(curve_value(c, i)))
			return true;
	return false;
}

/* Steps that a trial has done: one more, where they begin with 0. */
static int64_t
curve_done(const struct curve *c)
{
	return curve_step(c, c->n - 1) + (curve_step(c, 0) == 0);
}

static void
doubts_count_completed(
    struct study_doubts *d, int64_t trial, const struct curve *c)
{
	struct curve first;

	d->completed++;
	if (d->first == 0)
		d->first = trial;
	first = history_curve(d->env.history, d->first);
	d->differs = d->differs || !curve_same(c, &first);
	d->reports |= c->n > 1;
	d->far |= FEW_SHARE * curve_done(c) >= d->env.study->trial.max_steps;
	d->changes = d->changes || c->n < CONSTANT_REPORTS || !curve_flat(c);
	/* Values of a history are losses. */
	d->towards |= c->n < DIRECTION_REPORTS ||
		      !(curve_value(c, c->n - 1) > curve_value(c, 0));
}

/* Count a trial that has ended. */
static void
doubts_count(struct study_doubts *d, int64_t trial, enum trial_state state)
{
	struct curve c = history_curve(d->env.history, trial);

	if (c.n == 0)
		return;
	if (!d->finite) {
		d->finite = curve_finite(&c);
		d->infinite += !d->finite;
	}
	if (state == TRIAL_COMPLETED)
		doubts_count_completed(d, trial, &c);
}

/* What earlier servers have said and seen, once. */
static void
doubts_ready(struct study_doubts *d, int64_t but)
{
	enum trial_state state;
	int64_t trial;

	if (d->ready)
		return;
	d->ready = true;
	doubts_recall(d);
	for (trial = 1; trial <= history_count(d->env.history); trial++) {
		state = history_state(d->env.history, trial);
		if (trial != but && trial_state_final(state))
			doubts_count(d, trial, state);
	}
}

void
study_doubts_say(struct study_doubts *d, int64_t trial, int attempt,
    enum study_doubt doubt, const char *fmt, ...)
{
	char text[440];
	va_list ap;
	int n;

	doubts_ready(d, trial);
	if (d->said[doubt])
		return;
	d->said[doubt] = true;
	n = snprintf(text, sizeof text, "%s: ", heads[doubt]);
	va_start(ap, fmt);
	(void)vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
	va_end(ap);
	d->env.say(d->env.arg, trial, attempt, text);
}

void
study_doubts_begun(struct study_doubts *d, int64_t trial, int attempt,
    int64_t last_step, bool has_step, int64_t step)
{
	if (last_step < 2 || step > 1)
		return;
	study_doubts_say(d, trial, attempt, DOUBT_BEGINS_AGAIN,
	    "its attempt %d began with the checkpoint of one that had come to "
	    "step %" PRId64 ", and its first report is of step %" PRId64
	    "%s: reports replace those of the same step; a program that goes "
	    "on from a checkpoint prints the step",
	    attempt, last_step, step,
	    has_step ? "" : ", counted here since it prints none");
}

void
study_doubts_repeated(
    struct study_doubts *d, int64_t trial, int attempt, int64_t step)
{
	study_doubts_say(d, trial, attempt, DOUBT_REPEATED,
	    "its attempt %d has reported step %" PRId64 " and those before it "
	    "again, with other values: reports replace those of the same step; "
	    "where one trial trains several times, as for folds, steps go on, "
	    "or are those of a mean over them",
	    attempt, step);
}

/* Whether the curve has so many different values. */
static bool
curve_varies(const struct curve *c)
{
	size_t i, k, different = 0;

	for (i = 0; i < c->n && different < SAME_VALUES; i++) {
		for (k = 0; k < i; k++)
			if (curve_value(c, k) == curve_value(c, i))
				break;
		different += k == i;
	}
	return different >= SAME_VALUES;
}

static void
doubt_same(struct study_doubts *d)
{
	struct curve c = history_curve(d->env.history, d->first);
	int64_t least = curve_varies(&c) ? SAME_TRIALS : SAME_TRIALS_FLAT;
	size_t n = c.n;

	if (d->said[DOUBT_SAME] || d->differs || d->completed < least ||
	    store_settings_completed(d->env.store) < least)
		return;
	study_doubts_say(d, 0, 0, DOUBT_SAME,
	    "%" PRId64 " trials with different settings have completed, and "
	    "%s of %.64s %s the same in all of them, to the last bit: does the "
	    "program read its parameters?",
	    d->completed, n > 1 ? "the reports" : "the one report",
	    d->env.study->metric, n > 1 ? "are" : "is");
}

static void
doubt_steps(struct study_doubts *d, int64_t trial, int64_t last_step)
{
	int64_t max = d->env.study->trial.max_steps;

	if (max == 0 || study_has_own_steps(&d->env.study->trial))
		return;
	if (!d->reports && d->completed >= ONE_REPORT_TRIALS &&
	    max >= ONE_REPORT_STEPS)
		study_doubts_say(d, 0, 0, DOUBT_ONE_REPORT,
		    "%" PRId64 " trials have completed with one report of "
		    "%.64s each, and trial.max_steps is %" PRId64
		    ": a rule can stop a trial only at a report; a program "
		    "prints one after each step",
		    d->completed, d->env.study->metric, max);
	if (!d->far && d->reports && d->completed >= FEW_TRIALS)
		study_doubts_say(d, 0, 0, DOUBT_FEW_STEPS,
		    "none of the %" PRId64 " completed trials has come to a "
		    "quarter of trial.max_steps, %" PRId64
		    ": warm-ups and what stopping saves count with it",
		    d->completed, max);
	if (last_step >= MANY_TIMES * max)
		study_doubts_say(d, trial, 0, DOUBT_MANY_STEPS,
		    "it has reported step %" PRId64
		    ", and trial.max_steps is %" PRId64
		    ": is max_steps a number of epochs, and the step one of "
		    "batches? Warm-ups and what stopping saves count with it",
		    last_step, max);
}

static bool
words_have(const char *const *words, const char *word, size_t n)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == n && strncasecmp(*words, word, n) == 0)
			return true;
	return false;
}

/* Whether one of the words is a word of the name: val_acc has acc. */
static bool
name_has(const char *name, const char *const *words)
{
	size_t n;

	while (*name != '\0') {
		for (n = 0; isalnum((unsigned char)name[n]); n++)
			;
		if (n > 0 && words_have(words, name, n))
			return true;
		name += n > 0 ? n : 1;
	}
	return false;
}

static void
doubt_direction(struct study_doubts *d)
{
	const char *metric = d->env.study->metric;
	bool maximize = d->env.study->maximize;

	if (d->towards || d->completed < DIRECTION_TRIALS ||
	    name_has(metric, turning_words) ||
	    name_has(metric, maximize ? greater_words : smaller_words) ||
	    !name_has(metric, maximize ? smaller_words : greater_words))
		return;
	study_doubts_say(d, 0, 0, DOUBT_DIRECTION,
	    "the goal is to %s %.64s, and each of the %" PRId64
	    " completed trials ends with a %s one than it began with: should "
	    "the goal be \"%s\"?",
	    maximize ? "maximize" : "minimize", metric, d->completed,
	    maximize ? "smaller" : "greater",
	    maximize ? "minimize" : "maximize");
}

/* Whether all rules compare trials with each other. */
static bool
doubts_rules_compare(const struct study_doubts *d)
{
	size_t i;

	for (i = 0; i < d->env.plugins->n_rules; i++)
		if (d->env.plugins->rules[i].stopper->alone ||
		    strcmp(d->env.plugins->rules[i].stopper->name, "none") == 0)
			return false;
	return d->env.plugins->n_rules > 0;
}

static void
doubt_reading(struct study_doubts *d)
{
	if (!d->finite && d->infinite >= NOT_FINITE_TRIALS)
		study_doubts_say(d, 0, 0, DOUBT_NOT_FINITE,
		    "no report of %.64s in the %" PRId64
		    " trials that have ended was a finite number",
		    d->env.study->metric, d->infinite);
	if (!d->changes && d->completed >= CONSTANT_TRIALS)
		study_doubts_say(d, 0, 0, DOUBT_CONSTANT,
		    "in each of the %" PRId64 " completed trials all reports "
		    "of %.64s are equal: is it computed after each step?",
		    d->completed, d->env.study->metric);
	if (d->env.study->trial.step_regex != NULL && !d->stepped &&
	    d->seen >= STEP_REGEX_TRIALS)
		study_doubts_say(d, 0, 0, DOUBT_STEP_REGEX,
		    "trial.step_regex has found no step in a line with a "
		    "report, so that reports are counted: 1, 2, 3");
}

/*
 * More is said already where trials report too little to be compared; and trials
 * that report once, at their end, are never stopped.
 */
static void
doubt_uncompared(struct study_doubts *d)
{
	if (d->compared || !d->reports || d->seen < UNCOMPARED_TRIALS ||
	    d->said[DOUBT_ONE_REPORT] || d->said[DOUBT_FEW_STEPS] ||
	    !doubts_rules_compare(d))
		return;
	study_doubts_say(d, 0, 0, DOUBT_UNCOMPARED,
	    "%" PRId64 " trials have completed, and the rule %s has compared "
	    "none of their reports: its warm-up and the number of trials that "
	    "it needs leave nothing to compare",
	    d->seen, d->env.plugins->rules[0].stopper->name);
}

/*
 * Trials whose crash may come after their work, which nothing says: no trial ends
 * well, and all end after the same step.
 */
static void
doubt_ends(struct study_doubts *d, int64_t last_step)
{
	d->bad = d->bad == 0 || d->bad_step == last_step ? d->bad + 1 : 1;
	d->bad_step = last_step;
	if (d->env.study->trial.max_steps > 0 || d->completed > 0 ||
	    last_step < ENDS_STEPS - 1 || d->bad < ENDS_TRIALS)
		return;
	study_doubts_say(d, 0, 0, DOUBT_ENDS,
	    "%" PRId64 " trials have failed, and each after step %" PRId64
	    ": if their work is done then, give the number of steps as "
	    "trial.max_steps, with which a trial that crashes after its last "
	    "step is completed",
	    d->bad, last_step);
}

void
study_doubts_ended(struct study_doubts *d, int64_t trial,
    enum trial_state state, int64_t last_step)
{
	doubts_ready(d, trial);
	doubts_count(d, trial, state);
	if (last_step < 0)
		return;
	d->seen += state == TRIAL_COMPLETED;
	doubt_reading(d);
	if (state == TRIAL_FAILED && d->finite)
		doubt_ends(d, last_step);
	if (state != TRIAL_COMPLETED)
		return;
	doubt_same(d);
	doubt_steps(d, trial, last_step);
	doubt_direction(d);
	doubt_uncompared(d);
}
