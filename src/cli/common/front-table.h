/* The front of a study with several objectives, as a table. */

#ifndef HPOTUNE_FRONT_TABLE_H
#define HPOTUNE_FRONT_TABLE_H

#include <stdint.h>

struct objectives;
struct buf;
struct cli;
struct err;
struct store;

/*
 * At most most rows (0 = all), sorted by the first objective, best first; a
 * line below states how many more there are.
 */
int front_table_put(struct buf *, const struct cli *, struct store *,
    const struct objectives *, int64_t most, struct err *);

#endif /* HPOTUNE_FRONT_TABLE_H */
