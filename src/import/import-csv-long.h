/* Tables with several rows for a trial, as a table with one for each. */

#ifndef HPOTUNE_IMPORT_CSV_LONG_H
#define HPOTUNE_IMPORT_CSV_LONG_H

#include <stdbool.h>

struct buf;
struct err;

/*
 * Append the table with one row for each trial, if text is one of run, attribute,
 * step and value, with a row for each value; otherwise out stays empty.  text is
 * changed.  Attributes without steps are parameters, or those that begin with
 * config/ or a similar word; of others the value of the last step counts.
 *
 * *metric: the objective; NULL: the only attribute with steps, whose name it then
 * has, in text.  named: the user names the parameters.
 */
int import_csv_long(struct buf *out, struct buf *notes, const char **metric,
    bool named, char *text, const char *file, struct err *e);

#endif /* HPOTUNE_IMPORT_CSV_LONG_H */
