/*
 * The records of one attempt, shared by the supervisor that writes them and
 * the server that reads them: file `state`, preallocated, overwritten in
 * place.  Sector 0 says that the attempt was claimed, and may never be claimed
 * again; sector 1 says how it ended.  The lock on byte 0 of `state` is the
 * supervisor's life, the one on `trial.lock` the trial's.
 */

#ifndef HPOTUNE_ATTEMPT_RECORD_H
#define HPOTUNE_ATTEMPT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORD_SECTOR = 512, /* written by a disk whole or not at all */
	RECORD_FILE = 4096, /* bytes of `state` */
	RECORD_UUID = 36,
	RECORD_PATH = 232, /* longest cgroup path, with its NUL */
	RECORD_WHY = 160
};

enum claim_kind {
	CLAIM_STARTING = 1, /* claimed; the trial is not there yet */
	CLAIM_STARTED, /* the trial's program is running */
	CLAIM_STUCK, /* SIGKILL did not end it within a minute */
	CLAIM_ABANDONED /* by the server: nobody may start it any more */
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
};

struct attempt_exit {
	bool ran; /* false: exec failed, why says how */
	bool timeout;
	bool oom;
	bool stopped; /* SIGTERM was sent on request or by max_run */
	bool killed; /* SIGKILL had to be sent */
	int exit_code; /* -1 when ended by a signal */
	int signal;
	int64_t started_us;
	int64_t ended_us;
	int64_t max_rss; /* bytes */
	int64_t cpu_us;
	char why[RECORD_WHY];
	int error; /* errno of what kept it from running, 0 = nothing did */
};

enum record_check {
	RECORD_NONE, /* nothing was ever written */
	RECORD_GOOD,
	RECORD_FOREIGN, /* a good record of another attempt */
	RECORD_BAD /* damaged, torn or from another version */
};

void attempt_record_encode_claim(
    unsigned char sector[RECORD_SECTOR], const struct claim *);
/* A foreign claim is read as well: it has its own uuid. */
enum record_check attempt_record_decode_claim(struct claim *,
    const unsigned char sector[RECORD_SECTOR], const char *uuid);
void attempt_record_encode_exit(unsigned char sector[RECORD_SECTOR],
    const struct attempt_exit *, const char *uuid);
enum record_check attempt_record_decode_exit(struct attempt_exit *,
    const unsigned char sector[RECORD_SECTOR], const char *uuid);
/* Put the checksum of its bytes at the end of a sector. */
void attempt_record_sign(unsigned char sector[RECORD_SECTOR]);

/*
 * The two records of an open `state`: 0, or -1 with errno.  A record that is
 * being overwritten at this moment may read as RECORD_BAD: ask again.
 */
int attempt_record_read(int state_fd, const char *uuid, struct claim *,
    enum record_check *claim_is, struct attempt_exit *,
    enum record_check *exit_is);

/* Take the open-file-description lock: 0, or -1 with errno (EAGAIN: held). */
int attempt_record_lock(int fd);
/* Whether another description holds it: 0, 1, or -1 with errno. */
int attempt_record_locked(int fd);

#endif /* HPOTUNE_ATTEMPT_RECORD_H */
