/*
 * hpotune sagemaker model: the model of a trial, as the request of CreateModel;
 * with --fetch, the model itself.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/sagemaker-model.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"
#include "trials/backend.h"

struct model {
	struct cli *cli;
	struct study_files found;
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
	/* Not "", which only a damaged database has. */
	if (!store_rows_null(rows, 1) && *store_rows_text(rows, 1) != '\0')
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
sagemaker_model_image_of(const struct model *m, const struct json *block)
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
sagemaker_model_member_put(struct buf *b, const char *front, const char *text)
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
	char *image =
	    block != NULL ? sagemaker_model_image_of(m, block) : xstrdup("");
	size_t n = strlen(m->uri);
	bool folder = m->uri[n - 1] == '/';
	char *name = xasprintf("%s-%s", m->row.name, m->trial);

	sagemaker_model_member_put(b, "{\n  \"ModelName\": ", name);
	if (role != NULL)
		sagemaker_model_member_put(
		    b, ",\n  \"ExecutionRoleArn\": ", role);
	buf_puts(b, ",\n  \"PrimaryContainer\": {");
	sagemaker_model_member_put(b, "\n    \"Image\": ", image);
	if (folder) {
		sagemaker_model_member_put(b,
		    ",\n    \"ModelDataSource\": { \"S3DataSource\": {\n"
		    "      \"S3Uri\": ",
		    m->uri);
		buf_puts(b, ",\n      \"S3DataType\": \"S3Prefix\", "
			    "\"CompressionType\": \"None\" } }");
	} else
		sagemaker_model_member_put(
		    b, ",\n    \"ModelDataUrl\": ", m->uri);
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
		if (plugins.backends[i].type->fetch != NULL)
			b = &plugins.backends[i];
	if (rc == 0 && b == NULL)
		rc = err_set(e, ERR_USAGE,
		    "sagemaker model: %s has no backend of SageMaker any more",
		    study->name);
	else if (rc == 0 && (rc = loop_open(&env.loop, LOOP_REAL, e)) == 0) {
		env.options = b->options;
		rc = b->type->fetch(&env, m->uri, to, e);
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

int
sagemaker_model_run(struct cli *cli)
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
	study_files_fini(&m.found);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}
