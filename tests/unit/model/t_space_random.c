/* Random spaces and points: invariants. */

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "src/view/trial-points.h"
#include "tests/support/tap.h"

#include <stdlib.h>

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

/* A number of few digits somewhere between 1e-6 and 1e6. */
static double
some(struct rng *r)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%.*ge%d", 1 + (int)rng_below(r, 6),
	    rng_uniform(r) * 10, (int)rng_below(r, 12) - 6);
	return strtod(text, NULL);
}

/* Append a random parameter. */
static void
put_param(struct buf *b, struct rng *r, int i)
{
	double x = some(r), y = some(r), low = fmin(x, y), high = fmax(x, y);
	double u = rng_uniform(r);

	buf_printf(b, "%s\"p%d\":{\"type\":", i > 0 ? "," : "", i);
	switch (rng_below(r, 11)) {
	case 0:
		buf_printf(b, "\"float\",\"min\":%.17g,\"max\":%.17g",
		    -low * 1e3, high);
		break;
	case 1:
		buf_printf(b,
		    "\"float\",\"min\":%.17g,\"max\":%.17g,"
		    "\"scale\":\"log\"",
		    low + 1e-12, high + 1e-12);
		break;
	case 2:
		buf_printf(b,
		    "\"float\",\"min\":%.17g,\"max\":%.17g,"
		    "\"scale\":\"reverse-log\"",
		    u * 0.9, 1 - pow(10, -2 - 12 * u));
		break;
	case 3:
		buf_printf(b,
		    "\"float\",\"min\":%.17g,\"max\":%.17g,"
		    "\"step\":%.17g",
		    low, high + 1, (high + 1 - low) * fmax(u * u, 1e-8));
		break;
	case 4:
		buf_printf(b, "\"int\",\"min\":%lld,\"max\":%lld",
		    (long long)-(x * 1e3), (long long)(y * 1e9));
		break;
	case 5:
		buf_printf(b,
		    "\"int\",\"min\":%lld,\"max\":%lld,"
		    "\"scale\":\"log\"",
		    (long long)low + 1, (long long)(high * 1e5) + 1);
		break;
	case 6:
		buf_printf(b, "\"int\",\"min\":%lld,\"max\":%lld,\"step\":%d",
		    (long long)-low, (long long)(high * 1e8) + 100,
		    1 + (int)rng_below(r, 100));
		break;
	case 7:
		buf_printf(
		    b, "\"choice\",\"values\":[1,%.17g,\"t\",null]", -x - 0.1);
		break;
	case 8:
		buf_puts(b, "\"choice\",\"values\":[false,true]");
		break;
	case 9:
		buf_printf(b,
		    "\"int\",\"min\":%lld,\"max\":%lld,\"step\":%d,"
		    "\"scale\":\"log\"",
		    (long long)low + 1, (long long)(high * 1e3) + 200,
		    2 + (int)rng_below(r, 100));
		break;
	case 10:
		buf_printf(b,
		    "\"float\",\"min\":%.17g,\"max\":%.17g,"
		    "\"step\":%.17g,\"scale\":\"log\"",
		    low + 1e-3, high + 1,
		    (high + 1 - low) * fmax(u * u, 1e-8) / 2);
		break;
	}
	if (i > 0 && rng_below(r, 3) == 0)
		buf_printf(b, ",\"when\":{\"c\":[%d]}", (int)rng_below(r, 2));
	buf_putc(b, '}');
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Whether it is what strtod makes of a decimal of 15 digits. */
static bool
is_decimal(double x)
{
	char text[48];

	(void)snprintf(text, sizeof text, "%.15g", x);
	return strtod(text, NULL) == x;
}

/* What must hold at one point; an explanation, or NULL. */
static const char *
check_point(const struct space *s, const double *u)
{
	struct value v[16], back[16];
	double x[16], snapped[16], again[16];
	size_t i;

	space_decode(s, u, v);
	space_encode(s, v, x);
	space_decode(s, x, back);
	memcpy(snapped, u, sizeof snapped);
	space_snap(s, snapped);
	memcpy(again, snapped, sizeof again);
	space_snap(s, again);
	for (i = 0; i < s->n; i++) {
		const struct param *p = &s->params[i];

		if (!param_value_equal(&v[i], &back[i]))
			return "decode(encode(v)) is v";
		if (!same(snapped[i], x[i]))
			return "snap(u) is encode(decode(u))";
		if (!same(again[i], snapped[i]))
			return "snapping twice is snapping once";
		if ((v[i].kind == VALUE_NONE) != isnan(x[i]))
			return "inactive is NaN";
		if (isnan(x[i]))
			continue;
		if (x[i] < 0 || x[i] > 1)
			return "u stays in the cube";
		if (p->type <= PARAM_INT &&
		    (v[i].real < p->min || v[i].real > p->max))
			return "the value stays in its range";
		if (p->type == PARAM_FLOAT && v[i].real > p->min &&
		    v[i].real < p->max && !is_decimal(v[i].real))
			return "a float is a decimal of few digits";
		if (p->type == PARAM_INT && v[i].real != (double)v[i].integer)
			return "an int is whole";
		if (u[i] == 0 && p->type <= PARAM_INT && v[i].real != p->min)
			return "0 is min";
		if (u[i] == 1 && param_levels(p) == 0 && p->step == 0 &&
		    v[i].real != p->max)
			return "1 is max";
		if (u[i] == 1 && p->type <= PARAM_INT && p->step > 0 &&
		    p->max - v[i].real >= p->step * (1 + 1e-9))
			return "1 is the last step";
		if (p->type <= PARAM_INT && p->step > 0 &&
		    fabs(remainder(v[i].real - p->min, p->step)) >
			1e-6 * p->step)
			return "the value is min and some steps";
	}
	return NULL;
}

/* The JSON of a point reads back as the same point. */
static bool
reads_back(const struct space *s, const double *u)
{
	struct value v[16], back[16];
	struct buf b = { 0 };
	struct json_doc *doc;
	size_t i, bad = 0;

	space_decode(s, u, v);
	space_put_json(&b, s, v);
	if (json_parse(&doc, buf_str(&b), b.len, NULL, false, NULL) != 0 ||
	    space_read_values(s, json_root(doc), back, NULL) != 0)
		bad++;
	for (i = 0; bad == 0 && i < s->n; i++)
		bad += !param_value_equal(&v[i], &back[i]);
	json_free(doc);
	buf_free(&b);
	return bad == 0;
}

/*
 * Without a tree of its JSON a setting becomes the same point as with one, which
 * a blank in front asks for; and what is wrong there is an error in both.
 */
static bool
points_agree(const struct space *s, const double *u, struct rng *r)
{
	static const char junk[] = "{}\":,.-+e019a\\ ";
	struct value v[16];
	double plain[16], tree[16];
	struct buf b = { 0 };
	bool good;
	size_t i;
	int turn, rc;

	space_decode(s, u, v);
	buf_putc(&b, ' ');
	space_put_json(&b, s, v);
	for (turn = 0, good = true; turn < 4 && good; turn++) {
		rc = trial_points_read(plain, s, buf_str(&b) + 1, NULL);
		good = rc == trial_points_read(tree, s, buf_str(&b), NULL) &&
		       (turn > 0 || rc == 0);
		for (i = 0; rc == 0 && i < s->n; i++)
			good = good && same(plain[i], tree[i]);
		/* From the second turn on a byte is another one. */
		b.data[2 + rng_below(r, b.len - 2)] =
		    junk[rng_below(r, sizeof junk - 1)];
	}
	if (!good)
		printf("#%s\n", buf_str(&b));
	buf_free(&b);
	return good;
}

static void
test_random(void)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	struct space *s;
	struct rng r;
	double u[16];
	const char *bad;
	int k, i, points, n, failed = 0;

	for (k = 0; k < 1000; k++) {
		rng_init(&r, 5, (uint64_t)k);
		n = 1 + (int)rng_below(&r, 15);
		buf_clear(&b);
		buf_putc(&b, '{');
		for (i = 0; i < n; i++)
			put_param(&b, &r, i);
		buf_puts(&b, ",\"c\":{\"type\":\"int\",\"min\":0,\"max\":1}}");
		s = read_space(buf_str(&b), &e);
		if (s == NULL) {
			printf("# %d: %s\n# %s\n", k, e.text, buf_str(&b));
			failed++;
			continue;
		}
		for (points = 0; points < 60; points++) {
			for (i = 0; i <= n; i++)
				u[i] = points == 0   ? 0
				       : points == 1 ? 1
						     : rng_uniform(&r);
			bad = check_point(s, u);
			if (bad == NULL && !reads_back(s, u))
				bad = "values read back";
			if (bad == NULL && !points_agree(s, u, &r))
				bad = "points agree";
			if (bad == NULL)
				continue;
			printf("# %d: %s\n# %s\n", k, bad, buf_str(&b));
			failed++;
			break;
		}
		space_free(s);
	}
	is_int(failed, 0, "1,000 random spaces, 60 points each");
	buf_free(&b);
}

int
main(void)
{
	test_random();
	return done_testing();
}
