/*
 * Statements of readers, compiled, between two uses: those of a connection that may
 * be kept (kept.c).  Each is found by its text.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

enum { STATEMENTS_MOST = 64 };

struct statements {
	sqlite3_stmt *free[STATEMENTS_MOST]; /* the latest comes last */
	size_t n;
};

void
statements_free(struct store *s)
{
	struct statements *all = s->statements;
	size_t i;

	if (all == NULL)
		return;
	for (i = 0; i < all->n; i++)
		(void)sqlite3_finalize(all->free[i]);
	s->statements = NULL;
	free(all);
}

/* Take one out of the list. */
static sqlite3_stmt *
statements_out(struct statements *all, size_t i)
{
	sqlite3_stmt *st = all->free[i];

	all->n--;
	memmove(
	    &all->free[i], &all->free[i + 1], (all->n - i) * sizeof *all->free);
	return st;
}

sqlite3_stmt *
statements_take(struct store *s, const char *sql)
{
	struct statements *all = s->statements;
	size_t i;

	for (i = all != NULL ? all->n : 0; i-- > 0;)
		if (strcmp(sqlite3_sql(all->free[i]), sql) == 0)
			return statements_out(all, i);
	return NULL;
}

bool
statements_put(struct store *s, sqlite3_stmt *st)
{
	struct statements *all = s->statements;

	if (s->kept == NULL || sqlite3_reset(st) != SQLITE_OK)
		return false;
	if (all == NULL)
		all = s->statements = xcalloc(1, sizeof *all);
	(void)sqlite3_clear_bindings(st);
	if (all->n == STATEMENTS_MOST)
		(void)sqlite3_finalize(statements_out(all, 0));
	all->free[all->n++] = st;
	return true;
}
