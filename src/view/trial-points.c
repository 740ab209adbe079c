/* Converts recorded parameters from JSON to points. */

#include <stdbool.h>
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

/* A number as JSON has it; the whole ones are below 1e15. */
static bool
plain_number_read(const char **s, struct value *v)
{
	static const char digits[] = "0123456789";
	const char *from = *s, *at = from + (*from == '-');
	size_t whole = strspn(at, digits), part;
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
		if ((part = strspn(at, digits)) == 0)
			return false;
		at += part;
	}
	v->real = strtod(from, &end);
	if (v->kind == VALUE_INT)
		v->integer = (int64_t)v->real;
	*s = at;
	return end == at;
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
