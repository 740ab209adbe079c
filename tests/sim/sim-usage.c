/*
 * GPU use of attempts against the ledger: each report costs the same, across
 * all restarts.
 */

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "src/base/err.h"
#include "src/store/store.h"
#include "tests/sim/sim.h"

static void
check_used(struct sim *s, const struct pretend_attempt *a)
{
	static const char *const sql =
	    "SELECT gpus, energy_joules, gpu_busy, gpu_seen, gpu_memory, "
	    "abs(gpu_seconds - (ended_us - started_us) / 1e6) < 1e-9 "
	    "FROM t_attempt WHERE uuid = ?";
	const char *params[] = { a->uuid, NULL };
	struct gpu_usage u = { 0 };
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	pretend_gpus_use(&u, a->n_reports);
	if (store_rows_open(&r, s->reader, sql, params, &e) != 0 ||
	    store_rows_next(r, &e) != 1)
		sim_wrong(s, "%s", e.text);
	else if (store_rows_int(r, 0) != u.gpus ||
		 store_rows_real(r, 1) != u.energy ||
		 fabs(store_rows_real(r, 2) - u.busy) > 1e-6 ||
		 fabs(store_rows_real(r, 3) - u.seen) > 1e-6 ||
		 store_rows_real(r, 4) != u.memory)
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d has used %g J, not %s",
		    a->trial, a->attempt, u.energy, store_rows_text(r, 1));
	else if (store_rows_int(r, 5) != 1)
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d has wrong GPU seconds",
		    a->trial, a->attempt);
	if (r != NULL)
		store_rows_close(r);
}

void
sim_check_usage(struct sim *s)
{
	const struct pretend_attempt *a;
	size_t i;

	for (i = 0; i < pretend_world_count(s->world); i++) {
		a = pretend_world_get(s->world, i);
		/* What is told again may be told of differently. */
		if ((a->state == PRETEND_ENDED || a->state == PRETEND_LOST) &&
		    a->started_ms >= 0 && a->exit.ran && !a->life.again)
			check_used(s, a);
	}
	if (sim_number(s, "SELECT count(*) FROM gpus", NULL) != SIM_GPUS ||
	    sim_number(s, "SELECT total(trials) FROM gpus", NULL) != 0)
		sim_wrong(s, "GPUs have trials after the end");
}
