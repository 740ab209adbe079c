/*
 * Parses a line of the metrics file: one flat JSON object.  Separate from
 * src/base/json/json.h for speed (a million lines), for NaN and Infinity as
 * Python writes them, and to skip non-numbers without storing them.
 */

#include <string.h>

#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-internal.h"

#define DEPTH_MAX 16

/* Where we are in the line.  Readers return false when it is no JSON. */
struct cursor {
	const char *p, *end;
	const char *step; /* the member that is the step */
};

static void
skip_space(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' ||
				    *c->p == '\r' || *c->p == '\n'))
		c->p++;
}

static bool
take(struct cursor *c, char wanted)
{
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

static bool
take_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* Four hexadecimal digits, or -1. */
static int
take_hex(struct cursor *c)
{
	int i, v = 0, d;

	if (c->end - c->p < 4)
		return -1;
	for (i = 0; i < 4; i++, c->p++) {
		if (*c->p >= '0' && *c->p <= '9')
			d = *c->p - '0';
		else if ((*c->p | 0x20) >= 'a' && (*c->p | 0x20) <= 'f')
			d = (*c->p | 0x20) - 'a' + 10;
		else
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/* The character after a backslash; -1 when it is no JSON. */
static int
take_escape(struct cursor *c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *q;

	if (c->p == c->end)
		return -1;
	if (take(c, 'u'))
		return take_hex(c);
	q = *c->p != '\0' ? strchr(from, *c->p) : NULL;
	if (q == NULL)
		return -1;
	c->p++;
	return to[q - from];
}

/*
 * Parse a string after its opening quote. name (of METRIC_LINE_NAME_MAX + 1) is
 * truncated, *len is the full length; non-ASCII characters become '?', which no
 * name contains.
 */
static bool
take_string(struct cursor *c, char *name, size_t *len)
{
	int ch;

	for (*len = 0; c->p < c->end; ++*len) {
		ch = (unsigned char)*c->p++;
		if (ch == '"')
			return true;
		if (ch < 0x20)
			return false;
		if (ch == '\\' && (ch = take_escape(c)) < 0)
			return false;
		if (*len < METRIC_LINE_NAME_MAX)
			name[*len] = ch < 0x80 ? (char)ch : '?';
	}
	return false;
}

/* JSON's own grammar, and the words Python writes. */
static bool
take_number(struct cursor *c, struct metric_number *n)
{
	const char *start = c->p, *dot;

	c->p = metric_number_scan(n, start, c->end);
	if (c->p == NULL || *start == '+')
		return false;
	if (n->kind != NUMBER_FINITE)
		return true;
	if (*n->text == '.' || (n->len > 1 && n->text[0] == '0' &&
				   n->text[1] >= '0' && n->text[1] <= '9'))
		return false;
	dot = memchr(n->text, '.', n->len);
	return dot == NULL ||
	       (dot + 1 < c->p && dot[1] >= '0' && dot[1] <= '9');
}

static bool skip_value(struct cursor *, int depth);

/* Skip the rest of an array or object after its bracket. */
static bool
skip_members(struct cursor *c, char close, int depth)
{
	char name[METRIC_LINE_NAME_MAX + 1];
	size_t len;

	skip_space(c);
	if (take(c, close))
		return true;
	do {
		skip_space(c);
		if (close == '}') {
			if (!take(c, '"') || !take_string(c, name, &len))
				return false;
			skip_space(c);
			if (!take(c, ':'))
				return false;
			skip_space(c);
		}
		if (!skip_value(c, depth))
			return false;
		skip_space(c);
	} while (take(c, ','));
	return take(c, close);
}

static bool
skip_value(struct cursor *c, int depth)
{
	char name[METRIC_LINE_NAME_MAX + 1];
	struct metric_number n;
	size_t len;

	if (depth == DEPTH_MAX)
		return false;
	if (take(c, '{'))
		return skip_members(c, '}', depth + 1);
	if (take(c, '['))
		return skip_members(c, ']', depth + 1);
	if (take(c, '"'))
		return take_string(c, name, &len);
	if (take_word(c, "null") || take_word(c, "true") ||
	    take_word(c, "false"))
		return true;
	return take_number(c, &n);
}

static bool
is_number_start(const struct cursor *c)
{
	return c->p < c->end && strchr("-0123456789NnIi", *c->p) != NULL &&
	       *c->p != '\0' &&
	       !(c->end - c->p >= 4 && memcmp(c->p, "null", 4) == 0);
}

static const char not_json[] = "the line is not one JSON object";
static const char bad_name[] = "a number has a name that no metric may have";

/* One member after its key was read. */
static bool
take_member(
    struct metric_line *r, struct cursor *c, const char *name, size_t len)
{
	struct metric_number n;
	bool is_step =
	    len == strlen(c->step) && memcmp(name, c->step, len) == 0;

	if (!is_number_start(c)) {
		if (is_step)
			return metric_line_refuse(
			    r, "step is not an integer from 0 to 2^53");
		return skip_value(c, 1) || metric_line_refuse(r, not_json);
	}
	if (!take_number(c, &n))
		return metric_line_refuse(r, not_json);
	if (is_step)
		return metric_line_add(r, "step", 4, &n);
	if (len == 0 || len > METRIC_LINE_NAME_MAX ||
	    (len == 4 && memcmp(name, "step", 4) == 0) ||
	    metric_line_name_len(name, name + len) != len) {
		r->left_out = bad_name;
		return true;
	}
	return metric_line_add(r, name, len, &n);
}

static bool
take_object(struct metric_line *r, struct cursor *c)
{
	char name[METRIC_LINE_NAME_MAX + 1];
	size_t len;

	skip_space(c);
	if (take(c, '}'))
		return true;
	do {
		skip_space(c);
		if (!take(c, '"') || !take_string(c, name, &len))
			return metric_line_refuse(r, not_json);
		skip_space(c);
		if (!take(c, ':'))
			return metric_line_refuse(r, not_json);
		skip_space(c);
		if (!take_member(r, c, name, len))
			return false;
		skip_space(c);
	} while (take(c, ','));
	return take(c, '}') || metric_line_refuse(r, not_json);
}

bool
metric_json_parse(struct metric_line *r, const char *line, size_t len)
{
	return metric_json_parse_step(r, line, len, "step");
}

bool
metric_json_parse_step(
    struct metric_line *r, const char *line, size_t len, const char *step)
{
	struct cursor c = { line, line + len, step };

	metric_line_clear(r);
	if (len > METRIC_LINE_MAX)
		return metric_line_refuse(r, "the line is too long");
	skip_space(&c);
	if (c.p == c.end)
		return false;
	if (!take(&c, '{'))
		return metric_line_refuse(r, not_json);
	if (!take_object(r, &c))
		return false;
	skip_space(&c);
	if (c.p != c.end)
		return metric_line_refuse(r, not_json);
	if (r->n == 0)
		return metric_line_refuse(r, r->left_out != NULL
						 ? r->left_out
						 : "no metric in the line");
	return true;
}
