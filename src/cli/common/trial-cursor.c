/* A SELECT that waits for the trial its row belongs to. */

#include <stddef.h>

#include "src/base/err.h"
#include "src/cli/common/trial-cursor.h"
#include "src/store/store.h"

int
cursor_next(struct cursor *c, struct err *e)
{
	int rc = store_rows_next(c->rows, e);

	c->there = rc == 1;
	return rc == -1 ? -1 : 0;
}

int
cursor_open(
    struct cursor *c, struct store *store, const char *sql, struct err *e)
{
	if (store_rows_open(&c->rows, store, sql, NULL, e) == -1)
		return -1;
	return cursor_next(c, e);
}

bool
cursor_is_at(const struct cursor *c, int64_t trial)
{
	return c->there && store_rows_int(c->rows, 0) == trial;
}

void
cursor_close(struct cursor *c)
{
	store_rows_close(c->rows);
	*c = (struct cursor){ 0 };
}
