/*
 * hpotune rename: another name for a study that no server runs.
 *
 * The name is in the database, in the names of NAME.db and NAME.d, and in
 * study.json; other files beside these two bear it, too.  All that can refuse is
 * asked first, and the new text of study.json is written beside it; then OLD.rename
 * is made, which prevents a start under the old name, and the names are changed:
 * in the database, then of the other files, of NAME.d and NAME.db, of refs, and in
 * study.json.  Each step looks at what is done already, so that the same command
 * completes one that was interrupted.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/files-beside.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"

struct renaming {
	struct study_files found;
	const char *now; /* the new name */
	char *was; /* the one until now */
	char *db, *dir; /* new paths */
	char *old_dir;
	/* Of NAME.db; and of study.json, when that is another one, or NULL. */
	char *beside[2];
	bool db_moved; /* by an earlier command that was interrupted */
	struct state_dir state;
	struct atomic_file json; /* the new study.json, not yet in its place */
	struct err refs; /* why refs have the old name still */
};

static bool
rename_is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The path with another last component. */
static char *
path_beside(const char *path, const char *name, const char *end)
{
	const char *slash = strrchr(path, '/');

	return xasprintf("%.*s/%s%s", (int)(slash - path), path, name, end);
}

/* Old and new value in the row of view changes. */
static void
change_texts(const struct renaming *r, char *was, char *now, size_t n)
{
	(void)snprintf(was, n, "\"%s\"", r->was);
	(void)snprintf(now, n, "\"%s\"", r->now);
}

/* Whether an earlier command has got as far as to rename the database. */
static bool
database_moved(const struct renaming *r)
{
	static const char sql[] = "SELECT 1 FROM changes WHERE key = 'study' "
				  "AND old = ?1 AND new = ?2";
	char was[64], now[64];
	const char *const params[] = { was, now, NULL };
	struct store_rows *rows;
	struct store *store;
	bool moved;

	if (rename_is_there(r->found.db) || !rename_is_there(r->db) ||
	    store_open(&store, r->db, STORE_READ, NULL) != 0)
		return false;
	change_texts(r, was, now, sizeof was);
	moved = rows_first(&rows, store, sql, params, NULL) == 1;
	if (moved)
		store_rows_close(rows);
	store_close(store);
	return moved;
}

/* The folder of study.json, as the last start of the study has found it. */
static char *
json_folder(const struct renaming *r)
{
	struct store_study row = { 0 };
	struct store *store;
	char *path = NULL, *real;

	if (r->found.study != NULL)
		return realpath(r->found.study->dir, NULL);
	if (store_open(&store, r->found.db, STORE_READ, NULL) != 0)
		return NULL;
	if (store_study_get(store, &row, NULL) == 0 && row.dir != NULL)
		path = *row.dir == '/' ? xstrdup(row.dir)
				       : path_beside(r->found.db, row.dir, "");
	store_study_fini(&row);
	store_close(store);
	real = path != NULL ? realpath(path, NULL) : NULL;
	free(path);
	return real;
}

static void
folders_find(struct renaming *r)
{
	char *other = json_folder(r);

	r->beside[0] = xstrdup(r->found.db_dir);
	if (other != NULL && strcmp(other, r->beside[0]) != 0)
		r->beside[1] = other;
	else
		free(other);
}

/* OLD.db was named, which an earlier command has moved before it was interrupted. */
static bool
moved_find(struct renaming *r, struct cli *cli)
{
	const char *given = cli->operands[0], *slash = strrchr(given, '/');
	char *dir, *real;
	size_t n = strlen(given);

	if (cli->n_operands != 2 || n <= strlen(".db") ||
	    strcmp(given + n - strlen(".db"), ".db") != 0 ||
	    rename_is_there(given))
		return false;
	dir = slash != NULL ? xstrndup(given, (size_t)(slash + 1 - given))
			    : xstrdup(".");
	real = realpath(dir, NULL);
	free(dir);
	if (real == NULL)
		return false;
	r->found.db =
	    xasprintf("%s/%s", real, slash != NULL ? slash + 1 : given);
	r->found.db_dir = real;
	r->now = cli->operands[1];
	if (state_dir_check_renaming(r->found.db, NULL, NULL) != 0)
		return true;
	study_files_fini(&r->found);
	r->found = (struct study_files){ 0 };
	return false;
}

/* The study, and its new name. */
static int
rename_study_find(struct renaming *r, struct cli *cli, struct err *e)
{
	if (moved_find(r, cli))
		return 0;
	if (cli_find_study(cli, &r->found, NULL, e) != 0)
		return -1;
	if (cli->n_operands != 1)
		return err_set(
		    e, ERR_USAGE, "rename: expected the new name of the study");
	r->now = cli->operands[0];
	return 0;
}

static int
same_name(const struct renaming *r, struct err *e)
{
	(void)state_dir_renaming_ended(r->found.db, r->now);
	return err_set(e, ERR_USAGE, "rename: the study has this name already");
}

static int
renaming_open(struct renaming *r, struct cli *cli, struct err *e)
{
	const char *base;

	*r = (struct renaming){ .state = STATE_DIR_INIT, .json.fd = -1 };
	if (rename_study_find(r, cli, e) != 0)
		return -1;
	if (!study_name_good(r->now))
		return err_set(e, ERR_USAGE,
		    "rename: %s: the name of a study has 1 to 32 lower-case "
		    "letters, digits or - and begins with no -",
		    r->now);
	base = strrchr(r->found.db, '/') + 1;
	r->was = xstrndup(base, strlen(base) - strlen(".db"));
	r->old_dir = study_files_state_dir(r->found.db);
	r->db = path_beside(r->found.db, r->now, ".db");
	r->dir = study_files_state_dir(r->db);
	r->db_moved = database_moved(r);
	folders_find(r);
	if (strcmp(r->was, r->now) == 0)
		return same_name(r, e);
	if (state_dir_check_renaming(r->found.db, r->now, e) != 0)
		return -1;
	return r->db_moved ? 0 : study_files_exist(&r->found, e);
}

static void
renaming_close(struct renaming *r)
{
	state_dir_close(&r->state);
	atomic_file_drop(&r->json);
	free(r->was);
	free(r->db);
	free(r->dir);
	free(r->old_dir);
	free(r->beside[0]);
	free(r->beside[1]);
	study_files_fini(&r->found);
}

static int
beside_check(const struct renaming *r, struct err *e)
{
	char *mark = path_beside(r->found.db, r->was, ".rename");
	bool again = rename_is_there(mark);
	int rc = 0;
	size_t i;

	for (i = 0; rc == 0 && i < 2 && r->beside[i] != NULL; i++)
		rc = files_beside_check(r->beside[i], r->was, r->now, again, e);
	free(mark);
	return rc;
}

static int
beside_copy(const struct renaming *r, struct store *store, struct err *e)
{
	int rc = 0;
	size_t i;

	for (i = 0; rc == 0 && i < 2 && r->beside[i] != NULL; i++)
		rc = files_beside_copy(r->beside[i], r->was, r->now, store, e);
	return rc;
}

static int
beside_rename(const struct renaming *r, struct err *e)
{
	int rc = 0;
	size_t i;

	for (i = 0; rc == 0 && i < 2 && r->beside[i] != NULL; i++)
		rc = files_beside_rename(r->beside[i], r->was, r->now, e);
	return rc;
}

/* Check that no other process uses the study, and that the new name is free. */
static int
renaming_lock(struct renaming *r, struct err *e)
{
	bool dir_moved =
	    !rename_is_there(r->old_dir) && rename_is_there(r->dir);

	if (!r->db_moved && rename_is_there(r->db))
		return err_set(e, ERR_USAGE, "%s: exists already", r->db);
	if (!dir_moved && rename_is_there(r->dir))
		return err_set(e, ERR_USAGE, "%s: exists already", r->dir);
	if (beside_check(r, e) != 0)
		return -1;
	if (state_dir_open(
		&r->state, dir_moved ? r->dir : r->old_dir, false, e) != 0 ||
	    state_dir_lock(&r->state, STATE_DIR_COMMAND, e) != 0)
		return -1;
	return state_dir_lock_db(
	    &r->state, r->db_moved ? r->db : r->found.db, e);
}

/* Trials that run, and jobs of services, have the old name. */
static int
trials_check(struct store *store, struct err *e)
{
	static const char sql[] =
	    "SELECT trial, state <> 'ended', backend FROM attempts WHERE "
	    "state <> 'ended' OR backend NOT IN ('local', 'pretend', 'ask') "
	    "ORDER BY 2 DESC LIMIT 1";
	struct store_rows *rows;
	int rc = rows_first(&rows, store, sql, NULL, e);

	if (rc != 1)
		return rc;
	if (store_rows_int(rows, 1) > 0)
		rc = err_set(e, ERR_USAGE,
		    "rename: trial %s has not ended: stop the server, or the "
		    "trial, first",
		    store_rows_text(rows, 0));
	else
		rc = err_set(e, ERR_USAGE,
		    "rename: the jobs on %s have the name of the study: "
		    "it cannot be changed",
		    store_rows_text(rows, 2));
	store_rows_close(rows);
	return rc;
}

static int
database_write(struct store *store, const struct renaming *r, struct err *e)
{
	char was[64], now[64];
	struct store_change change = {
		.key = "study",
		.old = was,
		.now = now,
		.outside = -1,
		.time_us = clock_wall_us(),
	};

	change_texts(r, was, now, sizeof was);
	if (store_begin(store, e) != 0)
		return -1;
	if (store_rename(store, r->was, r->now, e) == 0 &&
	    store_change_add(store, &change, e) == 0 &&
	    store_commit(store, true, e) == 0)
		return 0;
	store_rollback(store);
	return -1;
}

/* Whether its row has the new name: an earlier command was interrupted. */
static bool
database_has_name(struct store *store, const struct renaming *r)
{
	struct store_study row = { 0 };
	bool has = store_study_get(store, &row, NULL) == 0 &&
		   strcmp(row.name, r->now) == 0;

	store_study_fini(&row);
	return has;
}

/* Nothing in it prevents another name. */
static int
database_check(const struct renaming *r, struct err *e)
{
	struct store *store;
	int rc;

	if (r->db_moved)
		return 0;
	if (store_open(&store, r->found.db, STORE_WRITE, e) != 0)
		return -1;
	rc = trials_check(store, e);
	store_close(store);
	return rc;
}

/* The whole database must be in its one file before that is renamed. */
static int
database_rename(const struct renaming *r, struct err *e)
{
	struct store *store;
	char *log;
	int rc = 0;

	if (r->db_moved)
		return 0;
	if (store_open(&store, r->found.db, STORE_WRITE, e) != 0)
		return -1;
	if (!database_has_name(store, r))
		rc = database_write(store, r, e);
	if (rc == 0)
		rc = beside_copy(r, store, e);
	store_close(store);
	log = xasprintf("%s-wal", r->found.db);
	if (rc == 0 && rename_is_there(log))
		rc = err_set(e, ERR_BUSY,
		    "%s: another program reads it: close that program and "
		    "run the same command again",
		    r->found.db);
	free(log);
	return rc;
}

static int
path_rename(const char *from, const char *to, struct err *e)
{
	if (!rename_is_there(from) && rename_is_there(to))
		return 0;
	if (rename(from, to) != 0)
		return err_set(e, ERR_FILE, "%s: %s", from, strerror(errno));
	return 0;
}

static int
file_text(struct buf *out, const char *path, struct err *e)
{
	char chunk[4096];
	FILE *f = fopen(path, "re");
	size_t n;
	bool bad;

	while (f != NULL && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	bad = f == NULL || ferror(f);
	if (bad)
		(void)err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	if (f != NULL)
		(void)fclose(f);
	return bad ? -1 : 0;
}

/* The text of study.json with the new name; the rest stays as it is. */
static int
json_edit(struct buf *out, const struct renaming *r, struct err *e)
{
	struct buf text = { 0 };
	const struct json *name;
	struct json_doc *doc;
	size_t at, end;

	if (file_text(&text, r->found.json, e) != 0 ||
	    json_parse(&doc, text.data, text.len, r->found.json, true, e) !=
		0) {
		buf_free(&text);
		return -1;
	}
	name = json_get(json_root(doc), "study");
	json_span(name, &at, &end);
	buf_add(out, text.data, at);
	json_put_string(out, r->now);
	buf_add(out, text.data + end, text.len - end);
	json_free(doc);
	buf_free(&text);
	return 0;
}

/* Write it beside study.json, which may be a link to one in another folder. */
static int
json_prepare(struct renaming *r, struct err *e)
{
	struct buf text = { 0 };
	struct stat st;
	char *real;
	int rc;

	if (r->found.json == NULL)
		return 0;
	real = realpath(r->found.json, NULL);
	if (real == NULL)
		return err_set(
		    e, ERR_FILE, "%s: %s", r->found.json, strerror(errno));
	rc = json_edit(&text, r, e);
	if (rc == 0)
		rc = atomic_file_open(&r->json, real, true, e);
	if (rc == 0)
		rc = atomic_file_put(&r->json, &text, e);
	if (rc == 0 && stat(real, &st) == 0)
		(void)fchmod(r->json.fd, st.st_mode & 07777);
	buf_free(&text);
	free(real);
	return rc;
}

/* The names in the folder of the study are on its disk. */
static int
folder_sync(const struct renaming *r, struct err *e)
{
	char *dir = path_beside(r->db, ".", "");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	/* Some file systems have no sync of folders. */
	if (fd == -1 || (fsync(fd) == -1 && errno != EINVAL))
		rc = err_set(e, ERR_FILE, "%s: %s", dir, strerror(errno));
	if (fd != -1)
		(void)close(fd);
	free(dir);
	return rc;
}

/* The refs of a study of commits have a part that is of its name. */
static int
refs_rename(const struct renaming *r, struct err *e)
{
	struct store_study row = { 0 };
	struct study *study = NULL;
	struct store *store;
	char *dir;
	int rc;

	if (store_open(&store, r->db, STORE_READ, e) != 0)
		return -1;
	rc = store_study_get(store, &row, e);
	store_close(store);
	if (rc == 0 && row.dir != NULL &&
	    strstr(row.json, "\"source\"") != NULL) {
		dir = *row.dir == '/' ? xstrdup(row.dir)
				      : path_beside(r->db, row.dir, "");
		rc = study_parse_recorded(&study, row.json, dir, e);
		free(dir);
	}
	if (rc == 0 && study != NULL && study->trial.source.git != NULL)
		rc = source_renamed(study, &row, r->was, e);
	study_free(study);
	store_study_fini(&row);
	return rc;
}

/* Nothing has refused: change the names. */
static int
names_change(struct renaming *r, struct err *e)
{
	int rc = state_dir_renaming_begin(r->found.db, r->now, e);

	fail_point("rename.begin");
	if (rc == 0)
		rc = database_rename(r, e);
	fail_point("rename.database");
	if (rc == 0)
		rc = beside_rename(r, e);
	fail_point("rename.beside");
	if (rc == 0)
		rc = path_rename(r->old_dir, r->dir, e);
	fail_point("rename.dir");
	if (rc == 0)
		rc = path_rename(r->found.db, r->db, e);
	if (rc == 0)
		rc = folder_sync(r, e);
	fail_point("rename.db");
	/* A repository that is away prevents nothing, and is said at the end. */
	if (rc == 0)
		(void)refs_rename(r, &r->refs);
	fail_point("rename.refs");
	if (rc == 0 && r->found.json != NULL)
		rc = atomic_file_finish(&r->json, e);
	fail_point("rename.json");
	if (rc == 0)
		rc = state_dir_renaming_end(r->found.db, e);
	return rc;
}

static void
rename_answer_print(const struct cli *cli, const struct renaming *r)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };
	char *text = xasprintf("the study %s is now called %s%s", r->was,
	    r->now,
	    r->found.json == NULL ? ": set \"study\" in its study.json" : "");

	if (cli->json) {
		json_writer_object(&w, NULL);
		json_writer_bool(&w, "ok", true);
		json_writer_text(&w, "text", text);
		json_writer_end(&w);
		buf_putc(&b, '\n');
		cli_print_json(buf_str(&b));
	} else
		cli_print_line("%s\n", text);
	free(text);
	buf_free(&b);
}

static int
rename_run(struct cli *cli)
{
	struct renaming r;
	struct err e = ERR_INIT;
	int rc;

	rc = renaming_open(&r, cli, &e);
	if (rc == 0)
		rc = renaming_lock(&r, &e);
	if (rc == 0)
		rc = database_check(&r, &e);
	if (rc == 0)
		rc = json_prepare(&r, &e);
	if (rc == 0)
		rc = names_change(&r, &e);
	if (rc == 0)
		rename_answer_print(cli, &r);
	if (rc == 0 && r.refs.kind != ERR_NONE)
		rc = err_set(&e, r.refs.kind, "%s", r.refs.text);
	renaming_close(&r);
	return rc == 0 ? CLI_DONE : cli_fail(&e);
}

const struct cli_command cmd_rename = {
	.name = "rename",
	.args = "[STUDY] NAME",
	.about = "give a study that no server runs another name",
	.min_operands = 1,
	.max_operands = 2,
	.json = true,
	.run = rename_run,
};
