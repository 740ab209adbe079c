/* Which commit a study begins with. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

char *
source_tmp_make(struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf(
	    "%s/hpotune-git-XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	char *path = NULL;

	if (mkdtemp(dir) == NULL)
		(void)err_set(e, ERR_FILE, "%s: %s", dir, strerror(errno));
	else
		path = xasprintf("%s/index", dir);
	free(dir);
	return path;
}

void
source_tmp_free(char *path)
{
	char *lock;

	if (path == NULL)
		return;
	/* Of git, when that was killed. */
	lock = xasprintf("%s.lock", path);
	(void)unlink(lock);
	(void)unlink(path);
	free(lock);
	*strrchr(path, '/') = '\0';
	(void)rmdir(path);
	free(path);
}

/* The hash of a revision; record: changes of its checkout are to be recorded. */
static int
source_begin_find(char hash[GIT_HASH], bool *record, const struct study *study,
    const char *revision, struct err *e)
{
	const struct study_source *s = &study->trial.source;
	bool dirty = false;

	if (git_commit_find(hash, s->git, revision, e) != 0 ||
	    git_commit_dirty(&dirty, s->git, hash, e) != 0)
		return err_add(e, "trial.source: %s", s->git);
	*record = dirty && s->record;
	if (!dirty || s->record)
		return 0;
	return err_set(e, ERR_USAGE,
	    "trial.source: %s has changes that are in no commit, and trials "
	    "would not have them: commit them, or set \"uncommitted\": "
	    "\"record\"",
	    s->git);
}

int
source_commit_find(char hash[GIT_HASH], const struct study *study,
    const char *revision, struct err *e)
{
	bool record;
	char *tmp;
	int rc = source_begin_find(hash, &record, study, revision, e);

	if (rc != 0 || !record)
		return rc;
	tmp = source_tmp_make(e);
	rc = tmp != NULL
		 ? git_commit_record(hash, study->trial.source.git, tmp, e)
		 : -1;
	source_tmp_free(tmp);
	return rc;
}

/* Whether a trial has a commit, which is then that of the study. */
static int
source_is_begun(
    bool *begun, const struct study *study, const char *db, struct err *e)
{
	struct source_state state = { .busy = false };
	struct store *store;
	int rc;

	*begun = false;
	if (store_exists(begun, db, e) != 0)
		return -1;
	if (!*begun)
		return 0;
	if (store_open(&store, db, STORE_READ, e) != 0)
		return -1;
	rc = source_state_read(&state, study, store, e);
	store_close(store);
	*begun = rc == 0 && *state.commit != '\0';
	return rc;
}

int
source_begin(struct study *study, const char *db, struct err *e)
{
	struct study_source *s = &study->trial.source;
	char hash[GIT_HASH];
	bool begun = false;

	if (s->git == NULL)
		return 0;
	if (db == NULL)
		s->passing = s->drop = true;
	else if (source_is_begun(&begun, study, db, e) != 0)
		return -1;
	if (begun)
		return 0;
	if (source_commit_find(hash, study, s->commit, e) != 0) {
		e->kind = ERR_USAGE;
		return -1;
	}
	free(s->hash);
	s->hash = xstrdup(hash);
	return 0;
}

int
source_look(const struct study *study, const char *db, struct err *e)
{
	const struct study_source *s = &study->trial.source;
	char hash[GIT_HASH];
	bool begun, record;

	if (s->git == NULL)
		return 0;
	if (source_is_begun(&begun, study, db, e) != 0)
		return -1;
	return begun ? 0
		     : source_begin_find(hash, &record, study, s->commit, e);
}
