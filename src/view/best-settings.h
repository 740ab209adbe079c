/* The best settings of a study with replicates, compared. */

#ifndef HPOTUNE_BEST_SETTINGS_H
#define HPOTUNE_BEST_SETTINGS_H

#include <stddef.h>

struct buf;
struct err;
struct store;

/* The first two settings of view settings. */
struct best_settings {
	double p; /* that the first is as good by chance; NaN = no test */
	size_t pairs; /* replicates that both have completed */
};

/*
 * A paired t test of the first two settings (replicates.h).  1; 0 when there are
 * no two of them; -1.
 */
int best_settings_compare(struct best_settings *, struct store *, struct err *);
/*
 * Append "setting 8: mean 0.2 +- 0.02 over 5 replicates" and, after between,
 * whether it is better than the second one beyond chance; nothing when the study
 * has no replicates.
 */
int best_settings_put(struct buf *, struct store *, int digits,
    const char *between, struct err *);

#endif /* HPOTUNE_BEST_SETTINGS_H */
