/*
 * Pieces of JSON as Python writes it, with NaN: where a text, a number, an object or a
 * list ends; with its grammar or by its quotes and brackets alone.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-piece.h"

static bool
metric_piece_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *
metric_piece_blank(const char *p, const char *end)
{
	while (p < end && metric_piece_is_blank(*p))
		p++;
	return p;
}

const char *
metric_piece_next(const char *p, const char *end)
{
	while (p < end && (metric_piece_is_blank(*p) || *p == ','))
		p++;
	return p;
}

void
metric_piece_put(struct metric_piece_place *to, int byte)
{
	if (to->len < to->room)
		to->bytes[to->len] = (char)byte;
	to->len++;
}

/* A character as UTF-8. */
static void
metric_piece_put_char(struct metric_piece_place *to, unsigned c)
{
	if (c < 0x80) {
		metric_piece_put(to, (int)c);
		return;
	}
	if (c < 0x800)
		metric_piece_put(to, (int)(0xc0 | c >> 6));
	else if (c < 0x10000) {
		metric_piece_put(to, (int)(0xe0 | c >> 12));
		metric_piece_put(to, (int)(0x80 | (c >> 6 & 0x3f)));
	} else {
		metric_piece_put(to, (int)(0xf0 | c >> 18));
		metric_piece_put(to, (int)(0x80 | (c >> 12 & 0x3f)));
		metric_piece_put(to, (int)(0x80 | (c >> 6 & 0x3f)));
	}
	metric_piece_put(to, (int)(0x80 | (c & 0x3f)));
}

/* Behind four hexadecimal digits. */
static const char *
metric_piece_hex(const char *p, const char *end, unsigned *c)
{
	unsigned v = 0;
	int i, low;

	if (end - p < 4)
		return NULL;
	for (i = 0; i < 4; i++, p++) {
		low = *p | 0x20;
		if (*p >= '0' && *p <= '9')
			v = v * 16 + (unsigned)(*p - '0');
		else if (low >= 'a' && low <= 'f')
			v = v * 16 + (unsigned)(low - 'a' + 10);
		else
			return NULL;
	}
	*c = v;
	return p;
}

/* Behind the lower half of a character that UTF-16 writes in two, if it is there. */
static const char *
metric_piece_pair(const char *p, const char *end, unsigned *c)
{
	const char *after;
	unsigned low;

	if (*c < 0xd800 || *c > 0xdbff || end - p < 2 || p[0] != '\\' ||
	    p[1] != 'u')
		return p;
	after = metric_piece_hex(p + 2, end, &low);
	if (after == NULL || low < 0xdc00 || low > 0xdfff)
		return after == NULL ? NULL : p;
	*c = 0x10000 + (*c - 0xd800) * 0x400 + low - 0xdc00;
	return after;
}

/* Behind an escape sequence, from behind its backslash. */
static const char *
metric_piece_escape(
    const char *p, const char *end, struct metric_piece_place *to)
{
	static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
	const char *q;
	unsigned c;

	if (p == end)
		return NULL;
	if (*p == 'u') {
		p = metric_piece_hex(p + 1, end, &c);
		p = p != NULL ? metric_piece_pair(p, end, &c) : NULL;
		if (p != NULL)
			metric_piece_put_char(to, c);
		return p;
	}
	q = *p != '\0' ? strchr(from, *p) : NULL;
	if (q == NULL)
		return NULL;
	metric_piece_put(to, is[q - from]);
	return p + 1;
}

/* Bytes that stand for themselves, from start to p. */
static void
metric_piece_plain(
    struct metric_piece_place *to, const char *start, const char *p)
{
	size_t n = (size_t)(p - start),
	       fits = to->len < to->room ? to->room - to->len : 0;

	if (fits > 0)
		memcpy(to->bytes + to->len, start, n < fits ? n : fits);
	to->len += n;
}

const char *
metric_piece_text(const char *p, const char *end, struct metric_piece_place *to)
{
	const unsigned char least = to != NULL ? 0x20 : 0;
	const char *start;

	for (p++;;) {
		start = p;
		while (p < end && *p != '"' && *p != '\\' &&
		       (unsigned char)*p >= least)
			p++;
		if (to != NULL)
			metric_piece_plain(to, start, p);
		if (p >= end || (unsigned char)*p < least)
			return NULL;
		if (*p++ == '"')
			return p;
		if (to == NULL)
			p += p < end;
		else if ((p = metric_piece_escape(p, end, to)) == NULL)
			return NULL;
	}
}

/* JSON's own grammar, and the words Python writes. */
const char *
metric_piece_number(const char *p, const char *end, struct metric_number *n)
{
	const char *after = metric_number_scan(n, p, end), *dot;

	if (after == NULL || *p == '+')
		return NULL;
	if (n->kind != NUMBER_FINITE)
		return after;
	if (*n->text == '.' || (n->len > 1 && n->text[0] == '0' &&
				   n->text[1] >= '0' && n->text[1] <= '9'))
		return NULL;
	dot = memchr(n->text, '.', n->len);
	return dot == NULL ||
		       (dot + 1 < after && dot[1] >= '0' && dot[1] <= '9')
		   ? after
		   : NULL;
}

/* What the grammar of JSON allows next. */
enum piece_next {
	PIECE_VALUE,
	PIECE_KEY,
	PIECE_COLON,
	PIECE_COMMA /* or the closing bracket */
};

/* The grammar inside of a value. */
struct piece_nest {
	size_t levels; /* that values may have */
	size_t depth; /* brackets that are open */
	uint32_t objects; /* a bit for each of them, the last is bit 0 */
	enum piece_next next;
	bool first; /* the last byte was an opening bracket */
};

/* Whether a value may begin here. */
static bool
metric_piece_may_begin(const struct piece_nest *n)
{
	return n->next == PIECE_VALUE && n->depth < n->levels;
}

static bool
metric_piece_open(struct piece_nest *n, bool is_object)
{
	if (!metric_piece_may_begin(n))
		return false;
	n->depth++;
	n->objects = n->objects << 1 | is_object;
	n->next = is_object ? PIECE_KEY : PIECE_VALUE;
	n->first = true;
	return true;
}

static bool
metric_piece_close(struct piece_nest *n, bool is_object)
{
	if (n->depth == 0 || (n->objects & 1) != is_object ||
	    (n->next != PIECE_COMMA && !n->first))
		return false;
	n->depth--;
	n->objects >>= 1;
	n->next = PIECE_COMMA;
	n->first = false;
	return true;
}

static bool
metric_piece_mark(struct piece_nest *n, char c)
{
	if (n->depth == 0 || n->next != (c == ',' ? PIECE_COMMA : PIECE_COLON))
		return false;
	n->next = c == ',' && (n->objects & 1) ? PIECE_KEY : PIECE_VALUE;
	return true;
}

/* Behind a text, which is a key or a value. */
static const char *
metric_piece_string(const char *p, const char *end, struct piece_nest *n)
{
	struct metric_piece_place none = { 0 };

	if (n->next != PIECE_KEY && !metric_piece_may_begin(n))
		return NULL;
	n->next = n->next == PIECE_KEY ? PIECE_COLON : PIECE_COMMA;
	n->first = false;
	return metric_piece_text(p, end, &none);
}

/* Behind null, true, false or a number. */
static const char *
metric_piece_word(const char *p, const char *end, struct piece_nest *n)
{
	static const char *const words[] = { "null", "true", "false" };
	struct metric_number number;
	size_t i, len;

	if (!metric_piece_may_begin(n))
		return NULL;
	n->next = PIECE_COMMA;
	n->first = false;
	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		len = strlen(words[i]);
		if ((size_t)(end - p) >= len && memcmp(p, words[i], len) == 0)
			return p + len;
	}
	return metric_piece_number(p, end, &number);
}

/* Behind the byte, or what begins with it, as the grammar has it. */
static const char *
metric_piece_step(const char *p, const char *end, struct piece_nest *n)
{
	if (*p == '"')
		return metric_piece_string(p, end, n);
	if (*p == '{' || *p == '[')
		return metric_piece_open(n, *p == '{') ? p + 1 : NULL;
	if (*p == '}' || *p == ']')
		return metric_piece_close(n, *p == '}') ? p + 1 : NULL;
	if (*p == ',' || *p == ':')
		return metric_piece_mark(n, *p) ? p + 1 : NULL;
	if (n->depth > 0 && metric_piece_is_blank(*p))
		return p + 1;
	return metric_piece_word(p, end, n);
}

/* The same without a grammar: brackets are counted. */
static const char *
metric_piece_step_over(const char *p, const char *end, struct piece_nest *n)
{
	if (*p == '"')
		return metric_piece_text(p, end, NULL);
	if (*p == '{' || *p == '[')
		n->depth++;
	else if ((*p == '}' || *p == ']') && n->depth > 0)
		n->depth--;
	else if (n->depth == 0) {
		while (p < end && strchr(",:{}[] \t\r\n", *p) == NULL)
			p++;
		return p < end ? p : NULL;
	}
	return p + 1;
}

static const char *
metric_piece_walk(const char *p, const char *end, struct piece_nest *n)
{
	do {
		if (p >= end)
			return NULL;
		p = n->levels > 0 ? metric_piece_step(p, end, n)
				  : metric_piece_step_over(p, end, n);
	} while (p != NULL && n->depth > 0);
	return p;
}

const char *
metric_piece_end(const char *p, const char *end)
{
	struct piece_nest n = { 0 };

	return metric_piece_walk(p, end, &n);
}

const char *
metric_piece_value(const char *p, const char *end, size_t levels)
{
	struct piece_nest n = { .levels = levels, .next = PIECE_VALUE };

	return levels > 0 ? metric_piece_walk(p, end, &n) : NULL;
}
