/* The options of mlp besides those of a run, and what its two modes share. */

#ifndef MLP_SETTINGS_H
#define MLP_SETTINGS_H

#include <signal.h>
#include <stdbool.h>

#include "examples/fashion-mnist/pack/machine.h"

struct settings {
	bool pack, which;
	const char *device; /* auto, cpu, gpu */
	long threads; /* 0: as many as there are cores */
	int argc; /* what is left, for plugin_options_read */
	char **argv;
	const volatile sig_atomic_t *signal; /* not 0: stop soon */
};

/* One run, with these options, alone or as one of the ranks of a star.  0, 1
 * when it was stopped, or -1. */
int plain_run(const struct settings *, const struct options *, struct machine *,
    struct star *, struct fail *);

/*
 * Runs as lines on the standard input ask for, until it ends.  The options are
 * what all of them have in common.
 */
int packed_run(const struct settings *, const struct options *,
    struct machine *, struct fail *);

#endif
