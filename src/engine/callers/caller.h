/*
 * A caller of hpotune mcp: its name, and the caps that whoever started the door
 * has given it.  As JSON, in HPOTUNE_CALLER and in requests of the control socket:
 *	{"caller": "client 1.2 (pid 34)", "trials": 50, "parallel": 2,
 *	 "hours": 8, "dollars": 20}
 *
 * Caps count what the study has, whoever began it: a caller only ever gets less
 * than the study allows, never more.
 */

#ifndef HPOTUNE_CALLER_H
#define HPOTUNE_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;
struct store_request;

/* 0 = no cap. */
struct caller_caps {
	int64_t trials; /* of the study */
	int64_t parallel; /* trials that run at the same time */
	double hours; /* that the study has run, as limits.wall_time counts */
	double dollars; /* of all attempts, running ones at their worst case */
};

struct caller {
	char *name;
	struct caller_caps caps;
};

/* What a study has used up. */
struct caller_usage {
	int64_t trials;
	int64_t waiting; /* settings of the queue, which become trials */
	double hours, dollars;
};

/* From JSON; what it lacks, or is no JSON, is a nameless caller without caps. */
struct caller *caller_read(const char *json);
void caller_free(struct caller *);
/* Whether a cap forbids another trial, and which: a clause. */
bool caller_capped(
    const struct caller *, const struct caller_usage *, char *why, size_t n);
/*
 * How many trials may begin beside those that run; INT64_MAX without a cap.
 */
int64_t caller_room(const struct caller *, int64_t running);
/* Record a request of the caller; its name is filled in. */
int caller_record(const struct caller *, struct store *,
    const struct store_request *, struct err *);

#endif /* HPOTUNE_CALLER_H */
