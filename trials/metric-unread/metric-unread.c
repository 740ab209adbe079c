/* Looks at lines for one metric; the header has what it can find. */

#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/metric-unread/metric-unread.h"
#include "trials/metric-unread/unread-json.h"

#define TAG "hpotune:"

enum { PARTS_MAX = 64 }; /* of a line with carriage returns */

void
metric_unread_begin(struct metric_unread *u, const char *metric,
    const struct metric_patterns *patterns)
{
	u->metric = metric;
	u->patterns = patterns;
	u->has_pattern = metric_patterns_has(patterns, metric);
	u->part = false;
	u->kind = METRIC_UNREAD_NOTHING;
	u->seen[0] = '\0';
	u->why[0] = '\0';
}

/* Keep the finding with this text, unless a better one is known. */
static void
metric_unread_keep(struct metric_unread *u, enum metric_unread_kind kind,
    const char *text, size_t len)
{
	struct buf seen = { 0 };

	if (kind <= u->kind)
		return;
	while (len > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	text_put_harmless(&seen, text,
	    len < METRIC_UNREAD_SEEN ? len : METRIC_UNREAD_SEEN, TEXT_LINE);
	text_cut(u->seen, sizeof u->seen, buf_str(&seen));
	buf_free(&seen);
	u->kind = kind;
}

static bool
metric_unread_is_word(char c)
{
	return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10 ||
	       c == '_';
}

/* The name as a word of the text, or NULL. */
static const char *
metric_unread_name(const struct metric_unread *u, const char *text, size_t len)
{
	size_t n = strlen(u->metric);
	const char *p = text, *end = text + len, *at;

	while ((at = memmem(p, (size_t)(end - p), u->metric, n)) != NULL) {
		if ((at == text || !metric_unread_is_word(at[-1])) &&
		    (at + n == end || !metric_unread_is_word(at[n])))
			return at;
		p = at + 1;
	}
	return NULL;
}

static bool
metric_unread_was_read(
    const struct metric_unread *u, const struct metric_line *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, u->metric) == 0)
			return true;
	return false;
}

/* What its pattern makes of each text of the line; true: something. */
static bool
metric_unread_pattern(struct metric_unread *u, const char *line, size_t len)
{
	const char *text;
	size_t n, i;

	for (i = 0; i < PARTS_MAX; i++) {
		len = metric_line_part(&u->scratch, line, len);
		switch (metric_patterns_look(
		    u->patterns, u->metric, &u->scratch, &text, &n)) {
		case METRIC_LOOK_TEXT:
			metric_unread_keep(u, METRIC_UNREAD_MATCHED, text, n);
			return true;
		case METRIC_LOOK_PART:
			metric_unread_keep(u, METRIC_UNREAD_PART, text, n);
			return true;
		case METRIC_LOOK_NO_GROUP:
			metric_unread_keep(u, METRIC_UNREAD_NO_GROUP,
			    u->scratch.p, u->scratch.len);
			return true;
		case METRIC_LOOK_SLOW:
			metric_unread_keep(u, METRIC_UNREAD_SLOW, u->scratch.p,
			    u->scratch.len);
			return true;
		case METRIC_LOOK_NONE:
		case METRIC_LOOK_NUMBER:
			break;
		}
		if (len == 0)
			break;
	}
	return false;
}

/* The outermost object of the line; false: it has none. */
static bool
metric_unread_json(struct metric_unread *u, const char *line, size_t len)
{
	const char *p = memchr(line, '{', len), *q;
	struct unread_json found;
	struct buf text = { 0 };
	bool begins = true;

	if (p == NULL ||
	    !unread_json_find(&found, u->metric, p, len - (size_t)(p - line)))
		return false;
	for (q = line; q < p; q++)
		begins &= *q == ' ' || *q == '\t';
	if (!begins && found.value == UNREAD_JSON_NUMBER)
		metric_unread_keep(u, METRIC_UNREAD_PREFIX, line, len);
	else if (found.depth > 1)
		metric_unread_keep(
		    u, METRIC_UNREAD_NESTED, found.inside, found.inside_len);
	else if (found.value == UNREAD_JSON_NUMBER)
		metric_unread_keep(u,
		    metric_patterns_objects(u->patterns) ? METRIC_UNREAD_BROKEN
							 : METRIC_UNREAD_JSON,
		    line, len);
	else {
		buf_puts(&text,
		    found.value == UNREAD_JSON_STRING ? "the text \"" : "");
		buf_add(&text, found.text, found.len);
		buf_puts(&text, found.value == UNREAD_JSON_STRING ? "\"" : "");
		metric_unread_keep(
		    u, METRIC_UNREAD_TEXT, buf_str(&text), text.len);
	}
	buf_free(&text);
	return true;
}

/* "NAME=" behind a tag that does not begin the line. */
static bool
metric_unread_prefix(struct metric_unread *u, const char *line, size_t len)
{
	const char *tag = memmem(line, len, TAG, sizeof TAG - 1), *at, *p;
	bool behind = false;

	for (p = line; tag != NULL && p < tag; p++)
		behind = *p != '\r' && (behind || (*p != ' ' && *p != '\t'));
	if (!behind)
		return false;
	at = metric_unread_name(u, tag, len - (size_t)(tag - line));
	if (at == NULL || at + strlen(u->metric) == line + len ||
	    at[strlen(u->metric)] != '=')
		return false;
	metric_unread_keep(u, METRIC_UNREAD_PREFIX, line, len);
	return true;
}

/* The name in a line that nothing was read of. */
static void
metric_unread_words(struct metric_unread *u, const char *line, size_t len)
{
	char regex[160];

	if (metric_guess(
		u->metric, line, len, regex, sizeof regex, &u->scratch)) {
		metric_unread_keep(
		    u, METRIC_UNREAD_GUESS, u->scratch.p, u->scratch.len);
		return;
	}
	if (metric_unread_name(u, line, len) == NULL)
		return;
	(void)metric_line_part(&u->scratch, line, len);
	if (len > METRIC_PART_MAX &&
	    metric_unread_name(u, u->scratch.p, u->scratch.len) == NULL) {
		metric_unread_keep(u, METRIC_UNREAD_CUT, line, len);
		return;
	}
	if (metric_unread_name(u, u->scratch.p, u->scratch.len) != NULL)
		metric_unread_keep(
		    u, METRIC_UNREAD_WORDS, u->scratch.p, u->scratch.len);
}

/* The name in a line with zero bytes, between which UTF-16 writes it. */
static void
metric_unread_binary(struct metric_unread *u, const char *line, size_t len)
{
	char *text = u->scratch.room;
	size_t i, n = 0;

	for (i = 0; i < len && n < sizeof u->scratch.room; i++)
		if (line[i] != '\0')
			text[n++] = line[i];
	if (metric_unread_name(u, text, n) != NULL)
		metric_unread_keep(u, METRIC_UNREAD_BINARY, text, n);
}

void
metric_unread_line(struct metric_unread *u, bool json,
    const struct metric_line *read, const char *line, size_t len)
{
	if (len > METRIC_LINE_MAX) {
		metric_unread_long(u, line, len);
		return;
	}
	if (memchr(line, '\0', len) != NULL) {
		metric_unread_binary(u, line, len);
		return;
	}
	if (metric_unread_was_read(u, read))
		return;
	if (!json && u->has_pattern && metric_unread_pattern(u, line, len))
		return;
	if (read->n == 0 && read->why != NULL) {
		if (metric_unread_name(u, line, len) == NULL)
			return;
		if (u->kind < METRIC_UNREAD_REFUSED)
			text_cut(u->why, sizeof u->why, read->why);
		metric_unread_keep(u, METRIC_UNREAD_REFUSED, line, len);
		return;
	}
	if (!metric_unread_json(u, line, len) &&
	    (read->n > 0 || !metric_unread_prefix(u, line, len)) &&
	    read->n == 0)
		metric_unread_words(u, line, len);
}

void
metric_unread_long(struct metric_unread *u, const char *head, size_t len)
{
	if (metric_unread_name(u, head, len) != NULL)
		metric_unread_keep(u, METRIC_UNREAD_LONG, head, len);
}

/* The texts behind the name of the metric; %s is what was seen. */
static const char *const after_name[] = {
	[METRIC_UNREAD_WORDS] = " stands in the line \"%s\" without a number "
				"behind it",
	[METRIC_UNREAD_GUESS] = " stands in the line \"%s\", which nothing "
				"reads (hpotune try suggests a pattern)",
	[METRIC_UNREAD_LONG] = " stands in a line that is too long and was "
			       "skipped, \"%s\"",
	[METRIC_UNREAD_BINARY] = " stands in a line with a zero byte, which is "
				 "taken for binary output or UTF-16, \"%s\"",
	[METRIC_UNREAD_CUT] = " stands behind the first 4096 bytes of a line, "
			      "and no more are matched, \"%s\"",
	[METRIC_UNREAD_PREFIX] = " stands behind other text in the line "
				 "\"%s\", and a report begins its line",
	[METRIC_UNREAD_JSON] = " stands in a line of JSON, \"%s\", which "
			       "trial.reads \"json\" would read",
	[METRIC_UNREAD_BROKEN] = " stands in the line \"%s\", which begins as "
				 "JSON and is no whole object",
	[METRIC_UNREAD_NESTED] = " stands in a line of JSON, inside \"%s\" and "
				 "not at the top level",
	[METRIC_UNREAD_TEXT] = " stands in a line of JSON with %s, which is "
			       "not a number",
};
/* Behind the name of its pattern. */
static const char *const after_pattern[] = {
	[METRIC_UNREAD_SLOW] = " took too long on the line \"%s\"",
	[METRIC_UNREAD_NO_GROUP] = " matched the line \"%s\", and its group "
				   "matched nothing there",
	[METRIC_UNREAD_PART] = " has in its group only a part of the number "
			       "\"%s\"",
	[METRIC_UNREAD_MATCHED] = " matched, but the text of its group, "
				  "\"%s\", is not a number",
};

static void
metric_unread_put_pattern(
    const struct metric_unread *u, bool named, struct buf *out)
{
	if (named)
		buf_printf(
		    out, "the pattern of %s in trial.metrics", u->metric);
	else
		buf_puts(out, "its pattern in trial.metrics");
}

/* The text with what was seen in place of its %s. */
static void
metric_unread_put_text(
    const struct metric_unread *u, const char *text, struct buf *out)
{
	const char *at = strstr(text, "%s");

	buf_add(out, text, (size_t)(at - text));
	buf_puts(out, u->seen);
	buf_puts(out, at + 2);
}

bool
metric_unread_put(const struct metric_unread *u, bool named, struct buf *out)
{
	if (u->kind == METRIC_UNREAD_REFUSED) {
		buf_printf(
		    out, "the line \"%s\" was not read: %s", u->seen, u->why);
		return true;
	}
	if (u->has_pattern)
		metric_unread_put_pattern(u, named, out);
	if (u->kind > METRIC_UNREAD_REFUSED) {
		metric_unread_put_text(u, after_pattern[u->kind], out);
		return true;
	}
	if (u->has_pattern)
		buf_puts(
		    out, u->part ? " has read nothing" : " matched no line");
	if (u->kind == METRIC_UNREAD_NOTHING)
		return u->has_pattern;
	if (u->has_pattern)
		buf_puts(out, "; ");
	buf_puts(out, named ? u->metric : "it");
	metric_unread_put_text(u, after_name[u->kind], out);
	return true;
}
