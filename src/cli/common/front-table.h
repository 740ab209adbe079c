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
 * A SELECT of the front, from the best of the first objective on: trial, the
 * objectives in their order, params.  The caller frees it.
 */
char *front_table_sql(const struct objectives *);
/*
 * At most so many rows (0 = all), from the best of the first objective on; how
 * many there are more stands below.
 */
int front_table_put(struct buf *, const struct cli *, struct store *,
    const struct objectives *, int64_t most, struct err *);

#endif /* HPOTUNE_FRONT_TABLE_H */
