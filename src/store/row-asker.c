/* Writes rows of t_asker: the processes that ask for trials. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/store/store-internal.h"

int
store_asker_put(struct store *s, int64_t trial, int attempt,
    const struct store_asker *asker, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ASKER_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	stmt_line(st, 3, asker->host);
	stmt_int(st, 4, asker->pid);
	stmt_line(st, 5, asker->mark);
	stmt_int(st, 6, asker->watched);
	return stmt_write(s, st, e);
}
