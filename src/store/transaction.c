/*
 * Transactions, and when the log is synced.
 *
 * The connection commits with synchronous=NORMAL: the log is written but not
 * synced.  A durable commit then syncs the log itself, as synchronous=FULL
 * would have done; so the caller can decide at the end of a turn, when its
 * contents are known.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

/* A longer log is truncated when it has no readers. */
#define WAL_CUT_BYTES (8 << 20)

/*
 * Read the latest record number again: another command may have added records.
 */
static int
read_counter(struct store *s, struct err *e)
{
	struct row r = row_begin(s, STMT_COUNTER_GET, "t_counter", 0, e);
	int64_t ours = s->seq;
	int rc;

	if (r.st == NULL || (rc = row_next(&r)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE,
		    "%s: the database is damaged: t_counter has no row",
		    s->path);
	s->seq = s->seq_begin = row_int(&r, 0, 0, ROW_INT_MAX);
	if (s->seq != ours)
		row_blocks_forget(s, 0);
	stmt_done(r.st);
	return row_end(&r);
}

int
store_begin(struct store *s, struct err *e)
{
	bool write = s->mode == STORE_WRITE;
	sqlite3_stmt *st;

	if (s->dead)
		return err_set(e, ERR_STORE,
		    "%s: an earlier error has closed the "
		    "connection; start again",
		    s->path);
	st = stmt_get(s, write ? STMT_BEGIN_WRITE : STMT_BEGIN_READ, e);
	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	s->begun = true;
	s->lost = false;
	if (write && read_counter(s, e) != 0) {
		store_rollback(s);
		return -1;
	}
	return 0;
}

void
store_rollback(struct store *s)
{
	int i;

	for (i = 0; i < STMT_COUNT; i++)
		if (s->stmts[i] != NULL)
			stmt_done(s->stmts[i]);
	/* Some errors have already rolled back. */
	if (!sqlite3_get_autocommit(s->db))
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	store_names_clear(s);
	row_blocks_forget(s, 0);
	s->begun = s->lost = s->new_names = false;
}

int
store_read_begin(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_BEGIN_READ, e);

	return st == NULL || stmt_step(s, st, e) < 0 ? -1 : 0;
}

void
store_read_end(struct store *s)
{
	(void)sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
}

bool
store_in_transaction(const struct store *s)
{
	return s->begun;
}

/* After a failed sync the state of the disk is unknown: never retry. */
static int
sync_log(struct store *s, struct err *e)
{
	sqlite3_file *f = NULL;
	int rc;

	rc = sqlite3_file_control(
	    s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f);
	if (rc != SQLITE_OK || f == NULL || f->pMethods == NULL)
		return 0;
	rc = f->pMethods->xSync(f, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
	if (rc == SQLITE_OK)
		return 0;
	s->dead = true;
	return err_set(e, ERR_STORE, "%s: the log cannot be synced: %s",
	    s->path, sqlite3_errstr(rc));
}

static int
write_counter(struct store *s, struct err *e)
{
	sqlite3_stmt *st;

	if (s->seq == s->seq_begin)
		return 0;
	if ((st = stmt_get(s, STMT_COUNTER_PUT, e)) == NULL)
		return -1;
	stmt_int(st, 1, s->seq);
	return stmt_write(s, st, e);
}

static int
commit(struct store *s, struct err *e)
{
	sqlite3_stmt *st;

	if (s->lost) {
		if (e != NULL)
			*e = s->lost_err;
		return -1;
	}
	if (s->new_names && schema_views_results(s, false, e) != 0)
		return -1;
	s->new_names = false;
	if (row_blocks_write(s, e) != 0 || write_counter(s, e) != 0 ||
	    (st = stmt_get(s, STMT_COMMIT, e)) == NULL ||
	    stmt_step(s, st, e) < 0)
		return -1;
	return 0;
}

int
store_commit(struct store *s, bool durable, struct err *e)
{
	fail_point("store.before_commit");
	if (commit(s, e) != 0) {
		store_rollback(s);
		return -1;
	}
	s->begun = false;
	fail_point("store.after_commit");
	if (durable && s->wal)
		return sync_log(s, e);
	return 0;
}

static int64_t
wal_bytes(const struct store *s)
{
	char *path = xasprintf("%s-wal", s->path);
	struct stat st;
	int64_t n = stat(path, &st) == 0 ? st.st_size : 0;

	free(path);
	return n;
}

int64_t
store_wal_bytes(struct store *s)
{
	return wal_bytes(s);
}

void
store_checkpoint(struct store *s)
{
	int frames = 0, moved = 0;

	if (!s->wal || s->begun || s->dead || s->mode != STORE_WRITE ||
	    wal_bytes(s) < WAL_CUT_BYTES)
		return;
	if (sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_PASSIVE,
		&frames, &moved) != SQLITE_OK ||
	    moved < frames)
		return;
	/*
	 * Without a timeout a reader makes the checkpoint return instead of
	 * wait.
	 */
	(void)sqlite3_busy_timeout(s->db, 0);
	(void)sqlite3_wal_checkpoint_v2(
	    s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	(void)sqlite3_busy_timeout(s->db, STORE_WRITE_WAIT_MS);
}
