/*
 * Arbitrary bytes as the two records of an attempt.  Accepted records must be
 * encoded to the same bytes: nothing in a good record is ignored.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trials/process/attempt-record.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
check_claim(const unsigned char *sector)
{
	unsigned char again[RECORD_SECTOR];
	struct claim c, d;

	if (attempt_record_decode_claim(&c, sector, UUID) != RECORD_GOOD)
		return;
	need(strlen(c.cgroup) < sizeof c.cgroup);
	need(strlen(c.boot_id) < sizeof c.boot_id);
	attempt_record_encode_claim(again, &c);
	need(attempt_record_decode_claim(&d, again, UUID) == RECORD_GOOD);
	need(c.kind == d.kind && c.shim_pid == d.shim_pid &&
	     strcmp(c.cgroup, d.cgroup) == 0);
}

static void
check_exit(const unsigned char *sector)
{
	unsigned char again[RECORD_SECTOR];
	struct attempt_exit x, y;

	if (attempt_record_decode_exit(&x, sector, UUID) != RECORD_GOOD)
		return;
	need(strlen(x.why) < sizeof x.why);
	need(x.exit_code >= -1 && x.exit_code <= 255);
	attempt_record_encode_exit(again, &x, UUID);
	need(attempt_record_decode_exit(&y, again, UUID) == RECORD_GOOD);
	need(x.exit_code == y.exit_code && x.signal == y.signal &&
	     strcmp(x.why, y.why) == 0);
}

/* Bytes alone never meet a checksum, so the second try signs them. */
static void
check_signed(const unsigned char *in)
{
	unsigned char sector[RECORD_SECTOR];

	memcpy(sector, in, sizeof sector);
	attempt_record_sign(sector);
	check_claim(sector);
	check_exit(sector);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char both[2 * RECORD_SECTOR] = { 0 };

	memcpy(both, data, size < sizeof both ? size : sizeof both);
	check_claim(both);
	check_exit(both + RECORD_SECTOR);
	check_signed(both);
	check_signed(both + RECORD_SECTOR);
	return 0;
}
