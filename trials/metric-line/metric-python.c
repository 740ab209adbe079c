/*
 * A dictionary as Python prints it, as an object of JSON.
 *
 *	{'epoch': 1, 'loss': np.float64(0.5), 'note': "it's", 'best': None}
 */

#include <math.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

enum { METRIC_PYTHON_DEPTH = 16 };

/* Copy a text, from its quote; NULL: it does not end. */
static const char *
metric_python_text(struct buf *out, const char *p, const char *end)
{
	char quote = *p++;

	buf_putc(out, '"');
	for (; p < end && *p != quote; p++) {
		if (*p == '\\') {
			/* What Python escapes stands in no name of a metric. */
			if (++p == end)
				return NULL;
			buf_putc(out, *p == '\'' ? '\'' : '?');
		} else if (*p == '"' || (unsigned char)*p < ' ')
			buf_putc(out, '?');
		else
			buf_putc(out, *p);
	}
	buf_putc(out, '"');
	return p < end ? p + 1 : NULL;
}

/*
 * The end of a value that is no text and no dictionary, before the comma or the brace
 * behind it: np.float64(0.5), (1, 2), [1, 'a']; NULL: it has none.
 */
static const char *
metric_python_end(const char *p, const char *end)
{
	size_t depth = 0;
	char quote;

	for (; p < end; p++) {
		if (depth == 0 && (*p == ',' || *p == '}'))
			return p;
		if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if (*p == ')' || *p == ']' || *p == '}') {
			if (depth-- == 0)
				return NULL;
		} else if (*p == '"' || *p == '\'') {
			quote = *p++;
			while (p < end && *p != quote)
				p += *p == '\\' && end - p > 1 ? 2 : 1;
		}
	}
	return NULL;
}

/* A value; NULL: it does not end. */
static const char *
metric_python_value(struct buf *out, const char *p, const char *end)
{
	char room[METRIC_NUMBER_TEXT];
	struct metric_number n;
	struct metric_span s;
	double value;

	s.p = p;
	p = s.end = metric_python_end(p, end);
	if (p == NULL)
		return NULL;
	s = metric_span_trim(s);
	if (s.p == s.end)
		return NULL;
	if (!metric_number_text(&n, s.p, s.end, room))
		buf_puts(out, *s.p == '[' || *s.p == '(' ? "[]" : "null");
	else {
		value = metric_number_value(&n);
		if (isfinite(value))
			buf_printf(out, "%.17g", value);
		else
			buf_puts(out, isnan(value) ? "NaN"
				      : value > 0  ? "Infinity"
						   : "-Infinity");
	}
	return p;
}

static const char *
metric_python_blank(const char *p, const char *end)
{
	while (
	    p < end && (metric_span_is_blank(*p) || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

bool
metric_python_json(struct buf *out, const char *p, const char *end)
{
	bool value = false; /* a colon was passed, and no comma since */
	size_t depth = 0;

	while ((p = metric_python_blank(p, end)) < end) {
		if (*p == '{' && (value || depth == 0) &&
		    depth < METRIC_PYTHON_DEPTH) {
			depth++;
			value = false;
		} else if (*p == '}' && depth > 0) {
			depth--;
			value = false;
		} else if (*p == ':' && !value)
			value = true;
		else if (*p == ',')
			value = false;
		else {
			if (depth == 0)
				return false;
			p = *p == '"' || *p == '\''
				? metric_python_text(out, p, end)
			    : value ? metric_python_value(out, p, end)
				    : NULL;
			if (p == NULL)
				return false;
			continue;
		}
		buf_putc(out, *p++);
	}
	return depth == 0;
}
