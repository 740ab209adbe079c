/*
 * Functions that archives of Debian 12 and this program take from its C library,
 * for one of glibc 2.28; build-aux/release-wheel links them.
 */

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

void arc4random_buf(void *, size_t);
uint32_t arc4random(void);
void closefrom(int);

/* glibc 2.36.  There is no error that a caller could be told. */
void
arc4random_buf(void *p, size_t n)
{
	unsigned char *at = p;
	ssize_t got;

	while (n > 0) {
		/* So much at once is never cut short. */
		got = getrandom(at, n < 256 ? n : 256, 0);
		if (got <= 0)
			continue;
		at += got;
		n -= (size_t)got;
	}
}

uint32_t
arc4random(void)
{
	uint32_t x;

	arc4random_buf(&x, sizeof x);
	return x;
}

/* glibc 2.34; close_range is Linux 5.9. */
void
closefrom(int from)
{
	enum { CLOSE_RANGE = 436 };
	long end = sysconf(_SC_OPEN_MAX), fd;

	if (syscall(CLOSE_RANGE, (unsigned)from, ~0U, 0) == 0)
		return;
	for (fd = from; fd < end; fd++)
		(void)close((int)fd);
}
