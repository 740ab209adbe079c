/* The study in the database: created once, compared at each later start. */

#ifndef HPOTUNE_STUDY_ROW_H
#define HPOTUNE_STUDY_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/store/store.h"

struct err;
struct strv;
struct study;

/*
 * Where study.json names no strategy or no stopping rule: use the recorded one
 * if it is the default of an earlier version.  Errors are left to the calls that follow.  Opens the
 * database, so call store_wal_check first.
 */
void study_row_keep_former(const char *path, struct study *);
/*
 * Create path for this study, or check that it is the same one and record what
 * changed; the strategy and the rule as study_row_keep_former.  The store stays
 * open for the tuner, because opening one takes as long as all that is read here.
 * STORE_WRITE: for a server; marks the study as running since now_us.
 * STORE_WRITE_ONCE: the state is kept, or interrupted when new.
 */
int study_row_open(struct store **, const char *path, struct study *,
    bool network_fs, enum store_mode, int64_t now_us, struct err *);

/*
 * Whether study_row_open would accept this study for the one at path, if it
 * exists: changes nothing.  texts, if not NULL: a text for each change since the
 * last start, and one for trials that become outside of the space.
 */
int study_row_check(
    const char *path, const struct study *, struct strv *texts, struct err *);
/*
 * Whether the study at path has finished and study.json is unchanged: a start
 * has nothing to run.  Also false when this cannot be determined.
 */
bool study_row_finished(const char *path, const struct study *);

#endif /* HPOTUNE_STUDY_ROW_H */
