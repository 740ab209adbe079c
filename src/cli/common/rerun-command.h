/* A trial's setting, run once more by hand. */

#ifndef HPOTUNE_RERUN_COMMAND_H
#define HPOTUNE_RERUN_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli_study;
struct err;
struct store;
struct store_study;

/*
 * Append a line for any POSIX shell that gives the trial's program what its
 * first attempt was given: arguments, trial.env, the variables and files of
 * hpotune, and folders of its own, which are new, so that it trains from the
 * beginning; a trial that continued another one begins with that one's
 * checkpoint.  GPUs are the user's to choose.  With json the same as members
 * of an object: "workdir", "command", "env" and "folder".  Nothing where no
 * program runs, and of packed trials, whose program is told line by line.
 */
int rerun_command_put(struct buf *, struct store *, const struct cli_study *,
    const struct store_study *, int64_t trial, bool json, struct err *);

#endif /* HPOTUNE_RERUN_COMMAND_H */
