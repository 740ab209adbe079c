/*
 * Runs a helper program (tar, a credential process) without a shell and
 * collects its output on the event loop.  Its exit is detected by a descriptor,
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
	char *const *argv; /* argv[0] is searched in PATH */
	const char *dir; /* working folder, NULL = ours */
	int64_t timeout_ms; /* the limit after which it is killed; 0 = 60 s */
	size_t most; /* maximum bytes of output; 0 = 1 MiB */
	bool both; /* its stderr is collected with its stdout */
	bool mute; /* its stderr goes to /dev/null: it may contain a secret */
};

/*
 * status: as of waitpid; -1 when it was killed for its time or output limit,
 * why then holds the reason. out: its stdout, NUL-terminated, borrowed.  Its
 * stderr goes to ours unless mute or both is set.  Called once, from the loop.
 */
typedef void
capture_cb(void *arg, int status, const char *out, size_t len, const char *why);

int capture_start(struct capture **, struct loop *, const struct capture_spec *,
    capture_cb *, void *arg, struct err *);
/*
 * Kill it, reap it and free it; the callback is not called.  Not from inside
 * the callback.
 */
void capture_kill(struct capture *);

#endif /* HPOTUNE_CAPTURE_H */
