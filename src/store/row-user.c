/*
 * What the user does to trials that are recorded: notes and tags, another
 * attempt after the end, and trials that do not count.
 */

#include "src/base/err.h"
#include "src/store/store-internal.h"

int
store_retry_add(struct store *s, int64_t trial, int64_t time_us, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_RETRY_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, ++s->seq);
	stmt_int(st, 3, time_us);
	return stmt_write(s, st, e);
}

int
store_trial_forget(
    struct store *s, int64_t trial, bool forgotten, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_FORGET, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, forgotten);
	if (stmt_write(s, st, e) != 0 ||
	    (st = stmt_get(s, STMT_MEDIAN_CLEAR, e)) == NULL)
		return -1;
	return stmt_write(s, st, e);
}

int
store_note_put(struct store *s, int64_t trial, const char *text,
    int64_t time_us, struct err *e)
{
	sqlite3_stmt *st =
	    stmt_get(s, *text != '\0' ? STMT_NOTE_PUT : STMT_NOTE_DROP, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	if (*text != '\0') {
		stmt_line(st, 2, text);
		stmt_int(st, 3, time_us);
	}
	return stmt_write(s, st, e);
}

int
store_tag_put(
    struct store *s, int64_t trial, const char *tag, bool on, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, on ? STMT_TAG_PUT : STMT_TAG_DROP, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_line(st, 2, tag);
	return stmt_write(s, st, e);
}
