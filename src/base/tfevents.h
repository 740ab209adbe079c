/*
 * Reads TensorBoard event files: records of TFRecord, each a protocol buffer
 * "Event", of which only scalars are kept.  Input is untrusted: any bytes.
 *
 * Sources: tensorflow/core/lib/io/record_writer.h (framing),
 * tensorflow/core/util/event.proto, framework/summary.proto, framework/tensor.proto
 * and tensorboard/plugins/scalar/metadata.py.
 */

#ifndef HPOTUNE_TFEVENTS_H
#define HPOTUNE_TFEVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TFEVENTS_HEADER = 12, /* bytes before the data of a record */
	TFEVENTS_FRAME = 16 /* bytes of a record besides its data */
};

enum tfevents_status {
	TFEVENTS_RECORD, /* a whole record, its checksums are right */
	/* The bytes end within the record: read more, or wait. */
	TFEVENTS_SHORT,
	/* The record's data have another checksum; the next can be found. */
	TFEVENTS_BAD_DATA,
	/* The record's length has another checksum: the rest is lost. */
	TFEVENTS_BAD_LENGTH
};

struct tfevents_record {
	/*
	 * Bytes of the whole record, known unless the length is bad or fewer
	 * than TFEVENTS_HEADER bytes are there (then it is 0).
	 */
	uint64_t size;
	const unsigned char *data; /* borrowed; of TFEVENTS_RECORD only */
	size_t len;
};

/* The record at the head of these bytes. */
enum tfevents_status
tfevents_record_read(struct tfevents_record *, const void *bytes, size_t len);

struct tfevents_scalar {
	const char *tag; /* borrowed, not terminated; any bytes */
	size_t tag_len;
	int64_t step; /* may be negative */
	int64_t time_us; /* since 1970; 0 = not given */
	double value; /* may be NaN or infinite */
};

typedef void tfevents_cb(void *arg, const struct tfevents_scalar *);

/*
 * Call the function for each scalar of an event, which is the data of a record:
 * a summary's simple_value, or a tensor of one number.  False when the data are
 * no event; the scalars before the error were passed.
 */
bool
tfevents_scalars(const unsigned char *data, size_t len, tfevents_cb *, void *);

/* The checksum of a record: CRC-32C (RFC 3720, B.4), rotated and shifted. */
uint32_t tfevents_checksum(const void *, size_t);

#endif /* HPOTUNE_TFEVENTS_H */
