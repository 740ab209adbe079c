/* The rows of t_provenance and t_packages: where attempts were started. */

#include <stddef.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/store/store-internal.h"

static int
packages_add(struct store *s, const char *text, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_PACKAGES_ADD, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, text);
	return stmt_write(s, st, e);
}

int
store_provenance_put(struct store *s, struct store_provenance *p, struct err *e)
{
	sqlite3_stmt *st;

	if (p->packages != NULL && packages_add(s, p->packages, e) != 0)
		return -1;
	st = stmt_get(s, STMT_PROVENANCE_PUT, e);
	if (st == NULL)
		return -1;
	stmt_int_or(st, 1, p->id, 0);
	stmt_int(st, 2, p->since_us);
	stmt_line(st, 3, p->host);
	stmt_line(st, 4, p->user);
	stmt_line(st, 5, p->system);
	stmt_line(st, 6, p->version);
	stmt_text(st, 7, p->command);
	stmt_line(st, 8, p->folder);
	stmt_line(st, 9, p->workdir);
	stmt_line(st, 10, p->commit);
	stmt_line(st, 11, p->branch);
	stmt_int_or(st, 12, p->dirty, -1);
	stmt_line(st, 13, p->git_why);
	stmt_text(st, 14, p->packages);
	stmt_line(st, 15, p->packages_why);
	if (stmt_write(s, st, e) != 0)
		return -1;
	if (p->id == 0)
		p->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int
store_provenance_settle(struct store *s, int64_t id, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_PROVENANCE_SETTLE, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, id);
	return stmt_write(s, st, e);
}
