/* Walks over the tokens of a line; the header has what it looks for. */

#include <string.h>

#include "trials/metric-line/metric-number.h"
#include "trials/metric-unread/unread-json.h"

enum { NAME_MAX_BYTES = 160 };

/* Where the walk is. */
struct walk {
	const char *p, *end;
	const char *name;
	struct {
		const char *key;
		size_t len;
	} path[UNREAD_JSON_DEPTH];
	int depth; /* objects that are open */
};

static int
unread_json_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool
unread_json_is_mark(char c)
{
	return c != '\0' && strchr(" _-./:@", c) != NULL;
}

bool
unread_json_same(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n && a[i] != '\0'; i++)
		if (unread_json_lower(a[i]) != unread_json_lower(b[i]) &&
		    !(unread_json_is_mark(a[i]) && unread_json_is_mark(b[i])))
			return false;
	return i == n && a[i] == '\0';
}

static void
unread_json_skip_blanks(struct walk *w)
{
	while (
	    w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\r'))
		w->p++;
}

/* A string after its opening quote; false: it does not end. */
static bool
unread_json_string(struct walk *w, const char **text, size_t *len)
{
	const char *start = w->p;

	for (; w->p < w->end && *w->p != '"'; w->p++)
		if (*w->p == '\\' && w->p + 1 < w->end)
			w->p++;
	if (w->p >= w->end)
		return false;
	*text = start;
	*len = (size_t)(w->p++ - start);
	return true;
}

/* The names of all open objects and this one, joined. */
static bool
unread_json_joined(const struct walk *w)
{
	char all[NAME_MAX_BYTES];
	size_t n = 0;
	int i;

	for (i = 0; i < w->depth; i++) {
		if (n + w->path[i].len + 1 >= sizeof all)
			return false;
		if (i > 0)
			all[n++] = '/';
		/* An array, or a member before its name, has none. */
		if (w->path[i].len > 0)
			memcpy(all + n, w->path[i].key, w->path[i].len);
		n += w->path[i].len;
	}
	return unread_json_same(w->name, all, n);
}

static bool
unread_json_is_named(const struct walk *w)
{
	const char *key = w->path[w->depth - 1].key;
	size_t n = w->path[w->depth - 1].len;

	if (strlen(w->name) == n && memcmp(w->name, key, n) == 0)
		return true;
	return w->depth > 1 && unread_json_joined(w);
}

/* A value that is no object and no array. */
static bool
unread_json_scalar(struct walk *w, struct unread_json *out)
{
	struct metric_number n;

	if (*w->p == '"') {
		w->p++;
		out->value = UNREAD_JSON_STRING;
		return unread_json_string(w, &out->text, &out->len);
	}
	out->text = w->p;
	while (w->p < w->end && strchr(",}] \t\r", *w->p) == NULL)
		w->p++;
	out->len = (size_t)(w->p - out->text);
	out->value = metric_number_scan(&n, out->text, w->p) == w->p
			 ? UNREAD_JSON_NUMBER
			 : UNREAD_JSON_WORD;
	return out->len > 0;
}

/* After the name of a member: true when it is the one. */
static bool
unread_json_member(struct walk *w, struct unread_json *out, bool *good)
{
	unread_json_skip_blanks(w);
	if (w->p == w->end || *w->p != ':')
		return false; /* a text of an array */
	w->p++;
	unread_json_skip_blanks(w);
	if (w->p == w->end || *w->p == '{' || *w->p == '[')
		return false;
	*good = unread_json_scalar(w, out);
	if (!*good || !unread_json_is_named(w))
		return false;
	out->depth = w->depth;
	if (w->depth > 1) {
		out->inside = w->path[w->depth - 2].key;
		out->inside_len = w->path[w->depth - 2].len;
	}
	return true;
}

bool
unread_json_find(
    struct unread_json *out, const char *name, const char *p, size_t len)
{
	struct walk w = { .p = p, .end = p + len, .name = name };
	bool good = true;

	*out = (struct unread_json){ 0 };
	while (good && w.p < w.end) {
		switch (*w.p++) {
		case '{':
			good = w.depth < UNREAD_JSON_DEPTH;
			if (good)
				w.path[w.depth++].len = 0;
			break;
		case '}':
			good = --w.depth > 0;
			break;
		case '"':
			if (w.depth == 0)
				return false;
			good = unread_json_string(&w, &w.path[w.depth - 1].key,
			    &w.path[w.depth - 1].len);
			if (good && unread_json_member(&w, out, &good))
				return true;
			break;
		}
	}
	return false;
}
