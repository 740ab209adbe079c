/* Conditions on settings: the language, and the search for settings. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/tried-settings.h"
#include "src/model/where.h"
#include "tests/support/tap.h"

enum { PARAMS_MOST = 30, SEARCHES = 40 };

static const char mixed[] =
    "{\"layers\": {\"type\": \"int\", \"min\": 1, \"max\": 64},"
    "\"width\": {\"type\": \"int\", \"min\": 16, \"max\": 1024, "
    "\"scale\": \"log\"},"
    "\"lr\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    "\"batch-size\": {\"type\": \"int\", \"min\": 1, \"max\": 9},"
    "\"batch\": {\"type\": \"int\", \"min\": 1, \"max\": 9},"
    "\"size\": {\"type\": \"int\", \"min\": 1, \"max\": 9},"
    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", \"adam\"]},"
    "\"momentum\": {\"type\": \"float\", \"min\": 0, \"max\": 0.99, "
    "\"when\": {\"opt\": [\"sgd\"]}},"
    "\"norm\": {\"type\": \"choice\", \"values\": [true, false]},"
    "\"depth\": {\"type\": \"choice\", \"values\": [null, 3, 9]}}";

static const char setting[] =
    "{\"layers\":4,\"width\":100,\"lr\":0.5,\"batch-size\":2,\"batch\":9,"
    "\"size\":3,\"opt\":\"adam\",\"norm\":true,\"depth\":null}";

static struct json_doc *
doc_of(const char *text)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	return doc;
}

static struct space *
space_of(const char *text)
{
	struct json_doc *doc = doc_of(text);
	struct space *space = NULL;

	(void)space_read(&space, json_root(doc), NULL);
	json_free(doc);
	return space;
}

/* As where_read, of one condition or of a list that begins with '['. */
static int
where_of(struct space *space, const char *text, struct err *e)
{
	struct json_doc *doc;
	struct buf b = { 0 };
	int rc;

	if (*text == '[')
		buf_puts(&b, text);
	else {
		buf_putc(&b, '[');
		json_put_string(&b, text);
		buf_putc(&b, ']');
	}
	doc = doc_of(buf_str(&b));
	rc = where_read(space, json_root(doc), e);
	json_free(doc);
	buf_free(&b);
	return rc;
}

/* ---- the language -------------------------------------------------------- */

static const struct {
	const char *text;
	bool holds; /* for the setting above */
} conditions[] = {
	{ "layers * width <= 400", true },
	{ "layers * width < 400", false },
	{ "layers*width>=401", false },
	{ "1 + 2 * 3 = 7", true },
	{ "(1 + 2) * 3 == 9 and 7 % 4 = 3 and -7 % 4 = 1", true },
	{ "2 ** 3 ** 2 = 512 and -2 ** 2 = -4", true },
	{ "width / layers - 1 = 24", true },
	{ "1 < layers < width < 101", true },
	{ "1 < layers < 4 < 5", false },
	{ "batch-size = 2", true },
	{ "batch - size = 6", true },
	{ "batch -size = 6", true },
	{ "lr = 5e-1", true },
	{ "opt = 'adam' and opt != \"sgd\"", true },
	{ "opt in ('sgd', 'adam')", true },
	{ "opt not in ('sgd', 'adam')", false },
	{ "layers in (1, 2 + 2)", true },
	{ "norm", true },
	{ "not norm or norm = false", false },
	{ "layers > 9 or not layers = 5", true },
	{ "layers > 9 and layers < 20 or width > 99", true },
	{ "min(layers, width, 3) = 3 and max(layers, 9) = 9", true },
	{ "floor(lr) + ceil(lr) + round(lr) = 2 and abs(-3) = 3", true },
	{ "sqrt(width) = 10 and log2(8) = 3 and log10(width) = 2", true },
	{ "exp(log(5)) > 4.9 and exp(0) = 1", true },
	/* Inactive: left out. */
	{ "momentum < 0", true },
	{ "momentum < 0 and layers > 5", false },
	{ "momentum < 0 or layers > 5", false },
	{ "momentum < 0 or layers < 5", true },
	{ "not momentum < 0", true },
	{ "momentum + layers < 0", true },
	/* Null: an order is left out, equality is not. */
	{ "depth < 0", true },
	{ "depth = null", true },
	{ "depth != null", false },
	{ "depth in (3, 9)", false },
	/* Numbers that do not exist. */
	{ "1 / (layers - 4) > 0", false },
	{ "1 / (layers - 4) <= 0", false },
	{ "sqrt(lr - 1) != 0", true },
	{ "exp(999) * (layers - 4) < 1", false },
	{ "exp(999) - exp(998 + lr) < 1", false },
	/* Beside what is inactive: left out. */
	{ "sqrt(lr - 1) < momentum", true },
	{ "not min(layers, sqrt(lr - 1)) < momentum", true },
};

static void
test_language(void)
{
	struct err e = ERR_INIT;
	struct space *space;
	struct value values[10];
	size_t i;

	for (i = 0; i < sizeof conditions / sizeof *conditions; i++) {
		space = space_of(mixed);
		(void)where_of(space, conditions[i].text, &e);
		ok(where_count(space) == 1 &&
			space_parse_values(space, setting, values, &e) == 0 &&
			(where_broken(space, values) == NULL) ==
			    conditions[i].holds,
		    "%s: %s", conditions[i].text,
		    conditions[i].holds ? "holds" : "does not hold");
		if (*e.text != '\0' && where_count(space) == 0)
			printf("# %s\n", e.text);
		e.text[0] = '\0';
		space_free(space);
	}
}

static const struct {
	const char *text, *error;
} wrongs[] = {
	{ "layers * widht < 9",
	    "no such parameter 'widht': did you mean width?" },
	{ "opt = sgd",
	    "no such parameter 'sgd': a text is written as 'sgd' in quotes" },
	{ "zzzzzz < 1", "no such parameter 'zzzzzz'" },
	{ "", "it ends where a number, a text or a parameter is expected" },
	{ "layers <",
	    "it ends where a number, a text or a parameter is expected" },
	{ "layers < 3 width", "'width': expected an operator or the end" },
	{ "(layers < 3", "it ends where an operator or ) is expected" },
	{ "layers = 'x", "a text without its second quote" },
	{ "layers # 3", "'#': expected an operator or the end" },
	{ "norm && layers < 3", "'&': expected the word and" },
	{ "norm || layers < 3", "'|': expected the word or" },
	{ "!norm", "'!': expected the word not" },
	{ "layers ^ 2 < 9", "'^': expected ** for a power" },
	{ "pow(layers, 2) < 9",
	    "no function 'pow'; known: min, max, abs, floor, ceil, round, "
	    "sqrt, exp, log, log2, log10" },
	{ "norm and and layers < 3",
	    "'and': expected a number, a text or a parameter" },
	{ "layers < 3x", "'3x': expected a number" },
	{ "layers + 3", "expected a condition, like a <= b, not a number" },
	{ "layers and norm", "and goes with conditions, not with a number" },
	{ "opt + 1 < 2", "+ goes with numbers, not with a text" },
	{ "norm < 2", "< goes with numbers, not with true or false" },
	{ "null < 2", "< goes with numbers, not with null" },
	{ "opt = 3", "= compares a text with a number, which are never "
		     "equal" },
	{ "layers in 3", "'3': expected ( after in" },
	{ "layers not 3", "'3': expected in after not" },
	{ "layers in (3", "it ends where , or ) is expected" },
	{ "sqrt(4, 5) = 2", "',': expected )" },
	{ "layers > 64", "no setting satisfies this" },
	{ "layers * width < 16", "no setting satisfies this" },
	{ "opt not in ('sgd', 'adam')", "no setting satisfies all of them" },
	{ "[\"layers < 20\", \"layers > 20\"]",
	    "no setting satisfies all of them" },
	{ "[\"layers + size = 70\", \"size < 7\", \"layers < 63\"]",
	    "no setting satisfies all of them" },
	{ "[\"lr > 0.7\", \"lr < 0.6\"]", "no setting satisfies all of them" },
	{ "lr * lr = 0.5", "no setting satisfies all of them" },
	{ "opt = 'sgd' and floor(1e7 * lr + 1) ** 2 = "
	  "3 * floor(1e7 * momentum + 1) ** 2",
	    "no setting was found that satisfies all of them: an equation "
	    "between floats may have none" },
	{ "[3]", "expected a string, not a number" },
};

static void
test_wrong(void)
{
	struct space *space;
	struct buf deep = { 0 };
	struct err e;
	const char *text;
	size_t i;

	for (i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		e = (struct err)ERR_INIT;
		space = space_of(mixed);
		(void)where_of(space, wrongs[i].text, &e);
		text = e.text + strlen("1:1: ");
		text = strncmp(text, "[0]: ", 5) == 0 ? text + 5 : text;
		is_str(text, wrongs[i].error, wrongs[i].text);
		space_free(space);
	}
	space = space_of(mixed);
	e = (struct err)ERR_INIT;
	for (i = 0; i < 50; i++)
		buf_putc(&deep, '(');
	ok(where_of(space, buf_str(&deep), &e) != 0 &&
		strstr(e.text, "more than 40 levels") != NULL,
	    "too many parentheses are an error");
	space_free(space);
	buf_free(&deep);
}

/* ---- settings ------------------------------------------------------------ */

static void
test_partial(void)
{
	struct space *space = space_of(mixed);
	struct value values[10], fixed[10];
	struct err e = ERR_INIT;
	const char *broken;

	(void)where_of(space,
	    "[\"layers * width <= 4096\", \"opt = 'adam' or momentum > lr\"]",
	    &e);
	(void)space_parse_values(space, "{\"layers\":64}", values, &e);
	ok(where_broken(space, values) == NULL,
	    "a part that can be completed is allowed");
	(void)space_parse_values(
	    space, "{\"layers\":64,\"width\":65}", values, &e);
	broken = where_broken(space, values);
	is_str(broken, "layers * width <= 4096",
	    "a part that cannot be completed breaks its condition");
	(void)space_parse_values(
	    space, "{\"layers\":64,\"opt\":\"sgd\",\"lr\":0.9}", fixed, &e);
	(void)space_parse_values(space,
	    "{\"layers\":3,\"width\":900,\"lr\":0.9,\"batch-size\":2,"
	    "\"batch\":9,\"size\":3,\"opt\":\"adam\",\"norm\":true,"
	    "\"depth\":null}",
	    values, &e);
	ok(where_complete(space, values, fixed, 1, 1), "it is completed");
	ok(where_broken(space, values) == NULL && values[0].integer == 64 &&
		values[1].integer <= 64 && values[2].real == 0.9 &&
		values[7].real > 0.9,
	    "the completion keeps what was given, and all conditions hold");
	space_free(space);
}

static void
test_search(const char *parameters, const char *list, const char *what)
{
	struct space *space = space_of(parameters);
	double u[PARAMS_MOST], again[PARAMS_MOST], first[PARAMS_MOST];
	struct err e = ERR_INIT;
	int i, good = 0, same = 0, other = 0;

	if (where_of(space, list, &e) != 0)
		printf("# %s\n", e.text);
	for (i = 0; i < SEARCHES; i++) {
		good += where_search(u, space, NULL, 1, (uint64_t)i) ==
			    WHERE_FOUND &&
			where_holds(space, u);
		(void)where_search(again, space, NULL, 1, (uint64_t)i);
		same += memcmp(u, again, space->n * sizeof *u) == 0;
		if (i == 0)
			memcpy(first, u, sizeof first);
		other += memcmp(u, first, space->n * sizeof *u) != 0;
	}
	is_int(good, SEARCHES, what);
	ok(same == SEARCHES && other > SEARCHES / 2,
	    "the search gives the same setting for the same stream, and "
	    "others for others");
	space_free(space);
}

#define NUMBER(name, type, max) \
	"\"" name "\": {\"type\": \"" type "\", \"min\": 0, \"max\": " max "}"

/* Conditions on many parameters, which neither points nor boxes find. */
static void
test_many(const char *type, const char *before, const char *between,
    const char *after, size_t n, const char *what)
{
	struct buf params = { 0 }, list = { 0 };
	size_t i;

	buf_printf(&list, "[\"%s", before);
	for (i = 0; i < n; i++) {
		buf_printf(&params, "%s\"p%02zu\": {\"type\": %s}",
		    i > 0 ? "," : "{", i, type);
		buf_printf(&list, "%sp%02zu", i > 0 ? between : "", i);
	}
	buf_putc(&params, '}');
	buf_printf(&list, "%s\"]", after);
	test_search(buf_str(&params), buf_str(&list), what);
	buf_free(&params);
	buf_free(&list);
}

static void
test_approach(void)
{
	struct space *space = space_of(
	    "{" NUMBER("a", "float", "1") "," NUMBER("b", "float", "1") "}");
	double from[2] = { 0.9, 0.9 }, to[2] = { 0.1, 0.1 };
	struct err e = ERR_INIT;

	(void)where_of(space, "a + b <= 1", &e);
	where_approach(from, space, to);
	ok(where_holds(space, from) && from[0] > 0.4999 && from[0] <= 0.5,
	    "a point is moved to the border");
	is_near(where_share(space, 1, 20000), 0.5, 0.02,
	    "half of the square is allowed");
	space_free(space);
}

/* Only the allowed settings count as settings of the space. */
static void
test_tried(void)
{
	struct space *space = space_of(
	    "{" NUMBER("a", "int", "9") "," NUMBER("b", "int", "9") "}");
	struct tried_settings *t;
	struct value values[2];
	struct err e = ERR_INIT;
	struct buf text = { 0 };
	int n = 0, broken = 0;

	(void)where_of(space, "a < b", &e);
	t = tried_settings_new(space, 3);
	is_int((long long)tried_settings_count(t), 45,
	    "the settings that satisfy the conditions are counted");
	tried_settings_add(t, "{\"a\":5,\"b\":5}", ++n);
	while (n < 100 && tried_settings_all(t) == 0 &&
	       tried_settings_other(t, values)) {
		broken += where_broken(space, values) != NULL;
		buf_clear(&text);
		space_put_json(&text, space, values);
		tried_settings_add(t, buf_str(&text), ++n);
	}
	is_int(n, 46, "each of them is found once, and then all were tried");
	is_int(broken, 0, "no other setting is");
	buf_free(&text);
	tried_settings_free(t);
	space_free(space);
}

int
main(void)
{
	test_language();
	test_wrong();
	test_partial();
	test_search(mixed, "layers * width <= 4096",
	    "a condition that many settings satisfy");
	test_search("{" NUMBER("a", "int", "1000") "," NUMBER("b", "int",
			"1000") "," NUMBER("c", "int", "1000") "," NUMBER("d",
			"float", "1") "," NUMBER("e", "float", "1") "}",
	    "[\"a + b + c = 1000\", \"a % 50 = 7\", \"d < e < d + 0.001\"]",
	    "conditions that one setting of a thousand million satisfies");
	test_search(
	    "{\"o\": {\"type\": \"choice\", \"values\": [\"x\", \"y\"]},"
	    "\"m\": {\"type\": \"int\", \"min\": 0, \"max\": 1000000, "
	    "\"when\": {\"o\": [\"x\"]}}," NUMBER("a", "float", "1") "}",
	    "[\"m = 31337\", \"o = 'x' or a < 1e-6\"]",
	    "conditions on a parameter that is active under some values");
	test_many("\"float\", \"min\": 0, \"max\": 1", "", " + ", " <= 1",
	    PARAMS_MOST, "a sum of thirty numbers");
	test_many("\"float\", \"min\": 0, \"max\": 1", "not (1 < ", " + ",
	    " or p00 > p01) and (p02 < p00 or p03 < 0.001)", 16,
	    "a sum in a longer condition");
	test_many("\"int\", \"min\": 0, \"max\": 24", "", " < ", "", 12,
	    "an order of twelve whole numbers");
	test_approach();
	test_tried();
	return done_testing();
}
