/*
 * What srun has started for a trial: its tasks are children of slurmstepd, and
 * of srun itself only the name is of use.
 */

#ifndef HPOTUNE_SLURM_STEP_H
#define HPOTUNE_SLURM_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "trials/process/proc.h"

/* Whether the last part of the path of an executable is that of srun. */
bool slurm_step_is_srun(const char *exe);
/* Whether srun runs below this process. */
bool slurm_step_runs(pid_t root);
/*
 * The tasks on this machine with our HPOTUNE_ATTEMPT_UUID, which is set, but
 * not the calling process; at most max.  Returns their number.
 */
size_t slurm_step_tasks(struct proc_node *, size_t max);
/* SIGKILL to each of slurm_step_tasks and to all below it. */
void slurm_step_kill(void);
/*
 * SIGTERM to all tasks of our job on all its nodes, by a child that runs scancel:
 * its pid; 0: we are in no job, or it cannot be started.
 */
pid_t slurm_step_cancel(void);
/*
 * In a child of a process with one thread: become a program of Slurm, without the
 * variables that change what it does.  Its output goes to out, unless that is -1.
 */
_Noreturn void slurm_step_become(char *const *argv, int out);

#endif /* HPOTUNE_SLURM_STEP_H */
