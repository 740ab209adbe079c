/*
 * The study in the database: its row is made once, and brought up to study.json
 * at each start.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/study-change.h"
#include "src/engine/study-row.h"
#include "src/engine/warmstart/warmstart.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

static char *
study_row_fixed_text(const struct study *study)
{
	struct buf b = { 0 };

	study_put_fixed(&b, study);
	return buf_take(&b);
}

static char *
json_text(const struct study *study)
{
	struct buf b = { 0 };

	study_put_json(&b, study);
	return buf_take(&b);
}

static char *
rule_names(const struct study *study)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < study->n_stopping; i++)
		buf_printf(
		    &b, "%s%s", i > 0 ? ", " : "", study->stopping[i].name);
	return buf_take(&b);
}

static uint64_t
seed_of(const struct study *study)
{
	uint64_t seed;

	if (study->has_seed)
		return study->seed;
	rng_system(&seed, sizeof seed);
	return seed >> 11; /* exact in a JSON number */
}

/* As the store records them; the caller frees it. */
static struct store_aim *
aims_of(const struct study *study)
{
	size_t i, n = study->n_objectives;
	struct store_aim *aims;

	aims = xcalloc(n + study->n_constraints, sizeof *aims);
	for (i = 0; i < n; i++)
		aims[i] = (struct store_aim){
			.metric = study->objectives[i].metric,
			.maximize = study->objectives[i].maximize,
		};
	for (i = 0; i < study->n_constraints; i++)
		aims[n + i] = (struct store_aim){
			.metric = study->constraints[i].metric,
			.constraint = true,
			.min = study->constraints[i].min,
			.max = study->constraints[i].max,
		};
	return aims;
}

void
study_row_keep_former(const char *path, struct study *study)
{
	struct store_study row = { 0 };
	struct store *store;

	if (store_open(&store, path, STORE_READ, NULL) != 0)
		return;
	if (store_study_get(store, &row, NULL) == 0)
		study_set_former(study, row.strategy, row.rule);
	store_study_fini(&row);
	store_close(store);
}

static int
row_create(struct store **store, const char *path, const struct study *study,
    bool network_fs, int64_t now_us, struct err *e)
{
	struct store_aim *aims = aims_of(study);
	struct store_study row = {
		.aims = aims,
		.n_aims = study->n_objectives + study->n_constraints,
		.name = xstrdup(study->name),
		.state = STUDY_INTERRUPTED,
		.metric = xstrdup(study->metric),
		.maximize = study->maximize,
		.strategy = xstrdup(study->strategy.name),
		.seed = seed_of(study),
		.rule = rule_names(study),
		.max_steps = study->trial.max_steps,
		.json = json_text(study),
		.fixed = study_row_fixed_text(study),
		.dir = xstrdup(study->dir),
		.created_us = now_us,
	};
	int rc;

	rc = store_create(store, path, &row, study->space, network_fs, e);
	store_study_fini(&row);
	free(aims);
	return rc;
}

static void
queue_values(struct store *store, const struct space *space,
    const struct value *values, enum trial_source source)
{
	struct buf b = { 0 };

	space_put_json(&b, space, values);
	(void)store_queue_add(store, buf_str(&b), source, NULL);
	buf_free(&b);
}

/* Queue the defaults and the enqueue list, once, at the first start. */
static void
queue_fill(struct store *store, const struct study *study)
{
	const struct space *space = study->space;
	struct value *def = xcalloc(space->n, sizeof *def);
	size_t i;

	if (partial_setting_defaults(space, def))
		queue_values(store, space, def, SOURCE_DEFAULT);
	for (i = 0; i < study->n_enqueue; i++)
		queue_values(store, space, study->enqueue[i], SOURCE_ENQUEUE);
	free(def);
}

static void
study_row_serve(struct store_study *row, int64_t now_us)
{
	/*
	 * A finished study may have nothing left to run: its end stays, and is
	 * not announced again; also when this server dies before it says so.
	 */
	if (row->state == STUDY_INTERRUPTED || row->state == STUDY_PAUSED)
		row->ended_us = 0;
	if (row->state == STUDY_PAUSED)
		log_warn("study",
		    "it is paused: hpotune resume starts trials again");
	else
		row->state = STUDY_RUNNING;
	row->started_us = now_us;
	free(row->why);
	row->why = NULL;
}

/* Inside a transaction: what this start changes in the study's row. */
static int
row_start(struct store *store, struct study *study,
    const struct warmstart *warm, bool serve, int64_t now_us, struct err *e)
{
	struct store_study row = { 0 };
	char *json;
	int rc;

	rc = store_study_get(store, &row, e);
	if (rc == 0)
		study_set_former(study, row.strategy, row.rule);
	json = json_text(study);
	if (rc == 0 && strcmp(row.json, json) != 0)
		rc = study_change_record(store, &row, study, now_us, e);
	if (rc == 0 && row.started_us == 0) {
		queue_fill(store, study);
		warmstart_put(store, warm, now_us);
	}
	if (rc == 0) {
		free(row.json);
		free(row.rule);
		free(row.dir);
		free(row.fixed);
		free(row.strategy);
		row.json = xstrdup(json);
		row.fixed = study_row_fixed_text(study);
		row.strategy = xstrdup(study->strategy.name);
		row.rule = rule_names(study);
		row.dir = xstrdup(study->dir);
		row.max_steps = study->trial.max_steps;
		if (serve)
			study_row_serve(&row, now_us);
		else if (row.started_us == 0)
			row.started_us = now_us;
		(void)store_study_put(store, &row, NULL);
	}
	store_study_fini(&row);
	free(json);
	return rc;
}

static int
row_start_all(struct store *store, struct study *study,
    const struct warmstart *warm, bool serve, int64_t now_us, struct err *e)
{
	int rc;

	rc = store_begin(store, e);
	if (rc != 0)
		return -1;
	rc = row_start(store, study, warm, serve, now_us, e);
	if (rc == 0)
		rc = store_commit(store, true, e);
	if (rc != 0)
		store_rollback(store);
	return rc;
}

/* Whether a server has started it before; a crash may have come earlier. */
static int
row_begun(bool *begun, const char *path, struct err *e)
{
	struct store_study row = { 0 };
	struct store *store;
	int rc;

	if (store_exists(begun, path, e) != 0)
		return -1;
	if (!*begun)
		return 0;
	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = store_study_get(store, &row, e);
	*begun = row.started_us != 0;
	store_study_fini(&row);
	store_close(store);
	return rc;
}

int
study_row_check(const char *path, const struct study *study, struct strv *texts,
    struct err *e)
{
	struct store_study row = { 0 };
	struct store *store;
	bool there;
	int rc;

	if (store_exists(&there, path, e) != 0)
		return -1;
	if (!there)
		return 0;
	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = store_study_get(store, &row, e);
	if (rc == 0)
		rc = study_change_check(store, &row, study, texts, e);
	store_study_fini(&row);
	store_close(store);
	return rc;
}

bool
study_row_finished(const char *path, const struct study *study)
{
	struct store_study row = { 0 };
	char *json = json_text(study);
	struct err e = ERR_INIT;
	struct store *store;
	bool there, same = false;

	if (store_exists(&there, path, &e) == 0 && there &&
	    store_open(&store, path, STORE_READ, &e) == 0) {
		same = store_study_get(store, &row, &e) == 0 &&
		       row.state == STUDY_FINISHED &&
		       strcmp(row.json, json) == 0;
		store_study_fini(&row);
		store_close(store);
	}
	free(json);
	return same;
}

/* Read the sources of warm_start before creating anything. */
int
study_row_open(struct store **out, const char *path, struct study *study,
    bool network_fs, enum store_mode mode, int64_t now_us, struct err *e)
{
	struct store *store = NULL;
	struct warmstart warm = { 0 };
	bool there, begun = true;
	int rc;

	if (store_exists(&there, path, e) != 0)
		return -1;
	if (study->n_warm_start > 0 && row_begun(&begun, path, e) != 0)
		return -1;
	if (!begun && warmstart_read(&warm, study, path, e) != 0)
		return -1;
	rc = there ? store_open(&store, path, mode, e)
		   : row_create(&store, path, study, network_fs, now_us, e);
	if (rc == 0) {
		rc = row_start_all(
		    store, study, &warm, mode == STORE_WRITE, now_us, e);
		if (rc == 0)
			*out = store;
		else
			store_close(store);
	}
	warmstart_free(&warm);
	return rc;
}
