/*
 * The study in the store: made once, compared at every later start.
 */

#ifndef HPOTUNE_STUDY_ROW_H
#define HPOTUNE_STUDY_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct study;

/*
 * Create path for this study, or check that it holds the same one and note
 * what changed.  Marks the study as running since now_us.
 */
int study_row_open(const char *path, const struct study *, bool network_fs,
    int64_t now_us, struct err *);
/* The same without a server: it stays as it is, or interrupted when new. */
int study_row_open_once(const char *path, const struct study *, bool network_fs,
    int64_t now_us, struct err *);

/* Whether study_row_open would take this study for that at path, if there is
 * one: changes nothing. */
int study_row_check(const char *path, const struct study *, struct err *);
/*
 * Whether trials that were drawn from fixed (study_put_fixed), by a study.json
 * that said json, may go on with this study: an error (ERR_USAGE) names the
 * first key that differs and both values.
 */
int study_compare(
    const char *fixed, const char *json, const struct study *, struct err *);
/*
 * Whether the study at path has finished and study.json is as it was then: a
 * start has nothing to run.  False too when that cannot be told.
 */
bool study_row_finished(const char *path, const struct study *);

#endif /* HPOTUNE_STUDY_ROW_H */
