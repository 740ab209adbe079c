/*
 * What the disk and the kernel alone take between two trials of a slot: the
 * writes, syncs and starts that the launch protocol has on the way from the end
 * of one trial to the first instruction of the next, and nothing else.
 *
 *	slot-floor TRIALS
 *
 * in a folder that it may fill.  Prints lines of name, median and 99th
 * percentile in milliseconds, for each part and for the whole: the end (its record
 * written), the log of the database (11 pages appended and synced), the claim (a
 * folder renamed, its record synced), and a program started, the trial.  Between
 * two of them the output and the record of the end are synced, as the supervisor of
 * the trial before does.
 */

#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 11, RECORD = 512, PARTS = 5 };

static double
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
file(const char *name, size_t size)
{
	static const char zeros[PAGE];
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, zeros, size) != (ssize_t)size)
		err(1, "%s", name);
	return fd;
}

static void
put(int fd, const void *data, size_t n, bool sync)
{
	if (write(fd, data, n) != (ssize_t)n || (sync && fdatasync(fd) != 0))
		err(1, "write");
}

static void
start(const char *self)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl(self, self, "-", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		err(1, "%s", self);
}

/* Folders that were made ahead, and of the trial that ends. */
static void
prepare(int i, int *output, int *record, int *claim)
{
	char name[64];

	(void)snprintf(name, sizeof name, "output-%d", i);
	*output = file(name, 0);
	(void)snprintf(name, sizeof name, "record-%d", i);
	*record = file(name, PAGE);
	(void)snprintf(name, sizeof name, "ahead/%d", i);
	if (mkdir(name, 0700) != 0)
		err(1, "%s", name);
	(void)snprintf(name, sizeof name, "ahead/%d/record", i);
	*claim = file(name, PAGE);
	(void)fsync(*record);
	(void)fsync(*claim);
	(void)lseek(*record, 0, SEEK_SET);
	(void)lseek(*claim, 0, SEEK_SET);
}

static void
gap(int i, const char *self, int wal, double *ms)
{
	static const char page[PAGE * PAGES];
	char from[64], to[64];
	int output, record, claim, k;
	double at[PARTS];

	prepare(i, &output, &record, &claim);
	at[0] = now_ms();
	put(output, "hpotune: step=1 v=1\n", 20, false);
	put(record, page, RECORD, false);
	at[1] = now_ms();
	put(wal, page, sizeof page, true);
	at[2] = now_ms();
	(void)snprintf(from, sizeof from, "ahead/%d", i);
	(void)snprintf(to, sizeof to, "trials/%d", i);
	if (rename(from, to) != 0)
		err(1, "%s", to);
	put(claim, page, RECORD, true);
	at[3] = now_ms();
	start(self);
	at[4] = now_ms();
	(void)fdatasync(output);
	(void)fdatasync(record);
	for (k = 0; k + 1 < PARTS; k++)
		ms[k] = at[k + 1] - at[k];
	ms[k] = at[4] - at[0];
	(void)close(output);
	(void)close(record);
	(void)close(claim);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	static const char *const names[PARTS] = { "end", "database", "claim",
		"start", "all" };
	int n = argc > 1 ? atoi(argv[1]) : 0, wal, i, k;
	double *ms, part[PARTS];

	if (n <= 0)
		return 0; /* as the program that is started */
	if (mkdir("ahead", 0700) != 0 || mkdir("trials", 0700) != 0)
		err(1, "mkdir");
	wal = file("wal", 0);
	ms = calloc((size_t)n * PARTS, sizeof *ms);
	if (ms == NULL)
		err(1, "memory");
	for (i = 0; i < n; i++) {
		gap(i, "/proc/self/exe", wal, part);
		for (k = 0; k < PARTS; k++)
			ms[k * n + i] = part[k];
	}
	for (k = 0; k < PARTS; k++) {
		qsort(ms + k * n, (size_t)n, sizeof *ms, compare);
		printf("%s\t%.2f\t%.2f\n", names[k], ms[k * n + n / 2],
		    ms[k * n + n * 99 / 100]);
	}
	free(ms);
	return 0;
}
