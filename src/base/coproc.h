/*
 * A child process to exchange messages with: bytes written here go to its
 * standard input, its standard output is delivered to on_read.  Neither blocks
 * the loop.  The owner defines the format of the bytes.
 */

#ifndef HPOTUNE_COPROC_H
#define HPOTUNE_COPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct coproc;

struct coproc_spec {
	char *const *argv; /* argv[0] is searched in PATH */
	char *const *env; /* laid over ours, as in spawn.h; or NULL */
	const char *dir; /* working folder, NULL = ours */
	const char *log; /* its stderr is appended to this file; NULL = ours */
	bool mute; /* its stderr goes nowhere */
	bool socket; /* one socket for both ways, instead of two pipes */
};

struct coproc_hooks {
	void (*on_read)(void *arg, const char *, size_t);
	/*
	 * The process has ended and all its output was delivered; status as of
	 * waitpid.  Called once, as the last hook; coproc_free may be called
	 * from inside.
	 */
	void (*on_exit)(void *arg, int status);
	void *arg;
};

/* Start the process.  The caller must ignore SIGPIPE; ERR_FILE. */
int coproc_start(struct coproc **, struct loop *, const struct coproc_spec *,
    const struct coproc_hooks *, struct err *);
/* Queue bytes (copied) for its input; dropped when its input is closed. */
void coproc_write(struct coproc *, const void *, size_t);
/* Bytes queued and not yet written. */
size_t coproc_unsent(const struct coproc *);
/* Kill its process group: no more on_read; on_exit follows. */
void coproc_kill(struct coproc *);
/*
 * Close its input, wait at most grace_ms for its exit, kill the rest and free
 * it: synchronous, no hook is called.  Not from inside on_read.
 */
void coproc_free(struct coproc *, int64_t grace_ms);

#endif /* HPOTUNE_COPROC_H */
