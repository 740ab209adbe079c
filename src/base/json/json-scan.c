/*
 * The scanner: reads the text once, records the position of each value and
 * enforces a stricter syntax than cJSON.
 */

#include <ctype.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-internal.h"
#include "src/base/mem.h"
#include "src/base/text.h"

/* The text ends with a NUL, which no rule of the grammar accepts. */
struct scan {
	struct json_doc *doc;
	const char *text;
	size_t at;
	uint32_t node; /* the value being read, for paths */
	unsigned depth;
	struct err *e;
};

struct span {
	uint32_t at, end;
};

static int
scan_value(struct scan *, uint32_t parent, uint32_t *prev, struct span key);

/* "the end of the text" or the character there, for errors. */
static int
scan_unexpected(struct scan *s, const char *want)
{
	unsigned char c = (unsigned char)s->text[s->at];

	if (s->at >= s->doc->len)
		return json_error_at(s->doc, s->at, s->node, s->e,
		    "expected %s, but the text ends here", want);
	if (c <= ' ' || c >= 0x7f)
		return json_error_at(s->doc, s->at, s->node, s->e,
		    "expected %s, not the byte 0x%02x", want, c);
	return json_error_at(
	    s->doc, s->at, s->node, s->e, "expected %s, not '%c'", want, c);
}

static void
scan_space(struct scan *s)
{
	const char *p = s->text + s->at;

	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	s->at = (size_t)(p - s->text);
}

static uint32_t
scan_node_add(struct scan *s, uint32_t parent, uint32_t *prev, struct span key)
{
	struct json_doc *doc = s->doc;
	uint32_t i = doc->n_nodes;
	struct json *j;

	if (i == doc->cap_nodes) {
		struct json *old = doc->nodes == doc->few ? NULL : doc->nodes;

		doc->cap_nodes *= 2;
		doc->nodes =
		    xreallocarray(old, doc->cap_nodes, sizeof *doc->nodes);
		if (old == NULL)
			memcpy(doc->nodes, doc->few, sizeof doc->few);
	}
	doc->n_nodes++;
	j = &doc->nodes[i];
	*j = (struct json){ .doc = doc,
		.at = (uint32_t)s->at,
		.key_at = key.at,
		.key_end = key.end,
		.parent = parent };
	if (i > 0) {
		j->place = doc->nodes[parent].count++;
		if (*prev > 0)
			doc->nodes[*prev].next = i;
	}
	*prev = i;
	return i;
}

/* Skip an escape sequence, from its backslash. */
static int
scan_escape(struct scan *s)
{
	const char *p = s->text + s->at;
	long x, low;

	if (p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL) {
		s->at += 2;
		return 0;
	}
	x = p[1] == 'u' ? text_hex4(p + 2, 4) : -1;
	if (x < 0)
		return json_error_at(s->doc, s->at, s->node, s->e,
		    "no such escape; a backslash itself is written \\\\");
	if (x == 0)
		return json_error_at(s->doc, s->at, s->node, s->e,
		    "\\u0000 has no place in a string");
	s->at += 6;
	if (x < 0xd800 || x > 0xdfff)
		return 0;
	low = x < 0xdc00 && p[6] == '\\' && p[7] == 'u' ? text_hex4(p + 8, 4)
							: -1;
	if (low < 0xdc00 || low > 0xdfff)
		return json_error_at(s->doc, s->at - 6, s->node, s->e,
		    "half of a surrogate pair");
	s->at += 6;
	return 0;
}

/* Skip a string: from its opening quote to behind the closing one. */
static int
scan_string(struct scan *s)
{
	size_t start = s->at++;
	unsigned char c;
	uint32_t code;
	int n;

	for (;;) {
		c = (unsigned char)s->text[s->at];
		if (c == '"')
			break;
		if (c == '\\') {
			if (scan_escape(s) != 0)
				return -1;
		} else if (c >= ' ' && c < 0x80) {
			s->at++;
		} else if (c >= 0x80) {
			n = text_decode(
			    s->text + s->at, s->doc->len - s->at, &code);
			if (n <= 0)
				return json_error_at(s->doc, s->at, s->node,
				    s->e, "not UTF-8: byte 0x%02x", c);
			s->at += (size_t)n;
		} else if (c == '\n' || s->at >= s->doc->len) {
			return json_error_at(s->doc, start, s->node, s->e,
			    "this string has no closing quote");
		} else {
			return json_error_at(s->doc, s->at, s->node, s->e,
			    "a control character in a string; write \\u%04x",
			    c);
		}
	}
	s->at++;
	return 0;
}

static const char *
json_scan_digits(const char *p)
{
	while (isdigit((unsigned char)*p))
		p++;
	return p;
}

static int
scan_number(struct scan *s)
{
	const char *start = s->text + s->at, *p = start, *digits;

	if (*p == '-')
		p++;
	digits = p;
	p = json_scan_digits(p);
	if (p == digits) {
		s->at = (size_t)(p - s->text);
		return scan_unexpected(s, "a digit");
	}
	if (*digits == '0' && p - digits > 1)
		return json_error_at(
		    s->doc, s->at, s->node, s->e, "a number with a leading 0");
	if (*p == '.') {
		digits = ++p;
		p = json_scan_digits(p);
	}
	if (p != digits && (*p == 'e' || *p == 'E')) {
		p++;
		if (*p == '+' || *p == '-')
			p++;
		digits = p;
		p = json_scan_digits(p);
	}
	if (p == digits) {
		s->at = (size_t)(p - s->text);
		return scan_unexpected(s, "a digit");
	}
	if (p - start > JSON_NUMBER_MAX)
		return json_error_at(s->doc, s->at, s->node, s->e,
		    "a number of more than %d characters", JSON_NUMBER_MAX);
	s->at = (size_t)(p - s->text);
	return 0;
}

/* Skip true, false or null; report other words with a hint. */
static int
json_scan_word(struct scan *s, enum json_type *type)
{
	const char *p = s->text + s->at;
	int n = 0;

	while (n < 20 && (isalnum((unsigned char)p[n]) || p[n] == '_'))
		n++;
	s->at += (size_t)n;
	if (n == 4 && memcmp(p, "true", 4) == 0)
		*type = JSON_BOOL;
	else if (n == 5 && memcmp(p, "false", 5) == 0)
		*type = JSON_BOOL;
	else if (n == 4 && memcmp(p, "null", 4) == 0)
		*type = JSON_NULL;
	else {
		s->at -= (size_t)n;
		if (n > 0)
			return json_error_at(s->doc, s->at, s->node, s->e,
			    "expected a value, not %.*s", n, p);
		if (*p == '\'')
			return json_error_at(s->doc, s->at, s->node, s->e,
			    "strings stand in double quotes");
		return scan_unexpected(s, "a value");
	}
	return 0;
}

/* Behind the opening bracket: whether the closing one follows. */
static bool
scan_close(struct scan *s, char close)
{
	scan_space(s);
	if (s->text[s->at] != close)
		return false;
	s->at++;
	return true;
}

static int
scan_array(struct scan *s, uint32_t self)
{
	uint32_t prev = 0;

	s->at++;
	if (scan_close(s, ']'))
		return 0;
	for (;;) {
		if (scan_value(s, self, &prev, (struct span){ 0 }) != 0)
			return -1;
		if (scan_close(s, ']'))
			return 0;
		if (s->text[s->at] != ',')
			return scan_unexpected(s, "',' or ']'");
		s->at++;
		scan_space(s);
		if (s->text[s->at] == ']')
			return json_error_at(s->doc, s->at, s->node, s->e,
			    "a comma before ']' is one too many");
	}
}

static int
scan_object(struct scan *s, uint32_t self)
{
	struct span key;
	uint32_t prev = 0;

	s->at++;
	if (scan_close(s, '}'))
		return 0;
	for (;;) {
		if (s->text[s->at] != '"')
			return scan_unexpected(s, "a key in double quotes");
		key.at = (uint32_t)s->at;
		if (scan_string(s) != 0)
			return -1;
		key.end = (uint32_t)s->at;
		scan_space(s);
		if (s->text[s->at] != ':')
			return scan_unexpected(s, "':' after the key");
		s->at++;
		scan_space(s);
		if (scan_value(s, self, &prev, key) != 0)
			return -1;
		if (scan_close(s, '}'))
			return 0;
		if (s->text[s->at] != ',')
			return scan_unexpected(s, "',' or '}'");
		s->at++;
		scan_space(s);
		if (s->text[s->at] == '}')
			return json_error_at(s->doc, s->at, s->node, s->e,
			    "a comma before '}' is one too many");
	}
}

static int
scan_value(struct scan *s, uint32_t parent, uint32_t *prev, struct span key)
{
	enum json_type type = JSON_NULL;
	uint32_t self;
	char c = s->text[s->at];
	int rc;

	if (s->doc->n_nodes == JSON_NODES_MAX)
		return json_error_at(s->doc, s->at, parent, s->e,
		    "more than %d values", JSON_NODES_MAX);
	self = scan_node_add(s, parent, prev, key);
	s->node = self;
	if ((c == '{' || c == '[') && s->depth == JSON_DEPTH_MAX)
		return json_error_at(s->doc, s->at, self, s->e,
		    "nested deeper than %d", JSON_DEPTH_MAX);
	s->depth++;
	if (c == '{') {
		type = JSON_OBJECT;
		rc = scan_object(s, self);
	} else if (c == '[') {
		type = JSON_ARRAY;
		rc = scan_array(s, self);
	} else if (c == '"') {
		type = JSON_STRING;
		rc = scan_string(s);
	} else if (c == '-' || isdigit((unsigned char)c)) {
		type = JSON_NUMBER;
		rc = scan_number(s);
	} else {
		rc = json_scan_word(s, &type);
	}
	s->depth--;
	s->doc->nodes[self].type = type;
	s->doc->nodes[self].end = (uint32_t)s->at;
	if (rc == 0)
		s->node = parent;
	return rc;
}

int
json_scan(struct json_doc *doc, struct err *e)
{
	struct scan s = { .doc = doc, .text = doc->text, .e = e };
	uint32_t prev = 0;

	doc->nodes = doc->few;
	doc->cap_nodes = JSON_FEW;
	scan_space(&s);
	if (s.at >= doc->len)
		return json_error_at(doc, s.at, 0, e, "there is nothing in it");
	if (scan_value(&s, 0, &prev, (struct span){ 0 }) != 0)
		return -1;
	scan_space(&s);
	if (s.at < doc->len)
		return json_error_at(
		    doc, s.at, 0, e, "text after the end of the value");
	return 0;
}
