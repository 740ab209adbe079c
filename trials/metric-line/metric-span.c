/* Parts of lines: what the readers of formats share. */

#include <ctype.h>
#include <string.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-number.h"

bool
metric_span_is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

bool
metric_span_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct metric_span
metric_span_trim(struct metric_span s)
{
	while (s.p < s.end && metric_span_is_blank(*s.p))
		s.p++;
	while (s.end > s.p && metric_span_is_blank(s.end[-1]))
		s.end--;
	return s;
}

bool
metric_span_take(struct metric_span *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

bool
metric_span_take_count(struct metric_span *s, int64_t *out)
{
	const char *start = s->p;

	for (*out = 0; s->p < s->end && metric_span_is_digit(*s->p); s->p++) {
		if (*out > INT64_C(1) << 49)
			return false;
		*out = *out * 10 + (*s->p - '0');
	}
	return s->p > start;
}

struct metric_span
metric_span_take_word(struct metric_span *s)
{
	struct metric_span word;

	while (s->p < s->end && metric_span_is_blank(*s->p))
		s->p++;
	word.p = s->p;
	while (s->p < s->end && !metric_span_is_blank(*s->p))
		s->p++;
	word.end = s->p;
	return word;
}

const char *
metric_span_find(struct metric_span s, const char *word)
{
	return memmem(s.p, (size_t)(s.end - s.p), word, strlen(word));
}

struct metric_span
metric_span_take_until(struct metric_span *s, const char *word)
{
	const char *at = metric_span_find(*s, word);
	struct metric_span head = { s->p, at != NULL ? at : s->end };

	s->p = at != NULL ? at + strlen(word) : s->end;
	return head;
}

bool
metric_span_number(struct metric_number *n, struct metric_span s, char *room)
{
	/* A time has another unit in each line. */
	return s.p < s.end && (metric_number_scan(n, s.p, s.end) == s.end ||
				  (!isalpha((unsigned char)s.end[-1]) &&
				      metric_number_text(n, s.p, s.end, room)));
}

bool
metric_span_add(
    struct metric_line *r, struct metric_span name, struct metric_span text)
{
	char made[METRIC_LINE_NAME_MAX + 1], room[METRIC_NUMBER_TEXT];
	struct metric_number n;
	size_t i;

	name = metric_span_trim(name);
	text = metric_span_trim(text);
	if (!metric_span_number(&n, text, room))
		return false;
	if (!metric_line_name_make(made, name.p, (size_t)(name.end - name.p)) ||
	    strcmp(made, "step") == 0)
		return false;
	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, made) == 0)
			return false;
	return metric_line_add(r, made, strlen(made), &n);
}

bool
metric_span_step(struct metric_line *r, int64_t step)
{
	if (r->n == 0 || step < 0 || step > METRIC_STEP_MAX)
		return false;
	r->has_step = true;
	r->step = step;
	return true;
}
