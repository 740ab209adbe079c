/*
 * Several objectives and constraints: results of trials, the front, and that a
 * restarted server has the same state as the previous one.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/pareto-front.h"
#include "src/model/study/study.h"
#include "tests/sim/sim.h"

/* A NaN is one, whatever its sign. */
static void
number_put(struct buf *b, double v)
{
	if (isnan(v))
		buf_puts(b, " nan");
	else
		buf_printf(b, " %a", v);
}

static void
trial_put(struct buf *b, const struct history *h, int64_t trial)
{
	size_t i, n = history_n_objectives(h) + history_n_constraints(h);
	struct curve c = history_curve(h, trial);

	buf_printf(b, "\ntrial %" PRId64 " %s", trial,
	    trial_state_name(history_state(h, trial)));
	number_put(b, history_loss(h, trial));
	number_put(b, history_noise(h, trial));
	for (i = 0; i < n && history_has_results(h); i++)
		number_put(b, history_losses(h, trial)[i]);
	for (i = 0; i < c.n; i++) {
		buf_printf(b, ", %" PRId64, curve_step(&c, i));
		number_put(b, curve_value(&c, i));
	}
}

/* Everything that later decisions depend on, as text. */
static void
mind_put(struct buf *b, const struct tuner *t)
{
	const struct place *p;
	int64_t i;
	size_t k;

	buf_printf(b,
	    "%" PRId64 " trials, %" PRId64 " completed, %" PRId64
	    " failed, %" PRId64 " in a row, %" PRId64 " enqueued, %" PRId64
	    " no better than %" PRId64 ", front %zu",
	    t->n_trials, t->outcomes.n_completed, t->outcomes.n_failed,
	    t->outcomes.failed_in_row, t->suggestions.n_enqueued,
	    t->outcomes.since_better, t->outcomes.best_trial,
	    t->outcomes.front != NULL ? pareto_front_count(t->outcomes.front)
				      : 0);
	for (k = 0; k < t->blame.places.n; k++) {
		p = &t->blame.places.list[k];
		buf_printf(b, "\nplace %s %d %d %d: ", p->name,
		    (int)places_verdict(p), p->works, p->drained);
		places_put_trials(b, p);
	}
	for (i = history_first(t->history); i <= history_count(t->history); i++)
		trial_put(b, t->history, i);
	for (i = 1; i <= (int64_t)t->replicates.n; i++) {
		buf_printf(b, "\nsetting %d", t->replicates.list[i - 1].behind);
		trial_put(b, t->replicates.history, i);
	}
}

/*
 * limits.completed counts what the store has, and failures since one of those.
 * A retry by the user takes a failure out of the row, wherever it was.
 */
static void
check_counts(struct sim *s)
{
	const struct outcomes *o = &s->tuner->outcomes;
	int64_t completed = sim_number(
	    s, "SELECT count(*) FROM t_trial WHERE state = 'completed'", NULL);
	int64_t failed = sim_number(
	    s, "SELECT count(*) FROM t_trial WHERE state = 'failed'", NULL);
	int64_t retried = sim_number(s, "SELECT count(*) FROM t_retry", NULL);
	int64_t row = sim_number(s,
	    "SELECT count(*) FROM t_trial WHERE state = 'failed' AND end_seq > "
	    "(SELECT coalesce(max(end_seq), 0) FROM t_trial WHERE "
	    "state = 'completed')",
	    NULL);

	if (o->n_completed != completed || o->n_failed != failed ||
	    (retried == 0 ? o->failed_in_row != row : o->failed_in_row > row))
		sim_wrong(s,
		    "a server counts %" PRId64 " completed, %" PRId64
		    " failed, %" PRId64 " since one completed; there are "
		    "%" PRId64 ", %" PRId64 ", %" PRId64,
		    o->n_completed, o->n_failed, o->failed_in_row, completed,
		    failed, row);
}

void
sim_memory_take(struct sim *s)
{
	check_counts(s);
	buf_clear(&s->mind);
	mind_put(&s->mind, s->tuner);
}

void
sim_memory_check(struct sim *s)
{
	struct buf now = { 0 };
	const char *was = buf_str(&s->mind), *is;
	size_t i = 0, line = 0;

	if (s->mind.len == 0)
		return;
	mind_put(&now, s->tuner);
	is = buf_str(&now);
	for (; was[i] != '\0' && was[i] == is[i]; i++)
		if (was[i] == '\n')
			line = i + 1;
	if (was[i] != is[i])
		sim_wrong(s, "a server learnt: %.*s, the last one had: %.*s",
		    (int)strcspn(is + line, "\n"), is + line,
		    (int)strcspn(was + line, "\n"), was + line);
	buf_free(&now);
	buf_clear(&s->mind);
}

/* What the trials should have come to. */
static void
check_outcomes(struct sim *s, int64_t aims)
{
	char n[24];

	(void)snprintf(n, sizeof n, "%" PRId64, aims);
	if (sim_number(s,
		"SELECT count(*) FROM t_trial AS t WHERE (attempts > 0 OR "
		"state = 'completed') AND ended_us IS NOT NULL AND CAST(? AS "
		"INTEGER) <> (SELECT "
		"count(*) FROM t_outcome AS o WHERE o.trial = t.trial)",
		n) != 0)
		sim_wrong(s, "a trial ended without its outcomes");
	if (sim_number(s,
		"SELECT count(*) FROM t_outcome AS o JOIN t_aim AS a USING "
		"(position) JOIN t_trial AS t ON t.trial = o.trial WHERE "
		"attempts > 0 AND position > 1 AND o.value IS NOT (SELECT "
		"m.value FROM t_metric AS m JOIN t_name AS n ON "
		"n.id = m.name_id WHERE n.name = a.metric AND "
		"m.trial = o.trial ORDER BY step DESC, seq DESC LIMIT 1)",
		NULL) != 0)
		sim_wrong(s, "an outcome is not the last report");
	if (sim_number(s,
		"SELECT count(*) FROM t_outcome JOIN t_trial USING (trial) "
		"WHERE position = 1 AND value IS NOT objective",
		NULL) != 0)
		sim_wrong(s, "the first outcome is not the objective");
	if (sim_number(s,
		"SELECT count(*) FROM t_trial AS t WHERE state = 'completed' "
		"AND abs(violation - (SELECT total(max(violation, 0)) FROM "
		"t_outcome AS o WHERE o.trial = t.trial)) > 1e-9",
		NULL) != 0)
		sim_wrong(s, "a trial breaks more or less than its outcomes");
}

/* Rows of point (trial, position, loss) that no other dominates, and the view. */
#define FRONT_OF_POINTS                                                      \
	"pair AS (SELECT a.trial AS trial, max(b.loss > a.loss) AS worse, "  \
	"max(b.loss < a.loss) AS better FROM point AS a JOIN point AS b ON " \
	"b.position = a.position GROUP BY a.trial, b.trial), "               \
	"good AS (SELECT trial FROM pair GROUP BY trial "                    \
	"HAVING max(better AND NOT worse) = 0), "                            \
	"kept AS (SELECT trial FROM t_front WHERE inside) "                  \
	"SELECT (SELECT count(*) FROM (SELECT * FROM good EXCEPT SELECT * "  \
	"FROM kept)) + (SELECT count(*) FROM (SELECT * FROM kept EXCEPT "    \
	"SELECT * FROM good))"

/* Goals turned into signs, so that less is better. */
static const char front_sql[] =
    "WITH point AS (SELECT trial, position, iif(goal = 'maximize', -value, "
    "value) AS loss FROM t_outcome JOIN t_aim USING (position) JOIN t_trial "
    "AS t USING (trial) WHERE goal IS NOT NULL AND state = 'completed' AND "
    "t.violation = 0), " FRONT_OF_POINTS;

/* The same of settings, of those with the most replicates. */
static const char settings_front_sql[] =
    "WITH able AS (SELECT setting, trial, completed FROM t_setting WHERE value "
    "IS NOT NULL AND violation = 0 AND state NOT IN ('stopped', 'failed', "
    "'forgotten')), "
    "point AS (SELECT b.trial AS trial, position, iif(goal = 'maximize', "
    "-o.value, o.value) AS loss FROM t_setting_outcome AS o JOIN t_aim USING "
    "(position) JOIN able AS b USING (setting) WHERE goal IS NOT NULL AND "
    "b.completed = (SELECT max(completed) FROM able)), " FRONT_OF_POINTS;

void
sim_check_aims(struct sim *s)
{
	const struct study *study = s->study;
	size_t aims = study->n_objectives + study->n_constraints;

	if (aims > 1)
		check_outcomes(s, (int64_t)aims);
	else if (sim_number(s, "SELECT count(*) FROM t_outcome", NULL) != 0)
		sim_wrong(s, "outcomes of one objective");
	if (study->n_objectives > 1 &&
	    sim_number(s,
		study->replicates.count > 0 ? settings_front_sql : front_sql,
		NULL) != 0)
		sim_wrong(s, "the front is another one");
	if (sim_number(s,
		"SELECT count(*) FROM t_setting_outcome AS o JOIN t_aim USING "
		"(position) WHERE goal IS NOT NULL AND "
		"abs(coalesce(mean, 1e9) - coalesce((SELECT avg(p.value) FROM "
		"t_trial AS t JOIN t_outcome AS p USING (trial) WHERE "
		"t.setting = o.setting AND p.position = o.position AND "
		"t.state = 'completed'), 1e9)) > 1e-9",
		NULL) != 0)
		sim_wrong(s, "a setting has other outcomes than its trials");
	if (study->n_objectives > 1 &&
	    sim_number(s,
		"SELECT count(*) FROM t_trial AS t JOIN t_outcome AS o USING "
		"(trial) JOIN t_aim AS a USING (position) WHERE "
		"t.state = 'completed' AND a.goal IS NOT NULL AND "
		"o.value IS NULL",
		NULL) != 0)
		sim_wrong(s, "a trial completed without an objective");
}

void
sim_aims_put(struct sim *s, struct buf *b, const char *goal)
{
	bool several = sim_chance(s, 0.2);

	if (several)
		buf_printf(b,
		    "\"objectives\": [{\"metric\": \"m\", \"goal\": \"%s\"}, "
		    "{\"metric\": \"n\", \"goal\": \"minimize\"}], "
		    "\"stopping\": \"none\", ",
		    goal);
	else {
		buf_printf(b,
		    "\"objective\": {\"metric\": \"m\", \"goal\": \"%s\", "
		    "\"value\": \"%s\"",
		    goal, sim_chance(s, 0.5) ? "best" : "last");
		if (sim_chance(s, 0.1))
			buf_printf(b, ", \"target\": %g",
			    *goal == 'm' && goal[1] == 'a' ? 0.7 : 0.3);
		buf_puts(b, "}, ");
	}
	s->several = s->aims = several;
	if (sim_chance(s, 0.2)) {
		s->aims = true;
		buf_printf(b,
		    "\"constraints\": [{\"metric\": \"k\", \"max\": %g}%s], ",
		    0.2 + 0.6 * rng_uniform(&s->dice),
		    sim_chance(s, 0.5)
			? ", {\"metric\": \"m\", \"min\": 0.2, \"max\": 0.9}"
			: "");
	}
}
