/*
 * What a study would do, worked out before it does: trials, slots, the longest
 * it may take, and the command of an example.
 */

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct plugs;
struct study;

struct plan {
	const struct study *study;
	const struct plugs *plugs;
	char **command; /* of an example */
	int64_t trials; /* 0 = no limit */
	bool exhausted; /* the strategy has no more than trials */
	int64_t slots;
	int64_t worst_ms; /* -1 = nobody knows */
	char missing[512]; /* what a trial would not find; "" = nothing */
};

/* Fill the rest of a plan that has study and plugs. */
int plan_make(struct plan *, struct err *);
void plan_fini(struct plan *);

#endif /* CLI_PLAN_H */
