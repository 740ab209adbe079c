/* Parameters and the unit cube: exact conversion in both directions. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "tests/support/tap.h"

static struct space *
read_space(const char *text, struct err *e)
{
	struct json_doc *doc;
	struct space *s = NULL;

	if (json_parse(&doc, text, strlen(text), "f", true, e) == 0)
		space_read(&s, json_root(doc), e);
	json_free(doc);
	return s;
}

/* One parameter without its braces. */
static struct space *
one(const char *text)
{
	char *whole = xasprintf("{\"x\": {%s}}", text);
	struct err e = ERR_INIT;
	struct space *s = read_space(whole, &e);

	if (s == NULL)
		printf("# %s: %s\n", text, e.text);
	free(whole);
	return s;
}

/* The value at u of the one parameter, as text. */
static void
at(const char *text, double u, const char *want)
{
	struct space *s = one(text);
	struct buf b = { 0 };
	struct value v;

	space_decode(s, &u, &v);
	param_value_put(&b, &v);
	ok(strcmp(buf_str(&b), want) == 0, "%s at %g is %s (%s)", text, u, want,
	    buf_str(&b));
	buf_free(&b);
	space_free(s);
}

static void
test_decode(void)
{
	at("\"type\":\"float\",\"min\":-1,\"max\":3", 0.25, "0");
	at("\"type\":\"float\",\"min\":-1,\"max\":3", -7, "-1");
	at("\"type\":\"float\",\"min\":-1,\"max\":3", 1, "3");
	at("\"type\":\"float\",\"min\":-1,\"max\":3", NAN, "1");
	at("\"type\":\"float\",\"min\":0,\"max\":1", 1.0 / 3, "0.333333333333");
	at("\"type\":\"float\",\"min\":1e-4,\"max\":1,\"scale\":\"log\"", 0.5,
	    "0.01");
	at("\"type\":\"float\",\"min\":1e-4,\"max\":1,\"scale\":\"log\"", 0,
	    "0.0001");
	at("\"type\":\"float\",\"min\":0.12345678901234567,\"max\":0.5", 0,
	    "0.12345678901234566");
	at("\"type\":\"float\",\"min\":0.9,\"max\":0.999,\"scale\":"
	   "\"reverse-log\"",
	    0.5, "0.99");
	at("\"type\":\"float\",\"min\":0,\"max\":0.99,\"scale\":"
	   "\"reverse-log\"",
	    0.5, "0.9");
	at("\"type\":\"float\",\"min\":0.1,\"max\":0.5,\"step\":0.1", 0.5,
	    "0.3");
	at("\"type\":\"float\",\"min\":0.1,\"max\":0.5,\"step\":0.1", 1, "0.5");
	at("\"type\":\"float\",\"min\":0,\"max\":1,\"step\":0.3", 1, "0.9");
	at("\"type\":\"float\",\"min\":-0.3,\"max\":0.3,\"step\":0.1", 0.5,
	    "0");
	at("\"type\":\"float\",\"min\":2,\"max\":2", 0.7, "2");
	at("\"type\":\"int\",\"min\":1,\"max\":4", 0.2499, "1");
	at("\"type\":\"int\",\"min\":1,\"max\":4", 0.25, "2");
	at("\"type\":\"int\",\"min\":1,\"max\":4", 1, "4");
	at("\"type\":\"int\",\"min\":1,\"max\":10,\"step\":4", 1, "9");
	at("\"type\":\"int\",\"min\":16,\"max\":256,\"scale\":\"log\"", 0,
	    "16");
	at("\"type\":\"int\",\"min\":16,\"max\":256,\"scale\":\"log\"", 1,
	    "256");
	at("\"type\":\"int\",\"min\":16,\"max\":256,\"scale\":\"log\"", 0.5,
	    "63");
	at("\"type\":\"int\",\"min\":-9007199254740992,"
	   "\"max\":9007199254740992,\"step\":9007199254740991",
	    0.9, "9007199254740990");
	at("\"type\":\"choice\",\"values\":[\"a\",2,2.5,true,null]", 0.2, "2");
	at("\"type\":\"choice\",\"values\":[\"a\",2,2.5,true,null]", 0.5,
	    "2.5");
	at("\"type\":\"choice\",\"values\":[\"a\",2,2.5,true,null]", 0.7,
	    "true");
	at("\"type\":\"choice\",\"values\":[\"a\",2,2.5,true,null]", 1, "null");
	at("\"type\":\"fixed\",\"value\":\"x y\"", 0.1, "x y");
}

static void
test_levels(void)
{
	static const struct {
		const char *text;
		uint64_t n;
	} table[] = {
		{ "\"type\":\"float\",\"min\":0,\"max\":1", 0 },
		{ "\"type\":\"float\",\"min\":1,\"max\":1", 1 },
		{ "\"type\":\"float\",\"min\":0.1,\"max\":0.3,\"step\":0.1",
		    3 },
		{ "\"type\":\"float\",\"min\":0,\"max\":1,\"step\":0.001",
		    1001 },
		{ "\"type\":\"float\",\"min\":0,\"max\":1,\"step\":0.3", 4 },
		{ "\"type\":\"int\",\"min\":-3,\"max\":3", 7 },
		{ "\"type\":\"int\",\"min\":-3,\"max\":3,\"step\":4", 2 },
		{ "\"type\":\"int\",\"min\":0,\"max\":1000000000000000",
		    1000000000000001 },
		{ "\"type\":\"int\",\"min\":1,\"max\":9,\"scale\":\"log\"", 9 },
		{ "\"type\":\"choice\",\"values\":[1,2]", 2 },
		{ "\"type\":\"fixed\",\"value\":1", 1 },
	};
	struct space *s;
	size_t i;

	for (i = 0; i < sizeof table / sizeof table[0]; i++) {
		s = one(table[i].text);
		ok(param_levels(&s->params[0]) == table[i].n, "%s: %llu levels",
		    table[i].text, (unsigned long long)table[i].n);
		space_free(s);
	}
}

static const char tree[] =
    "{\"beta\": {\"type\":\"float\",\"min\":0,\"max\":1,"
    "  \"when\":{\"momentum\":[true]}},"
    " \"opt\": {\"type\":\"choice\",\"values\":[\"sgd\",\"adam\",\"rms\"],"
    "  \"default\":\"adam\"},"
    " \"momentum\": {\"type\":\"choice\",\"values\":[false,true],"
    "  \"when\":{\"opt\":[\"sgd\",\"rms\"]}},"
    " \"n\": {\"type\":\"int\",\"min\":1,\"max\":8,\"default\":4},"
    " \"n2\": {\"type\":\"int\",\"min\":1,\"max\":8,\"when\":{\"n\":[2,3]}}}";

static void
test_conditions(void)
{
	struct err e = ERR_INIT;
	struct space *s = read_space(tree, &e);
	double u[5] = { 0.5, 0.1, 0.9, 0.2, 0.1 };
	struct value v[5];
	struct buf b = { 0 };

	if (!ok(s != NULL, "a tree of conditions is read"))
		return;
	is_int(s->order[0], 1, "parents come first");
	is_int(space_find(s, "n2"), 4, "found by name");
	is_int(space_find(s, "N2"), -1, "names have case");
	ok(s->params[1].has_default &&
		strcmp(s->params[1].def.text, "adam") == 0 &&
		s->params[3].def.integer == 4,
	    "defaults");
	space_decode(s, u, v);
	space_put_json(&b, s, v);
	is_str(buf_str(&b),
	    "{\"beta\":0.5,\"opt\":\"sgd\",\"momentum\":true,"
	    "\"n\":2,\"n2\":1}",
	    "everything active");
	u[1] = 0.5;
	space_decode(s, u, v);
	buf_clear(&b);
	space_put_json(&b, s, v);
	is_str(buf_str(&b), "{\"opt\":\"adam\",\"n\":2,\"n2\":1}",
	    "the children of a child go too");
	ok(!space_active(s, 0, v) && !space_active(s, 2, v) &&
		space_active(s, 4, v),
	    "and are not active");
	space_snap(s, u);
	ok(isnan(u[0]) && u[1] == 0.5 && isnan(u[2]) && u[3] == 0.1875 &&
		u[4] == 0.0625,
	    "snapped to the middle, inactive ones to NaN");
	u[1] = 0;
	space_decode(s, u, v);
	ok(v[2].kind == VALUE_BOOL && v[2].integer == 1,
	    "the NaN of an active one is the middle");
	buf_free(&b);
	space_free(s);
}

/* A setting of the tree: out as JSON, or the error. */
static void
setting(const struct space *s, const char *text, const char *want)
{
	struct err e = ERR_INIT;
	struct json_doc *doc;
	struct value v[5];
	struct buf b = { 0 };

	json_parse(&doc, text, strlen(text), "f", false, &e);
	if (space_read_values(s, json_root(doc), v, &e) == 0)
		space_put_json(&b, s, v);
	else
		buf_puts(&b, e.text);
	is_str(buf_str(&b), want, text);
	buf_free(&b);
	json_free(doc);
}

static void
test_settings(void)
{
	struct err e = ERR_INIT;
	struct space *s = read_space(tree, &e);
	struct value v;

	setting(s, "{}", "{}");
	setting(s, "{\"n\":3.0,\"opt\":\"sgd\",\"beta\":1}",
	    "{\"beta\":1,\"opt\":\"sgd\",\"n\":3}");
	setting(s, "[]", "f:1:1: expected an object, not an array");
	setting(s, "{\"otp\":1}",
	    "f:1:2: otp: no such parameter; did you mean \"opt\"?");
	setting(
	    s, "{\"n\":2.5}", "f:1:6: n: expected a whole number from 1 to 8");
	setting(
	    s, "{\"n\":9}", "f:1:6: n: expected a whole number from 1 to 8");
	setting(s, "{\"opt\":\"SGD\"}",
	    "f:1:8: opt: expected one of \"sgd\", \"adam\", \"rms\"");
	setting(s, "{\"opt\":[1]}",
	    "f:1:8: opt: expected one of \"sgd\", \"adam\", \"rms\"");
	setting(s, "{\"beta\":\"1\"}",
	    "f:1:9: beta: expected a number from 0 to 1");
	setting(s, "{\"opt\":\"adam\",\"momentum\":true}",
	    "f:1:15: momentum: momentum has no value when opt is \"adam\"");
	is_int(param_parse(&s->params[3], "7", &v, &e), 0, "n=7");
	is_int(v.integer, 7, "is 7");
	is_int(param_parse(&s->params[1], "rms", &v, &e), 0, "opt=rms");
	is_int(param_parse(&s->params[2], "true", &v, &e), 0, "momentum=true");
	is_int(v.kind, VALUE_BOOL, "is a boolean");
	is_int(param_parse(&s->params[0], "5e-1", &v, &e), 0, "beta=5e-1");
	is_near(v.real, 0.5, 0, "is 0.5");
	ok(param_parse(&s->params[0], "nan", &v, &e) != 0 &&
		strcmp(e.text, "beta: expected a number from 0 to 1") == 0,
	    "beta=nan is refused");
	ok(param_parse(&s->params[0], "0x1", &v, &e) != 0,
	    "a hexadecimal number is refused");
	ok(param_parse(&s->params[0], "", &v, &e) != 0, "and nothing");
	ok(param_parse(&s->params[0], "1 ", &v, &e) != 0, "and space");
	ok(param_parse(&s->params[1], "sg", &v, &e) != 0, "and half a name");
	space_free(s);
}

static const struct wrong {
	const char *text, *error;
} wrongs[] = {
	{ "{}", "f:1:1: expected 1 to 1000 parameters" },
	{ "[]", "f:1:1: expected an object, not an array" },
	{ "{\"x\":{\"type\":\"float\",\"min\":0,\"max\":1,\"when\":{\"x\":[1]}}"
	  "}",
	    "f:1:46: x.when.x: x depends on itself" },
	{ "{\"a\":{\"type\":\"int\",\"min\":0,\"max\":1,\"when\":{\"b\":[1]}},"
	  "\"b\":{\"type\":\"int\",\"min\":0,\"max\":1,\"when\":{\"c\":[1]}},"
	  "\"c\":{\"type\":\"int\",\"min\":0,\"max\":1,\"when\":{\"b\":[0]}}}",
	    "f:1:95: b.when: b depends on itself through c" },
	{ "{\"lr\":{\"type\":\"fixed\",\"value\":1},"
	  "\"LR\":{\"type\":\"fixed\",\"value\":1}}",
	    "f:1:34: LR: this name differs from \"lr\" only in case or in - _ "
	    "and ." },
	{ "{\"a-b\":{\"type\":\"fixed\",\"value\":1},"
	  "\"a_b\":{\"type\":\"fixed\",\"value\":1}}",
	    "f:1:35: a_b: this name differs from \"a-b\" only in case or in - "
	    "_ "
	    "and ." },
};

static void
test_wrong(void)
{
	struct err e;
	struct space *s;
	size_t i;

	for (i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
		e = (struct err)ERR_INIT;
		s = read_space(wrongs[i].text, &e);
		ok(s == NULL, "%s is refused", wrongs[i].text);
		is_str(e.text, wrongs[i].error, wrongs[i].error);
		space_free(s);
	}
}

/* Every level of a grid has its place and decodes to itself. */
static void
test_every_level(void)
{
	static const char *const spaces[] = {
		"\"type\":\"int\",\"min\":1,\"max\":50000,\"scale\":\"log\"",
		"\"type\":\"int\",\"min\":-7,\"max\":9000,\"step\":13",
		"\"type\":\"float\",\"min\":0.1,\"max\":77.7,\"step\":0.007",
		"\"type\":\"float\",\"min\":-1e-3,\"max\":1e-3,\"step\":1e-6",
		"\"type\":\"int\",\"min\":1099511600000,\"max\":1099511627776,"
		"\"scale\":\"log\"",
		"\"type\":\"int\",\"min\":9007199254700000,"
		"\"max\":9007199254740992",
	};
	struct space *s;
	struct param *p;
	struct value v, before = { .kind = VALUE_NONE };
	size_t k;
	uint64_t i, n, bad;
	double u;

	for (k = 0; k < sizeof spaces / sizeof spaces[0]; k++) {
		s = one(spaces[k]);
		p = &s->params[0];
		n = param_levels(p);
		bad = 0;
		for (i = 0; i < n; i++) {
			v = (struct value){ .kind = VALUE_INT,
				.real = p->min + (double)i * p->step };
			v.integer = (int64_t)v.real;
			if (p->type == PARAM_FLOAT)
				v.kind = VALUE_REAL;
			space_encode(s, &v, &u);
			space_decode(s, &u, &v);
			bad += fabs(v.real - p->min - (double)i * p->step) >
			       p->step * 1e-6;
			bad += i > 0 && v.real <= before.real;
			before = v;
		}
		ok(bad == 0, "%s: all %llu levels", spaces[k],
		    (unsigned long long)n);
		space_free(s);
	}
	s = one("\"type\":\"int\",\"min\":-562949953421312,"
		"\"max\":562949953421311");
	for (i = 0, bad = 0; i < 4000; i++) {
		v = (struct value){ .kind = VALUE_INT,
			.real = s->params[0].max - (double)(i * i) };
		v.integer = (int64_t)v.real;
		before = v;
		space_encode(s, &v, &u);
		space_decode(s, &u, &v);
		bad += v.integer != before.integer;
	}
	is_int((long long)bad, 0, "2^50 levels");
	space_free(s);
}

/* The middle of log(v - 1/2) to log(v + 1/2), as the header says. */
static void
test_log_middle(void)
{
	struct space *s =
	    one("\"type\":\"int\",\"min\":1,\"max\":9,\"scale\":\"log\"");
	double low = log(0.5), high = log(9.5), u;
	struct value v;

	for (v = (struct value){ .kind = VALUE_INT, .integer = 1, .real = 1 };
	     v.integer <= 9; v.real = (double)++v.integer) {
		space_encode(s, &v, &u);
		is_near(u,
		    ((log(v.real - 0.5) + log(v.real + 0.5)) / 2 - low) /
			(high - low),
		    1e-12, "a log int stands in the middle of its share");
	}
	space_free(s);
}

int
main(void)
{
	test_decode();
	test_levels();
	test_conditions();
	test_settings();
	test_wrong();
	test_log_middle();
	test_every_level();
	return done_testing();
}
