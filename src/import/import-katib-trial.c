/*
 * The trialTemplate of an Experiment of Katib as a trial: the command of the
 * primary container, and how its metrics are read.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-katib-trial.h"
#include "src/import/import-study.h"

enum { DEPTH_MOST = 32 };

static const char mark[] = "${trialParameters.";
static const char about[] = "${trialSpec.";

/* The container of this name, or any (NULL), anywhere below. */
static const struct json *
katib_container_find(const struct json *j, const char *name, int depth)
{
	const struct json *list = json_get(j, "containers"), *k, *found;
	const char *own;

	for (k = json_first(list); k != NULL; k = json_next(k)) {
		own = json_string(json_get(k, "name"));
		if (name == NULL || (own != NULL && strcmp(own, name) == 0))
			return k;
	}
	if (depth == DEPTH_MOST || !import_is_nested(j))
		return NULL;
	for (k = json_first(j); k != NULL; k = json_next(k)) {
		found = katib_container_find(k, name, depth + 1);
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* The parameter's name here that a reference means, or NULL. */
static const char *
katib_name_of(const struct import *im, const char *reference, bool *used)
{
	const struct json *p = json_first(json_get(im->root, "parameters"));
	const char *name;
	size_t i;

	for (i = 0; p != NULL; p = json_next(p), i++) {
		name = json_string(json_get(p, "name"));
		if (name != NULL && strcmp(name, reference) == 0) {
			used[i] = true;
			return im->names.v[i];
		}
	}
	return NULL;
}

/* What trialParameters says of a name in the template, or NULL. */
static const char *
katib_reference_of(const struct import *im, const char *name, size_t len)
{
	const struct json *j = json_first(
	    json_get(json_get(im->root, "trialTemplate"), "trialParameters"));
	const char *own;

	for (; j != NULL; j = json_next(j)) {
		own = json_string(json_get(j, "name"));
		if (own != NULL && strlen(own) == len &&
		    strncmp(own, name, len) == 0)
			return json_string(json_get(j, "reference"));
	}
	return NULL;
}

/*
 * What a reference to the trial's object in the cluster means: a member of
 * trialSpec itself, or a label or annotation of its metadata.  Nothing is put
 * where that has none.
 */
static void
katib_about_put(struct buf *out, const struct import *im, const char *reference)
{
	static const struct {
		const char *theirs, *at, *member; /* member: or the key */
	} all[] = { { "Kind}", "kind", NULL },
		{ "APIVersion}", "apiVersion", NULL },
		{ "Namespace}", "metadata", "namespace" },
		{ "Labels[", "metadata", "labels" },
		{ "Annotations[", "metadata", "annotations" } };
	const struct json *spec =
	    import_at(im->root, "trialTemplate", "trialSpec");
	const char *rest = reference + sizeof about - 1;
	const struct json *j = NULL;
	char *key = NULL;
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strncmp(rest, all[i].theirs, strlen(all[i].theirs)) == 0) {
			rest += strlen(all[i].theirs);
			j = json_get(spec, all[i].at);
			if (all[i].member != NULL)
				j = json_get(j, all[i].member);
			break;
		}
	if (i < sizeof all / sizeof *all &&
	    strchr(all[i].theirs, '[') != NULL) {
		key = xstrndup(rest, strcspn(rest, "]"));
		j = json_get(j, key);
	}
	free(key);
	if (json_string(j) != NULL)
		import_escape_braces(out, json_string(j));
	else
		buf_printf(im->to.notes,
		    "trial: %s is left empty: the cluster gives it\n",
		    reference);
}

/* One ${trialParameters.NAME}, whose NAME has len bytes. */
static int
katib_mark_put(struct buf *out, const struct import *im, const struct json *j,
    const char *name, size_t len, bool *used, struct err *e)
{
	const char *reference = katib_reference_of(im, name, len), *here;

	if (reference == NULL)
		return json_err(
		    j, e, "trialParameters has no %.*s", (int)len, name);
	here = katib_name_of(im, reference, used);
	if (here != NULL)
		buf_printf(out, "{%s}", here);
	else if (strcmp(reference, "${trialSpec.Name}") == 0)
		buf_puts(out, "trial-{trial}");
	else if (strncmp(reference, about, sizeof about - 1) == 0)
		katib_about_put(out, im, reference);
	else
		return json_err(j, e, "%s is no parameter", reference);
	return 0;
}

/* A text of the template, with placeholders of ours. */
static int
katib_text_put(struct buf *out, const struct import *im, const struct json *j,
    bool *used, struct err *e)
{
	const char *text, *at, *end;
	char *piece;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	for (; (at = strstr(text, mark)) != NULL; text = end + 1) {
		piece = xstrndup(text, (size_t)(at - text));
		import_escape_braces(out, piece);
		free(piece);
		at += sizeof mark - 1;
		end = strchr(at, '}');
		if (end == NULL)
			return json_err(j, e, "a ${ without its }");
		if (katib_mark_put(
			out, im, j, at, (size_t)(end - at), used, e) != 0)
			return -1;
	}
	import_escape_braces(out, text);
	return 0;
}

static int
katib_words_put(
    struct import *im, const struct json *list, bool *used, struct err *e)
{
	struct buf text = { 0 };
	const struct json *j;
	int rc = 0;

	for (j = json_first(list); j != NULL && rc == 0; j = json_next(j)) {
		buf_clear(&text);
		rc = katib_text_put(&text, im, j, used, e);
		if (rc == 0)
			converted_text(&im->to, 3, NULL, buf_str(&text));
	}
	buf_free(&text);
	return rc;
}

static int
katib_env_put(
    struct import *im, const struct json *list, bool *used, struct err *e)
{
	struct buf text = { 0 };
	const struct json *j, *value;
	const char *name;
	bool any = false;
	int rc = 0;

	for (j = json_first(list); j != NULL && rc == 0; j = json_next(j)) {
		name = json_string(json_get(j, "name"));
		value = json_get(j, "value");
		if (name == NULL || value == NULL) {
			buf_printf(im->to.notes,
			    "trial.env: %s comes from the cluster and is left "
			    "out\n",
			    name != NULL ? name : "a variable");
			continue;
		}
		if (!any)
			converted_open(&im->to, 2, "env", '{');
		any = true;
		buf_clear(&text);
		rc = katib_text_put(&text, im, value, used, e);
		if (rc == 0)
			converted_text(&im->to, 3, name, buf_str(&text));
	}
	if (any)
		converted_close(&im->to, 2, '}');
	buf_free(&text);
	return rc;
}

/* A whole number above 0, also one that is written as a text; otherwise 0. */
static int64_t
katib_count(const struct json *j)
{
	const char *text = json_string(j);
	char *end;
	int64_t n = 0;

	if (text != NULL) {
		n = strtoll(text, &end, 10);
		return *end == '\0' ? n : 0;
	}
	return json_integer(j, &n) ? n : 0;
}

/* Cores of the container.  This machine need not have the GPUs: a note. */
static void
katib_resources_put(struct import *im, const struct json *container)
{
	const struct json *limits = import_at(container, "resources", "limits");
	int64_t cpus = katib_count(json_get(limits, "cpu"));
	int64_t gpus = katib_count(json_get(limits, "nvidia.com/gpu"));

	if (cpus > 0) {
		converted_key(&im->to, 2, "cpus");
		buf_printf(&im->to.out, "%lld", (long long)cpus);
	}
	if (gpus > 0)
		import_gpus_note(im, gpus);
}

/* What Katib's collector reads in the output: NAME=VALUE. */
static void
katib_metric_put(struct import *im, const char *name)
{
	struct json_writer w = converted_object(&im->to, 3, NULL);
	struct buf text = { 0 };

	import_put_metric(&text, name);
	json_writer_text(&w, "name", buf_str(&text));
	buf_clear(&text);
	buf_printf(&text,
	    "(?<![\\w|-])\\Q%s\\E\\s*=\\s*"
	    "([+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[Ee][+-]?\\d+)?)",
	    name);
	json_writer_text(&w, "regex", buf_str(&text));
	json_writer_end(&w);
	buf_free(&text);
}

static void
katib_metrics_put(struct import *im)
{
	const struct json *spec = json_get(im->root, "metricsCollectorSpec");
	const struct json *objective = json_get(im->root, "objective"), *j;
	const char *kind = json_string(import_at(spec, "collector", "kind"));
	const char *path = json_string(
	    json_get(import_at(spec, "source", "fileSystemPath"), "path"));

	if (kind != NULL && strcmp(kind, "StdOut") != 0) {
		buf_printf(im->to.notes,
		    "trial.metrics: the collector %s%s%s is not converted: "
		    "describe what the program writes with from and path\n",
		    kind, path != NULL ? " of " : "", path != NULL ? path : "");
		return;
	}
	if (import_at(spec, "source", "filter") != NULL) {
		converted_note(&im->to,
		    "trial.metrics: the filter of the collector is not "
		    "converted: write it as regex, whose first group is the "
		    "value");
		return;
	}
	converted_open(&im->to, 2, "metrics", '[');
	katib_metric_put(
	    im, json_string(json_get(objective, "objectiveMetricName")));
	j = json_first(json_get(objective, "additionalMetricNames"));
	for (; j != NULL; j = json_next(j))
		if (json_string(j) != NULL)
			katib_metric_put(im, json_string(j));
	converted_close(&im->to, 2, ']');
}

static const struct json *
katib_container(struct import *im)
{
	const struct json *template = json_get(im->root, "trialTemplate");
	const char *name =
	    json_string(json_get(template, "primaryContainerName"));
	const struct json *spec = json_get(template, "trialSpec"), *found;

	found = katib_container_find(
	    spec, name != NULL ? name : "training-container", 0);
	if (found == NULL)
		found = katib_container_find(spec, NULL, 0);
	if (found == NULL)
		converted_note(&im->to,
		    "trial.command: trialTemplate has no container: ./train");
	return found;
}

/* Parameters that no text of the template names do not reach the program. */
static void
katib_unused_note(struct import *im, const bool *used)
{
	size_t i;

	for (i = 0; i < im->names.n; i++)
		if (!used[i])
			buf_printf(im->to.notes,
			    "%s: the template does not give it to the "
			    "program\n",
			    im->names.v[i]);
}

/* A job of several pods, such as a PyTorchJob, is one process here. */
static void
katib_pods_note(struct import *im)
{
	const struct json *spec =
	    json_get(import_at(im->root, "trialTemplate", "trialSpec"), "spec");
	const struct json *j, *k;
	int64_t n, pods = 0;

	for (j = json_first(spec); j != NULL; j = json_next(j))
		if (strstr(json_key(j), "ReplicaSpecs") != NULL &&
		    json_type(j) == JSON_OBJECT)
			for (k = json_first(j); k != NULL; k = json_next(k))
				pods +=
				    json_integer(json_get(k, "replicas"), &n) &&
					    n > 0 && n < 1000000
					? n
					: 1;
	if (pods > 1)
		buf_printf(im->to.notes,
		    "trial: each had %lld pods; here it is one process, which "
		    "may start others\n",
		    (long long)pods);
}

int
import_katib_trial_put(struct import *im, struct err *e)
{
	bool *used = xcalloc(im->names.n + 1, sizeof *used);
	const struct json *container = katib_container(im);
	const struct json *command = json_get(container, "command");
	const struct json *args = json_get(container, "args");
	const char *image = json_string(json_get(container, "image"));
	int rc = 0;

	converted_open(&im->to, 1, "trial", '{');
	converted_open(&im->to, 2, "command", '[');
	if (json_count(command) == 0) {
		converted_text(&im->to, 3, NULL, "./train");
		if (container != NULL)
			converted_note(&im->to,
			    "trial.command: the container has no command, but "
			    "that of its image: ./train in its place");
		if (json_count(args) == 0)
			converted_text(&im->to, 3, NULL, "{params}");
	} else
		rc = katib_words_put(im, command, used, e);
	if (rc == 0)
		rc = katib_words_put(im, args, used, e);
	converted_close(&im->to, 2, ']');
	if (rc == 0)
		rc = katib_env_put(im, json_get(container, "env"), used, e);
	if (rc == 0) {
		katib_resources_put(im, container);
		katib_metrics_put(im);
		if (json_count(command) > 0 || json_count(args) > 0)
			katib_unused_note(im, used);
	}
	converted_close(&im->to, 1, '}');
	if (image != NULL)
		buf_printf(im->to.notes,
		    "trial.command: it runs in the place of %s without a "
		    "container: its paths are those of this machine\n",
		    image);
	katib_pods_note(im);
	free(used);
	return rc;
}
