/*
 * Converts the training jobs of a SageMaker tuning job to trials, from a list
 * that AWS returned or that was saved to a file.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/warmstart/warmstart-internal.h"
#include "src/model/goal.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "trials/backend.h"

/* A tuning job while its training jobs are read. */
struct tuning {
	struct warmstart_reading *r;
	const struct json *job; /* its description, or NULL */
	const char *metric; /* the objective's name there */
};

/*
 * A hyperparameter is a string there; convert it: the SDK writes strings as
 * JSON, other tools write them as they are.
 */
static void
put_hyperparameter(struct buf *b, const struct param *p, const char *text)
{
	struct json_doc *doc = NULL;
	enum json_type type = JSON_NULL;
	bool raw = false;
	size_t i;

	for (i = 0; p != NULL && i < p->n_values && !raw; i++)
		raw = p->values[i].kind == VALUE_TEXT &&
		      strcmp(p->values[i].text, text) == 0;
	if (!raw &&
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_write(b, json_root(doc));
	else
		json_put_string(b, text);
	json_free(doc);
}

/* One hyperparameter; false when it is not a string. */
static bool
put_member(struct buf *b, const struct space *space, const struct json *j)
{
	const char *text = json_string(j);
	int i = space_find(space, json_key(j));

	if (text == NULL)
		return false;
	if (b->len > 1)
		buf_putc(b, ',');
	json_put_string(b, json_key(j));
	buf_putc(b, ':');
	put_hyperparameter(b, i >= 0 ? &space->params[i] : NULL, text);
	return true;
}

/*
 * The tuned hyperparameters as params of a trial, and those constants that this
 * study tunes; false when they are missing.
 */
static bool
put_tuned(struct buf *b, const struct space *space, const struct json *tuned,
    const struct json *constant)
{
	const struct json *j;

	if (tuned == NULL || json_type(tuned) != JSON_OBJECT)
		return false;
	buf_putc(b, '{');
	for (j = json_first(tuned); j != NULL; j = json_next(j))
		if (!put_member(b, space, j))
			return false;
	j = json_first(constant);
	for (; j != NULL; j = json_next(j))
		if (space_find(space, json_key(j)) >= 0 &&
		    json_get(tuned, json_key(j)) == NULL)
			(void)put_member(b, space, j);
	buf_putc(b, '}');
	return true;
}

/* A member of the definition that a job was made from, or NULL. */
static const struct json *
defined(const struct tuning *t, const struct json *job, const char *what)
{
	const char *of =
	    json_string(json_get(job, "TrainingJobDefinitionName"));
	const struct json *d, *list;
	const char *name;

	if (t->job == NULL)
		return NULL;
	d = json_get(t->job, "TrainingJobDefinition");
	list = json_get(t->job, "TrainingJobDefinitions");
	if (d != NULL || list == NULL)
		return json_get(d, what);
	for (d = json_first(list); d != NULL; d = json_next(d)) {
		name = json_string(json_get(d, "DefinitionName"));
		if (of != NULL && name != NULL && strcmp(of, name) == 0)
			return json_get(d, what);
	}
	return NULL;
}

/*
 * The state of a job.  A job that was stopped early has a result, which its
 * tuning job used: it counts as completed.
 */
static bool
tuned_state(
    struct tuning *t, const struct json *job, struct warmstart_trial *trial)
{
	struct warmstart_source *s = t->r->source;
	const struct json *metric =
	    json_get(job, "FinalHyperParameterTuningJobObjectiveMetric");
	const char *status = json_string(json_get(job, "TrainingJobStatus"));
	const char *used = json_string(json_get(job, "ObjectiveStatus"));
	const char *why = json_string(json_get(job, "FailureReason"));
	const char *name;

	if (status == NULL || strcmp(status, "InProgress") == 0 ||
	    strcmp(status, "Stopping") == 0) {
		s->running++;
		return false;
	}
	if (strcmp(status, "Failed") == 0) {
		trial->state = TRIAL_FAILED;
		if (why != NULL && strncmp(why, "AlgorithmError", 14) == 0)
			return true;
		s->blameless++;
		return false;
	}
	trial->state = TRIAL_COMPLETED;
	name =
	    metric != NULL ? json_string(json_get(metric, "MetricName")) : NULL;
	if (name != NULL && strcmp(name, t->metric) == 0 &&
	    (used == NULL || strcmp(used, "Succeeded") == 0) &&
	    json_number(json_get(metric, "Value"), &trial->objective) &&
	    isfinite(trial->objective))
		return true;
	s->empty++;
	return false;
}

static void
tuned_read(struct tuning *t, const struct json *job)
{
	struct warmstart_reading *r = t->r;
	struct warmstart_source *s = r->source;
	struct warmstart_trial trial = {
		.trial = ++s->trials, .objective = NAN, .step = -1, .value = NAN
	};
	char why[sizeof s->why] = "its parameters cannot be read";
	struct json_doc *doc = NULL;
	struct buf b = { 0 };
	bool fits = false;

	if (!tuned_state(t, job, &trial))
		return;
	if (put_tuned(&b, r->study->space,
		json_get(job, "TunedHyperParameters"),
		defined(t, job, "StaticHyperParameters")) &&
	    json_parse(&doc, buf_str(&b), b.len, NULL, false, NULL) == 0) {
		warmstart_source_unknown(r, json_root(doc));
		fits = warmstart_source_fit(r, json_root(doc), why, sizeof why);
	}
	if (fits)
		warmstart_source_take(r, &trial);
	else if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
	json_free(doc);
	buf_free(&b);
}

/* The goal there must equal ours: otherwise values would be inverted. */
static int
warmstart_tuning_job_goal_check(const struct tuning *t,
    const struct json *objective, const struct study_warm *from, struct err *e)
{
	const struct study *study = t->r->study;
	const char *name = json_string(json_get(objective, "MetricName"));
	const char *type = json_string(json_get(objective, "Type"));

	if (name == NULL || strcmp(name, t->metric) != 0 || type == NULL ||
	    strcmp(type, study->maximize ? "Maximize" : "Minimize") == 0)
		return 0;
	return json_err(from->where, e,
	    "it has %s under Type %s, and the goal here is %s: "
	    "give the study the same goal, or remove the tuning "
	    "job",
	    name, type, goal_name(study->maximize));
}

/* The objective of the tuning job or of one of its definitions. */
static int
objective_check(
    const struct tuning *t, const struct study_warm *from, struct err *e)
{
	const struct json *config =
	    json_get(t->job, "HyperParameterTuningJobConfig");
	const struct json *objective = NULL;
	const char *name;

	if (config != NULL)
		objective =
		    json_get(config, "HyperParameterTuningJobObjective");
	if (objective == NULL)
		return 0; /* each definition has its own: check per job */
	name = json_string(json_get(objective, "MetricName"));
	if (name != NULL && strcmp(name, t->metric) != 0)
		return json_err(from->where, e,
		    "its objective is %s and not %s: say \"metric\": \"%s\" "
		    "beside tuning_job when both mean the same",
		    name, t->metric, name);
	return warmstart_tuning_job_goal_check(t, objective, from, e);
}

static int
jobs_read(struct tuning *t, const struct json *list,
    const struct study_warm *from, struct err *e)
{
	const struct json *j, *metric;

	for (j = json_first(list); j != NULL; j = json_next(j)) {
		metric =
		    json_get(j, "FinalHyperParameterTuningJobObjectiveMetric");
		if (metric != NULL &&
		    warmstart_tuning_job_goal_check(t, metric, from, e) != 0)
			return -1;
		tuned_read(t, j);
	}
	return t->r->source->taken == 0
		   ? warmstart_source_useless(t->r->source, from, e)
		   : 0;
}

static struct tuning
tuning_of(struct warmstart_reading *r, const struct study_warm *from)
{
	return (struct tuning){ .r = r,
		.metric =
		    from->metric != NULL ? from->metric : r->study->metric };
}

static int
narrow_check(const struct warmstart_reading *r, const struct study_warm *from,
    struct err *e)
{
	return warmstart_source_is_multi(r->study)
		   ? json_err(from->where, e,
			 "a tuning job has one objective and no constraints")
		   : 0;
}

/*
 * The answer of ListTrainingJobsForHyperParameterTuningJob, in a file; or trials
 * that hpotune has exported or imported.
 */
int
warmstart_tuning_job_load(
    struct warmstart_reading *r, const struct study_warm *from, struct err *e)
{
	struct tuning t = tuning_of(r, from);
	struct json_doc *doc;
	struct err why = ERR_INIT;
	const struct json *list;
	int rc;

	if (json_load(&doc, from->path, &why) != 0)
		return json_err(from->where, e, "%s", why.text);
	list = json_get(json_root(doc), "TrainingJobSummaries");
	if (json_type(json_root(doc)) == JSON_OBJECT &&
	    json_count(json_get(json_root(doc), "trials")) > 0)
		rc = warmstart_list_read(r, json_root(doc), from, e);
	else if (narrow_check(r, from, e) != 0)
		rc = -1;
	else if (list == NULL || json_type(list) != JSON_ARRAY)
		rc = json_err(from->where, e,
		    "it has no TrainingJobSummaries and no trials: expected "
		    "the output of aws sagemaker "
		    "list-training-jobs-for-hyper-parameter-tuning-job, or of "
		    "hpotune export --format json");
	else
		rc = jobs_read(&t, list, from, e);
	json_free(doc);
	return rc;
}

/*
 * Note a tuning job still running, and parents that its own trials learned
 * from.
 */
static void
note_more(struct tuning *t)
{
	struct warmstart_source *s = t->r->source;
	const char *status =
	    json_string(json_get(t->job, "HyperParameterTuningJobStatus"));
	const struct json *warm = json_get(t->job, "WarmStartConfig"), *j;
	const char *parent;
	size_t n;

	if (status != NULL && (strcmp(status, "InProgress") == 0 ||
				  strcmp(status, "Stopping") == 0))
		(void)snprintf(s->note, sizeof s->note,
		    "it is %s: its later results are not used", status);
	j = json_get(warm, "ParentHyperParameterTuningJobs");
	parent = j != NULL && json_first(j) != NULL
		     ? json_string(json_get(
			   json_first(j), "HyperParameterTuningJobName"))
		     : NULL;
	if (parent == NULL)
		return;
	n = strlen(s->note);
	(void)snprintf(s->note + n, sizeof s->note - n,
	    "%sits own parent%s %.40s%s not read", n > 0 ? "; " : "",
	    json_count(j) > 1 ? "s" : "", parent,
	    json_count(j) > 1 ? " and others are" : " is");
}

/* Missing region and profile default to those of the study's own jobs. */
static void
where_from(struct launch_tuning *ask, const struct study *study,
    const struct study_warm *from)
{
	const struct json *block;
	size_t i;

	*ask = (struct launch_tuning){ .name = from->tuning_job,
		.region = from->region,
		.profile = from->profile,
		.jobs = true };
	for (i = 0; i < study->n_backends; i++) {
		block = study->backends[i].block;
		if (strcmp(study->backends[i].name, "sagemaker") != 0 ||
		    block == NULL)
			continue;
		/* An ARN has a region of its own. */
		if (ask->region == NULL &&
		    strncmp(from->tuning_job, "arn:", 4) != 0)
			ask->region = json_string(json_get(block, "region"));
		if (ask->profile == NULL)
			ask->profile = json_string(json_get(block, "profile"));
		(void)json_number(json_get(block, "pace"), &ask->pace);
	}
}

static int
job_ask(struct buf *b, const struct launch_tuning *ask, struct err *e)
{
	const struct backend_type *type = backend_type_find("sagemaker");
	struct loop *loop;
	int rc;

	if (loop_open(&loop, LOOP_REAL, e) != 0)
		return -1;
	rc = type->tuning(loop, ask, b, e);
	loop_close(loop);
	return rc;
}

int
warmstart_tuning_job_fetch(
    struct warmstart_reading *r, const struct study_warm *from, struct err *e)
{
	struct tuning t = tuning_of(r, from);
	struct launch_tuning ask;
	struct json_doc *doc = NULL;
	struct err why = ERR_INIT;
	struct buf b = { 0 };
	int rc;

	if (narrow_check(r, from, e) != 0)
		return -1;
	where_from(&ask, r->study, from);
	rc = job_ask(&b, &ask, &why);
	if (rc == 0)
		rc = json_parse(&doc, buf_str(&b), b.len, NULL, false, &why);
	if (rc != 0)
		(void)json_err(from->where, e,
		    "%s; remove this entry to start the study without "
		    "its trials",
		    why.text);
	else {
		t.job = json_get(json_root(doc), "TuningJob");
		note_more(&t);
		rc = objective_check(&t, from, e);
	}
	if (rc == 0)
		rc = jobs_read(&t,
		    json_get(json_root(doc), "TrainingJobSummaries"), from, e);
	json_free(doc);
	buf_free(&b);
	return rc;
}
