/* Tried settings, against a plain list; and the lattice below it. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space-index.h"
#include "src/model/space.h"
#include "src/model/tried-settings.h"
#include "tests/support/tap.h"

enum { MANY = 20000 };

static struct space *
space_of(const char *text)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) != 0 ||
	    space_read(&space, json_root(doc), &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	json_free(doc);
	return space;
}

static void
test_table(void)
{
	struct space *space =
	    space_of("{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}");
	struct tried_settings *t = tried_settings_new(space, 1);
	long wrong = 0;
	char text[40];
	int i;

	is_int(tried_settings_find(t, "{}"), 0, "nothing is tried at first");
	for (i = 1; i <= MANY; i++) {
		(void)snprintf(text, sizeof text, "{\"x\":%d}", i % 15000);
		tried_settings_add(t, text, i);
		if (i % 5000 == 50)
			tried_settings_reserve(t, (size_t)i * 2);
	}
	for (i = 0; i < 15000; i++) {
		(void)snprintf(text, sizeof text, "{\"x\":%d}", i);
		wrong += tried_settings_find(t, text) != (i == 0 ? 15000 : i);
	}
	is_int(wrong, 0, "the first trial of each setting is found");
	is_int(
	    tried_settings_find(t, "{\"x\":15000}"), 0, "another one is not");
	is_int((long long)tried_settings_all(t), 0, "no end of settings");
	tried_settings_free(t);
	space_free(space);
}

/* Every setting once, whatever was tried by others between. */
static void
test_walk(const char *text, uint64_t want)
{
	struct space *space = space_of(text);
	struct tried_settings *t = tried_settings_new(space, 3);
	struct value *values = xcalloc(space->n, sizeof *values);
	double *x = xcalloc(space->n, sizeof *x);
	struct space_index *l = space_index_new(space, 0);
	struct buf params = { 0 };
	uint64_t n = 0;
	long again = 0;

	ok(space_index_count(l) == want, "%llu settings",
	    (unsigned long long)want);
	if (want > 2) {
		space_index_point(l, want / 2, x);
		space_decode(space, x, values);
		space_put_json(&params, space, values);
		tried_settings_add(t, buf_str(&params), 1);
		n++;
	}
	while (n <= want && tried_settings_other(t, values)) {
		buf_clear(&params);
		space_put_json(&params, space, values);
		again += tried_settings_find(t, buf_str(&params)) != 0;
		tried_settings_add(t, buf_str(&params), (int64_t)++n);
	}
	ok(n == want, "all of them are found");
	is_int(again, 0, "each of them once");
	ok(tried_settings_all(t) == want, "then all were tried");
	buf_free(&params);
	space_index_free(l);
	tried_settings_free(t);
	free(values);
	free(x);
	space_free(space);
}

int
main(void)
{
	test_table();
	test_walk("{\"c\": {\"type\": \"choice\", \"values\": [1, 2, 3]}, "
		  "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 4, "
		  "\"when\": {\"c\": [1, 3]}}}",
	    9);
	test_walk("{\"f\": {\"type\": \"fixed\", \"value\": 1}}", 1);
	test_walk("{\"s\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
		  "\"step\": 0.1}, \"b\": {\"type\": \"choice\", "
		  "\"values\": [true, false]}}",
	    22);
	test_walk("{\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 500, "
		  "\"scale\": \"log\"}}",
	    500);
	return done_testing();
}
