/*
 * Trains many small networks at once: perceptrons of one or two hidden layers,
 * each with its own settings, on one set of pictures that stays in the device's
 * memory.  One network alone leaves a GPU idle; 64 of them fill it.
 *
 * kernels/mlp-batch/mlp-batch.c is the definition,
 * kernels/mlp-batch/mlp-batch.cu its CUDA version.  A network occupies a slot,
 * and its results do not depend on other slots: random numbers come from
 * counters with its own seed.
 */

#ifndef HPOTUNE_MLP_BATCH_H
#define HPOTUNE_MLP_BATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n pictures and their labels; borrowed while a pack is open. */
struct mlp_images {
	size_t n;
	const uint8_t *pixels; /* n x the pixels of one */
	const uint8_t *labels; /* below the number of classes */
};

/* Pixel p becomes the number p scale + shift. */
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
	float lr, momentum; /* momentum: MLP_SGD only */
	float decay; /* weight decay: lr x decay of every weight per step */
	float dropout; /* share of hidden units switched off */
	uint64_t seed; /* of weights, order and dropout */
};

/* Progress of the training of a slot. */
struct mlp_place {
	uint64_t epoch; /* from 0 */
	uint64_t position; /* pictures of this epoch seen so far */
	uint64_t steps; /* of the optimizer */
	double loss_sum; /* over those pictures */
};

/* The complete state of a slot; the arrays belong to the caller. */
struct mlp_state {
	struct mlp_place place;
	float *params, *memory; /* of the lengths from mlp_layout_count() */
};

struct mlp_score {
	double loss; /* the mean over the validation pictures */
	double accuracy; /* a result that is not finite counts as wrong */
};

/*
 * One of several processes that train one network together: each computes its
 * part of every batch, and sum() adds n numbers over all processes, in place,
 * with the same result in each.  It returns 0, or -1 when a process is gone.
 * wish is sent with every step; wished is the sum of the wishes after an
 * advance, so that all processes can agree to stop at the same step.
 */
struct mlp_ranks {
	size_t rank, ranks;
	int on_device; /* sum() expects device memory */
	int (*sum)(void *ctx, float *x, size_t n);
	void *ctx;
	float wish, wished;
};

struct mlp_batch;

/*
 * Functions returning int return 0, or -1 when the device or another rank
 * failed; then only close() may follow. put() may also fail for lack of memory;
 * the other slots are unaffected.
 */
struct mlp_kernels {
	const char *name; /* "cpu", "cuda" */
	const char *device; /* its name, for messages */
	void *dev; /* first argument of open */

	/* NULL: out of memory. ranks may be NULL: a single process. */
	struct mlp_batch *(*open)(void *dev, const struct mlp_data *,
	    size_t slots, struct mlp_ranks *);
	void (*close)(struct mlp_batch *);
	/* Put a new network, or one restored from a state, into a free slot. */
	int (*put)(struct mlp_batch *, size_t slot, const struct mlp_hyper *,
	    const struct mlp_state *);
	/* Free a slot. */
	void (*drop)(struct mlp_batch *, size_t slot);
	/* The progress of a slot, without its arrays.  Borrowed. */
	const struct mlp_place *(*place)(const struct mlp_batch *, size_t slot);
	/*
	 * Make up to this many steps in each of n different slots.  Each stops
	 * at the end of its epoch; a slot at the end of an epoch starts the
	 * next.
	 */
	int (*advance)(
	    struct mlp_batch *, const size_t *slots, size_t n, size_t steps);
	/* Evaluate n slots on the validation pictures. */
	int (*measure)(struct mlp_batch *, const size_t *slots, size_t n,
	    struct mlp_score *);
	/* Copy the state of a slot. */
	int (*take)(struct mlp_batch *, size_t slot, struct mlp_state *);
};

/* Number of weights of a network, and of numbers of its optimizer. */
size_t mlp_layout_count(
    const struct mlp_data *, const struct mlp_hyper *, size_t *memory);

/*
 * One core.  Different slots may be advanced by different threads.
 */
const struct mlp_kernels *mlp_batch_cpu(void);
/*
 * GPU number device; NULL with the reason in why (of n bytes) if there is none.
 */
const struct mlp_kernels *mlp_batch_cuda(int device, char *why, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_MLP_BATCH_H */
