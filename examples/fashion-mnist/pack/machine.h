/*
 * The compute backend: kernels/mlp-batch with the pictures loaded, and the
 * threads that share the slots on the CPU.
 */

#ifndef MLP_MACHINE_H
#define MLP_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "examples/fashion-mnist/data.h"
#include "examples/fashion-mnist/options.h"
#include "examples/fashion-mnist/pack/star.h"
#include "kernels/mlp-batch/mlp-batch.h"

struct machine {
	const struct mlp_kernels *kernels;
	struct mlp_batch *pack;
	struct mlp_data about;
	struct data data;
	size_t slots, threads;
	/* Data that a thread loads meanwhile, if begun. */
	struct machine_load {
		bool begun;
		pthread_t thread;
		const struct options *options;
		int rc;
		struct fail why;
	} load;
};

/* Begin to load the data, while a GPU is opened; machine_open() waits for it. */
void machine_load(struct machine *, const struct options *);

/*
 * The pictures that are loaded, of the sizes that the options name, for so many
 * slots.  Ranks may be NULL.  The kernels that mlp or mlp-cuda was given are in the
 * machine before.
 */
int machine_open(struct machine *, const struct options *, size_t slots,
    struct mlp_ranks *, struct fail *);
void machine_close(struct machine *);

/* As mlp_kernels.advance, on all threads. */
int
machine_advance(struct machine *, const size_t *slots, size_t n, size_t steps);

/* As mlp_kernels.measure, on all threads. */
int machine_measure(
    struct machine *, const size_t *slots, size_t n, struct mlp_score *);

/* How many steps of such a network are a moment, after which one may look
 * around: a few hundredths of a second. */
size_t machine_moment(const struct machine *, const struct mlp_hyper *);

/*
 * The kernels for "auto", "cpu" or "gpu"; with "auto" a line says why it is not
 * a GPU.  NULL: there is no such machine.  mlp and mlp-cuda differ in this.
 */
const struct mlp_kernels *machine_kernels(const char *device, struct fail *);

/* mlp turns into the mlp-cuda beside it where there is a driver for it; returns
 * when there is not. */
void machine_turn(char **argv);

/* How the ranks of a star add up on these kernels; the other thing in which the
 * two programs differ. */
int machine_ranks(const struct mlp_kernels *, struct star *,
    const volatile sig_atomic_t *signal, struct mlp_ranks *, struct fail *);
/* Together with the others when all went well; else at once. */
void machine_ranks_close(struct mlp_ranks *, bool well);

#endif
