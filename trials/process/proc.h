/*
 * Processes of this machine, identified by pid and start time within one boot,
 * because a pid alone may be reused.  Signals go through a pidfd.  Where the
 * kernel lacks pidfds, or a filter denies them (old containers: EPERM), pid and
 * start time are compared right before each signal.
 */

#ifndef HPOTUNE_PROC_H
#define HPOTUNE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The fields of /proc/PID/stat; false: no such process. */
struct proc_stat {
	pid_t ppid;
	char state; /* 'Z' is a zombie */
	int64_t start; /* clock ticks since boot */
	/*
	 * The processor time of the process, and of children it has reaped:
	 * ticks.
	 */
	int64_t cpu, cpu_children;
};
bool proc_stat(pid_t, struct proc_stat *);

/*
 * What a process does with signals, from /proc/PID/status: bit N-1 is signal N.
 */
struct proc_signals {
	uint64_t blocked, ignored, caught;
	uint64_t pending; /* of the whole process */
};
/* False: no such process. */
bool proc_signals(pid_t, struct proc_signals *);

/*
 * The last part of the path of its executable: a process may have the name of a
 * script.  False: unknown.
 */
bool proc_exe(pid_t, char *name, size_t n);

/* The id of this boot; "" when unknown. */
void proc_boot_id(char id[37]);

/* A reference to one process. */
struct proc_ref {
	pid_t pid; /* 0 = no process */
	int64_t start; /* as in proc_stat */
	int fd; /* a pidfd, or -1 */
};
#define PROC_NOBODY ((struct proc_ref){ .pid = 0, .fd = -1 })

/* Refer to this process; false: it has ended, and r refers to none. */
bool proc_open(struct proc_ref *r, pid_t, int64_t start);
/* The same for a child that was not reaped: its pid cannot be reused. */
void proc_open_child(struct proc_ref *, pid_t);
/* Drop the reference; the process continues. */
void proc_close(struct proc_ref *);
/* 0, or -1 with errno: ESRCH when it has ended. */
int proc_signal(const struct proc_ref *, int signo);
/* Whether a process has ended; zombies have. */
bool proc_ended(const struct proc_ref *);
/* Whether a process is stopped by SIGSTOP or a similar signal. */
bool proc_stopped(const struct proc_ref *);
/*
 * SIGCONT if it is stopped, but not if a tracer holds it: SIGCONT would discard
 * the SIGSTOP with which a tracer (a debugger, LeakSanitizer) attaches, and the
 * tracer would wait for ever.
 */
void proc_continue(const struct proc_ref *);
/* The same for a child that was not reaped, */
void proc_continue_child(pid_t);
/* and for every process of a group. */
void proc_continue_group(pid_t group);
/* Reap a process if it is a child of ours that has ended; else does nothing. */
void proc_reap(const struct proc_ref *);

/* Call fn for every process until it returns false. */
void proc_each(bool (*fn)(void *arg, pid_t), void *arg);
/*
 * SIGKILL to a process other than the caller, if is_one returns true both
 * before and after a reference to it is open.  False: not sent.
 */
bool proc_kill(pid_t, bool (*is_one)(void *arg, pid_t), void *arg);

/* One process below another one. */
struct proc_node {
	pid_t pid, ppid;
	int64_t start; /* as in proc_stat */
	bool ours; /* below the root */
};
/*
 * Every current descendant of root, which must be a subreaper, without zombies;
 * at most max.  Returns their number.
 */
size_t proc_descendants(pid_t root, struct proc_node *, size_t max);
/*
 * The children of the calling process, which has one thread; at most max.  May
 * miss one that was added in this moment.  Returns their number.
 */
size_t proc_children(pid_t *, size_t max);
/* Whether a process has a child that runs; true when that is not known. */
bool proc_has_child(pid_t);
/* SIGKILL to every one of proc_descendants.  Returns their number. */
int proc_kill_descendants(pid_t root);

#endif /* HPOTUNE_PROC_H */
