/*
 * Arbitrary bytes as the output of the process of a trial that failed first: the
 * cause is harmless for a terminal and fits; and as a cause that a trial has
 * written itself.
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
#include "trials/ranks/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char folder[] = "/tmp/fuzz_failure.XXXXXX";
static int dir_fd = -1;

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
remove_folder(void)
{
	(void)unlinkat(dir_fd, "log", 0);
	(void)unlinkat(dir_fd, RANKS_CAUSE_FILE, 0);
	(void)rmdir(folder);
	(void)close(dir_fd);
}

static void
make_folder(void)
{
	need(mkdtemp(folder) != NULL);
	dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(dir_fd != -1 && atexit(remove_folder) == 0);
}

static void
put(const char *name, const uint8_t *bytes, size_t n)
{
	int fd = openat(
	    dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	need(fd != -1 && write(fd, bytes, n) == (ssize_t)n);
	(void)close(fd);
}

static void
check_cause(void)
{
	struct launch_exit x = { .ran = true, .exit_code = RANKS_NO_EXEC };
	struct buf again = { 0 };

	ranks_words_cause(folder, &x);
	need(strlen(x.why) < sizeof x.why);
	text_put_harmless(&again, x.why, strlen(x.why), TEXT_LINE);
	need(strcmp(buf_str(&again), x.why) == 0);
	need(
	    x.ran == (strncmp(x.why, RANKS_CANNOT, strlen(RANKS_CANNOT)) != 0));
	buf_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* That of a backend: the others print the cause, too. */
	const struct rank rank = { .role = RANK_LAUNCHER,
		.status =
		    size > 0 ? data[0] % 2 != 0 ? 9 : data[0] << 8 : 256 };
	struct ranks s = { 0 };

	if (dir_fd == -1)
		make_folder();
	s.dir_fd = dir_fd;
	put("log", data, size);
	(void)unlinkat(dir_fd, RANKS_CAUSE_FILE, 0);
	ranks_first_failure(&s, &rank);
	need(faccessat(dir_fd, RANKS_CAUSE_FILE, F_OK, 0) == 0);
	check_cause();
	put(RANKS_CAUSE_FILE, data, size);
	check_cause();
	return 0;
}
