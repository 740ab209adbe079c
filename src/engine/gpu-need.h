/*
 * What trials are likely to need of the memory of a GPU that they share without a
 * declaration: by a model of the peaks of those that have ended.  A restart reads the
 * same peaks, so that attempts of an earlier server have about the need that they had.
 */

#ifndef HPOTUNE_GPU_NEED_H
#define HPOTUNE_GPU_NEED_H

#include <stdint.h>

struct err;
struct memory_fit;
struct space;
struct store;
struct value;

/* Zero at first; gpu-need.c alone writes it. */
struct gpu_need {
	struct memory_fit *fit; /* NULL: too little is known */
	int64_t read_at, failed_at; /* trials that were over and failed then */
};

/*
 * Read the peaks again when enough trials have ended since: over and failed are their
 * numbers.  space must outlive it.
 */
int gpu_need_refresh(struct gpu_need *, struct store *, const struct space *,
    int64_t over, int64_t failed, struct err *);
void gpu_need_close(struct gpu_need *);
/*
 * The bytes that this setting needs at most with 95 %; 0 = not known.  median: NULL, or
 * receives those that it is as likely to need as not, else is left.
 */
int64_t gpu_need_of(
    const struct gpu_need *, const struct value *values, double *median);
/* The least that a trial has needed; 0 = not known. */
int64_t gpu_need_least(const struct gpu_need *);

#endif /* HPOTUNE_GPU_NEED_H */
