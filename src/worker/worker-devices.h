/*
 * Which of two devices computes a suggestion, by what suggestions have taken on both:
 * a GPU saves time from some number of trials on that depends on the machine.
 * Without clock and device.
 */

#ifndef HPOTUNE_WORKER_DEVICES_H
#define HPOTUNE_WORKER_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Fewer trials are the CPU's: even the context would not be paid back. */
	WORKER_DEVICES_FROM = 100
};

struct worker_devices {
	bool there; /* the GPU can be used */
	int64_t compared; /* trials at the last comparison; 0: none yet */
	int64_t
	    from; /* the GPU is faster from so many trials on; 0: it is not */
	double cpu, gpu; /* seconds then */
};

/* Whether a suggestion on so many trials is the GPU's. */
bool worker_devices_gpu(const struct worker_devices *, int64_t trials);
/* Whether the other device shall compute it, too, to be compared. */
bool worker_devices_compare(const struct worker_devices *, int64_t trials);
/*
 * The result of a comparison; text gets what follows, in n bytes, or "" when nothing
 * is new.
 */
void worker_devices_compared(struct worker_devices *, int64_t trials,
    double cpu, double gpu, char *text, size_t n);

#endif /* HPOTUNE_WORKER_DEVICES_H */
