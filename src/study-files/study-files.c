/*
 * Where a study is: study.json, NAME.db and NAME.d.  Uses file names only, and
 * the lock of NAME.d.
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"

static bool
study_files_ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

/*
 * Resolve a link: the lock is beside the file itself.  False when there is no
 * file.
 */
static bool
study_files_resolve(struct study_files *found)
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
study_files_by_json(struct study_files *found, const char *path,
    const char *state, struct err *e)
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
	(void)study_files_resolve(found);
	return 0;
}

/* A database was given: --state must name its folder, if given. */
static int
study_files_by_db(struct study_files *found, const char *path,
    const char *state, struct err *e)
{
	char *dir;
	bool same;

	found->db = xstrdup(path);
	if (!study_files_resolve(found))
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

void
study_files_fini(struct study_files *found)
{
	free(found->json);
	free(found->db);
	free(found->db_dir);
	study_free(found->study);
	memset(found, 0, sizeof *found);
}

int
study_files_exist(const struct study_files *found, struct err *e)
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
study_files_find(struct study_files *found, const char *name, const char *state,
    struct err *e)
{
	int rc;

	memset(found, 0, sizeof *found);
	rc = study_files_ends(name, ".json")
		 ? study_files_by_json(found, name, state, e)
		 : study_files_by_db(found, name, state, e);
	if (rc == -1)
		study_files_fini(found);
	return rc;
}

char **
study_files_in(const char *dir)
{
	struct strv names = { 0 };
	struct dirent *entry;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return NULL;
	while ((entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    !study_files_ends(entry->d_name, ".db"))
			continue;
		strv_add(&names, xasprintf("%s/%s", dir, entry->d_name));
	}
	(void)closedir(d);
	return names.v;
}

char *
study_files_state_dir(const char *db)
{
	size_t n = strlen(db);

	if (study_files_ends(db, ".db"))
		n -= strlen(".db");
	return xasprintf("%.*s.d", (int)n, db);
}

bool
study_files_served(const char *db)
{
	struct state_dir state;
	char *dir = study_files_state_dir(db);
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
