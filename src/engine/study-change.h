/*
 * Changes of study.json between two starts: what may change, the trials that the
 * changed space no longer has, and a record of each change.
 */

#ifndef HPOTUNE_STUDY_CHANGE_H
#define HPOTUNE_STUDY_CHANGE_H

#include <stdint.h>

struct err;
struct store;
struct store_study;
struct strv;
struct study;

/*
 * Whether the recorded study may go on as this one: else ERR_USAGE, which names
 * the first key that may not change, both its values and what to do.  Reads
 * only.  Between store_begin and store_commit, or where nobody writes.  texts, if
 * not NULL: each change is added as a text, and the trials that become outside.
 */
int study_change_check(struct store *, const struct store_study *recorded,
    const struct study *, struct strv *texts, struct err *);

/*
 * Check, and record in the open transaction: a row of view changes for each key
 * that differs, an event for each key at the top; settings of earlier trials get
 * the defaults of new parameters, and those that the space no longer has are
 * marked.  recorded keeps its old values, for the caller to replace.
 */
int study_change_record(struct store *, const struct store_study *recorded,
    const struct study *, int64_t now_us, struct err *);

#endif /* HPOTUNE_STUDY_CHANGE_H */
