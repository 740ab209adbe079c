/*
 * JSON lines: one object each, whose line is the step where it has none.  A file
 * that is one object written over several lines is read like a line, and the
 * objects of a list like lines.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files-internal.h"
#include "trials/metric-line/metric-piece.h"

/* What is known of a file that has been read. */
struct jsonl {
	int64_t rows; /* objects that were read */
	struct buf open; /* lines of an object that has not ended */
	bool begun; /* its first byte was seen */
	bool list; /* which is a bracket */
	bool has_lists; /* its objects have lists of numbers */
	int word; /* of the step: metric_json_step */
};

static bool
metric_jsonl_fits(const char *name)
{
	return metric_search_ends(name, ".jsonl") ||
	       metric_search_ends(name, ".ndjson");
}

static void
metric_jsonl_clear(void *state)
{
	struct jsonl *s = state;

	buf_free(&s->open);
	free(s);
}

static void
metric_jsonl_object(
    struct metric_file *f, struct jsonl *s, const char *text, size_t len)
{
	struct metric_line *r = metric_files_json(f, text, len);
	size_t i;

	s->rows++;
	if (r != NULL && f->source->step == NULL)
		metric_json_step(r, &s->word);
	s->has_lists |= r != NULL && r->has_lists;
	for (i = 0; r != NULL && i < r->n; i++)
		metric_files_report(f, r->values[i].name,
		    r->has_step ? r->step : s->rows, r->values[i].value, 0);
}

static bool
metric_jsonl_put_unread(
    const struct metric_file *f, const char *metric, struct buf *out)
{
	const struct jsonl *s = f->state;

	(void)metric;
	if (s->has_lists && f->noted == NULL)
		buf_puts(out, "it has lists of numbers, which are not read");
	return out->len > 0;
}

/*
 * The objects of a line: mostly one, several where a program writes no newline
 * between them.  A brace alone behind them begins an object of several lines.
 */
static void
metric_jsonl_objects(
    struct metric_file *f, struct jsonl *s, const char *p, const char *end)
{
	const char *to;

	p = metric_piece_next(p, end);
	while (
	    p < end && *p == '{' && (to = metric_piece_end(p, end)) != NULL) {
		metric_jsonl_object(f, s, p, (size_t)(to - p));
		p = metric_piece_next(to, end);
	}
	if (end - p == 1 && *p == '{')
		buf_putc(&s->open, '{');
	else if (p < end)
		metric_jsonl_object(f, s, p, (size_t)(end - p));
}

/* A line that begins with a brace ends an object of several lines. */
static void
metric_jsonl_line(struct metric_file *f, const char *line, size_t len)
{
	struct jsonl *s = f->state;
	struct buf whole;

	if (s->open.len == 0) {
		metric_jsonl_objects(f, s, line, line + len);
		return;
	}
	buf_add(&s->open, line, len);
	if (len > 0 && *line == '}') {
		whole = s->open;
		s->open = (struct buf){ 0 };
		metric_jsonl_objects(f, s, whole.data, whole.data + whole.len);
		buf_free(&whole);
	} else if (s->open.len > METRIC_LINE_MAX) {
		metric_file_note(f, "an object is too long, and was skipped");
		buf_clear(&s->open);
	}
}

/* A list of objects, and what is written behind it; returns where it has come to. */
static const char *
metric_jsonl_list(
    struct metric_file *f, struct jsonl *s, const char *p, const char *end)
{
	const char *to;

	for (;;) {
		p = metric_piece_next(p, end);
		if (p == end)
			return p;
		if (*p == '[' || *p == ']') {
			p++;
			continue;
		}
		to = metric_piece_end(p, end);
		if (to == NULL)
			break;
		if (*p == '{')
			metric_jsonl_object(f, s, p, (size_t)(to - p));
		else
			metric_file_note(
			    f, "its list has something else than objects");
		p = to > p ? to : p + 1;
	}
	if (end - p > METRIC_LINE_MAX) {
		metric_file_note(f, "an object is too long, and was skipped");
		f->over = true;
	}
	return p;
}

/*
 * Whether what has no newline yet is whole objects: a file that is written anew
 * for each report often ends without one, and some programs never write one.
 */
static bool
metric_jsonl_is_whole(
    const struct metric_file *f, const char *rest, const char *end)
{
	const struct jsonl *s = f->state;
	const char *p = rest;

	if (rest == end || f->skip)
		return false;
	if (s->open.len > 0)
		return *rest == '}' && end - rest == 1;
	if (end[-1] != '}')
		return false;
	while (p < end && *p == '{') {
		p = metric_piece_end(p, end);
		if (p == NULL)
			return false;
		p = metric_piece_next(p, end);
	}
	return p == end;
}

/* Behind the mark of UTF-8 and blanks at the start of a file. */
static const char *
metric_jsonl_start(struct jsonl *s, const char *p, const char *end)
{
	static const char mark[] = "\357\273\277";

	if (end - p >= 3 && memcmp(p, mark, 3) == 0)
		p += 3;
	p = metric_piece_next(p, end);
	s->begun = p < end;
	s->list = s->begun && *p == '[';
	return p;
}

static size_t
metric_jsonl_read(
    struct metric_file *f, const char *bytes, size_t n, bool final)
{
	const char *p = bytes, *end = bytes + n;
	struct jsonl *s = f->state;

	if (s == NULL)
		s = f->state = xcalloc(1, sizeof *s);
	if (!s->begun)
		p = metric_jsonl_start(s, p, end);
	if (s->list)
		return (size_t)(metric_jsonl_list(f, s, p, end) - bytes);
	p += metric_file_lines(
	    f, p, (size_t)(end - p), final, metric_jsonl_line);
	if (metric_jsonl_is_whole(f, p, end)) {
		metric_jsonl_line(f, p, (size_t)(end - p));
		p = end;
	}
	return (size_t)(p - bytes);
}

const struct metric_reader metric_jsonl = {
	.word = "json",
	.has_step = true,
	.has_objects = true,
	.fits = metric_jsonl_fits,
	.read = metric_jsonl_read,
	.put_unread = metric_jsonl_put_unread,
	.clear = metric_jsonl_clear,
};
