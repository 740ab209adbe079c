/*
 * Points that differ from one, the base, in few coordinates: the squared distances
 * to a point are those to the base, with the changed coordinates exchanged.
 */

#ifndef HPOTUNE_GP_NEAR_H
#define HPOTUNE_GP_NEAR_H

#include <stddef.h>

#include "kernels/gp/gp-model.h"

struct gp_near {
	const struct gp *gp;
	double *base; /* placed */
	double *r2; /* squared distances of the base, by rows in strips */
	size_t *moved; /* d: scratch, coordinates that differ */
};

void gp_near_init(struct gp_near *, const struct gp *, const double *base);
void gp_near_free(struct gp_near *);
/* As gp_predict_cross, for one placed point. */
void
gp_near_cross(const struct gp_near *, size_t strip, const double *z, double *k);
/* As gp_predict_means. */
void
gp_near_means(const struct gp_near *, const double *z, size_t m, double *mean);

#endif /* HPOTUNE_GP_NEAR_H */
