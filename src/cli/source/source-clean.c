/* Removes what a study has in its repository: worktrees and refs. */

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"

enum { SOURCE_REPAIR_AT_ONCE = 100 };

/* The folder with the folders of trials, without links; the caller frees it. */
static char *
source_trials(const char *state_dir)
{
	char *path = xasprintf("%s/trials", state_dir);
	char *real = realpath(path, NULL);

	if (real == NULL)
		return path;
	free(path);
	return real;
}

/* Have git look at worktrees of these paths, after its first two words. */
static void
source_repair_some(const char *dir, const char *const *args)
{
	struct err e = ERR_INIT;

	(void)git_run(&(struct git_call){ .dir = dir, .args = args }, NULL, &e);
}

/* Add the worktrees of one trial: its folder, and those of its attempts. */
static void
source_add_trial(struct strv *list, const char *trials, const char *trial)
{
	int attempt;
	char *path;

	for (attempt = 1;; attempt++) {
		path = xasprintf("%s/%s/attempt-%d", trials, trial, attempt);
		if (access(path, F_OK) != 0)
			break;
		free(path);
		path = xasprintf(
		    "%s/%s/attempt-%d/source", trials, trial, attempt);
		if (access(path, F_OK) == 0)
			strv_add(list, path);
		else
			free(path);
	}
	free(path);
}

/*
 * Where the study or the repository was moved, both know old paths of worktrees:
 * git gives them the new ones.
 */
static void
source_repair(const char *dir, const char *trials)
{
	const char *args[SOURCE_REPAIR_AT_ONCE + 3] = { "worktree", "repair" };
	struct strv list = { 0 };
	DIR *folder = opendir(trials);
	const struct dirent *d;
	size_t i = 0, n;

	while (folder != NULL && (d = readdir(folder)) != NULL)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			source_add_trial(&list, trials, d->d_name);
	while (i < list.n) {
		for (n = 2; n < SOURCE_REPAIR_AT_ONCE + 2 && i < list.n; n++)
			args[n] = list.v[i++];
		args[n] = NULL;
		source_repair_some(dir, args);
	}
	if (folder != NULL)
		(void)closedir(folder);
	strv_free(list.v);
}

/* Whether the attempt whose worktree this is has not ended: 1, 0 or -1. */
static int
source_is_open(
    struct store *store, const char *trials, const char *path, struct err *e)
{
	char sql[128];
	int64_t trial = 0, attempt = 0;
	double open;

	if (sscanf(path + strlen(trials), "/%" SCNd64 "/attempt-%" SCNd64,
		&trial, &attempt) != 2)
		return 0;
	(void)snprintf(sql, sizeof sql,
	    "SELECT count(*) FROM attempts WHERE trial = %" PRId64
	    " AND attempt = %" PRId64 " AND state <> 'ended'",
	    trial, attempt);
	if (rows_numbers(&open, 1, store, sql, e) == -1)
		return -1;
	return open > 0;
}

static int
source_clean_worktrees(struct source_cleaned *c, const char *dir,
    const char *trials, struct store *store, bool dry, struct err *e)
{
	struct strv list = { 0 };
	size_t i;
	int rc, open;

	if (!dry)
		source_repair(dir, trials);
	/*
	 * Listed before the attempts are read: one that is made later has an
	 * attempt that is open.
	 */
	rc = git_worktree_list(&list, dir, trials, e);
	for (i = 0; i < list.n && rc == 0; i++) {
		open = source_is_open(store, trials, list.v[i], e);
		if (open == 0 && !dry)
			rc = git_worktree_remove(dir, list.v[i], e);
		else if (open == -1)
			rc = -1;
		c->worktrees += rc == 0 && open == 0;
	}
	strv_free(list.v);
	return rc;
}

/* How many refs there are. */
static int
source_clean_count(const char *dir, const char *refs, struct err *e)
{
	char *below = xasprintf("%s/", refs);
	const char *const args[] = { "for-each-ref", "--format=x", below,
		NULL };
	struct git_call call = { .dir = dir, .args = args, .most = 1 << 20 };
	struct buf out = { 0 };
	int rc = git_run(&call, &out, e), n = (int)(out.len / 2);

	buf_free(&out);
	free(below);
	return rc == 0 ? n : -1;
}

int
source_clean(struct source_cleaned *c, const struct study *study,
    const char *db, const char *state_dir, bool dry, struct err *e)
{
	const char *dir = study->trial.source.git;
	char *trials = source_trials(state_dir);
	struct source_state state;
	struct store *store = NULL;
	int rc, n = 0;

	*c = (struct source_cleaned){ .worktrees = 0 };
	rc = store_open(&store, db, STORE_READ, e);
	if (rc == 0)
		rc = source_state_read(&state, study, store, e);
	if (rc == 0)
		rc = source_clean_worktrees(c, dir, trials, store, dry, e);
	if (rc == 0 && !state.busy) {
		n = dry ? source_clean_count(dir, state.refs, e)
			: git_ref_drop_all(dir, state.refs, e);
		rc = n < 0 ? -1 : 0;
	}
	c->busy = rc == 0 && state.busy;
	c->refs = n;
	store_close(store);
	free(trials);
	return rc == 0 ? 0 : err_add(e, "trial.source: %s", dir);
}

int
source_renamed(const struct study *study, const struct store_study *row,
    const char *was, struct err *e)
{
	const char *dir = study->trial.source.git;
	struct store_study before = *row;
	char id[STUDY_ID], from[64], to[64];

	before.name = (char *)was;
	store_study_id(id, &before);
	(void)snprintf(from, sizeof from, SOURCE_REFS, id);
	store_study_id(id, row);
	(void)snprintf(to, sizeof to, SOURCE_REFS, id);
	if (git_ref_move_all(dir, from, to, e) < 0)
		return err_add(e, "trial.source: %s", dir);
	return 0;
}
