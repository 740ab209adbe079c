/*
 * scikit-learn with verbose: neural networks, stochastic gradient descent and
 * histogram gradient boosting; gradient boosting prints a table (format-table.c).
 *
 *	Iteration 2, loss = 0.63065610
 *	Validation score: 0.812500
 *	-- Epoch 2
 *	Norm: 37.83, NNZs: 2, Bias: -0.5, T: 400, Avg. loss: 1.015414, Objective: 1.08
 *	    (the same line goes on with early_stopping: ", Validation score: 0.85")
 *	[2/4] 1 tree, 8 leaves, max depth = 4, train loss: 0.57, val loss: 0.59, in 0.002s
 *
 * partial_fit prints iteration 1 each time, and one classifier for each class begins
 * again: a number that is not greater than the last goes on from it.
 */

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

/* The state of one log. */
struct format_sklearn {
	int64_t at; /* the last number that was printed */
	int64_t before; /* is added to it */
	int64_t first; /* step of the log */
};

/* The step of a number that is printed. */
static int64_t
format_sklearn_step(struct format_sklearn *k, int64_t at)
{
	if (k->at > 0 && at <= k->at && k->before < METRIC_STEP_MAX)
		k->before += k->at;
	k->at = at;
	if (k->first == 0)
		k->first = at;
	return k->before + at;
}

/* A report of the step that was printed last. */
static enum metric_read
format_sklearn_report(struct format_sklearn *k, struct metric_line *r)
{
	if (k->at == 0 || !metric_span_step(r, k->before + k->at))
		return METRIC_READ_OTHER;
	r->restarts = true;
	r->first = k->first;
	return METRIC_READ_REPORT;
}

static void
format_sklearn_add(
    struct metric_line *r, const char *name, struct metric_span value)
{
	struct metric_span as = { name, name };

	while (*as.end != '\0')
		as.end++;
	(void)metric_span_add(r, as, value);
}

/* "train loss: 0.57," of a line: its value. */
static void
format_sklearn_find(struct metric_line *r, struct metric_span s,
    const char *text, const char *name)
{
	struct metric_number n;

	if (metric_span_find(s, text) == NULL)
		return;
	(void)metric_span_take_until(&s, text);
	s = metric_span_trim(s);
	s.end = metric_number_scan(&n, s.p, s.end);
	if (s.end != NULL)
		format_sklearn_add(r, name, s);
}

static enum metric_read
format_sklearn_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_sklearn *k = in->state;
	int64_t at, all;

	s = metric_span_trim(s);
	if (metric_span_take(&s, "Iteration ")) {
		if (!metric_span_take_count(&s, &at) ||
		    !metric_span_take(&s, ", loss = "))
			return METRIC_READ_OTHER;
		format_sklearn_add(r, "loss", s);
		(void)format_sklearn_step(k, at);
		return format_sklearn_report(k, r);
	}
	if (metric_span_take(&s, "Validation score: ")) {
		format_sklearn_add(r, "validation_score", s);
		return format_sklearn_report(k, r);
	}
	if (metric_span_take(&s, "-- Epoch ")) {
		if (!metric_span_take_count(&s, &at) || s.p != s.end)
			return METRIC_READ_OTHER;
		(void)format_sklearn_step(k, at);
		return METRIC_READ_QUIET;
	}
	if (metric_span_take(&s, "Norm: ")) {
		format_sklearn_find(r, s, "Avg. loss: ", "avg_loss");
		format_sklearn_find(r, s, "Objective: ", "objective");
		format_sklearn_find(
		    r, s, "Validation score: ", "validation_score");
		return format_sklearn_report(k, r);
	}
	if (!metric_span_take(&s, "[") || !metric_span_take_count(&s, &at) ||
	    !metric_span_take(&s, "/") || !metric_span_take_count(&s, &all) ||
	    !metric_span_take(&s, "] ") || metric_span_find(s, " tree") == NULL)
		return METRIC_READ_OTHER;
	format_sklearn_find(r, s, "train loss: ", "train_loss");
	format_sklearn_find(r, s, "val loss: ", "val_loss");
	format_sklearn_find(r, s, "train score: ", "train_score");
	format_sklearn_find(r, s, "val score: ", "val_score");
	(void)format_sklearn_step(k, at);
	return format_sklearn_report(k, r);
}

const struct metric_format metric_format_sklearn = {
	.state = sizeof(struct format_sklearn),
	.read = format_sklearn_read,
};
