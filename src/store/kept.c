/*
 * A connection that reads, and what its reader has compiled, kept after store_close
 * for the next store_open of the same file.  Kept is only what would be made anew
 * just so: the file, its log and its index are still those at their paths, the
 * schema is the one that was compiled, and no query has failed.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

/* The files of a database, as they were when it was opened. */
struct kept_files {
	dev_t device[3];
	ino_t inode[3]; /* 0 = there is none */
};

struct kept {
	struct kept_files files;
	int64_t cookie; /* of the schema */
	char id[STUDY_ID];
};

static bool kept_on;
static struct store *kept_store; /* the one that waits, or NULL */

void
store_keep(void)
{
	kept_on = true;
}

static void
kept_free(struct store *s)
{
	free(s->kept);
	statements_free(s);
	store_free(s);
}

void
store_keep_drop(void)
{
	struct store *s = kept_store;

	kept_store = NULL;
	if (s != NULL)
		kept_free(s);
}

void
store_keep_end(void)
{
	kept_on = false;
	store_keep_drop();
}

bool
store_keeps(void)
{
	return kept_on;
}

const char *
store_kept_path(void)
{
	return kept_store != NULL ? kept_store->path : NULL;
}

/* False: the file has been moved away from its path. */
static bool
kept_files_look(struct kept_files *f, struct store *s)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	struct stat st;
	char *name;
	int i, moved = 0;

	memset(f, 0, sizeof *f);
	for (i = 0; i < 3; i++) {
		/* Links in the path lead SQLite to other names of the log. */
		name = xasprintf("%s%s",
		    i == 0 ? s->path : sqlite3_db_filename(s->db, "main"),
		    suffixes[i]);
		if (stat(name, &st) == 0) {
			f->device[i] = st.st_dev;
			f->inode[i] = st.st_ino;
		}
		free(name);
	}
	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED,
		   &moved) == SQLITE_OK &&
	       !moved && f->inode[0] != 0;
}

static bool
kept_files_same(const struct kept_files *a, const struct kept_files *b)
{
	int i;

	for (i = 0; i < 3; i++)
		if (a->device[i] != b->device[i] || a->inode[i] != b->inode[i])
			return false;
	return true;
}

/* What the connection reads now; false: it reads nothing that could be kept. */
static bool
kept_look(struct kept *k, struct store *s)
{
	struct store_study row = { 0 };
	double cookie;

	if (query_numbers(&cookie, 1, s, "PRAGMA schema_version", NULL) != 1 ||
	    store_study_get(s, &row, NULL) != 0)
		return false;
	k->cookie = (int64_t)cookie;
	store_study_id(k->id, &row);
	store_study_fini(&row);
	return kept_files_look(&k->files, s);
}

/* At its close: whether it is kept. */
static bool
kept_put(struct store *s)
{
	sqlite3_stmt *st = NULL;

	if (s->kept == NULL || s->failed || !kept_on || kept_store != NULL)
		return false;
	while ((st = sqlite3_next_stmt(s->db, st)) != NULL)
		if (sqlite3_stmt_busy(st))
			(void)sqlite3_reset(st);
	if (s->begun || !sqlite3_get_autocommit(s->db))
		return false;
	store_names_clear(s);
	row_blocks_forget(s, 0);
	(void)sqlite3_db_release_memory(s->db);
	kept_store = s;
	return true;
}

/* The one that is kept, if it is of this path and its file is as it was. */
static struct store *
kept_take(const char *path)
{
	struct store *s = kept_store;
	struct kept now = { .cookie = 0 };
	int64_t version;

	if (s == NULL)
		return NULL;
	query_limit_open(s);
	if (strcmp(s->path, path) == 0 && kept_look(&now, s) &&
	    kept_files_same(&now.files, &s->kept->files) &&
	    now.cookie == s->kept->cookie && strcmp(now.id, s->kept->id) == 0 &&
	    store_identify(s, &version, NULL) == 0 &&
	    version == schema_version() && !s->failed) {
		kept_store = NULL;
		return s;
	}
	store_keep_drop();
	return NULL;
}

int
store_open(
    struct store **out, const char *path, enum store_mode mode, struct err *e)
{
	struct kept *k;

	if (store_open_check(path, e) != 0)
		return -1;
	if (mode == STORE_READ && (*out = kept_take(path)) != NULL)
		return 0;
	if (store_open_new(out, path, mode, e) != 0)
		return -1;
	if (!kept_on || mode != STORE_READ || (*out)->fixed)
		return 0;
	k = xcalloc(1, sizeof *k);
	if (kept_look(k, *out))
		(*out)->kept = k;
	else
		free(k);
	return 0;
}

void
store_close(struct store *s)
{
	if (s != NULL && !kept_put(s))
		kept_free(s);
}
