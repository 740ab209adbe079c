/*
 * What else bears the name of a study beside NAME.db and study.json: a copy of the
 * database, the lease of a server, and what was saved of a damaged database.
 */

#ifndef HPOTUNE_FILES_BESIDE_H
#define HPOTUNE_FILES_BESIDE_H

#include <stdbool.h>

struct err;
struct store;

/*
 * ERR_USAGE when a file of the folder cannot get the new name, which is taken.
 * again: an earlier command was interrupted, and may have written a copy.
 */
int files_beside_check(const char *dir, const char *was, const char *now,
    bool again, struct err *);
/*
 * Where the folder has WAS.snapshot.db, write NOW.snapshot.db from the store, in
 * which the study has its new name.  It replaces an earlier one.
 */
int files_beside_copy(const char *dir, const char *was, const char *now,
    struct store *, struct err *);
/*
 * Give all files of the folder the new name and sync it; WAS.snapshot.db, which has
 * the old one inside, is removed.  What was done already is left as it is.
 */
int files_beside_rename(
    const char *dir, const char *was, const char *now, struct err *);

#endif /* HPOTUNE_FILES_BESIDE_H */
