/*
 * Conditions of several parameters: what they mean, how settings are counted,
 * read and written.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/partial-setting.h"
#include "src/model/space-index.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"
#include "src/model/where-internal.h"
#include "tests/support/tap.h"
#include "tests/support/when-space.h"

enum {
	SPACES = 1500,
	POINTS = 40,
	LEVELS = 3,
	SETTINGS = 3 * 2 * 3 * 3 * 3 * 3
};

static struct space *
read_space(const char *text, struct err *e)
{
	struct json_doc *doc;
	struct space *s = NULL;

	*e = (struct err)ERR_INIT;
	if (json_parse(&doc, text, strlen(text), "f", true, e) == 0)
		space_read(&s, json_root(doc), e);
	json_free(doc);
	return s;
}

/* ---- what they mean ------------------------------------------------------ */

#define OPT "\"opt\":{\"type\":\"choice\",\"values\":[\"sgd\",\"adam\"]},"
#define NEST "\"nest\":{\"type\":\"choice\",\"values\":[false,true]},"
#define LAYERS "\"layers\":{\"type\":\"int\",\"min\":1,\"max\":4},"
#define DROP "\"drop\":{\"type\":\"float\",\"min\":0,\"max\":1},"
#define BETA                                              \
	"\"beta\":{\"type\":\"choice\",\"values\":[1,2]," \
	"\"when\":{\"opt\":[\"adam\"]}},"
#define X(when)                                                 \
	"{\"x\":{\"type\":\"fixed\",\"value\":7,\"when\":" when \
	"}," BETA OPT NEST LAYERS DROP                          \
	"\"end\":{\"type\":\"fixed\",\"value\":0}}"

/* x under a setting: '1' active, '0' inactive, '-' error. */
static char
state_of(const struct space *s, const char *setting)
{
	struct value v[8], full[8];
	size_t i;

	if (space_parse_values(s, setting, v, NULL) != 0)
		return '-';
	for (i = 0; i < s->n; i++)
		full[i] = v[i];
	partial_setting_complete(s, full);
	return space_active(s, 0, full) ? '1' : '0';
}

static void
test_meaning(void)
{
	static const char *const settings[] = {
		"{\"opt\":\"sgd\",\"nest\":true,\"layers\":2,\"drop\":0.2}",
		"{\"opt\":\"sgd\",\"nest\":false,\"layers\":4,\"drop\":0.7}",
		"{\"opt\":\"adam\",\"beta\":1,\"nest\":true,\"layers\":1,"
		"\"drop\":0.5}",
		"{\"opt\":\"adam\",\"beta\":2,\"nest\":false,\"layers\":3,"
		"\"drop\":0.5}",
	};
	static const struct {
		const char *text, *want, *words;
	} rows[] = {
		{ X("{\"opt\":[\"sgd\"],\"nest\":[true]}"), "1000",
		    "opt is sgd, and nest is true" },
		{ X("{\"nest\":[true],\"layers\":[1,3]}"), "0010",
		    "nest is true, and layers is 1 or 3" },
		{ X("[{\"opt\":[\"sgd\"],\"nest\":[true]},{\"beta\":[2]}]"),
		    "1001", "opt is sgd, and nest is true; or beta is 2" },
		{ X("[{\"layers\":[3]},{\"layers\":[4]}]"), "0101",
		    "layers is 3; or layers is 4" },
		{ X("\"layers >= 2 and opt = 'sgd'\""), "1100",
		    "layers >= 2 and opt = 'sgd'" },
		{ X("\"drop < 0.5 or layers = 3\""), "1001", NULL },
		{ X("\"beta = 1\""), "0010", NULL },
		{ X("\"not beta = 1\""), "0001", NULL },
		{ X("\"beta != 1\""), "0001", NULL },
		{ X("\"not (beta = 1 and nest)\""), "0101", NULL },
		{ X("\"not (beta = 1 or nest)\""), "0001", NULL },
		{ X("\"beta = 1 or nest\""), "1010", NULL },
		{ X("\"beta not in (2, 3)\""), "0010", NULL },
		{ X("\"beta + layers < 5\""), "0010", NULL },
		{ X("\"1 <= beta < 2\""), "0010", NULL },
		{ X("\"not 1 <= beta < 2\""), "0001", NULL },
		{ X("\"not nest\""), "0101", NULL },
		{ X("\"drop >= 0.5 and not layers > 2\""), "0010", NULL },
		{ X("\"beta = 1 or true\""), "1111", NULL },
	};
	struct buf words = { 0 };
	struct space *s;
	struct err e;
	char got[5];
	size_t i, k;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		s = read_space(rows[i].text, &e);
		if (!ok(s != NULL, "%s is read", rows[i].text)) {
			printf("# %s\n", e.text);
			continue;
		}
		for (k = 0; k < 4; k++)
			got[k] = state_of(s, settings[k]);
		got[k] = '\0';
		buf_clear(&words);
		when_put(&words, s->params[0].when, s);
		is_str(got, rows[i].want, buf_str(&words));
		if (rows[i].words != NULL)
			is_str(buf_str(&words), rows[i].words, "in words");
		space_free(s);
	}
	buf_free(&words);
}

/* Messages of settings that have a value for an inactive parameter. */
static void
test_inactive(void)
{
	static const struct {
		const char *when, *setting, *error;
	} rows[] = {
		{ X("{\"opt\":[\"sgd\"],\"nest\":[true]}"),
		    "{\"x\":7,\"opt\":\"adam\"}",
		    "1:2: x: x has no value when opt is \"adam\": its "
		    "condition is opt is sgd, and nest is true" },
		{ X("{\"opt\":[\"sgd\"],\"nest\":[true]}"),
		    "{\"x\":7,\"nest\":false,\"opt\":\"sgd\"}",
		    "1:2: x: x has no value when opt is \"sgd\" and nest is "
		    "false: its condition is opt is sgd, and nest is true" },
		{ X("{\"opt\":[\"sgd\"],\"nest\":[true]}"),
		    "{\"x\":7,\"nest\":true}", NULL },
		{ X("\"layers >= 2 and drop < 0.5\""), "{\"x\":7,\"layers\":1}",
		    "1:2: x: x has no value when layers is 1: its condition "
		    "is layers >= 2 and drop < 0.5" },
		{ X("\"layers >= 2 and drop < 0.5\""), "{\"x\":7,\"layers\":2}",
		    NULL },
		{ X("[{\"opt\":[\"sgd\"]},{\"layers\":[1]}]"),
		    "{\"x\":7,\"opt\":\"adam\"}", NULL },
		{ X("[{\"opt\":[\"sgd\"]},{\"layers\":[1]}]"),
		    "{\"x\":7,\"opt\":\"adam\",\"layers\":2}",
		    "1:2: x: x has no value when opt is \"adam\" and layers "
		    "is 2: its condition is opt is sgd; or layers is 1" },
	};
	struct value v[8];
	struct space *s;
	struct err e;
	size_t i;
	int rc;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		s = read_space(rows[i].when, &e);
		rc = space_parse_values(s, rows[i].setting, v, &e);
		if (rows[i].error != NULL)
			is_str(e.text, rows[i].error, rows[i].setting);
		else
			is_int(rc, 0, rows[i].setting);
		space_free(s);
	}
}

/* The defaults without those that they make inactive. */
static void
test_defaults(void)
{
	static const char text[] =
	    "{\"z\":{\"type\":\"int\",\"min\":0,\"max\":9,\"default\":5,"
	    "\"when\":\"y < 3\"},"
	    "\"x\":{\"type\":\"int\",\"min\":0,\"max\":9,\"default\":4,"
	    "\"when\":{\"a\":[1],\"b\":[1]}},"
	    "\"y\":{\"type\":\"int\",\"min\":0,\"max\":9,\"default\":3,"
	    "\"when\":\"a = 1 or b = 1\"},"
	    "\"a\":{\"type\":\"int\",\"min\":0,\"max\":1,\"default\":0},"
	    "\"b\":{\"type\":\"int\",\"min\":0,\"max\":1}}";
	struct value v[5] = { { .kind = VALUE_NONE } };
	struct buf b = { 0 };
	struct err e;
	struct space *s = read_space(text, &e);

	ok(partial_setting_defaults(s, v), "there are defaults");
	space_put_json(&b, s, v);
	is_str(buf_str(&b), "{\"y\":3,\"a\":0}",
	    "x is out by a, z by y; y may be active");
	buf_free(&b);
	space_free(s);
}

/* ---- random spaces ------------------------------------------------------- */

/* The settings of a space, each once, as JSON. */
struct settings {
	struct buf text[SETTINGS];
	size_t n;
};

static bool
settings_have(const struct settings *s, const char *text)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(buf_str(&s->text[i]), text) == 0)
			return true;
	return false;
}

static bool
settings_add(struct settings *s, const struct space *space, const double *u)
{
	struct value v[WHEN_PARAMS];
	struct buf *b = &s->text[s->n];

	buf_clear(b);
	space_decode(space, u, v);
	space_put_json(b, space, v);
	if (settings_have(s, buf_str(b)))
		return false;
	s->n++;
	return true;
}

static void
settings_free(struct settings *s)
{
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		buf_free(&s->text[i]);
}

/* Coordinate number k of a parameter. */
static double
coordinate(const struct param *p, size_t k)
{
	uint64_t n = param_levels(p);

	return n > 0 ? ((double)k + 0.5) / (double)n : (double)k / (LEVELS - 1);
}

static void
settings_all(struct settings *s, const struct space *space, double *u, size_t i)
{
	size_t k, n;

	if (i == space->n) {
		settings_add(s, space, u);
		return;
	}
	n = param_levels(&space->params[i]) > 0
		? (size_t)param_levels(&space->params[i])
		: LEVELS;
	for (k = 0; k < n; k++) {
		u[i] = coordinate(&space->params[i], k);
		settings_all(s, space, u, i + 1);
	}
}

/* The enumeration has each setting once and no other. */
static const char *
check_index(const struct space *space)
{
	struct settings *all = xcalloc(1, sizeof *all);
	struct settings *seen = xcalloc(1, sizeof *seen);
	struct space_index *l = space_index_new(space, LEVELS);
	const char *bad = NULL;
	double u[WHEN_PARAMS];
	uint64_t i;

	settings_all(all, space, u, 0);
	if (space_index_count(l) != all->n)
		bad = "the count is that of brute force";
	for (i = 0; bad == NULL && i < all->n; i++) {
		space_index_point(l, i, u);
		if (!settings_add(seen, space, u))
			bad = "no setting occurs twice";
		else if (!settings_have(all, buf_str(&seen->text[seen->n - 1])))
			bad = "no other setting occurs";
	}
	space_index_free(l);
	settings_free(all);
	settings_free(seen);
	free(all);
	free(seen);
	return bad;
}

/* A part of a setting may be active where the whole is. */
static const char *
check_part(const struct space *space, const struct value *v, struct rng *r)
{
	struct value part[WHEN_PARAMS];
	struct where_range box[WHEN_PARAMS];
	struct span spans[WHEN_PARAMS];
	const struct when *w;
	size_t i;

	for (i = 0; i < space->n; i++) {
		part[i] = v[i];
		if (rng_below(r, 2) == 0)
			part[i].kind = VALUE_NONE;
	}
	where_box(box, space, part);
	where_spans(spans, space, box);
	for (i = 0; i < space->n; i++) {
		w = space->params[i].when;
		if (v[i].kind == VALUE_NONE) {
			if ((spans[i].kinds & SPAN_NONE) == 0)
				return "a box has what is inactive in it";
			continue;
		}
		if (w != NULL && !when_may_hold(w, space, part))
			return "a condition may hold that does";
		if ((spans[i].kinds & ~(unsigned)SPAN_NONE) == 0 ||
		    !partial_setting_may_have(space, i, part))
			return "a box has what is active in it";
	}
	return NULL;
}

static const char *
check_point(const struct when_space *made, const struct space *space,
    const double *u, struct rng *r)
{
	struct value v[WHEN_PARAMS], back[WHEN_PARAMS];
	struct buf b = { 0 };
	double x[WHEN_PARAMS];
	bool same = true;
	size_t i;

	space_decode(space, u, v);
	for (i = 0; i < space->n; i++)
		if ((v[i].kind != VALUE_NONE) !=
		    when_space_active(made, made->order[i], space, v))
			return "active is what the condition says";
	space_encode(space, v, x);
	space_decode(space, x, back);
	for (i = 0; i < space->n; i++)
		same = same && param_value_equal(&v[i], &back[i]);
	if (!same)
		return "decode(encode(v)) is v";
	space_put_json(&b, space, v);
	same = space_parse_values(space, buf_str(&b), back, NULL) == 0;
	buf_free(&b);
	for (i = 0; same && i < space->n; i++)
		same = param_value_equal(&v[i], &back[i]);
	if (!same || !space_is_full(space, v))
		return "a setting reads back, and is full";
	return check_part(space, v, r);
}

static void
test_random(void)
{
	struct when_space made;
	struct space *space;
	struct rng r;
	struct err e;
	const char *bad;
	double u[WHEN_PARAMS];
	int k, point, failed = 0, several = 0, never = 0;
	size_t i;

	for (k = 0; k < SPACES; k++) {
		rng_init(&r, 11, (uint64_t)k);
		when_space_make(&made, &r, k % 2 != 0);
		space = read_space(buf_str(&made.text), &e);
		bad = space == NULL ? e.text : NULL;
		if (space == NULL &&
		    strstr(e.text, "this holds for no values") != NULL) {
			bad = NULL;
			never++;
		}
		for (point = 0; space != NULL && bad == NULL && point < POINTS;
		     point++) {
			for (i = 0; i < space->n; i++)
				u[i] = rng_uniform(&r);
			bad = check_point(&made, space, u, &r);
		}
		for (i = 0; space != NULL && i < space->n; i++)
			several += space->params[i].when != NULL &&
				   space->params[i].when->n_parents > 1;
		if (space != NULL && bad == NULL)
			bad = check_index(space);
		if (bad != NULL && failed++ < 5)
			printf("# %d: %s\n# %s\n", k, bad, buf_str(&made.text));
		buf_free(&made.text);
		space_free(space);
	}
	is_int(failed, 0, "random spaces");
	ok(several > SPACES / 2 && never < SPACES / 2,
	    "%d conditions of several parameters, %d spaces refused", several,
	    never);
}

/* Too many combinations are no count, and take no memory. */
static void
test_many(void)
{
	struct buf b = { 0 };
	struct space *s;
	struct space_index *l;
	struct err e;
	int i;

	buf_putc(&b, '{');
	for (i = 0; i < 40; i++)
		buf_printf(
		    &b, "\"a%d\":{\"type\":\"int\",\"min\":0,\"max\":9},", i);
	buf_puts(&b, "\"x\":{\"type\":\"fixed\",\"value\":1,\"when\":\"a0");
	for (i = 1; i < 40; i++)
		buf_printf(&b, " + a%d", i);
	buf_puts(&b, " < 9\"}}");
	s = read_space(buf_str(&b), &e);
	l = space_index_new(s, 0);
	is_int((int64_t)space_index_count(l), 0, "10^40 settings: too many");
	space_index_free(l);
	space_free(s);
	buf_free(&b);
}

/* ---- how a study is written ---------------------------------------------- */

static void
written(const char *when, const char *want)
{
	char *text = xasprintf(
	    "{\"study\":\"s\",\"objective\":{\"metric\":\"m\",\"goal\":"
	    "\"minimize\"},\"trial\":{\"command\":[\"t\"]},\"limits\":"
	    "{\"trials\":1},\"parameters\":{\"b\":{\"type\":\"choice\","
	    "\"values\":[true,\"x\",3,null]},\"a\":{\"type\":\"int\",\"min\":1,"
	    "\"max\":9},\"x\":{\"type\":\"fixed\",\"value\":1,\"when\":%s}}}",
	    when);
	struct err e = ERR_INIT;
	struct study *s = NULL;
	struct buf fixed = { 0 };

	if (!ok(study_parse(&s, text, strlen(text), "/s.json", &e) == 0,
		"%s: %s", when, e.text)) {
		free(text);
		return;
	}
	study_put_fixed(&fixed, s);
	if (!ok(strstr(buf_str(&fixed), want) != NULL, "%s is written as %s",
		when, want))
		printf("# %s\n", buf_str(&fixed));
	buf_free(&fixed);
	study_free(s);
	free(text);
}

static void
test_written(void)
{
	written("{\"b\":[\"x\",3.0,null,true]}",
	    "\"values\":[1],\"when\":{\"b\":[\"x\",3,null,true]}}");
	written("[{\"b\":[true]}]", "\"when\":{\"b\":[true]}}");
	written("{\"b\":[true],\"a\":[2,1]}",
	    "\"when\":{\"a\":[2,1],\"b\":[true]}}");
	written("[{\"b\":[true],\"a\":[1]},{\"a\":[3]}]",
	    "\"when\":[{\"a\":[1],\"b\":[true]},{\"a\":[3]}]}");
	written("\"a > 3  and b = 'x'\"", "\"when\":\"a > 3  and b = 'x'\"}");
}

int
main(void)
{
	test_meaning();
	test_inactive();
	test_defaults();
	test_random();
	test_many();
	test_written();
	return done_testing();
}
