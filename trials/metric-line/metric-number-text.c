/*
 * Numbers as people and their locales write them.
 *
 *	0,531    12,5      a decimal comma
 *	1,234.5  1,234,567  1.234,5  1 234  1'234  1_000    groups of three digits
 *	82.1%    12.3ms    0.5 s                            a unit, which is left out
 *	np.float64(0.5)  tensor(0.5, device='cuda:0')       as Python shows an object
 *	<tf.Tensor: shape=(), dtype=float32, numpy=0.5>     … as TensorFlow does
 *	"0.5"  `0.5`  **0.5**  [ 0.5]  (0.5,)               in quotes, a list of one
 *	0.912.  0.912 ± 0.010  0.912 +/- 0.010              a sentence, a deviation
 *	1.5x10^-3  1.5×10⁻³  0.15D-02  1.5f-3  −0.5         other signs and exponents
 *	3.2k  1.5M                                          thousands, millions
 *	1.#INF  -1.#IND  -nan(ind)                          as Microsoft's C shows them
 *
 * A comma or a point is a decimal one unless groups of three digits follow it.  One
 * group behind one comma, 1,234, may be either and is no number; 0,531 and 1234,567
 * cannot be groups.
 */

#include <ctype.h>
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

/* <tf.Tensor: shape=(), dtype=float32, numpy=0.5>, and tf.Variable. */
static bool
number_text_of_tf(struct metric_number *n, const char *p, const char *end)
{
	static const char head[] = "<tf.", name[] = "numpy=";
	const char *at;

	if (end - p < (ptrdiff_t)sizeof head || end[-1] != '>' ||
	    memcmp(p, head, sizeof head - 1) != 0)
		return false;
	at = memmem(p, (size_t)(end - p), name, sizeof name - 1);
	return at != NULL &&
	       metric_number_scan(n, at + sizeof name - 1, end) == end - 1;
}

/* Words of Microsoft's C library: 1.#INF, -1.#IND, -nan(ind). */
static bool
number_text_of_msvc(struct metric_number *n, const char *p, const char *end)
{
	static const struct {
		const char *text, *number;
	} words[] = { { "1.#INF", "inf" }, { "1.#QNAN", "nan" },
		{ "1.#IND", "nan" }, { "nan(ind)", "nan" },
		{ "nan(snan)", "nan" } };
	bool minus = p < end && *p == '-';
	size_t i, len;

	p += minus;
	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		len = strlen(words[i].text);
		if ((size_t)(end - p) < len ||
		    memcmp(p, words[i].text, len) != 0)
			continue;
		/* Digits of a precision may follow. */
		for (p += len; p < end && *p == '0'; p++)
			;
		if (p != end)
			return false;
		(void)metric_number_scan(n, words[i].number,
		    words[i].number + strlen(words[i].number));
		n->negative = minus;
		return true;
	}
	return false;
}

/* What stands for "e" before an exponent: "x10^", "×10", "D"; its end, or NULL. */
static const char *
number_text_ten(const char *p, const char *end)
{
	static const char *const marks[] = { "x", "*", "\303\227", "\302\267",
		NULL };
	const char *q = p;
	size_t i, n;

	if (p < end && (*p == 'D' || *p == 'd'))
		return p + 1;
	/* As Julia shows a number of 32 bits. */
	if (end - p > 1 && *p == 'f' &&
	    (number_text_is_digit(p[1]) || p[1] == '-'))
		return p + 1;
	if (q < end && *q == ' ')
		q++;
	for (i = 0; marks[i] != NULL; i++) {
		n = strlen(marks[i]);
		if ((size_t)(end - q) >= n && memcmp(q, marks[i], n) == 0)
			break;
	}
	if (marks[i] == NULL)
		return NULL;
	q += n;
	if (q < end && *q == ' ')
		q++;
	if (end - q < 2 || q[0] != '1' || q[1] != '0')
		return NULL;
	q += 2;
	if (q < end && *q == '^')
		return q + 1;
	if (end - q > 1 && q[0] == '*' && q[1] == '*')
		return q + 2;
	/* 3x1024 is a size. */
	return q < end && number_text_is_digit(*q) ? NULL : q;
}

/* A sign or a digit of an exponent, also a raised one; its length, or 0. */
static size_t
number_text_raised(const char *p, const char *end, char *plain)
{
	static const struct {
		const char *text;
		char plain;
	} raised[] = { { "\342\201\273", '-' }, { "\342\210\222", '-' },
		{ "\342\201\272", '+' }, { "\302\271", '1' },
		{ "\302\262", '2' }, { "\302\263", '3' } };
	size_t i, n;

	*plain = *p;
	if (number_text_is_digit(*p) || *p == '-' || *p == '+')
		return 1;
	for (i = 0; i < sizeof raised / sizeof raised[0]; i++) {
		n = strlen(raised[i].text);
		*plain = raised[i].plain;
		if ((size_t)(end - p) >= n && memcmp(p, raised[i].text, n) == 0)
			return n;
	}
	/* U+2070 and U+2074 to U+2079 */
	if (end - p < 3 || memcmp(p, "\342\201", 2) != 0 ||
	    (unsigned char)p[2] < 0xb0 || (unsigned char)p[2] > 0xb9)
		return 0;
	*plain = (char)('0' + (unsigned char)p[2] - 0xb0);
	return 3;
}

/*
 * Write a number with "-" and "e" in the place of other signs into room: its end, or
 * NULL where there are none, or it is too long.
 */
static char *
number_text_signs(const char *p, const char *end, char room[METRIC_NUMBER_TEXT])
{
	static const char minus[] = "\342\210\222";
	const size_t minus_len = sizeof minus - 1;
	char *to = room;
	const char *ten = NULL;
	bool any = false;
	size_t n;

	if (end - p >= METRIC_NUMBER_TEXT)
		return NULL;
	if ((size_t)(end - p) > minus_len && memcmp(p, minus, minus_len) == 0) {
		*to++ = '-';
		p += minus_len;
		any = true;
	}
	while (p < end && (ten = number_text_ten(p, end)) == NULL)
		*to++ = *p++;
	if (ten == NULL)
		return any ? to : NULL;
	if (ten == end || to == room || !number_text_is_digit(to[-1]))
		return NULL;
	*to++ = 'e';
	for (p = ten; p < end; p += n) {
		n = number_text_raised(p, end, to++);
		if (n == 0)
			return NULL;
	}
	return to;
}

/* The length of a blank that is not ASCII's, or 0: U+00A0, U+2009, U+202F. */
static size_t
number_text_blank(const char *p, const char *end)
{
	static const char *const blanks[] = { "\302\240", "\342\200\211",
		"\342\200\257" };
	size_t i, n;

	for (i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
		n = strlen(blanks[i]);
		if ((size_t)(end - p) >= n && memcmp(p, blanks[i], n) == 0)
			return n;
	}
	return 0;
}

/* Write a text with blanks of ASCII in the place of others into room. */
static void
number_text_blanks(
    const char **p, const char **end, char room[METRIC_NUMBER_TEXT])
{
	const char *from = *p;
	char *to = room;
	size_t n;

	if (*end - *p >= METRIC_NUMBER_TEXT)
		return;
	while (from < *end) {
		n = number_text_blank(from, *end);
		*to++ = n > 0 ? ' ' : *from;
		from += n > 0 ? n : 1;
	}
	if (to - room == *end - *p)
		return;
	*p = room;
	*end = to;
}

/* Without quotes around it, or the brackets of a list or a tuple; false: it has none. */
static bool
number_text_unwrap(const char **p, const char **end)
{
	static const char *const pairs[] = { "\"\"", "''", "``", "[]", "{}",
		"**" };
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (*end - *p > 2 && **p == pairs[i][0] &&
		    (*end)[-1] == pairs[i][1])
			break;
	if (i == sizeof pairs / sizeof pairs[0]) {
		if (*end - *p < 4 || **p != '(' ||
		    memcmp(*end - 2, ",)", 2) != 0)
			return false;
		--*end;
	}
	++*p;
	--*end;
	while (*p < *end && **p == ' ')
		++*p;
	while (*end > *p && (*end)[-1] == ' ')
		--*end;
	return true;
}

/* Without a deviation behind it: " +/- 0.01", "±0.01". */
static void
number_text_mean(const char *p, const char **end)
{
	static const char *const marks[] = { "+/-", "+-", "\302\261" };
	const char *at, *q;
	size_t i, n;

	for (i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		n = strlen(marks[i]);
		at = memmem(p, (size_t)(*end - p), marks[i], n);
		if (at == NULL || at == p)
			continue;
		for (q = at + n; q < *end && *q == ' '; q++)
			;
		if (q == *end || (!number_text_is_digit(*q) && *q != '.'))
			continue;
		while (at > p && at[-1] == ' ')
			at--;
		*end = at;
		return;
	}
}

/* Without what stands around it: marks, a deviation, the end of a sentence. */
static void
number_text_bare(const char **p, const char **end)
{
	int i;

	for (i = 0; i < 3 && number_text_unwrap(p, end); i++)
		;
	number_text_mean(*p, end);
	if (*end - *p > 3 && (*end)[-1] == '.' &&
	    number_text_is_digit((*end)[-2]) &&
	    memchr(*p, '.', (size_t)(*end - *p - 1)) != NULL)
		--*end;
	else if (*end - *p > 1 && (*end)[-1] == ';')
		--*end;
}

/* The zeros that a letter behind a number stands for: 3.2k, 1.5M; or 0. */
static int64_t
number_text_zeros(char c)
{
	return c == 'k' || c == 'K' ? 3 : c == 'M' ? 6 : 0;
}

/* The same of a number without zeros that a letter stands for. */
static bool
number_text_read(struct metric_number *n, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT])
{
	const char *digits, *exponent;
	struct number_text look;
	char *to, decimal, signs[METRIC_NUMBER_TEXT];
	bool other;

	if (metric_number_scan(n, p, end) == end && p < end)
		return true;
	to = number_text_signs(p, end, signs);
	other = to != NULL;
	if (other) {
		p = signs;
		end = to;
	}
	to = room;
	if (end - p >= METRIC_NUMBER_TEXT)
		return false;
	if (p < end && (*p == '-' || *p == '+'))
		*to++ = *p++;
	digits = p;
	while (p < end && (number_text_is_digit(*p) || number_text_is_mark(*p)))
		p++;
	exponent = p;
	if (!number_text_look(&look, digits, exponent)) {
		/* A whole number with other signs has no marks. */
		if (!other || memchr(digits, '.', (size_t)(exponent - digits)))
			return false;
		decimal = '.';
	} else if (!number_text_decide(&look, digits, &decimal))
		return false;
	to = number_text_copy(
	    to, room + METRIC_NUMBER_TEXT, digits, exponent, decimal);
	if (to == NULL || room + METRIC_NUMBER_TEXT - to < end - exponent)
		return false;
	memmove(to, exponent, (size_t)(end - exponent));
	to += end - exponent;
	return metric_number_scan(n, room, to) == to;
}

bool
metric_number_text(struct metric_number *n, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT])
{
	int64_t zeros;

	if (metric_number_scan(n, p, end) == end && p < end)
		return true;
	if (number_text_of_object(n, p, end) || number_text_of_tf(n, p, end) ||
	    number_text_of_msvc(n, p, end))
		return true;
	number_text_blanks(&p, &end, room);
	number_text_bare(&p, &end);
	end = number_text_unit(p, end);
	zeros = end - p > 1 && number_text_is_digit(end[-2])
		    ? number_text_zeros(end[-1])
		    : 0;
	if (!number_text_read(n, p, end - (zeros > 0), room))
		return false;
	n->exponent += zeros;
	return true;
}

bool
metric_number_step(struct metric_number *n, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT])
{
	char *to = room;

	if (metric_number_text(n, p, end, room))
		return true;
	if (!metric_number_doubt(p, end) || end - p >= METRIC_NUMBER_TEXT)
		return false;
	/* A step has no fraction: 1,234 are thousands. */
	for (; p < end; p++)
		if (*p != ',')
			*to++ = *p;
	return metric_number_scan(n, room, to) == to;
}

bool
metric_number_doubt(const char *p, const char *end)
{
	struct number_text look;
	char decimal;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		return true;
	return number_text_look(&look, p, end) && look.decimal == 0 &&
	       look.groups == 1 && look.mark == ',' &&
	       !number_text_decide(&look, p, &decimal);
}

/* Behind an exponent as people write it, "x10^-3", and the words of 1.#INF. */
static const char *
number_text_exponent(const char *q, const char *end)
{
	const char *ten = number_text_ten(q, end);
	const char *to = ten;
	size_t n = 1;
	char plain;

	while (to != NULL && to < end && n > 0) {
		n = number_text_raised(to, end, &plain);
		to += n;
	}
	if (to != NULL && to > ten)
		return to;
	if (end - q > 3 && q[-1] == '.' && *q == '#' &&
	    (unsigned)(q[1] - 'A') < 26)
		for (q++; q < end && (unsigned)(*q - 'A') < 26; q++)
			;
	return q;
}

/*
 * Behind what changes a number: 0x1.8p-1, whose 0 is none, and 3.2k.  p: its first
 * digit, q: the end of its digits.
 */
static const char *
number_text_scale(const char *p, const char *q, const char *end)
{
	const char *hex = q;

	if (q - p == 1 && *p == '0' && end - q > 1 && *q == 'x') {
		for (hex++; hex < end && (isxdigit((unsigned char)*hex) ||
					     strchr(".p-+", *hex) != NULL);
		     hex++)
			;
		return hex > q + 1 ? hex : q;
	}
	if (q < end && q > p && number_text_is_digit(q[-1]) &&
	    number_text_zeros(*q) > 0 &&
	    (end - q == 1 || (!isalnum((unsigned char)q[1]) && q[1] != '/')))
		return q + 1;
	return q;
}

/* The end of a number that begins before p, within it: 0,5 of "0,531" gives 31. */
static const char *
number_text_end(const char *p, const char *end)
{
	const char *q = p;
	size_t n;

	for (; q < end; q++) {
		if (number_text_is_digit(*q))
			continue;
		if ((*q == 'e' || *q == 'E' || *q == 'D' || *q == 'd') &&
		    q > p - 1 && end - q > 1 && number_text_is_digit(q[-1]) &&
		    (number_text_is_digit(q[1]) ||
			(end - q > 2 && (q[1] == '-' || q[1] == '+') &&
			    number_text_is_digit(q[2])))) {
			q++;
			continue;
		}
		n = number_text_blank(q, end);
		if (n > 0 && end - q > (ptrdiff_t)n + 2 &&
		    number_text_is_digit(q[n]) &&
		    number_text_is_digit(q[n + 1]) &&
		    number_text_is_digit(q[n + 2])) {
			q += n;
			continue;
		}
		if (*q == ' ' || !number_text_is_mark(*q) || end - q < 2 ||
		    !number_text_is_digit(q[1]))
			break;
	}
	return number_text_exponent(q, end);
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
	if (p - start > 2 && memcmp(p - 3, "\342\210\222", 3) == 0)
		p -= 3;
	q = number_text_scale(p, q, end);
	if (p == *from && q == *to)
		return false;
	*from = p;
	*to = q;
	return true;
}
