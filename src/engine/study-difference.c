/* What may never change between two starts: the first key that differs. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/study-difference.h"
#include "src/model/study/study.h"

enum { SHOWN_MOST = 60 }; /* columns of a value in the error */

/* One side: the fixed part, and the file that it was read from. */
struct side {
	const struct json *fixed, *file; /* NULL = not given there */
};

bool
study_difference_is_object(const struct json *j)
{
	return j != NULL && json_type(j) == JSON_OBJECT;
}

static const struct json *
member(const struct json *j, const char *key)
{
	return json_get(j, key);
}

/* Keys of the fixed part that the next sections look at. */
static bool
may_change(const char *key)
{
	static const char *const keys[] = { "parameters", "strategy", "seed",
		"target", NULL };
	size_t i;

	for (i = 0; keys[i] != NULL; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The first key in which two objects differ and may not, or NULL. */
static const char *
differing_key(const struct json *a, const struct json *b)
{
	const struct json *m, *other;

	for (m = json_first(a); m != NULL; m = json_next(m)) {
		other = json_get(b, json_key(m));
		if (may_change(json_key(m)) ||
		    (other != NULL && json_same(other, m)))
			continue;
		if (!study_difference_is_object(m) ||
		    !study_difference_is_object(other) ||
		    differing_key(m, other) != NULL)
			return json_key(m);
	}
	/* To be confirmed a study gets its parameter at any time. */
	for (m = json_first(b); m != NULL; m = json_next(m))
		if (!may_change(json_key(m)) &&
		    strcmp(json_key(m), "confirm") != 0 &&
		    json_get(a, json_key(m)) == NULL)
			return json_key(m);
	return NULL;
}

static struct side
side_member(const struct side *s, const char *key)
{
	return (struct side){ .fixed = member(s->fixed, key),
		.file = member(s->file, key) };
}

/* As written in the file; in canonical form where the file's differs. */
static void
study_difference_side_put(struct buf *out, const struct side *s)
{
	const struct json *j = s->file;
	struct buf text = { 0 };
	size_t n;

	if (j == NULL) {
		buf_puts(out, "not given");
		return;
	}
	if (study_difference_is_object(j) && s->fixed != NULL &&
	    !study_difference_is_object(s->fixed))
		j = s->fixed;
	json_write(&text, j);
	n = text_fit(buf_str(&text), SHOWN_MOST);
	buf_add(out, buf_str(&text), n);
	if (n < text.len)
		buf_puts(out, "...");
	buf_free(&text);
}

/*
 * Append "parameters.lr.max: 0.1 in the study's database, 0.2 in study.json".
 */
static void
difference_text(struct buf *out, struct side old, struct side now)
{
	const char *key = differing_key(old.fixed, now.fixed);
	const char *parent = "";

	while (key != NULL) {
		buf_printf(out, "%s%s", parent, key);
		parent = ".";
		old = side_member(&old, key);
		now = side_member(&now, key);
		key = NULL;
		if (study_difference_is_object(old.fixed) &&
		    study_difference_is_object(now.fixed) &&
		    study_difference_is_object(old.file) &&
		    study_difference_is_object(now.file))
			key = differing_key(old.fixed, now.fixed);
	}
	buf_puts(out, ": ");
	study_difference_side_put(out, &old);
	buf_puts(out, " in the study's database, ");
	study_difference_side_put(out, &now);
	buf_puts(out, " in study.json");
}

int
study_difference_check(const char *fixed, const char *json,
    const struct study *study, struct err *e)
{
	struct json_doc *old = NULL, *file = NULL, *now = NULL;
	struct buf text = { 0 }, mine = { 0 };
	int rc;

	study_put_fixed(&mine, study);
	if (strcmp(fixed, buf_str(&mine)) == 0) {
		buf_free(&mine);
		return 0;
	}
	rc = json_parse(&old, fixed, strlen(fixed), NULL, false, e);
	if (rc == 0)
		rc = json_parse(&file, json, strlen(json), NULL, false, e);
	if (rc == 0)
		rc = json_parse(&now, mine.data, mine.len, NULL, false, e);
	if (rc == 0 && differing_key(json_root(old), json_root(now)) != NULL) {
		difference_text(&text,
		    (struct side){ json_root(old), json_root(file) },
		    (struct side){ json_root(now), json_root(study->doc) });
		rc = err_set(e, ERR_USAGE,
		    "%s: %s: it may not change once there are trials: "
		    "restore the old value, or give the changed study "
		    "another name",
		    study->path, buf_str(&text));
	} else if (rc != 0)
		(void)err_add(e, "%s.db: the study", study->name);
	json_free(old);
	json_free(file);
	json_free(now);
	buf_free(&text);
	buf_free(&mine);
	return rc;
}
