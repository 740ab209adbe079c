/* Fields of messages of Protocol Buffers. */

#ifndef HPOTUNE_PROTOBUF_H
#define HPOTUNE_PROTOBUF_H

#include <stdint.h>

struct buf;

/* Append a field with its number. */
void protobuf_put_varint(struct buf *, int field, uint64_t x);
void protobuf_put_double(struct buf *, int field, double x);
void protobuf_put_float(struct buf *, int field, float x);
void protobuf_put_text(struct buf *, int field, const char *text);
/* … with a message, which is then emptied. */
void protobuf_put_message(struct buf *, int field, struct buf *message);

#endif /* HPOTUNE_PROTOBUF_H */
