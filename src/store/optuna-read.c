/*
 * Reads the tables of an Optuna storage: RDBStorage, storages/_rdb/models.py.
 * SQLite writes the JSON.
 */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/optuna-read.h"
#include "src/store/store-internal.h"

/* ?1 is the id of the study.  Without the type of a value, a null is NaN or infinite. */
static const char study_sql[] =
    "SELECT json_object('study', (SELECT study_name FROM studies "
    "  WHERE study_id = ?1), "
    "'goals', (SELECT json_group_array(direction) FROM (SELECT direction "
    "  FROM study_directions WHERE study_id = ?1 ORDER BY objective)), "
    "'metrics', (SELECT json(value_json) FROM study_system_attributes "
    "  WHERE study_id = ?1 AND key = 'study:metric_names'), "
    "'domains', (SELECT json_group_array(json_object('name', param_name, "
    "  'distribution', json(distribution_json))) FROM (SELECT param_name, "
    "  distribution_json FROM trial_params JOIN trials USING (trial_id) "
    "  WHERE study_id = ?1 GROUP BY 1, 2 ORDER BY min(param_id))), "
    "'trials', (SELECT json_group_array(json_object('state', state, "
    "  'values', (SELECT json_group_array(json(iif(value IS NULL, 'null', "
    "    printf('%!.17g', value)))) FROM (SELECT value FROM trial_values AS v "
    "    WHERE v.trial_id = t.trial_id ORDER BY objective)), "
    "  'step', (SELECT max(step) FROM trial_intermediate_values AS i "
    "    WHERE i.trial_id = t.trial_id), "
    "  'last', (SELECT json(iif(intermediate_value IS NULL, 'null', "
    "    printf('%!.17g', intermediate_value))) "
    "    FROM trial_intermediate_values AS i WHERE i.trial_id = t.trial_id "
    "    ORDER BY step DESC LIMIT 1), "
    "  'constraints', (SELECT json(value_json) "
    "    FROM trial_system_attributes AS a WHERE a.trial_id = t.trial_id "
    "    AND key = 'constraints' AND json_valid(value_json)), "
    "  'params', (SELECT json_group_object(param_name, json("
    "    CASE WHEN distribution_json ->> '$.name' LIKE 'Cat%' "
    "    THEN distribution_json -> ('$.attributes.choices[' || "
    "      CAST(param_value AS INTEGER) || ']') "
    "    WHEN distribution_json ->> '$.name' LIKE 'Int%' "
    "    THEN CAST(CAST(param_value AS INTEGER) AS TEXT) "
    "    ELSE printf('%!.17g', param_value) END)) "
    "    FROM (SELECT * FROM trial_params AS p WHERE p.trial_id = t.trial_id "
    "    ORDER BY param_id)))) "
    "  FROM (SELECT * FROM trials WHERE study_id = ?1 ORDER BY number) AS t))";

static const char what[] = "storage of Optuna";

/* The id of the study that is meant. */
static int
optuna_read_find(sqlite3_int64 *id, sqlite3 *db, const char *path,
    const char *study, struct err *e)
{
	struct buf names = { 0 };
	sqlite3_stmt *st;
	bool any = false;
	const char *name;
	int rc, n = 0;

	if (sqlite3_prepare_v2(db,
		"SELECT study_id, study_name FROM studies ORDER BY study_id",
		-1, &st, NULL) != SQLITE_OK)
		return query_foreign_err(db, path, what, e);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		name = (const char *)sqlite3_column_text(st, 1);
		/* A study without a name can only be the only one. */
		if (name == NULL)
			name = "";
		buf_printf(&names, "%s%s", any ? ", " : "", name);
		any = true;
		if (study != NULL && strcmp(study, name) != 0)
			continue;
		*id = sqlite3_column_int64(st, 0);
		n++;
	}
	rc = rc == SQLITE_DONE ? 0 : query_foreign_err(db, path, what, e);
	sqlite3_finalize(st);
	if (rc == 0 && !any)
		rc = err_set(e, ERR_USAGE, "%s: it has no study", path);
	else if (rc == 0 && n == 0)
		rc = err_set(e, ERR_USAGE, "%s: it has no study %s: %s", path,
		    study, buf_str(&names));
	else if (rc == 0 && n > 1)
		rc = err_set(e, ERR_USAGE,
		    "%s: it has several studies: name one with --study: %s",
		    path, buf_str(&names));
	buf_free(&names);
	return rc;
}

static int
optuna_read_study(struct buf *out, sqlite3 *db, const char *path,
    sqlite3_int64 id, struct err *e)
{
	const char *text = NULL;
	sqlite3_stmt *st;
	int rc = 0;

	if (sqlite3_prepare_v2(db, study_sql, -1, &st, NULL) != SQLITE_OK)
		return query_foreign_err(db, path, what, e);
	(void)sqlite3_bind_int64(st, 1, id);
	if (sqlite3_step(st) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(st, 0);
	if (text != NULL)
		buf_puts(out, text);
	else
		rc = query_foreign_err(db, path, what, e);
	sqlite3_finalize(st);
	return rc;
}

int
optuna_read(struct buf *out, const char *path, const char *study, struct err *e)
{
	sqlite3_int64 id = 0;
	struct store *s;
	int rc;

	if (access(path, R_OK) != 0)
		return err_set(e, ERR_FILE, "%s: it cannot be read", path);
	/* With the limits of a study's: the file is somebody's. */
	s = store_new(path, STORE_READ);
	rc = store_connect(s, path, SQLITE_OPEN_READONLY, e);
	if (rc == 0)
		rc = optuna_read_find(&id, s->db, path, study, e);
	if (rc == 0) {
		query_limit_begin(s);
		rc = optuna_read_study(out, s->db, path, id, e);
	}
	store_close(s);
	return rc;
}
