/*
 * Launchers of nothing, told by a test what happens: "far" stands for jobs
 * elsewhere that cost money, "near" for a machine that is free.
 */

#ifndef HPOTUNE_FAKE_LAUNCHER_H
#define HPOTUNE_FAKE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/launcher.h"

enum { FAR_MOST = 256 };

/* One call of start or look, with what was told in it. */
struct far_call {
	int64_t trial;
	int attempt;
	int slot;
	char uuid[40];
	char *env, *argv; /* joined by newlines */
	struct launch_past past;
	bool up, stopping;
};

struct far {
	struct launch_env env;
	char study_id[16];
	int slots;
	double price; /* worst_cost, when the study gives no option */
	enum launch_look look; /* its answer */
	int pending; /* stops_pending */
	struct far_call starts[FAR_MOST], looks[FAR_MOST];
	size_t n_starts, n_looks;
	int stops, kills; /* asked for */
	struct launch_event queue[FAR_MOST];
	size_t n_queue;
};

extern struct far far, near;
extern const struct launcher launcher_far, launcher_near;

void far_reset(void);
/* To be delivered by the next collect. */
void far_tell(struct far *, struct launch_event);
void far_up(struct far *, int64_t trial, int attempt, int64_t started_us);
void far_report(struct far *, int64_t trial, int attempt, int64_t step,
    double value, int64_t time_us);
void far_exit(struct far *, int64_t trial, int attempt, struct launch_exit);
/* The last start of a trial, or NULL. */
const struct far_call *far_started(const struct far *, int64_t trial);

#endif /* HPOTUNE_FAKE_LAUNCHER_H */
