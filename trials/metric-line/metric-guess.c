/*
 * A pattern for a line that has a metric, for whoever has not written one:
 * "Test Accuracy = 93.5%" has accuracy, and "valid loss  6.4" val_loss by its
 * last word, but "train loss 6.4" has not.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

enum { GAP_MAX = 80, WORD_MIN = 3 }; /* bytes */

/*
 * The groups of a number: as programs write it, and as people do.  A training that
 * diverges prints nan or inf there.
 */
static const char *const groups[] = { "(-?inf|nan|[-+.0-9eE]+)",
	"(-?inf|nan|[-+.,0-9eE]+)", "(-?inf|nan|[-+._0-9eE]+)",
	"(-?inf|nan|[-+.,'_0-9eE]+)", "(-?inf|nan|[-+.0-9eEdDf]+)" };
enum { GROUPS = sizeof groups / sizeof *groups, GROUP_MAX = 32 };

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
metric_guess_is_one_of(char c, const char *list)
{
	return c != '\0' && strchr(list, c) != NULL;
}

/* The end of the name at p, in which words may be joined otherwise, or NULL. */
static const char *
metric_guess_name_end(const char *name, const char *p, const char *end)
{
	for (; *name != '\0'; name++, p++) {
		if (p == end ||
		    (is_word(*name) ? lower(*p) != lower(*name)
				    : !metric_guess_is_one_of(*p, " _-./:@")))
			return NULL;
		while (*p == ' ' && end - p > 1 && p[1] == ' ')
			p++;
	}
	return p;
}

/* Letters behind a number that are a unit and no word: 12.3ms. */
static bool
unit_follows(const char *p, const char *end)
{
	const char *unit = p;
	char room[METRIC_NUMBER_TEXT], text[16] = "1";
	struct metric_number n;

	while (p < end && (is_word(*p) || *p == '/'))
		p++;
	if (p - unit > 8)
		return false;
	memcpy(text + 1, unit, (size_t)(p - unit));
	return metric_number_text(&n, text, text + 1 + (p - unit), room);
}

/*
 * Behind what may stand between a name and its number, at p: a mark, "->", a bar of a
 * box (U+2502, U+2503, U+2551), "(micro avg)", " is "; p: nothing of it.
 */
static const char *
gap_part(const char *p, const char *end)
{
	static const char *const marks[] = { "->", "=>", " is ", " was ",
		"\342\224\202", "\342\224\203", "\342\225\221" };
	const char *q;
	size_t i, n;

	for (i = 0; i < sizeof marks / sizeof *marks; i++) {
		n = strlen(marks[i]);
		if ((size_t)(end - p) > n && memcmp(p, marks[i], n) == 0)
			return p + n;
	}
	if (metric_guess_is_one_of(*p, " \t:=|,('\"["))
		q = p + 1;
	else
		return p;
	if (*p != '(')
		return q;
	/* Words in brackets, without a number. */
	while (q < end && q - p < 24 &&
	       (lower(*q) == ' ' || *q == '-' || (is_word(*q) && *q > '9')))
		q++;
	return q - p > 2 && q < end && *q == ')' ? q + 1 : p + 1;
}

/* A number stands before p, which is its own: "5.12 avg loss, 0.001 rate". */
static bool
number_before(const char *start, const char *p)
{
	while (p > start && p[-1] == ' ')
		p--;
	while (p > start && (is_word(p[-1]) && p[-1] > '9'))
		p--;
	while (p > start && p[-1] == ' ')
		p--;
	return p > start && (unsigned)(p[-1] - '0') < 10 &&
	       metric_guess_is_one_of(*p, " ");
}

/* The start of the number behind p, or NULL. */
static const char *
value_start(const char *p, const char *end)
{
	const char *start = p, *from, *after;
	struct metric_number n;

	while (p < end && p - start < GAP_MAX && (after = gap_part(p, end)) > p)
		p = after;
	if (p == start || p == end)
		return NULL;
	after = metric_number_object(p, end);
	if (after != NULL)
		p = after;
	after = metric_number_scan(&n, p, end);
	from = p;
	if (after != NULL)
		(void)metric_number_around(&from, &after, p, end);
	if (after == NULL ||
	    (after < end && is_word(*after) && !unit_follows(after, end)))
		return NULL;
	return p;
}

/* The whole number at p, as people write it; false: it is none, or in doubt. */
static bool
value_whole(const char *p, const char *end, double *value)
{
	const char *from = p, *to = p + 1;
	char room[METRIC_NUMBER_TEXT];
	struct metric_number n;

	if (metric_number_scan(&n, p, end) != NULL && n.kind != NUMBER_FINITE) {
		*value = metric_number_value(&n);
		return true;
	}
	while (to < end && metric_guess_is_one_of(*to, "+-.0123456789eE") &&
	       metric_number_scan(&n, p, to + 1) == to + 1)
		to++;
	(void)metric_number_around(&from, &to, p, end);
	/* The end of a sentence is a part of the group. */
	if (to < end && *to == '.' && (to + 1 == end || to[1] == ' '))
		to++;
	if (!metric_number_text(&n, p, to, room))
		return false;
	*value = metric_number_value(&n);
	return true;
}

/* Whether the pattern reads this value of the text. */
static bool
pattern_reads(const char *regex, const struct metric_part *part, double value)
{
	struct study_metric metric = { .name = (char[]){ "v" },
		.regex = (char *)regex };
	const struct study_trial t = { .metrics = &metric, .n_metrics = 1 };
	struct metric_line *r = xcalloc(1, sizeof *r);
	struct metric_patterns *rules;
	bool good = false;

	if (metric_patterns_new(&rules, &t, NULL) == 0) {
		/* The same bits: it is read in full. NOLINTNEXTLINE(bugprone-*) */
		good = metric_line_parse(r, rules, part->p, part->len) &&
		       memcmp(&r->values[0].value, &value, sizeof value) == 0;
		metric_patterns_free(rules);
	}
	free(r);
	return good;
}

/* The length of a character of UTF-8 that is not ASCII. */
static size_t
char_len(const char *p, const char *end)
{
	const char *q = p + 1;

	while (q < end && ((unsigned char)*q & 0xc0) == 0x80)
		q++;
	return (size_t)(q - p);
}

/*
 * The text as a pattern: a blank by itself, others by \s+, and by a dot what a
 * pattern treats otherwise.  Before the number any blanks match: a program that
 * writes columns writes fewer of them before a longer number.
 */
static bool
metric_guess_pattern_put(
    char *out, size_t size, const char *p, const char *end, const char *group)
{
	const char *last = end, *blank = "";
	size_t n = 0, blanks;

	while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
		last--;
	if (last < end)
		blank = end - last == 1 && *last == ' ' ? " +" : "\\s+";
	if (last > p && metric_guess_is_one_of(last[-1], "[("))
		blank = " *";
	while (p < last && n + GROUP_MAX + 6 < size) {
		for (blanks = 0; p + blanks < last; blanks++)
			if (p[blanks] != ' ' && p[blanks] != '\t')
				break;
		if (blanks > 1 || *p == '\t') {
			memcpy(out + n, "\\s+", 3);
			n += 3;
			p += blanks;
			continue;
		}
		out[n++] =
		    is_word(*p) || metric_guess_is_one_of(*p, " _=:,-/'%@")
			? *p
			: '.';
		p += char_len(p, last);
	}
	(void)snprintf(out + n, size - n, "%s%s", blank, group);
	return p == last;
}

/* A pattern from the name at p to the number at value, which reads it all. */
static bool
value_guess(const struct metric_part *part, const char *p, const char *value,
    char *out, size_t size)
{
	double whole;
	size_t i;

	if (!value_whole(value, part->p + part->len, &whole))
		return false;
	for (i = 0; i < GROUPS; i++)
		if (metric_guess_pattern_put(out, size, p, value, groups[i]) &&
		    pattern_reads(out, part, whole))
			return true;
	return false;
}

/* The data that a metric is of. */
enum side { SIDE_NONE, SIDE_TRAIN, SIDE_HELD };

static enum side
side_of(const char *word, size_t n)
{
	static const char *const words[] = { "train", "training", "val",
		"valid", "validation", "dev", "eval", "evaluation", "test" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == n &&
		    strncasecmp(words[i], word, n) == 0)
			return i < 2 ? SIDE_TRAIN : SIDE_HELD;
	return SIDE_NONE;
}

/*
 * The side that the nearest word before p names.  *from becomes the start of this
 * word, where no number stands between.
 */
static enum side
side_before(const char *start, const char *p, const char **from)
{
	enum side side = SIDE_NONE;
	const char *end;
	bool number = false;

	while (p > start && side == SIDE_NONE) {
		for (end = p; p > start && is_word(p[-1]); p--)
			number |= p[-1] <= '9';
		side = side_of(p, (size_t)(end - p));
		if (side != SIDE_NONE && !number)
			*from = p;
		if (side == SIDE_NONE && p > start)
			p--;
	}
	return side;
}

/* Guess a pattern by the metric's name; on this side, unless it is none. */
static bool
name_guess(const char *name, enum side side, const struct metric_part *part,
    char *out, size_t size)
{
	const char *p = part->p, *end = p + part->len, *at, *value, *from;

	for (; p < end; p++) {
		if (p > part->p && is_word(p[-1]))
			continue;
		at = metric_guess_name_end(name, p, end);
		value = at != NULL ? value_start(at, end) : NULL;
		from = p;
		if (value != NULL && *at == ',' && number_before(part->p, p))
			continue;
		if (value != NULL &&
		    (side == SIDE_NONE ||
			side_before(part->p, p, &from) == side))
			return value_guess(part, from, value, out, size);
	}
	return false;
}

bool
metric_guess(const char *metric, const char *line, size_t len, char *out,
    size_t size, struct metric_part *part)
{
	const char *last = metric + strlen(metric), *from = metric;
	enum side side;

	while (last > metric && is_word(last[-1]))
		last--;
	side = side_before(metric, last, &from);
	do {
		len = metric_line_part(part, line, len);
		if (name_guess(metric, SIDE_NONE, part, out, size) ||
		    (strlen(last) >= WORD_MIN &&
			name_guess(last, side, part, out, size)))
			return true;
	} while (len > 0);
	return false;
}
