/*
 * The backend between the tuner and the world, the only one in this program.
 * It passes all calls on, after checking that the store contains what is about
 * to be done.  Also the places where the server dies.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/store/store.h"
#include "tests/sim/sim.h"
#include "tests/torture/fail-bug.h"
#include "trials/backend.h"

extern const struct backend_type backend_pretend;

/* The run that is under way: backends have no argument for it. */
static struct sim *sim;
static struct backend_type watched;
const struct backend_type *const backend_types[] = { &watched, NULL };

const struct backend_type *
backend_type_find(const char *name)
{
	return strcmp(name, watched.name) == 0 ? &watched : NULL;
}

static int
watched_open(void **ctx, const struct launch_env *env, struct err *e)
{
	return pretend_open(ctx, env, sim->world, e);
}

/* What this server places fits into its slots. */
static void
check_room(const char *uuid)
{
	int64_t open;
	size_t i;

	for (i = 0; i < sim->n_adopted; i++)
		if (strcmp(sim->adopted[i], uuid) == 0)
			return;
	open = sim_number(
	    sim, "SELECT count(*) FROM t_attempt WHERE state <> 'ended'", NULL);
	if (open > sim->parallel_now)
		sim_wrong(sim,
		    "%lld attempts are open, the server was given "
		    "%lld slots",
		    (long long)open, (long long)sim->parallel_now);
}

/* A slot is for one. */
static void
check_slot(const struct launch_spec *spec)
{
	char slot[24];

	(void)snprintf(slot, sizeof slot, "%d", spec->slot);
	if (sim_number(sim,
		"SELECT count(*) FROM t_attempt WHERE state <> 'ended' "
		"AND slot = CAST(? AS INTEGER)",
		slot) > 1)
		sim_wrong(sim, "slot %s was given twice", slot);
}

static int
watched_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	if (sim_number(sim,
		"SELECT count(*) FROM t_attempt WHERE uuid = ? "
		"AND state = 'starting'",
		spec->uuid) != 1)
		sim_wrong(sim,
		    "trial %lld attempt %d was started before its "
		    "row was committed",
		    (long long)spec->trial, spec->attempt);
	check_room(spec->uuid);
	check_slot(spec);
	return backend_pretend.start(ctx, spec, e);
}

static void
watched_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	char number[24];

	(void)snprintf(number, sizeof number, "%lld", (long long)trial);
	if (sim_number(sim,
		"SELECT count(*) FROM t_trial WHERE trial = ? "
		"AND state = 'stopping' AND cause <> 'none'",
		number) != 1)
		sim_wrong(sim,
		    "trial %s was stopped before the stop was "
		    "committed",
		    number);
	backend_pretend.stop(ctx, trial, attempt, now);
}

void
sim_world_use(struct sim *s)
{
	sim = s;
	watched = backend_pretend;
	watched.open = watched_open;
	watched.start = watched_start;
	watched.stop = watched_stop;
}

void
fail_point(const char *name)
{
	(void)name;
	if (sim != NULL && sim->may_crash && sim_chance(sim, sim->crash))
		longjmp(sim->crashed, 1);
}

bool
fail_bug(const char *name)
{
	return sim != NULL && sim->bug != NULL && strcmp(sim->bug, name) == 0;
}
