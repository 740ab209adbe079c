/* Whether a repository may have changed, by the times of its files. */

#ifndef HPOTUNE_GIT_STAMP_H
#define HPOTUNE_GIT_STAMP_H

#include <stdint.h>

/* Inode, size and time (seconds, nanoseconds) of HEAD, index and logs/HEAD. */
struct git_stamp {
	int64_t words[12];
};

/*
 * The folder with the HEAD of the repository that dir is in; freed by the
 * caller.  NULL when there is none.
 */
char *git_stamp_find(const char *dir);

/*
 * The stamp of such a folder; a file that is not there counts as zeros.  Two that
 * differ: commit, branch or index may have changed.
 */
void git_stamp_take(struct git_stamp *, const char *git_dir);

#endif /* HPOTUNE_GIT_STAMP_H */
