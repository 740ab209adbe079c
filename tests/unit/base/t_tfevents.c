/*
 * TensorBoard event files: those that tensorboardX and TensorBoard's own
 * messages wrote (tests/data/metrics/record.py), cut short, and damaged.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "tests/support/tap.h"

struct file {
	unsigned char bytes[4096];
	size_t n;
};

static void
file_read_data(struct file *f, const char *name)
{
	const char *top = getenv("TOP_SRCDIR");
	char *path = xasprintf(
	    "%s/tests/data/metrics/%s", top != NULL ? top : ".", name);
	FILE *in = fopen(path, "re");

	f->n = in != NULL ? fread(f->bytes, 1, sizeof f->bytes, in) : 0;
	if (in != NULL)
		(void)fclose(in);
	ok(f->n > 0 && f->n < sizeof f->bytes, "%s is there", name);
	free(path);
}

static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	buf_printf(arg, "%.*s %lld %.6g %lld\n", (int)s->tag_len, s->tag,
	    (long long)s->step, s->value, (long long)s->time_us);
}

/* All scalars; the status that ended it, and the bytes that were read. */
static enum tfevents_status
read_all(const struct file *f, size_t n, struct buf *out, size_t *used)
{
	struct tfevents_record record;
	enum tfevents_status is;

	for (*used = 0;; *used += (size_t)record.size) {
		is = tfevents_record_read(&record, f->bytes + *used, n - *used);
		if (is != TFEVENTS_RECORD)
			return is;
		ok(tfevents_scalars(record.data, record.len, on_scalar, out),
		    "the record at byte %zu is an event", *used);
	}
}

static void
check_file(const char *name, const char *want)
{
	struct buf out = { 0 };
	struct file f;
	size_t used;

	file_read_data(&f, name);
	is_int(read_all(&f, f.n, &out, &used), TFEVENTS_SHORT,
	    "behind the last record a file waits for the next one");
	is_int((long long)used, (long long)f.n, "all bytes are read");
	is_str(buf_str(&out), want, "the scalars are those that were written");
	buf_free(&out);
}

static void
test_files(void)
{
	check_file("tensorboardx.tfevents",
	    "val/loss 0 1 1700000000250000\n"
	    "acc_top_1 0 0.5 1700000000250000\n"
	    "val/loss 1 0.5 1700000001250000\n"
	    "acc_top_1 1 0.6 1700000001250000\n"
	    "val/loss 2 0.333333 1700000002250000\n"
	    "acc_top_1 2 0.7 1700000002250000\n"
	    "val/loss 3 0.25 1700000003250000\n"
	    "acc_top_1 3 0.8 1700000003250000\n"
	    "val/loss 4 0.2 1700000004250000\n"
	    "acc_top_1 4 0.9 1700000004250000\n"
	    "val/loss 5 nan 1700000006000000\n");
	check_file("tensor.tfevents", "epoch_loss 0 0.5 1700000100500000\n"
				      "epoch_loss 1 0.25 1700000101500000\n"
				      "epoch_loss 2 0.166667 1700000102500000\n"
				      "content 7 0.25 1700000107500000\n"
				      "double 8 0.125 1700000108500000\n"
				      "whole 9 -3 1700000109500000\n");
}

/* A file that is being written ends anywhere. */
static void
test_half_written(void)
{
	struct tfevents_record record;
	enum tfevents_status is;
	struct file f;
	size_t n, size, good = 0;

	file_read_data(&f, "tensorboardx.tfevents");
	is = tfevents_record_read(&record, f.bytes, f.n);
	size = (size_t)record.size;
	is_int(is, TFEVENTS_RECORD, "the first record is whole");
	for (n = 0; n < size; n++) {
		is = tfevents_record_read(&record, f.bytes, n);
		good += is == TFEVENTS_SHORT &&
			record.size == (n < TFEVENTS_HEADER ? 0 : size);
	}
	is_int((long long)good, (long long)size,
	    "each head of it is waited for, and its size is known early");
}

static void
test_damaged(void)
{
	struct tfevents_record record;
	struct file f;
	size_t i, size, found = 0;

	file_read_data(&f, "tensor.tfevents");
	(void)tfevents_record_read(&record, f.bytes, f.n);
	size = (size_t)record.size;
	for (i = 0; i < size; i++) {
		f.bytes[i] ^= 0x10;
		found += tfevents_record_read(&record, f.bytes, f.n) ==
			 (i < TFEVENTS_HEADER ? TFEVENTS_BAD_LENGTH
					      : TFEVENTS_BAD_DATA);
		f.bytes[i] ^= 0x10;
	}
	is_int((long long)found, (long long)size,
	    "a changed bit is found in each byte of a record");
	f.bytes[TFEVENTS_HEADER] ^= 1;
	(void)tfevents_record_read(&record, f.bytes, f.n);
	is_int((long long)record.size, (long long)size,
	    "behind bad data the next record is found");
}

int
main(void)
{
	/* RFC 3720, B.4: 32 bytes of zeros have CRC-32C 8a9136aa. */
	static const unsigned char zeros[32];
	uint32_t crc = UINT32_C(0x8a9136aa);

	ok(tfevents_checksum(zeros, sizeof zeros) ==
		(crc >> 15 | crc << 17) + UINT32_C(0xa282ead8),
	    "the checksum is CRC-32C");
	test_files();
	test_half_written();
	test_damaged();
	return done_testing();
}
