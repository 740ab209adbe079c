/*
 * Arbitrary bytes as study.json.  Errors must have a position; an accepted
 * study must read the same from its stored text, and its space must convert
 * points in both directions.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char path[] = "/study.json";

static void
need(bool good)
{
	if (!good)
		abort();
}

/* "/study.json:LINE:COLUMN: words", and nothing a terminal obeys. */
static void
check_error(const struct err *e)
{
	const char *p = e->text + sizeof path - 1;
	char *end;

	need(e->kind == ERR_USAGE);
	need(strncmp(e->text, path, sizeof path - 1) == 0 && *p == ':');
	need(strtol(p + 1, &end, 10) > 0 && *end == ':');
	need(strtol(end + 1, &end, 10) > 0);
	need(strncmp(end, ": ", 2) == 0 && strlen(end) > 5);
	for (p = e->text; *p != '\0'; p++)
		need((unsigned char)*p >= ' ' && *p != 0x7f);
}

/* JSON that was taken is the same when it is written and read again. */
static void
check_json(const char *text, size_t len)
{
	struct json_doc *doc, *again;
	struct buf a = { 0 }, b = { 0 };

	if (json_parse(&doc, text, len, NULL, true, NULL) != 0)
		return;
	json_write(&a, json_root(doc));
	need(json_parse(&again, a.data, a.len, NULL, false, NULL) == 0);
	json_write(&b, json_root(again));
	need(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	buf_free(&a);
	buf_free(&b);
	json_free(doc);
	json_free(again);
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void
check_argv(const struct study *s, const struct value *v)
{
	static const struct study_command_vars vars = { .trial = 1,
		.attempt = 1 };
	char **argv = study_command(s, v, &vars);

	/* A study whose trials run elsewhere has none. */
	need((argv[0] == NULL) == (s->trial.command[0] == NULL));
	strv_free(argv);
}

static void
check_point(const struct study *s, double *u)
{
	const struct space *space = s->space;
	struct value *v = xcalloc(space->n, sizeof *v);
	struct value *back = xcalloc(space->n, sizeof *back);
	double *x = xcalloc(space->n, sizeof *x);
	struct json_doc *doc;
	struct buf b = { 0 };
	size_t i;

	space_decode(space, u, v);
	space_encode(space, v, x);
	space_put_json(&b, space, v);
	need(json_parse(&doc, b.data, b.len, NULL, false, NULL) == 0);
	need(space_read_values(space, json_root(doc), back, NULL) == 0);
	for (i = 0; i < space->n; i++)
		need(param_value_equal(&v[i], &back[i]));
	space_decode(space, x, back);
	space_snap(space, u);
	for (i = 0; i < space->n; i++) {
		need(param_value_equal(&v[i], &back[i]));
		need(same(u[i], x[i]));
		need(isnan(x[i]) || (x[i] >= 0 && x[i] <= 1));
	}
	check_argv(s, v);
	json_free(doc);
	buf_free(&b);
	free(v);
	free(back);
	free(x);
}

static void
check_space(const struct study *s)
{
	double *u = xcalloc(s->space->n, sizeof *u);
	struct rng r;
	size_t i;
	int k;

	rng_init(&r, 1, 1);
	for (k = 0; k < 4; k++) {
		for (i = 0; i < s->space->n; i++)
			u[i] = k < 2 ? k : rng_uniform(&r);
		check_point(s, u);
	}
	free(u);
}

static void
check_again(const struct study *s)
{
	struct buf text = { 0 }, a = { 0 }, b = { 0 };
	struct study *again;

	study_put_json(&text, s);
	need(study_parse(&again, text.data, text.len, path, NULL) == 0);
	study_put_fixed(&a, s);
	study_put_fixed(&b, again);
	need(strcmp(a.data, b.data) == 0);
	study_free(again);
	buf_free(&text);
	buf_free(&a);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct err e = ERR_INIT;
	struct study *s;

	check_json(text, size);
	if (study_parse(&s, text, size, path, &e) != 0) {
		need(s == NULL);
		check_error(&e);
		return 0;
	}
	check_again(s);
	check_space(s);
	study_free(s);
	return 0;
}
