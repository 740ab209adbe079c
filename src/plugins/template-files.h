/* Reads the templates of trial.files, before each attempt. */

#ifndef HPOTUNE_TEMPLATE_FILES_H
#define HPOTUNE_TEMPLATE_FILES_H

struct err;
struct strv;
struct study;
struct value;

/*
 * Append for each of trial.files its name, below the folder of the attempt, and
 * its text for these values.  ERR_BUSY: a template cannot be
 * read at present.
 */
int template_files_fill(struct strv *, const struct study *,
    const struct value *values, struct err *);
/* Whether all can be read and name parameters: ERR_USAGE at their place. */
int template_files_check(const struct study *, struct err *);

#endif /* HPOTUNE_TEMPLATE_FILES_H */
