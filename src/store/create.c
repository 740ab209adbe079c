/*
 * Makes the file of a new study: in memory, from the image of an empty one that
 * make-image.c printed, and then with one write, one sync and one rename.
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

/* Bytes: SQLite's file layer writes less than 128 KiB at once. */
enum { WRITE_MOST = 64 << 10 };

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
	store_free(s);
	return rc;
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

/* The parts that are not zero; the last one has the size of the file. */
static const struct {
	size_t at, n;
	const char *bytes;
} parts[] = {
#include "schema/image.inc"
};

/* Make the connection's database, in memory, the one of a study without rows. */
static int
image_load(struct store *s, struct err *e)
{
	size_t i, n_parts = sizeof parts / sizeof parts[0];
	size_t size = parts[n_parts - 1].at;
	unsigned char *image = sqlite3_malloc64(size);

	if (image == NULL)
		mem_fail();
	memset(image, 0, size);
	for (i = 0; i < n_parts; i++)
		memcpy(image + parts[i].at, parts[i].bytes, parts[i].n);
	/* The connection frees it. */
	if (sqlite3_deserialize(s->db, "main", image, (sqlite3_int64)size,
		(sqlite3_int64)size,
		SQLITE_DESERIALIZE_FREEONCLOSE |
		    SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK)
		return store_fail(s, "cannot be made", e);
	return 0;
}

int
store_open_newest(struct store *s, struct err *e)
{
	return store_connect(s, ":memory:", SQLITE_OPEN_READWRITE, e) != 0
		   ? -1
		   : image_load(s, e);
}

/* In memory: the whole study, as a database without a log. */
static int
fill_image(struct store *s, const struct store_study *study,
    const struct space *space, bool network_fs, struct err *e)
{
	char pragma[64];

	if (store_open_newest(s, e) != 0 || store_exec(s, "BEGIN", e) != 0)
		return -1;
	s->begun = true;
	(void)snprintf(pragma, sizeof pragma, "PRAGMA user_version = %lld",
	    (long long)schema_version());
	if (store_exec(s, pragma, e) != 0 ||
	    store_exec(s, "INSERT INTO t_counter VALUES (1, 0)", e) != 0 ||
	    add_study(s, study, network_fs, e) != 0 ||
	    store_add_params(s, space, e) != 0 || add_aims(s, study, e) != 0 ||
	    schema_first(s, e) != 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, false, e);
}

/*
 * Files that SQLite would apply to a new database of this name; a study's own
 * were applied when store_exists opened it.
 */
static void
unlink_old_logs(const char *path)
{
	static const char *const ends[] = { "-journal", "-wal", "-shm" };
	bool any = false;
	char *name;
	size_t i;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		name = xasprintf("%s%s", path, ends[i]);
		any = unlink(name) == 0 || any;
		free(name);
	}
	if (any)
		store_sync_folder(path);
}

/* Why SQLite's file layer could not write or sync. */
static int
put_err(const char *path, int rc, int error, struct err *e)
{
	if (rc == SQLITE_FULL || error == ENOSPC || error == EDQUOT)
		return err_set(
		    e, ERR_FULL, "%s: no space left on the disk", path);
	if (error == EFBIG)
		return err_set(e, ERR_FULL,
		    "%s: it would be larger than a file may be (ulimit -f)",
		    path);
	return err_set(e, ERR_STORE, "%s: cannot be written: %s", path,
	    sqlite3_errstr(rc));
}

/* Write and sync an open file, by the calls that SQLite itself would use. */
static int
create_put_bytes(sqlite3_file *f, const unsigned char *bytes, size_t n)
{
	size_t at, some;
	int rc = SQLITE_OK;

	for (at = 0; rc == SQLITE_OK && at < n; at += some) {
		some = n - at < WRITE_MOST ? n - at : WRITE_MOST;
		rc = f->pMethods->xWrite(
		    f, bytes + at, (int)some, (sqlite3_int64)at);
	}
	return rc == SQLITE_OK ? f->pMethods->xSync(f, SQLITE_SYNC_NORMAL) : rc;
}

static int
put_part(const char *part, const unsigned char *bytes, size_t n, struct err *e)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	sqlite3_file *f = xcalloc(1, (size_t)vfs->szOsFile);
	int rc, error;

	errno = 0;
	rc = vfs->xOpen(
	    vfs, part, f, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, NULL);
	if (rc == SQLITE_OK)
		rc = create_put_bytes(f, bytes, n);
	error = errno;
	if (f->pMethods != NULL)
		(void)f->pMethods->xClose(f);
	free(f);
	return rc == SQLITE_OK ? 0 : put_err(part, rc, error, e);
}

/*
 * Write the file beside path, and rename it when it is durable: a crash leaves
 * no study or a whole one, and perhaps a part that the next start removes.
 */
static int
put_file(const char *path, const unsigned char *bytes, size_t n, struct err *e)
{
	char *part = xasprintf("%s-new", path);
	int fd, rc = -1;

	(void)unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0600) < 0)
		(void)err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE,
		    "%s: %s", path, strerror(errno));
	else if (put_part(part, bytes, n, e) == 0 &&
		 (rc = rename(part, path)) != 0)
		(void)err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	if (fd >= 0) {
		(void)close(fd);
		if (rc != 0)
			(void)unlink(part);
	}
	free(part);
	if (rc == 0)
		store_sync_folder(path);
	return rc;
}

static int
check_free(const char *path, struct err *e)
{
	struct stat st;
	bool there;

	/* To an empty file, for example, or made since the path was checked. */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(e, ERR_FILE,
		    "%s: a link: a study is not made in its place", path);
	if (store_exists(&there, path, e) < 0)
		return -1;
	return there ? err_set(e, ERR_FILE, "%s: a study exists already", path)
		     : 0;
}

/* Offsets in the header that say whether the file has a write-ahead log. */
enum { HEADER_WRITES = 18, HEADER_READS = 19, HEADER_WAL = 2 };

static int
make_file(const char *path, const struct store_study *study,
    const struct space *space, bool network_fs, struct err *e)
{
	struct store *s = store_new(path, STORE_WRITE);
	sqlite3_int64 n = 0;
	unsigned char *bytes = NULL;
	int rc;

	rc = fill_image(s, study, space, network_fs, e);
	if (rc == 0)
		bytes = sqlite3_serialize(
		    s->db, "main", &n, SQLITE_SERIALIZE_NOCOPY);
	if (rc == 0 && bytes == NULL)
		rc = store_fail(s, "cannot be made", e);
	if (rc == 0 && !network_fs)
		bytes[HEADER_WRITES] = bytes[HEADER_READS] = HEADER_WAL;
	if (rc == 0) {
		unlink_old_logs(path);
		rc = put_file(path, bytes, (size_t)n, e);
	}
	store_free(s);
	return rc;
}

int
store_create(struct store **out, const char *path,
    const struct store_study *study, const struct space *space, bool network_fs,
    struct err *e)
{
	struct store *s;

	if (check_free(path, e) != 0 ||
	    make_file(path, study, space, network_fs, e) != 0)
		return -1;
	s = store_new(path, STORE_WRITE);
	if (store_connect_write(s, e) != 0 ||
	    store_set_journal(s, network_fs, e) != 0) {
		store_free(s);
		(void)unlink(path);
		unlink_old_logs(path);
		return -1;
	}
	(void)sqlite3_busy_timeout(s->db, STORE_WRITE_WAIT_MS);
	(void)store_wal_kept(s); /* records the inode for later checks */
	*out = s;
	return 0;
}
