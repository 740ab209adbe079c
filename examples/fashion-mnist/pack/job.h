/*
 * One training run in a slot of a machine: starts or resumes from its
 * checkpoint, is saved, and detects its end.
 */

#ifndef MLP_JOB_H
#define MLP_JOB_H

#include <stdbool.h>

#include "examples/fashion-mnist/pack/machine.h"

struct job {
	struct options options; /* its texts belong to the caller */
	char identity[OPTIONS_IDENTITY_MAX + 16];
	struct machine *machine;
	struct mlp_hyper hyper;
	size_t slot;
	size_t moment; /* so many steps */
	const struct mlp_place *place;
	bool saved, measured; /* as it is now */
	double last_write; /* of a checkpoint, on the monotonic clock */
};

struct job_report {
	uint64_t step; /* epochs that are done */
	double accuracy, val_loss, loss;
};

/* Settings for a run whose options are filled in, into a free slot. */
int job_begin(struct job *, struct machine *, size_t slot, struct fail *);
/* Frees the slot. */
void job_end(struct job *);
/* A moment's training of n jobs of one machine, none beyond its epoch. */
int jobs_advance(struct job *const *, size_t n, struct fail *);
/* Writes the checkpoint, if there is a folder for it and something is new. */
void job_save(struct job *);
/* The same when the last one is long ago. */
void job_save_in_time(struct job *);
/* The end of an epoch: time for a report. */
bool job_at_epoch(const struct job *);
/* Whether no epoch is left. */
bool job_done(const struct job *);
/* What the epoch has brought, to n jobs of one machine. */
int
jobs_measure(struct job *const *, size_t n, struct job_report *, struct fail *);
/* Measures on the pictures that are kept for the end. */
int job_test(struct job *, struct job_report *, struct fail *);

#endif
