/*
 * A whole history as bytes, for hpotune-worker: same machine and same build, so
 * numbers are copied in their native format.
 */

#ifndef HPOTUNE_HISTORY_SERIALIZE_H
#define HPOTUNE_HISTORY_SERIALIZE_H

#include <stddef.h>

struct buf;
struct err;
struct history;

/*
 * Append h to the buffer; keep (enum history_keep) selects what is included: with
 * HISTORY_LAST of each curve its last report alone.
 */
void history_serialize(struct buf *, const struct history *, unsigned keep);
/*
 * Build a new history from exactly these bytes; the caller frees it.  ERR_STORE
 * when they are not valid.
 */
int history_deserialize(
    struct history **, const void *data, size_t len, struct err *);

#endif /* HPOTUNE_HISTORY_SERIALIZE_H */
