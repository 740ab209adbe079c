/*
 * A study in its own folder, served by copies of the programs with fault
 * injection.  The driver is a subreaper: orphans of the study become its
 * children.
 */

#ifndef HPOTUNE_HARNESS_H
#define HPOTUNE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct harness {
	char dir[64]; /* everything below is in here */
	char study[96], db[96], trials[96];
	char ledger[96], fail_log[96], server_log[96], promises[96];
	char hooks[96]; /* what hooks were told, a line each */
	char old[96]; /* a study that others learn from */
	uint64_t rng;
};

/* The build tree: $TOP_BUILDDIR, or where this program lies. */
const char *harness_top(void);
/* Make the folder and its study.json from a list of members. */
void harness_open(struct harness *, uint64_t seed, const char *members);
/* End all that is left of it and, unless keep, remove the folder. */
void harness_close(struct harness *, bool keep);

/* Run another study, old.json, whose database is beside that of ours. */
void harness_learn(struct harness *, const char *members);
/* The trial program with its arguments, as the value of trial.command. */
void harness_command(char *text, size_t n, const char *args);
/* The same, begun by an interpreter ($TOP_SRCDIR/tests/torture/ledger_exec.py). */
void harness_command_python(char *text, size_t n, const char *args);

/*
 * Start a server with $HPOTUNE_FAIL (or NULL); shim instead of the usual one
 * (or NULL).  Not reaped.
 */
pid_t harness_serve(
    struct harness *, const char *fail, const char *shim, bool traced);
/* Wait at most us (-1: for ever) for it; true when it has ended. */
bool harness_wait(pid_t, int64_t us, int *status);
/* Reap all other children that have ended; false when no child is left. */
bool harness_reap(pid_t except);

/* SIGKILL to a supervisor of ours, noted in the ledger; false: there is none */
bool harness_kill_shim(struct harness *);
/*
 * SIGKILL to a process of ours with this word in its arguments, the oldest one or
 * any, which is no supervisor; false: there is none.
 */
bool harness_kill_one(struct harness *, const char *word, bool oldest);
/* How many processes of the study are alive. */
int harness_alive(const struct harness *);
/* Waits until there are none, for at most ms. */
bool harness_wait_quiet(const struct harness *, int ms);

/* The next random number below n. */
uint64_t harness_random(struct harness *, uint64_t n);
int64_t harness_now_ms(void);

#endif /* HPOTUNE_HARNESS_H */
