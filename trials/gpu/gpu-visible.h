/*
 * CUDA_VISIBLE_DEVICES: which GPUs of a machine it names, as CUDA reads it.
 */

#ifndef HPOTUNE_GPU_VISIBLE_H
#define HPOTUNE_GPU_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct gpu_device;
struct gpu_snapshot;

/* A GPU by index, UUID or unique beginning of a UUID; NULL: none. */
const struct gpu_device *
gpu_visible_find(const struct gpu_snapshot *, const char *name, size_t len);
/*
 * The GPUs that it names, each once, up to the first word that names none.
 * list has room for all of the machine; returns their number.
 */
size_t gpu_visible_list(const struct gpu_snapshot *, const char *visible,
    const struct gpu_device **list);
/*
 * Which GPUs of the machine are not used because of it, and why, as one clause;
 * "" when it names all.  Whether it is likely an error: it is empty, or a word
 * names no GPU.
 */
bool gpu_visible_why(
    char *text, size_t size, const struct gpu_snapshot *, const char *visible);

#endif /* HPOTUNE_GPU_VISIBLE_H */
