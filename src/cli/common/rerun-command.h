/* A shell line that runs a trial's setting again by hand. */

#ifndef HPOTUNE_RERUN_COMMAND_H
#define HPOTUNE_RERUN_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct study_files;
struct err;
struct store;
struct store_study;

/*
 * Append a line for any POSIX shell that gives the trial's program what its
 * first attempt was given: arguments, trial.env, the variables and files of
 * hpotune, and new, empty folders, so that it trains from the beginning; a
 * trial that continued another one starts with that one's checkpoint.  The user
 * selects GPUs.  With json: the same as members of an object: "workdir",
 * "command", "env" and "folder".  Nothing is appended when no program runs, or
 * for packed trials, whose program reads its trials from standard input.
 */
int rerun_command_put(struct buf *, struct store *, const struct study_files *,
    const struct store_study *, int64_t trial, bool json, struct err *);

#endif /* HPOTUNE_RERUN_COMMAND_H */
