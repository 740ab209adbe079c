/*
 * Settings: the strategy, called again for each trial by its number, gives what
 * was recorded, whatever happened between two calls; and settings requested by
 * the user are in the trials created from them.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "strategies/strategy.h"
#include "tests/sim/sim.h"

static void
check_suggested(struct sim *s, const struct plugins *plugins,
    const struct strategy_ask *ask, const char *recorded)
{
	const struct space *space = s->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	double *x = xcalloc(space->n, sizeof *x);
	struct buf b = { 0 };
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct err e = ERR_INIT;

	if (plugins->strategy->suggest(
		&out, ask, plugins->strategy_options, &e) != 0)
		sim_wrong(s, "the strategy has nothing for trial %" PRId64,
		    ask->trial);
	else {
		space_snap(space, x);
		space_decode(space, x, values);
		space_put_json(&b, space, values);
		if (strcmp(buf_str(&b), recorded) != 0)
			sim_wrong(s,
			    "trial %" PRId64 " has %s, the strategy "
			    "gives %s",
			    ask->trial, recorded, buf_str(&b));
	}
	buf_free(&b);
	free(values);
	free(x);
}

/* The setting of the queue is part of the trial's. */
static void
check_queued(
    struct sim *s, int64_t trial, const char *queued, const char *recorded)
{
	struct json_doc *q = NULL, *r = NULL;
	double want = NAN, got = NAN;

	if (queued == NULL ||
	    json_parse(&q, queued, strlen(queued), NULL, false, NULL) != 0 ||
	    json_parse(&r, recorded, strlen(recorded), NULL, false, NULL) !=
		0 ||
	    !json_number(json_get(json_root(q), "x"), &want) ||
	    !json_number(json_get(json_root(r), "x"), &got) ||
	    fabs(want - got) > 1e-9)
		sim_wrong(s, "trial %" PRId64 " has %s, asked for was %s",
		    trial, recorded, queued != NULL ? queued : "nothing");
	json_free(q);
	json_free(r);
}

static void
check_rows(
    struct sim *s, const struct plugins *plugins, struct strategy_ask *ask)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	if (store_rows_open(&r, s->reader,
		"SELECT coalesce(t.setting, t.trial), t.source, "
		"t.params, q.params, s.redraws > 0 FROM t_trial AS t "
		"LEFT JOIN t_queue AS q ON q.trial = t.trial "
		"LEFT JOIN t_suggestion AS s ON s.trial = t.trial "
		"WHERE coalesce(t.replicate, 1) = 1 ORDER BY t.trial",
		NULL, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		return;
	}
	while (*s->wrong == '\0' && store_rows_next(r, &e) == 1) {
		ask->trial = store_rows_int(r, 0);
		if (strcmp(store_rows_text(r, 1), "strategy") == 0) {
			/* What it knew of the others is not here. */
			if (plugins->strategy->continues)
				continue;
			if (store_rows_int(r, 4) == 0)
				check_suggested(
				    s, plugins, ask, store_rows_text(r, 2));
			continue;
		}
		ask->n_enqueued++;
		check_queued(s, ask->trial,
		    store_rows_null(r, 3) ? NULL : store_rows_text(r, 3),
		    store_rows_text(r, 2));
	}
	store_rows_close(r);
}

/* No setting twice but for the user's wish, or with the same result. */
static void
check_duplicates(struct sim *s)
{
	static const char twice[] =
	    "SELECT count(*) FROM t_trial AS a JOIN t_suggestion AS s "
	    "ON s.trial = a.trial JOIN t_trial AS b ON b.trial < a.trial "
	    "AND b.params = a.params "
	    "WHERE a.source = 'strategy' AND s.same_as IS NULL";
	static const char wrong[] =
	    "SELECT count(*) FROM t_trial AS a JOIN t_suggestion AS s "
	    "ON s.trial = a.trial JOIN t_trial AS b ON b.trial = s.same_as "
	    "WHERE a.params <> b.params OR a.objective IS NOT b.objective "
	    "OR a.state <> 'completed' OR a.trial <= b.trial";

	if (sim_number(s, twice, NULL) != 0)
		sim_wrong(s, "a setting was tried twice");
	if (sim_number(s, wrong, NULL) != 0)
		sim_wrong(s, "a result was given to another setting");
	if (s->study->duplicates == STUDY_DUPLICATES_RESAMPLE &&
	    sim_number(s,
		"SELECT count(*) FROM t_suggestion WHERE same_as IS NOT NULL",
		NULL) != 0)
		sim_wrong(s, "a result was used again");
}

/* Replicates: one of each value, of a setting that has not ended. */
static void
check_replicates(struct sim *s)
{
	static const char settings[] =
	    "SELECT count(*) FROM (SELECT setting, count(*) AS n, "
	    "count(DISTINCT replicate) AS k, count(DISTINCT value) AS v, "
	    "min(replicate) AS low, max(replicate) AS high, "
	    "count(DISTINCT json_remove(params, '$.fold')) AS p FROM t_trial "
	    "JOIN json_each(params) ON key = 'fold' GROUP BY setting) "
	    "WHERE n <> k OR n <> v OR low <> 1 OR high <> n OR p <> 1";
	static const char rows[] =
	    "SELECT count(*) FROM (SELECT setting, "
	    "count(iif(state = 'completed', 1, NULL)) AS done, "
	    "avg(iif(state = 'completed', objective, NULL)) AS mean, "
	    "max(state = 'failed') AS failed, "
	    "max(state = 'stopped') AS stopped FROM t_trial GROUP BY setting) "
	    "AS t LEFT JOIN t_setting AS s USING (setting) WHERE "
	    "s.setting IS NULL OR s.completed <> done OR "
	    "abs(coalesce(s.mean, 1e9) - coalesce(t.mean, 1e9)) > 1e-9 OR "
	    "(stopped AND s.state NOT IN ('stopped', 'failed')) OR "
	    "(s.state = 'stopped') > stopped OR (s.state = 'failed') > failed";
	static const char later[] =
	    "SELECT count(*) FROM t_trial AS a JOIN t_trial AS b "
	    "USING (setting) WHERE b.state = 'stopped' AND "
	    "a.begin_seq > b.end_seq AND NOT EXISTS "
	    "(SELECT 1 FROM t_retry AS y WHERE y.trial = b.trial)";

	if (s->study->replicates.count == 0)
		return;
	if (sim_number(s, settings, NULL) != 0)
		sim_wrong(s, "a setting has wrong replicates");
	if (sim_number(s, rows, NULL) != 0)
		sim_wrong(s, "a setting is not what its replicates are");
	if (sim_number(s, later, NULL) != 0)
		sim_wrong(s, "a replicate began after its setting was stopped");
}

/* Each segment begins where another one ended, by what the study says. */
static void
check_population(struct sim *s)
{
	if (sim_number(s,
		"SELECT count(*) FROM population AS p LEFT JOIN population AS "
		"f ON f.trial = p.from_trial, t_study WHERE p.until_step <> "
		"min(coalesce(f.until_step, 0) + 2, "
		"iif(max_steps > 0, max_steps, 1000)) "
		"OR f.trial >= p.trial OR f.state <> 'completed'",
		NULL) != 0)
		sim_wrong(s, "a segment does not follow its trial");
	if (sim_number(s,
		"SELECT count(*) FROM t_attempt AS a JOIN t_trial AS x USING "
		"(trial) JOIN t_trial AS y ON y.member = x.member AND y.trial "
		"< x.trial JOIN t_attempt AS b ON b.trial = y.trial "
		"WHERE b.ended_us > a.started_us",
		NULL) != 0)
		sim_wrong(s, "two trials of a member ran at once");
}

void
sim_check_params(struct sim *s)
{
	struct strategy_ask ask = { .space = s->study->space };
	struct plugins plugins;
	struct err e = ERR_INIT;

	if (plugins_read(&plugins, s->study, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		return;
	}
	ask.seed = s->study->seed;
	ask.history = history_new(s->study->space->n, s->study->maximize, 0);
	check_rows(s, &plugins, &ask);
	history_free((struct history *)(uintptr_t)ask.history);
	if (plugins.strategy->repeats)
		check_population(s);
	else
		check_duplicates(s);
	check_replicates(s);
	plugins_free(&plugins);
}
