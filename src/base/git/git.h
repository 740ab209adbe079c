/*
 * Runs the program git and waits for it.  The variables by which git would look at
 * another repository are removed; hooks do not run; nobody is asked for a password;
 * the user's index is not refreshed.
 */

#ifndef HPOTUNE_GIT_H
#define HPOTUNE_GIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct strv;

enum { GIT_HASH = 65 }; /* room for the hash of a commit, SHA-1 or SHA-256 */

struct git_call {
	const char *dir; /* a folder of the repository, or a bare one */
	const char *const *args; /* ends with NULL */
	const char *index; /* instead of the user's, or NULL */
	const char *const *env; /* "NAME=VALUE", ends with NULL; or NULL */
	size_t most; /* bytes of output that are kept; 0 = 64 KiB */
};

/*
 * Append its output, of which only the first bytes are kept.  Its exit status;
 * -1: it could not be started, or took longer than a minute.  Above 0 the error
 * has what git says, in one line.  out may be NULL.
 */
int git_run(const struct git_call *, struct buf *out, struct err *);
/*
 * Append the words before the arguments of git: env, the variables that are
 * removed, git, and its settings.
 */
void git_put_words(struct strv *, const struct git_call *);

/* git-commit.c: the hash of a revision; ERR_FILE. */
int git_commit_find(
    char hash[GIT_HASH], const char *dir, const char *revision, struct err *);
/*
 * Whether this is the commit that is checked out in dir, and files that git
 * follows differ from it; false in a bare repository.
 */
int
git_commit_dirty(bool *dirty, const char *dir, const char *hash, struct err *);
/*
 * A commit of these changes, whose parent is the one that is checked out.  The
 * checkout, its index and its branch stay as they are; the same changes make the
 * same commit.  tmp: a path that does not exist, for a file.
 */
int git_commit_record(
    char hash[GIT_HASH], const char *dir, const char *tmp, struct err *);
/* The same of a patch of this path over a commit. */
int git_commit_patch(char hash[GIT_HASH], const char *dir, const char *base,
    const char *patch, const char *tmp, struct err *);
/*
 * Append the first bytes of what differs between two commits, as valid UTF-8;
 * what is left out is said in the last line.
 */
int git_commit_diff(struct buf *, const char *dir, const char *from,
    const char *to, size_t most, struct err *);

/* git-ref.c: whether refs/NAME exists; make it; delete it. */
bool git_ref_exists(const char *dir, const char *refs, const char *hash);
int
git_ref_keep(const char *dir, const char *refs, const char *hash, struct err *);
int
git_ref_drop(const char *dir, const char *refs, const char *hash, struct err *);
/* Delete all below refs; how many there were, or -1. */
int git_ref_drop_all(const char *dir, const char *refs, struct err *);
/* The same when each was made below to. */
int git_ref_move_all(
    const char *dir, const char *refs, const char *to, struct err *);

/*
 * git-folder.c: what follows the top of the checkout of dir in the path of a folder,
 * "" or "/a/b"; where it is not in there, or the repository is bare, what follows base
 * (NULL: nothing).  1, or 0: it is in neither; -1: the path is too long.
 */
int git_folder_below(
    char to[PATH_MAX], const char *folder, const char *dir, const char *base);

/*
 * git-worktree.c: the worktrees below a folder (absolute, without links), as paths
 * that the caller frees with strv_free.
 */
int git_worktree_list(
    struct strv *, const char *dir, const char *below, struct err *);
/* Remove one, whether its folder is there or not. */
int git_worktree_remove(const char *dir, const char *path, struct err *);

#endif /* HPOTUNE_GIT_H */
