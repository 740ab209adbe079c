/* A commit that is proposed in the place of the baseline's. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* Bytes of a diff: six times as many as JSON fit into a request. */
enum { SOURCE_DIFF_MOST = 65536 };

static int
source_challenger_state(struct source_state *state, const struct study *study,
    const char *db, struct err *e)
{
	struct store *store;
	int rc;

	if (store_open(&store, db, STORE_READ, e) != 0)
		return -1;
	rc = source_state_read(state, study, store, e);
	store_close(store);
	if (rc == 0 && *state->baseline == '\0')
		return err_set(e, ERR_FILE,
		    "the baseline, which confirm.baseline names, has no trial");
	return rc;
}

static int
source_challenger_patch(struct source_challenger *c, const char *dir,
    const char *base, const char *patch, struct err *e)
{
	char *tmp = source_tmp_make(e);
	int rc = -1;

	if (tmp != NULL)
		rc = git_commit_patch(c->hash, dir, base, patch, tmp, e);
	source_tmp_free(tmp);
	return rc;
}

int
source_challenger_make(struct source_challenger *c, const struct study *study,
    const char *db, const char *revision, const char *patch, struct err *e)
{
	const char *dir = study->trial.source.git;
	struct source_state state = { .busy = false };
	int rc;

	*c = (struct source_challenger){ .kept = false };
	if (dir == NULL)
		return err_set(e, ERR_USAGE,
		    "%s has no trial.source, which names the repository",
		    study->path);
	if (source_challenger_state(&state, study, db, e) != 0)
		return -1;
	if (revision != NULL)
		rc = source_commit_find(c->hash, study, revision, e);
	else
		rc = source_challenger_patch(c, dir, state.baseline, patch, e);
	if (rc == 0)
		rc = git_commit_diff(&c->diff, dir, state.baseline, c->hash,
		    SOURCE_DIFF_MOST, e);
	if (rc != 0)
		return -1;
	memcpy(c->refs, state.refs, sizeof c->refs);
	if (git_ref_exists(dir, c->refs, c->hash))
		return 0;
	c->kept = true;
	return git_ref_keep(dir, c->refs, c->hash, e);
}

void
source_challenger_undo(const struct source_challenger *c,
    const struct study *study, const char *db)
{
	const char *const params[] = { c->hash, NULL };
	struct store *store;
	struct store_rows *rows;
	struct err e = ERR_INIT;
	int rc;

	if (!c->kept || store_open(&store, db, STORE_READ, &e) != 0)
		return;
	rc = rows_first(&rows, store,
	    "SELECT 1 FROM proposals WHERE git_commit = ?1 LIMIT 1", params,
	    &e);
	if (rc == 1)
		store_rows_close(rows);
	store_close(store);
	if (rc == 0)
		(void)git_ref_drop(
		    study->trial.source.git, c->refs, c->hash, &e);
}

void
source_challenger_free(struct source_challenger *c)
{
	buf_free(&c->diff);
}
