/*
 * Processes of this machine by certain identity: a pid alone names nobody,
 * pid and start time in one boot do.  Signals go through a pidfd.  Where the
 * kernel has none, or a filter denies them (old containers answer EPERM), pid
 * and start time are compared right before each signal.
 */

#ifndef HPOTUNE_PROC_H
#define HPOTUNE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc/PID/stat says; false when there is no such process. */
struct proc_stat {
	pid_t ppid;
	char state; /* 'Z' for a zombie */
	int64_t start; /* clock ticks since boot */
};
bool proc_stat(pid_t, struct proc_stat *);

/* The id of this boot, "" when the kernel does not say. */
void proc_boot_id(char id[37]);

/* One process. */
struct proc_ref {
	pid_t pid; /* 0 = nobody */
	int64_t start; /* as in proc_stat */
	int fd; /* a pidfd, or -1 */
};
#define PROC_NOBODY ((struct proc_ref){ .pid = 0, .fd = -1 })

/* Refer to exactly this process; false: it is gone, and r is nobody. */
bool proc_open(struct proc_ref *r, pid_t, int64_t start);
/* The same for a child that nobody has reaped: its pid is certain. */
void proc_open_child(struct proc_ref *, pid_t);
/* Nobody from now on; the process goes on. */
void proc_close(struct proc_ref *);
/* 0, or -1 with errno: ESRCH when it is gone. */
int proc_signal(const struct proc_ref *, int signo);
/* Whether it has ended (a zombie has). */
bool proc_ended(const struct proc_ref *);
/* Whether SIGSTOP or its like holds it. */
bool proc_stopped(const struct proc_ref *);
/*
 * SIGCONT to it if it is stopped.  One that a tracer holds is not: SIGCONT
 * takes away the SIGSTOP by which a tracer (a debugger, a leak checker at the
 * end of a program) begins, and then the tracer waits for ever.
 */
void proc_continue(const struct proc_ref *);
/* The same to a child that nobody has reaped, */
void proc_continue_child(pid_t);
/* and to every process of a group. */
void proc_continue_group(pid_t group);
/* Reap it if it is a child of ours that has ended; else nothing happens. */
void proc_reap(const struct proc_ref *);

/* Call fn for every process there is, until it returns false. */
void proc_each(bool (*fn)(void *arg, pid_t), void *arg);
/*
 * SIGKILL to a process, but never to ourselves, for which is_one says true
 * before and after the process is held; false: it was not sent.
 */
bool proc_kill(pid_t, bool (*is_one)(void *arg, pid_t), void *arg);

#endif /* HPOTUNE_PROC_H */
