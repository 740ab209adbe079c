/*
 * hpotune sagemaker gc and slurm gc: list and stop jobs with names of hpotune
 * whose attempts are not open in any study found here.  Asks through the backends
 * of the studies.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/job-gc.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/table.h"
#include "trials/backend.h"

enum owner {
	OWNER_ATTEMPT, /* an open attempt of a study here */
	OWNER_NONE, /* the study is here, its attempt has ended */
	OWNER_ELSEWHERE, /* of a study that is not here */
	OWNER_LOST /* … and the user declared it lost */
};

static const char *const owner_names[] = { [OWNER_ATTEMPT] = "owned",
	[OWNER_NONE] = "orphan",
	[OWNER_ELSEWHERE] = "elsewhere",
	[OWNER_LOST] = "lost" };

/* A study whose database is here. */
struct gc_study {
	struct study_files found;
	struct store *store;
	struct store_study row;
	char id[STUDY_ID];
};

struct gc_job {
	char *name, *study, *id, *state, *place;
	int64_t started_us;
	enum owner owner;
	bool ended; /* stopped by this command */
};

struct gc {
	struct cli *cli;
	const char *backend;
	struct loop *loop;
	struct gc_study *studies;
	size_t n_studies;
	struct gc_job *jobs;
	size_t n_jobs;
	bool asked; /* at least one backend was asked */
	bool broken; /* err holds the reason */
	struct err err;
};

/*
 * Whether the attempt is open now: checked after the job was listed, so that
 * the row of an attempt that has just started exists.
 */
static bool
job_gc_attempt_open(struct gc *gc, const struct gc_study *s, const char *uuid)
{
	int rc = store_attempt_is_open(s->store, uuid, &gc->err);

	/* A study that cannot be read counts as the owner. */
	gc->broken = gc->broken || rc < 0;
	return rc != 0;
}

/* By name and id: another study of the same name may exist elsewhere. */
static bool
said_lost(const struct gc *gc, const char *study, const char *id)
{
	size_t len = study != NULL ? strlen(study) : 0, i;
	const char *said;

	for (i = 0; study != NULL && id != NULL; i++) {
		said = cli_value_nth(gc->cli, "lost", i);
		if (said == NULL)
			break;
		if (strncmp(said, study, len) == 0 && said[len] == '-' &&
		    strcmp(said + len + 1, id) == 0)
			return true;
	}
	return false;
}

/* Whether each --lost ends in an id. */
static int
lost_check(const struct gc *gc, struct err *e)
{
	const char *said, *id;
	size_t i;

	for (i = 0; (said = cli_value_nth(gc->cli, "lost", i)) != NULL; i++) {
		id = strrchr(said, '-');
		if (id == NULL || id == said ||
		    strlen(id + 1) != STUDY_ID - 1 ||
		    strspn(id + 1, "0123456789abcdef") != STUDY_ID - 1)
			return err_set(e, ERR_USAGE,
			    "%s gc: --lost %s: expected the study as "
			    "the list shows it, name and id: %s-1a2b3c",
			    gc->backend, said, said);
	}
	return 0;
}

static enum owner
owner_of(struct gc *gc, const struct launch_stray *j)
{
	const struct gc_study *s;
	size_t i;

	for (i = 0; i < gc->n_studies; i++) {
		s = &gc->studies[i];
		if (j->study == NULL || j->study_id == NULL ||
		    strcmp(j->study, s->row.name) != 0 ||
		    strcmp(j->study_id, s->id) != 0)
			continue;
		/* Without its tag the owner cannot be determined. */
		if (j->uuid == NULL)
			return OWNER_ELSEWHERE;
		return job_gc_attempt_open(gc, s, j->uuid) ? OWNER_ATTEMPT
							   : OWNER_NONE;
	}
	return said_lost(gc, j->study, j->study_id) ? OWNER_LOST
						    : OWNER_ELSEWHERE;
}

static char *
job_gc_text_of(const char *text)
{
	return xstrdup(text != NULL ? text : "");
}

static bool
on_stray(void *arg, const struct launch_stray *j)
{
	struct gc *gc = arg;
	struct gc_job *job;
	size_t i;

	/* Two studies may list the same account and region. */
	for (i = 0; i < gc->n_jobs; i++)
		if (strcmp(gc->jobs[i].name, j->name) == 0)
			return false;
	gc->jobs = xreallocarray(gc->jobs, gc->n_jobs + 1, sizeof *gc->jobs);
	job = &gc->jobs[gc->n_jobs++];
	*job = (struct gc_job){ .name = job_gc_text_of(j->name),
		.study = job_gc_text_of(j->study),
		.id = job_gc_text_of(j->study_id),
		.state = job_gc_text_of(j->state),
		.place = job_gc_text_of(j->place),
		.started_us = j->started_us,
		.owner = owner_of(gc, j) };
	job->ended = !gc->broken && cli_has(gc->cli, "stop") &&
		     (job->owner == OWNER_NONE || job->owner == OWNER_LOST);
	return job->ended;
}

/* Which of the two commands a backend belongs to. */
static bool
is_slurm(const char *name)
{
	return strcmp(name, "slurm") == 0;
}

/* List the jobs of each backend of one study that can leave any. */
static int
study_ask(struct gc *gc, const struct gc_study *s, struct err *e)
{
	const struct study *study = s->found.study;
	char *dir = load_study_dir(&s->found);
	const struct plugin_backend *b;
	struct launch_env env = {
		.loop = gc->loop,
		.study = study->name,
		.study_id = s->id,
		.metric = study->metric,
		.maximize = study->maximize,
		.state_dir = dir,
		.settings = &study->trial,
	};
	struct plugins plugins;
	int rc = plugins_read(&plugins, study, e);
	size_t i;

	for (i = 0; rc == 0 && i < plugins.n_backends; i++) {
		b = &plugins.backends[i];
		if (b->type->strays == NULL ||
		    is_slurm(b->type->name) != is_slurm(gc->backend))
			continue;
		gc->asked = true;
		env.options = b->options;
		rc = b->type->strays(&env, on_stray, gc, e);
	}
	if (rc == 0 || plugins.strategy != NULL)
		plugins_free(&plugins);
	free(dir);
	return rc;
}

/* Takes ownership of found. */
static int
job_gc_study_add(struct gc *gc, struct study_files *found, struct err *e)
{
	struct gc_study s = { .found = *found };

	if (load_study_read(&s.found, e) != 0)
		return -1;
	if (store_open(&s.store, s.found.db, STORE_READ, e) != 0) {
		study_files_fini(&s.found);
		return -1;
	}
	if (store_study_get(s.store, &s.row, e) != 0) {
		store_close(s.store);
		study_files_fini(&s.found);
		return -1;
	}
	store_study_id(s.id, &s.row);
	gc->studies =
	    xreallocarray(gc->studies, gc->n_studies + 1, sizeof *gc->studies);
	gc->studies[gc->n_studies++] = s;
	return 0;
}

/* The given studies, or all of this folder. */
static int
studies_find(struct gc *gc, struct err *e)
{
	struct study_files found;
	char **names = NULL;
	int i, rc = 0;

	for (i = 1; i < gc->cli->n_operands && rc == 0; i++) {
		rc = study_files_find(&found, gc->cli->operands[i], NULL, e);
		if (rc == 0)
			rc = job_gc_study_add(gc, &found, e);
	}
	if (gc->cli->n_operands > 1)
		return rc;
	names = study_files_in(".");
	for (i = 0; names != NULL && names[i] != NULL; i++) {
		*e = (struct err)ERR_INIT;
		if (study_files_find(&found, names[i], NULL, e) != 0 ||
		    job_gc_study_add(gc, &found, e) != 0)
			log_warn(gc->backend, "%s", e->text);
	}
	strv_free(names);
	return 0;
}

static void
job_gc_time_put(char text[32], int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;

	*text = '\0';
	if (us != 0 && gmtime_r(&s, &tm) != NULL)
		(void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void
job_gc_table_print(const struct gc *gc)
{
	static const char *const heads[] = { "", "job", "study", "state",
		"place", "started", "" };
	struct table *table = table_new();
	const struct gc_job *j;
	struct buf out = { 0 };
	char started[32], *study;
	size_t i, orphans = 0;

	for (i = 0; i < sizeof heads / sizeof heads[0]; i++)
		table_column(table, heads[i], TABLE_LEFT);
	for (i = 0; i < gc->n_jobs; i++) {
		j = &gc->jobs[i];
		job_gc_time_put(started, j->started_us);
		table_cell(table, owner_names[j->owner],
		    j->owner == OWNER_ATTEMPT ? TABLE_GOOD : TABLE_BAD);
		table_cell(table, j->name, TABLE_PLAIN);
		study = xasprintf(
		    "%s%s%s", j->study, *j->id != '\0' ? "-" : "", j->id);
		table_cell(table, study, TABLE_PLAIN);
		free(study);
		table_cell(table, j->state, TABLE_PLAIN);
		table_cell(table, j->place, TABLE_PLAIN);
		table_cell(table, started, TABLE_PLAIN);
		table_cell(table, j->ended ? "stopped" : "", TABLE_PLAIN);
		orphans += j->owner == OWNER_NONE && !j->ended;
	}
	if (gc->n_jobs > 0)
		table_put(&out, table, gc->cli->width, gc->cli->colour, true);
	else
		buf_puts(&out, "no job with a name of hpotune is running\n");
	if (orphans > 0)
		buf_printf(&out,
		    "the orphans belong to no open attempt: hpotune "
		    "%s gc --stop stops them\n",
		    gc->backend);
	(void)cli_print(&out);
	table_free(table);
}

/* An empty text is null. */
static void
job_gc_text_put(struct json_writer *w, const char *key, const char *text)
{
	json_writer_text(w, key, *text != '\0' ? text : NULL);
}

static void
job_gc_json_print(const struct gc *gc)
{
	const struct gc_job *j;
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };
	char started[32];
	size_t i;

	json_writer_array(&w, NULL);
	for (i = 0; i < gc->n_jobs; i++) {
		j = &gc->jobs[i];
		job_gc_time_put(started, j->started_us);
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_text(&w, "job", j->name);
		job_gc_text_put(&w, "owner", owner_names[j->owner]);
		job_gc_text_put(&w, "study", j->study);
		job_gc_text_put(&w, "study_id", j->id);
		job_gc_text_put(&w, "state", j->state);
		job_gc_text_put(&w, "place", j->place);
		job_gc_text_put(&w, "started", started);
		json_writer_bool(&w, "ended", j->ended);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	buf_putc(&out, '\n');
	(void)cli_print(&out);
}

static void
gc_free(struct gc *gc)
{
	struct gc_job *j;
	size_t i;

	for (i = 0; i < gc->n_jobs; i++) {
		j = &gc->jobs[i];
		free(j->name);
		free(j->study);
		free(j->id);
		free(j->state);
		free(j->place);
	}
	for (i = 0; i < gc->n_studies; i++) {
		store_study_fini(&gc->studies[i].row);
		store_close(gc->studies[i].store);
		study_files_fini(&gc->studies[i].found);
	}
	free(gc->jobs);
	free(gc->studies);
	loop_close(gc->loop);
}

static int
gc_run(struct gc *gc, struct err *e)
{
	size_t i;

	if (lost_check(gc, e) != 0 || loop_open(&gc->loop, LOOP_REAL, e) != 0 ||
	    studies_find(gc, e) != 0)
		return -1;
	for (i = 0; i < gc->n_studies; i++) {
		if (study_ask(gc, &gc->studies[i], e) != 0)
			return -1;
		if (gc->broken) {
			*e = gc->err;
			return -1;
		}
	}
	if (!gc->asked)
		return err_set(e, ERR_USAGE,
		    "%s gc: no study here has used such a "
		    "backend: give its NAME.db or study.json",
		    gc->backend);
	return 0;
}

int
job_gc_run(struct cli *cli, const char *backend)
{
	struct gc gc = { .cli = cli, .backend = backend };
	struct err e = ERR_INIT;
	int rc;

	log_set_level(LOG_LEVEL_WARN);
	rc = gc_run(&gc, &e);
	/* List the stopped jobs also when a later step failed. */
	if (rc == 0 || gc.n_jobs > 0) {
		if (cli->json)
			job_gc_json_print(&gc);
		else
			job_gc_table_print(&gc);
	}
	gc_free(&gc);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}
