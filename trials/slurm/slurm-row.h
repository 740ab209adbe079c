/* A row of squeue, and what the state of a job means.  Pure. */

#ifndef HPOTUNE_SLURM_ROW_H
#define HPOTUNE_SLURM_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLURM_NAME = 200 };

/*
 * The format that slurm_row_read reads, for squeue --format.  A job has its name in
 * its comment, too, before its uuid: a site may rename it.
 */
#define SLURM_ROW_FORMAT "%A|%T|%r|%N|%l|%V|%j|%k"

enum slurm_state {
	SLURM_STATE_WAITS, /* pending, held, suspended before its begin, … */
	SLURM_STATE_RUNS, /* running, completing, stopped, suspended */
	SLURM_STATE_COMPLETED,
	SLURM_STATE_FAILED,
	SLURM_STATE_LAUNCH, /* the node could not start it, or it was killed */
	SLURM_STATE_CANCELLED,
	SLURM_STATE_NODE, /* its node failed */
	SLURM_STATE_PREEMPTED,
	SLURM_STATE_TIMEOUT,
	SLURM_STATE_MEMORY,
	SLURM_STATE_OTHER /* unknown to us */
};

struct slurm_row {
	int64_t id; /* 0 = no row */
	enum slurm_state state;
	char word[32]; /* the state as Slurm writes it */
	char reason[80];
	char node[128]; /* "" before it runs */
	int64_t limit_s; /* 0 = none, or unknown */
	int64_t submitted_s; /* by the clock of the controller; 0 = unknown */
	char name[SLURM_NAME]; /* with which it was submitted, if it is ours */
};

/* What a word of Slurm, with its reason, means. */
enum slurm_state slurm_row_state(const char *word, const char *reason);
/* One line, without its newline; false: it is not a row. */
bool slurm_row_read(struct slurm_row *, const char *line, size_t len);
/*
 * The name with which a job of hpotune was submitted, among the fields name and
 * comment at the end of a row, neither of which it may have any more: its length, 0 =
 * it is not ours.
 */
size_t slurm_row_name(const char *fields, size_t len, const char **name);
/* Whether the job has ended. */
bool slurm_row_final(const struct slurm_row *);
/* Slurm gave it up and keeps it: "launch failed requeued held". */
bool slurm_row_stuck(const struct slurm_row *);
/*
 * Of two rows of one name the one that matters: the one with this id (0 = any),
 * else the one that runs, waits, ended last.
 */
bool slurm_row_better(
    const struct slurm_row *a, const struct slurm_row *b, int64_t id);
/*
 * "2026-11-23T01:02:03", local time of the controller, as seconds that can be
 * compared with each other; 0 = none.
 */
int64_t slurm_row_time(const char *text);
/* "1-02:03:04", "02:03:04", "03:04", "UNLIMITED": seconds, 0 = none. */
int64_t slurm_row_limit(const char *text);

#endif /* HPOTUNE_SLURM_ROW_H */
