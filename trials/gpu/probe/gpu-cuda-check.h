/*
 * Checks whether a GPU works with CUDA, which may fail while NVML works.  Only
 * for a program that exits afterwards: CUDA breaks fork, and may hang.
 */

#ifndef HPOTUNE_GPU_CUDA_CHECK_H
#define HPOTUNE_GPU_CUDA_CHECK_H

struct err;

/*
 * Write and read back memory of the GPU and run a small kernel.  Sets
 * CUDA_VISIBLE_DEVICES: call it once per process.
 */
int gpu_cuda_check(const char *uuid, struct err *);

#endif /* HPOTUNE_GPU_CUDA_CHECK_H */
