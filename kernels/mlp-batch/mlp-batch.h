/*
 * Many small networks trained at once: perceptrons of one or two hidden layers,
 * each with settings of its own, on one set of pictures that stays where the
 * arithmetic is.  One network alone leaves a GPU idle; 64 of them fill it.
 *
 * kernels/mlp-batch/mlp-batch.c is the definition, kernels/mlp-batch/mlp-batch.cu its twin.  A network
 * lives in a slot, and its numbers do not depend on the other slots: what
 * chance decides comes from counters under its own seed.  Knows numbers;
 * refuses to know reports, checkpoint files and trials.
 */

#ifndef HPOTUNE_MLP_BATCH_H
#define HPOTUNE_MLP_BATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n pictures and their labels; borrowed for as long as a pack is open. */
struct mlp_images {
	size_t n;
	const uint8_t *pixels; /* n x the pixels of one */
	const uint8_t *labels; /* below the number of classes */
};

/* A pixel p is the number p scale + shift. */
struct mlp_data {
	size_t pixels, classes;
	float scale, shift;
	struct mlp_images train, valid;
};

enum mlp_optimizer { MLP_SGD, MLP_ADAM };

struct mlp_hyper {
	size_t layers; /* hidden ones: 1 or 2 */
	size_t hidden, batch;
	enum mlp_optimizer optimizer;
	float lr, momentum; /* momentum: of MLP_SGD alone */
	float decay; /* lr x decay of every weight is taken off per step */
	float dropout; /* share of hidden units that is switched off */
	uint64_t seed; /* of weights, order and dropout */
};

/* How far the training of a slot is. */
struct mlp_place {
	uint64_t epoch; /* from 0 */
	uint64_t position; /* pictures of this epoch that were seen */
	uint64_t steps; /* of the optimizer */
	double loss_sum; /* over those pictures */
};

/* All there is to know of a slot; the arrays belong to the caller. */
struct mlp_state {
	struct mlp_place place;
	float *params, *memory; /* as many as mlp_layout_count() says */
};

struct mlp_score {
	double loss; /* the mean over the validation pictures */
	double accuracy; /* a result that is not finite counts as wrong */
};

/*
 * One process of several that share the training of one network: each computes
 * its part of every batch, and sum() adds up n numbers over all of them, in
 * place, with the same result in each.  It returns 0, or -1: a process is gone.
 * wish travels along with every step; wished is the sum of the wishes after an
 * advance, so that all can agree to stop at the same step.
 */
struct mlp_ranks {
	size_t rank, ranks;
	int on_device; /* sum() takes memory of the device */
	int (*sum)(void *ctx, float *x, size_t n);
	void *ctx;
	float wish, wished;
};

struct mlp_batch;

/*
 * What returns an int returns 0, or -1 when the device or another rank failed;
 * then only close() may follow.  put() may have found too little memory, and
 * the other slots go on.
 */
struct mlp_kernels {
	const char *name; /* "cpu", "cuda" */
	const char *device; /* its name for people */
	void *dev; /* what open wants first */

	/* NULL: not enough memory.  Ranks may be NULL: this one is alone. */
	struct mlp_batch *(*open)(void *dev, const struct mlp_data *,
	    size_t slots, struct mlp_ranks *);
	void (*close)(struct mlp_batch *);
	/* A new network, or one that goes on from a state, into a free slot. */
	int (*put)(struct mlp_batch *, size_t slot, const struct mlp_hyper *,
	    const struct mlp_state *);
	/* Frees a slot. */
	void (*drop)(struct mlp_batch *, size_t slot);
	/* Where a slot is, without its arrays. */
	const struct mlp_place *(*place)(const struct mlp_batch *, size_t slot);
	/*
	 * Up to so many steps of each of n different slots.  Each stops at the
	 * end of its epoch; one that is there already begins the next.
	 */
	int (*advance)(
	    struct mlp_batch *, const size_t *slots, size_t n, size_t steps);
	/* How n slots do on the validation pictures. */
	int (*measure)(struct mlp_batch *, const size_t *slots, size_t n,
	    struct mlp_score *);
	/* The state of a slot, which keeps it. */
	int (*take)(struct mlp_batch *, size_t slot, struct mlp_state *);
};

/* How many weights a network has, and how many numbers its optimizer. */
size_t mlp_layout_count(
    const struct mlp_data *, const struct mlp_hyper *, size_t *memory);

/* One core, with BLAS.  Different slots may be advanced by different threads. */
const struct mlp_kernels *mlp_batch_cpu(void);
/* GPU number device; NULL with the reason in why (of n bytes) when there is
 * none. */
const struct mlp_kernels *mlp_batch_cuda(int device, char *why, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_MLP_BATCH_H */
