/*
 * fairseq with --log-format simple, tqdm and json: what the logger's name is, train,
 * valid or train_inner, is a part of the line.
 *
 *	… | INFO | train_inner | epoch 001:     10 / 100 loss=9.5, ppl=724, num_updates=10
 *	… | INFO | valid | epoch 001 | valid on 'valid' subset | loss 4.0 | ppl 16
 *	… | INFO | valid | {"epoch": 1, "valid_loss": "4.000", "valid_ppl": "16"}
 *	[…][valid][INFO] - {"epoch": 1, "valid_loss": "4.000"}
 *
 * An epoch's metrics have the name before them, train_loss and valid_loss, and the
 * epoch as their step; those within an epoch have the number of updates.
 */

#include <string.h>

#include "trials/metric-line/metric-format.h"

/* Add NAME VALUE with TAG_ before it, if there is a tag. */
static void
format_fairseq_add(struct metric_line *r, struct metric_span tag,
    struct metric_span name, struct metric_span value)
{
	char full[2 * METRIC_LINE_NAME_MAX + 2];
	size_t head = (size_t)(tag.end - tag.p),
	       n = (size_t)(name.end - name.p);
	struct metric_span as = { full, full };

	if (head > METRIC_LINE_NAME_MAX || n > METRIC_LINE_NAME_MAX)
		return;
	memcpy(full, tag.p, head);
	if (head > 0)
		full[head++] = '_';
	memcpy(full + head, name.p, n);
	as.end = full + head + n;
	(void)metric_span_add(r, as, value);
}

/* The value of a name as a step; false: there is none. */
static bool
format_fairseq_step(struct metric_line *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, name) == 0)
			return r->values[i].value >= 0 &&
			       r->values[i].value < 1e15 &&
			       metric_span_step(r, (int64_t)r->values[i].value);
	return false;
}

/* {"epoch": 1, "valid_loss": "4.000"}: numbers are texts. */
static enum metric_read
format_fairseq_json(struct metric_line *r, struct metric_span s)
{
	struct metric_span name, value;

	while (metric_span_find(s, "\"") != NULL) {
		(void)metric_span_take_until(&s, "\"");
		name = metric_span_take_until(&s, "\"");
		if (!metric_span_take(&s, ":"))
			return METRIC_READ_OTHER;
		value = metric_span_take_until(&s, ", \"");
		if (s.p < s.end)
			s.p--;
		while (
		    value.p < value.end && (*value.p == ' ' || *value.p == '"'))
			value.p++;
		while (value.end > value.p &&
		       (value.end[-1] == '"' || value.end[-1] == '}'))
			value.end--;
		(void)metric_span_add(r, name, value);
	}
	if (!format_fairseq_step(r, "num_updates") &&
	    !format_fairseq_step(r, "epoch"))
		return METRIC_READ_OTHER;
	return METRIC_READ_REPORT;
}

/* ":     10 / 100 loss=9.5, ppl=724" */
static enum metric_read
format_fairseq_inner(struct metric_line *r, struct metric_span s)
{
	struct metric_span pair, name, none = { s.p, s.p };
	int64_t at, all;

	s = metric_span_trim(s);
	if (!metric_span_take_count(&s, &at) || !metric_span_take(&s, " / ") ||
	    !metric_span_take_count(&s, &all))
		return METRIC_READ_OTHER;
	while (s.p < s.end) {
		pair = metric_span_take_until(&s, ",");
		name = metric_span_take_until(&pair, "=");
		format_fairseq_add(r, none, metric_span_trim(name), pair);
	}
	if (!format_fairseq_step(r, "num_updates"))
		return METRIC_READ_QUIET;
	return METRIC_READ_REPORT;
}

static enum metric_read
format_fairseq_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct metric_span tag, name, pair;
	int64_t epoch;

	(void)in;
	if (metric_span_find(s, "][INFO] - ") != NULL) {
		/* As fairseq-hydra-train sets it. */
		tag = metric_span_take_until(&s, "][INFO] - ");
		while (metric_span_find(tag, "[") != NULL)
			(void)metric_span_take_until(&tag, "[");
	} else {
		(void)metric_span_take_until(&s, "| INFO | ");
		tag = metric_span_take_until(&s, " | ");
	}
	s = metric_span_trim(s);
	if (s.p == s.end || metric_span_find(tag, " ") != NULL)
		return METRIC_READ_OTHER;
	if (*s.p == '{' && s.end[-1] == '}')
		return format_fairseq_json(r, s);
	if (!metric_span_take(&s, "epoch ") ||
	    !metric_span_take_count(&s, &epoch))
		return METRIC_READ_OTHER;
	if (metric_span_take(&s, ":"))
		return format_fairseq_inner(r, s);
	while (metric_span_take(&s, " | ")) {
		pair = metric_span_take_until(&s, " | ");
		if (s.p < s.end)
			s.p -= 3;
		name = metric_span_take_word(&pair);
		format_fairseq_add(r, tag, name, pair);
	}
	return metric_span_step(r, epoch) ? METRIC_READ_REPORT
					  : METRIC_READ_OTHER;
}

const struct metric_format metric_format_fairseq = {
	.logger = true,
	.read = format_fairseq_read,
};
