/* The clocks of the helper programs; the server's are those of its loop. */

#ifndef HPOTUNE_CLOCK_H
#define HPOTUNE_CLOCK_H

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

#endif /* HPOTUNE_CLOCK_H */
