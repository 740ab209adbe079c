/*
 * For tests of the store: a folder, a small study, and the result of a query as
 * text.
 */

#ifndef HPOTUNE_STORE_FIXTURE_H
#define HPOTUNE_STORE_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/store/store.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"

#define T0 1700000000123456LL /* 2023-11-14T22:13:20.123Z */
#define SECOND 1000000LL

static char fixture_dir[256];

/* A path in the test's own folder. */
__attribute__((unused)) static char *
fixture_path(const char *name)
{
	return xasprintf("%s/%s", fixture_dir, name);
}

__attribute__((unused)) static void
fixture_begin(void)
{
	(void)snprintf(fixture_dir, sizeof fixture_dir, "%s/t_store.XXXXXX",
	    scratch_folder());
	if (mkdtemp(fixture_dir) == NULL) {
		perror(fixture_dir);
		exit(1);
	}
}

__attribute__((unused)) static int
fixture_end(void)
{
	char *command = xasprintf("rm -rf '%s'", fixture_dir);
	int rc = system(command);

	free(command);
	return rc != 0 || done_testing();
}

/* Stop the test when something that only prepares it fails. */
__attribute__((unused)) static void
must(int rc, const struct err *e)
{
	if (rc == 0)
		return;
	printf("Bail out! %s\n", e->text);
	exit(1);
}

/* A study of two parameters; texts are literals, so never call fini. */
__attribute__((unused)) static struct store_study
fixture_study(bool maximize)
{
	return (struct store_study){
		.name = (char *)(uintptr_t) "small",
		.state = STUDY_RUNNING,
		.metric = (char *)(uintptr_t) "acc",
		.maximize = maximize,
		.strategy = (char *)(uintptr_t) "random",
		.seed = 7,
		.rule = (char *)(uintptr_t) "median",
		.max_steps = 10,
		.json = (char *)(uintptr_t) "{}",
		.fixed = (char *)(uintptr_t) "fixed",
		.dir = (char *)(uintptr_t) "/where",
		.created_us = T0,
		.started_us = T0 + SECOND,
	};
}

__attribute__((unused)) static struct store *
fixture_create(const char *name, bool maximize)
{
	struct param params[2] = { { .name = (char *)(uintptr_t) "lr" },
		{ .name = (char *)(uintptr_t) "optimizer" } };
	struct space space = { .params = params, .n = 2 };
	struct store_study study = fixture_study(maximize);
	struct err e = ERR_INIT;
	char *path = fixture_path(name);
	struct store *s;

	must(store_create(&s, path, &study, &space, false, &e), &e);
	free(path);
	return s;
}

__attribute__((unused)) static struct store_trial
fixture_trial(int64_t number, enum trial_state state)
{
	return (struct store_trial){
		.number = number,
		.state = state,
		.params =
		    (char *)(uintptr_t) "{\"lr\":0.5,\"optimizer\":\"adam\"}",
		.source = SOURCE_STRATEGY,
		.objective = NAN,
		.last_step = -1,
	};
}

__attribute__((unused)) static struct store_attempt
fixture_attempt(int64_t trial, int attempt)
{
	return (struct store_attempt){
		.trial = trial,
		.attempt = attempt,
		.uuid = (char *)(uintptr_t) "0123",
		.backend = (char *)(uintptr_t) "local",
		.state = TRIAL_STARTING,
		.exit_code = -1,
		.resumed_step = -1,
	};
}

/* All rows of a query: columns joined by "|", rows by newline; free it. */
__attribute__((unused)) static char *
fixture_query(struct store *s, const char *sql)
{
	struct err e = ERR_INIT;
	struct store_rows *r;
	struct buf b = { 0 };
	int rc, i;

	if (store_rows_open(&r, s, sql, NULL, &e) < 0)
		return xasprintf("error: %s", e.text);
	while ((rc = store_rows_next(r, &e)) > 0) {
		if (b.len > 0)
			buf_putc(&b, '\n');
		for (i = 0; i < store_rows_columns(r); i++)
			buf_printf(&b, "%s%s", i > 0 ? "|" : "",
			    store_rows_null(r, i) ? "NULL"
						  : store_rows_text(r, i));
	}
	store_rows_close(r);
	if (rc < 0)
		buf_puts(&b, e.text);
	return buf_take(&b);
}

__attribute__((unused)) static bool
is_query(struct store *s, const char *sql, const char *want, const char *what)
{
	char *got = fixture_query(s, sql);
	bool good = is_str(got, want, what);

	free(got);
	return good;
}

/* How many states have other counts and sums than their trials: want 0. */
static const char fixture_totals[] __attribute__((unused)) =
    "SELECT count(*) FROM t_total AS o LEFT JOIN (SELECT state, "
    "count(*) AS n, sum(steps_run) AS run, sum(steps_skipped) AS skipped, "
    "total(steps_skipped * each) AS saved, "
    "sum(cost) AS cost, sum(energy_joules) AS energy, "
    "sum(gpu_seconds) AS gpu_seconds, "
    "total(steps_skipped * each * cost / seconds) AS cost_saved, "
    "total(steps_skipped * each * energy_joules / seconds) AS energy_saved, "
    "total(pace_seconds) AS pace_seconds, total(pace_steps) AS pace_steps, "
    "total(iif(each IS NULL, steps_skipped, 0)) AS unpaced, "
    "total(iif(each IS NULL, steps_skipped * cost / seconds, 0)) AS u_cost, "
    "total(iif(each IS NULL, steps_skipped * energy_joules / seconds, 0)) "
    "AS u_energy "
    "FROM (SELECT *, pace_seconds / nullif(pace_steps, 0) AS each "
    "FROM t_trial) GROUP BY state) AS w USING (state) "
    "WHERE o.trials <> coalesce(n, 0) OR o.steps_run <> coalesce(run, 0) "
    "OR o.steps_skipped <> coalesce(skipped, 0) "
    "OR abs(o.seconds_saved - coalesce(saved, 0)) > 1e-6 "
    "OR abs(coalesce(o.cost, 0) - coalesce(w.cost, 0)) > 1e-6 "
    "OR abs(coalesce(o.energy, 0) - coalesce(w.energy, 0)) > 1e-6 "
    "OR abs(coalesce(o.gpu_seconds, 0) - coalesce(w.gpu_seconds, 0)) > 1e-6 "
    "OR abs(coalesce(o.cost_saved, 0) - coalesce(w.cost_saved, 0)) > 1e-6 "
    "OR abs(coalesce(o.energy_saved, 0) - coalesce(w.energy_saved, 0)) "
    "> 1e-6 OR abs(o.pace_seconds - coalesce(w.pace_seconds, 0)) > 1e-6 "
    "OR o.pace_steps <> coalesce(w.pace_steps, 0) "
    "OR o.unpaced_steps <> coalesce(w.unpaced, 0) "
    "OR abs(o.unpaced_cost - coalesce(w.u_cost, 0)) > 1e-6 "
    "OR abs(o.unpaced_energy - coalesce(w.u_energy, 0)) > 1e-6";

/* Move a new trial through states[0], states[1], … up to TRIAL_STATES. */
__attribute__((unused)) static void
fixture_walk(
    struct store *s, struct store_trial *t, const enum trial_state *states)
{
	struct err e = ERR_INIT;

	for (; *states != TRIAL_STATES; states++) {
		t->state = *states;
		must(store_trial_put(s, t, &e), &e);
	}
}

#endif /* HPOTUNE_STORE_FIXTURE_H */
