/* Appends fields of a protocol buffer message (protobuf.dev/programming-guides/
 * encoding). */

#ifndef HPOTUNE_PROTOBUF_H
#define HPOTUNE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct buf;

void protobuf_put_varint(struct buf *, int field, uint64_t);
void protobuf_put_double(struct buf *, int field, double);
void protobuf_put_float(struct buf *, int field, float);
void protobuf_put_text(struct buf *, int field, const char *);
/* Append a message, and empty it. */
void protobuf_put_message(struct buf *, int field, struct buf *message);

#endif /* HPOTUNE_PROTOBUF_H */
