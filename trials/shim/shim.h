/* The supervisor of one attempt: what its files share. */

#ifndef HPOTUNE_SHIM_H
#define HPOTUNE_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trials/process/attempt-record.h"

/*
 * Exit statuses before the claim, for the server: these three, or the errno
 * of what failed.  After the claim it is 0, and the records say the rest; or the
 * errno that kept the end from being recorded.
 */
enum {
	SHIM_BUSY = 100, /* another supervisor holds the lock */
	SHIM_CLAIMED = 101, /* the attempt was started (or abandoned) before */
	SHIM_FOREIGN = 102 /* the records are not of this attempt */
};

enum shim_phase {
	SHIM_STARTING, /* forked, exec not yet confirmed */
	SHIM_RUNNING,
	SHIM_STOPPING, /* SIGTERM sent, in its grace */
	SHIM_KILLING /* whatever is left gets SIGKILL */
};

/* One file of output, whose head is given back to the disk. */
struct shim_log {
	int fd;
	off_t size; /* at the last look */
	off_t punched; /* bytes given back */
};

struct shim {
	/* As the server said. */
	const char *dir;
	const char *uuid;
	const char *workdir;
	const char *cgroup; /* "" when there is none */
	const char *from; /* folder of a trial to continue, or NULL */
	const char *cpus; /* cores to run on, "0-3,8"; "" = any */
	char **argv;
	int64_t from_trial; /* its number */
	int64_t grace_ms;
	int64_t max_run_ms; /* 0 = no limit */
	int64_t memory; /* bytes, 0 = no limit */
	int64_t log_cap; /* bytes, 0 = no cap */
	/*
	 * So many descriptors from 3 on were inherited: locks, which last as
	 * long as we do.  The trial and whatever survives it do not get them.
	 */
	int64_t hold_fds;

	int dir_fd, state_fd, lock_fd;
	int signal_fd, timer_fd;
	int exec_fd; /* says why exec failed; -1 when answered */
	struct shim_log log, metrics;

	enum shim_phase phase;
	bool reaped; /* the main process, or there is none */
	pid_t pid;
	int64_t now_ms; /* CLOCK_BOOTTIME */
	int64_t started_ms; /* the same clock */
	int64_t run_until_ms; /* each -1 when not set */
	int64_t kill_at_ms;
	int64_t output_at_ms, output_wait_ms;
	int64_t sweep_at_ms, sweep_wait_ms;
	int64_t kill_began_ms;
	/* A program that could not be executed is tried again, for a while. */
	int64_t start_at_ms; /* -1 when not set */
	int64_t start_wait_ms;
	int64_t start_until_ms;
	struct claim claim;
	struct attempt_exit exit;
};

/* What a child that could not become the trial says through exec_fd. */
struct shim_exec_error {
	int error; /* errno */
	bool in_chdir;
};

int64_t shim_clock_ms(void);
int64_t shim_wall_us(void);
/* Now, as far from the start as it was: a clock that is set is no run time. */
int64_t shim_ended_us(const struct shim *);

/* shim-record.c: 0, or the exit status of the shim. */
int shim_record_claim(struct shim *);
void shim_record_update(struct shim *, enum claim_kind);
/*
 * Until it is on the disk, however long that takes: 0; or EROFS when it cannot
 * be.
 */
int shim_record_exit(struct shim *);

/* shim-checkpoint-copy.c: put it there: 0, or -1 with the exit record filled. */
int shim_checkpoint_copy(struct shim *);

/*
 * shim-spawn.c: fork the trial.  When that fails, or its exec did, it is to be
 * tried again (start_at_ms), or the exit record is filled.
 */
void shim_spawn(struct shim *);
void shim_spawn_failed(struct shim *, const struct shim_exec_error *);

/* shim-log-cap.c: give back what is beyond the cap; sets output_at_ms. */
void shim_log_cap_check(struct shim *);

#endif /* HPOTUNE_SHIM_H */
