/*
 * Processes of this machine by certain identity: a pid alone names nobody,
 * pid and start time in one boot do.  Nothing here ever signals a pid.
 */

#ifndef TRIALS_PROC_H
#define TRIALS_PROC_H

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

/* A descriptor of exactly this process, or -1 when it is gone. */
int proc_open(pid_t, int64_t start);
int proc_signal(int pidfd, int signo);
/* Whether the process behind the descriptor has ended (a zombie has). */
bool proc_over(int pidfd);
/* Reap it if it is a child of ours that has ended; else nothing happens. */
void proc_reap(int pidfd);

/* Call fn for every process there is, until it returns false. */
void proc_each(bool (*fn)(void *arg, pid_t), void *arg);
/*
 * SIGKILL to every process (but ourselves) that was started with the
 * variable word ("NAME=VALUE") in its environment; how many there were.
 */
int proc_kill_marked(const char *word);

#endif /* TRIALS_PROC_H */
