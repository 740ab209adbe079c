/*
 * Opens and closes the database: checks that the file is a study, and
 * configures the connection.
 */

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

/* Milliseconds to wait for a lock: while opening, and for readers always. */
#define OPEN_WAIT_MS 500
/*
 * After STORE_WRITE_ONCE a longer log is checkpointed: whoever opens the file
 * next reads all of it, at some 2 us a page.
 */
enum { LOG_LONG = 512 << 10 };

/*
 * Views are read with the settings that SQLite's security page recommends. mmap
 * stays off: an I/O error must be an error code, not a signal.
 */
static const char common_settings[] =
    "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;";
/*
 * temp_store: statement journals then use small allocations; otherwise each
 * update of a table with triggers allocates 64 KiB.
 */
static const char write_settings[] =
    "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192;"
    "PRAGMA temp_store = MEMORY;";

void
store_settle(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	os_error_listen();
}

struct store *
store_new(const char *path, enum store_mode mode)
{
	struct store *s = xcalloc(1, sizeof *s);

	s->path = xstrdup(path);
	s->mode = mode;
	return s;
}

/*
 * The last connection to close checkpoints the log, and programs that open the
 * database meanwhile get SQLITE_BUSY. So checkpoint first, which blocks no
 * reader; then the close only deletes an empty file.
 */
static void
empty_log(struct store *s)
{
	int keeps = 0;

	if (s->once && store_wal_bytes(s) >= LOG_LONG)
		store_checkpoint_at_close(s);
	(void)sqlite3_db_config(
	    s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1, &keeps);
	if (keeps || s->dead || sqlite3_db_readonly(s->db, "main") != 0)
		return;
	(void)sqlite3_busy_timeout(s->db, 0);
	(void)sqlite3_wal_checkpoint_v2(
	    s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

void
store_free(struct store *s)
{
	if (s->begun)
		store_rollback(s);
	if (s->db != NULL)
		empty_log(s);
	stmt_finalize_all(s);
	store_names_clear(s);
	row_blocks_forget(s, 0);
	(void)sqlite3_close_v2(s->db);
	free(s->path);
	free(s);
}

/* "file:PATH?immutable=1", with the special characters of a URI escaped. */
static char *
immutable_uri(const char *path)
{
	struct buf b = { 0 };

	buf_puts(&b, "file:");
	for (; *path != '\0'; path++)
		if (strchr("%?#", *path) != NULL)
			buf_printf(&b, "%%%02x", (unsigned char)*path);
		else
			buf_putc(&b, *path);
	buf_puts(&b, "?immutable=1");
	return buf_take(&b);
}

int
store_connect(struct store *s, const char *name, int flags, struct err *e)
{
	int rc;

	rc = sqlite3_open_v2(name, &s->db,
	    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (s->db == NULL)
		return err_set(
		    e, ERR_STORE, "%s: %s", s->path, sqlite3_errstr(rc));
	if (rc != SQLITE_OK)
		return err_set(e, ERR_FILE, "%s: %s", s->path,
		    sqlite3_system_errno(s->db) != 0
			? strerror(sqlite3_system_errno(s->db))
			: sqlite3_errmsg(s->db));
	(void)sqlite3_busy_timeout(s->db, OPEN_WAIT_MS);
	query_limit_open(s);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	/*
	 * Otherwise SQLite compares values that are bound with those of partial
	 * indexes, and compiles such a statement anew whenever one is bound.
	 */
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
	return store_exec(s, common_settings, e);
}

/* The number that a statement returns. */
static int
get_number(struct store *s, const char *sql, int64_t *out, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	*out = 0;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_fail(s, "cannot be read", e);
	rc = sqlite3_step(st) == SQLITE_ROW
		 ? 0
		 : store_fail(s, "cannot be read", e);
	*out = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	return rc;
}

int
store_identify(struct store *s, int64_t *version, struct err *e)
{
	int64_t id, tables = 0;

	if (get_number(s, "PRAGMA application_id", &id, e) < 0 ||
	    get_number(s, "PRAGMA user_version", version, e) < 0)
		return -1;
	/* Counting tables parses the whole schema, which takes a millisecond. */
	if (id == 0 && *version == 0 &&
	    get_number(s, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0)
		return -1;
	if (id == 0 && *version == 0 && tables == 0)
		return 0;
	if (id != STORE_APPLICATION_ID || *version < 1)
		return err_set(
		    e, ERR_STORE, "%s: a database of another program", s->path);
	if (*version > schema_version())
		return err_set(e, ERR_STORE,
		    "%s: made by a newer hpotune "
		    "(schema %lld, this program supports %lld)",
		    s->path, (long long)*version, (long long)schema_version());
	return 0;
}

static int
path_length_check(const char *path, struct err *e)
{
	/*
	 * SQLite's own limit, less the suffixes of the files beside the
	 * database.
	 */
	size_t most =
	    (size_t)sqlite3_vfs_find(NULL)->mxPathname - strlen("-journal");

	if (strlen(path) > most)
		return err_set(e, ERR_FILE,
		    "%s: the path of a database is limited to %zu bytes, this "
		    "one has %zu: choose another folder with --state",
		    path, most, strlen(path));
	return 0;
}

/* Nothing is there: whether a link says that something is. */
static int
path_link_check(const char *path, struct err *e)
{
	char target[256];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n < 0)
		return 0;
	target[n] = '\0';
	return err_set(e, ERR_FILE, "%s: a link to %s, which does not exist",
	    path, target);
}

int
store_file_kind(const char *path, struct err *e)
{
	struct stat st;

	if (path_length_check(path, e) != 0)
		return -1;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? path_link_check(path, e)
				       : err_set(e, ERR_FILE, "%s: %s", path,
					     strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(
		    e, ERR_FILE, "%s: a directory, not a study", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FILE, "%s: not a regular file", path);
	return st.st_size > 0;
}

int
store_path_check(const char *path, struct err *e)
{
	int fd, kind = store_file_kind(path, e);
	bool is;

	if (kind <= 0)
		return kind;
	/* One that cannot be opened is named by who needs it. */
	fd = file_open_user(path);
	is = fd < 0 || store_is_database(fd);
	if (fd >= 0)
		(void)close(fd);
	return is ? 0
		  : err_set(
			e, ERR_STORE, "%s: not a database of hpotune", path);
}

/* Whether no file can be created beside the database. */
static bool
is_read_only_place(struct store *s)
{
	int code = sqlite3_extended_errcode(s->db);

	return (code & 0xff) == SQLITE_CANTOPEN ||
	       code == SQLITE_READONLY_DIRECTORY ||
	       code == SQLITE_READONLY_CANTINIT;
}

/* Whether there is no room for the index of the log, which readers need, too. */
static bool
is_full_place(struct store *s)
{
	int kind = sqlite3_extended_errcode(s->db) & 0xff;
	int error = os_error(s);

	return kind == SQLITE_FULL ||
	       (kind == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT));
}

/* Whether the log beside the file is not empty. */
static bool
has_log(const struct store *s)
{
	char *name = xasprintf("%s-wal", s->path);
	struct stat st;
	bool has = stat(name, &st) == 0 && st.st_size > 0;

	free(name);
	return has;
}

/*
 * A folder in which the files beside the database cannot be created: for want of
 * the right, or of room.  Then no process can write there, and the file may be
 * opened as immutable.
 */
static int
reconnect_immutable(struct store *s, struct err *e)
{
	char *uri = immutable_uri(s->path);
	int rc;

	(void)sqlite3_close_v2(s->db);
	s->db = NULL;
	rc = store_connect(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
	free(uri);
	return rc;
}

static int
open_read(struct store *s, struct err *e)
{
	int64_t version = 0;
	int rc;

	if (store_connect(s, s->path, SQLITE_OPEN_READONLY, e) != 0)
		return -1;
	rc = store_identify(s, &version, e);
	if (rc < 0 && (is_read_only_place(s) || is_full_place(s)) &&
	    !has_log(s)) {
		s->fixed = true;
		rc = reconnect_immutable(s, e) < 0
			 ? -1
			 : store_identify(s, &version, e);
	}
	/* Only a crash during creation leaves this state. */
	if (rc < 0 &&
	    sqlite3_extended_errcode(s->db) == SQLITE_READONLY_ROLLBACK)
		return err_set(e, ERR_STORE, "%s: holds no study", s->path);
	if (rc < 0)
		return -1;
	if (version == 0)
		return err_set(e, ERR_STORE, "%s: holds no study", s->path);
	s->fixed = s->fixed || version != schema_version();
	if (schema_read_old(s, version, e) != 0)
		return -1;
	/* Only the writer checkpoints the log. */
	(void)sqlite3_db_config(
	    s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return store_exec(s, "PRAGMA query_only = ON", e);
}

int
store_set_journal(struct store *s, bool network_fs, struct err *e)
{
	sqlite3_stmt *st;
	const char *mode;

	s->wal = !network_fs;
	if (network_fs)
		return store_exec(s,
		    "PRAGMA locking_mode = EXCLUSIVE;"
		    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL",
		    e);
	if (sqlite3_prepare_v2(
		s->db, "PRAGMA journal_mode = WAL", -1, &st, NULL) != SQLITE_OK)
		return store_fail(s, "write-ahead log", e);
	if (sqlite3_step(st) != SQLITE_ROW) {
		(void)store_fail(s, "write-ahead log", e);
		(void)sqlite3_finalize(st);
		return -1;
	}
	mode = (const char *)sqlite3_column_text(st, 0);
	s->wal = mode != NULL && strcmp(mode, "wal") == 0;
	(void)sqlite3_finalize(st);
	if (!s->wal)
		return err_set(e, ERR_STORE,
		    "%s: this file system cannot hold "
		    "a write-ahead log",
		    s->path);
	return store_exec(s, "PRAGMA synchronous = NORMAL", e);
}

int
store_connect_write(struct store *s, struct err *e)
{
	if (store_connect(s, s->path, SQLITE_OPEN_READWRITE, e) != 0)
		return -1;
	if (sqlite3_db_readonly(s->db, "main") == 1)
		return err_set(e, ERR_FILE, "%s: is read-only", s->path);
	return store_exec(s, write_settings, e);
}

/* Whether the state transitions and views are those of this program. */
static int
is_fresh(struct store *s, int64_t version, bool *fresh, struct err *e)
{
	int64_t same;

	*fresh = false;
	if (version != schema_version())
		return 0;
	if (get_number(s,
		"SELECT count(*) FROM t_study WHERE schema_version = "
		"(SELECT user_version FROM pragma_user_version) AND "
		"program_version = '" PACKAGE_VERSION "'",
		&same, e) < 0)
		return -1;
	*fresh = same == 1;
	return 0;
}

static void
keep_log(struct store *s, bool keep)
{
	(void)sqlite3_db_config(
	    s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, NULL);
}

void
store_checkpoint_at_close(struct store *s)
{
	keep_log(s, false);
}

static int
open_write(struct store *s, struct err *e)
{
	int64_t version, network_fs;
	bool fresh = false;

	if (store_connect_write(s, e) != 0 ||
	    store_identify(s, &version, e) != 0)
		return -1;
	if (version == 0)
		return err_set(e, ERR_STORE, "%s: holds no study", s->path);
	if (get_number(s, "SELECT network_fs FROM t_study", &network_fs, e) <
		0 ||
	    store_set_journal(s, network_fs != 0, e) != 0)
		return -1;
	if (s->once && is_fresh(s, version, &fresh, e) != 0)
		return -1;
	if (s->once)
		keep_log(s, true);
	if (fresh)
		return 0;
	if (store_begin(s, e) != 0)
		return -1;
	if (schema_migrate(s, version, e) != 0 || schema_refresh(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, version < schema_version(), e);
}

int
store_open_check(const char *path, struct err *e)
{
	int rc;

	if ((rc = store_file_kind(path, e)) < 0)
		return -1;
	if (rc == 0)
		return access(path, F_OK) == 0
			   ? err_set(e, ERR_STORE,
				 "%s: an empty file, not a study", path)
			   : err_set(
				 e, ERR_FILE, "%s: %s", path, strerror(ENOENT));
	return 0;
}

int
store_open_new(
    struct store **out, const char *path, enum store_mode mode, struct err *e)
{
	struct store *s;
	int rc;

	s = store_new(path, mode == STORE_READ ? STORE_READ : STORE_WRITE);
	s->once = mode == STORE_WRITE_ONCE;
	rc = mode == STORE_READ ? open_read(s, e) : open_write(s, e);
	if (rc < 0) {
		store_free(s);
		return -1;
	}
	if (mode != STORE_READ) {
		(void)sqlite3_busy_timeout(s->db, STORE_WRITE_WAIT_MS);
		(void)store_wal_kept(
		    s); /* records the inode for later checks */
	}
	*out = s;
	return 0;
}

const char *
store_sqlite_version(void)
{
	return sqlite3_libversion();
}
