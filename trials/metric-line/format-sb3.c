/*
 * stable-baselines3: a table of two columns, whose step stands in it.
 *
 *	---------------------------------
 *	| rollout/           |          |
 *	|    ep_rew_mean     | 17.7     |
 *	| time/              |          |
 *	|    total_timesteps | 128      |
 *	---------------------------------
 *
 * Three digits of each: progress.csv has all.
 */

#include <string.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

enum { FORMAT_SB3_VALUES = 64 };

/* The state of one log: the table that is being printed. */
struct format_sb3 {
	char section[METRIC_LINE_NAME_MAX + 1]; /* "rollout/" */
	bool has_step;
	int64_t step;
	size_t n;
	struct metric_value values[FORMAT_SB3_VALUES];
};

/* The line at the end of a table, and at its beginning. */
static enum metric_read
format_sb3_end(struct format_sb3 *b, struct metric_line *r)
{
	memcpy(r->values, b->values, b->n * sizeof *b->values);
	r->n = b->n;
	r->has_step = b->has_step;
	r->step = b->step;
	r->rounded = true;
	b->n = 0;
	b->has_step = false;
	b->section[0] = '\0';
	return r->n > 0 ? METRIC_READ_REPORT : METRIC_READ_QUIET;
}

/* A value of the table; r is scratch. */
static void
format_sb3_value(struct format_sb3 *b, struct metric_line *r,
    struct metric_span name, struct metric_span value)
{
	char full[2 * METRIC_LINE_NAME_MAX + 2];
	size_t head = strlen(b->section), n = (size_t)(name.end - name.p);
	struct metric_number number;
	struct metric_span as = { full, full + head + n };

	if (n > METRIC_LINE_NAME_MAX || b->n == FORMAT_SB3_VALUES)
		return;
	memcpy(full, b->section, head);
	memcpy(full + head, name.p, n);
	if (!metric_span_add(r, as, value))
		return;
	b->values[b->n++] = r->values[--r->n];
	if (n == sizeof "total_timesteps" - 1 &&
	    memcmp(name.p, "total_timesteps", n) == 0 &&
	    metric_number_scan(&number, value.p, value.end) == value.end)
		b->has_step = metric_number_integer(&number, &b->step);
}

static enum metric_read
format_sb3_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_sb3 *b = in->state;
	struct metric_span name, value;
	const char *p;

	s = metric_span_trim(s);
	for (p = s.p; p < s.end && *p == '-'; p++)
		;
	if (p == s.end && p - s.p > 4)
		return format_sb3_end(b, r);
	if (!metric_span_take(&s, "|"))
		return METRIC_READ_OTHER;
	name = metric_span_trim(metric_span_take_until(&s, "|"));
	value = metric_span_trim(metric_span_take_until(&s, "|"));
	if (s.p != s.end || name.p == name.end)
		return METRIC_READ_OTHER;
	if (value.p == value.end) {
		if (name.end[-1] != '/' ||
		    name.end - name.p > METRIC_LINE_NAME_MAX)
			return METRIC_READ_OTHER;
		memcpy(b->section, name.p, (size_t)(name.end - name.p));
		b->section[name.end - name.p] = '\0';
	} else
		format_sb3_value(b, r, name, value);
	return METRIC_READ_QUIET;
}

const struct metric_format metric_format_sb3 = {
	.state = sizeof(struct format_sb3),
	.read = format_sb3_read,
};
