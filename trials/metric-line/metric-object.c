/*
 * Where an object of JSON ends in the output of a program that prints several without
 * a newline between them, or one over several lines; also one of a list of objects,
 * and a dictionary of Python.
 */

#include <string.h>

#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-line.h"

static bool
metric_object_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *
metric_object_skip(const char *p, const char *end)
{
	while (p < end && metric_object_is_blank(*p))
		p++;
	return p;
}

/* A text after its opening quote; NULL: it does not end in its line. */
static const char *
metric_object_text(const char *p, const char *end, char quote)
{
	for (; p < end && *p != quote && *p != '\n'; p++)
		if (*p == '\\')
			p++;
	return p < end && *p == quote ? p + 1 : NULL;
}

/* Whether a line within an object may begin so. */
static bool
metric_object_goes_on(const char *p, const char *end)
{
	static const char *const words[] = { "true", "false", "null", "True",
		"False", "None", "nan", "NaN", "inf", "Infinity", "np.",
		"array(", "tensor(", "Array(", NULL };
	size_t i, n;

	p = metric_object_skip(p, end);
	if (p == end || *p == '\n' || strchr("\"'{}[]-.", *p) != NULL ||
	    (unsigned)(*p - '0') < 10)
		return true;
	for (i = 0; words[i] != NULL; i++) {
		n = strlen(words[i]);
		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		if (memcmp(p, words[i], n) == 0)
			return true;
	}
	return false;
}

/* What is known of the object at a brace. */
enum object_is { OBJECT_NONE, OBJECT_OPEN, OBJECT_WHOLE };

/* Whether a brace begins an object, with a quote behind it: none, open, or whole. */
static enum object_is
metric_object_begins(const char *p, const char *end)
{
	for (p++; p < end && (metric_object_is_blank(*p) || *p == '\n'); p++)
		;
	if (p == end)
		return OBJECT_OPEN;
	return *p == '"' || *p == '\'' ? OBJECT_WHOLE : OBJECT_NONE;
}

/* Find the end of the object at *p, which begins with a brace. */
static enum object_is
metric_object_find(const char **p, const char *end)
{
	const char *q = *p, *text;
	size_t depth = 0;

	if (metric_object_begins(q, end) != OBJECT_WHOLE)
		return metric_object_begins(q, end);
	do {
		if (q >= end)
			return OBJECT_OPEN;
		if (*q == '"' || *q == '\'') {
			text = q;
			q = metric_object_text(q + 1, end, *q);
			if (q == NULL)
				return memchr(text, '\n',
					   (size_t)(end - text)) != NULL
					   ? OBJECT_NONE
					   : OBJECT_OPEN;
			continue;
		}
		if (*q == '\n' && !metric_object_goes_on(q + 1, end))
			return OBJECT_NONE;
		if (strchr("{[(", *q) != NULL && *q != '\0')
			depth++;
		else if (strchr("}])", *q) != NULL && *q != '\0')
			depth--;
		q++;
	} while (depth > 0);
	*p = q;
	return OBJECT_WHOLE;
}

/* Behind what stands between the objects of a list. */
static const char *
metric_object_marks(const char *p, const char *end)
{
	while (p < end && (metric_object_is_blank(*p) || *p == '[' ||
			      *p == ']' || *p == ','))
		p++;
	return p;
}

enum metric_object
metric_object_end(const char *p, const char *end, const char **next)
{
	const char *start = metric_object_marks(p, end), *q = start;

	if (q == end || *q != '{')
		return METRIC_OBJECT_NONE;
	switch (metric_object_find(&q, end)) {
	case OBJECT_NONE:
		return METRIC_OBJECT_NONE;
	case OBJECT_OPEN:
		/* A line that is too long is skipped as any other one. */
		return end - start > METRIC_LINE_MAX ? METRIC_OBJECT_NONE
						     : METRIC_OBJECT_OPEN;
	case OBJECT_WHOLE:
		break;
	}
	if (q - p > METRIC_LINE_MAX)
		return METRIC_OBJECT_NONE;
	*next = q;
	q = metric_object_marks(q, end);
	if (q == end)
		return METRIC_OBJECT_OPEN;
	if (*q == '\n') {
		*next = q + 1;
		return METRIC_OBJECT_LINE;
	}
	if (*q != '{')
		return METRIC_OBJECT_NONE;
	switch (metric_object_begins(q, end)) {
	case OBJECT_NONE:
		break;
	case OBJECT_OPEN:
		return METRIC_OBJECT_OPEN;
	case OBJECT_WHOLE:
		return METRIC_OBJECT_NEXT;
	}
	return METRIC_OBJECT_NONE;
}

void
metric_object_trim(const char **p, const char **end)
{
	*p = metric_object_marks(*p, *end);
	while (*end > *p && (metric_object_is_blank((*end)[-1]) ||
				(*end)[-1] == ',' || (*end)[-1] == ']'))
		--*end;
}
