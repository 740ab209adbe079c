/* The local launcher: what its files share. */

#ifndef TRIALS_LOCAL_H
#define TRIALS_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/mem.h"
#include "trials/claim.h"
#include "trials/launcher.h"
#include "trials/report.h"

struct err;
struct evidence;
struct loop;
struct loop_fd;
struct loop_timer;

enum {
	LOCAL_WHYS = 8 /* reasons told of per file */
};

enum local_stop { LOCAL_STOP_NONE, LOCAL_STOP_GRACE, LOCAL_STOP_NOW };

/* One file of output that is followed. */
struct local_tail {
	const char *name; /* in the attempt's directory */
	int fd; /* -1 until it is there */
	int64_t *at; /* in the cursor */
	bool *skip;
	int64_t dropped; /* bytes given back to the disk before we came */
	bool noted_drop, noted_long, noted_cut;
	const char *noted_why[LOCAL_WHYS];
};

struct local_attempt {
	struct local *local;
	int64_t trial;
	int attempt;
	int slot;
	char uuid[CLAIM_UUID + 1];
	char *dir;
	struct launch_cursor cursor;
	struct local_tail log, metrics;
	int wd; /* inotify, -1 when it could not */

	pid_t child; /* a supervisor to reap, or 0 */
	int child_status; /* once reaped; -1 before */
	int pidfd; /* of the supervisor, or -1 */
	int64_t pid; /* the one pidfd is of */
	struct loop_fd *watch;

	bool fresh; /* no supervisor before ours was possible */
	bool dirty; /* has something to look at */
	bool check; /* … in its records too */
	bool up; /* LAUNCH_UP was delivered */
	bool noted_stuck, noted_unknown, noted_full, noted_foreign;
	bool aside; /* what another run left is of other parameters */
	bool over; /* free it after this turn */
	int64_t odd_since_ms; /* unclear or waiting since; -1 = not */
	enum local_stop stop, stop_sent;
};

struct local_gpus {
	char **name; /* an index or a UUID each */
	size_t n;
	size_t per_trial; /* 0: trials without GPUs */
	size_t groups; /* n / per_trial */
};

struct local {
	struct loop *loop;
	struct report_rules *rules;
	launch_cb *event;
	void *arg;
	char *study;
	char *shim; /* path of the program */
	char *host;
	char boot_id[CLAIM_UUID + 1];
	char cgroup[CLAIM_PATH]; /* "" when there is none */
	int64_t log_cap;
	bool no_punch, noted_punch;
	struct local_gpus gpus;
	int slots;

	struct local_attempt **attempts;
	size_t n, cap;

	int inotify;
	struct loop_fd *ear;
	bool deaf; /* it heard something, and listens again later */
	struct loop_timer *ear_timer; /* listen again */
	struct loop_timer *poll_timer; /* look at everything */
	bool soon; /* … in a moment, not in a second */

	struct report report;
	char chunk[REPORT_LINE_MAX + 1];
};

/* local.c */
extern const struct launcher launcher_local;
/* The attempt, followed from now on; NULL when it is not. */
struct local_attempt *local_find(struct local *, int64_t trial, int attempt);
struct local_attempt *local_follow(struct local *, const struct launch_spec *);
/* Follow this supervisor instead of the one before. */
void local_watch(struct local_attempt *, int64_t pid, int pidfd);
void local_emit(struct local_attempt *, struct launch_event *);
void local_note(struct local_attempt *, bool warn, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* local-slots.c: who gets which processor. */
/* Whether this machine has the GPUs; nothing is opened. */
int local_slots_check(
    const struct study_trial *, const struct option_value *, struct err *);
int local_slots_open(struct local *, const struct launch_env *, struct err *);
/* The GPUs there are, or those of them that CUDA_VISIBLE_DEVICES leaves. */
void local_gpus_auto(struct local_gpus *, size_t present, const char *visible);
void local_slots_close(struct local *);
void local_slot_name(const struct local *, int slot, char *, size_t);
/* Its GPUs as CUDA_VISIBLE_DEVICES wants them. */
void local_slot_gpus(const struct local *, int slot, struct buf *);

/* local-env.c: the environment of one attempt; free with local_env_free. */
char **
local_env(const struct local *, const struct launch_spec *, const char *dir);
void local_env_free(char **);

/* local-start.c */
char *local_dir(const struct launch_spec *);
int local_shim_find(struct local *, struct err *);
int local_start(void *, const struct launch_spec *, struct err *);

/* local-look.c */
enum launch_look local_look(void *, const struct launch_spec *, struct err *);
int local_abandon(void *, const struct launch_spec *, struct err *);
/* Write the claim that lets nobody start it any more. */
int local_bury(const char *dir, const char *uuid, struct err *);
/* SIGKILL to every process of an attempt. */
int local_kill_marked(const char *uuid);
/* SIGKILL to what a dead supervisor left behind: whether there was any. */
bool local_sweep(struct local_attempt *, const struct claim *);

/*
 * local-foreign.c: the folder of an attempt holds another run of its trial,
 * because the database was brought back from an older copy.
 */
/* Whether it does; *aside: and that run had other parameters. */
bool local_foreign(const struct launch_spec *, const char *dir, bool *aside);
/* Wait for its end, and then give the attempt up: the next one follows. */
void local_foreign_turn(struct local_attempt *, const struct evidence *);

/* local-turn.c: one look at one attempt, events for all that is new. */
void local_turn(struct local_attempt *);
/* All is told that there was: this is its end. */
void local_end(struct local_attempt *, struct launch_event *);
/* Signal a supervisor that has made its claim, if a stop is wanted. */
void local_stop_send(struct local_attempt *);

/* local-tail.c: read what is new; true when there is more at once. */
bool local_tail(struct local_attempt *, bool final);
void local_tail_close(struct local_attempt *);

#endif /* TRIALS_LOCAL_H */
