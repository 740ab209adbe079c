/*
 * Where in the text something is wrong, in the words a user reads: line,
 * column, path, and the key that was probably meant.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json-tree.h"
#include "src/base/mem.h"

enum {
	FILE_SHOWN = 120, /* bytes of a file's name in an error */
	KEY_SHOWN = 70, /* bytes of one key in a path */
	WORD_MAX = 63 /* bytes of a word that is compared */
};

/* Lines and columns count from 1; a column is a character, a tab is one. */
static void
position(const struct json_doc *doc, size_t at, size_t *line, size_t *column)
{
	size_t i;

	*line = *column = 1;
	for (i = 0; i < at && i < doc->len; i++) {
		unsigned char c = (unsigned char)doc->text[i];

		if (c == '\n') {
			++*line;
			*column = 1;
		} else if (c != '\r' && (c & 0xc0) != 0x80) {
			++*column;
		}
	}
}

static bool
key_plain(const char *p, size_t n)
{
	size_t i;

	if (n == 0 || isdigit((unsigned char)p[0]))
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_' && p[i] != '-')
			return false;
	return true;
}

/* The key as the text has it: .key, or ["odd key"]. */
static void
path_put_key(struct buf *b, const struct json *j)
{
	const char *raw = j->doc->text + j->key_at;
	size_t n = j->key_end - j->key_at, cut;

	if (n < KEY_SHOWN && key_plain(raw + 1, n - 2)) {
		if (b->len > 0)
			buf_putc(b, '.');
		buf_add(b, raw + 1, n - 2);
		return;
	}
	cut = n < KEY_SHOWN ? n : KEY_SHOWN;
	while (cut < n && ((unsigned char)raw[cut] & 0xc0) == 0x80)
		cut--;
	buf_putc(b, '[');
	buf_add(b, raw, cut);
	buf_puts(b, cut < n ? "...\"]" : "]");
}

static void
path_put(struct buf *b, const struct json_doc *doc, uint32_t node)
{
	uint32_t up[JSON_DEPTH_MAX + 1], n = 0;

	for (; node != 0 && n < JSON_DEPTH_MAX + 1;
	     node = doc->nodes[node].parent)
		up[n++] = node;
	while (n-- > 0) {
		const struct json *j = &doc->nodes[up[n]];

		if (j->key_end > 0)
			path_put_key(b, j);
		else
			buf_printf(b, "[%u]", (unsigned)j->place);
	}
}

/* Nothing that a terminal obeys, and no half character at the end. */
static void
text_tame(char *text, size_t cap)
{
	unsigned char *p = (unsigned char *)text;
	size_t n = strlen(text);

	for (; *p != '\0'; p++)
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	if (n + 1 < cap)
		return;
	while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n > 0 && (unsigned char)text[n - 1] >= 0xc0)
		n--;
	text[n] = '\0';
}

int
json_vfail(const struct json_doc *doc, size_t at, uint32_t node, struct err *e,
    const char *fmt, va_list ap)
{
	struct buf b = { 0 }, path = { 0 };
	char text[sizeof e->text];
	const char *file = doc->file;
	size_t line, column;

	if (e == NULL)
		return -1;
	position(doc, at, &line, &column);
	if (file != NULL && strlen(file) > FILE_SHOWN)
		buf_printf(&b, "...%s:", file + strlen(file) - FILE_SHOWN);
	else if (file != NULL)
		buf_printf(&b, "%s:", file);
	path_put(&path, doc, node);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	buf_printf(&b, "%zu:%zu: %s%s%s", line, column, buf_str(&path),
	    path.len > 0 ? ": " : "", text);
	err_set(e, ERR_USAGE, "%s", buf_str(&b));
	text_tame(e->text, sizeof e->text);
	buf_free(&path);
	buf_free(&b);
	return -1;
}

int
json_fail(const struct json_doc *doc, size_t at, uint32_t node, struct err *e,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)json_vfail(doc, at, node, e, fmt, ap);
	va_end(ap);
	return -1;
}

static uint32_t
node_index(const struct json *j)
{
	return (uint32_t)(j - j->doc->nodes);
}

int
json_err(const struct json *j, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (j != NULL)
		(void)json_vfail(j->doc, j->at, node_index(j), e, fmt, ap);
	else if (e != NULL) {
		e->kind = ERR_USAGE;
		(void)vsnprintf(e->text, sizeof e->text, fmt, ap);
	}
	va_end(ap);
	return -1;
}

int
json_err_key(const struct json *j, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)json_vfail(j->doc, j->key_end > 0 ? j->key_at : j->at,
	    node_index(j), e, fmt, ap);
	va_end(ap);
	return -1;
}

/*
 * Edit distance with swaps of neighbours (optimal string alignment), letters
 * without case.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1], *r = rows[0], *r1 = rows[1],
				      *r2 = rows[2], *t;
	size_t la = strlen(a), lb = strlen(b), i, j;

	for (j = 0; j <= lb; j++)
		r1[j] = j;
	for (i = 1; i <= la; i++) {
		r[0] = i;
		for (j = 1; j <= lb; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);
			size_t best = r1[j - 1] + (x != y);

			if (r1[j] + 1 < best)
				best = r1[j] + 1;
			if (r[j - 1] + 1 < best)
				best = r[j - 1] + 1;
			if (i > 1 && j > 1 &&
			    x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) &&
			    r2[j - 2] + 1 < best)
				best = r2[j - 2] + 1;
			r[j] = best;
		}
		t = r2;
		r2 = r1;
		r1 = r;
		r = t;
	}
	return r1[lb];
}

/* Is one the beginning of the other, three letters or more? */
static bool
begins(const char *a, const char *b)
{
	size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

	return n >= 3 && strncasecmp(a, b, n) == 0;
}

const char *
json_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	size_t d, d_best, n = strlen(word);

	if (n == 0 || n > WORD_MAX)
		return NULL;
	d_best = (n + 2) / 3 + 1;
	for (; *words != NULL; words++) {
		if (strlen(*words) > WORD_MAX)
			continue;
		d = begins(word, *words) ? 1 : distance(word, *words);
		if (d < d_best && d < strlen(*words)) {
			d_best = d;
			best = *words;
		}
	}
	return best;
}

/* "; did you mean …?" or "; known: …", as much as an error can hold. */
void
json_put_hint(struct buf *b, const char *word, const char *const *words)
{
	const char *near = json_nearest(word, words);

	if (near != NULL) {
		buf_printf(b, "; did you mean \"%s\"?", near);
		return;
	}
	if (*words == NULL)
		return;
	buf_puts(b, "; known:");
	for (; *words != NULL && b->len < 250; words++)
		buf_printf(b, " %s%s", *words, words[1] != NULL ? "," : "");
	if (*words != NULL)
		buf_puts(b, " ...");
}

int
json_only(const struct json *object, const char *const *known, struct err *e)
{
	struct buf hint = { 0 };
	const struct json *j;
	size_t i;

	if (json_want(object, JSON_OBJECT, e) != 0)
		return -1;
	for (j = json_first(object); j != NULL; j = json_next(j)) {
		for (i = 0; known[i] != NULL; i++)
			if (strcmp(known[i], j->key) == 0)
				break;
		if (known[i] != NULL)
			continue;
		json_put_hint(&hint, j->key, known);
		json_err_key(j, e, "unknown key%s", buf_str(&hint));
		buf_free(&hint);
		return -1;
	}
	return 0;
}
