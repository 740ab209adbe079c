/* Jobs with names of hpotune whose attempts are not open in any study here. */

#ifndef HPOTUNE_JOB_GC_H
#define HPOTUNE_JOB_GC_H

struct cli;

/*
 * List the jobs of a backend, "slurm" or "sagemaker", and with --stop end those
 * that nobody owns.  Returns the exit status.
 */
int job_gc_run(struct cli *, const char *backend);

#endif /* HPOTUNE_JOB_GC_H */
