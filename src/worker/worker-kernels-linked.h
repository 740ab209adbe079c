/*
 * The kernels that a worker is linked with: the one thing in which
 * hpotune-worker and hpotune-worker-cuda differ.
 */

#ifndef HPOTUNE_WORKER_KERNELS_LINKED_H
#define HPOTUNE_WORKER_KERNELS_LINKED_H

#include <stddef.h>

struct kernels;

/* NULL with the reason in why (of n bytes): the device is not there. */
const struct kernels *worker_kernels_linked(char *why, size_t n);

#endif /* HPOTUNE_WORKER_KERNELS_LINKED_H */
