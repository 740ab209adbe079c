/*
 * A program that is talked with while it runs: what it is told goes to its
 * standard input, what it says comes from its standard output.  Neither ever
 * blocks the loop.  What the bytes mean is the owner's business.
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
	char *const *argv; /* argv[0] is looked for in PATH */
	char *const *env; /* laid over ours, as in spawn.h; or NULL */
	const char *dir; /* working folder, NULL = ours */
	const char *log; /* its stderr is appended to this file; NULL = ours */
	bool socket; /* one socket for both ways, instead of two pipes */
};

struct coproc_hooks {
	void (*on_read)(void *arg, const char *, size_t);
	/*
	 * Its process has ended and everything it said was heard; status as
	 * of waitpid.  Called once, the last of all; coproc_free may be called
	 * from inside.
	 */
	void (*on_exit)(void *arg, int status);
	void *arg;
};

/* SIGPIPE must be ignored by then. */
int coproc_start(struct coproc **, struct loop *, const struct coproc_spec *,
    const struct coproc_hooks *, struct err *);
/* Kept until it is taken; what is said to one that listens no more is lost. */
void coproc_write(struct coproc *, const void *, size_t);
/* Bytes that it has not taken yet. */
size_t coproc_unsent(const struct coproc *);
/* Kill it and all it started: it is heard no more, gone follows. */
void coproc_kill(struct coproc *);
/*
 * Close its input, wait for its end, at most so long, kill what is left: all
 * at once, and no hook is called.  Not from inside hear.
 */
void coproc_free(struct coproc *, int64_t grace_ms);

#endif /* HPOTUNE_COPROC_H */
