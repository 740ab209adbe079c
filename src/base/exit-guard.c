/* The thread that ends a process which is held; the header has when. */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/exit-guard.h"

enum {
	LOOK_MS = 500,
	STACK = 1 << 18 /* handlers of signals run on it, and sanitizers */
};

/* The thread and a handler of signals can reach global state alone. */
static struct {
	bool begun;
	atomic_uint alive; /* how often it was said */
	int held_ms, status;
	const char *text;
} guard;

/* Whoever reads standard error may be held as well. */
static _Noreturn void
guard_end(void)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) != 0 &&
	    write(STDERR_FILENO, guard.text, strlen(guard.text)) == -1)
		_exit(guard.status);
	_exit(guard.status);
}

static void *
guard_watch(void *arg)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
	const struct timespec *wait = NULL; /* until a signal comes */
	unsigned heard = 0, now;
	int held_ms = 0;
	sigset_t open;

	(void)arg;
	(void)sigfillset(&open);
	(void)sigdelset(&open, SIGINT);
	(void)sigdelset(&open, SIGTERM);
	for (;;) {
		/* Who asks again and again need not wait as long. */
		held_ms += ppoll(NULL, 0, wait, &open) == 0 ? LOOK_MS
							    : guard.held_ms / 4;
		now = atomic_load(&guard.alive);
		if (wait == NULL || now != heard) {
			heard = now;
			held_ms = 0;
			wait = &look;
		} else if (held_ms > guard.held_ms)
			guard_end();
	}
	return NULL;
}

bool
exit_guard_begin(int held_ms, const char *text, int status)
{
	sigset_t all, ends, old;
	pthread_attr_t attr;
	pthread_t thread;

	guard.held_ms = held_ms;
	guard.text = text;
	guard.status = status;
	if (guard.begun)
		return true;
	(void)sigfillset(&all);
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK);
	/* A signal that comes meanwhile waits for the thread. */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	guard.begun = pthread_create(&thread, &attr, guard_watch, NULL) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (guard.begun)
		(void)pthread_sigmask(SIG_BLOCK, &ends, NULL);
	(void)pthread_attr_destroy(&attr);
	return false;
}

void
exit_guard_alive(void)
{
	(void)atomic_fetch_add(&guard.alive, 1);
}
