/*
 * A pattern for a line that has a metric, for whoever has not written one:
 * "Test Accuracy = 93.5%" has accuracy, and "valid loss  6.4" val_loss by its
 * last word.
 */

#include <stdio.h>
#include <string.h>

#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

enum { GAP_MAX = 12, WORD_MIN = 3 }; /* bytes */

#define VALUE_GROUP "([-+.0-9eE]+)"

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool
is_word(char c)
{
	return (unsigned)(lower(c) - 'a') < 26 || (unsigned)(c - '0') < 10;
}

static bool
is_one_of(char c, const char *list)
{
	return c != '\0' && strchr(list, c) != NULL;
}

/* The end of the name at p, in which words may be joined otherwise, or NULL. */
static const char *
name_end(const char *name, const char *p, const char *end)
{
	for (; *name != '\0'; name++, p++)
		if (p == end || (is_word(*name) ? lower(*p) != lower(*name)
						: !is_one_of(*p, " _-./:@")))
			return NULL;
	return p;
}

/* The start of the number behind p, or NULL. */
static const char *
value_start(const char *p, const char *end)
{
	const char *start = p, *after;
	struct metric_number n;

	while (p < end && p - start < GAP_MAX && is_one_of(*p, " \t:=|,('\"["))
		p++;
	if (p == start || p == end || !is_one_of(*p, "+-.0123456789"))
		return NULL;
	after = metric_number_scan(&n, p, end);
	if (after == NULL || (after < end && is_word(*after)))
		return NULL;
	return p;
}

/*
 * The text as a pattern: a blank by itself, others by \s+, and by a dot what a
 * pattern treats otherwise.
 */
static bool
pattern_put(char *out, size_t size, const char *p, const char *end)
{
	size_t n = 0, blanks;

	while (p < end && n + sizeof VALUE_GROUP + 3 < size) {
		for (blanks = 0; p + blanks < end; blanks++)
			if (p[blanks] != ' ' && p[blanks] != '\t')
				break;
		if (blanks > 1 || *p == '\t') {
			memcpy(out + n, "\\s+", 3);
			n += 3;
			p += blanks;
			continue;
		}
		out[n++] =
		    is_word(*p) || is_one_of(*p, " _=:,-/'%@") ? *p : '.';
		p++;
	}
	(void)snprintf(out + n, size - n, "%s", VALUE_GROUP);
	return p == end;
}

static bool
name_guess(
    const char *name, const char *p, const char *end, char *out, size_t size)
{
	const char *start = p, *at, *value;

	for (; p < end; p++) {
		if (p > start && is_word(p[-1]))
			continue;
		at = name_end(name, p, end);
		value = at != NULL ? value_start(at, end) : NULL;
		if (value != NULL)
			return pattern_put(out, size, p, value);
	}
	return false;
}

bool
metric_guess(const char *metric, const char *line, size_t len, char *out,
    size_t size, struct metric_part *part)
{
	const char *last = metric + strlen(metric);

	while (last > metric && is_word(last[-1]))
		last--;
	do {
		len = metric_line_part(part, line, len);
		if (name_guess(
			metric, part->p, part->p + part->len, out, size) ||
		    (strlen(last) >= WORD_MIN &&
			name_guess(
			    last, part->p, part->p + part->len, out, size)))
			return true;
	} while (len > 0);
	return false;
}
