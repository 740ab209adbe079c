/*
 * Whether a GPU works for CUDA: NVML may be well while CUDA is not.  Only for
 * a program that ends right after: CUDA breaks fork, and may never come back.
 */

#ifndef HPOTUNE_GPU_CUDA_CHECK_H
#define HPOTUNE_GPU_CUDA_CHECK_H

struct err;

/*
 * Memory of the GPU is written and read back, and a small kernel runs.  Sets
 * CUDA_VISIBLE_DEVICES: once in the life of a program.
 */
int gpu_cuda_check(const char *uuid, struct err *);

#endif /* HPOTUNE_GPU_CUDA_CHECK_H */
