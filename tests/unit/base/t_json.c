/* The JSON reader: accepted and rejected input, and error positions. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

static struct json_doc *
parse(const char *text)
{
	struct json_doc *doc;
	struct err e = ERR_INIT;

	if (json_parse(&doc, text, strlen(text), "f", true, &e) != 0)
		printf("# %s\n", e.text);
	return doc;
}

/* Text that is refused, and how. */
static const struct wrong {
	const char *text, *error;
} wrongs[] = {
	{ "", "f:1:1: there is nothing in it" },
	{ " \n ", "f:2:2: there is nothing in it" },
	{ "{", "f:1:2: expected a key in double quotes, but the text ends "
	       "here" },
	{ "{\"a\"", "f:1:5: expected ':' after the key, but the text ends "
		    "here" },
	{ "{\"a\":1", "f:1:7: expected ',' or '}', but the text ends here" },
	{ "{\"a\":1,}", "f:1:8: a comma before '}' is one too many" },
	{ "{\"a\":1 \"b\":2}", "f:1:8: expected ',' or '}', not '\"'" },
	{ "{a:1}", "f:1:2: expected a key in double quotes, not 'a'" },
	{ "[1,]", "f:1:4: a comma before ']' is one too many" },
	{ "[1 2]", "f:1:4: expected ',' or ']', not '2'" },
	{ "[1]x", "f:1:4: text after the end of the value" },
	{ "[01]", "f:1:2: [0]: a number with a leading 0" },
	{ "[-]", "f:1:3: [0]: expected a digit, not ']'" },
	{ "[1.]", "f:1:4: [0]: expected a digit, not ']'" },
	{ "[1e]", "f:1:4: [0]: expected a digit, not ']'" },
	{ "[.5]", "f:1:2: [0]: expected a value, not '.'" },
	{ "[+5]", "f:1:2: [0]: expected a value, not '+'" },
	{ "[1e999]", "f:1:2: [0]: a number beyond what a double can hold" },
	{ "[NaN]", "f:1:2: [0]: expected a value, not NaN" },
	{ "[True]", "f:1:2: [0]: expected a value, not True" },
	{ "['a']", "f:1:2: [0]: strings stand in double quotes" },
	{ "{\"a\":{\"b\":[0,{\"c\":nul}]}}",
	    "f:1:19: a.b[1].c: expected a value, not nul" },
	{ "[\"a]", "f:1:2: [0]: this string has no closing quote" },
	{ "[\"a\n\"]", "f:1:2: [0]: this string has no closing quote" },
	{ "[\"a\tb\"]",
	    "f:1:4: [0]: a control character in a string; write \\u0009" },
	{ "[\"\\x\"]", "f:1:3: [0]: no such escape; a backslash itself is "
		       "written \\\\" },
	{ "[\"\\u12g4\"]", "f:1:3: [0]: no such escape; a backslash itself "
			   "is written \\\\" },
	{ "[\"\\u0000\"]", "f:1:3: [0]: \\u0000 has no place in a string" },
	{ "[\"\\ud800x\"]", "f:1:3: [0]: half of a surrogate pair" },
	{ "[\"\\ud800\\u0041\"]", "f:1:3: [0]: half of a surrogate pair" },
	{ "[\"\\udc00\"]", "f:1:3: [0]: half of a surrogate pair" },
	{ "[\"\xff\"]", "f:1:3: [0]: not UTF-8: byte 0xff" },
	{ "[\"\xc0\x80\"]", "f:1:3: [0]: not UTF-8: byte 0xc0" },
	{ "[\"\xed\xa0\x80\"]", "f:1:3: [0]: not UTF-8: byte 0xed" },
	{ "[\"\xe2\x82\"]", "f:1:3: [0]: not UTF-8: byte 0xe2" },
	{ "[\xe2\x82\xac]", "f:1:2: [0]: expected a value, not the byte "
			    "0xe2" },
	{ "{\"a\":1,\"b\":2,\"a\":3}", "f:1:14: a: this key is given twice" },
	{ "{\"a\":1,\n \"\\u0061\":3}",
	    "f:2:2: [\"\\u0061\"]: this key is given twice" },
	{ "{\"odd key\":[{\"a.b\":'}]}",
	    "f:1:20: [\"odd key\"][0][\"a.b\"]: strings stand in double "
	    "quotes" },
	{ "[\"\xe2\x82\xac\xc3\xa9\", x]", "f:1:8: [1]: expected a value, "
					   "not x" },
	{ "[1, /* \xe2\x82\xac */ x]", "f:1:13: [1]: expected a value, not "
				       "x" },
	{ "// one\n/* two\n three */ [1,\n  x]",
	    "f:4:3: [1]: expected a value, not x" },
	{ "[1] /* never ends", "f:1:5: this comment has no end" },
	{ "[1] / 2", "f:1:5: text after the end of the value" },
	{ "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
	    "f:1:17: [0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested "
	    "deeper than 16" },
	{ "[0.12345678901234567890123456789012345678901234567890123456789012"
	  "34]",
	    "f:1:2: [0]: a number of more than 63 characters" },
	{ "\xef\xbb\xbf[x]", "f:1:2: [0]: expected a value, not x" },
};

static void
test_wrong(void)
{
	struct json_doc *doc;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
		e = (struct err)ERR_INIT;
		if (json_parse(&doc, wrongs[i].text, strlen(wrongs[i].text),
			"f", true, &e) == 0)
			e.text[0] = '\0';
		is_str(e.text, wrongs[i].error, wrongs[i].error);
		json_free(doc);
	}
	ok(json_parse(&doc, "[1,\0 2]", 7, NULL, true, &e) != 0 &&
		doc == NULL &&
		strcmp(e.text, "1:4: [1]: expected a value, not the byte "
			       "0x00") == 0,
	    "a NUL is refused, and no file is named");
	ok(json_parse(&doc, "// x\n1", 6, NULL, false, &e) != 0,
	    "comments only where they are allowed");
	ok(json_parse(&doc, "[", 1, NULL, false, NULL) != 0,
	    "an error may be unwanted");
}

static void
test_values(void)
{
	struct json_doc *doc = parse(
	    "/* c */ { \"n\": null, \"t\": true, \"f\": false, // x\n"
	    "\"i\": -12, \"r\": 2.5e-3, \"w\": 1e3,\n"
	    "\"s\": \"a\\u00e9\\ud83d\\ude00 // \\\"/*\", \"a\": [1, [], "
	    "{}],\n\"big\": 9223372036854775807, \"huge\": "
	    "9223372036854775808,\n\"x\": 9007199254740993, \"y\": 1e17}");
	const struct json *root = json_root(doc), *a = json_get(root, "a");
	struct buf b = { 0 };
	double x;
	int64_t n;
	bool yes;

	is_int(json_type(root), JSON_OBJECT, "the root is an object");
	is_int(json_count(root), 12, "with twelve members");
	is_int(json_type(json_get(root, "n")), JSON_NULL, "null");
	ok(json_bool(json_get(root, "t"), &yes) && yes, "true");
	ok(json_bool(json_get(root, "f"), &yes) && !yes, "false");
	ok(!json_bool(json_get(root, "i"), &yes), "a number is no bool");
	ok(json_integer(json_get(root, "i"), &n) && n == -12, "-12");
	ok(!json_integer(json_get(root, "r"), &n), "2.5e-3 is not whole");
	ok(json_number(json_get(root, "r"), &x) && x == 2.5e-3, "2.5e-3");
	ok(json_integer(json_get(root, "w"), &n) && n == 1000, "1e3 is whole");
	ok(json_integer(json_get(root, "big"), &n) && n == INT64_MAX,
	    "all 63 bits of an integer are read");
	ok(!json_integer(json_get(root, "huge"), &n), "and 64 are refused");
	ok(json_integer(json_get(root, "x"), &n) && n == 9007199254740993,
	    "2^53 + 1 is read exactly");
	ok(!json_integer(json_get(root, "y"), &n), "1e17 is not exact");
	is_str(json_string(json_get(root, "s")),
	    "a\xc3\xa9\xf0\x9f\x98\x80 // \"/*", "escapes are decoded");
	ok(json_string(json_get(root, "i")) == NULL, "a number is no string");
	ok(json_get(root, "N") == NULL, "keys have case");
	is_int(json_count(a), 3, "three elements");
	ok(json_get(a, "x") == NULL, "an array has no members");
	is_str(json_key(a), "a", "a member has a key");
	ok(json_key(json_first(a)) == NULL, "an element has none");
	ok(json_first(json_next(json_first(a))) == NULL, "empty array");
	json_write(&b, json_get(root, "a"));
	is_str(buf_str(&b), "[1,[],{}]", "written without space");
	buf_clear(&b);
	json_write(&b, json_get(root, "s"));
	is_str(buf_str(&b), "\"a\\u00e9\\ud83d\\ude00 // \\\"/*\"",
	    "a string is written as it stands");
	buf_free(&b);
	json_free(doc);
}

static void
test_errors(void)
{
	static const char *const known[] = { "trials", "parallel", "wall_time",
		NULL };
	struct json_doc *doc = parse("{\"limits\": {\"trails\": 1},\n"
				     " \"b\": {\"zzz\": 2}, \"c\": 3,\n"
				     " \"d\": \"\\u001b[31m\\u009b\"}");
	const struct json *root = json_root(doc), *j;
	struct err e = ERR_INIT;
	int64_t n;
	size_t at;
	double x;

	json_only(json_get(root, "limits"), known, &e);
	is_str(e.text,
	    "f:1:13: limits.trails: unknown key; did you mean "
	    "\"trials\"?",
	    "unknown key, nearest");
	json_only(json_get(root, "b"), known, &e);
	is_str(e.text,
	    "f:2:8: b.zzz: unknown key; known: trials, parallel, "
	    "wall_time",
	    "unknown key, none near");
	json_only(json_get(root, "c"), known, &e);
	is_str(e.text, "f:2:24: c: expected an object, not a number",
	    "no object at all");
	ok(json_only(root,
	       (const char *const[]){ "limits", "b", "c", "d", NULL }, &e) == 0,
	    "all keys known");
	j = json_get(root, "c");
	json_read_number(j, 4, 8, &x, &e);
	is_str(e.text, "f:2:24: c: expected a number from 4 to 8", "range");
	json_read_integer(json_get(root, "d"), 4, 8, &n, &e);
	is_str(
	    e.text, "f:3:7: d: expected a whole number, not a string", "type");
	json_read_word(json_get(root, "d"), known, &at, &e);
	is_str(
	    e.text, "f:3:7: d: expected trials, parallel or wall_time", "word");
	json_err(json_get(root, "d"), &e, "\"%s\"",
	    json_string(json_get(root, "d")));
	is_str(e.text, "f:3:7: d: \"\\x1b[31m\\xc2\\x9b\"",
	    "terminals get no orders");
	ok(json_need(root, "e", &e) == NULL, "a key is needed");
	is_str(e.text, "f:1:1: the key \"e\" is missing", "and missing");
	json_err(NULL, &e, "no %s", "place");
	is_str(e.text, "no place", "an error without a place");
	is_int(e.kind, ERR_USAGE, "is the user's all the same");
	json_free(doc);
	is_str(json_nearest("parralel", known), "parallel", "two edits");
	is_str(json_nearest("Trials", known), "trials", "case");
	is_str(json_nearest("wall", known), "wall_time", "a beginning");
	ok(json_nearest("x", known) == NULL, "none is near x");
}

static void
test_long(void)
{
	struct buf b = { 0 };
	struct json_doc *doc;
	struct err e = ERR_INIT;
	int i;

	buf_putc(&b, '{');
	for (i = 0; i < 100000; i++)
		buf_printf(&b, "\"k%d\":[%d],\n", i, i);
	buf_puts(&b, "\"k77\":0}");
	ok(json_parse(&doc, buf_str(&b), b.len, "f", false, &e) != 0,
	    "one key twice among 100,000");
	is_str(e.text, "f:100001:1: k77: this key is given twice", "is found");
	b.len -= 8;
	buf_puts(&b, "\"last\":0}");
	ok(json_parse(&doc, buf_str(&b), b.len, "f", false, &e) == 0 &&
		json_count(json_root(doc)) == 100001,
	    "100,001 members");
	json_free(doc);
	buf_clear(&b);
	buf_puts(&b, "{\"");
	for (i = 0; i < 1000; i++)
		buf_puts(&b, "\xe2\x82\xac");
	buf_puts(&b, "\": x}");
	ok(json_parse(&doc, buf_str(&b), b.len, "f", false, &e) != 0 &&
		strlen(e.text) < 200 && strstr(e.text, "not x") != NULL,
	    "a long key does not hide the error");
	buf_clear(&b);
	buf_putc(&b, '[');
	for (i = 0; i < 1000000; i++)
		buf_puts(&b, "0,");
	buf_puts(&b, "0]");
	ok(json_parse(&doc, buf_str(&b), b.len, "f", false, &e) != 0,
	    "a million values are enough");
	buf_free(&b);
}

/* Any double comes back from its text, in few digits where few will do. */
static void
test_numbers(void)
{
	static const struct {
		double x;
		const char *text;
	} table[] = { { 0, "0" }, { 0.1, "0.1" }, { 0.3, "0.3" },
		{ 1e-4, "0.0001" }, { 1e21, "1e+21" }, { -2.5, "-2.5" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 5e-324, "4.94065645841247e-324" }, { NAN, "null" },
		{ -INFINITY, "null" },
		{ 9007199254740991, "9007199254740991" } };
	struct buf b = { 0 };
	struct json_doc *doc;
	struct rng r;
	uint64_t bits;
	double x, back;
	size_t i, bad = 0;

	for (i = 0; i < sizeof table / sizeof table[0]; i++) {
		buf_clear(&b);
		json_put_number(&b, table[i].x);
		is_str(buf_str(&b), table[i].text, table[i].text);
	}
	rng_init(&r, 11, 1);
	for (i = 0; i < 20000; i++) {
		bits = rng_u64(&r);
		memcpy(&x, &bits, sizeof x);
		if (!isfinite(x))
			continue;
		buf_clear(&b);
		json_put_number(&b, x);
		if (json_parse(&doc, b.data, b.len, NULL, false, NULL) != 0)
			bad++;
		else if (!json_number(json_root(doc), &back) || back != x)
			bad++;
		json_free(doc);
	}
	is_int((long long)bad, 0, "20,000 random doubles come back");
	buf_clear(&b);
	json_put_string(&b, "a\"\\\n\t\x01\x7f\xc3\xa9/");
	is_str(buf_str(&b), "\"a\\\"\\\\\\n\\t\\u0001\\u007f\xc3\xa9/\"",
	    "a string is escaped");
	buf_free(&b);
}

static void
test_load(void)
{
	struct json_doc *doc;
	struct err e = ERR_INIT;

	ok(json_load(&doc, "/nonexistent/x.json", &e) != 0 &&
		e.kind == ERR_FILE && doc == NULL,
	    "a file that is not there");
	ok(json_load(&doc, "/", &e) != 0 && e.kind == ERR_FILE,
	    "a folder is no file");
}

int
main(void)
{
	test_wrong();
	test_values();
	test_errors();
	test_long();
	test_numbers();
	test_load();
	return done_testing();
}
