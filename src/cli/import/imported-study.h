/* The study.json of another tool is checked before it is written. */

#ifndef HPOTUNE_IMPORTED_STUDY_H
#define HPOTUNE_IMPORTED_STUDY_H

struct buf;
struct err;

/*
 * The check that start and check make: nothing is written that they refuse.  to:
 * the file that it goes to, for the error, or NULL.
 */
int imported_study_check(const struct buf *text, const char *to, struct err *);
/* The same, with an error for what was imported whole. */
int imported_study_valid(const struct buf *text, const char *to, struct err *);

#endif /* HPOTUNE_IMPORTED_STUDY_H */
