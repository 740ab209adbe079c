/*
 * MMEngine: lines of the training, whose step is the iteration, and of the
 * validation, whose step is that of the training: its epoch, or its iteration.
 *
 *	… - mmengine - INFO - Epoch(train) [1][ 5/10]  lr: 5.0000e-01  loss: 0.6183
 *	… - mmengine - INFO - Epoch(val) [1][10/10]    accuracy: 0.8400  time: 0.0056
 *	… - mmengine - INFO - Iter(train) [ 100/2000]  lr: 1.0e-02  loss: 0.5
 *	… - mmengine - INFO - Iter(val) [10/10]    mIoU: 0.81
 */

#include "trials/metric-line/metric-format.h"

/* The state of one log. */
struct format_mmengine {
	int64_t iteration; /* the last one of the training */
};

/* "name: 0.5  other: 1.0e-02": what is no number is passed over. */
static void
format_mmengine_pairs(struct metric_line *r, struct metric_span s)
{
	struct metric_span name, value;

	while (s.p < s.end) {
		name = metric_span_take_word(&s);
		if (name.p == name.end || name.end[-1] != ':')
			continue;
		name.end--;
		value = metric_span_take_word(&s);
		(void)metric_span_add(r, name, value);
	}
}

/* "[ 5/10]" */
static bool
format_mmengine_count(struct metric_span *s, int64_t *at, int64_t *all)
{
	if (!metric_span_take(s, "["))
		return false;
	while (s->p < s->end && *s->p == ' ')
		s->p++;
	return metric_span_take_count(s, at) && metric_span_take(s, "/") &&
	       metric_span_take_count(s, all) && metric_span_take(s, "]");
}

static enum metric_read
format_mmengine_epoch(struct format_mmengine *m, struct metric_line *r,
    struct metric_span s, bool train)
{
	int64_t epoch, at, all;

	while (s.p < s.end && *s.p == ' ')
		s.p++;
	if (!metric_span_take(&s, "["))
		return METRIC_READ_OTHER;
	while (s.p < s.end && *s.p == ' ')
		s.p++;
	if (!metric_span_take_count(&s, &epoch) || !metric_span_take(&s, "]") ||
	    !format_mmengine_count(&s, &at, &all))
		return METRIC_READ_OTHER;
	/* Within a validation there are no results yet. */
	if (!train && metric_span_find(s, "eta:") != NULL)
		return METRIC_READ_QUIET;
	format_mmengine_pairs(r, s);
	if (train && epoch > 0 && epoch < 1 << 30 && all < 1 << 30)
		m->iteration = (epoch - 1) * all + at;
	return metric_span_step(r, train ? m->iteration : epoch)
		   ? METRIC_READ_REPORT
		   : METRIC_READ_QUIET;
}

static enum metric_read
format_mmengine_iter(struct format_mmengine *m, struct metric_line *r,
    struct metric_span s, bool train)
{
	int64_t at, all;

	while (s.p < s.end && *s.p == ' ')
		s.p++;
	if (!format_mmengine_count(&s, &at, &all))
		return METRIC_READ_OTHER;
	if (!train && metric_span_find(s, "eta:") != NULL)
		return METRIC_READ_QUIET;
	format_mmengine_pairs(r, s);
	if (train)
		m->iteration = at;
	return metric_span_step(r, m->iteration) ? METRIC_READ_REPORT
						 : METRIC_READ_QUIET;
}

static enum metric_read
format_mmengine_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_mmengine *m = in->state;

	s = metric_span_trim(s);
	if (metric_span_take(&s, "Epoch(train)"))
		return format_mmengine_epoch(m, r, s, true);
	if (metric_span_take(&s, "Epoch(val)") ||
	    metric_span_take(&s, "Epoch(test)"))
		return format_mmengine_epoch(m, r, s, false);
	if (metric_span_take(&s, "Iter(train)"))
		return format_mmengine_iter(m, r, s, true);
	if (metric_span_take(&s, "Iter(val)") ||
	    metric_span_take(&s, "Iter(test)"))
		return format_mmengine_iter(m, r, s, false);
	return METRIC_READ_OTHER;
}

const struct metric_format metric_format_mmengine = {
	.state = sizeof(struct format_mmengine),
	.read = format_mmengine_read,
};
