/*
 * Rows that belong to trials, read side by side with the trials themselves.
 * Column 0 is the trial's number, and never falls.
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
	bool there; /* it stands on a row */
};

/* It stands on the first row then. */
int trial_cursor_open(
    struct trial_cursor *, struct store *, const char *sql, struct err *);
int trial_cursor_next(struct trial_cursor *, struct err *);
/* Whether it stands on a row of this trial. */
bool trial_cursor_is_at(const struct trial_cursor *, int64_t trial);
/* Also of one that was never opened. */
void trial_cursor_close(struct trial_cursor *);

#endif /* HPOTUNE_TRIAL_CURSOR_H */
