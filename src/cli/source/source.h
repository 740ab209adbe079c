/*
 * Studies with trial.source, for the commands: which commit a study begins with, the
 * commits of its baseline and of a challenger, and what is left in the repository.
 */

#ifndef HPOTUNE_CLI_SOURCE_H
#define HPOTUNE_CLI_SOURCE_H

#include <stdbool.h>

#include "src/base/git/git.h"
#include "src/base/mem.h"

struct err;
struct store;
struct store_study;
struct study;

/* Below which refs keep the commits of a study of this id. */
#define SOURCE_REFS "refs/hpotune/%s"

/* source-state.c: what the database says; "" where there is none. */
struct source_state {
	char refs[64]; /* below which refs keep the commits of the study */
	char commit[GIT_HASH]; /* of the study */
	char baseline[GIT_HASH]; /* of the standing baseline */
	bool busy; /* trials have not ended, or proposals are open */
};
int source_state_read(
    struct source_state *, const struct study *, struct store *, struct err *);

/*
 * source-begin.c: find the commit of a study that has no trial yet, and set
 * trial.source.hash.  ERR_USAGE: changes are in no commit, and are not to be
 * recorded.  db NULL: a study of one trial, which leaves nothing.
 */
int source_begin(struct study *, const char *db, struct err *);
/* Whether source_begin would find it; nothing is made. */
int source_look(const struct study *, const char *db, struct err *);
/*
 * The hash of a revision.  Changes of its checkout are refused, or recorded in a
 * commit of their own, as trial.source.uncommitted says.
 */
int source_commit_find(char hash[GIT_HASH], const struct study *,
    const char *revision, struct err *);
/*
 * A path for a file in a new folder, which source_tmp_free removes; NULL with an
 * error.
 */
char *source_tmp_make(struct err *);
void source_tmp_free(char *path);

/* source-challenger.c: a commit that is proposed; all zero: none. */
struct source_challenger {
	char hash[GIT_HASH];
	struct buf diff; /* from the baseline's commit */
	char refs[64];
	bool kept; /* a ref for it was made now */
};
/*
 * Find the commit of a revision, or make that of a patch (a path) over the
 * baseline's; the other one is NULL.  A ref keeps it.
 */
int source_challenger_make(struct source_challenger *, const struct study *,
    const char *db, const char *revision, const char *patch, struct err *);
/* Delete the ref again, unless the database has a proposal of the commit. */
void source_challenger_undo(
    const struct source_challenger *, const struct study *, const char *db);
void source_challenger_free(struct source_challenger *);

/* source-clean.c: what was removed, or with dry would be. */
struct source_cleaned {
	int worktrees; /* of attempts that have ended */
	int refs;
	bool busy; /* refs stay while trials run or proposals are open */
};
/* The study of this row was called so: move its refs to those of its name. */
int source_renamed(const struct study *, const struct store_study *row,
    const char *was, struct err *);
int source_clean(struct source_cleaned *, const struct study *, const char *db,
    const char *state_dir, bool dry, struct err *);

#endif /* HPOTUNE_CLI_SOURCE_H */
