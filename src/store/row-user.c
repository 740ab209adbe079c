/*
 * What the user does to a study that is recorded: notes and tags of trials,
 * another attempt after the end, trials that do not count, a changed space.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
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

int
store_trial_refit(struct store *s, int64_t trial, const char *params,
    const char *outside, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_REFIT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_text(st, 2, params);
	stmt_line(st, 3, outside);
	return stmt_write(s, st, e);
}

int
store_trials_number(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_NUMBER, e);

	return st == NULL ? -1 : stmt_write(s, st, e);
}

int
store_space_put(struct store *s, const struct space *space, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_PARAM_CLEAR, e);

	if (st == NULL || stmt_write(s, st, e) != 0 ||
	    store_add_params(s, space, e) != 0)
		return -1;
	return schema_refresh(s, e);
}

int
store_change_add(struct store *s, const struct store_change *c, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_CHANGE_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, ++s->seq);
	stmt_text(st, 2, c->key);
	stmt_text(st, 3, c->old);
	stmt_text(st, 4, c->now);
	stmt_int(st, 5, c->trials);
	stmt_int_or(st, 6, c->outside, -1);
	stmt_int(st, 7, c->time_us);
	return stmt_write(s, st, e);
}

int
store_rename(struct store *s, const char *was, const char *now, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STUDY_RENAME, e);
	char *from, *to;
	int rc;

	if (st == NULL)
		return -1;
	stmt_text(st, 1, now);
	if (stmt_write(s, st, e) != 0 ||
	    (st = stmt_get(s, STMT_LOGS_RENAME, e)) == NULL)
		return -1;
	from = xasprintf("%s.d/", was);
	to = xasprintf("%s.d/", now);
	stmt_text(st, 1, from);
	stmt_text(st, 2, to);
	rc = stmt_write(s, st, e);
	free(from);
	free(to);
	return rc;
}
