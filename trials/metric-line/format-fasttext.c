/*
 * fastText: the progress of the training, and what test prints.
 *
 *	Progress: 100.0% … avg.loss:  0.012 ETA: …
 *	P@1	0.91
 */

#include <string.h>

#include "trials/metric-line/metric-format.h"

static bool
format_fasttext_line(struct metric_line *r, struct metric_span s)
{
	struct metric_span name, value;
	int64_t k;

	s = metric_span_trim(s);
	name = s;
	if (metric_span_take(&s, "Progress:")) {
		name.p = metric_span_find(s, "avg.loss:");
		if (name.p == NULL)
			return false;
		name.end = name.p + strlen("avg.loss");
		s.p = name.end + 1;
		value = metric_span_trim(metric_span_take_until(&s, "ETA"));
		return metric_span_add(r, name, value);
	}
	if ((!metric_span_take(&s, "P@") && !metric_span_take(&s, "R@")) ||
	    !metric_span_take_count(&s, &k))
		return false;
	name.end = s.p;
	return s.p < s.end && metric_span_is_blank(*s.p) &&
	       metric_span_add(r, name, s);
}

static enum metric_read
format_fasttext_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	(void)in;
	return format_fasttext_line(r, s) ? METRIC_READ_REPORT
					  : METRIC_READ_OTHER;
}

const struct metric_format metric_format_fasttext = {
	.read = format_fasttext_read,
};
