/*
 * What a file of an older version lacks: a reader lays it over the file as
 * temporary views, and leaves the file as it is.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

enum {
	WITH_LAST = 25, /* the version in which results has metrics, */
	WITH_RESULTS = 9 /* and from which a reader adds them */
};

/* Views that files before schema version since lack, as empty ones. */
static const struct {
	int64_t since;
	const char *sql;
} missing_views[] = {
	{ 2, "CREATE TEMP VIEW costs AS SELECT NULL AS cost, "
	     "NULL AS committed, 0.0 AS seconds, 0.0 AS billable_seconds, "
	     "NULL AS spot_saved, NULL AS spot_share;" },
	{ 3, "CREATE TEMP VIEW warm AS SELECT NULL AS source, NULL AS trial, "
	     "NULL AS state, NULL AS objective, NULL AS step, NULL AS params "
	     "WHERE 0;"
	     "CREATE TEMP VIEW population AS SELECT NULL AS member, trial, "
	     "NULL AS from_trial, NULL AS until_step, state, objective, "
	     "NULL AS step, params FROM main.t_trial WHERE 0;"
	     "CREATE TEMP VIEW t_aim AS SELECT 1 AS position, metric, goal, "
	     "NULL AS least, NULL AS most FROM main.t_study;"
	     "CREATE TEMP VIEW t_outcome AS SELECT NULL AS trial, "
	     "NULL AS position, NULL AS value, NULL AS violation WHERE 0;"
	     "CREATE TEMP VIEW outcomes AS SELECT NULL AS trial, "
	     "NULL AS metric, NULL AS goal, NULL AS min, NULL AS max, "
	     "NULL AS value, NULL AS violation WHERE 0;"
	     "CREATE TEMP VIEW front AS SELECT trial, objective FROM main.best;"
	     "CREATE TEMP VIEW t_suggestion AS SELECT NULL AS trial, "
	     "NULL AS strategy, NULL AS made_by, NULL AS seconds, "
	     "NULL AS redraws, NULL AS same_as, NULL AS from_trial WHERE 0;" },
	{ 4, "CREATE TEMP VIEW gpus AS SELECT NULL AS gpu, NULL AS uuid, "
	     "NULL AS name, NULL AS memory, NULL AS used, NULL AS temperature, "
	     "NULL AS utilization, NULL AS power, NULL AS state, NULL AS why, "
	     "NULL AS owner, NULL AS trials, NULL AS time WHERE 0;" },
	{ 10,
	    "CREATE TEMP VIEW notices AS SELECT NULL AS time, NULL AS moment, "
	    "NULL AS channel, NULL AS id, NULL AS sent, NULL AS why, "
	    "NULL AS text WHERE 0;" },
	{ 11, "CREATE TEMP VIEW hindsight AS SELECT NULL AS trial, "
	      "NULL AS objective, NULL AS judged, NULL AS step, NULL AS value, "
	      "NULL AS median WHERE 0;" },
	{ 12, "CREATE TEMP VIEW suggestions AS SELECT t.trial, s.strategy, "
	      "s.made_by, s.seconds, s.redraws, s.same_as, s.from_trial, "
	      "t.source, NULL AS reason, NULL AS memory, NULL AS fits "
	      "FROM main.t_trial AS t "
	      "LEFT JOIN t_suggestion AS s ON s.trial = t.trial;" },
	{ 14, "CREATE TEMP VIEW t_retry AS SELECT NULL AS trial, "
	      "NULL AS end_seq, NULL AS seq, NULL AS state, "
	      "NULL AS objective WHERE 0;"
	      "CREATE TEMP VIEW changes AS SELECT NULL AS time, NULL AS key, "
	      "NULL AS old, NULL AS new, NULL AS trials, NULL AS outside "
	      "WHERE 0;"
	      "CREATE TEMP VIEW notes AS SELECT NULL AS trial, NULL AS text, "
	      "NULL AS time WHERE 0;"
	      "CREATE TEMP VIEW tags AS SELECT NULL AS trial, NULL AS tag "
	      "WHERE 0;"
	      "CREATE TEMP VIEW retries AS SELECT NULL AS trial, "
	      "NULL AS attempt, NULL AS state, NULL AS objective, "
	      "NULL AS why, NULL AS time WHERE 0;"
	      "CREATE TEMP VIEW queue AS SELECT id, params, source, "
	      "nullif(trial, 0) AS trial, CASE WHEN trial IS NULL THEN "
	      "'waiting' WHEN trial = 0 THEN 'dropped' ELSE 'tried' END "
	      "AS state FROM main.t_queue;" },
	{ 15, "CREATE TEMP VIEW t_spent AS SELECT NULL AS seq, "
	      "NULL AS seconds, NULL AS dollars WHERE 0;" },
	{ 17, "CREATE TEMP VIEW settings AS SELECT NULL AS setting, "
	      "NULL AS state, NULL AS value, NULL AS replicates, "
	      "NULL AS begun, NULL AS mean, NULL AS standard_error, "
	      "NULL AS trial, NULL AS trials, NULL AS params, "
	      "NULL AS rank, NULL AS violation, NULL AS front WHERE 0;" },
	{ 18, "CREATE TEMP VIEW provenance AS SELECT NULL AS provenance, "
	      "NULL AS since, NULL AS host, NULL AS user, NULL AS system, "
	      "NULL AS version, NULL AS command, NULL AS folder, "
	      "NULL AS workdir, NULL AS git_commit, NULL AS git_branch, "
	      "NULL AS git_dirty, NULL AS git_why, NULL AS packages, "
	      "NULL AS packages_why WHERE 0;" },
	{ 19, "CREATE TEMP VIEW setting_outcomes AS SELECT NULL AS setting, "
	      "NULL AS metric, NULL AS goal, NULL AS min, NULL AS max, "
	      "NULL AS value, NULL AS mean, NULL AS standard_error, "
	      "NULL AS violation WHERE 0;"
	      "CREATE TEMP VIEW t_setting_outcome AS SELECT NULL AS setting, "
	      "NULL AS position, NULL AS value WHERE 0;" },
	{ 22, "CREATE TEMP VIEW t_asker AS SELECT NULL AS trial, "
	      "NULL AS attempt, NULL AS host, NULL AS pid, NULL AS mark, "
	      "NULL AS watched WHERE 0;" },
	{ 26, "CREATE TEMP VIEW t_contest AS SELECT NULL AS contest, "
	      "NULL AS kind, NULL AS verdict, NULL AS challenger, "
	      "NULL AS baseline, NULL AS searched, NULL AS git_commit WHERE 0;"
	      "CREATE TEMP VIEW contests AS SELECT NULL AS contest, "
	      "NULL AS kind, NULL AS verdict, NULL AS trial, NULL AS baseline, "
	      "NULL AS metric, NULL AS goal, NULL AS alpha, "
	      "NULL AS replicates, NULL AS looks, NULL AS better, "
	      "NULL AS worse, NULL AS difference, NULL AS least, "
	      "NULL AS trials, NULL AS seconds, NULL AS opened, NULL AS ended, "
	      "NULL AS caller, NULL AS why WHERE 0;"
	      "CREATE TEMP VIEW proposals AS SELECT NULL AS proposal, "
	      "NULL AS verdict, NULL AS trial, NULL AS baseline, "
	      "NULL AS params, NULL AS level, NULL AS e_value, "
	      "NULL AS seeds, NULL AS difference, NULL AS least, "
	      "NULL AS trials, NULL AS seconds, NULL AS cost, "
	      "NULL AS opened, NULL AS ended, NULL AS caller, "
	      "NULL AS why, NULL AS git_commit, NULL AS git_base, "
	      "NULL AS diff WHERE 0;" },
	/* A block for each report. */
	{ SCHEMA_WITH_BLOCKS,
	    "CREATE TEMP VIEW t_block AS SELECT name_id, trial, seq, attempt, "
	    "1 AS reports, step, step AS last_step, EXISTS (SELECT 1 FROM "
	    "main.t_metric AS l WHERE l.name_id = m.name_id AND l.trial = "
	    "m.trial AND l.step = m.step AND l.seq > m.seq) AS old, time_us, "
	    "time_us AS last_us, 0 AS steps, 0 AS seqs, 0 AS times, "
	    "value AS v0, NULL AS v1, NULL AS v2, NULL AS v3, NULL AS v4, "
	    "NULL AS v5, NULL AS v6, NULL AS v7, NULL AS v8, NULL AS v9, "
	    "NULL AS v10, NULL AS v11, NULL AS v12, NULL AS v13, "
	    "NULL AS v14, NULL AS v15, NULL AS v16, NULL AS v17, "
	    "NULL AS v18, NULL AS v19, NULL AS v20, NULL AS v21, "
	    "NULL AS v22, NULL AS v23, NULL AS v24, NULL AS v25, "
	    "NULL AS v26, NULL AS v27, NULL AS v28, NULL AS v29, "
	    "NULL AS v30, NULL AS v31 FROM main.t_metric AS m;" },
	{ WITH_LAST,
	    "CREATE TEMP VIEW t_last AS SELECT name_id, trial, step AS "
	    "first_step, last_step AS step, CASE reports"
	    " WHEN 1 THEN v0 WHEN 2 THEN v1 WHEN 3 THEN v2"
	    " WHEN 4 THEN v3 WHEN 5 THEN v4 WHEN 6 THEN v5"
	    " WHEN 7 THEN v6 WHEN 8 THEN v7 WHEN 9 THEN v8"
	    " WHEN 10 THEN v9 WHEN 11 THEN v10 WHEN 12 THEN v11"
	    " WHEN 13 THEN v12 WHEN 14 THEN v13 WHEN 15 THEN v14"
	    " WHEN 16 THEN v15 WHEN 17 THEN v16 WHEN 18 THEN v17"
	    " WHEN 19 THEN v18 WHEN 20 THEN v19 WHEN 21 THEN v20"
	    " WHEN 22 THEN v21 WHEN 23 THEN v22 WHEN 24 THEN v23"
	    " WHEN 25 THEN v24 WHEN 26 THEN v25 WHEN 27 THEN v26"
	    " WHEN 28 THEN v27 WHEN 29 THEN v28 WHEN 30 THEN v29"
	    " WHEN 31 THEN v30 WHEN 32 THEN v31"
	    " END AS value FROM t_block WHERE old = 0;"
	    "CREATE TEMP VIEW last_reports AS SELECT l.trial, n.name, l.step, "
	    "l.value FROM main.t_name AS n CROSS JOIN t_last AS l ON "
	    "l.name_id = n.id WHERE NOT EXISTS (SELECT 1 FROM t_block AS b "
	    "WHERE b.name_id = l.name_id AND b.trial = l.trial AND b.old = 0 "
	    "AND b.step > l.first_step);" },
	{ 27, "CREATE TEMP VIEW requests AS SELECT NULL AS time, "
	      "NULL AS caller, NULL AS request, NULL AS trial, "
	      "NULL AS asked, NULL AS good, NULL AS answer WHERE 0;" },
};

/* Columns that tables or views of files before schema version since lack. */
static const struct {
	int64_t since;
	const char *of, *columns;
} missing_columns[] = {
	{ 2, "t_attempt", "NULL AS worst_cost, NULL AS trained_seconds" },
	{ 4, "t_attempt",
	    "NULL AS gpus, NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_busy, NULL AS gpu_seen" },
	{ 8, "t_attempt", "NULL AS download_seconds, NULL AS upload_seconds" },
	{ 16, "t_attempt", "NULL AS cpus" },
	{ 3, "t_trial",
	    "NULL AS paused_step, 0.0 AS violation, NULL AS from_trial, "
	    "NULL AS member, NULL AS until_step" },
	{ 14, "t_trial", "0 AS forgotten, NULL AS outside" },
	{ 17, "t_trial", "NULL AS setting, NULL AS replicate" },
	{ 28, "t_trial", "NULL AS own_steps" },
	{ 30, "t_trial", "NULL AS git_commit" },
	{ 4, "t_total",
	    "NULL AS gpu_seconds, NULL AS energy, NULL AS energy_saved" },
	{ 4, "trials",
	    "NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_utilization" },
	{ 9, "trials", "NULL AS model_uri, NULL AS output_uri" },
	{ 14, "trials",
	    "NULL AS note, NULL AS tags, 0 AS forgotten, NULL AS outside" },
	{ 17, "trials", "NULL AS setting, NULL AS replicate" },
	{ 28, "trials", "NULL AS own_steps" },
	{ 30, "trials", "NULL AS git_commit" },
	{ 4, "best",
	    "NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_utilization" },
	{ 9, "best", "NULL AS model_uri, NULL AS output_uri" },
	{ 14, "best",
	    "NULL AS note, NULL AS tags, 0 AS forgotten, NULL AS outside" },
	{ 17, "best", "NULL AS setting, NULL AS replicate" },
	{ 28, "best", "NULL AS own_steps" },
	{ 30, "best", "NULL AS git_commit" },
	{ 29, "suggestions", "NULL AS memory, NULL AS fits" },
	{ 4, "attempts",
	    "NULL AS gpus, NULL AS gpu_seconds, NULL AS energy_joules, "
	    "NULL AS gpu_memory, NULL AS gpu_utilization" },
	{ 8, "attempts", "NULL AS download_seconds, NULL AS upload_seconds" },
	{ 16, "attempts", "NULL AS cpus, NULL AS cpu_seconds" },
	{ 18, "attempts", "NULL AS provenance" },
	{ 22, "attempts", "NULL AS asker_host, NULL AS asker_pid" },
	{ 9, "attempts", "NULL AS model_uri, NULL AS output_uri" },
	{ 29, "attempts", "NULL AS memory" },
	{ 7, "t_study", "NULL AS run_trials, NULL AS run_parallel" },
	{ 7, "study",
	    "(SELECT elapsed_ms / 1000.0 FROM main.t_study) AS elapsed" },
	{ 14, "study", "0 AS forgotten, NULL AS description" },
	{ 13, "stops",
	    "NULL AS rank, NULL AS hindsight, NULL AS budget, NULL AS price, "
	    "NULL AS spent" },
	{ 15, "stops",
	    "(SELECT metric FROM main.t_study) AS metric, 'step' AS unit, "
	    "step AS at" },
	{ 13, "t_stop",
	    "NULL AS rank, NULL AS hindsight, NULL AS budget, NULL AS price, "
	    "NULL AS spent, NULL AS end_seq" },
	{ 15, "t_stop", "NULL AS metric, NULL AS unit, NULL AS at" },
	{ 2, "savings", "NULL AS spot_saved" },
	{ 4, "savings", "NULL AS energy_saved" },
	{ 30, "t_contest",
	    "NULL AS git_commit, NULL AS git_base, NULL AS diff" },
	{ 30, "proposals",
	    "NULL AS git_commit, NULL AS git_base, NULL AS diff" },
	{ 19, "settings", "NULL AS violation, NULL AS front" },
	{ SCHEMA_WITH_BLOCKS, "t_metric",
	    "EXISTS (SELECT 1 FROM main.t_metric AS l WHERE l.name_id = "
	    "t_metric.name_id AND l.trial = t_metric.trial AND l.step = "
	    "t_metric.step AND l.seq > t_metric.seq) AS old, "
	    "step AS first_step, step AS last_step, time_us AS first_us, "
	    "time_us AS last_us" },
};

/* Whether it is one of the views that the file lacks, which have all columns. */
static bool
lacks_view(int64_t version, const char *name)
{
	size_t i, n = sizeof missing_views / sizeof missing_views[0];
	char text[64];

	(void)snprintf(text, sizeof text, "TEMP VIEW %s AS", name);
	for (i = 0; i < n; i++)
		if (version < missing_views[i].since &&
		    strstr(missing_views[i].sql, text) != NULL)
			return true;
	return false;
}

/*
 * Define a temporary view over each table and view that adds the missing
 * columns.
 */
static int
lay_columns(struct store *s, int64_t version, struct err *e)
{
	size_t i, n = sizeof missing_columns / sizeof missing_columns[0];
	struct buf sql = { 0 };
	bool begun = false;
	int rc;

	for (i = 0; i < n; i++) {
		const char *of = missing_columns[i].of;

		if (lacks_view(version, of))
			continue;
		if (version < missing_columns[i].since && !begun)
			buf_printf(&sql, "CREATE TEMP VIEW %s AS SELECT *", of);
		if (version < missing_columns[i].since)
			buf_printf(&sql, ", %s", missing_columns[i].columns);
		begun = begun || version < missing_columns[i].since;
		if (begun && (i + 1 == n ||
				 strcmp(of, missing_columns[i + 1].of) != 0)) {
			buf_printf(&sql, " FROM main.%s;", of);
			begun = false;
		}
	}
	rc = store_exec(s, buf_str(&sql), e);
	buf_free(&sql);
	return rc;
}

int
schema_read_old(struct store *s, int64_t version, struct err *e)
{
	size_t i, n = sizeof missing_views / sizeof missing_views[0];

	for (i = 0; i < n; i++)
		if (version < missing_views[i].since &&
		    store_exec(s, missing_views[i].sql, e) != 0)
			return -1;
	if (lay_columns(s, version, e) != 0)
		return -1;
	return version < WITH_RESULTS || version >= WITH_LAST
		   ? 0
		   : schema_views_results(s, true, e);
}
