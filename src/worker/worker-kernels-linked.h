/*
 * The kernels that a worker is linked with: the only difference between
 * hpotune-worker and hpotune-worker-cuda.
 */

#ifndef HPOTUNE_WORKER_KERNELS_LINKED_H
#define HPOTUNE_WORKER_KERNELS_LINKED_H

#include <stdbool.h>
#include <stddef.h>

struct kernels;

/*
 * Whether they can be there, without opening a device.  If not, why (n bytes) has
 * the reason.
 */
bool worker_kernels_possible(char *why, size_t n);
/* NULL with the reason in why (n bytes) when the device is not available. */
const struct kernels *worker_kernels_linked(char *why, size_t n);

#endif /* HPOTUNE_WORKER_KERNELS_LINKED_H */
