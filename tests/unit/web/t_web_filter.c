/*
 * Filters: the SQL that results, that nothing else can result, every error.
 * Columns stand for themselves, in brackets.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/web/web-filter.h"
#include "tests/support/tap.h"

static const struct web_filter_column columns[] = { { "trial", "[trial]" },
	{ "state", "[state]" }, { "lr", "[lr]" }, { "batch size", "[batch]" },
	{ "it's", "[its]" }, { "not", "[not]" }, { "a.b/c-d", "[abcd]" },
	{ "gr\xc3\xb6\xc3\x9f"
	  "e",
	    "[size]" },
	{ NULL, NULL } };

static void
test_good(void)
{
	static const struct {
		const char *filter, *sql;
	} rows[] = {
		{ "trial = 1", "(([trial] = 1))" },
		{ "trial == 1", "(([trial] = 1))" },
		{ "trial != 1", "(([trial] IS NOT 1))" },
		{ "trial <> 1", "(([trial] IS NOT 1))" },
		{ "trial<1", "(([trial] < 1))" },
		{ "trial <= 1", "(([trial] <= 1))" },
		{ "trial > 1", "(([trial] > 1))" },
		{ "trial>=1", "(([trial] >= 1))" },
		{ " \t\r\ntrial\n=\t1 ", "(([trial] = 1))" },
		{ "lr < 1e-3", "(([lr] < 0.001))" },
		{ "lr < -.5", "(([lr] < -0.5))" },
		{ "lr = +2", "(([lr] = 2))" },
		{ "lr = 0.1", "(([lr] = 0.10000000000000001))" },
		{ "lr = '0.1'", "(([lr] = '0.1'))" },
		{ "lr = 1e999", "(([lr] = '1e999'))" },
		{ "lr = inf", "(([lr] = 'inf'))" },
		{ "lr = nan", "(([lr] = 'nan'))" },
		{ "lr = true", "(([lr] = 1))" },
		{ "lr = false", "(([lr] = 0))" },
		{ "lr = 'true'", "(([lr] = 'true'))" },
		{ "lr = True", "(([lr] = 'True'))" },
		{ "state = stopped", "(([state] = 'stopped'))" },
		{ "state = \"a b\"", "(([state] = 'a b'))" },
		{ "state = 'a \"b\"'", "(([state] = 'a \"b\"'))" },
		{ "state = \"it's\"", "(([state] = 'it''s'))" },
		{ "state = ''", "(([state] = ''))" },
		{ "state = a.b/c-d:e+f", "(([state] = 'a.b/c-d:e+f'))" },
		{ "state ~ OP", "((instr(lower([state]), lower('OP')) > 0))" },
		{ "state ~ 1", "((instr(lower([state]), lower('1')) > 0))" },
		{ "state ~ \"%'\"",
		    "((instr(lower([state]), lower('%''')) > 0))" },
		{ "lr is none", "(([lr] IS NULL))" },
		{ "lr IS NOT None", "(([lr] IS NOT NULL))" },
		{ "lr in (1)", "(([lr] IN (1)))" },
		{ "lr In (1, x ,'y')", "(([lr] IN (1, 'x', 'y')))" },
		{ "not lr = 1", "((NOT ([lr] = 1)))" },
		{ "not not lr = 1", "((NOT (NOT ([lr] = 1))))" },
		{ "lr = 1 and trial = 2", "(([lr] = 1) AND ([trial] = 2))" },
		{ "lr = 1 OR trial = 2", "(([lr] = 1)) OR (([trial] = 2))" },
		{ "(lr = 1)", "(((([lr] = 1))))" },
		{ "\"batch size\" = 1", "(([batch] = 1))" },
		{ "\"it's\" = 1", "(([its] = 1))" },
		{ "'not' = 1", "(([not] = 1))" },
		{ "a.b/c-d = 1", "(([abcd] = 1))" },
		{ "gr\xc3\xb6\xc3\x9f"
		  "e = 1",
		    "(([size] = 1))" },
		{ "lr = trial", "(([lr] = 'trial'))" },
		{ "lr = and", "(([lr] = 'and'))" },
	};
	struct err e = ERR_INIT;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_clear(&b);
		ok(web_filter_sql(&b, rows[i].filter, columns, &e) == 0, "%zu",
		    i);
		is_str(buf_str(&b), rows[i].sql, rows[i].filter);
	}
	buf_free(&b);
}

/* "and" binds closer than "or", "not" closer than both. */
static void
test_order(void)
{
	struct err e = ERR_INIT;
	struct buf b = { 0 };

	(void)web_filter_sql(&b,
	    "not lr = 1 and lr = 2 or lr = 3 and (lr = 4 or lr = 5)", columns,
	    &e);
	is_str(buf_str(&b),
	    "((NOT ([lr] = 1)) AND ([lr] = 2)) OR (([lr] = 3) AND "
	    "((([lr] = 4)) OR (([lr] = 5))))",
	    "the order of and, or, not");
	buf_free(&b);
}

static void
test_wrong(void)
{
	static const struct {
		const char *filter, *text;
	} rows[] = {
		{ "",
		    "the filter ends where the name of a column is expected" },
		{ "lr",
		    "the filter ends where one of = != < <= > >= ~ in is is "
		    "expected" },
		{ "lr 1",
		    "'1' in the filter: expected one of = != < <= > >= ~ in "
		    "is" },
		{ "lr ! 1",
		    "'!' in the filter: expected one of = != < <= > >= ~ in "
		    "is" },
		{ "lr =", "the filter ends where a value is expected" },
		{ "lr = =", "'=' in the filter: expected a value" },
		{ "lr = (1)", "'(' in the filter: expected a value" },
		{ "lr ~", "the filter ends where a text is expected" },
		{ "lr ~ (", "'(' in the filter: expected a text" },
		{ "lr is", "the filter ends where none is expected" },
		{ "lr is 1", "'1' in the filter: expected none" },
		{ "lr is not", "the filter ends where none is expected" },
		{ "lr is not null", "'null' in the filter: expected none" },
		{ "lr in", "the filter ends where ( after in is expected" },
		{ "lr in 1", "'1' in the filter: expected ( after in" },
		{ "lr in ()", "')' in the filter: expected a value" },
		{ "lr in (1", "the filter ends where , or ) is expected" },
		{ "lr in (1 2)", "'2' in the filter: expected , or )" },
		{ "lr in (1,)", "')' in the filter: expected a value" },
		{ "lr = 1 2",
		    "'2' in the filter: expected and, or, or the end" },
		{ "lr = 1)",
		    "')' in the filter: expected and, or, or the end" },
		{ "(lr = 1",
		    "the filter ends where and, or, or ) is expected" },
		{ "(lr = 1 2)", "'2' in the filter: expected and, or, or )" },
		{ "lr = 1 and",
		    "the filter ends where the name of a column is expected" },
		{ "lr = 1 or or",
		    "'or' in the filter is no column: did you mean lr?" },
		{ "not", "the filter ends where the name of a column is "
			 "expected" },
		{ "()", "')' in the filter: expected the name of a column" },
		{ "= 1", "'=' in the filter: expected the name of a column" },
		{ "stat = 1",
		    "'stat' in the filter is no column: did you mean state?" },
		{ "LR = 1",
		    "'LR' in the filter is no column: did you mean lr?" },
		{ "zzzzzzz = 1", "'zzzzzzz' in the filter is no column" },
		{ "lr = 1; DROP TABLE t_trial",
		    "';' in the filter: expected and, or, or the end" },
		{ "lr = 1 -- x",
		    "'--' in the filter: expected and, or, or the end" },
		{ "lr = 1 /* x",
		    "'/' in the filter: expected and, or, or the end" },
		{ "lr = 'x", "'x' in the filter: expected a value" },
		{ "\"lr = 1",
		    "'lr = 1' in the filter: expected the name of a column" },
		{ "lr = [x]", "'[' in the filter: expected a value" },
		{ "lr = ?1", "'?' in the filter: expected a value" },
		{ "lr = \x01", "'\\x01' in the filter: expected a value" },
		{ "lr % 2 = 1",
		    "'%' in the filter: expected one of = != < <= > >= ~ in "
		    "is" },
		{ "lr = 1 and aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1",
		    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaa' in the filter is no column" },
	};
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = ERR_INIT;

		buf_clear(&b);
		is_int(web_filter_sql(&b, rows[i].filter, columns, &e), -1,
		    rows[i].filter);
		is_str(e.text, rows[i].text, "its sentence");
		is_int(e.kind, ERR_USAGE, "its kind");
	}
	buf_free(&b);
}

/* "((((…" and "not not not …" end; so do long ones. */
static void
test_limits(void)
{
	struct buf filter = { 0 }, b = { 0 };
	struct err e = ERR_INIT;
	int depth, deepest = 0, n;

	for (depth = 1; depth < 200; depth++) {
		buf_clear(&filter);
		buf_clear(&b);
		while ((int)filter.len < depth)
			buf_putc(&filter, '(');
		buf_puts(&filter, "lr = 1");
		while ((int)filter.len < 2 * depth + 6)
			buf_putc(&filter, ')');
		if (web_filter_sql(&b, buf_str(&filter), columns, &e) == 0)
			deepest = depth;
		else
			break;
	}
	ok(deepest >= 30 && deepest <= 50, "a bounded depth");
	is_str(e.text, "the filter has more than 40 levels", "and its error");
	buf_clear(&filter);
	while (filter.len < 400)
		buf_puts(&filter, "not ");
	buf_puts(&filter, "lr = 1");
	ok(web_filter_sql(&b, buf_str(&filter), columns, &e) == -1,
	    "the same for not");
	buf_clear(&filter);
	buf_puts(&filter, "lr = 1");
	for (n = 1; n < 50; n++)
		buf_puts(&filter, " or lr = 1");
	ok(web_filter_sql(&b, buf_str(&filter), columns, &e) == 0,
	    "50 comparisons");
	buf_puts(&filter, " or lr = 1");
	ok(web_filter_sql(&b, buf_str(&filter), columns, &e) == -1,
	    "no more of them");
	is_str(e.text, "the filter has more than 50 comparisons", "its error");
	buf_clear(&filter);
	buf_puts(&filter, "lr = 1");
	while (filter.len < 4096)
		buf_putc(&filter, ' ');
	ok(web_filter_sql(&b, buf_str(&filter), columns, &e) == 0,
	    "4096 bytes are read");
	buf_putc(&filter, ' ');
	ok(web_filter_sql(&b, buf_str(&filter), columns, &e) == -1,
	    "a filter of 4097 bytes is refused");
	is_str(e.text, "the filter is longer than 4096 bytes", "its error");
	buf_free(&filter);
	buf_free(&b);
}

/*
 * An own reader of what may result: columns in brackets, numbers, quoted
 * texts, and the words and signs of a filter, with balanced parentheses.
 */
static bool
is_harmless(const char *s)
{
	static const char *const words[] = { "[trial]", "[state]", "[lr]",
		"[batch]", "[its]", "[not]", "[abcd]", "[size]", "IS", "NOT",
		"NULL", "IN", "AND", "OR", "instr", "lower", "=", "<",
		"<=", ">", ">=", "," };
	int depth = 0;
	char *end;
	size_t i, n;

	while (*s != '\0') {
		if (*s == ' ') {
			s++;
			continue;
		}
		if (*s == '(' || *s == ')') {
			depth += *s++ == '(' ? 1 : -1;
			if (depth < 0)
				return false;
			continue;
		}
		if (*s == '\'') { /* '' inside is a quote */
			for (s++; *s != '\'' || s[1] == '\''; s++) {
				if (*s == '\0')
					return false;
				s += *s == '\'';
			}
			s++;
			continue;
		}
		if (strchr("0123456789-", *s) != NULL) {
			if (s[0] == '-' && s[1] == '-')
				return false;
			(void)strtod(s, &end);
			if (end == s)
				return false;
			s = end;
			continue;
		}
		n = strcspn(s, " (),'");
		n = n == 0 ? 1 : n;
		for (i = 0; i < sizeof words / sizeof *words; i++)
			if (strlen(words[i]) == n &&
			    memcmp(words[i], s, n) == 0)
				break;
		if (i == sizeof words / sizeof *words)
			return false;
		s += n;
	}
	return depth == 0;
}

/* Filters of random pieces. */
static void
test_random(void)
{
	static const char *const pieces[] = { "lr", "trial", "\"batch size\"",
		"'it''s'", "\"it's\"", "not", "and", "or", "is", "none", "in",
		"(", ")", ",", "=", "!=", "<", ">=", "~", "1", "-2e3", "'",
		"\"", "';--", "x", "--", "/*", ";", "\\", "\xff", "NULL",
		"0x10", "1e400" };
	enum { PIECES = sizeof pieces / sizeof *pieces, ROUNDS = 200000 };
	struct buf filter = { 0 }, b = { 0 };
	int good = 0, harmful = 0, i;
	struct rng r;
	uint64_t k, n;

	rng_init(&r, 1, 2);
	for (i = 0; i < ROUNDS; i++) {
		buf_clear(&filter);
		buf_clear(&b);
		n = 1 + rng_below(&r, 7);
		if (rng_below(&r, 2) == 0)
			buf_puts(&filter, "lr = ");
		for (k = 0; k < n; k++) {
			buf_puts(&filter, pieces[rng_below(&r, PIECES)]);
			if (rng_below(&r, 4) != 0)
				buf_putc(&filter, ' ');
		}
		if (web_filter_sql(&b, buf_str(&filter), columns, NULL) != 0)
			continue;
		good++;
		if (!is_harmless(buf_str(&b)) && harmful++ < 3)
			printf("# %s\n# %s\n", buf_str(&filter), buf_str(&b));
	}
	ok(good > 1000, "%d of the random filters are accepted", good);
	is_int(harmful, 0, "none of them results in other SQL");
	buf_free(&filter);
	buf_free(&b);
}

static void
test_text(void)
{
	struct buf b = { 0 };

	web_filter_put_text(&b, "a'b''c", 6);
	is_str(buf_str(&b), "'a''b''''c'", "quotes in a text are doubled");
	buf_clear(&b);
	web_filter_put_text(&b, "abc", 2);
	is_str(buf_str(&b), "'ab'", "no more than its length");
	buf_free(&b);
	ok(!is_harmless("1 OR random()") && !is_harmless("'a'b'") &&
		!is_harmless("(1") && !is_harmless("1 -- 2") &&
		!is_harmless("1; 2"),
	    "the reader finds other SQL");
}

int
main(void)
{
	test_good();
	test_order();
	test_wrong();
	test_limits();
	test_random();
	test_text();
	return done_testing();
}
