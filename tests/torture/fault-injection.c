/*
 * The other side of src/base/fail.h, for copies of the programs that only
 * tests run.  $HPOTUNE_FAIL says what happens where, separated by commas:
 *
 *	tuner.before_commit=delay(5)%33	sleep up to 5 ms, in 33 of 100 passes
 *	shim.before_claim=kill%2	SIGKILL to itself, in 2 of 100 passes
 *	local.after_spawn=kill*1	at most once in this process
 *	shim.before_seed=kill#3		as long as the log has fewer than 3
 *	reading.begin=crash		abort, as a program with an error
 *	tuner.before_commit=hang	wait for ever, as for a disk
 *	bug.no_claim_check		pretend to have this bug
 *
 * A kill is first noted in the file $HPOTUNE_FAIL_LOG: place, pid, arguments.
 * No memory is allocated: the supervisor is small and so is this.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "tests/torture/fail-bug.h"

enum { PLACES_MAX = 64 };

struct place {
	const char *name; /* in the environment, not terminated */
	size_t len;
	long delay_ms; /* -1 = kill */
	bool crash, hang;
	long percent;
	long left; /* times */
	long noted; /* times, over all processes; -1 = no bound */
	bool bug;
};

static struct place places[PLACES_MAX];
static size_t n_places;
static bool ready;
static uint64_t seed;

static void
bad(const char *text)
{
	(void)dprintf(2, "HPOTUNE_FAIL: cannot read \"%s\"\n", text);
	abort();
}

static const char *
action_read(struct place *p, const char *s)
{
	long *number;
	char *end;

	if (strncmp(s, "delay(", 6) == 0) {
		p->delay_ms = strtol(s + 6, &end, 10);
		if (*end != ')')
			bad(s);
		s = end + 1;
	} else if (strncmp(s, "kill", 4) == 0)
		s += 4;
	else if (strncmp(s, "crash", 5) == 0) {
		p->crash = true;
		s += 5;
	} else if (strncmp(s, "hang", 4) == 0) {
		p->hang = true;
		s += 4;
	} else
		bad(s);
	for (; *s != '\0' && strchr("%*#", *s) != NULL; s = end) {
		number = *s == '%'   ? &p->percent
			 : *s == '*' ? &p->left
				     : &p->noted;
		*number = strtol(s + 1, &end, 10);
	}
	return s;
}

static void
places_read(const char *s)
{
	struct place *p;

	while (*s != '\0') {
		if (n_places == PLACES_MAX)
			bad(s);
		p = &places[n_places++];
		*p = (struct place){ .name = s,
			.len = strcspn(s, "=,"),
			.delay_ms = -1,
			.percent = 100,
			.left = -1,
			.noted = -1 };
		s += p->len;
		p->bug = *s != '=';
		if (*s == '=')
			s = action_read(p, s + 1);
		if (*s != '\0' && *s++ != ',')
			bad(s - 1);
	}
}

static void
prepare(void)
{
	const char *fail = getenv("HPOTUNE_FAIL");
	const char *text = getenv("HPOTUNE_FAIL_SEED");

	if (ready)
		return;
	ready = true;
	seed = (text != NULL ? strtoull(text, NULL, 10) : 0) * 1000003 +
	       (uint64_t)getpid();
	if (fail != NULL)
		places_read(fail);
}

/* splitmix64: the next number below n. */
static long
below(long n)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (long)((z ^ z >> 31) % (uint64_t)n);
}

static struct place *
place_find(const char *name, bool bug)
{
	size_t i, len = strlen(name);

	prepare();
	for (i = 0; i < n_places; i++)
		if (places[i].bug == bug && places[i].len == len &&
		    memcmp(places[i].name, name, len) == 0)
			return &places[i];
	return NULL;
}

/* One line, so that the judge knows who was killed. */
static void
kill_note(const char *name)
{
	const char *path = getenv("HPOTUNE_FAIL_LOG");
	char line[4096];
	ssize_t n;
	int fd, len;

	if (path == NULL)
		return;
	len = snprintf(line, sizeof line, "%s %ld ", name, (long)getpid());
	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	n = fd != -1 ? read(fd, line + len, sizeof line - (size_t)len - 1) : 0;
	if (fd != -1)
		(void)close(fd);
	for (n += len; len < n; len++)
		if (line[len] == '\0' || line[len] == '\n')
			line[len] = ' ';
	line[n] = '\n';
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1 || write(fd, line, (size_t)n + 1) == -1)
		abort();
	(void)close(fd);
}

/* How often the log has this place; two processes at once may both look first. */
static long
kills_noted(const struct place *p)
{
	const char *path = getenv("HPOTUNE_FAIL_LOG");
	char line[64], c;
	size_t len = 0;
	long n = 0;
	int fd;

	fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd == -1)
		return 0;
	while (read(fd, &c, 1) == 1) {
		if (c != '\n') {
			if (len < sizeof line)
				line[len++] = c;
			continue;
		}
		n += len > p->len && line[p->len] == ' ' &&
		     memcmp(line, p->name, p->len) == 0;
		len = 0;
	}
	(void)close(fd);
	return n;
}

void
fail_point(const char *name)
{
	struct place *p = place_find(name, false);
	struct timespec t;
	long us;

	if (p == NULL || p->left == 0 || below(100) >= p->percent)
		return;
	if (p->noted != -1 && kills_noted(p) >= p->noted)
		return;
	if (p->left > 0)
		p->left--;
	if (p->delay_ms < 0) {
		kill_note(name);
		while (p->hang)
			(void)pause();
		if (p->crash)
			abort();
		(void)kill(getpid(), SIGKILL);
		for (;;)
			(void)pause();
	}
	us = below(p->delay_ms * 1000 + 1);
	t = (struct timespec){ us / 1000000, us % 1000000 * 1000 };
	while (nanosleep(&t, &t) == -1)
		;
}

bool
fail_bug(const char *name)
{
	return place_find(name, true) != NULL;
}
