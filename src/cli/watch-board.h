/*
 * hpotune watch on a terminal: the status, and below it the trials, one of which
 * is selected by keys.
 */

#ifndef HPOTUNE_WATCH_BOARD_H
#define HPOTUNE_WATCH_BOARD_H

#include <stdbool.h>

struct cli;
struct cli_study;
struct err;
struct store;

/*
 * Whether standard input and output are a terminal on which it can be shown.
 */
bool watch_board_can(const struct cli *);
/*
 * Show it until the user quits, or the study is no longer served; the terminal is
 * as before then.  *ended: it is no longer served.
 */
int watch_board_run(struct cli *, const struct cli_study *, struct store *,
    bool *ended, struct err *);

#endif /* HPOTUNE_WATCH_BOARD_H */
