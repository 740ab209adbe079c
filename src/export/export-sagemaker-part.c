/*
 * One definition for each algorithm: the parameters that belong to it, its
 * image and its metric.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"

/*
 * Write a value as SageMaker does; a text that would read as another value is
 * quoted.
 */
static void
export_sagemaker_put_value(struct buf *b, const struct value *v)
{
	struct json_doc *doc = NULL;
	enum json_type type = JSON_NULL;

	if (v->kind != VALUE_TEXT) {
		param_value_put_json(b, v);
		return;
	}
	if (json_parse(&doc, v->text, strlen(v->text), NULL, false, NULL) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_put_string(b, v->text);
	else
		buf_puts(b, v->text);
	json_free(doc);
}

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

static bool
is_text(const struct value *v, const char *text)
{
	return v->kind == VALUE_TEXT && strcmp(v->text, text) == 0;
}

bool
export_part_is_chosen(const struct export_part *part)
{
	int choice = choice_of(part);
	const struct param *p;
	size_t i;

	if (choice < 0)
		return false;
	p = &part->study->space->params[choice];
	for (i = 0; i < p->n_values; i++)
		if (is_text(&p->values[i], json_key(part->algorithm)))
			return true;
	return false;
}

/* Whether a parameter may be active with the algorithm of this definition. */
static bool
is_active(const struct export_part *part, const struct param *p, int choice)
{
	const struct space *space = part->study->space;
	const struct param *chooses = &space->params[choice];
	struct value *fixed = xcalloc(space->n, sizeof *fixed);
	bool active;
	size_t i;

	for (i = 0; i < chooses->n_values; i++)
		if (is_text(&chooses->values[i], json_key(part->algorithm)))
			fixed[choice] = chooses->values[i];
	active =
	    partial_setting_may_have(space, (size_t)(p - space->params), fixed);
	free(fixed);
	return active;
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
	const struct when *w = p->when;

	return w != NULL &&
	       (w->n_parents != 1 || (int)w->parents[0] != choice_of(part));
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
export_part_constants_put(struct converted *to, const struct export_part *part)
{
	const struct json *j = json_get(part->algorithm, "hyperparameters");
	struct buf text = { 0 };

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		buf_clear(&text);
		if (json_string(j) != NULL)
			buf_puts(&text, json_string(j));
		else
			json_write(&text, j);
		converted_text(to, 3, json_key(j), buf_str(&text));
	}
	buf_free(&text);
}

void
export_part_name_put(
    struct converted *to, const struct export_part *part, size_t number)
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
		buf_printf(to->notes,
		    "backend.algorithms.%s: the definition is called %s\n",
		    value, buf_str(&name));
	}
	converted_text(to, 2, "DefinitionName", buf_str(&name));
	buf_free(&name);
}
