/*
 * The expected improvement of the hypervolume of two or three losses, for a
 * search of the point where it is largest.
 */

#ifndef HPOTUNE_GP_HYPERVOLUME_H
#define HPOTUNE_GP_HYPERVOLUME_H

#include <stddef.h>

enum { GP_LOSSES_MAX = 3 };

/* A box: indices of levels, by loss. */
struct gp_box {
	size_t low[GP_LOSSES_MAX], high[GP_LOSSES_MAX];
};

/*
 * What is better than the reference point and no row of a front dominates, as
 * boxes without overlap: at most 2 n + 1 of n rows.
 */
struct gp_boxes {
	size_t m; /* losses: 2 or 3 */
	size_t n;
	struct gp_box *boxes;
	/* The different values of each loss, ascending, after -infinity. */
	double *levels[GP_LOSSES_MAX];
	size_t n_levels[GP_LOSSES_MAX];
};

/*
 * Of n rows of m losses, smaller is better; those that are dominated, or not
 * better than the reference point, add nothing.
 */
void gp_boxes_init(struct gp_boxes *, const double *losses, size_t n, size_t m,
    const double *reference);
void gp_boxes_free(struct gp_boxes *);
/*
 * log of the expected increase of the hypervolume by a point whose m losses are
 * independent and normal, sd > 0, with its slopes (m each).
 */
double gp_boxes_log_gain(const struct gp_boxes *, const double *mean,
    const double *sd, double *d_mean, double *d_sd);

#endif /* HPOTUNE_GP_HYPERVOLUME_H */
