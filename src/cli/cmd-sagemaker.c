/*
 * hpotune sagemaker gc, slurm gc: list and stop jobs with names of hpotune
 * whose attempts are not open in any study found here.  Uses the launchers of
 * the studies for all requests.  hpotune sagemaker model: the model of a trial,
 * as the request of CreateModel; with --fetch, the model itself.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/common/table.h"
#include "src/model/study/study.h"
#include "src/server/plugins/plugins.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"
#include "trials/launcher.h"

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
	struct cli_study found;
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
	bool asked; /* at least one launcher was asked */
	bool broken; /* err holds the reason */
	struct err err;
};

/*
 * Whether the attempt is open now: checked after the job was listed, so that
 * the row of an attempt that has just started exists.
 */
static bool
attempt_open(struct gc *gc, const struct gc_study *s, const char *uuid)
{
	static const char *const sql = "SELECT 1 FROM t_attempt WHERE "
				       "uuid = ? AND state <> 'ended'";
	const char *params[] = { uuid, NULL };
	struct store_rows *rows;
	int rc = -1;

	if (store_rows_open(&rows, s->store, sql, params, &gc->err) == 0) {
		rc = store_rows_next(rows, &gc->err);
		store_rows_close(rows);
	}
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
		return attempt_open(gc, s, j->uuid) ? OWNER_ATTEMPT
						    : OWNER_NONE;
	}
	return said_lost(gc, j->study, j->study_id) ? OWNER_LOST
						    : OWNER_ELSEWHERE;
}

static char *
text_of(const char *text)
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
	*job = (struct gc_job){ .name = text_of(j->name),
		.study = text_of(j->study),
		.id = text_of(j->study_id),
		.state = text_of(j->state),
		.place = text_of(j->place),
		.started_us = j->started_us,
		.owner = owner_of(gc, j) };
	job->ended = !gc->broken && cli_has(gc->cli, "stop") &&
		     (job->owner == OWNER_NONE || job->owner == OWNER_LOST);
	return job->ended;
}

/* Which of the two commands a launcher belongs to. */
static bool
is_slurm(const char *name)
{
	return strcmp(name, "slurm") == 0;
}

/* List the jobs of each launcher of one study that can leave any. */
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
		if (b->launcher->strays == NULL ||
		    is_slurm(b->launcher->name) != is_slurm(gc->backend))
			continue;
		gc->asked = true;
		env.options = b->options;
		rc = b->launcher->strays(&env, on_stray, gc, e);
	}
	if (rc == 0 || plugins.strategy != NULL)
		plugins_free(&plugins);
	free(dir);
	return rc;
}

/* Takes ownership of found. */
static int
study_add(struct gc *gc, struct cli_study *found, struct err *e)
{
	struct gc_study s = { .found = *found };

	if (load_study_read(&s.found, e) != 0)
		return -1;
	if (store_open(&s.store, s.found.db, STORE_READ, e) != 0) {
		cli_study_fini(&s.found);
		return -1;
	}
	if (store_study_get(s.store, &s.row, e) != 0) {
		store_close(s.store);
		cli_study_fini(&s.found);
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
	struct cli_study found;
	char **names = NULL;
	int i, rc = 0;

	for (i = 1; i < gc->cli->n_operands && rc == 0; i++) {
		rc = cli_find_named(&found, gc->cli->operands[i], e);
		if (rc == 0)
			rc = study_add(gc, &found, e);
	}
	if (gc->cli->n_operands > 1)
		return rc;
	names = cli_find_names(".");
	for (i = 0; names != NULL && names[i] != NULL; i++) {
		*e = (struct err)ERR_INIT;
		if (cli_find_named(&found, names[i], e) != 0 ||
		    study_add(gc, &found, e) != 0)
			log_warn(gc->backend, "%s", e->text);
	}
	strv_free(names);
	return 0;
}

static void
time_put(char text[32], int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;

	*text = '\0';
	if (us != 0 && gmtime_r(&s, &tm) != NULL)
		(void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void
table_print(const struct gc *gc)
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
		time_put(started, j->started_us);
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
text_put(struct json_writer *w, const char *key, const char *text)
{
	json_writer_text(w, key, *text != '\0' ? text : NULL);
}

static void
json_print(const struct gc *gc)
{
	const struct gc_job *j;
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };
	char started[32];
	size_t i;

	json_writer_array(&w, NULL);
	for (i = 0; i < gc->n_jobs; i++) {
		j = &gc->jobs[i];
		time_put(started, j->started_us);
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_text(&w, "job", j->name);
		text_put(&w, "owner", owner_names[j->owner]);
		text_put(&w, "study", j->study);
		text_put(&w, "study_id", j->id);
		text_put(&w, "state", j->state);
		text_put(&w, "place", j->place);
		text_put(&w, "started", started);
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
		cli_study_fini(&gc->studies[i].found);
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

static int
gc_main(struct cli *cli, const char *backend)
{
	struct gc gc = { .cli = cli, .backend = backend };
	struct err e = ERR_INIT;
	int rc;

	log_set_level(LOG_LEVEL_WARN);
	rc = gc_run(&gc, &e);
	/* List the stopped jobs also when a later step failed. */
	if (rc == 0 || gc.n_jobs > 0) {
		if (cli->json)
			json_print(&gc);
		else
			table_print(&gc);
	}
	gc_free(&gc);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}

/* ---- model -------------------------------------------------------------- */

struct model {
	struct cli *cli;
	struct cli_study found;
	struct store *store;
	struct store_study row;
	char trial[24];
	char *uri, *output; /* output: or NULL */
	char *params; /* of the trial, JSON */
};

/* Parse the optional STUDY and TRIAL after "model", in this order. */
static int
operands_read(struct model *m, struct err *e)
{
	struct cli *cli = m->cli;
	int n = cli->n_operands;
	const char *last = n > 1 ? cli->operands[n - 1] : NULL;
	int64_t trial;

	if (n > 3)
		return err_set(
		    e, ERR_USAGE, "sagemaker model: expected [STUDY] [TRIAL]");
	if (last != NULL && strspn(last, "0123456789") == strlen(last)) {
		if (cli_read_integer(last, "trial", 1, INT64_MAX, &trial, e) !=
		    0)
			return -1;
		(void)snprintf(m->trial, sizeof m->trial, "%" PRId64, trial);
		n--;
	} else if (n > 2)
		return err_set(e, ERR_USAGE,
		    "sagemaker model: %s: expected the number of a trial",
		    last);
	/*
	 * Remove "model", so that the study is found as for any other command.
	 */
	memmove(cli->operands, cli->operands + 1,
	    (size_t)(cli->n_operands) * sizeof *cli->operands);
	cli->n_operands = n - 1;
	return 0;
}

/* The given trial or the best one, and its artifacts. */
static int
row_read(struct model *m, struct err *e)
{
	const char *params[] = { m->trial, NULL };
	struct store_rows *rows;
	int rc;

	if (m->trial[0] != '\0')
		rc = rows_first(&rows, m->store,
		    "SELECT trial, model_uri, output_uri, params FROM trials "
		    "WHERE "
		    "trial = CAST(? AS INTEGER)",
		    params, e);
	else
		rc = rows_first(&rows, m->store,
		    "SELECT trial, model_uri, output_uri, (SELECT t.params "
		    "FROM trials AS t WHERE t.trial = best.trial) FROM best",
		    NULL, e);
	if (rc == -1)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE,
		    m->trial[0] != '\0'
			? "%s: there is no trial %s"
			: "%s: no trial is the best one%s: name "
			  "a trial",
		    m->row.name, m->trial);
	(void)snprintf(
	    m->trial, sizeof m->trial, "%s", store_rows_text(rows, 0));
	if (!store_rows_null(rows, 1))
		m->uri = xstrdup(store_rows_text(rows, 1));
	if (!store_rows_null(rows, 2))
		m->output = xstrdup(store_rows_text(rows, 2));
	if (!store_rows_null(rows, 3))
		m->params = xstrdup(store_rows_text(rows, 3));
	store_rows_close(rows);
	if (m->uri == NULL)
		return err_set(e, ERR_STORE,
		    "%s: trial %s has left no model in S3: it has not run "
		    "there, or not to an end",
		    m->row.name, m->trial);
	return 0;
}

/* The block of the study's backend. */
static const struct json *
block_of(const struct model *m)
{
	const struct study *study = m->found.study;
	size_t i;

	for (i = 0; i < study->n_backends; i++)
		if (strcmp(study->backends[i].name, "sagemaker") == 0)
			return study->backends[i].block;
	return NULL;
}

/*
 * The image of the trial's training (with several algorithms that of the chosen
 * one); "".
 */
static char *
image_of(const struct model *m, const struct json *block)
{
	const struct json *j = json_get(block, "algorithms");
	const char *name = json_string(json_get(block, "algorithm"));
	const char *chosen, *image = json_string(json_get(block, "image"));
	struct json_doc *doc = NULL;
	struct err ignored = ERR_INIT;
	char *found;

	if (j != NULL && name != NULL && m->params != NULL &&
	    json_parse(&doc, m->params, strlen(m->params), NULL, false,
		&ignored) == 0) {
		chosen = json_string(json_get(json_root(doc), name));
		j = chosen != NULL ? json_get(j, chosen) : NULL;
		if (j != NULL)
			image = json_string(json_get(j, "image"));
	}
	found = xstrdup(image != NULL ? image : "");
	json_free(doc);
	return found;
}

static void
member_put(struct buf *b, const char *front, const char *text)
{
	buf_puts(b, front);
	json_put_string(b, text);
}

/* A request of CreateModel.  Archives are hosted unchanged. */
static void
request_put(struct buf *b, const struct model *m)
{
	const struct json *block = block_of(m);
	const char *role =
	    block != NULL ? json_string(json_get(block, "role")) : NULL;
	char *image = block != NULL ? image_of(m, block) : xstrdup("");
	size_t n = strlen(m->uri);
	bool folder = m->uri[n - 1] == '/';
	char *name = xasprintf("%s-%s", m->row.name, m->trial);

	member_put(b, "{\n  \"ModelName\": ", name);
	if (role != NULL)
		member_put(b, ",\n  \"ExecutionRoleArn\": ", role);
	buf_puts(b, ",\n  \"PrimaryContainer\": {");
	member_put(b, "\n    \"Image\": ", image);
	if (folder) {
		member_put(b,
		    ",\n    \"ModelDataSource\": { \"S3DataSource\": {\n"
		    "      \"S3Uri\": ",
		    m->uri);
		buf_puts(b, ",\n      \"S3DataType\": \"S3Prefix\", "
			    "\"CompressionType\": \"None\" } }");
	} else
		member_put(b, ",\n    \"ModelDataUrl\": ", m->uri);
	buf_puts(b, "\n  }\n}\n");
	free(image);
	free(name);
}

static int
model_print(const struct model *m)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	if (m->cli->json) {
		json_writer_object(&w, NULL);
		json_writer_raw(&w, "trial", m->trial);
		json_writer_text(&w, "model", m->uri);
		if (m->output != NULL)
			json_writer_text(&w, "output", m->output);
		request_put(json_writer_value(&w, "create_model"), m);
		json_writer_end(&w);
		buf_putc(&out, '\n');
	} else {
		request_put(&out, m);
		fprintf(stderr,
		    "hpotune: note: trial %s; Image is that of its training: "
		    "name the one that serves, then: aws sagemaker "
		    "create-model --cli-input-json file://FILE\n",
		    m->trial);
	}
	(void)cli_print(&out);
	return 0;
}

static int
model_fetch(struct model *m, const char *to, struct err *e)
{
	const struct study *study = m->found.study;
	char id[STUDY_ID], *dir = load_study_dir(&m->found);
	struct launch_env env = {
		.study = study->name,
		.study_id = id,
		.metric = study->metric,
		.state_dir = dir,
		.settings = &study->trial,
	};
	const struct plugin_backend *b = NULL;
	struct plugins plugins;
	int rc = plugins_read(&plugins, study, e);
	size_t i;

	store_study_id(id, &m->row);
	for (i = 0; rc == 0 && i < plugins.n_backends; i++)
		if (plugins.backends[i].launcher->fetch != NULL)
			b = &plugins.backends[i];
	if (rc == 0 && b == NULL)
		rc = err_set(e, ERR_USAGE,
		    "sagemaker model: %s has no backend of SageMaker any more",
		    study->name);
	else if (rc == 0 && (rc = loop_open(&env.loop, LOOP_REAL, e)) == 0) {
		env.options = b->options;
		rc = b->launcher->fetch(&env, m->uri, to, e);
		loop_close(env.loop);
	}
	if (rc == 0 || plugins.strategy != NULL)
		plugins_free(&plugins);
	free(dir);
	return rc;
}

static int
model_run(struct model *m, struct err *e)
{
	const char *to = cli_value(m->cli, "fetch");

	if (store_study_get(m->store, &m->row, e) != 0 || row_read(m, e) != 0 ||
	    load_study_read(&m->found, e) != 0)
		return -1;
	if (to == NULL)
		return model_print(m);
	if (model_fetch(m, to, e) != 0)
		return -1;
	cli_print_line("%s\n", to);
	return 0;
}

/* Run it as a command; returns the exit status. */
static int
sagemaker_model(struct cli *cli)
{
	struct model m = { .cli = cli };
	struct err e = ERR_INIT;
	int rc;

	if (operands_read(&m, &e) != 0 ||
	    cli_open_store(cli, &m.found, &m.store, &e) != 0)
		return cli_fail(&e);
	rc = model_run(&m, &e);
	free(m.uri);
	free(m.output);
	free(m.params);
	store_study_fini(&m.row);
	store_close(m.store);
	cli_study_fini(&m.found);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}

/* ---- the commands ------------------------------------------------------- */

static int
sagemaker_run(struct cli *cli)
{
	struct err e = ERR_INIT;

	if (strcmp(cli->operands[0], "model") == 0)
		return sagemaker_model(cli);
	if (strcmp(cli->operands[0], "gc") == 0)
		return gc_main(cli, "sagemaker");
	(void)err_set(&e, ERR_USAGE, "sagemaker: %s: expected gc or model",
	    cli->operands[0]);
	return cli_fail(&e);
}

static int
slurm_run(struct cli *cli)
{
	struct err e = ERR_INIT;

	if (strcmp(cli->operands[0], "gc") == 0)
		return gc_main(cli, "slurm");
	(void)err_set(
	    &e, ERR_USAGE, "slurm: %s: expected gc", cli->operands[0]);
	return cli_fail(&e);
}

static const struct cli_option sagemaker_options[] = {
	{ "stop", 0, NULL, "stop those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ "fetch", 0, "DIR", "download the model into a new folder" },
	{ .name = NULL },
};

const struct cli_command cmd_sagemaker = {
	.name = "sagemaker",
	.args = "gc [STUDY...] | model [STUDY] [TRIAL]",
	.about = "training jobs that no study owns; the model of a trial",
	.options = sagemaker_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = sagemaker_run,
};

static const struct cli_option slurm_options[] = {
	{ "stop", 0, NULL, "cancel those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ .name = NULL },
};

const struct cli_command cmd_slurm = {
	.name = "slurm",
	.args = "gc [STUDY...]",
	.about = "jobs of Slurm that no study owns",
	.options = slurm_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = slurm_run,
};
