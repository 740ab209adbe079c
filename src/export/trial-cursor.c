/* A SELECT that is read in step with a list of trials. */

#include <stddef.h>

#include "src/base/err.h"
#include "src/export/trial-cursor.h"
#include "src/store/store.h"

int
trial_cursor_next(struct trial_cursor *c, struct err *e)
{
	int rc = store_rows_next(c->rows, e);

	c->there = rc == 1;
	return rc == -1 ? -1 : 0;
}

int
trial_cursor_open(
    struct trial_cursor *c, struct store *store, const char *sql, struct err *e)
{
	if (store_rows_open(&c->rows, store, sql, NULL, e) != 0)
		return -1;
	return trial_cursor_next(c, e);
}

bool
trial_cursor_is_at(const struct trial_cursor *c, int64_t trial)
{
	return c->there && store_rows_int(c->rows, 0) == trial;
}

void
trial_cursor_close(struct trial_cursor *c)
{
	store_rows_close(c->rows);
	*c = (struct trial_cursor){ 0 };
}
