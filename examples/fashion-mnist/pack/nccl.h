/* Sums over GPUs by NCCL. */

#ifndef MLP_NCCL_H
#define MLP_NCCL_H

#include <signal.h>

#include "examples/fashion-mnist/pack/star.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nccl;

/* The library, when it can be opened; NULL with the reason. */
struct nccl *nccl_load(char *why, size_t n);
/* The ranks of a star, which brings them together, on the device each has
 * chosen. */
int nccl_open(struct nccl *, struct star *, const volatile sig_atomic_t *signal,
    struct fail *);
/* Together with the others when all went well; else at once. */
void nccl_close(struct nccl *, int well);
/* As star_sum, of memory of the device; ctx is the struct nccl. */
int nccl_sum(void *ctx, float *x, size_t n);

#ifdef __cplusplus
}
#endif

#endif
