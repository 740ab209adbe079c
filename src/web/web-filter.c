/* Translates a filter to SQL: words, then a descent over the grammar. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/base/words.h"
#include "src/web/web-filter.h"

/* Each comparison costs time for each trial, and other pages wait. */
enum { COMPARISONS = 50, DEPTH = 40, LENGTH = 4096, COLUMNS = 256 };

struct filter {
	struct buf *out;
	const struct web_filter_column *columns;
	struct words words;
	int depth, comparisons;
	struct err *e;
};

static bool
web_filter_word_take(struct filter *f, const char *word)
{
	return words_take(&f->words, word);
}

static int
web_filter_expected(struct filter *f, const char *what)
{
	if (f->words.kind == WORD_END)
		return err_set(f->e, ERR_USAGE,
		    "the filter ends where %s is expected", what);
	return err_set(f->e, ERR_USAGE, "'%.*s' in the filter: expected %s",
	    (int)(f->words.len > 60 ? 60 : f->words.len), f->words.word, what);
}

void
web_filter_put_text(struct buf *out, const char *text, size_t len)
{
	size_t i;

	buf_putc(out, '\'');
	for (i = 0; i < len; i++) {
		if (text[i] == '\'')
			buf_putc(out, '\'');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '\'');
}

static int
web_filter_column_unknown(struct filter *f)
{
	const char *names[COLUMNS], *near = NULL;
	char *word = xstrndup(f->words.word, f->words.len);
	size_t i;

	for (i = 0; i < COLUMNS - 1 && f->columns[i].name != NULL; i++) {
		names[i] = f->columns[i].name;
		if (near == NULL && strcasecmp(word, names[i]) == 0)
			near = names[i];
	}
	names[i] = NULL;
	if (near == NULL)
		near = text_nearest(word, names);
	(void)err_set(f->e, ERR_USAGE,
	    near != NULL
		? "'%.60s' in the filter is no column: did you mean %s?"
		: "'%.60s' in the filter is no column%s",
	    word, near != NULL ? near : "");
	free(word);
	return -1;
}

/* The expression of the column that the word names. */
static int
web_filter_column_take(struct filter *f, const char **sql)
{
	size_t i;

	if (f->words.kind != WORD_NAME && f->words.kind != WORD_TEXT)
		return web_filter_expected(f, "the name of a column");
	for (i = 0; f->columns[i].name != NULL; i++)
		if (strlen(f->columns[i].name) == f->words.len &&
		    strncmp(f->columns[i].name, f->words.word, f->words.len) ==
			0) {
			*sql = f->columns[i].sql;
			words_next(&f->words);
			return 0;
		}
	return web_filter_column_unknown(f);
}

/* A number or a text as a literal; a number only when it is not quoted. */
static int
web_filter_value_put(struct filter *f)
{
	char text[64], *end;
	double number;

	if (f->words.kind != WORD_NAME && f->words.kind != WORD_TEXT)
		return web_filter_expected(f, "a value");
	if (f->words.kind == WORD_NAME && f->words.len < sizeof text) {
		memcpy(text, f->words.word, f->words.len);
		text[f->words.len] = '\0';
		number = strtod(text, &end);
		if (*end == '\0' && isfinite(number)) {
			buf_printf(f->out, "%.17g", number);
			words_next(&f->words);
			return 0;
		}
		/* JSON's true and false are 1 and 0 in SQL. */
		if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
			buf_putc(f->out, text[0] == 't' ? '1' : '0');
			words_next(&f->words);
			return 0;
		}
	}
	web_filter_put_text(f->out, f->words.word, f->words.len);
	words_next(&f->words);
	return 0;
}

static int
web_filter_list_put(struct filter *f)
{
	if (!web_filter_word_take(f, "("))
		return web_filter_expected(f, "( after in");
	buf_puts(f->out, " IN (");
	for (;;) {
		if (web_filter_value_put(f) != 0)
			return -1;
		if (!web_filter_word_take(f, ","))
			break;
		buf_puts(f->out, ", ");
	}
	if (!web_filter_word_take(f, ")"))
		return web_filter_expected(f, ", or )");
	buf_putc(f->out, ')');
	return 0;
}

/* Read what follows a column: is none, in (…), or a sign and a value. */
static int
web_filter_test_put(struct filter *f, const char *sql)
{
	static const struct {
		const char *ours, *theirs;
	} signs[] = { { "=", " = " }, { "==", " = " }, { "!=", " IS NOT " },
		{ "<>", " IS NOT " }, { "<", " < " }, { "<=", " <= " },
		{ ">", " > " }, { ">=", " >= " } };
	size_t i;

	if (web_filter_word_take(f, "is")) {
		buf_printf(f->out, "%s %s", sql,
		    web_filter_word_take(f, "not") ? "IS NOT NULL" : "IS NULL");
		return web_filter_word_take(f, "none")
			   ? 0
			   : web_filter_expected(f, "none");
	}
	if (web_filter_word_take(f, "~")) {
		buf_puts(f->out, "instr(lower(");
		buf_printf(f->out, "%s), lower(", sql);
		if (f->words.kind != WORD_NAME && f->words.kind != WORD_TEXT)
			return web_filter_expected(f, "a text");
		web_filter_put_text(f->out, f->words.word, f->words.len);
		words_next(&f->words);
		buf_puts(f->out, ")) > 0");
		return 0;
	}
	buf_puts(f->out, sql);
	if (web_filter_word_take(f, "in"))
		return web_filter_list_put(f);
	for (i = 0; i < sizeof signs / sizeof *signs; i++)
		if (web_filter_word_take(f, signs[i].ours)) {
			buf_puts(f->out, signs[i].theirs);
			return web_filter_value_put(f);
		}
	return web_filter_expected(f, "one of = != < <= > >= ~ in is");
}

static int web_filter_either_put(struct filter *);

static int
web_filter_one_put(struct filter *f)
{
	const char *sql = NULL;
	int rc;

	if (++f->depth > DEPTH)
		return err_set(f->e, ERR_USAGE,
		    "the filter has more than %d levels", DEPTH);
	buf_putc(f->out, '(');
	if (web_filter_word_take(f, "not")) {
		buf_puts(f->out, "NOT ");
		rc = web_filter_one_put(f);
	} else if (web_filter_word_take(f, "(")) {
		rc = web_filter_either_put(f);
		if (rc == 0 && !web_filter_word_take(f, ")"))
			rc = web_filter_expected(f, "and, or, or )");
	} else {
		if (++f->comparisons > COMPARISONS)
			return err_set(f->e, ERR_USAGE,
			    "the filter has more than %d comparisons",
			    COMPARISONS);
		rc = web_filter_column_take(f, &sql);
		if (rc == 0)
			rc = web_filter_test_put(f, sql);
	}
	buf_putc(f->out, ')');
	f->depth--;
	return rc;
}

static int
web_filter_both_put(struct filter *f)
{
	for (;;) {
		if (web_filter_one_put(f) != 0)
			return -1;
		if (!web_filter_word_take(f, "and"))
			return 0;
		buf_puts(f->out, " AND ");
	}
}

static int
web_filter_either_put(struct filter *f)
{
	buf_putc(f->out, '(');
	for (;;) {
		if (web_filter_both_put(f) != 0)
			return -1;
		if (!web_filter_word_take(f, "or"))
			break;
		buf_puts(f->out, ") OR (");
	}
	buf_putc(f->out, ')');
	return 0;
}

int
web_filter_sql(struct buf *out, const char *filter,
    const struct web_filter_column *columns, struct err *e)
{
	struct filter f = { .out = out,
		.columns = columns,
		.e = e,
		.words = {
		    .letters = "_-+.:/", .signs = "<>=!~(),", .at = filter } };

	if (strlen(filter) > LENGTH)
		return err_set(
		    e, ERR_USAGE, "the filter is longer than %d bytes", LENGTH);
	words_next(&f.words);
	if (web_filter_either_put(&f) != 0)
		return -1;
	if (f.words.kind != WORD_END)
		return web_filter_expected(&f, "and, or, or the end");
	return 0;
}
