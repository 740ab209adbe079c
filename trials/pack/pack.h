/*
 * hpotune-pack: one program of the user that runs several trials.  "serve"
 * starts it and talks to it for one place; "join" stands for one of its trials
 * below a supervisor, so that it looks like an ordinary trial.
 *
 * The protocol between the two, one line per message:
 *
 *	join:	j TRIAL ATTEMPT KEY MESSAGE	take this trial; MESSAGE goes
 *						to the program
 *		s				tell the program to stop it
 *		a KEY TRIAL ATTEMPT		does a program of KEY run here?
 *						A member will connect.
 *		q				exit when no member is left
 *	serve:	w				welcome; or yes
 *		o				another program runs here: wait
 *		r LINE				a line for the metrics file
 *		l TEXT				a line for the log
 *		e CODE WHY			the trial has ended
 *		d HOW NUMBER WHY		the program has ended
 */

#ifndef HPOTUNE_PACK_H
#define HPOTUNE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "src/base/mem.h"
#include "trials/pack/pack-line-io.h"
#include "trials/pack/pack-protocol.h"
#include "trials/process/stop-tree.h"

#define PACK_SOCKET "sock"
#define PACK_LOCK "lock"
#define PACK_LOG "log"

enum {
	PACK_PLACES_MAX = 4096,
	/* maximum size of the settings of a trial */
	PACK_GREETING_MAX = 4 << 20,
	PACK_KEY = 16 /* hex digits: hash of command and options */
};

/* How a packed program ended, and with it each of its trials. */
enum pack_end {
	PACK_END_CODE = 'c', /* it exited: number is its status */
	PACK_END_SIGNAL = 's', /* number is the signal */
	PACK_END_OOM = 'o',
	PACK_END_NOT_RUN = 'n', /* it could not be executed */
	PACK_END_OURS = 'k' /* killed by us, because it did not respond */
};

struct pack_member;

/* A trial that was passed to the program and has not ended. */
struct pack_seat {
	int64_t trial, attempt;
	struct pack_member *member; /* NULL when it has disconnected */
	bool told; /* a stop was sent to the program */
	/* deadline of the program's answer; -1 = none */
	int64_t unresponsive_at_ms;
	/* lock of the trial's folder: no other process may run it */
	int lock_fd;
};

enum pack_state {
	PACK_GREETING, /* has not sent its trial yet */
	PACK_WAITING, /* for a seat */
	PACK_RUNNING, /* has a seat */
	PACK_LEAVING /* its end is being sent */
};

struct pack_member {
	struct pack_line_io io;
	enum pack_state state;
	int64_t trial, attempt;
	char *message; /* for the program; NULL after it was sent */
	char *trial_dir;
	bool noted_wait;
	size_t dropped; /* reports dropped because it did not read */
	struct pack_member *next; /* in order of arrival */
};

enum pack_phase {
	PACK_NONE, /* no program */
	PACK_UP,
	PACK_ENDING, /* SIGTERM sent; SIGKILL at kill_at_ms */
	PACK_KILLING /* SIGKILL sent to all that is left */
};

struct pack_program {
	enum pack_phase phase;
	pid_t pid;
	bool reaped; /* the main process was reaped */
	int status; /* as of waitpid, once reaped */
	bool killed; /* by us */
	int exec_error; /* errno; 0 = it runs */
	bool in_chdir; /* … of chdir, not of exec */
	int exec_fd; /* receives exec_error; -1 when done */
	struct stop_tree *stop_tree; /* whom its end has reached */
	struct pack_line_io in, out, err; /* its stdin, stdout, stderr */
	int64_t kill_at_ms, sweep_at_ms, sweep_wait_ms; /* -1 = not set */
	size_t starts;
};

struct pack_arrival {
	int64_t trial, attempt;
	int64_t until_ms; /* when the entry expires */
	bool came; /* connected before it was announced */
};

struct pack_log {
	int dir_fd, fd;
	off_t size;
};

struct pack {
	/* Arguments from the backend. */
	const char *dir, *workdir, *cgroup, *key;
	char **argv;
	int64_t places, grace_ms;
	int64_t trial, attempt;
	int64_t hold_fds;
	/* the attempt for which it was started */
	/* number of lock descriptors from 3 on, as in shim.h */

	int dir_fd, lock_fd, listen_fd, signal_fd;
	int64_t now_ms; /* CLOCK_BOOTTIME */
	int64_t leave_at_ms; /* when to exit; -1 = a member is connected */
	struct pack_arrival *expected;
	size_t n_expected, cap_expected;
	int64_t lock_try_ms; /* when to try the lock of a trial again */
	int64_t accept_try_ms; /* when to accept again */
	rlim_t files; /* the inherited limit on open files */
	bool hasty; /* exit as soon as no member is left */
	bool leaving; /* accepts no members */
	struct pack_member *members;
	size_t n_members;
	struct pack_seat *seats; /* array of seats */
	size_t n_seats;
	struct pack_program program;
	struct pack_log log;
	struct pack_message line;
};

/* pack-members.c: connections of members. */
/* Accept all waiting connections. */
void pack_members_admit(struct pack *);
/* Process what a member has sent, or its disconnection. */
void pack_members_read(struct pack *, struct pack_member *);
/* Send a member one of the lines above. */
void pack_members_send(struct pack_member *, char letter, const char *text);
/* Free disconnected members. */
void pack_members_sweep(struct pack *);

/* pack-owner-main.c: the command "serve"; its exit status. */
int pack_owner_main(struct pack *);

/* pack-member-main.c: the command "join"; its exit status. */
int pack_member_main(char **args);
/* Connect to the place in this folder: -1 with errno. */
int pack_connect(int dir_fd);

#endif /* HPOTUNE_PACK_H */
