/*
 * Hyperparameters for the toolkit: the members of the launcher's row in
 * sm-distribution.c, and the path of the program.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/request/sm-toolkit-hyperparameters.h"

static void
toolkit_member_put(
    struct buf *b, bool *first, const char *key, const char *json)
{
	if (!*first)
		buf_putc(b, ',');
	*first = false;
	json_put_string(b, key);
	buf_putc(b, ':');
	json_put_string(b, json);
}

/* A text, which is JSON inside the string that every value is. */
static void
toolkit_member_put_text(
    struct buf *b, bool *first, const char *key, const char *text)
{
	struct buf json = { 0 };

	json_put_string(&json, text);
	toolkit_member_put(b, first, key, buf_str(&json));
	buf_free(&json);
}

static const char *
type_name(const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const char *group = sm_distribution_text(s, "group");
	size_t i;

	if (r->plan->type != NULL)
		return r->plan->type->name;
	for (i = 0; group != NULL && i < s->n_groups; i++)
		if (strcmp(s->groups[i].name, group) == 0)
			return s->groups[i].type.name;
	return s->n_groups > 0 ? s->groups[0].type.name : "";
}

static void
dist_put_parameters(
    struct buf *b, const struct sm_settings *s, bool *first, const char *key)
{
	const struct json *j = json_get(s->dist, "parameters");
	struct buf json = { 0 };

	if (j != NULL)
		json_write(&json, j);
	toolkit_member_put(b, first, key, j != NULL ? buf_str(&json) : "{}");
	buf_free(&json);
}

static void
dist_put_row(struct buf *b, const struct sm_request *r, bool *first,
    const char *key, enum sm_from from)
{
	const struct sm_settings *s = r->settings;
	const char *options = sm_distribution_text(s, "custom_mpi_options");
	bool torch = false;
	char count[24];

	switch (from) {
	case SM_FROM_NOWHERE:
		break;
	case SM_FROM_TRUE:
		toolkit_member_put(b, first, key, "true");
		break;
	case SM_FROM_FALSE:
		toolkit_member_put(b, first, key, "false");
		break;
	case SM_FROM_TYPE:
		toolkit_member_put_text(b, first, key, type_name(r));
		break;
	case SM_FROM_PER_HOST:
		(void)snprintf(count, sizeof count, "%d", s->per_host);
		if (s->per_host > 0)
			toolkit_member_put(b, first, key, count);
		break;
	case SM_FROM_MPI_OPTIONS:
		toolkit_member_put_text(
		    b, first, key, options != NULL ? options : "");
		break;
	case SM_FROM_PARAMETERS:
		dist_put_parameters(b, s, first, key);
		break;
	case SM_FROM_TORCH:
		if (s->dist != NULL)
			(void)json_bool(
			    json_get(s->dist, "torch_distributed"), &torch);
		if (torch)
			toolkit_member_put(b, first, key, "true");
		break;
	}
}

/* Script mode: where the program is and what the job is called. */
static void
toolkit_script_put(struct buf *b, const struct sm_request *r, bool *first)
{
	const struct sm_settings *s = r->settings;
	struct err ignored = ERR_INIT;
	size_t at = 0;
	char *uri;

	(void)sm_distribution_find(r->spec->argv, &at, &ignored);
	toolkit_member_put_text(b, first, "sagemaker_program",
	    sm_distribution_program(s, r->spec->argv[at]));
	uri = xasprintf("s3://%s/%s/code.tar.gz", s->bucket, r->code_key);
	toolkit_member_put_text(b, first, "sagemaker_submit_directory", uri);
	free(uri);
	toolkit_member_put(b, first, "sagemaker_container_log_level", "20");
	toolkit_member_put_text(b, first, "sagemaker_job_name", r->job);
	toolkit_member_put_text(b, first, "sagemaker_region", r->region);
}

void
sm_toolkit_hyperparameters_put(
    struct buf *b, const struct sm_request *r, bool *first)
{
	const struct sm_distribution *row = sm_distribution_row(r->settings);
	const char *group = sm_distribution_text(r->settings, "group");
	struct buf list = { 0 };
	size_t i;

	if (!row->toolkit)
		return;
	toolkit_script_put(b, r, first);
	for (i = 0; row->hp[i].key != NULL; i++)
		dist_put_row(b, r, first, row->hp[i].key, row->hp[i].from);
	if (group == NULL)
		return;
	buf_putc(&list, '[');
	json_put_string(&list, group);
	buf_putc(&list, ']');
	toolkit_member_put(
	    b, first, "sagemaker_distribution_instance_groups", buf_str(&list));
	buf_free(&list);
}
