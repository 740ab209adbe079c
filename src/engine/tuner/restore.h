/* The store read back at a start. */

#ifndef HPOTUNE_RESTORE_H
#define HPOTUNE_RESTORE_H

#include <stddef.h>

struct err;
struct gpu_status;
struct store;
struct tuner;

/* After everything is open. */
int restore_tuner(struct tuner *, struct err *);
/*
 * GPUs that were out of service when the last server ended: uuid and why of
 * each, from view gpus.  0, or -1; restore_broken_gpus_free even then.
 */
int restore_broken_gpus(
    struct gpu_status **gpus, size_t *n, struct store *, struct err *);
void restore_broken_gpus_free(struct gpu_status *, size_t n);

#endif /* HPOTUNE_RESTORE_H */
