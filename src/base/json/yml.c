/*
 * Writes the nodes of a YAML document as JSON, each at the line and column that
 * it has in the YAML, so that errors of the JSON reader name them.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/json/yml.h"

enum {
	DEPTH_MOST = 16,
	TEXT_MOST = 16 << 20,
	ANCHORS_MOST = 1000 /* each is looked for in a list of all */
};

struct yml {
	yaml_document_t doc;
	struct buf out;
	size_t line, start; /* of the end of out, and where that line begins */
	const char *file;
};

/*
 * Go to the place of a node, if it is further on: an alias may not be.  Quotes
 * and brackets that only JSON has stand before it.
 */
static void
yml_place(struct yml *y, const yaml_node_t *node, size_t before)
{
	while (y->line < node->start_mark.line) {
		buf_putc(&y->out, '\n');
		y->line++;
		y->start = y->out.len;
	}
	while (y->line == node->start_mark.line &&
	       y->out.len - y->start + before < node->start_mark.column)
		buf_putc(&y->out, ' ');
}

static bool
word_is(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

/* The digits of a base up to ':' or the end, with underscores between them. */
static bool
yml_digits_read(const char **s, int base, int64_t *n)
{
	static const char digits[] = "0123456789abcdef";
	const char *at, *from = *s;

	for (*n = 0; **s != '\0' && **s != ':'; (*s)++) {
		if (**s == '_')
			continue;
		at = strchr(digits, tolower((unsigned char)**s));
		if (at == NULL || at - digits >= base || *n > INT64_MAX / 4096)
			return false;
		*n = *n * base + (at - digits);
	}
	return *s > from;
}

/* A whole number as YAML 1.1 has it: 0b101, 010 (8), 0x1f, 1_000, 1:30 (90). */
static bool
yml_integer_put(struct buf *out, const char *text)
{
	const char *s = text + (*text == '-' || *text == '+');
	int64_t n, part;
	int base = 10;

	if (s[0] == '0' && s[1] != '\0')
		base = s[1] == 'b' ? 2 : s[1] == 'x' ? 16 : 8;
	s += base == 8 ? 1 : base == 10 ? 0 : 2;
	if (*s == '_' || !yml_digits_read(&s, base, &n))
		return false;
	while (*s == ':') {
		s++;
		if (base != 10 || strlen(s) == 0 || strchr(":_", *s) != NULL ||
		    !yml_digits_read(&s, base, &part) || part > 59 ||
		    n > INT64_MAX / 4096)
			return false;
		n = n * 60 + part;
	}
	buf_printf(out, "%s%" PRId64, *text == '-' && n != 0 ? "-" : "", n);
	return true;
}

/* A plain word's value; false when it is text. */
static bool
put_plain(struct buf *out, const char *text)
{
	static const char *const nulls[] = { "", "~", "null", NULL };
	static const char *const yes[] = { "true", "yes", "on", NULL };
	static const char *const no[] = { "false", "no", "off", NULL };
	size_t at;
	char *end;
	double x;

	if (word_is(text, nulls) || word_is(text, yes) || word_is(text, no)) {
		buf_puts(out, word_is(text, yes)  ? "true"
			      : word_is(text, no) ? "false"
						  : "null");
		return true;
	}
	if (strchr("+-.0123456789", *text) == NULL)
		return false;
	if (yml_integer_put(out, text))
		return true;
	/* 08 and 09 are not octal, and no other numbers. */
	at = *text == '-' || *text == '+';
	if (text[at] == '0' && strlen(text + at) > 1 &&
	    strspn(text + at, "0123456789") == strlen(text + at))
		return false;
	errno = 0;
	x = strtod(text, &end);
	if (end == text || *end != '\0' || errno != 0 || !isfinite(x))
		return false;
	at = out->len;
	json_put_number(out, x);
	if (strpbrk(text, ".eE") != NULL &&
	    strpbrk(out->data + at, ".eE") == NULL)
		buf_puts(out, ".0");
	return true;
}

static void
put_scalar(struct yml *y, const yaml_node_t *node, bool key)
{
	const char *text = (const char *)node->data.scalar.value;
	bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		     strcmp((const char *)node->tag, YAML_STR_TAG) == 0;

	if (key || !plain || !put_plain(&y->out, text))
		json_put_string(&y->out, text);
}

static int
node_err(
    const struct yml *y, const yaml_mark_t *at, const char *what, struct err *e)
{
	return err_set(e, ERR_USAGE, "%s:%zu:%zu: %s", y->file, at->line + 1,
	    at->column + 1, what);
}

static bool
block_style(const yaml_node_t *node)
{
	return (node->type == YAML_MAPPING_NODE &&
		   node->data.mapping.style == YAML_BLOCK_MAPPING_STYLE) ||
	       (node->type == YAML_SEQUENCE_NODE &&
		   node->data.sequence.style == YAML_BLOCK_SEQUENCE_STYLE);
}

static int put_node(struct yml *y, int index, int depth, struct err *e);

static int
put_sequence(struct yml *y, const yaml_node_t *node, int depth, struct err *e)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;
	int rc = 0;

	buf_putc(&y->out, '[');
	for (; item < node->data.sequence.items.top && rc == 0; item++) {
		if (item > node->data.sequence.items.start)
			buf_putc(&y->out, ',');
		rc = put_node(y, *item, depth, e);
	}
	buf_putc(&y->out, ']');
	return rc;
}

static int
put_mapping(struct yml *y, const yaml_node_t *node, int depth, struct err *e)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	const yaml_node_t *key;
	int rc = 0;

	buf_putc(&y->out, '{');
	for (; pair < node->data.mapping.pairs.top && rc == 0; pair++) {
		if (pair > node->data.mapping.pairs.start)
			buf_putc(&y->out, ',');
		key = yaml_document_get_node(&y->doc, pair->key);
		if (key->type != YAML_SCALAR_NODE)
			return node_err(
			    y, &key->start_mark, "a key must be a text", e);
		yml_place(y, key, 1);
		put_scalar(y, key, true);
		buf_putc(&y->out, ':');
		rc = put_node(y, pair->value, depth, e);
	}
	buf_putc(&y->out, '}');
	return rc;
}

static int
put_node(struct yml *y, int index, int depth, struct err *e)
{
	const yaml_node_t *node = yaml_document_get_node(&y->doc, index);

	/* Also the end of an alias to what contains it. */
	if (depth == DEPTH_MOST || y->out.len > TEXT_MOST)
		return node_err(y, &node->start_mark,
		    "it is nested too deeply, or too long", e);
	yml_place(y, node, block_style(node) ? 2 : 0);
	if (node->type == YAML_SEQUENCE_NODE)
		return put_sequence(y, node, depth + 1, e);
	if (node->type == YAML_MAPPING_NODE)
		return put_mapping(y, node, depth + 1, e);
	put_scalar(y, node, false);
	return 0;
}

static int
parser_err(const struct yml *y, const yaml_parser_t *parser, struct err *e)
{
	return node_err(y, &parser->problem_mark,
	    parser->problem != NULL ? parser->problem : "it is no YAML", e);
}

/* Of one event: how much deeper it leads, and whether it has an anchor. */
static int
event_depth(const yaml_event_t *event, bool *anchor)
{
	*anchor = false;
	if (event->type == YAML_MAPPING_START_EVENT) {
		*anchor = event->data.mapping_start.anchor != NULL;
		return 1;
	}
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		*anchor = event->data.sequence_start.anchor != NULL;
		return 1;
	}
	if (event->type == YAML_SCALAR_EVENT)
		*anchor = event->data.scalar.anchor != NULL;
	return event->type == YAML_MAPPING_END_EVENT ||
		       event->type == YAML_SEQUENCE_END_EVENT
		   ? -1
		   : 0;
}

/*
 * Before the first document is loaded whole: its costs grow with the square of
 * its depth and of its anchors.
 */
static int
first_look(const struct yml *y, const char *text, size_t len, struct err *e)
{
	yaml_parser_t parser;
	yaml_event_t event;
	int depth = 0, anchors = 0, rc = 0;
	bool anchor, end = false;

	if (!yaml_parser_initialize(&parser))
		return err_set(e, ERR_FILE, "%s: no memory", y->file);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (rc == 0 && !end) {
		if (!yaml_parser_parse(&parser, &event)) {
			rc = parser_err(y, &parser, e);
			break;
		}
		end = event.type == YAML_STREAM_END_EVENT ||
		      event.type == YAML_DOCUMENT_END_EVENT;
		depth += event_depth(&event, &anchor);
		anchors += anchor;
		if (depth > DEPTH_MOST || anchors > ANCHORS_MOST)
			rc = node_err(y, &event.start_mark,
			    depth > DEPTH_MOST ? "it is nested too deeply"
					       : "it has too many anchors",
			    e);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return rc;
}

/*
 * Parse the first document of len bytes of text; the caller frees it.  Its
 * errors name the lines and columns of the YAML text, and file.
 *
 * Plain words are values as in YAML 1.1 (yes, on and ~ too), but 1e-5 is a
 * number, as in YAML 1.2; a number without an end, and what has a tag of its
 * own, is text.  Documents nested deeper than 16 are errors.
 */
static int
parse(struct json_doc **doc, const char *text, size_t len, const char *file,
    struct err *e)
{
	struct yml y = { .file = file };
	yaml_parser_t parser;
	int rc = -1;

	if (first_look(&y, text, len, e) != 0)
		return -1;
	if (!yaml_parser_initialize(&parser))
		return err_set(e, ERR_FILE, "%s: no memory", file);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &y.doc))
		rc = parser_err(&y, &parser, e);
	else {
		if (yaml_document_get_root_node(&y.doc) == NULL)
			rc = err_set(e, ERR_USAGE, "%s: it is empty", file);
		else
			rc = put_node(&y, 1, 0, e);
		yaml_document_delete(&y.doc);
	}
	yaml_parser_delete(&parser);
	if (rc == 0)
		rc =
		    json_parse(doc, buf_str(&y.out), y.out.len, file, false, e);
	buf_free(&y.out);
	return rc;
}

int
yml_load(struct json_doc **doc, const char *path, struct err *e)
{
	struct buf text = { 0 };
	int rc = json_load_text(&text, path, e);

	if (rc == 0)
		rc = parse(doc, buf_str(&text), text.len, path, e);
	buf_free(&text);
	return rc;
}
