/*
 * Arbitrary bytes as a snapshot of the GPUs.  Accepted ones are written to a
 * line that is read to the same snapshot.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = { 0 }, second = { 0 };
	struct err e = ERR_INIT;
	struct gpu_snapshot l, again;

	if (gpu_snapshot_read(&l, (const char *)data, size, &e) == 0) {
		gpu_snapshot_write(&first, &l);
		need(gpu_snapshot_read(&again, first.data, first.len, &e) == 0);
		gpu_snapshot_write(&second, &again);
		need(strcmp(first.data, second.data) == 0);
		gpu_snapshot_free(&again);
	} else
		need(e.text[0] != '\0');
	gpu_snapshot_free(&l);
	buf_free(&first);
	buf_free(&second);
	return 0;
}
