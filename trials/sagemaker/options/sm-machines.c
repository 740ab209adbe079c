/*
 * The machines of the backend block: instance types in order, groups of a
 * heterogeneous cluster, and the price table.
 */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	TYPE_NAME_MAX = 63, /* characters */
	TYPES_MAX = 32,
	GROUPS_MAX = 5, /* AWS's */
	GROUP_NAME_MAX = 64, /* AWS's */
	COUNT_MAX = 10000,
	PRICE_MAX = 100000 /* dollars an hour of one instance */
};

/* ml.FAMILY.SIZE */
static bool
type_good(const char *s)
{
	size_t family, size, i;

	if (strncmp(s, "ml.", 3) != 0 || strlen(s) > TYPE_NAME_MAX)
		return false;
	s += 3;
	family = strcspn(s, ".");
	if (family == 0 || s[family] == '\0')
		return false;
	size = strlen(s + family + 1);
	for (i = 0; i < family + 1 + size; i++)
		if (i != family && !islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) && s[i] != '-')
			return false;
	return size > 0;
}

/* "g5.xlarge" is what EC2 calls it. */
static int
type_err(const struct json *j, const char *name, struct err *e)
{
	char *full = xasprintf("ml.%s", name);
	int rc;

	if (type_good(full))
		rc = json_err(j, e,
		    "expected an instance type of SageMaker; did you mean "
		    "\"%s\"?",
		    full);
	else
		rc = json_err(
		    j, e, "expected an instance type like \"ml.g5.xlarge\"");
	free(full);
	return rc;
}

static int
type_add(struct sm_reader *r, const struct json *j, char *name)
{
	struct sm_settings *s = r->s;
	size_t i;
	int rc;

	if (!type_good(name)) {
		rc = type_err(j, name, r->e);
		free(name);
		return rc;
	}
	s->types[s->n_types++] = (struct sm_type){ .name = name, .price = NAN };
	for (i = 0; i + 1 < s->n_types; i++)
		if (strcmp(s->types[i].name, name) == 0)
			return json_err(
			    j, r->e, "%s is twice in the list", name);
	return 0;
}

/* The option's text has its words joined by commas. */
static int
read_types(struct sm_reader *r)
{
	const struct option_value *v =
	    plugin_option_get(r->values, "instance_type");
	const struct json *j = v->json;
	const char *p = v->text;
	size_t n;

	r->s->types = xcalloc(TYPES_MAX, sizeof *r->s->types);
	if (json_type(j) == JSON_ARRAY)
		j = json_first(j);
	for (;;) {
		if (r->s->n_types == TYPES_MAX)
			return json_err(v->json, r->e,
			    "expected at most %d instance types", TYPES_MAX);
		n = strcspn(p, ",");
		if (type_add(r, j, xstrndup(p, n)) == -1)
			return -1;
		if (p[n] == '\0')
			return 0;
		p += n + 1;
		if (json_type(v->json) == JSON_ARRAY)
			j = json_next(j);
	}
}

static int
group_check_name(
    struct sm_reader *r, const struct sm_group *g, const struct json *j)
{
	size_t i, n = strlen(g->name);

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)g->name[i]) && g->name[i] != '-' &&
		    g->name[i] != '_')
			break;
	if (n == 0 || n > GROUP_NAME_MAX || i < n)
		return json_err(j, r->e,
		    "expected a name of at most 64 letters, digits, - and _");
	for (i = 0; &r->s->groups[i] != g; i++)
		if (strcmp(r->s->groups[i].name, g->name) == 0)
			return json_err(j, r->e, "duplicate group name");
	return 0;
}

static int
read_group(struct sm_reader *r, const struct json *block)
{
	static const char *const keys[] = { "name", "instance_type", "count",
		NULL };
	struct sm_group *g = &r->s->groups[r->s->n_groups];
	const struct json *name, *type, *count = json_get(block, "count");
	const char *text;
	int64_t n = 1;

	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0 ||
	    (name = json_need(block, "name", r->e)) == NULL ||
	    (type = json_need(block, "instance_type", r->e)) == NULL ||
	    json_read_string(name, &text, r->e) != 0)
		return -1;
	*g = (struct sm_group){ .name = xstrdup(text), .type.price = NAN };
	r->s->n_groups++;
	if (group_check_name(r, g, name) == -1 ||
	    json_read_string(type, &text, r->e) != 0)
		return -1;
	if (!type_good(text))
		return type_err(type, text, r->e);
	g->type.name = xstrdup(text);
	if (count != NULL &&
	    json_read_integer(count, 1, COUNT_MAX, &n, r->e) != 0)
		return -1;
	g->count = (int)n;
	r->s->count += g->count;
	return 0;
}

static int
read_groups(struct sm_reader *r, const struct json *list)
{
	const struct json *j;

	if (json_want(list, JSON_ARRAY, r->e) != 0)
		return -1;
	if (json_count(list) < 1 || json_count(list) > GROUPS_MAX)
		return json_err(
		    list, r->e, "expected 1 to %d groups", GROUPS_MAX);
	if (sm_options_json(r, "instance_type") != NULL)
		return json_err(sm_options_json(r, "instance_type"), r->e,
		    "groups have their own types: expected one of them");
	if (sm_options_json(r, "instance_count") != NULL)
		return json_err(sm_options_json(r, "instance_count"), r->e,
		    "groups have their own counts: expected one of them");
	if (plugin_option_get(r->values, "keep_alive")->number > 0)
		return json_err(sm_options_json(r, "keep_alive"), r->e,
		    "warm pools do not go with groups: expected 0");
	r->s->count = 0;
	r->s->groups = xcalloc(GROUPS_MAX, sizeof *r->s->groups);
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (read_group(r, j) == -1)
			return -1;
	return 0;
}

static bool
price_set(struct sm_settings *s, const char *name, double price)
{
	bool found = false;
	size_t i;

	for (i = 0; i < s->n_types; i++)
		if (strcmp(s->types[i].name, name) == 0) {
			s->types[i].price = price;
			found = true;
		}
	for (i = 0; i < s->n_groups; i++)
		if (strcmp(s->groups[i].type.name, name) == 0) {
			s->groups[i].type.price = price;
			found = true;
		}
	return found;
}

/* A price that no attempt can have is a slip of the pen. */
static int
price_err(struct sm_reader *r, const struct json *j)
{
	const char *names[TYPES_MAX + GROUPS_MAX + 1] = { NULL };
	struct buf hint = { 0 };
	size_t i, n = 0;

	for (i = 0; i < r->s->n_types; i++)
		names[n++] = r->s->types[i].name;
	for (i = 0; i < r->s->n_groups; i++)
		names[n++] = r->s->groups[i].type.name;
	json_put_hint(&hint, json_key(j), names);
	json_err_key(
	    j, r->e, "the study uses no such instance type%s", buf_str(&hint));
	buf_free(&hint);
	return -1;
}

static int
read_prices(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "price_per_hour");
	double price;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	for (j = json_first(block); j != NULL; j = json_next(j)) {
		if (json_read_number(j, 0, PRICE_MAX, &price, r->e) != 0)
			return -1;
		if (!price_set(r->s, json_key(j), price))
			return price_err(r, j);
	}
	return 0;
}

int
sm_machines_read(struct sm_reader *r)
{
	const struct json *groups = sm_options_json(r, "groups");

	r->s->count =
	    (int)plugin_option_get(r->values, "instance_count")->number;
	if (groups != NULL) {
		if (read_groups(r, groups) == -1)
			return -1;
	} else if (!plugin_option_get(r->values, "instance_type")->given) {
		return json_err(sm_options_where(r, "instance_type"), r->e,
		    "the sagemaker backend also needs \"instance_type\": one "
		    "like \"ml.g5.xlarge\", or a list of them");
	} else if (read_types(r) == -1) {
		return -1;
	}
	return read_prices(r);
}
