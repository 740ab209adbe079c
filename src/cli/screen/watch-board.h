/*
 * The board of hpotune watch on a terminal: the status, a list of trials one of
 * which keys select, and its curve and log.
 */

#ifndef HPOTUNE_WATCH_BOARD_H
#define HPOTUNE_WATCH_BOARD_H

#include <stdbool.h>

struct cli;
struct study_files;
struct err;
struct store;

/* Whether standard input and output are a terminal on which it can be shown. */
bool watch_board_can(const struct cli *);
/*
 * Show it until the user quits, or the study is no longer served; the terminal is
 * as before then.  *over: it is no longer served.
 */
int watch_board_run(struct cli *, const struct study_files *, struct store *,
    bool *over, struct err *);

#endif /* HPOTUNE_WATCH_BOARD_H */
