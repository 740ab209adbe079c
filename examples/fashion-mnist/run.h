/*
 * One training run: epochs, reports and checkpoints.
 */

#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include <signal.h>

#include "base.h"
#include "data.h"
#include "net.h"
#include "optim.h"
#include "options.h"

struct run {
	const struct options *options;
	const volatile sig_atomic_t *signal; /* not 0: stop soon */
	char identity[OPTIONS_IDENTITY_MAX];
	struct data data;
	struct images train, valid;
	struct net net;
	struct optim optim;
	struct rng dropout;
	uint32_t *order; /* of the pictures in this epoch */
	float *x; /* one batch */
	uint8_t *labels; /* of that batch */
	size_t epoch; /* from 0 */
	size_t position; /* pictures of this epoch already seen */
	double loss_sum; /* over those pictures */
	double last_write; /* of a checkpoint, on the monotonic clock */
};

/* Loads the data and makes a run that has not begun, or continues the one of
 * the checkpoint folder. */
int run_init(struct run *, const struct options *,
    const volatile sig_atomic_t *, struct fail *);

void run_free(struct run *);

/* Trains to the last epoch; 0 as well when a signal ended it before. */
int run_train(struct run *, struct fail *);

/* Prints how the network does on the test pictures. */
int run_test(struct run *, struct fail *);

#endif
