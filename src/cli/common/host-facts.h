/* Properties of this machine that commands show. */

#ifndef HPOTUNE_HOST_FACTS_H
#define HPOTUNE_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors this process may use. */
int host_facts_cores(void);
/* The first line of a file, without its newline; false on an error. */
bool host_facts_line(const char *path, char *buf, size_t n);
/* The number in a file; -1 on an error. */
int64_t host_facts_number(const char *path);

#endif /* HPOTUNE_HOST_FACTS_H */
