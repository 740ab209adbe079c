/* What the files of warm_start share; warm.h is for others. */

#ifndef SERVER_WARM_PARTS_H
#define SERVER_WARM_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"
#include "src/server/warm.h"

struct json;
struct space;
struct study_warm;
struct value;

struct warm_trial {
	size_t source; /* index */
	int64_t trial;
	enum trial_state state;
	double objective; /* NaN = none */
	int64_t step; /* -1 = none */
	double value; /* reported there */
	char *params;
	char *metrics; /* last reports, as JSON; NULL = objective says all */
};

/*
 * warm-fit.c: the setting of another study in the space of this one; false when
 * it has no place there, and why of n bytes says so.
 */
bool warm_fit(const struct space *, const struct json *params,
    struct value *values, char *why, size_t n);

/* warm-source.c: read one database; its row in sources is the last. */
int warm_source_read(struct warm *, const struct study *,
    const struct study_warm *, struct err *);

#endif /* SERVER_WARM_PARTS_H */
