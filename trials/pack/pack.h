/*
 * hpotune-pack: one program of the user's that owns several trials.  "serve"
 * starts it and talks with it for one place; "join" stands for one of its
 * trials below a supervisor, and so all others see an ordinary trial.
 *
 * Between the two goes a line with one letter first:
 *
 *	join:	j TRIAL ATTEMPT KEY MESSAGE	take this trial; MESSAGE is
 *						what the program is to be told
 *		s				tell the program to stop it
 *		a KEY TRIAL ATTEMPT		is a program of KEY here?  And
 *						somebody is on the way
 *		q				leave when nobody is left
 *	serve:	w				welcome; or yes
 *		o				another program is here: wait
 *		r LINE				a line for the metrics file
 *		l TEXT				a line for the log
 *		e CODE WHY			the program said its end
 *		d HOW NUMBER WHY		the program is gone
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

#define PACK_SOCKET "sock"
#define PACK_LOCK "lock"
#define PACK_LOG "log"

enum {
	PACK_PLACES_MAX = 4096,
	PACK_GREETING_MAX = 4 << 20, /* bytes of the settings of a trial */
	PACK_KEY = 16 /* hex digits: what is run, with what */
};

/* How a program of many trials ended, and with it each of them. */
enum pack_end {
	PACK_END_CODE = 'c', /* it exited: number is its status */
	PACK_END_SIGNAL = 's', /* number is the signal */
	PACK_END_OOM = 'o',
	PACK_END_NOT_RUN = 'n', /* it could not be executed */
	PACK_END_OURS = 'k' /* we ended it, for want of an answer */
};

struct pack_member;

/* One trial that the program has been given and has not ended. */
struct pack_seat {
	int64_t trial, attempt;
	struct pack_member *member; /* NULL when that one is gone */
	bool told; /* to stop */
	int64_t unresponsive_at_ms; /* -1 = not waited for */
	int lock_fd; /* of the trial's folder: nobody else may run it */
};

enum pack_state {
	PACK_GREETING, /* it has not said whom it stands for */
	PACK_WAITING, /* for a place */
	PACK_RUNNING, /* has a seat */
	PACK_LEAVING /* its end is on the way to it */
};

struct pack_member {
	struct pack_line_io io;
	enum pack_state state;
	int64_t trial, attempt;
	char *message; /* for the program; NULL once it was sent */
	char *trial_dir;
	bool noted_wait;
	size_t dropped; /* reports that it did not read in time */
	struct pack_member *next; /* in order of arrival */
};

enum pack_phase {
	PACK_NONE, /* no program */
	PACK_UP,
	PACK_ENDING, /* told to end; SIGKILL at kill_at_ms */
	PACK_KILLING /* whatever is left of it gets SIGKILL */
};

struct pack_program {
	enum pack_phase phase;
	pid_t pid;
	bool reaped; /* the main process */
	int status; /* as of waitpid, once reaped */
	bool killed; /* by us */
	int exec_error; /* errno; 0 = it runs */
	bool in_chdir; /* … of the folder, not of the program */
	int exec_fd; /* says so; -1 when answered */
	struct pack_line_io in, out, err; /* its 0, 1, 2 */
	int64_t kill_at_ms, sweep_at_ms, sweep_wait_ms; /* -1 = not set */
	size_t starts;
};

struct pack_arrival {
	int64_t trial, attempt;
	int64_t until_ms; /* then it is forgotten */
	bool came; /* before it was said to */
};

struct pack_log {
	int dir_fd, fd;
	off_t size;
};

struct pack {
	/* As the launcher said. */
	const char *dir, *workdir, *cgroup, *key;
	char **argv;
	int64_t places, grace_ms;
	int64_t trial, attempt;
	int64_t hold_fds;
	/* locks from 3 on, as in shim.h */ /* it was started for this one */

	int dir_fd, lock_fd, listen_fd, signal_fd;
	int64_t now_ms; /* CLOCK_BOOTTIME */
	int64_t leave_at_ms; /* -1 = somebody is here */
	struct pack_arrival *expected;
	size_t n_expected, cap_expected;
	int64_t lock_try_ms; /* a trial's lock was taken: again then */
	int64_t accept_try_ms; /* no more can be let in: again then */
	rlim_t files; /* the limit on open files that we were given */
	bool hasty; /* leave as soon as nobody is here */
	bool leaving; /* no one is let in any more */
	struct pack_member *members;
	size_t n_members;
	struct pack_seat *seats; /* of places */
	size_t n_seats;
	struct pack_program program;
	struct pack_log log;
	struct pack_message line;
};

/* pack-log.c: what the place has to say, with a bound on its size. */
void pack_log_open(struct pack_log *, int dir_fd);
void pack_log_raw(struct pack_log *, const char *, size_t);
void pack_log_note(struct pack *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/* pack-members.c: who stands for trials. */
/* Let in all that wait at the door. */
void pack_members_admit(struct pack *);
/* What one has said, and whether it is still there. */
void pack_members_read(struct pack *, struct pack_member *);
void pack_members_send(struct pack_member *, char letter, const char *text);
/* Forget those that are gone. */
void pack_members_sweep(struct pack *);

/* pack-arrivals.c: who is on the way. */
void pack_arrivals_add(struct pack *, int64_t trial, int64_t attempt);
void pack_arrivals_came(struct pack *, int64_t trial, int64_t attempt);
/* Until when somebody may still come; -1 = nobody will. */
int64_t pack_arrivals_until(struct pack *);

/* pack-seats.c: which trials the program has. */
/* Give places to those that wait, as far as there are any. */
void pack_seats_fill(struct pack *);
/* What a line of the program says. */
void pack_seats_on_line(struct pack *, const char *line, size_t len);
void pack_seats_stop(struct pack *, struct pack_seat *);
struct pack_seat *pack_seats_find(struct pack *, const struct pack_member *);
/* Its member is gone without an end. */
void pack_seats_desert(struct pack *, struct pack_seat *);
/* The program is gone: an end for each. */
void pack_seats_end(struct pack *, enum pack_end, int number, const char *why);
/* When the next one turns out deaf, -1 = never; whether one has by now. */
int64_t pack_seats_next_ms(const struct pack *);
bool pack_seats_unresponsive(const struct pack *);
/* Whether anybody stands for one of them. */
bool pack_seats_occupied(const struct pack *);

/* pack-program.c: the user's program. */
void pack_program_start(struct pack *);
/* Close its input, SIGTERM, SIGKILL after the grace. */
void pack_program_end(struct pack *);
void pack_program_kill(struct pack *);
/* Its children, its output, its times; each turn. */
void pack_program_turn(struct pack *);
int64_t pack_program_next_ms(const struct pack *);

/* pack-member-main.c, pack-owner-main.c: the two commands; exit statuses. */
int pack_member_main(char **args);
int pack_owner_main(struct pack *);

/* pack.c */
int64_t pack_clock_ms(void);
/* A connection to the place in this folder: -1 with errno. */
int pack_connect(int dir_fd);

#endif /* HPOTUNE_PACK_H */
