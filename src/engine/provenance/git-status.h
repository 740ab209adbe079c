/* What git says of a folder. */

#ifndef HPOTUNE_GIT_STATUS_H
#define HPOTUNE_GIT_STATUS_H

#include <stddef.h>

/* All zero but dirty: nothing is known. */
struct git_status {
	char *commit; /* its hash; NULL = unknown */
	char *branch; /* NULL = unknown, or none is checked out */
	int dirty; /* files that git follows differ from it: 0, 1; -1 unknown */
	char *why; /* why something is not known, one clause; or NULL */
};

enum { GIT_STATUS_ARGS = 24 };

/*
 * The command whose output git_status_read reads.  It writes nothing and starts
 * no daemon; the variables by which git would look at another repository are
 * removed.  argv borrows dir.
 */
void git_status_command(const char *argv[GIT_STATUS_ARGS], const char *dir);
/*
 * Read its output, that of git-status(1) with --porcelain=v2 --branch, and its
 * errors.  status: as of waitpid; -1 when it was killed, for the reason cut ("" =
 * none).  Free the result with git_status_free.
 */
void git_status_read(struct git_status *, const char *out, size_t len,
    int status, const char *cut);
void git_status_free(struct git_status *);

#endif /* HPOTUNE_GIT_STATUS_H */
