/*
 * Numbers as people and their locales write them.
 *
 *	0,531    12,5      a decimal comma
 *	1,234.5  1,234,567  1.234,5  1 234  1'234  1_000    groups of three digits
 *	82.1%    12.3ms    0.5 s                            a unit, which is left out
 *	np.float64(0.5)  tensor(0.5, device='cuda:0')       as Python shows an object
 *
 * A comma or a point is a decimal one unless groups of three digits follow it.  One
 * group behind one comma, 1,234, may be either and is no number; 0,531 and 1234,567
 * cannot be groups.
 */

#include <string.h>

#include "trials/metric-line/metric-number.h"

static bool
number_text_is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

/* What stands between groups of digits. */
static bool
number_text_is_mark(char c)
{
	return c == ',' || c == '.' || c == '_' || c == '\'' || c == ' ';
}

/* A unit at the end of a text: where it begins, with the blank before it. */
static const char *
number_text_unit(const char *p, const char *end)
{
	static const char *const units[] = { "%", "ms", "us", "ns", "s", "sec",
		"min", "h", "it/s", "s/it", "B", "kB", "KB", "MB", "GB", "TB",
		"KiB", "MiB", "GiB", "TiB", "dB", "px", "deg", "W", "J", "Hz",
		"x", NULL };
	size_t i, n;

	for (i = 0; units[i] != NULL; i++) {
		n = strlen(units[i]);
		if ((size_t)(end - p) <= n || memcmp(end - n, units[i], n) != 0)
			continue;
		if (number_text_is_digit(end[-(ptrdiff_t)n - 1]) ||
		    end[-(ptrdiff_t)n - 1] == '.')
			return end - n;
		if (end[-(ptrdiff_t)n - 1] == ' ' &&
		    (size_t)(end - p) > n + 1 &&
		    number_text_is_digit(end[-(ptrdiff_t)n - 2]))
			return end - n - 1;
	}
	return end;
}

/* Digits, and the marks between them. */
struct number_text {
	size_t groups; /* how often the first mark stands */
	char mark, decimal; /* between groups; before the fraction; 0 = none */
	bool threes; /* every group behind a mark has three digits */
	size_t head, tail; /* digits before the first mark, behind the last */
};

/* Look at digits with marks; false: they are none. */
static bool
number_text_look(struct number_text *t, const char *p, const char *end)
{
	size_t n = 0;
	bool first = true;

	*t = (struct number_text){ .threes = true };
	for (; p < end; p++) {
		if (number_text_is_digit(*p)) {
			n++;
			continue;
		}
		if (n == 0 || !number_text_is_mark(*p) || t->decimal != 0)
			return false;
		if (first)
			t->head = n;
		else if (n != 3)
			t->threes = false;
		first = false;
		n = 0;
		if (t->mark == 0 || *p == t->mark) {
			t->mark = *p;
			t->groups++;
		} else if (*p == ',' || *p == '.')
			t->decimal = *p;
		else
			return false;
	}
	t->tail = n;
	/* With a decimal mark the last group is the fraction. */
	if (t->decimal == 0 && !first && n != 3)
		t->threes = false;
	return n > 0 && !first;
}

/* What the marks mean: the decimal one, 0 = none; false: it cannot be known. */
static bool
number_text_decide(const struct number_text *t, const char *p, char *decimal)
{
	bool grouped = t->threes && t->head <= 3 && *p != '0';

	*decimal = t->decimal;
	if (t->decimal != 0)
		return grouped;
	switch (t->mark) {
	case '_':
		return true;
	case ' ':
	case '\'':
		return grouped;
	case '.':
	case ',':
		if (t->groups > 1)
			return grouped;
		if (grouped && t->mark == ',')
			return false;
		*decimal = t->mark;
		return true;
	}
	return false;
}

/* Copy digits with a point as the decimal mark; NULL: they do not fit. */
static char *
number_text_copy(char *to, const char *room_end, const char *p, const char *end,
    char decimal)
{
	for (; p < end; p++) {
		if (!number_text_is_digit(*p) && *p != decimal)
			continue;
		if (to == room_end)
			return NULL;
		*to++ = number_text_is_digit(*p) ? *p : '.';
	}
	return to;
}

const char *
metric_number_object(const char *p, const char *end)
{
	static const char *const types[] = { "tensor", "Tensor", "array",
		"Array", "DeviceArray", "float", "float16", "float32",
		"float64", "bfloat16", "longdouble", "int32", "int64",
		"Decimal", NULL };
	const char *name = p, *open = p;
	size_t i;

	for (; open < end && *open != '('; open++)
		if (*open == '.')
			name = open + 1;
		else if (!number_text_is_digit(*open) && *open != '_' &&
			 (unsigned)((*open | 0x20) - 'a') >= 26)
			return NULL;
	for (i = 0; open < end && types[i] != NULL; i++)
		if (strlen(types[i]) == (size_t)(open - name) &&
		    memcmp(types[i], name, (size_t)(open - name)) == 0)
			break;
	if (open == end || types[i] == NULL)
		return NULL;
	p = open + 1;
	return p < end && (*p == '\'' || *p == '[') ? p + 1 : p;
}

/*
 * The number of an object as Python shows it; what follows its comma may be cut,
 * as a pattern like \S+ does.
 */
static bool
number_text_of_object(struct metric_number *n, const char *p, const char *end)
{
	const char *inside = metric_number_object(p, end), *after;

	if (inside == NULL)
		return false;
	after = metric_number_scan(n, inside, end);
	if (after == NULL || after == end)
		return false;
	if (inside[-1] != '(') {
		if (*after != (inside[-1] == '[' ? ']' : '\''))
			return false;
		after++;
	}
	return after < end && ((*after == ')' && after + 1 == end) ||
				  (*after == ',' && inside[-1] != '\''));
}

bool
metric_number_text(struct metric_number *n, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT])
{
	const char *digits, *exponent;
	struct number_text look;
	char *to = room, decimal;

	if (metric_number_scan(n, p, end) == end && p < end)
		return true;
	if (number_text_of_object(n, p, end))
		return true;
	end = number_text_unit(p, end);
	if (metric_number_scan(n, p, end) == end && p < end)
		return true;
	if (end - p >= METRIC_NUMBER_TEXT)
		return false;
	if (p < end && (*p == '-' || *p == '+'))
		*to++ = *p++;
	digits = p;
	while (p < end && (number_text_is_digit(*p) || number_text_is_mark(*p)))
		p++;
	exponent = p;
	if (!number_text_look(&look, digits, exponent) ||
	    !number_text_decide(&look, digits, &decimal))
		return false;
	to = number_text_copy(
	    to, room + METRIC_NUMBER_TEXT, digits, exponent, decimal);
	if (to == NULL || room + METRIC_NUMBER_TEXT - to < end - exponent)
		return false;
	memcpy(to, exponent, (size_t)(end - exponent));
	to += end - exponent;
	return metric_number_scan(n, room, to) == to;
}

bool
metric_number_doubt(const char *p, const char *end)
{
	struct number_text look;
	char decimal;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	return number_text_look(&look, p, end) && look.decimal == 0 &&
	       look.groups == 1 && look.mark == ',' &&
	       !number_text_decide(&look, p, &decimal);
}

/* The end of a number that begins before p, within it: 0,5 of "0,531" gives 31. */
static const char *
number_text_end(const char *p, const char *end)
{
	const char *q = p;

	for (; q < end; q++) {
		if (number_text_is_digit(*q))
			continue;
		if ((*q == 'e' || *q == 'E') && q > p - 1 && end - q > 1 &&
		    number_text_is_digit(q[-1]) &&
		    (number_text_is_digit(q[1]) ||
			(end - q > 2 && (q[1] == '-' || q[1] == '+') &&
			    number_text_is_digit(q[2])))) {
			q++;
			continue;
		}
		if (*q == ' ' || !number_text_is_mark(*q) || end - q < 2 ||
		    !number_text_is_digit(q[1]))
			break;
	}
	return q;
}

bool
metric_number_around(
    const char **from, const char **to, const char *start, const char *end)
{
	const char *p = *from, *q = number_text_end(*to, end);

	while (
	    p > start &&
	    (number_text_is_digit(p[-1]) ||
		(p - start > 1 && p[-1] != ' ' && number_text_is_mark(p[-1]) &&
		    number_text_is_digit(p[-2]) && number_text_is_digit(*p))))
		p--;
	if (p > start && p[-1] == '-' && p < q && number_text_is_digit(*p) &&
	    (p - start == 1 || p[-2] == ' ' || p[-2] == '=' || p[-2] == ':' ||
		p[-2] == '\t'))
		p--;
	if (p == *from && q == *to)
		return false;
	*from = p;
	*to = q;
	return true;
}
