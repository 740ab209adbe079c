/*
 * Runs a fuzz target without a fuzzer: every file of its corpus as it is, cut
 * short, and with some bytes changed (always the same ones).  The program is
 * named run_TARGET; files or folders may be given instead of the corpus.
 */

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { FILE_BYTES_MAX = 1 << 20, CUTS = 24, CHANGES = 200 };

static const char *current = "";

/* The target gave up: say on what. */
static void
on_signal(int signo)
{
	static const char what[] = "not ok 1 - failed on ";

	if (write(STDOUT_FILENO, what, sizeof what - 1) < 0 ||
	    write(STDOUT_FILENO, current, strlen(current)) < 0 ||
	    write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(99);
	signal(signo, SIG_DFL);
	raise(signo);
}

/* A copy of just these bytes, so that a sanitizer sees a step too far. */
static void
feed(const uint8_t *data, size_t n)
{
	uint8_t *copy = xmalloc(n > 0 ? n : 1);

	if (n > 0)
		memcpy(copy, data, n);
	(void)LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void
feed_changed(const uint8_t *data, size_t n, struct rng *r)
{
	static const char useful[] = "{}[]\",:\\/-+.eE0919 \n\t\x01\x80\xff";
	uint8_t *copy = xmalloc(n + 1);
	size_t at, k, times = 1 + rng_below(r, 4);

	memcpy(copy, data, n);
	for (k = 0; k < times && n > 0; k++) {
		at = rng_below(r, n);
		switch (rng_below(r, 4)) {
		case 0:
			copy[at] ^= (uint8_t)(1u << rng_below(r, 8));
			break;
		case 1:
			copy[at] = (uint8_t)useful[rng_below(r, sizeof useful)];
			break;
		case 2:
			copy[at] = copy[rng_below(r, n)];
			break;
		case 3:
			n--;
			memmove(copy + at, copy + at + 1, n - at);
			break;
		}
	}
	feed(copy, n);
	free(copy);
}

static void
run_file(const char *path)
{
	uint8_t *data = xmalloc(FILE_BYTES_MAX);
	FILE *f = fopen(path, "re");
	struct rng r;
	size_t n, k;

	if (f == NULL) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	current = path;
	n = fread(data, 1, FILE_BYTES_MAX, f);
	(void)fclose(f);
	feed(data, n);
	for (k = 0; k < CUTS; k++)
		feed(data, n * k / CUTS);
	rng_init(&r, n, n > 0 ? data[n / 2] : 0);
	for (k = 0; k < CHANGES; k++)
		feed_changed(data, n, &r);
	free(data);
}

static int
visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* A folder of files, or one file.  How many there were. */
static size_t
run_path(const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, visible, alphasort), i;
	char *file;

	if (n < 0) {
		run_file(path);
		return 1;
	}
	for (i = 0; i < n; i++) {
		file = xasprintf("%s/%s", path, list[i]->d_name);
		run_file(file);
		free(file);
		free(list[i]);
	}
	free(list);
	return (size_t)n;
}

int
main(int argc, char **argv)
{
	const char *top = getenv("TOP_SRCDIR"), *name = strrchr(argv[0], '_');
	size_t n = 0;
	char *corpus;
	int i;

	name = name != NULL ? name + 1 : argv[0];
	signal(SIGABRT, on_signal);
	signal(SIGSEGV, on_signal);
	for (i = 1; i < argc; i++)
		n += run_path(argv[i]);
	if (argc == 1) {
		corpus = xasprintf(
		    "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".", name);
		n = run_path(corpus);
		free(corpus);
	}
	printf("%sok 1 - %s: %zu files, each with %d variants\n1..1\n",
	    n > 0 ? "" : "not ", name, n, CUTS + CHANGES);
	return n == 0;
}
