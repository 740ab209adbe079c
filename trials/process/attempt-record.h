/*
 * The records of one attempt, written by the supervisor and read by the server:
 * file `state`, preallocated, overwritten in place.  Sector 0 is the claim: the
 * attempt was started and may never be started again; sector 1 is its end.  The
 * lock on byte 0 of `state` is held while the supervisor lives, the one on
 * `trial.lock` while the trial lives.
 */

#ifndef HPOTUNE_ATTEMPT_RECORD_H
#define HPOTUNE_ATTEMPT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORD_SECTOR = 512, /* a disk writes it completely or not at all */
	RECORD_FILE = 4096, /* bytes of `state` */
	RECORD_UUID = 36,
	RECORD_PATH = 232, /* longest cgroup path, with its NUL */
	RECORD_WHY = 160
};

enum claim_kind {
	CLAIM_STARTING = 1, /* claimed; the trial does not run yet */
	CLAIM_STARTED, /* the trial's program is running */
	CLAIM_STUCK, /* still alive a minute after SIGKILL */
	CLAIM_ABANDONED /* by the server: must not be started */
};

struct claim {
	enum claim_kind kind;
	char uuid[RECORD_UUID + 1];
	char boot_id[RECORD_UUID + 1];
	int64_t shim_pid;
	int64_t shim_start; /* clock ticks since boot: /proc/PID/stat */
	int64_t trial_pid;
	int64_t trial_start;
	int64_t claimed_us; /* wall time */
	int64_t started_us;
	char cgroup[RECORD_PATH]; /* "" when there is none */
	/*
	 * Of a folder that was made ahead: the trial's number, because a loss of
	 * power may undo its rename.  Otherwise 0.
	 */
	int64_t trial;
};

struct attempt_exit {
	bool ran; /* false: exec failed, see why */
	bool timeout;
	bool oom;
	bool stopped; /* SIGTERM was sent on request or by max_run */
	bool killed; /* SIGKILL had to be sent */
	bool preempted; /* Slurm was taking its place when it ended */
	/*
	 * All its processes have ended, and its output is complete, but perhaps
	 * not on the disk: after a restart of the machine this is no record.
	 */
	bool unsynced;
	int exit_code; /* -1 when ended by a signal */
	int signal;
	int64_t started_us;
	int64_t ended_us;
	int64_t max_rss; /* bytes */
	int64_t cpu_us;
	char why[RECORD_WHY];
	int error; /* errno of the failed start; 0 = none */
	/*
	 * Bytes of its log and of metrics.jsonl: another machine may see less for
	 * a while.  0 in a record of an older version.
	 */
	int64_t log_size, metrics_size;
};

enum record_check {
	RECORD_NONE, /* never written */
	RECORD_GOOD,
	RECORD_FOREIGN, /* a good record of another attempt */
	RECORD_BAD /* damaged, torn or from another version */
};

void attempt_record_encode_claim(
    unsigned char sector[RECORD_SECTOR], const struct claim *);
/* The claim of another attempt is decoded as well, with its uuid. */
enum record_check attempt_record_decode_claim(struct claim *,
    const unsigned char sector[RECORD_SECTOR], const char *uuid);
void attempt_record_encode_exit(unsigned char sector[RECORD_SECTOR],
    const struct attempt_exit *, const char *uuid);
enum record_check attempt_record_decode_exit(struct attempt_exit *,
    const unsigned char sector[RECORD_SECTOR], const char *uuid);
/* Write the checksum of a sector into its last bytes. */
void attempt_record_sign(unsigned char sector[RECORD_SECTOR]);

/*
 * Read both records of an open `state`: 0, or -1 with errno.  A record that is
 * being overwritten at this moment may give RECORD_BAD: read again.
 */
int attempt_record_read(int state_fd, const char *uuid, struct claim *,
    enum record_check *claim_is, struct attempt_exit *,
    enum record_check *exit_is);

/*
 * Take the open-file-description lock without waiting: 0, or -1 with errno
 * (EAGAIN: held).
 */
int attempt_record_lock(int fd);
/*
 * Whether another open file description holds the lock: 0, 1, or -1 with errno.
 */
int attempt_record_locked(int fd);

#endif /* HPOTUNE_ATTEMPT_RECORD_H */
