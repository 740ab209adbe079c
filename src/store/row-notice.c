/* The rows of t_notice: notices to be sent, and what became of them. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/row-columns.h"

void
store_notice_fini(struct store_notice *n)
{
	free(n->uuid);
	free(n->channel);
	free(n->moment);
	free(n->mark);
	free(n->text);
	free(n->detail);
	*n = (struct store_notice){ 0 };
}

int
store_notice_add(struct store *s, const struct store_notice *n, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_NOTICE_ADD, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, n->uuid);
	stmt_text(st, 2, n->channel);
	stmt_text(st, 3, n->moment);
	stmt_text(st, 4, n->mark);
	stmt_text(st, 5, n->text);
	stmt_text(st, 6, n->detail);
	stmt_int(st, 7, n->time_us);
	return stmt_write(s, st, e);
}

int
store_notice_there(struct store *s, const char *channel, const char *moment,
    const char *mark, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_NOTICE_MARK, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_text(st, 1, channel);
	stmt_text(st, 2, moment);
	stmt_text(st, 3, mark);
	if ((rc = stmt_step(s, st, e)) > 0)
		stmt_done(st);
	return rc;
}

int
store_notice_next(
    struct store *s, const char *channel, struct store_notice *n, struct err *e)
{
	struct row r = row_begin(s, STMT_NOTICE_NEXT, "t_notice", 1, e);
	int rc;

	if (r.st == NULL)
		return -1;
	stmt_text(r.st, 1, channel);
	if ((rc = row_next(&r)) <= 0)
		return rc;
	*n = (struct store_notice){
		.id = row_int(&r, 0, 1, INT64_MAX),
		.uuid = stmt_dup(row_text(&r, 1)),
		.channel = xstrdup(channel),
		.moment = stmt_dup(row_text(&r, 2)),
		.text = stmt_dup(row_text(&r, 3)),
		.detail = stmt_dup(row_text(&r, 4)),
		.time_us = row_int(&r, 5, 0, ROW_INT_MAX),
	};
	stmt_done(r.st);
	if (row_end(&r) == 0)
		return 1;
	store_notice_fini(n);
	return -1;
}

int
store_notice_told(struct store *s, int64_t id, int64_t sent_us, const char *why,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_NOTICE_TOLD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, id);
	stmt_int_or(st, 2, sent_us, 0);
	stmt_line(st, 3, why);
	return stmt_write(s, st, e);
}
