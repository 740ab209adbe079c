/* Translates a filter to SQL: words, then a descent over the grammar. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/web/web-filter.h"

/* Each comparison costs time for each trial, and other pages wait. */
enum { COMPARISONS = 50, DEPTH = 40, LENGTH = 4096, COLUMNS = 256 };

enum word_kind { WORD_END, WORD_NAME, WORD_TEXT, WORD_SIGN, WORD_BAD };

struct filter {
	struct buf *out;
	const struct web_filter_column *columns;
	const char *at; /* what follows the word */
	/* the current word; a quoted one without its quotes */
	enum word_kind kind;
	const char *word;
	size_t len;
	int depth, comparisons;
	struct err *e;
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
	       (c != '\0' && strchr("_-+.:/", c) != NULL);
}

static void
word_next(struct filter *f)
{
	const char *s = f->at + strspn(f->at, " \t\r\n"), *end;

	f->word = s;
	f->len = 1;
	if (*s == '\0') {
		f->kind = WORD_END;
		f->len = 0;
	} else if (*s == '"' || *s == '\'') {
		end = strchr(s + 1, *s);
		f->kind = end == NULL ? WORD_BAD : WORD_TEXT;
		f->word = s + 1;
		f->len = end == NULL ? strlen(s + 1) : (size_t)(end - s - 1);
		f->at = end == NULL ? s + strlen(s) : end + 1;
		return;
	} else if (strchr("<>=!~(),", *s) != NULL) {
		f->kind = WORD_SIGN;
		if (s[1] == '=' && strchr("<>=!", *s) != NULL)
			f->len = 2;
		else if (s[0] == '<' && s[1] == '>')
			f->len = 2;
	} else if (is_letter(*s)) {
		f->kind = WORD_NAME;
		while (is_letter(s[f->len]))
			f->len++;
	} else
		f->kind = WORD_BAD;
	f->at = s + f->len;
}

/* A word that is not quoted. */
static bool
word_is(const struct filter *f, const char *word)
{
	return (f->kind == WORD_NAME || f->kind == WORD_SIGN) &&
	       f->len == strlen(word) &&
	       strncasecmp(f->word, word, f->len) == 0;
}

static bool
word_take(struct filter *f, const char *word)
{
	if (!word_is(f, word))
		return false;
	word_next(f);
	return true;
}

static int
expected(struct filter *f, const char *what)
{
	if (f->kind == WORD_END)
		return err_set(f->e, ERR_USAGE,
		    "the filter ends where %s is expected", what);
	return err_set(f->e, ERR_USAGE, "'%.*s' in the filter: expected %s",
	    (int)(f->len > 60 ? 60 : f->len), f->word, what);
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
column_unknown(struct filter *f)
{
	const char *names[COLUMNS], *near = NULL;
	char *word = xstrndup(f->word, f->len);
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
column_take(struct filter *f, const char **sql)
{
	size_t i;

	if (f->kind != WORD_NAME && f->kind != WORD_TEXT)
		return expected(f, "the name of a column");
	for (i = 0; f->columns[i].name != NULL; i++)
		if (strlen(f->columns[i].name) == f->len &&
		    strncmp(f->columns[i].name, f->word, f->len) == 0) {
			*sql = f->columns[i].sql;
			word_next(f);
			return 0;
		}
	return column_unknown(f);
}

/* A number or a text as a literal; a number only when it is not quoted. */
static int
value_put(struct filter *f)
{
	char text[64], *end;
	double number;

	if (f->kind != WORD_NAME && f->kind != WORD_TEXT)
		return expected(f, "a value");
	if (f->kind == WORD_NAME && f->len < sizeof text) {
		memcpy(text, f->word, f->len);
		text[f->len] = '\0';
		number = strtod(text, &end);
		if (*end == '\0' && isfinite(number)) {
			buf_printf(f->out, "%.17g", number);
			word_next(f);
			return 0;
		}
		/* JSON's true and false are 1 and 0 in SQL. */
		if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
			buf_putc(f->out, text[0] == 't' ? '1' : '0');
			word_next(f);
			return 0;
		}
	}
	web_filter_put_text(f->out, f->word, f->len);
	word_next(f);
	return 0;
}

static int
list_put(struct filter *f)
{
	if (!word_take(f, "("))
		return expected(f, "( after in");
	buf_puts(f->out, " IN (");
	for (;;) {
		if (value_put(f) != 0)
			return -1;
		if (!word_take(f, ","))
			break;
		buf_puts(f->out, ", ");
	}
	if (!word_take(f, ")"))
		return expected(f, ", or )");
	buf_putc(f->out, ')');
	return 0;
}

/* After a column: is none, in (…), or a sign and a value. */
static int
test_put(struct filter *f, const char *sql)
{
	static const struct {
		const char *ours, *theirs;
	} signs[] = { { "=", " = " }, { "==", " = " }, { "!=", " IS NOT " },
		{ "<>", " IS NOT " }, { "<", " < " }, { "<=", " <= " },
		{ ">", " > " }, { ">=", " >= " } };
	size_t i;

	if (word_take(f, "is")) {
		buf_printf(f->out, "%s %s", sql,
		    word_take(f, "not") ? "IS NOT NULL" : "IS NULL");
		return word_take(f, "none") ? 0 : expected(f, "none");
	}
	if (word_take(f, "~")) {
		buf_puts(f->out, "instr(lower(");
		buf_printf(f->out, "%s), lower(", sql);
		if (f->kind != WORD_NAME && f->kind != WORD_TEXT)
			return expected(f, "a text");
		web_filter_put_text(f->out, f->word, f->len);
		word_next(f);
		buf_puts(f->out, ")) > 0");
		return 0;
	}
	buf_puts(f->out, sql);
	if (word_take(f, "in"))
		return list_put(f);
	for (i = 0; i < sizeof signs / sizeof *signs; i++)
		if (word_take(f, signs[i].ours)) {
			buf_puts(f->out, signs[i].theirs);
			return value_put(f);
		}
	return expected(f, "one of = != < <= > >= ~ in is");
}

static int either_put(struct filter *);

static int
one_put(struct filter *f)
{
	const char *sql = NULL;
	int rc;

	if (++f->depth > DEPTH)
		return err_set(f->e, ERR_USAGE,
		    "the filter has more than %d levels", DEPTH);
	buf_putc(f->out, '(');
	if (word_take(f, "not")) {
		buf_puts(f->out, "NOT ");
		rc = one_put(f);
	} else if (word_take(f, "(")) {
		rc = either_put(f);
		if (rc == 0 && !word_take(f, ")"))
			rc = expected(f, "and, or, or )");
	} else {
		if (++f->comparisons > COMPARISONS)
			return err_set(f->e, ERR_USAGE,
			    "the filter has more than %d comparisons",
			    COMPARISONS);
		rc = column_take(f, &sql);
		if (rc == 0)
			rc = test_put(f, sql);
	}
	buf_putc(f->out, ')');
	f->depth--;
	return rc;
}

static int
both_put(struct filter *f)
{
	for (;;) {
		if (one_put(f) != 0)
			return -1;
		if (!word_take(f, "and"))
			return 0;
		buf_puts(f->out, " AND ");
	}
}

static int
either_put(struct filter *f)
{
	buf_putc(f->out, '(');
	for (;;) {
		if (both_put(f) != 0)
			return -1;
		if (!word_take(f, "or"))
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
	struct filter f = {
		.out = out, .columns = columns, .at = filter, .e = e
	};

	if (strlen(filter) > LENGTH)
		return err_set(
		    e, ERR_USAGE, "the filter is longer than %d bytes", LENGTH);
	word_next(&f);
	if (either_put(&f) != 0)
		return -1;
	if (f.kind != WORD_END)
		return expected(&f, "and, or, or the end");
	return 0;
}
