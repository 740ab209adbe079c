/*
 * transformers.Trainer: a dictionary of Python, whose numbers are in quotes since
 * version 5.
 *
 *	{'loss': '0.5', 'learning_rate': '5e-05', 'epoch': '0.5'}
 *	{'eval_loss': '0.1234', 'eval_runtime': '0.05', 'epoch': '1'}
 *
 * There is no step.  The epoch is the place of the line: a later attempt goes on
 * from the epochs that are recorded, and an evaluation that is printed again for
 * its epoch, as at the end of a program, is no report.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trials/metric-line/metric-format.h"

enum { FORMAT_HF_KINDS = 4 }; /* of evaluations, as eval_ and test_ */

/* 'text' or "text" of Python, without escape sequences. */
static bool
format_hf_quoted(struct metric_span *s, struct metric_span *text)
{
	char quote;

	if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
		return false;
	quote = *s->p++;
	text->p = s->p;
	while (s->p < s->end && *s->p != quote && *s->p != '\\')
		s->p++;
	text->end = s->p;
	if (s->p == s->end || *s->p != quote)
		return false;
	s->p++;
	return true;
}

/* The end of a value: the comma outside of its brackets and texts. */
static const char *
format_hf_end(struct metric_span s)
{
	struct metric_span text;
	int depth = 0;

	while (s.p < s.end && (depth > 0 || *s.p != ',')) {
		if (*s.p == '\'' || *s.p == '"') {
			if (!format_hf_quoted(&s, &text))
				return NULL;
			continue;
		}
		depth += strchr("[({", *s.p) != NULL && *s.p != '\0';
		depth -= strchr("])}", *s.p) != NULL && *s.p != '\0';
		s.p++;
	}
	return s.p;
}

/* The members of the dictionary, without its braces. */
static bool
format_hf_members(struct metric_line *r, struct metric_span s)
{
	struct metric_span name, value;

	while (s.p < s.end) {
		s = metric_span_trim(s);
		if (!format_hf_quoted(&s, &name) || !metric_span_take(&s, ":"))
			return false;
		s = metric_span_trim(s);
		if (!format_hf_quoted(&s, &value)) {
			value = (struct metric_span){ s.p, format_hf_end(s) };
			if (value.end == NULL)
				return false;
			s.p = value.end;
		}
		(void)metric_span_add(r, name, value);
		if (s.p < s.end && !metric_span_take(&s, ","))
			return false;
	}
	return r->n > 0;
}

static bool
format_hf_has(const struct metric_line *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, name) == 0)
			return true;
	return false;
}

/* The epoch becomes the last value: it is recorded behind those it is the place of. */
static void
format_hf_place(struct metric_line *r)
{
	struct metric_value *last = &r->values[r->n - 1], epoch;
	size_t i;

	for (i = 0; i < r->n && strcmp(r->values[i].name, "epoch") != 0; i++)
		;
	if (i == r->n)
		return;
	epoch = r->values[i];
	r->values[i] = *last;
	*last = epoch;
	r->place_name = "epoch";
	r->place = epoch.value;
	/* An epoch is rounded: several reports of a loss may have the same. */
	r->replaces = !format_hf_has(r, "loss");
}

/*
 * The state of one log: the epochs of the last evaluations, by their first
 * name.
 */
struct format_hf {
	struct format_hf_last {
		char name[METRIC_LINE_NAME_MAX + 1];
		double epoch;
	} last[FORMAT_HF_KINDS];
	size_t n;
};

/* Whether the line is an evaluation that was printed for this epoch already. */
static bool
format_hf_again(struct format_hf *h, const struct metric_line *r)
{
	struct format_hf_last *last;
	size_t i;

	for (i = 0; i < FORMAT_HF_KINDS; i++) {
		last = &h->last[i];
		if (strcmp(last->name, r->values[0].name) != 0)
			continue;
		/*
		 * One line has the epoch with four digits, the other with all.
		 */
		if (fabs(last->epoch - r->place) <= 5e-4 * fabs(r->place))
			return true;
		last->epoch = r->place;
		return false;
	}
	last = &h->last[h->n++ % FORMAT_HF_KINDS];
	(void)snprintf(last->name, sizeof last->name, "%s", r->values[0].name);
	last->epoch = r->place;
	return false;
}

static enum metric_read
format_hf_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	s.p = metric_span_find(s, "{'");
	s = s.p != NULL ? metric_span_trim(s) : s;
	if (s.p == NULL || s.end[-1] != '}')
		return METRIC_READ_OTHER;
	s.p++;
	s.end--;
	if (!format_hf_members(r, s))
		return METRIC_READ_OTHER;
	format_hf_place(r);
	if (r->replaces && format_hf_again(in->state, r))
		return METRIC_READ_QUIET;
	return METRIC_READ_REPORT;
}

const struct metric_format metric_format_hf = {
	.state = sizeof(struct format_hf),
	.read = format_hf_read,
};
