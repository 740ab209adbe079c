/*
 * The definitions of a tuning job for a study whose trials have no program:
 * with backend.algorithms one for each, with the parameters that are active for
 * its value, under the names that it is sent.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

bool
export_is_algorithm(const struct json *backend)
{
	const char *word = json_string(json_get(backend, "container"));

	return word != NULL && strcmp(word, "algorithm") == 0;
}

const struct json *
export_algorithms(const struct json *backend)
{
	return export_is_algorithm(backend) ? json_get(backend, "algorithms")
					    : NULL;
}

/* The index of the parameter that chooses the algorithm, or -1. */
static int
choice_of(const struct export_part *part)
{
	const char *name = json_string(json_get(part->backend, "algorithm"));

	return part->algorithm != NULL && name != NULL
		   ? space_find(part->study->space, name)
		   : -1;
}

/* Whether one of the values is this text. */
static bool
has_value(const struct value *values, size_t n, const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (values[i].kind == VALUE_TEXT &&
		    strcmp(values[i].text, text) == 0)
			return true;
	return false;
}

bool
export_part_is_chosen(const struct export_part *part)
{
	int choice = choice_of(part);
	const struct param *p;

	if (choice < 0)
		return false;
	p = &part->study->space->params[choice];
	return has_value(p->values, p->n_values, json_key(part->algorithm));
}

/* Its conditions on the choosing parameter, including those of its parents. */
static bool
is_active(const struct export_part *part, const struct param *p, int choice)
{
	const struct space *space = part->study->space;

	for (; p->parent >= 0; p = &space->params[p->parent])
		if (p->parent == choice &&
		    !has_value(p->when, p->n_when, json_key(part->algorithm)))
			return false;
	return true;
}

bool
export_part_takes(
    const struct export_part *part, const struct param *p, const char **name)
{
	const struct space *space = part->study->space;
	const struct json *j;
	int choice = choice_of(part);
	size_t n;

	*name = p->name;
	if (part->algorithm == NULL)
		return true;
	if (choice >= 0 &&
	    (p == &space->params[choice] || !is_active(part, p, choice)))
		return false;
	for (j = json_first(json_get(part->backend, "algorithms")); j != NULL;
	     j = json_next(j)) {
		n = strlen(json_key(j));
		if (strncmp(p->name, json_key(j), n) != 0 ||
		    p->name[n] != '.' || p->name[n + 1] == '\0')
			continue;
		*name = p->name + n + 1;
		return j == part->algorithm;
	}
	return true;
}

bool
export_part_has_condition(const struct export_part *part, const struct param *p)
{
	return p->parent >= 0 && p->parent != choice_of(part);
}

const char *
export_part_image(const struct export_part *part)
{
	return json_string(
	    json_get(part->algorithm != NULL ? part->algorithm : part->backend,
		"image"));
}

bool
export_part_is_known(const struct export_part *part)
{
	const char *image = export_part_image(part);

	return export_is_algorithm(part->backend) &&
	       (import_is_built_in(image, "xgboost") ||
		   import_is_built_in(image, "linear-learner"));
}

const char *
export_part_metric(const struct export_part *part)
{
	const char *own = part->algorithm != NULL
			      ? json_string(json_get(part->algorithm, "metric"))
			      : NULL;

	return own != NULL ? own : part->study->metric;
}

void
export_part_value_put(
    struct buf *b, const struct export_part *part, const struct value *v)
{
	if (!export_is_algorithm(part->backend))
		export_sagemaker_put_value(b, v);
	else if (v->kind == VALUE_TEXT)
		buf_puts(b, v->text);
	else
		param_value_put_json(b, v);
}

void
export_part_constants_put(struct import *im, const struct export_part *part)
{
	const struct json *j =
	    part->algorithm != NULL
		? json_get(part->algorithm, "hyperparameters")
		: NULL;
	struct buf text = { 0 };

	for (j = j != NULL ? json_first(j) : NULL; j != NULL;
	     j = json_next(j)) {
		buf_clear(&text);
		if (json_string(j) != NULL)
			buf_puts(&text, json_string(j));
		else
			json_write(&text, j);
		import_text(im, 3, json_key(j), buf_str(&text));
	}
	buf_free(&text);
}

/*
 * A letter or digit, then letters, digits and hyphens, not ending in a hyphen.
 */
void
export_part_name_put(
    struct import *im, const struct export_part *part, size_t number)
{
	const char *value = json_key(part->algorithm), *p;
	struct buf name = { 0 };

	for (p = value; *p != '\0'; p++)
		if (isalnum((unsigned char)*p) || (*p == '-' && name.len > 0))
			buf_putc(&name, *p);
	while (name.len > 0 && name.data[name.len - 1] == '-')
		name.len--;
	if (name.len != strlen(value) || name.len == 0) {
		buf_printf(
		    &name, "%s%zu", name.len > 0 ? "-" : "definition-", number);
		buf_printf(im->notes,
		    "backend.algorithms.%s: the definition is called %s\n",
		    value, buf_str(&name));
	}
	import_text(im, 2, "DefinitionName", buf_str(&name));
	buf_free(&name);
}
