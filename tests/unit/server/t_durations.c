/* Durations of trials from the store, and the share of a limit that they used. */

#include "src/engine/durations.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "tests/support/store-fixture.h"

static const enum trial_state completed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_COMPLETED, TRIAL_STATES };
static const enum trial_state stopped[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STOPPING, TRIAL_STOPPED, TRIAL_STATES };
static const enum trial_state failed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_FAILED, TRIAL_STATES };
static const enum trial_state running[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STATES };

/* Trials of a study of ten steps; trials 1 and 2 are of one setting. */
static const struct {
	const enum trial_state *states;
	int64_t last_step, setting, seconds;
} rows[] = { { completed, 10, 1, 30 }, { stopped, 4, 1, 8 },
	{ failed, 2, 2, 5 }, { running, 3, 3, 0 }, { completed, 10, 4, 60 } };

enum { ROWS = sizeof rows / sizeof *rows };

static void
row_add(struct store *s, int64_t trial)
{
	struct store_trial t = fixture_trial(trial, TRIAL_WAITING);
	struct store_attempt a = fixture_attempt(trial, 1);
	struct err e = ERR_INIT;
	size_t i = (size_t)trial - 1;

	t.setting = rows[i].setting;
	t.replicate = 1 + (trial == 2);
	must(store_trial_add(s, &t, &e), &e);
	a.started_us = T0;
	must(store_attempt_add(s, &a, &e), &e);
	if (rows[i].seconds > 0) {
		a.state = TRIAL_COMPLETED;
		a.end_class = END_OK;
		a.ended_us = T0 + rows[i].seconds * SECOND;
		must(store_attempt_put(s, &a, &e), &e);
	}
	t.attempts = 1;
	t.last_step = rows[i].last_step;
	fixture_walk(s, &t, rows[i].states);
}

static void
check_load(struct store *s, bool settings, const double *want, size_t n)
{
	struct history *h = history_new(1, false, HISTORY_POINTS);
	static const double x = 0.5;
	struct err e = ERR_INIT;
	size_t i;

	for (i = 1; i <= n; i++)
		history_add(h, (int64_t)i, &x);
	is_int(durations_load(h, s, settings, &e), 0, "durations are read");
	for (i = 1; i <= n; i++)
		is_near(history_seconds(h, (int64_t)i), want[i - 1], 1e-9,
		    settings ? "of a setting" : "of a trial");
	history_free(h);
}

static void
check_used(struct store *s)
{
	static const struct {
		int64_t wall_time_ms;
		double gpu_hours;
		int64_t parallel;
		double share;
		const char *what;
	} cases[] = { { 0, 0, 1, 0, "nothing of no limit" },
		{ 206000, 0, 1, 0.5, "the seconds of ended trials" },
		{ 206000, 0, 2, 0.25, "half of it with two at a time" },
		{ 206000, 0, 0, 0.5, "one at a time where it is unknown" },
		{ 1000, 0, 1, 1, "at most all" },
		{ 0, 1, 1, 0, "of GPU hours those that were used" } };
	struct study_limits lim = { 0 };
	struct err e = ERR_INIT;
	double share;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		lim.wall_time_ms = cases[i].wall_time_ms;
		lim.gpu_hours = cases[i].gpu_hours;
		must(
		    durations_used(&share, s, &lim, cases[i].parallel, &e), &e);
		is_near(share, cases[i].share, 1e-9, cases[i].what);
	}
}

int
main(void)
{
	/* The stopped one would have taken 20 seconds. */
	static const double trials[] = { 30, 20, 0, 0, 60 };
	static const double settings[] = { 25, 0, 0, 60 };
	struct err e = ERR_INIT;
	struct store *s;
	int64_t i;

	fixture_begin();
	s = fixture_create("durations.db", false);
	must(store_begin(s, &e), &e);
	for (i = 1; i <= ROWS; i++)
		row_add(s, i);
	must(store_commit(s, false, &e), &e);
	check_load(s, false, trials, 5);
	check_load(s, false, trials, 2);
	check_load(s, true, settings, 4);
	check_used(s);
	store_close(s);
	return fixture_end();
}
