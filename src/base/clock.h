/* The clocks of the helper programs; the server's are those of its loop. */

#ifndef HPOTUNE_CLOCK_H
#define HPOTUNE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds since the boot, suspended time included. */
static inline int64_t
clock_boot_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Wall clock time, microseconds since 1970. */
static inline int64_t
clock_wall_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Processor time of this process, in microseconds. */
static inline int64_t
clock_cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The earliest of n times that are due; one below 0 is not set; -1 = none is. */
static inline int64_t
clock_first(const int64_t *at, size_t n)
{
	int64_t first = -1;
	size_t i;

	for (i = 0; i < n; i++)
		if (at[i] >= 0 && (first < 0 || at[i] < first))
			first = at[i];
	return first;
}

#endif /* HPOTUNE_CLOCK_H */
