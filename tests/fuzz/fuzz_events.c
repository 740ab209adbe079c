/*
 * Arbitrary bytes as a TensorBoard event file: records and scalars lie within
 * the bytes.  The checksums would stop nearly every change, so the bytes are
 * also read as one event without a frame, and so is the data of each record
 * whose length is right.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/base/tfevents.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct range {
	const uint8_t *at, *end;
};

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	const struct range *r = arg;
	const uint8_t *tag = (const uint8_t *)s->tag;

	need(s->tag_len > 0 && tag >= r->at && tag + s->tag_len <= r->end);
	need(s->time_us >= 0);
}

static void
event_read(const uint8_t *data, size_t n)
{
	struct range r = { data, data + n };

	(void)tfevents_scalars(data, n, on_scalar, &r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfevents_record record;
	enum tfevents_status is;

	event_read(data, size);
	for (;;) {
		is = tfevents_record_read(&record, data, size);
		if (is == TFEVENTS_SHORT || is == TFEVENTS_BAD_LENGTH)
			break;
		need(record.size >= TFEVENTS_FRAME && record.size <= size);
		if (is == TFEVENTS_RECORD)
			need(record.data == data + TFEVENTS_HEADER &&
			     record.len + TFEVENTS_FRAME == record.size);
		event_read(data + TFEVENTS_HEADER,
		    (size_t)record.size - TFEVENTS_FRAME);
		data += record.size;
		size -= (size_t)record.size;
	}
	need(is != TFEVENTS_SHORT || record.size == 0 || record.size > size);
	return 0;
}
