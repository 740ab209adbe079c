/* limits.convergence: whether the search has converged. */

#ifndef HPOTUNE_CONVERGE_H
#define HPOTUNE_CONVERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/plugins/plugins.h"

struct suggester;
struct tuner;

/* All files may read it; only converge.c writes it. */
struct convergence {
	struct suggester *suggester; /* NULL until it is asked */
	struct plugins plugins; /* its plug-ins */
	int64_t at; /* n_news when it was asked; -1 = never */
	bool converged; /* so it was found then */
	bool broken; /* it cannot be asked */
	char why[256]; /* when converged */
};

void converge_open(struct convergence *);
void converge_close(struct convergence *);
/*
 * Check for convergence, when requested and trials have ended since the last
 * check.  False: the check is being computed, and no new trial is started
 * meanwhile.
 */
bool converge_known(struct tuner *);

#endif /* HPOTUNE_CONVERGE_H */
