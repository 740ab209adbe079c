/*
 * Keras: an epoch has a line of its own, its metrics stand in a later one, which
 * with verbose=1 is the last state of a progress bar.
 *
 *	Epoch 3/10
 *	32/32 - 0s - 7ms/step - accuracy: 0.91 - loss: 0.2 - val_loss: 0.3
 *
 * With slow batches the bar of the last batch is shown without val_ metrics, then
 * callbacks print, and the bar is shown again with all: the second line completes
 * the first.  What evaluate prints has no val_ metrics: its names are among those
 * of the training.  With epochs=1 there is no line "Epoch 1/1".
 */

#include <stdio.h>
#include <string.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

#define EVALUATE "evaluate_"

enum { FORMAT_KERAS_NAMES = 64 };

/* The state of one log. */
struct format_keras {
	int64_t epoch; /* whose metrics follow, or were read; 0 = none yet */
	bool told; /* a line has named the epoch */
	int64_t batches; /* of the epoch, by its bar; 0 = unknown */
	/* The metrics that were read of the epoch. */
	size_t n;
	struct metric_value read[FORMAT_KERAS_NAMES];
};

static const struct metric_value *
format_keras_find(const struct metric_value *values, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(values[i].name, name) == 0)
			return &values[i];
	return NULL;
}

/* " - accuracy: 0.91 - loss: 0.2": a text behind a number ends the pair. */
static void
format_keras_pairs(struct metric_line *r, struct metric_span s)
{
	struct metric_span pair, name, value;
	struct metric_number n;

	while (s.p < s.end) {
		pair = metric_span_take_until(&s, " - ");
		name = metric_span_take_until(&pair, ": ");
		value = metric_span_trim(pair);
		value.end = metric_number_scan(&n, value.p, value.end);
		if (value.end != NULL)
			(void)metric_span_add(r, name, value);
	}
}

/* How many of the line's names the epoch has, and how many values are new. */
static size_t
format_keras_known(
    const struct format_keras *k, const struct metric_line *r, size_t *other)
{
	const struct metric_value *v;
	size_t i, known = 0;

	*other = 0;
	for (i = 0; i < r->n; i++) {
		v = format_keras_find(k->read, k->n, r->values[i].name);
		known += v != NULL;
		/* The same bits: NaN is itself. NOLINTNEXTLINE(bugprone-*) */
		*other += v == NULL || memcmp(&v->value, &r->values[i].value,
					   sizeof v->value) != 0;
	}
	return known;
}

/* Metrics of evaluate: each gets a name of its own. */
static enum metric_read
format_keras_evaluate(struct metric_line *r, int64_t epoch)
{
	char made[sizeof EVALUATE + METRIC_LINE_NAME_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		(void)snprintf(
		    made, sizeof made, EVALUATE "%s", r->values[i].name);
		if (strlen(made) > METRIC_LINE_NAME_MAX)
			continue;
		r->values[n].value = r->values[i].value;
		(void)memcpy(r->values[n++].name, made, strlen(made) + 1);
	}
	r->n = n;
	return metric_span_step(r, epoch) ? METRIC_READ_REPORT
					  : METRIC_READ_QUIET;
}

/* The metrics of the epoch: only those that are new or changed are reported. */
static enum metric_read
format_keras_epoch(struct format_keras *k, struct metric_line *r)
{
	const struct metric_value *v;
	struct metric_value old[FORMAT_KERAS_NAMES];
	size_t i, n = 0, n_old = k->n;

	memcpy(old, k->read, n_old * sizeof *old);
	for (i = 0; i < r->n; i++) {
		v = format_keras_find(old, n_old, r->values[i].name);
		if (i < FORMAT_KERAS_NAMES)
			k->read[i] = r->values[i];
		/* The same bits: NaN is itself. NOLINTNEXTLINE(bugprone-*) */
		if (v == NULL || memcmp(&v->value, &r->values[i].value,
				     sizeof v->value) != 0)
			r->values[n++] = r->values[i];
	}
	k->n = r->n < FORMAT_KERAS_NAMES ? r->n : FORMAT_KERAS_NAMES;
	r->n = n;
	return metric_span_step(r, k->epoch) ? METRIC_READ_REPORT
					     : METRIC_READ_QUIET;
}

/* Another epoch begins, whose metrics follow. */
static void
format_keras_begin(struct format_keras *k, int64_t epoch)
{
	k->epoch = epoch;
	k->n = 0;
	k->batches = 0;
}

/* A line "32/32 … loss: 0.2". */
static enum metric_read
format_keras_metrics(
    struct format_keras *k, struct metric_line *r, int64_t batches)
{
	size_t known, other;
	bool same_bar = k->batches == 0 || k->batches == batches;

	if (k->epoch == 0)
		format_keras_begin(k, 1);
	if (k->n == 0) {
		if (!same_bar)
			return format_keras_evaluate(r, k->epoch);
		k->batches = batches;
		return format_keras_epoch(k, r);
	}
	known = format_keras_known(k, r, &other);
	if (same_bar && (known == k->n || other == 0) &&
	    (r->n > k->n || other == 0))
		return format_keras_epoch(k, r);
	/* Training again with epochs=1, as fit in a loop does. */
	if (!k->told && same_bar && known == k->n && r->n == k->n) {
		format_keras_begin(k, k->epoch + 1);
		k->batches = batches;
		return format_keras_epoch(k, r);
	}
	/* The bar is of another model: its names are its own. */
	if (same_bar && known < r->n)
		return metric_span_step(r, k->epoch) ? METRIC_READ_REPORT
						     : METRIC_READ_QUIET;
	return format_keras_evaluate(r, k->epoch);
}

static enum metric_read
format_keras_read(struct metric_line *r, struct metric_span line,
    const struct metric_reading *in)
{
	struct format_keras *k = in->state;
	struct metric_span s = metric_span_trim(line);
	int64_t at, all;

	if (metric_span_take(&s, "Epoch ")) {
		if (!metric_span_take_count(&s, &at) ||
		    !metric_span_take(&s, "/") ||
		    !metric_span_take_count(&s, &all) || s.p != s.end)
			return METRIC_READ_OTHER;
		format_keras_begin(k, at);
		k->told = true;
		return METRIC_READ_QUIET;
	}
	if (!metric_span_take_count(&s, &at) || !metric_span_take(&s, "/") ||
	    !metric_span_take_count(&s, &all) || s.p == s.end ||
	    !metric_span_is_blank(*s.p))
		return METRIC_READ_OTHER;
	if (at > all)
		return METRIC_READ_OTHER;
	/* The first bar of an epoch is that of its training. */
	if (at < all && k->n == 0 && k->batches == 0)
		k->batches = all;
	if (at < all || in->overwritten)
		return METRIC_READ_QUIET;
	(void)metric_span_take_until(&s, " - ");
	format_keras_pairs(r, s);
	return r->n > 0 ? format_keras_metrics(k, r, all) : METRIC_READ_OTHER;
}

const struct metric_format metric_format_keras = {
	.state = sizeof(struct format_keras),
	.bars = true,
	.read = format_keras_read,
};
