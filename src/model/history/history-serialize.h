/*
 * A whole history as bytes, for the program that answers in the server's place
 * (hpotune-worker): same machine, same build, so numbers go as they lie.
 */

#ifndef HPOTUNE_HISTORY_SERIALIZE_H
#define HPOTUNE_HISTORY_SERIALIZE_H

#include <stddef.h>

struct buf;
struct err;
struct history;

/* Append h to the buffer, of what it keeps no more than keep says. */
void history_serialize(struct buf *, const struct history *, unsigned keep);
/* A new history from exactly these bytes; ERR_STORE when they are none. */
int history_deserialize(
    struct history **, const void *data, size_t len, struct err *);

#endif /* HPOTUNE_HISTORY_SERIALIZE_H */
