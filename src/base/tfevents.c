/* TensorBoard event files, as tfevents.h says. */

#include <string.h>

#include "src/base/tfevents.h"

/* Wire types of protocol buffers. */
enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Values of DataType in framework/types.proto. */
enum { DT_FLOAT = 1, DT_DOUBLE = 2, DT_INT32 = 3, DT_INT64 = 9 };

#define CRC_MASK UINT32_C(0xa282ead8)
/* Times beyond it, in seconds, are no times. */
#define TIME_MAX 1e11

static uint32_t
read_32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static uint64_t
read_64(const unsigned char *p)
{
	return (uint64_t)read_32(p) | (uint64_t)read_32(p + 4) << 32;
}

static double
read_float(const unsigned char *p)
{
	uint32_t bits = read_32(p);
	float v;

	memcpy(&v, &bits, sizeof v);
	return (double)v;
}

static double
read_double(const unsigned char *p)
{
	uint64_t bits = read_64(p);
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* CRC-32C of the values 0 to 15, four bits at a time. */
static const uint32_t crc_table[16] = { 0x00000000, 0x105ec76f, 0x20bd8ede,
	0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d, 0x82f63b78,
	0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a,
	0xf36e6f75 };

uint32_t
tfevents_checksum(const void *bytes, size_t len)
{
	const unsigned char *p = bytes, *end = p + len;
	uint32_t crc = UINT32_MAX;

	for (; p < end; p++) {
		crc ^= *p;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + CRC_MASK;
}

enum tfevents_status
tfevents_record_read(
    struct tfevents_record *record, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t n;

	*record = (struct tfevents_record){ 0 };
	if (len < TFEVENTS_HEADER)
		return TFEVENTS_SHORT;
	n = read_64(p);
	if (read_32(p + 8) != tfevents_checksum(p, 8) || n > INT64_MAX / 2)
		return TFEVENTS_BAD_LENGTH;
	record->size = n + TFEVENTS_FRAME;
	if (len < record->size)
		return TFEVENTS_SHORT;
	record->data = p + TFEVENTS_HEADER;
	record->len = (size_t)n;
	if (read_32(record->data + n) == tfevents_checksum(record->data, n))
		return TFEVENTS_RECORD;
	record->data = NULL;
	record->len = 0;
	return TFEVENTS_BAD_DATA;
}

/* Bytes of a message, and one field of it. */
struct bytes {
	const unsigned char *p;
	size_t n;
};

struct field {
	uint64_t number;
	enum wire wire;
	uint64_t integer; /* WIRE_VARINT */
	struct bytes bytes; /* of the others, without their length */
};

static bool
varint_read(struct bytes *from, uint64_t *out)
{
	int shift;

	*out = 0;
	for (shift = 0; shift < 64 && from->n > 0; shift += 7) {
		from->n--;
		*out |= (uint64_t)(*from->p & 0x7f) << shift;
		if ((*from->p++ & 0x80) == 0)
			return true;
	}
	return false;
}

/* The next field: 1, 0 at the end, -1 when it is no message. */
static int
field_read(struct bytes *from, struct field *f)
{
	uint64_t key, n = 0;

	if (from->n == 0)
		return 0;
	if (!varint_read(from, &key))
		return -1;
	*f = (struct field){ .number = key >> 3 };
	switch (key & 7) {
	case WIRE_VARINT:
		f->wire = WIRE_VARINT;
		return varint_read(from, &f->integer) ? 1 : -1;
	case WIRE_64:
		f->wire = WIRE_64;
		n = 8;
		break;
	case WIRE_BYTES:
		f->wire = WIRE_BYTES;
		if (!varint_read(from, &n))
			return -1;
		break;
	case WIRE_32:
		f->wire = WIRE_32;
		n = 4;
		break;
	default:
		return -1;
	}
	if (n > from->n)
		return -1;
	f->bytes = (struct bytes){ from->p, (size_t)n };
	from->p += n;
	from->n -= (size_t)n;
	return 1;
}

static bool
field_is(const struct field *f, uint64_t number, enum wire wire)
{
	return f->number == number && f->wire == wire;
}

/* A tensor as far as it is read: the numbers that it has, and the last one. */
struct tensor {
	uint64_t type;
	struct bytes content; /* tensor_content */
	size_t n; /* numbers of the typed fields */
	double value;
	bool one; /* its shape has one element */
};

/* TensorShapeProto: dim = 2 { size = 1 }. */
static bool
shape_is_one(struct bytes shape)
{
	struct bytes dim;
	struct field f, g;
	bool one = true;
	int64_t size;

	while (field_read(&shape, &f) == 1) {
		if (!field_is(&f, 2, WIRE_BYTES))
			continue;
		size = 0;
		dim = f.bytes;
		while (field_read(&dim, &g) == 1)
			if (field_is(&g, 1, WIRE_VARINT))
				size = (int64_t)g.integer;
		one &= size == 1;
	}
	return one;
}

/* A field with numbers, packed or not. */
static void
tensor_numbers(struct tensor *t, const struct field *f)
{
	struct bytes from = f->bytes;
	size_t width = f->number == 5 ? 4 : 8;
	uint64_t v;

	if (f->number == 5 || f->number == 6) {
		for (; from.n >= width; from.n -= width, from.p += width) {
			t->n++;
			t->value = width == 4 ? read_float(from.p)
					      : read_double(from.p);
		}
		return;
	}
	if (f->wire == WIRE_VARINT) {
		t->n++;
		t->value = (double)(int64_t)f->integer;
		return;
	}
	while (from.n > 0 && varint_read(&from, &v)) {
		t->n++;
		t->value = (double)(int64_t)v;
	}
}

static bool
tensor_content(const struct tensor *t, double *out)
{
	const unsigned char *p = t->content.p;

	if (t->type == DT_FLOAT && t->content.n == 4)
		*out = read_float(p);
	else if (t->type == DT_DOUBLE && t->content.n == 8)
		*out = read_double(p);
	else if (t->type == DT_INT32 && t->content.n == 4)
		*out = (double)(int32_t)read_32(p);
	else if (t->type == DT_INT64 && t->content.n == 8)
		*out = (double)(int64_t)read_64(p);
	else
		return false;
	return true;
}

/*
 * TensorProto: dtype = 1, tensor_shape = 2, tensor_content = 4, float_val = 5,
 * double_val = 6, int_val = 7, int64_val = 10.  False: it is not one number.
 */
static bool
tensor_read(struct bytes from, double *out)
{
	struct tensor t = { .one = true };
	struct field f;
	int rc;

	while ((rc = field_read(&from, &f)) == 1) {
		if (field_is(&f, 1, WIRE_VARINT))
			t.type = f.integer;
		else if (field_is(&f, 2, WIRE_BYTES))
			t.one = shape_is_one(f.bytes);
		else if (field_is(&f, 4, WIRE_BYTES))
			t.content = f.bytes;
		else if (f.number == 5 || f.number == 6 || f.number == 7 ||
			 f.number == 10)
			tensor_numbers(&t, &f);
	}
	if (rc != 0 || !t.one)
		return false;
	*out = t.value;
	return t.content.n > 0 ? tensor_content(&t, out) : t.n == 1;
}

/* Summary.Value: tag = 1, simple_value = 2, tensor = 8.  False: no message. */
static bool
tfevents_value_read(
    struct bytes from, struct tfevents_scalar *s, tfevents_cb *cb, void *arg)
{
	bool found = false;
	struct field f;
	int rc;

	s->tag_len = 0;
	while ((rc = field_read(&from, &f)) == 1) {
		if (field_is(&f, 1, WIRE_BYTES)) {
			s->tag = (const char *)f.bytes.p;
			s->tag_len = f.bytes.n;
		} else if (field_is(&f, 2, WIRE_32)) {
			found = true;
			s->value = read_float(f.bytes.p);
		} else if (field_is(&f, 8, WIRE_BYTES)) {
			found |= tensor_read(f.bytes, &s->value);
		}
	}
	if (rc == 0 && found && s->tag_len > 0)
		cb(arg, s);
	return rc == 0;
}

static bool
tfevents_summary_read(
    struct bytes from, struct tfevents_scalar *s, tfevents_cb *cb, void *arg)
{
	struct field f;
	int rc;

	while ((rc = field_read(&from, &f)) == 1)
		if (field_is(&f, 1, WIRE_BYTES) &&
		    !tfevents_value_read(f.bytes, s, cb, arg))
			return false;
	return rc == 0;
}

static int64_t
time_us(double seconds)
{
	if (!(seconds > 0 && seconds < TIME_MAX))
		return 0;
	return (int64_t)(seconds * 1e6 + 0.5);
}

/*
 * Event: wall_time = 1, step = 2, summary = 5.  The fields may come in any order,
 * so the summary is read last.
 */
bool
tfevents_scalars(
    const unsigned char *data, size_t len, tfevents_cb *cb, void *arg)
{
	struct tfevents_scalar s = { .tag = "" };
	struct bytes from = { data, len }, summary = { 0 };
	struct field f;
	int rc;

	while ((rc = field_read(&from, &f)) == 1) {
		if (field_is(&f, 1, WIRE_64))
			s.time_us = time_us(read_double(f.bytes.p));
		else if (field_is(&f, 2, WIRE_VARINT))
			s.step = (int64_t)f.integer;
		else if (field_is(&f, 5, WIRE_BYTES))
			summary = f.bytes;
	}
	return rc == 0 &&
	       (summary.n == 0 || tfevents_summary_read(summary, &s, cb, arg));
}
