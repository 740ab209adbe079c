/*
 * A helper program of ours (tar, a credential process): started without a
 * shell, its output collected on the loop, its end heard by its descriptor,
 * never by a signal.
 */

#ifndef HPOTUNE_CAPTURE_H
#define HPOTUNE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct err;
struct loop;

struct capture_spec {
	char *const *argv; /* argv[0] is looked for in PATH */
	const char *dir; /* working folder, NULL = ours */
	int64_t timeout_ms; /* then it is killed; 0 = 60 s */
	size_t most; /* bytes of output; 0 = 1 MiB; more: it is killed */
	bool mute; /* its stderr goes nowhere: it may hold a secret */
};

/*
 * status: as of waitpid, -1 when it was killed for time or length (why says
 * so).  out is what it printed on stdout, with a NUL after it; its stderr goes
 * to ours, but for mute.  Called once, from the loop.
 */
typedef void
capture_cb(void *arg, int status, const char *out, size_t len, const char *why);

int capture_start(struct capture **, struct loop *, const struct capture_spec *,
    capture_cb *, void *arg, struct err *);
/* Kill it and wait for it; no callback.  Not from inside the callback. */
void capture_kill(struct capture *);

#endif /* HPOTUNE_CAPTURE_H */
