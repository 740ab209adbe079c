/*
 * Arbitrary bytes as the log of a trial: its last line is harmless for a terminal
 * and fits.  The first two bytes say into how many.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/backend.h"
#include "trials/process/last-line.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char path[] = "/tmp/fuzz_last.XXXXXX";
static bool made;

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
remove_path(void)
{
	(void)unlink(path);
}

static void
put(const uint8_t *bytes, size_t n)
{
	int fd =
	    made ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : mkstemp(path);

	need(fd != -1 && (made || atexit(remove_path) == 0));
	made = true;
	need(write(fd, bytes, n) == (ssize_t)n);
	(void)close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf again = { 0 };
	size_t n, room;
	char *out;

	if (size < 2)
		return 0;
	room = 8 + (size_t)(data[0] | data[1] << 8) % LAUNCH_SAID;
	out = xmalloc(room);
	put(data + 2, size - 2);
	last_line_read(path, out, room);
	n = strlen(out);
	need(n < room && memchr(out, '\n', n) == NULL);
	text_put_harmless(&again, out, n, TEXT_LINE);
	need(strcmp(buf_str(&again), out) == 0);
	buf_free(&again);
	free(out);
	return 0;
}
