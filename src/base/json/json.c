/*
 * Documents: text in, values out.  json-scan.c checks the text and finds where
 * the values are; cJSON decodes strings and numbers.  The only file that uses
 * cJSON.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-internal.h"
#include "src/base/mem.h"

enum {
	FILE_MAX = 16 << 20, /* bytes */
	PAIRS_MAX =
	    16 /* members up to which duplicate keys are searched pair by pair */
};

/* The end of a line comment or of a C comment; NULL when it has no end. */
static const char *
comment_end(const char *p)
{
	const char *end;

	if (p[1] == '/')
		return p + strcspn(p, "\n");
	end = strstr(p + 2, "*/");
	return end != NULL ? end + 2 : NULL;
}

/*
 * Blank the comments of a text; offsets, lines and columns stay the same.
 * Continuation bytes of UTF-8 become \r: white space for the parser, and not
 * counted as columns.
 */
static int
json_comments_blank(struct json_doc *doc, struct err *e)
{
	char *p = doc->text;
	const char *end;
	bool quoted = false;

	for (; *p != '\0'; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '\n')
			quoted = false;
		if (quoted || *p != '/' || (p[1] != '/' && p[1] != '*'))
			continue;
		end = comment_end(p);
		if (end == NULL)
			return json_error_at(doc, (size_t)(p - doc->text), 0, e,
			    "this comment has no end");
		for (; p < end; p++)
			if (((unsigned char)*p & 0xc0) == 0x80)
				*p = '\r';
			else if (*p != '\n')
				*p = ' ';
		p--;
	}
	return 0;
}

static int
json_node_compare(const void *a, const void *b)
{
	const struct json *x = *(const struct json *const *)a;
	const struct json *y = *(const struct json *const *)b;
	int c = strcmp(x->key, y->key);

	return c != 0 ? c : (x->key_at > y->key_at) - (x->key_at < y->key_at);
}

/* With many members: sort them and compare neighbours. */
static const struct json *
duplicate_sorted(const struct json *object, const struct json **first)
{
	const struct json **all =
	    xreallocarray(NULL, object->count, sizeof *all);
	const struct json *j, *found = NULL;
	size_t n = 0, i;

	for (j = json_first(object); j != NULL; j = json_next(j))
		all[n++] = j;
	qsort(all, n, sizeof *all, json_node_compare);
	for (i = 1; i < n; i++)
		if (strcmp(all[i - 1]->key, all[i]->key) == 0 &&
		    (found == NULL || all[i]->key_at < found->key_at)) {
			found = all[i];
			*first = all[i - 1];
		}
	free(all);
	return found;
}

/* The first member whose key occurred before, or NULL. */
static const struct json *
duplicate(const struct json *object, const struct json **first)
{
	const struct json *a, *b;

	if (object->count > PAIRS_MAX)
		return duplicate_sorted(object, first);
	for (b = json_first(object); b != NULL; b = json_next(b))
		for (a = json_first(object); a != b; a = json_next(a))
			if (strcmp(a->key, b->key) == 0) {
				*first = a;
				return b;
			}
	return NULL;
}

/* Copy into node i what cJSON decoded; both trees have the same shape. */
static int
attach(struct json_doc *doc, uint32_t i, const cJSON *item, struct err *e)
{
	struct json *j = &doc->nodes[i];
	const struct json *twice, *first = NULL;
	const cJSON *child;
	uint32_t k;

	j->string = cJSON_IsString(item) ? item->valuestring : NULL;
	j->key = item->string;
	j->number =
	    cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item);
	if (!isfinite(j->number))
		return json_error_at(
		    doc, j->at, i, e, "a number beyond what a double can hold");
	if (j->count == 0)
		return 0;
	k = i + 1;
	for (child = item->child; child != NULL; child = child->next) {
		if (attach(doc, k, child, e) != 0)
			return -1;
		k = doc->nodes[k].next;
	}
	if (j == NULL || j->type != JSON_OBJECT)
		return 0;
	twice = duplicate(j, &first);
	if (twice != NULL)
		return json_err_key(twice, e, "this key is given twice");
	return 0;
}

static int
doc_read(struct json_doc *doc, bool comments, struct err *e)
{
	if (comments && json_comments_blank(doc, e) != 0)
		return -1;
	if (json_scan(doc, e) != 0)
		return -1;
	doc->tree = cJSON_ParseWithLength(doc->text, doc->len);
	if (doc->tree == NULL)
		return json_error_at(doc, 0, 0, e, "cannot be read as JSON");
	return attach(doc, 0, doc->tree, e);
}

int
json_parse(struct json_doc **out, const char *text, size_t len,
    const char *file, bool comments, struct err *e)
{
	struct json_doc *doc;

	*out = NULL;
	if (len > FILE_MAX)
		return err_set(e, ERR_USAGE, "%s is larger than 16 MiB",
		    file != NULL ? file : "the text");
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	doc = xmalloc(sizeof *doc + len + 1);
	doc->n_nodes = 0;
	doc->nodes = doc->few;
	doc->file = file != NULL ? xstrdup(file) : NULL;
	doc->tree = NULL;
	doc->texts = NULL;
	doc->n_texts = doc->cap_texts = 0;
	doc->len = len;
	if (len > 0)
		memcpy(doc->text, text, len);
	doc->text[len] = '\0';
	if (doc_read(doc, comments, e) != 0) {
		json_free(doc);
		return -1;
	}
	*out = doc;
	return 0;
}

int
json_load_text(struct buf *out, const char *path, struct err *e)
{
	char chunk[16384];
	int fd = file_open_user(path), rc = 0;
	FILE *f = fd != -1 ? fdopen(fd, "r") : NULL;
	size_t n;

	if (f == NULL)
		return err_set(e, ERR_FILE, "%s: %s", path, file_why(errno));
	while (
	    out->len <= FILE_MAX && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	if (ferror(f))
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	(void)fclose(f);
	return rc;
}

int
json_load(struct json_doc **out, const char *path, struct err *e)
{
	struct buf b = { 0 };
	int rc;

	*out = NULL;
	rc = json_load_text(&b, path, e);
	if (rc == 0)
		rc = json_parse(out, buf_str(&b), b.len, path, true, e);
	buf_free(&b);
	return rc;
}

void
json_free(struct json_doc *doc)
{
	size_t i;

	if (doc == NULL)
		return;
	for (i = 0; i < doc->n_texts; i++)
		free(doc->texts[i]);
	free(doc->texts);
	cJSON_Delete(doc->tree);
	if (doc->nodes != doc->few)
		free(doc->nodes);
	free(doc->file);
	free(doc);
}

const struct json *
json_root(const struct json_doc *doc)
{
	return &doc->nodes[0];
}

void
json_span(const struct json *j, size_t *at, size_t *end)
{
	*at = j->at;
	*end = j->end;
}

enum json_type
json_type(const struct json *j)
{
	return j->type;
}

const char *
json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",
		[JSON_BOOL] = "a boolean",
		[JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};

	return names[type];
}

size_t
json_count(const struct json *j)
{
	return j != NULL ? j->count : 0;
}

const struct json *
json_first(const struct json *j)
{
	return j != NULL && j->count > 0 ? j + 1 : NULL;
}

const struct json *
json_next(const struct json *j)
{
	return j->next > 0 ? &j->doc->nodes[j->next] : NULL;
}

const char *
json_key(const struct json *j)
{
	return j->key;
}

const struct json *
json_get(const struct json *object, const char *key)
{
	const struct json *j;

	if (object == NULL || object->type != JSON_OBJECT)
		return NULL;
	for (j = json_first(object); j != NULL; j = json_next(j))
		if (strcmp(j->key, key) == 0)
			return j;
	return NULL;
}

bool
json_number(const struct json *j, double *out)
{
	if (j == NULL || j->type != JSON_NUMBER)
		return false;
	*out = j->number;
	return true;
}

/* An integer is parsed from its text: a double holds only 53 bits. */
bool
json_is_decimal(const struct json *j)
{
	size_t i;

	for (i = j->at; j->type == JSON_NUMBER && i < j->end; i++)
		if (strchr(".eE", j->doc->text[i]) != NULL)
			return true;
	return false;
}

bool
json_integer(const struct json *j, int64_t *out)
{
	const char *text;
	char *end;
	long long x;

	if (j == NULL || j->type != JSON_NUMBER)
		return false;
	if (fabs(j->number) < 9007199254740992.0) {
		*out = (int64_t)j->number;
		return (double)*out == j->number;
	}
	text = j->doc->text + j->at;
	errno = 0;
	x = strtoll(text, &end, 10);
	*out = x;
	return errno == 0 && end == j->doc->text + j->end;
}

bool
json_bool(const struct json *j, bool *out)
{
	if (j == NULL || j->type != JSON_BOOL)
		return false;
	*out = j->number != 0;
	return true;
}

const char *
json_string(const struct json *j)
{
	return j != NULL ? j->string : NULL;
}
