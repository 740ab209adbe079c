/* Fields of messages (protobuf.dev/programming-guides/encoding). */

#include <string.h>

#include "src/base/mem.h"
#include "src/export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static void
varint_put(struct buf *b, uint64_t x)
{
	for (; x > 0x7f; x >>= 7)
		buf_putc(b, (char)(x | 0x80));
	buf_putc(b, (char)x);
}

static void
protobuf_key_put(struct buf *b, int field, int wire)
{
	varint_put(b, (uint64_t)field << 3 | (uint64_t)wire);
}

/* The bytes of a number, the lowest first. */
static void
protobuf_fixed_put(struct buf *b, uint64_t x, int bytes)
{
	for (; bytes > 0; bytes--, x >>= 8)
		buf_putc(b, (char)(x & 0xff));
}

void
protobuf_put_varint(struct buf *b, int field, uint64_t x)
{
	protobuf_key_put(b, field, WIRE_VARINT);
	varint_put(b, x);
}

void
protobuf_put_double(struct buf *b, int field, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	protobuf_key_put(b, field, WIRE_64);
	protobuf_fixed_put(b, bits, 8);
}

void
protobuf_put_float(struct buf *b, int field, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	protobuf_key_put(b, field, WIRE_32);
	protobuf_fixed_put(b, bits, 4);
}

static void
protobuf_put_bytes(struct buf *b, int field, const void *data, size_t len)
{
	protobuf_key_put(b, field, WIRE_BYTES);
	varint_put(b, len);
	buf_add(b, data, len);
}

void
protobuf_put_text(struct buf *b, int field, const char *text)
{
	protobuf_put_bytes(b, field, text, strlen(text));
}

void
protobuf_put_message(struct buf *b, int field, struct buf *message)
{
	protobuf_put_bytes(b, field, buf_str(message), message->len);
	buf_clear(message);
}
