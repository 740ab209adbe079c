/*
 * Unpacked IDX files in a folder, so that the next process maps them: unpacking
 * takes longer than the start of a small network.
 */

#ifndef TRAIN_CACHE_H
#define TRAIN_CACHE_H

#include "idx.h"

/*
 * As idx_read(), by way of a file in the folder, which is made when it is not
 * there, or is not of this file, or is damaged: all its bytes are checked. A
 * folder of NULL, or one that cannot be written, is as none.
 */
int cache_read(struct idx *, const char *path, size_t dims, const char *folder,
    struct fail *);

#endif
