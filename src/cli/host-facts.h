/* What this machine has, as far as the commands want to tell. */

#ifndef HPOTUNE_HOST_FACTS_H
#define HPOTUNE_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors this process may use. */
int host_facts_cores(void);
/* GPUs, or slices of them, that the driver shows and that are not lost. */
int host_facts_gpus(void);
/* The first line of a file as text, without its newline; false: cannot. */
bool host_facts_line(const char *path, char *buf, size_t n);
/* A number that a file holds; -1 = cannot. */
int64_t host_facts_number(const char *path);

#endif /* HPOTUNE_HOST_FACTS_H */
