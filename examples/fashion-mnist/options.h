/* The options of a run, as --NAME=VALUE. */

#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stdio.h>

#include "base.h"
#include "optim.h"

enum { OPTIONS_IDENTITY_MAX = 512 };

struct options {
	const char *data, *cache, *checkpoint_dir; /* but for data, or NULL */
	double checkpoint_every; /* seconds */
	double lr, dropout, momentum, weight_decay;
	long layers, hidden, batch, epochs, seed;
	long train_size, validation_size;
	int optimizer; /* enum optim_kind */
	int test, retune, help;
};

/* Defaults and environment, then the arguments. */
int plugin_options_read(struct options *, int argc, char **argv, struct fail *);

/* The options that shape the numbers of a run, in one line; the number of
 * epochs is not among them, for a run can be made longer. */
void options_identity(const struct options *, char identity[]);

/* A line for each option. */
void options_usage(FILE *);

#endif
