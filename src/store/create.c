/*
 * Creates a study's file.  A crash at any moment leaves either a whole study or
 * a file without tables, which the next start reuses.
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/goal.h"
#include "src/model/space.h"
#include "src/store/store-internal.h"

int
store_exists(bool *there, const char *path, struct err *e)
{
	struct store *s;
	int64_t version;
	int rc;

	*there = false;
	if ((rc = store_file_kind(path, e)) <= 0)
		return rc;
	/*
	 * Open for writing: a crash during creation may have left a journal to
	 * roll back.
	 */
	s = store_new(path, STORE_READ);
	rc = store_connect(s, path, SQLITE_OPEN_READWRITE, e);
	if (rc == 0)
		rc = store_identify(s, &version, e);
	if (rc == 0)
		*there = version > 0;
	store_close(s);
	return rc;
}

/* An empty file with mode 0600; one that a crash left is reused. */
static int
make_file(const char *path, struct err *e)
{
	bool there;
	int fd;

	if (store_exists(&there, path, e) < 0)
		return -1;
	if (there)
		return err_set(e, ERR_FILE, "%s: a study exists already", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fchmod(fd, 0600) < 0) {
		(void)err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE,
		    "%s: %s", path, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	(void)close(fd);
	return 0;
}

void
store_sync_folder(const char *path)
{
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
	free(copy);
}

int
store_add_params(struct store *s, const struct space *space, struct err *e)
{
	sqlite3_stmt *st;
	size_t i;

	for (i = 0; i < space->n; i++) {
		if ((st = stmt_get(s, STMT_PARAM_ADD, e)) == NULL)
			return -1;
		stmt_int(st, 1, (int64_t)i + 1);
		stmt_text(st, 2, space->params[i].name);
		if (stmt_write(s, st, e) != 0)
			return -1;
	}
	return 0;
}

/* A study that lists no aims has its metric as the only one. */
static int
add_aims(struct store *s, const struct store_study *study, struct err *e)
{
	const struct store_aim alone = { .metric = study->metric,
		.maximize = study->maximize };
	const struct store_aim *aims = study->n_aims > 0 ? study->aims : &alone;
	size_t i, n = study->n_aims > 0 ? study->n_aims : 1;
	sqlite3_stmt *st;

	for (i = 0; i < n; i++) {
		if ((st = stmt_get(s, STMT_AIM_ADD, e)) == NULL)
			return -1;
		stmt_int(st, 1, (int64_t)i + 1);
		stmt_text(st, 2, aims[i].metric);
		stmt_text(st, 3,
		    aims[i].constraint ? NULL : goal_name(aims[i].maximize));
		if (aims[i].constraint && isfinite(aims[i].min))
			stmt_real(st, 4, aims[i].min);
		if (aims[i].constraint && isfinite(aims[i].max))
			stmt_real(st, 5, aims[i].max);
		if (stmt_write(s, st, e) != 0)
			return -1;
	}
	return 0;
}

static int
add_study(struct store *s, const struct store_study *study, bool network_fs,
    struct err *e)
{
	sqlite3_stmt *st;
	int64_t id;

	if ((st = stmt_get(s, STMT_STUDY_ADD, e)) == NULL)
		return -1;
	stmt_text(st, 1, study->name);
	stmt_text(st, 2, study->metric);
	stmt_text(st, 3, goal_name(study->maximize));
	stmt_int(st, 4, network_fs);
	stmt_int(st, 5, study->created_us);
	stmt_int(st, 6, schema_version());
	if (stmt_write(s, st, e) != 0 || store_study_put(s, study, e) < 0)
		return -1;
	return store_name_id(s, study->metric, &id, e);
}

/*
 * The change to a write-ahead log writes the first page of a file that is empty:
 * there is nothing that a journal could restore.
 */
static int
fill_journal(struct store *s, bool network_fs, struct err *e)
{
	if (!network_fs && store_exec(s, "PRAGMA journal_mode = OFF", e) != 0)
		return -1;
	return store_set_journal(s, network_fs, e);
}

/* All in one transaction: the file holds a whole study or nothing. */
static int
fill_file(struct store *s, const struct store_study *study,
    const struct space *space, bool network_fs, struct err *e)
{
	char pragma[64];

	if (store_connect_write(s, e) != 0 ||
	    fill_journal(s, network_fs, e) != 0 ||
	    store_exec(s, "BEGIN IMMEDIATE", e) != 0)
		return -1;
	s->begun = true;
	(void)snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d",
	    STORE_APPLICATION_ID);
	if (store_exec(s, pragma, e) != 0 || schema_migrate(s, 0, e) != 0 ||
	    store_exec(s, "INSERT INTO t_counter VALUES (1, 0)", e) != 0 ||
	    add_study(s, study, network_fs, e) != 0 ||
	    store_add_params(s, space, e) != 0 || add_aims(s, study, e) != 0 ||
	    schema_refresh(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, true, e);
}

int
store_create(struct store **out, const char *path,
    const struct store_study *study, const struct space *space, bool network_fs,
    struct err *e)
{
	struct store *s;

	if (make_file(path, e) != 0)
		return -1;
	s = store_new(path, STORE_WRITE);
	if (fill_file(s, study, space, network_fs, e) != 0) {
		store_close(s);
		(void)unlink(path);
		return -1;
	}
	store_sync_folder(path);
	/* A copy, or another name, of the file alone is a study, too. */
	(void)sqlite3_wal_checkpoint_v2(
	    s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	(void)sqlite3_busy_timeout(s->db, STORE_WRITE_WAIT_MS);
	(void)store_wal_kept(s); /* records the inode for later checks */
	*out = s;
	return 0;
}
