/*
 * The body of CreateTrainingJob for one attempt of a study, on stdout:
 *
 *	sm-request STUDY.json PARAMS TRIAL ATTEMPT CAPACITY
 *	sm-request --spec STUDY.json PARAMS TRIAL ATTEMPT CAPACITY
 *	sm-request --script
 *	sm-request --table
 *
 * PARAMS is the JSON of the trial's parameters, CAPACITY how many attempts
 * ended for want of a machine.  Exit status 2: the block is wrong; 1: AWS's
 * limits forbid it; the reason on stderr.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-request.h"

static char uuid[] = "abcdef01-2345-4678-9abc-def012345678";
static const struct launch_dirs dirs = {
	.checkpoint = "/opt/ml/checkpoints",
	.output = "/opt/ml/output/data",
	.model = "/opt/ml/model",
	.params = "/tmp/hpotune/params.json",
	.metrics = "/tmp/hpotune/metrics.jsonl",
};

/* One row a line: backend, version, who starts it, hyperparameters. */
static void
print_table(void)
{
	const struct sm_distribution *d;
	size_t i;

	for (d = sm_distributions; d->word != NULL; d++) {
		printf("%s %d %s", d->word, d->version,
		    d->toolkit ? "toolkit" : "script");
		for (i = 0; d->hp[i].key != NULL; i++)
			printf(" %s", d->hp[i].key);
		putchar('\n');
	}
}

static int
print_request(const struct study *study, const struct sm_settings *s,
    char **argv, bool spec_only, struct err *e)
{
	const struct backend_type type = { .name = "sagemaker", .dirs = &dirs };
	const struct plugin_backend backend = { .type = &type };
	struct store_trial row = { .number = atoll(argv[2]),
		.params = argv[1] };
	struct store_attempt att = {
		.trial = row.number, .attempt = atoi(argv[3]), .uuid = uuid
	};
	const struct attempt_spec_facts facts = { .study = study,
		.backend = &backend,
		.row = &row,
		.att = &att,
		.state_dir = "/state" };
	struct attempt_spec te;
	struct sm_plan plan;
	char prefix[SM_NAME_MAX], job[SM_NAME_MAX];
	char *key = sm_job_request_study_key(s, study->name, "0a1b2c");
	struct sm_request r = { .settings = s,
		.plan = &plan,
		.job = job,
		.study_id = "0a1b2c",
		.metric = study->metric,
		.study_key = key,
		.code_key = "base/code/0123456789abcdef",
		.region = s->region != NULL ? s->region : "eu-west-1" };
	struct buf b = { 0 };
	int rc = -1;

	sm_plan_make(&plan, s, atoi(argv[4]));
	sm_job_request_prefix(prefix, study->name, r.study_id);
	sm_job_request_name(job, prefix, row.number, att.attempt, uuid);
	if (attempt_spec_make(&te, &facts, e) == -1)
		goto out;
	r.spec = &te.spec;
	if (spec_only) {
		sm_script_vars_put(&b, &r);
		rc = 0;
	} else {
		rc = sm_job_request_put(&b, &r, e);
	}
	if (rc == 0)
		(void)fwrite(b.data, 1, b.len, stdout);
	attempt_spec_free(&te);
out:
	buf_free(&b);
	free(key);
	return rc;
}

int
main(int argc, char **argv)
{
	static const char *const except[] = { "name", NULL };
	struct option_value *values = NULL;
	struct sm_settings *s = NULL;
	struct study *study = NULL;
	struct err e = ERR_INIT;
	bool spec_only = argc > 1 && strcmp(argv[1], "--spec") == 0;
	int rc = 2;

	if (argc == 2 && strcmp(argv[1], "--table") == 0) {
		print_table();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--script") == 0) {
		fputs(sm_run_sh, stdout);
		return 0;
	}
	argv += 1 + spec_only;
	if (argc != 6 + spec_only)
		return 2;
	if (study_load(&study, argv[0], &e) == 0 &&
	    plugin_options_read(&values, sm_options, study->backends[0].block,
		except, &e) == 0 &&
	    sm_settings_read(&s, values, &study->trial, &e) == 0)
		rc = print_request(study, s, argv, spec_only, &e) == 0 ? 0 : 1;
	if (rc != 0)
		fprintf(stderr, "%s\n", e.text);
	sm_settings_free(s);
	plugin_options_free(values);
	if (study != NULL)
		study_free(study);
	return rc;
}
