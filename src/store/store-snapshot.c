/*
 * A copy of a database that is in use, some pages at a time: by SQLite's backup
 * on the connection of the server, so that what is written meanwhile is in it,
 * and renamed into place when it is whole.  The copy has no log and needs no
 * shared memory: any machine can read it.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

struct store_snapshot {
	char *path, *part;
	sqlite3 *to;
	sqlite3_backup *backup;
};

static int
snapshot_fail(const struct store_snapshot *c, const char *why, struct err *e)
{
	return err_set(e, ERR_STORE, "%s: %s", c->path, why);
}

int
store_snapshot_begin(struct store_snapshot **copy, struct store *s,
    const char *path, struct err *e)
{
	struct store_snapshot *c = xcalloc(1, sizeof *c);
	int fd;

	c->path = xstrdup(path);
	c->part = xasprintf("%s.new", path);
	(void)unlink(c->part);
	fd = open(c->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd == -1) {
		(void)snapshot_fail(c, strerror(errno), e);
		store_snapshot_free(c);
		return -1;
	}
	(void)close(fd);
	if (sqlite3_open_v2(c->part, &c->to,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		NULL) == SQLITE_OK &&
	    sqlite3_exec(c->to, "PRAGMA journal_mode = OFF", NULL, NULL,
		NULL) == SQLITE_OK &&
	    (c->backup = sqlite3_backup_init(c->to, "main", s->db, "main")) !=
		NULL) {
		*copy = c;
		return 0;
	}
	(void)snapshot_fail(c, sqlite3_errmsg(c->to), e);
	store_snapshot_free(c);
	return -1;
}

/* Without a log, and with the moment it is of. */
static int
snapshot_end(
    struct store_snapshot *c, int64_t now_us, const char *host, struct err *e)
{
	char *sql = sqlite3_mprintf(
	    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;"
	    "CREATE TABLE IF NOT EXISTS snapshot"
	    "(taken_us INTEGER NOT NULL, host TEXT NOT NULL);"
	    "DELETE FROM snapshot; INSERT INTO snapshot VALUES(%lld, %Q)",
	    (long long)now_us, host);
	int rc = sqlite3_backup_finish(c->backup);

	c->backup = NULL;
	if (rc == SQLITE_OK)
		rc = sql != NULL ? sqlite3_exec(c->to, sql, NULL, NULL, NULL)
				 : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return snapshot_fail(c, sqlite3_errmsg(c->to), e);
	rc = sqlite3_close(c->to);
	c->to = NULL;
	if (rc != SQLITE_OK)
		return snapshot_fail(c, sqlite3_errstr(rc), e);
	if (rename(c->part, c->path) == -1)
		return snapshot_fail(c, strerror(errno), e);
	store_sync_folder(c->path);
	return 0;
}

int
store_snapshot_step(struct store_snapshot *c, int pages, int64_t now_us,
    const char *host, struct err *e)
{
	int rc = sqlite3_backup_step(c->backup, pages);

	if (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return 1;
	if (rc == SQLITE_DONE)
		return snapshot_end(c, now_us, host, e);
	return snapshot_fail(c, sqlite3_errstr(rc), e);
}

void
store_snapshot_free(struct store_snapshot *c)
{
	if (c == NULL)
		return;
	if (c->backup != NULL)
		(void)sqlite3_backup_finish(c->backup);
	if (c->to != NULL) {
		(void)sqlite3_close(c->to);
		(void)unlink(c->part);
	}
	free(c->path);
	free(c->part);
	free(c);
}

bool
store_snapshot_read(struct store *s, int64_t *taken_us, char *host, size_t n)
{
	sqlite3_stmt *st;
	bool is = false;

	if (sqlite3_prepare_v2(s->db, "SELECT taken_us, host FROM snapshot", -1,
		&st, NULL) != SQLITE_OK)
		return false;
	if (sqlite3_step(st) == SQLITE_ROW) {
		is = true;
		*taken_us = sqlite3_column_int64(st, 0);
		(void)snprintf(
		    host, n, "%s", (const char *)sqlite3_column_text(st, 1));
	}
	(void)sqlite3_finalize(st);
	return is;
}

void
store_snapshot_forget(struct store *s)
{
	(void)sqlite3_exec(
	    s->db, "DROP TABLE IF EXISTS snapshot", NULL, NULL, NULL);
}
