/*
 * Jobs without a program (AWS's built-in algorithms), and several training
 * definitions as one study, in which a parameter chooses one of them and each
 * has its image, constants and parameters (backend.algorithms).  Ranges are in
 * import-sagemaker-space.c.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"
#include "src/model/space.h"

/* The objective's name when the definitions have several names. */
#define METRIC_OF_ALL "tuning_objective"

enum { PARAM_NAME_MAX = 64 }; /* bytes, as in study.json */

static const char *const range_lists[] = { "ContinuousParameterRanges",
	"IntegerParameterRanges", "CategoricalParameterRanges", NULL };

static const char *
import_algorithms_image_of(const struct json *def)
{
	return json_string(
	    import_at(def, "AlgorithmSpecification", "TrainingImage"));
}

static const char *
import_algorithms_metric_of(const struct json *def)
{
	return json_string(import_at(def, "TuningObjective", "MetricName"));
}

bool
import_is_built_in(const char *image, const char *name)
{
	const char *slash = image != NULL ? strrchr(image, '/') : NULL;
	size_t n;

	if (image == NULL)
		return false;
	image = slash != NULL ? slash + 1 : image;
	if (strncmp(image, "sagemaker-", 10) == 0)
		image += 10;
	n = strcspn(image, ":@");
	return n == strlen(name) && strncmp(image, name, n) == 0;
}

/*
 * Whether hpotune reads an algorithm's log without a definition of the metric.
 */
static bool
import_algorithms_is_known(const struct json *def)
{
	return import_is_built_in(import_algorithms_image_of(def), "xgboost") ||
	       import_is_built_in(
		   import_algorithms_image_of(def), "linear-learner");
}

/* Whether two definitions have the same image apart from tag and account. */
static bool
is_alike(const struct json *a, const struct json *b)
{
	const char *slash = strrchr(import_algorithms_image_of(b), '/');
	char *name =
	    xstrdup(slash != NULL ? slash + 1 : import_algorithms_image_of(b));
	const char *bare =
	    strncmp(name, "sagemaker-", 10) == 0 ? name + 10 : name;
	bool alike;

	name[strcspn(name, ":@")] = '\0';
	alike = import_is_built_in(import_algorithms_image_of(a), bare);
	free(name);
	return alike;
}

static bool
has_environment(const struct json *def)
{
	const struct json *j = import_at(def, "Environment", NULL);

	return json_count(j) > 0;
}

char *
import_value_of(const struct json *def)
{
	const char *name = json_string(json_get(def, "DefinitionName"));

	if (name == NULL || *name == '\0')
		name = "only";
	/* The name becomes a prefix of parameter names. */
	return xasprintf(
	    "%s%s", isdigit((unsigned char)*name) ? "d-" : "", name);
}

/* The number of definitions that search a parameter of this name. */
static size_t
searched_in(const struct import *im, const char *name)
{
	const struct json *j;
	const char *other;
	size_t i, k, n = 0;

	for (i = 0; i < im->n_defs; i++)
		for (k = 0; range_lists[k] != NULL; k++) {
			j = import_at(im->defs[i], "HyperParameterRanges",
			    range_lists[k]);
			for (j = json_first(j); j != NULL; j = json_next(j)) {
				other = json_string(json_get(j, "Name"));
				/* Columns of views are case-insensitive. */
				n += other != NULL &&
				     strcasecmp(other, name) == 0;
			}
		}
	return n;
}

/* Whether the name would be read as a parameter of one algorithm only. */
static bool
has_prefix(const struct import *im, const char *name)
{
	bool has = false;
	char *value;
	size_t i, n;

	for (i = 0; i < im->n_defs && !has; i++) {
		value = import_value_of(im->defs[i]);
		n = strlen(value);
		has = strncmp(name, value, n) == 0 && name[n] == '.';
		free(value);
	}
	return has;
}

char *
import_param_name(const struct import *im, const char *name)
{
	char *value, *whole;

	if (im->n_defs == 0 && !im->algorithm && space_name_taken(name))
		return xasprintf("hp_%s", name);
	if (im->n_defs == 0 ||
	    (searched_in(im, name) < 2 && !space_name_taken(name) &&
		strcasecmp(name, IMPORT_CHOICE) != 0 && !has_prefix(im, name)))
		return xstrdup(name);
	value = import_value_of(im->def);
	whole = xasprintf("%s.%s", value, name);
	free(value);
	return whole;
}

static bool
is_nothing(const struct json *j)
{
	bool yes;

	return j == NULL || json_type(j) == JSON_NULL ||
	       (json_bool(j, &yes) && !yes);
}

/* The first member of a, except those in own, that differs in b. */
static const char *
member_otherwise(
    const struct json *a, const struct json *b, const char *const *own)
{
	const struct json *j, *other;
	size_t i;

	for (j = json_first(a); j != NULL; j = json_next(j)) {
		for (i = 0; own[i] != NULL; i++)
			if (strcmp(own[i], json_key(j)) == 0)
				break;
		other = json_get(b, json_key(j));
		if (own[i] == NULL && !(is_nothing(j) && is_nothing(other)) &&
		    (other == NULL || !json_same(j, other)))
			return json_key(j);
	}
	return NULL;
}

static const char *
differ_in(const struct json *a, const struct json *b)
{
	static const char *const own[] = { "DefinitionName", "TuningObjective",
		"HyperParameterRanges", "StaticHyperParameters",
		"AlgorithmSpecification", "CheckpointConfig", "Environment",
		NULL };
	static const char *const of_algorithm[] = { "TrainingImage",
		"MetricDefinitions", NULL };
	const struct json *x = json_get(a, "AlgorithmSpecification");
	const struct json *y = json_get(b, "AlgorithmSpecification");
	const char *member = member_otherwise(a, b, own);

	if (member == NULL)
		member = member_otherwise(b, a, own);
	if (member == NULL)
		member = member_otherwise(x, y, of_algorithm);
	if (member == NULL)
		member = member_otherwise(y, x, of_algorithm);
	if (member == NULL && is_nothing(json_get(a, "CheckpointConfig")) !=
				  is_nothing(json_get(b, "CheckpointConfig")))
		member = "CheckpointConfig";
	return member;
}

static const char *
regex_of(const struct json *def, const char *metric)
{
	const struct json *j =
	    import_at(def, "AlgorithmSpecification", "MetricDefinitions");
	const char *name;

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "Name"));
		if (name != NULL && strcmp(name, metric) == 0)
			return json_string(json_get(j, "Regex"));
	}
	return NULL;
}

/* A metric for which the two have different regular expressions. */
static const char *
regex_otherwise(const struct json *a, const struct json *b)
{
	const struct json *j =
	    import_at(a, "AlgorithmSpecification", "MetricDefinitions");
	const char *name, *here, *there;

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "Name"));
		here = json_string(json_get(j, "Regex"));
		there = name != NULL ? regex_of(b, name) : NULL;
		if (here != NULL && there != NULL && strcmp(here, there) != 0)
			return name;
	}
	return NULL;
}

/* What one definition lacks for it; false: nothing. */
static bool
one_why(struct buf *why, const struct import *im, const struct json *def)
{
	const char *name = json_type(def) == JSON_OBJECT
			       ? json_string(json_get(def, "DefinitionName"))
			       : NULL;
	const struct json *j;
	const char *param;
	size_t k;

	if (name == NULL || *name == '\0') {
		buf_puts(why, "one definition has no DefinitionName");
		return true;
	}
	if (import_algorithms_image_of(def) == NULL)
		buf_printf(why, "%s has no TrainingImage", name);
	else if (import_algorithms_metric_of(def) == NULL)
		buf_printf(why, "%s has no TuningObjective", name);
	else if (has_environment(def))
		buf_printf(why,
		    "%s has an Environment, which trials of "
		    "backend.algorithms have not",
		    name);
	else if (!import_algorithms_is_known(def) &&
		 regex_of(def, import_algorithms_metric_of(def)) == NULL)
		buf_printf(why, "%s does not define %s", name,
		    import_algorithms_metric_of(def));
	if (why->len > 0)
		return true;
	for (k = 0; range_lists[k] != NULL; k++) {
		j = import_at(def, "HyperParameterRanges", range_lists[k]);
		for (j = json_first(j); j != NULL; j = json_next(j)) {
			param = json_string(json_get(j, "Name"));
			if (param != NULL && im->n_defs > 0 &&
			    strlen(param) + strlen(name) + 3 > PARAM_NAME_MAX) {
				buf_printf(why, "%s.%s is too long a name",
				    name, param);
				return true;
			}
		}
	}
	return false;
}

/* What separates two definitions; false: nothing. */
static bool
two_why(struct buf *why, const struct json *a, const struct json *b)
{
	const char *x = json_string(json_get(a, "DefinitionName"));
	const char *y = json_string(json_get(b, "DefinitionName"));
	const char *type = json_string(import_at(a, "TuningObjective", "Type"));
	const char *type_b =
	    json_string(import_at(b, "TuningObjective", "Type"));
	const char *what;

	if (strcmp(x, y) == 0)
		buf_printf(why, "two definitions are called %s", x);
	else if (type == NULL || type_b == NULL || strcmp(type, type_b) != 0)
		buf_printf(why, "%s and %s have different goals", x, y);
	else if ((what = differ_in(a, b)) != NULL)
		buf_printf(why, "%s and %s differ in %s", x, y, what);
	else if ((what = regex_otherwise(a, b)) != NULL)
		buf_printf(
		    why, "%s and %s read %s by different patterns", x, y, what);
	else if (strcmp(import_algorithms_metric_of(a),
		     import_algorithms_metric_of(b)) != 0 &&
		 (is_alike(a, b) || !import_algorithms_is_known(a) ||
		     !import_algorithms_is_known(b)))
		buf_printf(why,
		    "%s and %s may both print %s and %s, which are the "
		    "objective of one of them each",
		    x, y, import_algorithms_metric_of(a),
		    import_algorithms_metric_of(b));
	return why->len > 0;
}

bool
import_several_find(struct import *im, const struct json *list, struct buf *why)
{
	const struct json *j;
	size_t i, k;

	if (json_count(list) > IMPORT_DEFS_MAX) {
		buf_printf(why, "there are more than %d", IMPORT_DEFS_MAX);
		return false;
	}
	for (j = json_first(list); j != NULL; j = json_next(j))
		im->defs[im->n_defs++] = j;
	for (i = 0; i < im->n_defs; i++) {
		if (one_why(why, im, im->defs[i]))
			break;
		for (k = 0; k < i; k++)
			if (two_why(why, im->defs[k], im->defs[i]))
				break;
		if (why->len > 0)
			break;
	}
	if (why->len > 0) {
		im->n_defs = 0;
		return false;
	}
	im->def = im->defs[0];
	im->algorithm = true;
	return true;
}

void
import_algorithm_find(struct import *im)
{
	const struct json *ranges = import_space_ranges(im), *j;
	const char *name;
	size_t k;

	if (im->def == NULL || im->program != NULL ||
	    !import_algorithms_is_known(im->def) || has_environment(im->def))
		return;
	im->algorithm = true;
	/* A name with a meaning in hpotune needs a prefix. */
	for (k = 0; range_lists[k] != NULL; k++) {
		j = import_at(ranges, range_lists[k], NULL);
		for (j = json_first(j); j != NULL; j = json_next(j)) {
			name = json_string(json_get(j, "Name"));
			if (name != NULL && space_name_taken(name))
				im->n_defs = 1;
		}
	}
	j = import_at(im->def, "StaticHyperParameters", NULL);
	for (j = json_first(j); j != NULL; j = json_next(j))
		if (space_name_taken(json_key(j)))
			im->n_defs = 1;
	im->defs[0] = im->def;
}

const char *
import_several_metric(const struct import *im)
{
	size_t i;

	for (i = 1; i < im->n_defs; i++)
		if (strcmp(import_algorithms_metric_of(im->defs[0]),
			import_algorithms_metric_of(im->defs[i])) != 0)
			return METRIC_OF_ALL;
	return import_algorithms_metric_of(im->defs[0]);
}

/* Constants, and the hints that replace ranges. */
static void
constants_put(struct import *im)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", NULL);
	const char *name;

	converted_open(&im->to, 4, "hyperparameters", '{');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		converted_key(&im->to, 5, json_key(j));
		import_value_put(im, json_key(j), json_string(j));
	}
	j = import_at(import_space_ranges(im), "AutoParameters", NULL);
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "Name"));
		if (name == NULL || json_get(j, "ValueHint") == NULL)
			continue;
		converted_key(&im->to, 5, name);
		import_value_put(
		    im, name, json_string(json_get(j, "ValueHint")));
		import_auto_note(im, name);
	}
	converted_close(&im->to, 4, '}');
}

static void
each_put(struct import *im)
{
	const char *metric = import_several_metric(im), *own;
	char *value;
	size_t i;

	converted_text(&im->to, 2, "algorithm", IMPORT_CHOICE);
	converted_open(&im->to, 2, "algorithms", '{');
	for (i = 0; i < im->n_defs; i++) {
		im->def = im->defs[i];
		value = import_value_of(im->def);
		converted_open(&im->to, 3, value, '{');
		converted_text(
		    &im->to, 4, "image", import_algorithms_image_of(im->def));
		own = import_algorithms_metric_of(im->def);
		if (metric != NULL && own != NULL && strcmp(own, metric) != 0)
			converted_text(&im->to, 4, "metric", own);
		constants_put(im);
		converted_close(&im->to, 3, '}');
		free(value);
	}
	im->def = im->defs[0];
	converted_close(&im->to, 2, '}');
}

void
import_algorithms_put(struct import *im)
{
	bool kept = import_at(im->def, "CheckpointConfig", NULL) != NULL;
	size_t i;

	converted_text(&im->to, 2, "container", "algorithm");
	if (im->n_defs > 0)
		each_put(im);
	else
		converted_text(
		    &im->to, 2, "image", import_algorithms_image_of(im->def));
	/* Linear learner has none. */
	for (i = 0; i < (im->n_defs > 0 ? im->n_defs : 1); i++)
		kept = kept && !import_is_built_in(
				   import_algorithms_image_of(
				       im->n_defs > 0 ? im->defs[i] : im->def),
				   "linear-learner");
	if (kept) {
		converted_key(&im->to, 2, "checkpoints");
		buf_puts(&im->to.out, "true");
	}
}
