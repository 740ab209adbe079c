/*
 * Whether the driver suspends a process that holds memory of a GPU, and how long that
 * takes: cuCheckpointProcess, in the driver since release 570.
 *	bench/gpu-suspend hold MIB	holds so much until its input ends
 *	bench/gpu-suspend probe PID	suspends that process, and lets it go on
 * hold prints "held"; when its input has ended, "same" if the memory has what was
 * written into it, or "changed".  probe prints one line of seconds, with the memory
 * that is free before, between and after, or the call that failed; status 1 then.
 * $HPOTUNE_CUDA is the driver's library.
 */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 1 << 20 };

static struct driver {
	int (*init)(unsigned int);
	int (*retain)(void **, int);
	int (*current)(void *);
	int (*alloc)(uint64_t *, size_t);
	int (*to)(uint64_t, const void *, size_t);
	int (*from)(void *, uint64_t, size_t);
	int (*info)(size_t *, size_t *);
	int (*lock)(int, void *);
	int (*checkpoint)(int, void *);
	int (*restore)(int, void *);
	int (*unlock)(int, void *);
	int (*name)(int, const char **);
} driver;

static const struct {
	void *at;
	const char *name;
} calls[] = {
	{ &driver.init, "cuInit" },
	{ &driver.retain, "cuDevicePrimaryCtxRetain" },
	{ &driver.current, "cuCtxSetCurrent" },
	{ &driver.alloc, "cuMemAlloc_v2" },
	{ &driver.to, "cuMemcpyHtoD_v2" },
	{ &driver.from, "cuMemcpyDtoH_v2" },
	{ &driver.info, "cuMemGetInfo_v2" },
	{ &driver.lock, "cuCheckpointProcessLock" },
	{ &driver.checkpoint, "cuCheckpointProcessCheckpoint" },
	{ &driver.restore, "cuCheckpointProcessRestore" },
	{ &driver.unlock, "cuCheckpointProcessUnlock" },
	{ &driver.name, "cuGetErrorName" },
};

/* End the program unless a call has succeeded. */
static void
check(int error, const char *what)
{
	const char *name = "an error";

	if (error == 0)
		return;
	(void)driver.name(error, &name);
	printf("%s: %s\n", what, name);
	exit(1);
}

static void
driver_open(void)
{
	const char *given = getenv("HPOTUNE_CUDA");
	void *lib = dlopen(given != NULL ? given : "libcuda.so.1", RTLD_NOW);
	size_t i;
	void *at;

	if (lib == NULL) {
		printf("no driver: %s\n", dlerror());
		exit(1);
	}
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		at = dlsym(lib, calls[i].name);
		if (at == NULL) {
			printf("the driver has no %s\n", calls[i].name);
			exit(1);
		}
		memcpy(calls[i].at, &at, sizeof at);
	}
	check(driver.init(0), "cuInit");
}

static void
context_open(void)
{
	void *context;

	check(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
	check(driver.current(context), "cuCtxSetCurrent");
}

static void
piece_fill(uint32_t *piece, size_t number)
{
	size_t i;

	for (i = 0; i < PIECE / sizeof *piece; i++)
		piece[i] = (uint32_t)(i * 2654435761u ^ number);
}

static int
hold(size_t mib)
{
	static uint32_t piece[PIECE / 4], found[PIECE / 4];
	uint64_t at;
	size_t i;

	context_open();
	check(driver.alloc(&at, mib * PIECE), "cuMemAlloc");
	for (i = 0; i < mib; i++) {
		piece_fill(piece, i);
		check(driver.to(at + i * PIECE, piece, PIECE), "cuMemcpyHtoD");
	}
	printf("held\n");
	(void)fflush(stdout);
	while (getchar() != EOF)
		continue;
	for (i = 0; i < mib; i++) {
		piece_fill(piece, i);
		check(
		    driver.from(found, at + i * PIECE, PIECE), "cuMemcpyDtoH");
		if (memcmp(piece, found, PIECE) != 0) {
			printf("changed\n");
			return 1;
		}
	}
	printf("same\n");
	return 0;
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double
call(int (*f)(int, void *), int pid, const char *what)
{
	double began = now();

	check(f(pid, NULL), what);
	return now() - began;
}

static size_t
free_mib(void)
{
	size_t left = 0, all = 0;

	check(driver.info(&left, &all), "cuMemGetInfo");
	return left / PIECE;
}

static int
probe(int pid)
{
	size_t before, between;
	double lock, out, in, unlock;

	context_open();
	before = free_mib();
	lock = call(driver.lock, pid, "cuCheckpointProcessLock");
	out = call(driver.checkpoint, pid, "cuCheckpointProcessCheckpoint");
	between = free_mib();
	in = call(driver.restore, pid, "cuCheckpointProcessRestore");
	unlock = call(driver.unlock, pid, "cuCheckpointProcessUnlock");
	printf("lock %.3f, out %.3f, in %.3f, unlock %.3f s; %zu, %zu, %zu MiB "
	       "free\n",
	    lock, out, in, unlock, before, between, free_mib());
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		(void)fprintf(
		    stderr, "usage: gpu-suspend hold MIB | probe PID\n");
		return 2;
	}
	driver_open();
	return strcmp(argv[1], "hold") == 0 ? hold(strtoull(argv[2], NULL, 10))
					    : probe(atoi(argv[2]));
}
