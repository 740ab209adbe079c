/* hpotune replay --tune: the scored settings and the recommended one. */

#ifndef HPOTUNE_REPLAY_TUNE_H
#define HPOTUNE_REPLAY_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli;
struct curve_file;
struct err;
struct replay_plan;

/* Whether a file begins like an SQLite database. */
bool replay_tune_is_database(const char *path);

/* Append a note: the file has steps beyond max_steps, which rules do not use. */
void replay_tune_note_beyond(
    struct buf *notes, const char *path, int64_t last, int64_t most);

/*
 * The curves of a study's completed trials, with its own goal in the plan; free
 * them with curve_file_free.
 */
int replay_tune_load(
    struct curve_file *, struct replay_plan *, const char *path, struct err *);

/* The whole command; returns its exit status. */
int replay_tune_run(struct cli *cli, const struct replay_plan *plan);

#endif /* HPOTUNE_REPLAY_TUNE_H */
