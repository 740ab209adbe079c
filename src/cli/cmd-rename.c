/*
 * hpotune rename: another name for a study that no server runs.
 *
 * The name is in the database, in the names of NAME.db and NAME.d, and in
 * study.json, and is changed there in this order.  Each step looks at what is
 * done already, so that the same command completes one that was interrupted.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/atomic-file.h"
#include "src/cli/common/cli.h"
#include "src/model/study/study.h"
#include "src/server/state-dir.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"

struct renaming {
	struct cli_study found;
	const char *now; /* the new name */
	char *was; /* the one until now */
	char *db, *dir; /* new paths */
	char *old_dir;
	bool db_moved; /* by an earlier command that was interrupted */
	struct state_dir state;
};

static bool
is_there(const char *path)
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

	if (is_there(r->found.db) || !is_there(r->db) ||
	    store_open(&store, r->db, STORE_READ, NULL) != 0)
		return false;
	change_texts(r, was, now, sizeof was);
	moved = rows_first(&rows, store, sql, params, NULL) == 1;
	if (moved)
		store_rows_close(rows);
	store_close(store);
	return moved;
}

static int
renaming_open(struct renaming *r, struct cli *cli, struct err *e)
{
	const char *base;

	*r = (struct renaming){ .state = STATE_DIR_INIT };
	if (cli_find_study(cli, &r->found, NULL, e) != 0)
		return -1;
	if (cli->n_operands != 1)
		return err_set(
		    e, ERR_USAGE, "rename: expected the new name of the study");
	r->now = cli->operands[0];
	if (!study_name_good(r->now))
		return err_set(e, ERR_USAGE,
		    "rename: %s: the name of a study has 1 to 32 lower-case "
		    "letters, digits or - and begins with no -",
		    r->now);
	base = strrchr(r->found.db, '/') + 1;
	r->was = xstrndup(base, strlen(base) - strlen(".db"));
	r->old_dir = path_beside(r->found.db, r->was, ".d");
	r->db = path_beside(r->found.db, r->now, ".db");
	r->dir = path_beside(r->found.db, r->now, ".d");
	r->db_moved = database_moved(r);
	if (strcmp(r->was, r->now) == 0)
		return err_set(
		    e, ERR_USAGE, "rename: the study has this name already");
	return r->db_moved ? 0 : cli_study_exists(&r->found, e);
}

static void
renaming_close(struct renaming *r)
{
	state_dir_close(&r->state);
	free(r->was);
	free(r->db);
	free(r->dir);
	free(r->old_dir);
	cli_study_fini(&r->found);
}

/* Check that no other process uses the study, and that the new name is free. */
static int
renaming_lock(struct renaming *r, struct err *e)
{
	bool dir_moved = !is_there(r->old_dir) && is_there(r->dir);

	if (!r->db_moved && is_there(r->db))
		return err_set(e, ERR_USAGE, "%s: exists already", r->db);
	if (!dir_moved && is_there(r->dir))
		return err_set(e, ERR_USAGE, "%s: exists already", r->dir);
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
	    "SELECT trial, state <> 'ended', backend FROM t_attempt WHERE "
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
	if (trials_check(store, e) != 0 || store_begin(store, e) != 0)
		return -1;
	if (store_rename(store, r->was, r->now, e) == 0 &&
	    store_change_add(store, &change, e) == 0 &&
	    store_commit(store, true, e) == 0)
		return 0;
	store_rollback(store);
	return -1;
}

/* The whole database must be in its one file before that is renamed. */
static int
database_rename(const struct renaming *r, struct err *e)
{
	struct store *store;
	char *log;
	int rc;

	if (r->db_moved)
		return 0;
	if (store_open(&store, r->found.db, STORE_WRITE, e) != 0)
		return -1;
	rc = database_write(store, r, e);
	store_close(store);
	log = xasprintf("%s-wal", r->found.db);
	if (rc == 0 && is_there(log))
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
	if (!is_there(from) && is_there(to))
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

static int
json_rename(const struct renaming *r, struct err *e)
{
	struct buf text = { 0 };
	int rc;

	if (r->found.json == NULL)
		return 0;
	rc = json_edit(&text, r, e);
	if (rc == 0)
		rc = atomic_file_write(r->found.json, true, &text, e);
	buf_free(&text);
	return rc;
}

static void
answer_print(const struct cli *cli, const struct renaming *r)
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
		rc = database_rename(&r, &e);
	fail_point("rename.database");
	if (rc == 0)
		rc = path_rename(r.old_dir, r.dir, &e);
	fail_point("rename.dir");
	if (rc == 0)
		rc = path_rename(r.found.db, r.db, &e);
	fail_point("rename.db");
	if (rc == 0)
		rc = json_rename(&r, &e);
	if (rc == 0)
		answer_print(cli, &r);
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
