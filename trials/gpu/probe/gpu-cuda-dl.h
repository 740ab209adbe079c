/* The CUDA driver API as far as the probe uses it. */

#ifndef HPOTUNE_GPU_CUDA_DL_H
#define HPOTUNE_GPU_CUDA_DL_H

#include <stddef.h>

/* CUdeviceptr, of all 64-bit systems. */
typedef unsigned long long cuda_memory;
_Static_assert(sizeof(cuda_memory) == 8, "CUdeviceptr");

struct cuda_calls {
	int (*init)(unsigned int flags);
	int (*error_name)(int, const char **);
	int (*count)(int *);
	int (*device)(int *, int ordinal);
	int (*context)(void **, int device);
	int (*context_use)(void *);
	int (*memory)(cuda_memory *, size_t);
	int (*memory_free)(cuda_memory);
	int (*write)(cuda_memory, const void *, size_t);
	int (*read)(void *, cuda_memory, size_t);
	int (*module)(void **, const void *image);
	int (*function)(void **, void *module, const char *name);
	int (*launch)(void *function, unsigned int grid_x, unsigned int grid_y,
	    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	    unsigned int block_z, unsigned int shared, void *stream,
	    void **params, void **extra);
	int (*wait)(void);
};

#endif /* HPOTUNE_GPU_CUDA_DL_H */
