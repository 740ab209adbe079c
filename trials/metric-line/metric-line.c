/*
 * The tagged line: "hpotune: step=3 loss=0.24".  A line is accepted as a whole
 * or rejected: a word that is not name=number may come from two processes that
 * wrote at once, and then the other numbers are unreliable.
 */

#include <ctype.h>
#include <string.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-internal.h"

#define TAG "hpotune:"
#define TAG_LEN (sizeof(TAG) - 1)
/* Messages of hpotune-ranks quote the output of ranks; they are no reports. */
#define RANKS_TAG "hpotune-ranks: "
#define RANKS_LEN (sizeof(RANKS_TAG) - 1)

enum { METRIC_LINE_INDENT = 8 }; /* blanks before the rest of a line */

static bool
metric_line_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_name_start(char c)
{
	return (unsigned)((c | 0x20) - 'a') < 26 || c == '_';
}

static bool
is_name_char(char c)
{
	return is_name_start(c) || (unsigned)(c - '-') <= ':' - '-' || c == '@';
}

/* '-' './' digits and ':' are neighbours: one comparison above. */
_Static_assert(
    '-' + 1 == '.' && '.' + 1 == '/' && '/' + 1 == '0' && '9' + 1 == ':',
    "ASCII");

size_t
metric_line_name_len(const char *p, const char *end)
{
	const char *q = p;

	if (q == end || !is_name_start(*q))
		return 0;
	while (q < end && is_name_char(*q))
		q++;
	return q - p <= METRIC_LINE_NAME_MAX ? (size_t)(q - p) : 0;
}

bool
metric_line_name_make(
    char out[METRIC_LINE_NAME_MAX + 1], const char *text, size_t len)
{
	bool speaks = false;
	size_t i, n = 0;

	if (len == 0)
		return false;
	if (!is_name_start(*text))
		out[n++] = '_';
	if (n == 1 && !is_name_char(*text)) {
		text++;
		len--;
	}
	if (n + len > METRIC_LINE_NAME_MAX)
		return false;
	for (i = 0; i < len; i++) {
		out[n++] = is_name_char(text[i]) ? text[i] : '_';
		speaks = speaks || isalnum((unsigned char)out[n - 1]);
	}
	out[n] = '\0';
	return speaks;
}

void
metric_line_clear(struct metric_line *r)
{
	r->has_step = false;
	r->step = 0;
	r->n = 0;
	r->why = r->left_out = NULL;
	r->restarts = r->replaces = r->rounded = r->has_lists = false;
	r->place_name = NULL;
	r->bar = 0;
	r->bar_first = r->bar_counted = r->bar_ends = false;
}

bool
metric_line_refuse(struct metric_line *r, const char *why)
{
	metric_line_clear(r);
	r->why = why;
	return false;
}

static bool
add_step(struct metric_line *r, const struct metric_number *n)
{
	if (r->has_step)
		return metric_line_refuse(r, "step is given twice");
	r->has_step = metric_number_integer(n, &r->step);
	if (!r->has_step)
		return metric_line_refuse(
		    r, "step is not an integer from 0 to 2^53");
	return true;
}

bool
metric_line_add(struct metric_line *r, const char *name, size_t len,
    const struct metric_number *n)
{
	struct metric_value *v;
	size_t i;

	if (len == 4 && memcmp(name, "step", 4) == 0)
		return add_step(r, n);
	for (i = 0; i < r->n; i++)
		if (memcmp(r->values[i].name, name, len) == 0 &&
		    r->values[i].name[len] == '\0')
			return metric_line_refuse(r, "a metric is given twice");
	if (r->n == METRIC_LINE_VALUES_MAX)
		return metric_line_refuse(r, "too many metrics in one line");
	v = &r->values[r->n++];
	memcpy(v->name, name, len);
	v->name[len] = '\0';
	v->value = metric_number_value(n);
	return true;
}

/* Returns the end of name=number, or NULL with the line rejected. */
static const char *
parse_pair(struct metric_line *r, const char *p, const char *end)
{
	struct metric_number n;
	const char *name = p;
	size_t len = metric_line_name_len(p, end);

	p += len;
	if (len == 0 || p == end || *p != '=') {
		metric_line_refuse(r, "a word is not NAME=NUMBER");
		return NULL;
	}
	p = metric_number_scan(&n, p + 1, end);
	if (p != NULL && p < end && *p == ',')
		p++;
	if (p == NULL || (p < end && !metric_line_is_blank(*p))) {
		metric_line_refuse(r, "a value is not a number");
		return NULL;
	}
	return metric_line_add(r, name, len, &n) ? p : NULL;
}

static bool
parse_pairs(struct metric_line *r, const char *p, const char *end)
{
	for (;;) {
		while (p < end && metric_line_is_blank(*p))
			p++;
		if (p == end)
			break;
		p = parse_pair(r, p, end);
		if (p == NULL)
			return false;
	}
	if (r->n == 0)
		return metric_line_refuse(r, "no metric in the line");
	return true;
}

/* The text after the tag, or NULL if it does not start with it. */
static const char *
after_tag(const char *p, const char *end)
{
	while (p < end && metric_line_is_blank(*p))
		p++;
	if ((size_t)(end - p) < TAG_LEN || memcmp(p, TAG, TAG_LEN) != 0)
		return NULL;
	return p + TAG_LEN;
}

/* Whether the tag stands somewhere: its colon is rarer than its letters. */
static bool
has_tag(const char *line, const char *end)
{
	const char *p = line;

	while ((p = memchr(p, ':', (size_t)(end - p))) != NULL) {
		if ((size_t)(p - line) >= TAG_LEN - 1 &&
		    memcmp(p - (TAG_LEN - 1), TAG, TAG_LEN) == 0)
			return true;
		p++;
	}
	return false;
}

/*
 * The text after a tag behind the state of a bar, to which another stream of the
 * program is printed: "30%|## | 3/10 [00:01<00:02, 3.5it/s]hpotune: …".
 */
static const char *
after_bar(const char *p, const char *end)
{
	const char *tag = memmem(p, (size_t)(end - p), TAG, TAG_LEN), *open,
		   *to;

	if (tag == NULL)
		return NULL;
	for (to = tag; to > p && metric_line_is_blank(to[-1]); to--)
		;
	if (to == p || to[-1] != ']')
		return NULL;
	open = memrchr(p, '[', (size_t)(to - p));
	return open != NULL && to - open > 6 &&
		       isdigit((unsigned char)open[1]) &&
		       isdigit((unsigned char)open[2]) && open[3] == ':' &&
		       isdigit((unsigned char)open[4]) &&
		       memchr(open, '/', (size_t)(to - open)) != NULL
		   ? tag + TAG_LEN
		   : NULL;
}

/*
 * The text after a tag behind what a logger of another kind writes; *end becomes the
 * end of that text.
 */
static const char *
after_logger(const char *p, const char **end)
{
	const char *tag = memmem(p, (size_t)(*end - p), TAG, TAG_LEN), *quote;
	bool quoted;

	if (tag == NULL ||
	    !metric_prefix_before((struct metric_span){ p, tag }, &quoted))
		return NULL;
	quote = quoted ? memchr(tag, '"', (size_t)(*end - tag)) : NULL;
	if (quoted && quote == NULL)
		return NULL;
	*end = quoted ? quote : *end;
	return tag + TAG_LEN;
}

/*
 * A tag behind colours, or behind what a logger writes before its text.  The
 * caller has not found it at the beginning of a part of the line.
 */
static bool
tag_behind(struct metric_line *r, const char *line, size_t len)
{
	struct metric_part part;
	struct metric_span s, text;
	const char *pairs;

	if (!has_tag(line, line + len))
		return false;
	(void)metric_line_part(&part, line, len);
	s = (struct metric_span){ part.p, part.p + part.len };
	/* The mark of UTF-8, with which a stream may begin. */
	pairs =
	    metric_span_take(&s, "\357\273\277") ? after_tag(s.p, s.end) : NULL;
	if (pairs == NULL)
		pairs = after_bar(s.p, s.end);
	if (pairs == NULL) {
		if (!metric_prefix_skip(&s))
			return false;
		pairs = after_tag(s.p, s.end);
	}
	if (pairs == NULL && metric_prefix_name(&s))
		pairs = after_tag(s.p, s.end);
	if (pairs == NULL)
		pairs = after_logger(part.p, &s.end);
	if (pairs == NULL)
		return false;
	text = (struct metric_span){ pairs, s.end };
	metric_prefix_behind(&text);
	metric_prefix_place(&text);
	return parse_pairs(r, text.p, text.end);
}

bool
metric_line_zeros(const struct metric_line *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->values[i].value != 0)
			return false;
	return true;
}

/*
 * A line that is only pairs with many blanks on both sides: what is left of a line
 * that a logger with columns, as rich's, has broken.
 */
static bool
is_rest(const char *p, const char *end)
{
	const char *const begin = p;
	struct metric_number n;
	size_t len, pairs = 0;

	if (end == p || !metric_line_is_blank(end[-1]))
		return false;
	while (p < end && metric_line_is_blank(*p))
		p++;
	if (p - begin < METRIC_LINE_INDENT)
		return false;
	while (p < end) {
		len = metric_line_name_len(p, end);
		p += len;
		if (len == 0 || p == end || *p != '=')
			return false;
		p = metric_number_scan(&n, p + 1, end);
		if (p != NULL && p < end && *p == ',')
			p++;
		if (p == NULL || p == end || !metric_line_is_blank(*p))
			return false;
		while (p < end && metric_line_is_blank(*p))
			p++;
		pairs++;
	}
	return pairs > 0;
}

bool
metric_line_parse(struct metric_line *r, const struct metric_patterns *rules,
    const char *line, size_t len)
{
	const char *p = line, *end = line + len, *cr, *pairs;

	metric_line_clear(r);
	if (len > METRIC_LINE_MAX)
		return metric_line_refuse(r, "the line is too long");
	/* A progress bar ends with a bare CR: what follows is a line, too. */
	for (;;) {
		cr = memchr(p, '\r', (size_t)(end - p));
		if (cr == NULL)
			cr = end;
		pairs = after_tag(p, cr);
		if (pairs != NULL &&
		    memchr(pairs, '\033', (size_t)(cr - pairs)) != NULL)
			return tag_behind(r, p, (size_t)(cr - p));
		if (pairs != NULL)
			return parse_pairs(r, pairs, cr);
		if (cr == end)
			break;
		p = cr + 1;
	}
	if (len >= RANKS_LEN && memcmp(line, RANKS_TAG, RANKS_LEN) == 0)
		return false;
	if (tag_behind(r, line, len))
		return true;
	if (r->why != NULL)
		return false;
	if (rules != NULL && metric_patterns_match(r, rules, line, len))
		return true;
	if (is_rest(line, line + len))
		return metric_line_refuse(r,
		    "it is the rest of a line that a logger has broken: "
		    "give trial.env a greater COLUMNS");
	return false;
}
