/*
 * Rows that belong to trials, read in step with the trials.  Column 0 is the
 * trial's number, ascending.
 */

#ifndef HPOTUNE_TRIAL_CURSOR_H
#define HPOTUNE_TRIAL_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;
struct store_rows;

struct trial_cursor {
	struct store_rows *rows;
	bool there; /* it is on a row */
};

/* Open it on its first row. */
int trial_cursor_open(
    struct trial_cursor *, struct store *, const char *sql, struct err *);
int trial_cursor_next(struct trial_cursor *, struct err *);
/* Whether it is on a row of this trial. */
bool trial_cursor_is_at(const struct trial_cursor *, int64_t trial);
/* Also valid for a cursor that was never opened. */
void trial_cursor_close(struct trial_cursor *);

#endif /* HPOTUNE_TRIAL_CURSOR_H */
