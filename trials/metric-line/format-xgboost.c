/*
 * XGBoost and LightGBM: a line for each round.
 *
 *	[3]	train-rmse:0.51	eval-rmse:0.62
 *	[3]	train's l2: 0.78	valid's l2: 0.81
 *	[LightGBM] [Info] Iteration:3, valid_1 l2 : 0.81
 *	[3]:  train's l2:0.78  valid's l2:0.81
 *	[3]#011train-rmse:0.51#011validation-rmse:0.62
 *
 * The third is LightGBM's own program, the fourth that of R, which may be in quotes
 * behind [1]; in the logs of SageMaker a tab is "#011".
 *
 * XGBoost begins at [0] again when it continues a model; LightGBM goes on.
 */

#include <string.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

/* "SET's METRIC" is SET/METRIC. */
static struct metric_span
format_xgboost_name(struct metric_span name, char *room, size_t size)
{
	const char *at = metric_span_find(name, "'s ");
	size_t head, rest;

	if (at == NULL)
		return name;
	head = (size_t)(at - name.p);
	rest = (size_t)(name.end - at) - 3;
	if (head + 1 + rest > size)
		return name;
	memcpy(room, name.p, head);
	room[head] = '/';
	memcpy(room + head + 1, at + 3, rest);
	return (struct metric_span){ room, room + head + 1 + rest };
}

/* NAME:VALUE, behind which cross-validation writes " + DEVIATION". */
static void
format_xgboost_pair(struct metric_line *r, struct metric_span pair)
{
	const char *colon = memrchr(pair.p, ':', (size_t)(pair.end - pair.p));
	char room[METRIC_LINE_NAME_MAX * 2];
	struct metric_number n;
	struct metric_span name, value;

	if (colon == NULL)
		return;
	name = (struct metric_span){ pair.p, colon };
	value = metric_span_trim((struct metric_span){ colon + 1, pair.end });
	value.end = metric_number_scan(&n, value.p, value.end);
	if (value.end == NULL)
		return;
	(void)metric_span_add(
	    r, format_xgboost_name(name, room, sizeof room), value);
}

/* LightGBM's own program: one metric in a line. */
static bool
format_xgboost_program(struct metric_line *r, struct metric_span s)
{
	struct metric_span set;
	int64_t step;

	(void)metric_span_take_until(&s, "Iteration:");
	if (!metric_span_take_count(&s, &step) || !metric_span_take(&s, ", "))
		return false;
	set = metric_span_take_until(&s, " ");
	if (set.p == set.end || s.p == s.end)
		return false;
	/* One text: the blank between set and metric becomes '/'. */
	format_xgboost_pair(r, (struct metric_span){ set.p, s.end });
	if (r->n == 1 && (size_t)(set.end - set.p) < strlen(r->values[0].name))
		r->values[0].name[set.end - set.p] = '/';
	return metric_span_step(r, step);
}

/* The next of the pairs, which a tab, its name in a log, or two blanks part. */
static struct metric_span
format_xgboost_next(struct metric_span *s)
{
	struct metric_span pair = { s->p, s->p };
	size_t n = 0;

	for (; pair.end < s->end; pair.end++) {
		n = *pair.end == '\t' ? 1 : 0;
		if (s->end - pair.end > 1 && memcmp(pair.end, "  ", 2) == 0)
			n = 2;
		if (s->end - pair.end > 3 && memcmp(pair.end, "#011", 4) == 0)
			n = 4;
		if (n > 0)
			break;
	}
	s->p = pair.end + n;
	return metric_span_trim(pair);
}

/* The state of one log. */
struct format_xgboost {
	bool begun;
	int64_t first; /* round */
};

static enum metric_read
format_xgboost_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_xgboost *b = in->state;
	int64_t step;

	if (metric_span_take(&s, "[LightGBM] [Info] "))
		return format_xgboost_program(r, s) ? METRIC_READ_REPORT
						    : METRIC_READ_OTHER;
	if (s.end - s.p > 5 && s.end[-1] == '"' &&
	    metric_span_take(&s, "[1] \""))
		s.end--;
	if (!metric_span_take(&s, "[") || !metric_span_take_count(&s, &step) ||
	    !metric_span_take(&s, "]"))
		return METRIC_READ_OTHER;
	(void)metric_span_take(&s, ":");
	while (s.p < s.end)
		format_xgboost_pair(r, format_xgboost_next(&s));
	if (!metric_span_step(r, step))
		return METRIC_READ_OTHER;
	if (!b->begun)
		*b = (struct format_xgboost){ true, step };
	r->restarts = true;
	r->first = b->first;
	return METRIC_READ_REPORT;
}

const struct metric_format metric_format_xgboost = {
	.state = sizeof(struct format_xgboost),
	.read = format_xgboost_read,
};
