/*
 * tqdm: a progress bar with values behind it.
 *
 *	Training:  25%|##5       | 1/4 [00:00<00:02,  1.18it/s, loss=0.526, val_loss=0.455]
 *	12it [00:01,  9.50it/s, loss=0.5]
 *
 * The step is the epoch that the text before the bar names, "Epoch 3", and then the
 * last state of the bar counts; else, of a bar within another one, the count of that
 * one and 1; else the count of the bar, which goes on over bars of the same text.
 */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "src/model/study/study.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

enum { FORMAT_TQDM_REPORTS = 200 }; /* of one bar, at most */

/* The state of one log: its outermost bar. */
struct format_tqdm {
	bool begun;
	bool open; /* it is not at its end */
	uint32_t id;
	int64_t at, all; /* its count; all is 0: unknown */
	int64_t first; /* count at which it was shown without values; or -1 */
	int64_t before; /* counts of earlier bars of the same text */
	int64_t share; /* of the bar that was read */
	int64_t shown; /* its count then, whose values may follow */
};

/* What is read of a bar. */
struct format_tqdm_bar {
	uint32_t id; /* of its text, without numbers */
	bool has_epoch;
	int64_t epoch; /* in its text */
	int64_t at, all;
};

/* "Epoch 3", "epoch: 3", "Epoch [3/10]" in a text. */
static void
format_tqdm_epoch(struct format_tqdm_bar *b, struct metric_span s)
{
	for (; s.end - s.p > 5; s.p++) {
		if (strncasecmp(s.p, "epoch", 5) != 0)
			continue;
		s.p += 5;
		while (s.p < s.end && strchr(" :#[(=", *s.p) != NULL)
			s.p++;
		b->has_epoch = metric_span_take_count(&s, &b->epoch);
		return;
	}
}

/* FNV-1a of the letters; never 0. */
static uint32_t
format_tqdm_id(struct metric_span s)
{
	uint32_t h = 2166136261u;

	for (; s.p < s.end; s.p++)
		if (isalpha((unsigned char)*s.p))
			h = (h ^ (unsigned char)*s.p) * 16777619u;
	return h != 0 ? h : 1;
}

/* A count, also one that unit_scale writes: 0.00, 4.00k. */
static bool
format_tqdm_take(struct metric_span *s, int64_t *count)
{
	static const char units[] = "kMGT";
	struct metric_number n;
	const char *p = metric_number_scan(&n, s->p, s->end), *unit;

	if (s->p == s->end || !metric_span_is_digit(*s->p) || p == NULL)
		return false;
	unit = p < s->end && *p != '\0' ? strchr(units, *p) : NULL;
	if (unit != NULL)
		n.exponent += 3 * (unit - units + 1);
	s->p = p + (unit != NULL);
	return metric_number_integer(&n, count);
}

/* "Training:  25%|##5 | 1/4", or "12it": the text and the count. */
static bool
format_tqdm_count(struct format_tqdm_bar *b, struct metric_span s)
{
	const char *bar = metric_span_find(s, "%|"), *p;
	struct metric_span text = { s.p, s.p }, count;

	s = metric_span_trim(s);
	for (p = s.end; p > s.p && p[-1] != ' ' && p[-1] != '|'; p--)
		;
	count = (struct metric_span){ p, s.end };
	if (!format_tqdm_take(&count, &b->at))
		return false;
	if (metric_span_take(&count, "/")) {
		if (!format_tqdm_take(&count, &b->all) ||
		    count.p != count.end || bar == NULL)
			return false;
		text.end = bar;
	} else if (bar != NULL || count.p == count.end)
		return false;
	else
		text.end = p;
	b->id = format_tqdm_id(text);
	format_tqdm_epoch(b, text);
	return true;
}

/* "00:00<00:02,  1.18it/s, loss=0.526": time and rate come before the values. */
static void
format_tqdm_values(struct metric_line *r, struct metric_span s)
{
	struct metric_span pair, name;

	(void)metric_span_take_until(&s, ", ");
	(void)metric_span_take_until(&s, ", ");
	while (s.p < s.end) {
		pair = metric_span_take_until(&s, ", ");
		if (metric_span_find(pair, "=") != NULL)
			name = metric_span_take_until(&pair, "=");
		else
			name = metric_span_take_until(&pair, ":");
		(void)metric_span_add(r, name, pair);
	}
}

/* The step of a bar; false: this state of it is passed over. */
static bool
format_tqdm_step(struct format_tqdm *t, const struct format_tqdm_bar *b,
    struct metric_line *r)
{
	int64_t share;

	r->bar = b->id;
	r->bar_ends = b->all > 0 && b->at == b->all;
	if (b->has_epoch)
		return metric_span_step(r, b->epoch);
	if (t->open && t->id != b->id)
		return metric_span_step(r, t->before + t->at + 1);
	if (t->id == b->id && b->at < t->at && t->before < METRIC_STEP_MAX)
		t->before += t->at;
	else if (t->id != b->id)
		t->before = 0;
	if (t->id != b->id || b->at < t->at || !t->begun)
		t->first = r->n == 0 || b->at == 0 ? b->at : -1;
	t->begun = true;
	t->id = b->id;
	t->at = b->at;
	t->all = b->all;
	t->open = b->all > 0 && b->at < b->all;
	r->bar_first = b->at == t->first;
	share = b->all > FORMAT_TQDM_REPORTS
		    ? b->at / (b->all / FORMAT_TQDM_REPORTS)
		    : -1;
	if (share >= 0 && share == t->share && t->open && b->at > 0 &&
	    b->at != t->shown)
		return false;
	t->share = share;
	t->shown = b->at;
	return metric_span_step(r, t->before + b->at);
}

static enum metric_read
format_tqdm_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_tqdm_bar bar = { 0 };
	struct metric_span head, values;
	const char *open;

	s = metric_span_trim(s);
	if (s.p == s.end || s.end[-1] != ']')
		return METRIC_READ_OTHER;
	for (open = s.end; open > s.p && open[-1] != '['; open--)
		;
	if (open - s.p < 2)
		return METRIC_READ_OTHER;
	head = (struct metric_span){ s.p, open - 1 };
	values = (struct metric_span){ open, s.end - 1 };
	if (values.p == values.end || !metric_span_is_digit(*values.p) ||
	    !format_tqdm_count(&bar, head))
		return METRIC_READ_OTHER;
	format_tqdm_values(r, values);
	if (r->n == 0) {
		/* The count of the bar is known; there is nothing to report. */
		(void)format_tqdm_step(in->state, &bar, r);
		return METRIC_READ_QUIET;
	}
	return format_tqdm_step(in->state, &bar, r) ? METRIC_READ_REPORT
						    : METRIC_READ_QUIET;
}

const struct metric_format metric_format_tqdm = {
	.lines = STUDY_LINES_TQDM,
	.state = sizeof(struct format_tqdm),
	.bars = true,
	.read = format_tqdm_read,
};
