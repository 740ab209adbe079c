/* Converts recorded parameters from JSON to points. */

#include <ctype.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"
#include "src/store/store.h"
#include "src/view/trial-points.h"

int
trial_points_study(struct study **study, struct store *store, struct err *e)
{
	struct store_study row = { 0 };
	int rc;

	if (store_study_get(store, &row, e) != 0)
		return -1;
	rc = study_parse_recorded(study, row.json, row.dir, e);
	store_study_fini(&row);
	return rc;
}

/* Step over the text, if it is the next one. */
static bool
plain_text_skip(const char **s, const char *text, size_t len)
{
	if (strncmp(*s, text, len) != 0)
		return false;
	*s += len;
	return true;
}

/* "NAME": of a name that JSON writes as it is. */
static bool
plain_name_skip(const char **s, const char *name)
{
	size_t len = strlen(name);
	const char *at = *s;

	if (*at++ != '"' || strcspn(name, "\"\\") != len ||
	    !plain_text_skip(&at, name, len) || !plain_text_skip(&at, "\":", 2))
		return false;
	*s = at;
	return true;
}

#if LDBL_MANT_DIG == 64 && defined __x86_64__
/*
 * The number from digits, which are its part digits behind the point and those
 * before, and its exponent; false: strtod must find it.  Digits below 2^64 and
 * powers of ten to 10^27 are exact as long double, and a quotient or product of
 * two is the nearest of 64 bits.  That is the nearest double when rounded again,
 * but where the bits that are lost say half, or one less or more.
 */
static bool
plain_real(double *x, const char *digits, size_t part, int exponent)
{
	static const long double tens[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L,
		1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L,
		1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L,
		1e24L, 1e25L, 1e26L, 1e27L };
	int power = exponent - (int)part, n = 0;
	uint64_t m = 0;
	long double r;

	for (; *digits == '.' || isdigit((unsigned char)*digits); digits++)
		if (*digits != '.') {
			m = m * 10 + (uint64_t)(*digits - '0');
			n += m > 0;
		}
	if (n > 19 || power < -27 || power > 27)
		return false;
	r = power < 0 ? (long double)m / tens[-power]
		      : (long double)m * tens[power];
	*x = (double)r;
	memcpy(&m, &r, sizeof m); /* the bits of r, from the lowest */
	m &= 0x7ff;
	return m < 0x3ff || m > 0x401;
}
#else
static bool
plain_real(double *x, const char *digits, size_t part, int exponent)
{
	(void)x, (void)digits, (void)part, (void)exponent;
	return false;
}
#endif

/* A number as JSON has it; the whole ones are below 1e15. */
static bool
plain_number_read(const char **s, struct value *v)
{
	static const char digits[] = "0123456789";
	const char *from = *s, *at = from + (*from == '-');
	size_t whole = strspn(at, digits), part = 0, n;
	const char *first = at;
	int exponent = 0;
	char *end;

	if (whole == 0 || whole > 15 || (*at == '0' && whole > 1))
		return false;
	at += whole;
	*v = (struct value){ .kind = VALUE_INT };
	if (*at == '.') {
		v->kind = VALUE_REAL;
		if ((part = strspn(++at, digits)) == 0)
			return false;
		at += part;
	}
	if (*at == 'e' || *at == 'E') {
		v->kind = VALUE_REAL;
		at += at[1] == '-' || at[1] == '+' ? 2 : 1;
		if ((n = strspn(at, digits)) == 0)
			return false;
		exponent = n > 4 ? 9999 : atoi(at);
		exponent = at[-1] == '-' ? -exponent : exponent;
		at += n;
	}
	*s = at;
	if (plain_real(&v->real, first, part, exponent))
		v->real = *from == '-' ? -v->real : v->real;
	else {
		v->real = strtod(from, &end);
		if (end != at)
			return false;
	}
	if (v->kind == VALUE_INT)
		v->integer = (int64_t)v->real;
	return true;
}

/* A text of a choice, in quotes. */
static bool
plain_choice_read(const char **s, const struct param *p, struct value *v)
{
	const char *at = *s + 1;
	size_t len = strcspn(at, "\"\\"), i;

	if (at[len] != '"')
		return false;
	for (i = 0; i < p->n_values; i++)
		if (p->values[i].kind == VALUE_TEXT &&
		    strlen(p->values[i].text) == len &&
		    memcmp(p->values[i].text, at, len) == 0) {
			*v = p->values[i];
			*s = at + len + 1;
			return true;
		}
	return false;
}

static bool
plain_value_read(const char **s, const struct param *p, struct value *v)
{
	if (**s == '"')
		return plain_choice_read(s, p, v);
	return plain_number_read(s, v) && param_fit(p, v);
}

/*
 * Read a setting in the form that space_put_json writes, without making a tree
 * of it: parameters in the order of the space, values that are numbers or
 * texts without escapes.  false: something else, which space_read_values reads
 * or names.
 */
static bool
trial_points_plain(
    struct value *values, const struct space *space, const char *params)
{
	const struct when *when;
	const char *s = params;
	bool first = true;
	size_t i;

	if (*s++ != '{')
		return false;
	for (i = 0; i < space->n; i++) {
		const char *at = s + !first;

		values[i] = (struct value){ .kind = VALUE_NONE };
		if ((!first && *s != ',') ||
		    !plain_name_skip(&at, space->params[i].name))
			continue;
		if (!plain_value_read(&at, &space->params[i], &values[i]))
			return false;
		first = false;
		s = at;
	}
	for (i = 0; i < space->n; i++) {
		when = space->params[i].when;
		if (values[i].kind != VALUE_NONE && when != NULL &&
		    !when_may_hold(when, space, values))
			return false;
	}
	return strcmp(s, "}") == 0;
}

int
trial_points_read(
    double *u, const struct space *space, const char *params, struct err *e)
{
	struct value few[32], *values = few;
	struct json_doc *doc = NULL;
	int rc = 0;

	if (space->n > sizeof few / sizeof *few)
		values = xcalloc(space->n, sizeof *values);
	if (!trial_points_plain(values, space, params)) {
		rc = json_parse(&doc, params, strlen(params), NULL, false, e);
		if (rc == 0)
			rc =
			    space_read_values(space, json_root(doc), values, e);
	}
	if (rc == 0)
		space_encode(space, values, u);
	json_free(doc);
	if (values != few)
		free(values);
	return rc;
}

double
trial_points_shares(double *share, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += share[i];
	for (i = 0; i < n && sum > 0; i++)
		share[i] /= sum;
	return sum;
}
