/*
 * Finds the study that a command refers to: study.json, NAME.db, or the only
 * one in the folder.  Uses file names only.
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/model/study/study.h"
#include "src/server/state-dir.h"
#include "src/store/store.h"

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

/* The first operand when it names a study; it is removed.  Otherwise NULL. */
static const char *
operand_take(struct cli *cli)
{
	const char *name;
	int i;

	if (cli->n_operands == 0)
		return NULL;
	name = cli->operands[0];
	if (!ends_with(name, ".json") && !ends_with(name, ".db"))
		return NULL;
	if (strchr(name, '=') != NULL && access(name, F_OK) == -1)
		return NULL;
	for (i = 0; i < cli->n_operands; i++)
		cli->operands[i] = cli->operands[i + 1];
	cli->n_operands--;
	return name;
}

/* The only NAME.db in dir; the error says why there is none or several. */
static int
folder_search(const char *dir, char **path, struct err *e)
{
	struct dirent *entry;
	char *found = NULL, *second = NULL;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return err_set(e, ERR_USAGE, "no study given: %s: %s",
		    strcmp(dir, ".") == 0 ? "this folder" : dir,
		    strerror(errno));
	while ((entry = readdir(d)) != NULL && second == NULL) {
		if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".db"))
			continue;
		if (found == NULL)
			found = xstrdup(entry->d_name);
		else
			second = xstrdup(entry->d_name);
	}
	(void)closedir(d);
	if (found == NULL)
		(void)err_set(e, ERR_USAGE,
		    "no study given: %s has neither study.json nor "
		    "NAME.db",
		    strcmp(dir, ".") == 0 ? "this folder" : dir);
	else if (second != NULL)
		(void)err_set(e, ERR_USAGE,
		    "no study given: there are several, such as %s and %s",
		    found, second);
	else
		*path = xasprintf("%s/%s", dir, found);
	free(second);
	free(found);
	return *path != NULL ? 0 : -1;
}

/*
 * Resolve a link: the lock is beside the file itself.  False when there is no
 * file.
 */
static bool
db_resolve(struct cli_study *found)
{
	char *real = realpath(found->db, NULL);

	if (real == NULL)
		return false;
	free(found->db);
	free(found->db_dir);
	found->db = real;
	found->db_dir = xstrndup(real, (size_t)(strrchr(real, '/') - real));
	return true;
}

/* study.json was given: read it, and derive the path of its database. */
static int
find_by_json(
    struct cli_study *found, const char *path, const char *state, struct err *e)
{
	char *dir;

	if (access(path, R_OK) == -1)
		return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	if (study_load(&found->study, path, e) != 0)
		return -1;
	found->json = xstrdup(found->study->path);
	dir =
	    state != NULL ? realpath(state, NULL) : xstrdup(found->study->dir);
	if (dir == NULL)
		return err_set(
		    e, ERR_USAGE, "--state %s: %s", state, strerror(errno));
	found->db_dir = dir;
	found->db = xasprintf("%s/%s.db", dir, found->study->name);
	(void)db_resolve(found);
	return 0;
}

/* A database was given: --state must name its folder, if given. */
static int
find_by_db(
    struct cli_study *found, const char *path, const char *state, struct err *e)
{
	char *dir;
	bool same;

	found->db = xstrdup(path);
	if (!db_resolve(found))
		return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	if (state == NULL)
		return 0;
	if ((dir = realpath(state, NULL)) == NULL)
		return err_set(
		    e, ERR_USAGE, "--state %s: %s", state, strerror(errno));
	same = strcmp(dir, found->db_dir) == 0;
	free(dir);
	if (same)
		return 0;
	return err_set(e, ERR_USAGE,
	    "--state %s: %s stays in its own folder; --state is "
	    "for study.json",
	    state, path);
}

int
cli_study_exists(const struct cli_study *found, struct err *e)
{
	if (access(found->db, F_OK) == 0)
		return 0;
	if (errno != ENOENT || found->study == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: %s", found->db, strerror(errno));
	return err_set(e, ERR_USAGE,
	    "%s: does not exist yet: hpotune start creates it; "
	    "for a study started with --state DIR, give DIR/%s.db",
	    found->db, found->study->name);
}

int
cli_find_named(struct cli_study *found, const char *name, struct err *e)
{
	int rc;

	memset(found, 0, sizeof *found);
	rc = ends_with(name, ".json") ? find_by_json(found, name, NULL, e)
				      : find_by_db(found, name, NULL, e);
	if (rc == -1)
		cli_study_fini(found);
	return rc;
}

char **
cli_find_names(const char *dir)
{
	struct strv names = { 0 };
	struct dirent *entry;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return NULL;
	while ((entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".db"))
			continue;
		strv_add(&names, xasprintf("%s/%s", dir, entry->d_name));
	}
	(void)closedir(d);
	return names.v;
}

int
cli_find_study(
    struct cli *cli, struct cli_study *found, const char *state, struct err *e)
{
	const char *name = operand_take(cli);
	char *only = NULL;
	int rc;

	memset(found, 0, sizeof *found);
	if (cli->n_operands > 0 && strcmp(cli->command->args, "[STUDY]") == 0)
		return err_set(e, ERR_USAGE,
		    "%s: %s: not a study: expected study.json or NAME.db",
		    cli->command->name, cli->operands[0]);
	if (name == NULL && access("study.json", F_OK) == 0)
		name = "study.json";
	if (name == NULL) {
		if (folder_search(state != NULL ? state : ".", &only, e) != 0)
			return -1;
		name = only;
	}
	if (ends_with(name, ".json"))
		rc = find_by_json(found, name, state, e);
	else
		rc = find_by_db(found, name, state, e);
	free(only);
	if (rc == -1)
		cli_study_fini(found);
	return rc;
}

void
cli_study_fini(struct cli_study *found)
{
	free(found->json);
	free(found->db);
	free(found->db_dir);
	study_free(found->study);
	memset(found, 0, sizeof *found);
}

int
cli_open_store(struct cli *cli, struct cli_study *found, struct store **store,
    struct err *e)
{
	if (cli_find_study(cli, found, NULL, e) != 0)
		return -1;
	caller_env_note(found);
	if (cli_study_exists(found, e) != 0 ||
	    store_open(store, found->db, STORE_READ, e) != 0) {
		cli_study_fini(found);
		return -1;
	}
	return 0;
}

char *
cli_state_dir(const char *db)
{
	return xasprintf("%.*s.d", (int)(strlen(db) - strlen(".db")), db);
}

bool
cli_server_alive(const struct cli_study *found)
{
	struct state_dir state;
	char *dir = cli_state_dir(found->db);
	bool alive = true;

	if (access(dir, F_OK) == -1 && errno == ENOENT)
		alive = false;
	else if (state_dir_open(&state, dir, false, NULL) == 0) {
		alive = state_dir_is_locked(&state, NULL, 0);
		state_dir_close(&state);
	}
	free(dir);
	return alive;
}
