/*
 * The trial programs of the benchmarks: one program, the first argument says
 * which.  Prints what hpotune-trial(7) describes and nothing else.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t
clock_us(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t
now_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

/* A level of its own for every trial, in [0, 1). */
static double
level(void)
{
	const char *trial = getenv("HPOTUNE_TRIAL");
	unsigned h = 2166136261u;

	for (; trial != NULL && *trial != '\0'; trial++)
		h = (h ^ (unsigned char)*trial) * 16777619u;
	return (double)(h % 1000) / 1000;
}

/* reports N: N reports as fast as they go, and out. */
static int
reports(const char *arg)
{
	static char out[1 << 16];
	int step, n = atoi(arg);
	double base = level();

	(void)setvbuf(stdout, out, _IOFBF, sizeof out);
	for (step = 1; step <= n; step++)
		printf("hpotune: step=%d v=%.4f\n", step,
		    base + 1e-4 * (step % 100));
	return 0;
}

/* sleep MS: one report, then so long. */
static int
sleep_ms(const char *arg)
{
	long ms = atol(arg);
	struct timespec t = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 };

	printf("hpotune: step=1 v=1\n");
	(void)fflush(stdout);
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static volatile sig_atomic_t stopped;

static void
on_term(int signo)
{
	(void)signo;
	stopped = 1;
}

static int
append(const char *file, int64_t number)
{
	FILE *f = fopen(file, "a");

	if (f == NULL)
		return 1;
	fprintf(f, "%" PRId64 "\n", number);
	return fclose(f) != 0;
}

/* stopme FILE: a report it is stopped for; appends how long that took. */
static int
stopme(const char *file)
{
	struct timespec wait = { .tv_nsec = 60000000 };
	struct sigaction sa = { .sa_handler = on_term };
	sigset_t term, old;
	int64_t began;

	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &term, &old);
	(void)sigaction(SIGTERM, &sa, NULL);
	printf("hpotune: step=1 v=0.5\n");
	(void)fflush(stdout);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
	printf("hpotune: step=2 v=9\n");
	began = now_us();
	(void)fflush(stdout);
	while (!stopped)
		(void)sigsuspend(&old);
	return append(file, now_us() - began);
}

/* when FILE: appends the time at which it was executed. */
static int
when(const char *file)
{
	int64_t now = now_us();

	printf("hpotune: step=1 v=1\n");
	return append(file, now);
}

/*
 * held MS: so long on its GPU; appends to the file "held" which GPUs it had,
 * when it began and when it was about to end.
 */
static int
held(const char *arg)
{
	const char *gpus = getenv("HPOTUNE_GPU_INDICES");
	int64_t began = clock_us(CLOCK_MONOTONIC);
	int rc = sleep_ms(arg);
	FILE *f = fopen("held", "a");

	if (f == NULL)
		return 1;
	fprintf(f, "%s %" PRId64 " %" PRId64 "\n", gpus != NULL ? gpus : "-",
	    began, clock_us(CLOCK_MONOTONIC));
	return fclose(f) != 0 || rc != 0;
}

static const struct mode {
	const char *name;
	int (*run)(const char *arg);
} modes[] = {
	{ "held", held },
	{ "reports", reports },
	{ "sleep", sleep_ms },
	{ "stopme", stopme },
	{ "when", when },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv[2]);
	fputs("usage: trial held MS | reports N | sleep MS | stopme FILE | "
	      "when FILE\n",
	    stderr);
	return 2;
}
