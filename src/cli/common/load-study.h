/* What the commands that need the study itself, not only its rows, share. */

#ifndef HPOTUNE_LOAD_STUDY_H
#define HPOTUNE_LOAD_STUDY_H

struct cli;
struct cli_study;
struct err;

/*
 * Find the study (state_dir as for cli_find_study) and have found->study read: from study.json, or as its
 * database kept it.
 */
int load_study_find(
    struct cli *, struct cli_study *, const char *state_dir, struct err *);
/* The second half of it, for a study that was found; gone on -1. */
int load_study_read(struct cli_study *, struct err *);
/* NAME.d of a found study; the caller frees it. */
char *load_study_dir(const struct cli_study *);

#endif /* HPOTUNE_LOAD_STUDY_H */
