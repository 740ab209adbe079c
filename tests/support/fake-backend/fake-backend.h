/*
 * Fake backends, controlled by a test: "far" stands for remote jobs that cost
 * money, "near" for a machine that is free.
 */

#ifndef HPOTUNE_FAKE_BACKEND_H
#define HPOTUNE_FAKE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/backend.h"

enum { FAKE_BACKEND_MAX = 256 };

/* One call of start or adopt, with its arguments. */
struct fake_backend_call {
	int64_t trial;
	int attempt;
	int slot;
	char uuid[40];
	char *env, *argv; /* joined by newlines */
	struct launch_past past;
	bool up, stopping;
};

struct fake_backend {
	struct launch_env env;
	char study_id[16];
	int slots;
	double price; /* worst_cost, when the study gives no option */
	enum launch_adoption look; /* result of adopt */
	int pending; /* stops_pending */
	int64_t still_ms; /* of each attempt */
	struct fake_backend_call starts[FAKE_BACKEND_MAX],
	    looks[FAKE_BACKEND_MAX];
	size_t n_starts, n_looks;
	int stops, kills; /* number of requests */
	struct launch_event queue[FAKE_BACKEND_MAX];
	size_t n_queue;
};

extern struct fake_backend far, near;
extern const struct backend_type backend_far, backend_near;

void fake_backend_reset(void);
/* To be delivered by the next collect. */
void fake_backend_queue(struct fake_backend *, struct launch_event);
void fake_backend_up(
    struct fake_backend *, int64_t trial, int attempt, int64_t started_us);
void fake_backend_report(struct fake_backend *, int64_t trial, int attempt,
    int64_t step, double value, int64_t time_us);
void fake_backend_exit(
    struct fake_backend *, int64_t trial, int attempt, struct launch_exit);
/* The last start of a trial, or NULL. */
const struct fake_backend_call *
fake_backend_started(const struct fake_backend *, int64_t trial);

#endif /* HPOTUNE_FAKE_BACKEND_H */
