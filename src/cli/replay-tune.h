/* hpotune replay --tune: the best settings of the rule median. */

#ifndef HPOTUNE_REPLAY_TUNE_H
#define HPOTUNE_REPLAY_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli;
struct replay_plan;

/* The whole command; gives its exit status. */
int replay_tune_run(struct cli *, const struct replay_plan *);
/* Whether a file begins like a database. */
bool replay_is_database(const char *path);

/* A note: steps of the file go beyond max_steps, where nothing is judged. */
void replay_tune_note_beyond(
    struct buf *notes, const char *path, int64_t last, int64_t most);

#endif /* HPOTUNE_REPLAY_TUNE_H */
