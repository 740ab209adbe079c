/*
 * Where trials are started: the host, the command, the commit of the code.  A row
 * is recorded before the first trial of a run starts; git and the list of packages
 * are asked beside the trials, and complete the row when they answer.
 */

#ifndef HPOTUNE_PROVENANCE_H
#define HPOTUNE_PROVENANCE_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct provenance;
struct store;
struct study;

/* All pointers are borrowed, and stay until the provenance is freed. */
struct provenance_env {
	struct loop *loop;
	const struct study *study;
	struct store *store;
	const char *command; /* JSON list: the command of this run */
	void (*wake)(void *arg); /* there is something to record */
	void *arg;
};

struct provenance *provenance_new(const struct provenance_env *);
/* Kills what is still asked. */
void provenance_free(struct provenance *);
/*
 * In a transaction: record what was answered; with starts, that attempts start
 * from the wall time now_us on, and ask again when the repository has another
 * commit, branch or index, or the last answer is a minute old by the monotonic
 * time now_ms.  An error of the store is left to its commit.
 */
void provenance_record(
    struct provenance *, int64_t now_us, int64_t now_ms, bool starts);
/* After the commit: begin to ask what is wanted. */
void provenance_ask(struct provenance *);
/* Whether an answer is awaited, or not recorded. */
bool provenance_busy(const struct provenance *);
/* Whether an answer is not recorded. */
bool provenance_answered(const struct provenance *);

#endif /* HPOTUNE_PROVENANCE_H */
