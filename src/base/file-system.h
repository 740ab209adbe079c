/* The file system that a path is on. */

#ifndef HPOTUNE_FILE_SYSTEM_H
#define HPOTUNE_FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name of the file system that path is on, "local" for one that is not known,
 * "unknown" where there is no such path; *network when machines share it.
 */
void file_system_look(const char *path, char *name, size_t n, bool *network);

#endif /* HPOTUNE_FILE_SYSTEM_H */
