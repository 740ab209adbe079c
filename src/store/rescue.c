/*
 * When the file or its log is deleted, replaced or overwritten under an open
 * connection: copies what the connection can still read to another file.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

/* The first 16 bytes of each database, with the terminating NUL. */
static const char magic[] = "SQLite format 3";

/* How long a full checkpoint waits for readers. */
#define SETTLE_WAIT_MS 1000

bool
store_is_database(int fd)
{
	char head[sizeof magic];
	ssize_t n = pread(fd, head, sizeof head, 0);

	/* Treat an error as intact. */
	return n < 0 ||
	       (n == sizeof head && memcmp(head, magic, sizeof head) == 0);
}

/* The inode of a file beside the database; 0 = there is none. */
static unsigned long
inode_beside(const struct store *s, const char *suffix)
{
	char *name = xasprintf("%s%s", s->path, suffix);
	struct stat st;
	unsigned long inode = stat(name, &st) == 0 ? st.st_ino : 0;

	free(name);
	return inode;
}

bool
store_wal_kept(struct store *s)
{
	unsigned long log, index;

	if (!s->wal)
		return true;
	log = inode_beside(s, "-wal");
	index = inode_beside(s, "-shm");
	if (s->log_inode == 0)
		s->log_inode = log;
	if (s->index_inode == 0)
		s->index_inode = index;
	return log == s->log_inode && index == s->index_inode;
}

static void
unlink_beside(const struct store *s, const char *suffix)
{
	char *name = xasprintf("%s%s", s->path, suffix);

	(void)unlink(name);
	free(name);
}

/*
 * Remove our log, which would otherwise be replayed into a file that replaces
 * ours.
 */
static void
unlink_log(const struct store *s)
{
	if (s->log_inode != 0 && inode_beside(s, "-wal") == s->log_inode)
		unlink_beside(s, "-wal");
	if (s->index_inode != 0 && inode_beside(s, "-shm") == s->index_inode)
		unlink_beside(s, "-shm");
}

int
store_wal_recover(struct store *s, struct err *e)
{
	int rc;

	(void)sqlite3_busy_timeout(s->db, SETTLE_WAIT_MS);
	rc = sqlite3_wal_checkpoint_v2(
	    s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	(void)sqlite3_busy_timeout(s->db, STORE_WRITE_WAIT_MS);
	if (rc != SQLITE_OK)
		return store_fail(s, "its log cannot be moved into it", e);
	/* Files that have these names by now do not belong to us. */
	unlink_beside(s, "-wal");
	unlink_beside(s, "-shm");
	return 0;
}

/* Create an empty file with mode 0600; fail when one exists. */
static int
make_new(const char *path, struct err *e)
{
	int fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE,
		    "%s: %s", path, strerror(errno));
	(void)close(fd);
	return 0;
}

/*
 * Copy page by page: should the old log be found beside the copy later,
 * replaying it changes nothing.
 */
static int
copy_pages(struct store *s, struct store *to, struct err *e)
{
	sqlite3_backup *b;

	b = sqlite3_backup_init(to->db, "main", s->db, "main");
	if (b == NULL)
		return store_fail(to, "cannot be written", e);
	(void)sqlite3_backup_step(b, -1);
	if (sqlite3_backup_finish(b) == SQLITE_OK)
		return 0;
	return store_fail(to, "cannot be copied", e);
}

static int
check_pages(struct store *to, struct err *e)
{
	const char *text = NULL;
	sqlite3_stmt *st;
	int rc = -1;

	if (sqlite3_prepare_v2(
		to->db, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK)
		return store_fail(to, "cannot be read", e);
	if (sqlite3_step(st) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(st, 0);
	if (text != NULL && strcmp(text, "ok") == 0)
		rc = 0;
	else
		err_set(e, ERR_STORE, "%s: the copy of the database is damaged",
		    to->path);
	(void)sqlite3_finalize(st);
	return rc;
}

int
store_rescue(struct store *s, const char *path, struct err *e)
{
	struct store *to;
	int64_t version;
	int rc;

	if (s->begun)
		store_rollback(s);
	/* No more writes to the original file. */
	(void)sqlite3_db_config(
	    s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (make_new(path, e) != 0)
		return -1;
	to = store_new(path, STORE_WRITE);
	rc = store_connect(to, path, SQLITE_OPEN_READWRITE, e);
	if (rc == 0)
		rc = store_exec(to, "PRAGMA journal_mode = OFF", e);
	if (rc == 0)
		rc = copy_pages(s, to, e);
	if (rc == 0)
		rc = check_pages(to, e);
	if (rc == 0)
		rc = store_identify(to, &version, e);
	store_free(to);
	if (rc < 0) {
		(void)unlink(path);
		return -1;
	}
	store_sync_folder(path);
	unlink_log(s);
	return 0;
}
