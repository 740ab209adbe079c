/* Sets of hashes of what has been read. */

#ifndef HPOTUNE_SM_LOG_SEEN_H
#define HPOTUNE_SM_LOG_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sm_log_seen { /* a set of hashes */
	uint64_t *slots;
	size_t cap, n;
};

#define SM_LOG_SEEN_HASH UINT64_C(14695981039346656037) /* initial value */

uint64_t sm_log_seen_hash(uint64_t h, const void *data, size_t n);
void sm_log_seen_free(struct sm_log_seen *);
bool sm_log_seen_add(struct sm_log_seen *, uint64_t h);
/* Whether a hash is in the set already. */
bool sm_log_seen_has(const struct sm_log_seen *, uint64_t h);
/* Add all of another set. */
void sm_log_seen_join(struct sm_log_seen *, const struct sm_log_seen *);

#endif /* HPOTUNE_SM_LOG_SEEN_H */
