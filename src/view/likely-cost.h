/*
 * What a study is likely to cost in the end, by what its trials have cost so far.
 */

#ifndef HPOTUNE_LIKELY_COST_H
#define HPOTUNE_LIKELY_COST_H

#include "src/base/mem.h"

struct err;
struct store;
struct study_limits;

struct likely_cost {
	double dollars; /* NaN = not known */
	struct buf why; /* the reason, one sentence without its full stop */
};

/*
 * Fill an empty one, whose why the caller frees.  Not known where no trial with a
 * cost has ended, where no limit ends the study, and where it is over.
 */
int likely_cost_read(struct likely_cost *, struct store *,
    const struct study_limits *, struct err *);
/* "likely $34.20: 12 ended trials cost $1.14 each, …"; nothing when not known. */
void likely_cost_put(struct buf *, const struct likely_cost *);

#endif /* HPOTUNE_LIKELY_COST_H */
