/* How many jobs may run at once. */

#ifndef HPOTUNE_SM_QUOTA_H
#define HPOTUNE_SM_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct sm;
struct sm_attempt;
struct sm_plan;

struct sm_limit { /* parsed ResourceLimitExceeded */
	char type[32]; /* "ml.g5.xlarge", "" = unknown */
	bool spot;
	bool warm; /* of warm pools, not of jobs */
	int limit, in_use, delta; /* instances; -1 = unknown */
};
/* False: the text has no known format. */
bool sm_quota_limit_read(struct sm_limit *, const char *text);

struct sm_cap { /* limit of our jobs on one kind of machine */
	char type[32];
	bool spot;
	int jobs;
	int64_t since_ms; /* loop time of its last change */
};

/* Create was rejected for a quota: lower our cap. */
void sm_quota_hit(struct sm_attempt *, const char *text);
/* One of our jobs has ended. */
void sm_quota_ended(struct sm_attempt *);
/* The plan of an attempt; skips machines without quota. */
void sm_quota_plan(struct sm *, struct sm_plan *, int capacity);
void sm_quota_probe(void *sm);

#endif /* HPOTUNE_SM_QUOTA_H */
