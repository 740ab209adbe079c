/*
 * What all files of the import write: names and values of parameters of other tools,
 * and notes about them.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"
#include "src/model/param.h"
#include "src/model/space.h"

enum { STUDY_NAME_MOST = 32 };

void
import_put_study_name(
    struct buf *out, const char *name, size_t len, const char *otherwise)
{
	char text[STUDY_NAME_MOST + 1];
	size_t n = 0, i;

	for (i = 0; i < len && n < STUDY_NAME_MOST; i++)
		if (isalnum((unsigned char)name[i]))
			text[n++] = (char)tolower((unsigned char)name[i]);
		else if (n > 0 && text[n - 1] != '-')
			text[n++] = '-';
	while (n > 0 && text[n - 1] == '-')
		n--;
	text[n] = '\0';
	buf_puts(out, n > 0 ? text : otherwise);
}

void
import_name(
    struct import *im, const char *name, size_t len, const char *otherwise)
{
	struct buf text = { 0 };

	import_put_study_name(&text, name, len, otherwise);
	converted_text(&im->to, 1, "study", buf_str(&text));
	buf_free(&text);
}

void
import_escape_braces(struct buf *b, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '{' || *text == '}')
			buf_putc(b, *text);
		buf_putc(b, *text);
	}
}

void
import_unknown_note(struct import *im, const char *where,
    const struct json *object, const char *const *known)
{
	struct buf hint = { 0 };
	const struct json *j;
	size_t i;

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		for (i = 0; known[i] != NULL; i++)
			if (strcmp(known[i], json_key(j)) == 0)
				break;
		if (known[i] != NULL)
			continue;
		buf_clear(&hint);
		json_put_hint(&hint, json_key(j), known);
		buf_printf(im->to.notes,
		    "%s%s%s: it is left out: unknown key%s\n",
		    where != NULL ? where : "", where != NULL ? "." : "",
		    json_key(j), buf_str(&hint));
	}
	buf_free(&hint);
}

const struct json *
import_at(const struct json *j, const char *a, const char *b)
{
	j = json_get(j, a);
	return j != NULL && b != NULL ? json_get(j, b) : j;
}

/* A number that the program will be given in another form than the tuning job's. */
static void
import_number_note(struct import *im, const char *name, const char *text,
    const struct json *number)
{
	struct buf given = { 0 };
	struct value value;

	param_value_read(&value, number);
	param_value_put(&given, &value);
	if (strcmp(buf_str(&given), text) != 0)
		buf_printf(im->to.notes,
		    "parameters.%s: %s is a number here, and the program is "
		    "given %s\n",
		    name, text, buf_str(&given));
	buf_free(&given);
}

/*
 * The SDK writes values of a framework's job as JSON ("\"adam\"", "0.1"), other
 * tools write them plainly: a string that parses as a JSON scalar is one.
 */
void
import_value_put(struct import *im, const char *name, const char *text)
{
	struct json_doc *doc = NULL;
	struct buf value = { 0 };
	struct err e = ERR_INIT;
	enum json_type type = JSON_NULL;

	text = text != NULL ? text : "";
	if (json_parse(&doc, text, strlen(text), NULL, false, &e) == 0) {
		type = json_type(json_root(doc));
		json_write(&value, json_root(doc));
	}
	if (type != JSON_NUMBER && type != JSON_BOOL &&
	    (type != JSON_STRING || im->algorithm))
		json_put_string(&im->to.out, text);
	else if (im->algorithm && strcmp(buf_str(&value), text) != 0)
		json_put_string(&im->to.out, text);
	else {
		buf_puts(&im->to.out, buf_str(&value));
		if (type == JSON_NUMBER)
			import_number_note(im, name, text, json_root(doc));
	}
	json_free(doc);
	buf_free(&value);
}

void
import_auto_note(struct import *im, const char *name)
{
	buf_printf(im->to.notes,
	    "%s: an AutoParameter has no bounds here: fixed at its hint; give "
	    "it min and max to search it\n",
	    name);
}

const struct json *
import_space_ranges(const struct import *im)
{
	const struct json *ranges =
	    import_at(im->def, "HyperParameterRanges", NULL);

	return ranges != NULL ? ranges
			      : import_at(im->config, "ParameterRanges", NULL);
}

enum { NAME_MOST = 64 };

void
import_put_metric(struct buf *out, const char *name)
{
	size_t start = out->len;

	if (!isalpha((unsigned char)*name) && *name != '_')
		buf_putc(out, 'm');
	for (; *name != '\0' && out->len - start < NAME_MOST; name++)
		buf_putc(out, isalnum((unsigned char)*name) ||
				      strchr("_-./:@", *name) != NULL
				  ? *name
				  : '_');
}

void
import_put_name(struct buf *out, const char *name)
{
	size_t start = out->len;
	bool taken = space_name_taken(name);

	if (!isalpha((unsigned char)*name) && *name != '_')
		buf_putc(out, 'p');
	for (; *name != '\0' && out->len - start < NAME_MOST; name++)
		if (isalnum((unsigned char)*name) ||
		    strchr("_.-", *name) != NULL)
			buf_putc(out, *name);
		else
			buf_putc(out, *name == '/' ? '.' : '_');
	if (taken)
		buf_putc(out, '_');
}

void
import_take_name(struct buf *name, struct strv *used)
{
	char *stem = xstrndup(buf_str(name), NAME_MOST);
	char end[32] = "";
	size_t i;
	int n = 1;

	do {
		buf_clear(name);
		buf_printf(
		    name, "%.*s%s", (int)(NAME_MOST - strlen(end)), stem, end);
		for (i = 0; i < used->n; i++)
			if (space_names_clash(used->v[i], buf_str(name)))
				break;
		(void)snprintf(end, sizeof end, "_%d", ++n);
	} while (i < used->n);
	strv_add(used, xstrdup(buf_str(name)));
	free(stem);
}

bool
import_is_nested(const struct json *j)
{
	return j != NULL &&
	       (json_type(j) == JSON_ARRAY || json_type(j) == JSON_OBJECT);
}

void
import_nested_note(
    struct import *im, const char *name, const struct json *value)
{
	buf_printf(im->to.notes,
	    "%s: a value that is a list or an object: HPOTUNE_PARAMS and "
	    "{params_file} have it as JSON, an argument has its text: %.200s\n",
	    name, json_spaced(value));
}

bool
import_is_earlier(const struct json *list, const struct json *j)
{
	const struct json *k;
	double x, y;

	for (k = json_first(list); k != j; k = json_next(k))
		if (json_same(k, j) ||
		    (json_number(k, &x) && json_number(j, &y) && x == y))
			return true;
	return false;
}

void
import_twice_note(struct import *im, const char *name)
{
	buf_printf(im->to.notes,
	    "%s: a value that is there twice is one choice here, not a more "
	    "likely one\n",
	    name);
}

void
import_gpus_note(struct import *im, int64_t n)
{
	buf_printf(im->to.notes,
	    "trial.gpus: each trial had %lld: add \"gpus\": %lld on a machine "
	    "that has GPUs\n",
	    (long long)n, (long long)n);
}

static void
import_study_members_put(
    struct json_writer *w, const char *above, const struct json *object)
{
	struct buf name = { 0 };
	const struct json *j;

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		buf_clear(&name);
		if (above != NULL)
			buf_printf(&name, "%s.", above);
		buf_puts(&name, json_key(j));
		if (json_type(j) == JSON_OBJECT && json_count(j) > 0)
			import_study_members_put(w, buf_str(&name), j);
		else
			json_write(json_writer_value(w, buf_str(&name)), j);
	}
	buf_free(&name);
}

void
import_put_flat(struct buf *out, const struct json *object)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	import_study_members_put(&w, NULL, object);
	json_writer_end(&w);
}
