/* Options by table, durations and sizes. */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "tests/support/tap.h"

static const char *const values[] = { "last", "best", "window:", NULL };
static const struct option table[] = {
	{ .name = "guard", .type = OPTION_BOOL, .def = "true" },
	{ .name = "min_trials",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1000,
	    .def = "5" },
	{ .name = "percentile",
	    .type = OPTION_REAL,
	    .min = 0,
	    .max = 100,
	    .def = "50" },
	{ .name = "value",
	    .type = OPTION_TEXT,
	    .choices = values,
	    .def = "last" },
	{ .name = "label", .type = OPTION_TEXT },
	{ .name = "warmup", .type = OPTION_STEPS, .def = "20%" },
	{ .name = "keep", .type = OPTION_DURATION, .max = 7200, .def = "1h" },
	{ .name = "delta", .type = OPTION_REAL, .min = 0, .max = INFINITY },
	{ .name = "gpus", .type = OPTION_WORDS, .max = 64, .def = "auto" },
	{ .name = "volume", .type = OPTION_SIZE, .def = "1GiB" },
	{ .name = "where", .type = OPTION_ANY, .max = 64, .def = "auto" },
	{ .name = "sown", .type = OPTION_INT, .max = 9007199254740991.0 },
	{ .type = OPTION_END },
};
static const char *const except[] = { "rule", "veto", NULL };

/* Read text as a block; the values, or NULL with e filled. */
static struct option_value *
read_block(const char *text, struct err *e)
{
	struct option_value *v = NULL;
	struct json_doc *doc;

	*e = (struct err)ERR_INIT;
	if (json_parse(&doc, text, strlen(text), "f", false, e) != 0)
		return NULL;
	plugin_options_read(&v, table, json_root(doc), except, e);
	json_free(doc);
	return v;
}

static void
test_defaults(void)
{
	struct option_value *v = NULL;
	const struct option_value *o;

	is_int(plugin_options_count(table), 12, "twelve rows");
	is_int(plugin_options_count(NULL), 0, "no table, no rows");
	is_int(plugin_options_read(&v, table, NULL, NULL, NULL), 0, "no block");
	o = plugin_option_get(v, "guard");
	ok(o->number == 1 && o->is_set && !o->given, "true by default");
	is_near(plugin_option_number(v, "percentile"), 50, 0, "50");
	is_str(plugin_option_text(v, "value"), "last", "last");
	is_str(plugin_option_text(v, "gpus"), "auto", "auto");
	is_near(plugin_option_number(v, "volume"), 1073741824, 0, "1GiB");
	ok(!plugin_option_get(v, "label")->is_set, "no default, not set");
	o = plugin_option_get(v, "warmup");
	ok(o->is_share && o->number == 0.2, "a share by default");
	is_int(plugin_option_steps(o, 10, 5), 2, "of ten steps: two");
	is_int(
	    plugin_option_steps(o, 11, 5), 3, "of eleven: three, rounded up");
	is_int(plugin_option_steps(o, 100, 5), 20, "of 100: 20, not 21");
	is_int(plugin_option_steps(o, 0, 5), 5, "of unknown: the fallback");
	is_near(plugin_option_number(v, "keep"), 3600, 0, "1h");
	plugin_options_free(v);
	plugin_options_read(&v, NULL, NULL, NULL, NULL);
	ok(v != NULL, "no table reads as well");
	plugin_options_free(v);
	plugin_options_free(NULL);
}

static void
test_given(void)
{
	struct err e;
	struct option_value *v = read_block("{\"rule\": \"x\", \"guard\": "
					    "false, \"min_trials\": 7,"
					    "\"value\": \"window:12.5%\", "
					    "\"label\": \"b\", \"warmup\": 3,"
					    "\"keep\": \"1.5m\", \"delta\": "
					    "1e-3}",
	    &e);
	const struct option_value *o;

	if (!ok(v != NULL, "a block is read"))
		return;
	o = plugin_option_get(v, "guard");
	ok(o->given && o->number == 0, "false");
	is_near(plugin_option_number(v, "min_trials"), 7, 0, "7");
	ok(plugin_option_is(v, "guard") == (o->number != 0),
	    "a yes or no by its name");
	is_int(plugin_option_count(v, "min_trials"), 7, "a whole number");
	ok(plugin_option_says(v, "value", "window:12.5%") &&
		!plugin_option_says(v, "value", "last"),
	    "one of several texts");
	is_str(plugin_option_text(v, "value"), "window:12.5%", "window");
	is_str(plugin_option_text(v, "label"), "b", "any text");
	o = plugin_option_get(v, "warmup");
	is_int(plugin_option_steps(o, 0, 5), 3, "three steps");
	is_near(plugin_option_number(v, "keep"), 90, 0, "1.5m");
	is_near(plugin_option_number(v, "delta"), 1e-3, 0, "1e-3");
	plugin_options_free(v);
	v = read_block("{\"gpus\": [\"GPU-1\", \"GPU-2\"], \"volume\": "
		       "\"2MiB\"}",
	    &e);
	is_str(plugin_option_text(v, "gpus"), "GPU-1,GPU-2", "words");
	is_near(plugin_option_number(v, "volume"), 2097152, 0, "a size");
	plugin_options_free(v);
	v = read_block("{\"where\": {\"simulate\": 4}}", &e);
	o = plugin_option_get(v, "where");
	ok(o->given && o->text == NULL && o->json != NULL,
	    "an object is left to the plug");
	plugin_options_free(v);
	v = read_block("{\"where\": [\"GPU-1\"]}", &e);
	is_str(plugin_option_text(v, "where"), "GPU-1", "or words");
	plugin_options_free(v);
	v = read_block("{\"gpus\": 2}", &e);
	is_str(plugin_option_text(v, "gpus"), "2", "a number as text");
	is_near(plugin_option_number(v, "gpus"), 2, 0, "and as number");
	plugin_options_free(v);
	v = read_block("{\"warmup\": 0.25}", &e);
	is_int(plugin_option_steps(plugin_option_get(v, "warmup"), 8, 5), 2,
	    "a share as a fraction");
	plugin_options_free(v);
	v = read_block("{\"warmup\": \"0%\"}", &e);
	is_int(plugin_option_steps(plugin_option_get(v, "warmup"), 0, 5), 0,
	    "no share is no steps, whatever max_steps");
	plugin_options_free(v);
}

static const struct wrong {
	const char *text, *error;
} wrongs[] = {
	{ "{\"gaurd\": true}",
	    "f:1:2: gaurd: unknown key; did you mean \"guard\"?" },
	{ "{\"guard\": 1}", "f:1:11: guard: expected true or false" },
	{ "{\"min_trials\": 0}",
	    "f:1:16: min_trials: expected a whole number from 1 to 1000" },
	{ "{\"min_trials\": 2.5}",
	    "f:1:16: min_trials: expected a whole number from 1 to 1000" },
	{ "{\"sown\": -1}", "f:1:10: sown: expected a whole number from 0 to "
			    "9007199254740991" },
	{ "{\"percentile\": \"50\"}",
	    "f:1:16: percentile: expected a number from 0 to 100" },
	{ "{\"value\": \"first\"}",
	    "f:1:11: value: expected \"last\", \"best\" or \"window:20%\"" },
	{ "{\"value\": \"window:0%\"}",
	    "f:1:11: value: expected \"last\", \"best\" or \"window:20%\"" },
	{ "{\"value\": \"window:\"}",
	    "f:1:11: value: expected \"last\", \"best\" or \"window:20%\"" },
	{ "{\"label\": null}", "f:1:11: label: expected a text" },
	{ "{\"warmup\": -1}",
	    "f:1:12: warmup: expected a number of steps or a share from "
	    "\"0%\" to \"100%\"" },
	{ "{\"warmup\": \"120%\"}",
	    "f:1:12: warmup: expected a number of steps or a share from "
	    "\"0%\" to \"100%\"" },
	{ "{\"warmup\": 1.5}",
	    "f:1:12: warmup: expected a number of steps or a share from "
	    "\"0%\" to \"100%\"" },
	{ "{\"keep\": \"3h\"}",
	    "f:1:10: keep: expected seconds or a duration like \"90s\" "
	    "\"10m\" \"2h\" \"1d\" from 0 to 7200" },
	{ "{\"delta\": -1}", "f:1:11: delta: expected a number of at least 0" },
	{ "{\"volume\": \"2XB\"}", "f:1:12: volume: expected bytes or a size "
				   "like \"512MiB\" \"4GiB\"" },
	{ "{\"volume\": []}", "f:1:12: volume: expected bytes or a size like "
			      "\"512MiB\" \"4GiB\"" },
	{ "{\"gpus\": 65}", "f:1:10: gpus: expected a text, a whole number "
			    "from 0 to 64 or a list of texts without commas" },
	{ "{\"gpus\": [\"a,b\"]}",
	    "f:1:10: gpus: expected a text, a whole number from 0 to 64 or a "
	    "list of texts without commas" },
	{ "{\"where\": 65}",
	    "f:1:11: where: expected a text, a whole number from 0 to 64, a "
	    "list of texts without commas or an object" },
	{ "{\"gpus\": {}}",
	    "f:1:10: gpus: expected a text, a whole number from 0 to 64 or a "
	    "list of texts without commas" },
	{ "{\"min_trials\": [1]}",
	    "f:1:16: min_trials: expected a whole number from 1 to 1000" },
	{ "[]", "f:1:1: expected an object, not an array" },
};

static void
test_wrong(void)
{
	struct err e;
	size_t i;

	for (i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
		ok(read_block(wrongs[i].text, &e) == NULL, "%s is refused",
		    wrongs[i].text);
		is_str(e.text, wrongs[i].error, wrongs[i].error);
	}
}

static void
test_units(void)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: refused */
	} durations[] = { { "90", 90000 }, { "0.25", 250 },
		{ "\"90s\"", 90000 }, { "\"10m\"", 600000 },
		{ "\"2h\"", 7200000 }, { "\"1.5d\"", 129600000 }, { "0", 0 },
		{ "-1", -1 }, { "\"90\"", -1 }, { "\"s\"", -1 },
		{ "\"1.2.3s\"", -1 }, { "\"1e3s\"", -1 }, { "\"-1s\"", -1 },
		{ "\"1 h\"", -1 }, { "\"1H\"", -1 }, { "\".5h\"", -1 },
		{ "\"5.h\"", -1 }, { "true", -1 }, { "1e12", -1 },
		{ "\"99999d\"", -1 }, { "\"04:00:00\"", 14400000 },
		{ "\"1-12:00:00\"", 129600000 }, { "\"0:1:30\"", 90000 },
		{ "\"72:00:00\"", 259200000 }, { "\"10:30\"", -1 },
		{ "\"1-12\"", 129600000 }, { "\"2-0:30\"", 174600000 },
		{ "\"1-\"", -1 }, { "\"12:\"", -1 }, { "\"1:60:00\"", -1 },
		{ "\"1:2:3:4\"", -1 }, { "\"1:2:\"", -1 } },
	  sizes[] = { { "4096", 4096 }, { "\"512MiB\"", 536870912 },
		  { "\"4GiB\"", 4294967296 }, { "\"1kB\"", 1000 },
		  { "\"1.5TB\"", 1500000000000 }, { "\"2TiB\"", 2199023255552 },
		  { "\"10B\"", 10 }, { "\"1KiB\"", 1024 }, { "\"1kb\"", -1 },
		  { "\"4G\"", 4294967296 }, { "\"16g\"", -1 }, { "-5", -1 },
		  { "[]", -1 }, { "1e300", -1 } };
	static const struct {
		int64_t ms;
		const char *text;
	} shown[] = { { 0, "0s" }, { 250, "250ms" }, { 1500, "1.5s" },
		{ 9000, "9s" }, { 12345, "12s" }, { 90000, "1m 30s" },
		{ 3600000, "1h" }, { 5400000, "1h 30m" }, { 3605000, "1h" },
		{ 90061000, "1d 1h" }, { -5000, "-5s" } };
	static const struct {
		double seconds;
		const char *text;
	} rough[] = { { 0, "1s" }, { 0.3, "1s" }, { 42.2, "43s" }, { 60, "1m" },
		{ 61, "1m 10s" }, { 599, "10m" }, { 601, "11m" },
		{ 5400.5, "1h 31m" }, { 86400, "1d" } };
	struct json_doc *doc;
	struct buf b = { 0 };
	int64_t got;
	size_t i;

	for (i = 0; i < sizeof durations / sizeof durations[0]; i++) {
		json_parse(&doc, durations[i].text, strlen(durations[i].text),
		    NULL, false, NULL);
		got = -1;
		duration_read(&got, json_root(doc), NULL);
		is_int(got, durations[i].ms, durations[i].text);
		json_free(doc);
	}
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		json_parse(&doc, sizes[i].text, strlen(sizes[i].text), NULL,
		    false, NULL);
		got = -1;
		size_read(&got, json_root(doc), NULL);
		is_int(got, sizes[i].ms, sizes[i].text);
		json_free(doc);
	}
	for (i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		buf_clear(&b);
		duration_put(&b, shown[i].ms);
		is_str(buf_str(&b), shown[i].text, shown[i].text);
	}
	for (i = 0; i < sizeof rough / sizeof rough[0]; i++) {
		buf_clear(&b);
		duration_put_rough(&b, rough[i].seconds);
		is_str(buf_str(&b), rough[i].text, rough[i].text);
	}
	buf_clear(&b);
	duration_put_rough(&b, INFINITY);
	is_str(buf_str(&b), "11574074d 1h", "no pace at all");
	buf_free(&b);
}

int
main(void)
{
	test_defaults();
	test_given();
	test_wrong();
	test_units();
	return done_testing();
}
