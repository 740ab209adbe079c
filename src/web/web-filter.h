/*
 * The filter of a table of trials, in words:
 *	lr < 0.01 and (state = stopped or not optimizer in (sgd, adam))
 * It becomes an SQL expression.  Numbers and texts of the filter are written as
 * literals, names only where they are columns, so that no other SQL can result.
 */

#ifndef HPOTUNE_WEB_FILTER_H
#define HPOTUNE_WEB_FILTER_H

#include <stddef.h>

struct buf;
struct err;

/* What a filter may name; name NULL closes a list. */
struct web_filter_column {
	const char *name;
	const char *sql; /* an expression */
};

/*
 * Append the expression.  ERR_USAGE: what is wrong, and where; out is then
 * incomplete.  Comparisons: = != < <= > >= and ~ (contains); NAME is none, NAME
 * is not none; NAME in (A, B); and, or, not, parentheses.
 */
int web_filter_sql(struct buf *out, const char *filter,
    const struct web_filter_column *, struct err *);
/* Append a text as an SQL literal. */
void web_filter_put_text(struct buf *, const char *text, size_t len);

#endif /* HPOTUNE_WEB_FILTER_H */
