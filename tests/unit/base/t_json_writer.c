/* The JSON writer: commas, spacing, values, nesting, and reading back. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"

/* One of each kind of value. */
static void
document_put(struct json_writer *w)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "text", "a\"b\n");
	json_writer_text(w, "none", NULL);
	json_writer_number(w, "number", 0.25);
	json_writer_number(w, "nan", NAN);
	json_writer_integer(w, "most", INT64_MAX);
	json_writer_bool(w, "on", true);
	json_writer_array(w, "list");
	json_writer_integer(w, NULL, 1);
	json_writer_object(w, NULL);
	json_writer_end(w);
	json_writer_array(w, NULL);
	json_writer_end(w);
	json_writer_raw(w, NULL, "[2]");
	json_writer_end(w);
	json_writer_null(w, "null");
	json_writer_end(w);
}

static void
written_is(enum json_spacing spacing, const char *expected, const char *what)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = spacing };
	struct json_doc *doc;
	struct err e = ERR_INIT;

	document_put(&w);
	is_str(buf_str(&b), expected, what);
	ok(json_parse(&doc, buf_str(&b), b.len, NULL, false, &e) == 0,
	    "%s: it reads back", what);
	json_free(doc);
	buf_free(&b);
}

static void
lines(void)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b };
	int i;

	json_writer_array(&w, NULL);
	for (i = 0; i < 3; i++) {
		json_writer_line(&w);
		json_writer_integer(&w, NULL, i);
	}
	json_writer_end(&w);
	is_str(buf_str(&b), "[0,\n1,\n2]", "a line for each but the first");
	buf_free(&b);
}

/* Inside an object that the caller opened and closes. */
static void
members(void)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .comma = true };

	buf_puts(&b, "{\"a\":1");
	json_writer_integer(&w, "b", 2);
	buf_puts(json_writer_value(&w, "c"), "[]");
	buf_puts(&b, "}");
	is_str(buf_str(&b), "{\"a\":1,\"b\":2,\"c\":[]}", "more members");
	buf_free(&b);
}

int
main(void)
{
	written_is(JSON_TIGHT,
	    "{\"text\":\"a\\\"b\\n\",\"none\":null,\"number\":0.25,"
	    "\"nan\":null,\"most\":9223372036854775807,\"on\":true,"
	    "\"list\":[1,{},[],[2]],\"null\":null}",
	    "no spaces");
	written_is(JSON_SPACED,
	    "{\"text\": \"a\\\"b\\n\", \"none\": null, \"number\": 0.25, "
	    "\"nan\": null, \"most\": 9223372036854775807, \"on\": true, "
	    "\"list\": [1, {}, [], [2]], \"null\": null}",
	    "a space behind commas and colons");
	written_is(JSON_PADDED,
	    "{ \"text\": \"a\\\"b\\n\", \"none\": null, \"number\": 0.25, "
	    "\"nan\": null, \"most\": 9223372036854775807, \"on\": true, "
	    "\"list\": [1, { }, [], [2]], \"null\": null }",
	    "spaces inside of braces too");
	lines();
	members();
	return done_testing();
}
