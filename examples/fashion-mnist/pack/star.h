/*
 * Several processes on one machine, with rank 0 in the centre: RANK and
 * WORLD_SIZE have their roles, MASTER_ADDR and MASTER_PORT the address.
 */

#ifndef MLP_STAR_H
#define MLP_STAR_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/fashion-mnist/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct star {
	size_t rank, ranks; /* ranks 1: alone, and nothing is open */
	int *fd; /* rank 0: of each other rank; else fd[0] alone */
	float *part; /* what a rank has sent */
	size_t part_room;
};

/* Waits for the others, for at most a minute, or until a signal. */
int
star_open(struct star *, const volatile sig_atomic_t *signal, struct fail *);
void star_close(struct star *);

/* n numbers become their sums over all ranks, added in the order of ranks; ctx
 * is the star.  0, or -1: one of them is gone. */
int star_sum(void *ctx, float *x, size_t n);
/* Whether a rank is gone, as far as one can tell without waiting; to be asked
 * only when nobody has anything to say. */
int star_broken(const struct star *);
/* n bytes become those of rank 0. */
int star_share(struct star *, void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

#endif
