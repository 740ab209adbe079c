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
struct pack_images {
	size_t n;
	const uint8_t *pixels; /* n x the pixels of one */
	const uint8_t *labels; /* below the number of classes */
};

/* A pixel p is the number p scale + shift. */
struct pack_data {
	size_t pixels, classes;
	float scale, shift;
	struct pack_images train, valid;
};

enum pack_optimizer { PACK_SGD, PACK_ADAM };

struct pack_hyper {
	size_t layers; /* hidden ones: 1 or 2 */
	size_t hidden, batch;
	enum pack_optimizer optimizer;
	float lr, momentum; /* momentum: of PACK_SGD alone */
	float decay; /* lr x decay of every weight is taken off per step */
	float dropout; /* share of hidden units that is switched off */
	uint64_t seed; /* of weights, order and dropout */
};

/* How far the training of a slot is. */
struct pack_place {
	uint64_t epoch; /* from 0 */
	uint64_t position; /* pictures of this epoch that were seen */
	uint64_t steps; /* of the optimizer */
	double loss_sum; /* over those pictures */
};

/* All there is to know of a slot; the arrays belong to the caller. */
struct pack_state {
	struct pack_place place;
	float *params, *memory; /* as many as pack_count() says */
};

struct pack_score {
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
struct pack_ranks {
	size_t rank, ranks;
	int on_device; /* sum() takes memory of the device */
	int (*sum)(void *ctx, float *x, size_t n);
	void *ctx;
	float wish, wished;
};

struct pack;

/*
 * What returns an int returns 0, or -1 when the device or another rank failed;
 * then only close() may follow.  put() may have found too little memory, and
 * the other slots go on.
 */
struct pack_kernels {
	const char *name; /* "cpu", "cuda" */
	const char *device; /* its name for people */
	void *dev; /* what open wants first */

	/* NULL: not enough memory.  Ranks may be NULL: this one is alone. */
	struct pack *(*open)(void *dev, const struct pack_data *, size_t slots,
	    struct pack_ranks *);
	void (*close)(struct pack *);
	/* A new network, or one that goes on from a state, into a free slot. */
	int (*put)(struct pack *, size_t slot, const struct pack_hyper *,
	    const struct pack_state *);
	/* Frees a slot. */
	void (*drop)(struct pack *, size_t slot);
	/* Where a slot is, without its arrays. */
	const struct pack_place *(*place)(const struct pack *, size_t slot);
	/*
	 * Up to so many steps of each of n different slots.  Each stops at the
	 * end of its epoch; one that is there already begins the next.
	 */
	int (*advance)(
	    struct pack *, const size_t *slots, size_t n, size_t steps);
	/* How n slots do on the validation pictures. */
	int (*measure)(
	    struct pack *, const size_t *slots, size_t n, struct pack_score *);
	/* The state of a slot, which keeps it. */
	int (*take)(struct pack *, size_t slot, struct pack_state *);
};

/* How many weights a network has, and how many numbers its optimizer. */
size_t
pack_count(const struct pack_data *, const struct pack_hyper *, size_t *memory);

/* One core, with BLAS.  Different slots may be advanced by different threads. */
const struct pack_kernels *pack_cpu(void);
/* GPU number device; NULL with the reason in why (of n bytes) when there is
 * none. */
const struct pack_kernels *pack_cuda(int device, char *why, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_MLP_BATCH_H */
