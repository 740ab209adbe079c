/*
 * Reads the backend block into settings, and checks combinations of options.
 * Makes no request.
 */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	ROLE_MIN = 20, /* characters of an ARN */
	ROLE_MAX = 2048,
	IMAGE_MAX = 255,
	KMS_MAX = 2048,
	URI_READ_MAX = 1024,
	URI_MAX = 900, /* of 1024: we put names behind it */
	RUN_S = 86400, /* SageMaker's default */
	RUN_MAX_S = 28 * 86400,
	WAIT_MIN_S = 3600 /* of waiting, by default */
};

/* The error for a missing or wrong option: what was expected. */
static int
sm_settings_want(const struct sm_reader *r, const char *name, const char *form)
{
	const struct json *j = sm_options_json(r, name);

	if (j != NULL)
		return json_err(j, r->e, "expected %s", form);
	return json_err(sm_options_where(r, name), r->e,
	    "the sagemaker backend also needs \"%s\": %s", name, form);
}

static bool
digits_good(const char *s, size_t n)
{
	while (n-- > 0)
		if (!isdigit((unsigned char)*s++))
			return false;
	return true;
}

/* arn:aws[-x]:iam::ACCOUNT:role/NAME */
static bool
role_good(const char *s)
{
	size_t n = strlen(s), i;

	if (n < ROLE_MIN || n > ROLE_MAX || strncmp(s, "arn:aws", 7) != 0)
		return false;
	s += 7;
	while (islower((unsigned char)*s) || *s == '-')
		s++;
	if (strncmp(s, ":iam::", 6) != 0 || !digits_good(s + 6, 12) ||
	    strncmp(s + 18, ":role/", 6) != 0 || s[24] == '\0')
		return false;
	for (i = 24; s[i] != '\0'; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    strchr("+=,.@-_/", s[i]) == NULL)
			return false;
	return true;
}

static bool
image_good(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n > IMAGE_MAX)
		return false;
	for (; *s != '\0'; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

/* "eu-west-1", "us-gov-west-1" */
static bool
sm_settings_region_good(const char *s)
{
	size_t n = strlen(s), i, dashes = 0;

	for (i = 0; i < n; i++) {
		if (!islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) && s[i] != '-')
			return false;
		dashes += s[i] == '-';
	}
	return n >= 9 && n <= 32 && dashes >= 2 &&
	       islower((unsigned char)s[0]) && isdigit((unsigned char)s[n - 1]);
}

static bool
bucket_good(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) &&
		    (s[i] != '-' && s[i] != '.'))
			return false;
	return n >= 3 && n <= 63 && isalnum((unsigned char)s[0]) &&
	       isalnum((unsigned char)s[n - 1]);
}

/* Keys may contain blanks, but no control characters. */
static bool
is_printable(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Whether a text is "s3://BUCKET/PREFIX". */
static bool
s3_valid(const char *uri)
{
	if (strncmp(uri, "s3://", 5) != 0 || strlen(uri) > URI_MAX ||
	    !bucket_good(uri + 5, strcspn(uri + 5, "/")))
		return false;
	return is_printable(uri);
}

/* "arn:aws:s3:REGION:ACCOUNT:accesspoint": what stands before "/NAME/". */
static bool
access_point_good(const char *s, size_t n)
{
	static const char end[] = ":accesspoint";
	size_t m = sizeof end - 1;

	return n > m + 8 && strncmp(s, "arn:aws", 7) == 0 &&
	       strncmp(s + n - m, end, m) == 0 && s[n] == '/' &&
	       s[n + 1] != '\0' && s[n + 1] != '/';
}

/* Addresses that SageMaker itself reads: also URLs and ARNs. */
bool
sm_settings_s3_readable(const char *uri)
{
	const char *at;
	size_t n;

	if (s3_valid(uri))
		return true;
	if (strlen(uri) > URI_READ_MAX || !is_printable(uri))
		return false;
	if (strncmp(uri, "s3://", 5) == 0)
		return access_point_good(uri + 5, strcspn(uri + 5, "/"));
	if (strncmp(uri, "https://", 8) != 0)
		return false;
	at = uri + 8;
	n = strcspn(at, "/");
	return n > 0 && at[n] == '/' && strcspn(at, " ") >= n;
}

/* The id or ARN of a key or of an alias, as a header's value. */
static bool
kms_good(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= KMS_MAX &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/_-")] == '\0';
}

static int
read_names(struct sm_reader *r)
{
	struct sm_settings *s = r->s;

	s->region = sm_options_text(r, "region");
	s->profile = sm_options_text(r, "profile");
	s->role = sm_options_text(r, "role");
	s->image = sm_options_text(r, "image");
	s->input_mode = sm_options_text(r, "input_mode");
	s->packed =
	    strcmp(plugin_option_get(r->values, "model")->text, "tar.gz") == 0;
	s->kms_key = sm_options_text(r, "kms_key");
	if (s->kms_key != NULL && !kms_good(s->kms_key))
		return sm_settings_want(r, "kms_key",
		    "a key's id or ARN, or \"alias/NAME\" or its ARN");
	if (s->region != NULL && !sm_settings_region_good(s->region))
		return sm_settings_want(
		    r, "region", "a region like \"eu-west-1\"");
	if (s->profile != NULL && *s->profile == '\0')
		return sm_settings_want(r, "profile", "the name of a profile");
	if (s->role == NULL || !role_good(s->role))
		return sm_settings_want(r, "role",
		    "the ARN of a role like "
		    "\"arn:aws:iam::123456789012:role/NAME\"");
	if (s->image == NULL && sm_options_json(r, "algorithms") != NULL)
		return 0;
	if (s->image == NULL || !image_good(s->image))
		return sm_settings_want(
		    r, "image", "the name of an image, at most 255 characters");
	return 0;
}

/*
 * Read BUCKET and PREFIX of "s3://BUCKET/PREFIX/", without slashes at the ends.
 */
static int
read_s3(struct sm_reader *r)
{
	const char *uri = plugin_option_get(r->values, "s3")->text, *prefix;
	size_t n;

	if (uri == NULL || !s3_valid(uri))
		return sm_settings_want(
		    r, "s3", "a URI like \"s3://BUCKET/PREFIX/\"");
	n = strcspn(uri + 5, "/");
	r->s->bucket = xstrndup(uri + 5, n);
	prefix = uri + 5 + n;
	prefix += strspn(prefix, "/");
	n = strlen(prefix);
	while (n > 0 && prefix[n - 1] == '/')
		n--;
	r->s->prefix = xstrndup(prefix, n);
	return 0;
}

/* The part of path below dir: "" if they are equal, NULL if it is not below. */
static const char *
path_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return path + 1;
	if (strncmp(dir, path, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return NULL;
	return path[n] == '/' ? path + n + 1 : path + n;
}

/* The folder of the code, and its location as the command sees it. */
static int
read_code(struct sm_reader *r)
{
	const char *text = plugin_option_get(r->values, "code")->text, *rest;
	struct sm_settings *s = r->s;
	struct stat st;
	char *path, *work;

	if (text == NULL)
		return 0;
	path = *text == '/' ? xstrdup(text)
			    : xasprintf("%s/%s", r->trial->dir, text);
	s->code = realpath(path, NULL);
	free(path);
	if (s->code == NULL || stat(s->code, &st) == -1)
		return json_err(sm_options_json(r, "code"), r->e,
		    "expected a folder: %s", strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return json_err(
		    sm_options_json(r, "code"), r->e, "expected a folder");
	work = realpath(r->trial->workdir, NULL);
	if (work == NULL)
		return 0;
	if ((rest = path_below(work, s->code)) != NULL && *rest != '\0')
		s->code_as = xstrdup(rest);
	else if ((rest = path_below(s->code, work)) != NULL && *rest != '\0')
		s->cwd = xstrdup(rest);
	free(work);
	return 0;
}

static int
read_run(struct sm_reader *r)
{
	const struct option_value *v = plugin_option_get(r->values, "max_run");
	int64_t ms = r->trial->max_run_ms;

	r->s->max_run_s = RUN_S;
	if (v->given)
		r->s->max_run_s = (int64_t)ceil(v->number);
	else if (ms > (int64_t)RUN_MAX_S * 1000)
		return json_err(sm_options_where(r, "max_run"), r->e,
		    "trial.max_run is more than the 28 days of a training "
		    "job: expected max_run beside it");
	else if (ms > 0)
		r->s->max_run_s = (ms + 999) / 1000;
	return 0;
}

/* Spot options.  The manual has the reference to AWS's rules. */
static int
read_spot(struct sm_reader *r)
{
	struct sm_settings *s = r->s;
	const struct option_value *wait =
	    plugin_option_get(r->values, "max_wait");

	s->spot = plugin_option_get(r->values, "spot")->number != 0;
	s->force_spot = plugin_option_get(r->values, "force_spot")->number != 0;
	s->on_demand_after =
	    (int)plugin_option_get(r->values, "on_demand_after")->number;
	s->keep_alive_s =
	    (int64_t)ceil(plugin_option_get(r->values, "keep_alive")->number);
	s->download_s = (int64_t)ceil(
	    plugin_option_get(r->values, "download_time")->number);
	s->upload_s =
	    (int64_t)ceil(plugin_option_get(r->values, "upload_time")->number);
	if (!s->spot && wait->given)
		return json_err(
		    wait->json, r->e, "max_wait goes only with \"spot\": true");
	if (!s->spot && s->on_demand_after > 0)
		return json_err(sm_options_json(r, "on_demand_after"), r->e,
		    "on_demand_after goes only with \"spot\": true");
	if (!s->spot)
		return 0;
	if (!s->checkpoints && !s->force_spot)
		return json_err(sm_options_json(r, "spot"), r->e,
		    "without checkpoints every interruption restarts the "
		    "trial from its beginning: expected false, or "
		    "\"force_spot\": true");
	if (s->keep_alive_s > 0)
		return json_err(sm_options_json(r, "keep_alive"), r->e,
		    "warm pools do not go with spot: expected one of them");
	s->max_wait_s = s->max_run_s +
			(s->max_run_s > WAIT_MIN_S ? s->max_run_s : WAIT_MIN_S);
	if (!wait->given)
		return 0;
	s->max_wait_s = (int64_t)ceil(wait->number);
	if (s->max_wait_s >= s->max_run_s)
		return 0;
	return json_err(wait->json, r->e,
	    "it covers waiting and training: expected at least max_run, "
	    "%lld s",
	    (long long)s->max_run_s);
}

/*
 * Members of CreateTrainingJob that are passed through unchanged; those that
 * hpotune sets itself are rejected.  Of these objects only some members are
 * passed through.
 */
static const struct {
	const char *member;
	const char *keys[4];
} inner[] = {
	{ "AlgorithmSpecification",
	    { "TrainingImageConfig", "EnableSageMakerMetricsTimeSeries" } },
	{ "OutputDataConfig", { "KmsKeyId", "CompressionType" } },
	{ "ResourceConfig", { "VolumeKmsKeyId", "TrainingPlanArn",
				"InstancePlacementConfig" } },
	{ "StoppingCondition", { "MaxPendingTimeInSeconds" } },
};
static const char *const extra_members[] = { "AlgorithmSpecification",
	"OutputDataConfig", "ResourceConfig", "StoppingCondition",
	"DebugHookConfig", "DebugRuleConfigurations",
	"EnableInterContainerTrafficEncryption", "EnableNetworkIsolation",
	"ExperimentConfig", "InfraCheckConfig", "MlflowConfig",
	"ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig",
	"RetryStrategy", "SessionChainingConfig", "TensorBoardOutputConfig",
	NULL };

static int
read_extra(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "extra");
	size_t i;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, extra_members, r->e) != 0)
		return -1;
	for (i = 0; i < sizeof inner / sizeof inner[0]; i++) {
		j = json_get(block, inner[i].member);
		if (j != NULL && (json_want(j, JSON_OBJECT, r->e) != 0 ||
				     json_only(j, inner[i].keys, r->e) != 0))
			return -1;
	}
	r->s->extra = block;
	return 0;
}

static bool
sm_settings_topic_good(const char *s)
{
	return strncmp(s, "arn:aws", 7) == 0 && strlen(s) <= 1024;
}

static int
read_alarm(struct sm_reader *r)
{
	static const char *const keys[] = { "gpu_idle", "minutes", "action",
		NULL };
	const struct json *j, *block = sm_options_json(r, "alarm");
	const char *text;
	int64_t n;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0)
		return -1;
	j = json_get(block, "gpu_idle");
	if (j != NULL && json_read_integer(j, 1, 100, &n, r->e) != 0)
		return -1;
	j = json_get(block, "minutes");
	if (j != NULL && json_read_integer(j, 1, 1440, &n, r->e) != 0)
		return -1;
	j = json_get(block, "action");
	if (j != NULL && json_read_string(j, &text, r->e) != 0)
		return -1;
	if (j != NULL && !sm_settings_topic_good(text))
		return json_err(j, r->e, "expected the ARN of a topic");
	r->s->alarm = block;
	return 0;
}

static void
sm_settings_read_rest(struct sm_reader *r)
{
	const struct option_value *v = plugin_option_get(r->values, "parallel");
	struct sm_settings *s = r->s;

	s->volume_gb = (int64_t)ceil(
	    plugin_option_get(r->values, "volume")->number / 1073741824.0);
	s->parallel = v->given ? (int)v->number : 0;
	s->pace = plugin_option_get(r->values, "pace")->number;
	s->metrics_from_cloudwatch =
	    strcmp(plugin_option_get(r->values, "metrics_from")->text,
		"cloudwatch") == 0;
	s->requirements =
	    plugin_option_get(r->values, "requirements")->number != 0;
	s->watch_events = plugin_option_get(r->values, "watch")->number != 0;
	s->publish = plugin_option_get(r->values, "publish")->number != 0;
}

int
sm_settings_read(struct sm_settings **out, const struct option_value *values,
    const struct study_trial *trial, struct err *e)
{
	struct sm_reader r = {
		.s = xcalloc(1, sizeof *r.s),
		.values = values,
		.trial = trial,
		.e = e,
	};

	*out = NULL;
	r.s->checkpoints =
	    plugin_option_get(r.values, "checkpoints")->number != 0;
	r.s->declared = r.s->checkpoints &&
			plugin_option_get(r.values, "checkpoints")->given;
	if (read_names(&r) == -1 || sm_machines_read(&r) == -1 ||
	    sm_algorithms_read(&r) == -1 || read_s3(&r) == -1 ||
	    read_code(&r) == -1 || read_run(&r) == -1 || read_spot(&r) == -1 ||
	    sm_algorithms_check_spot(&r) == -1 || sm_inputs_read(&r) == -1 ||
	    sm_distribution_read(&r) == -1 || read_extra(&r) == -1 ||
	    read_alarm(&r) == -1) {
		sm_settings_free(r.s);
		return -1;
	}
	sm_settings_read_rest(&r);
	*out = r.s;
	return 0;
}

static void
lists_free(struct sm_settings *s)
{
	size_t i;

	for (i = 0; i < s->n_types; i++)
		free(s->types[i].name);
	for (i = 0; i < s->n_groups; i++) {
		free(s->groups[i].name);
		free(s->groups[i].type.name);
	}
	for (i = 0; i < s->n_inputs; i++) {
		free(s->inputs[i].channel);
		free(s->inputs[i].s3);
	}
	for (i = 0; i < s->n_tags; i++) {
		free(s->tags[i].name);
		free(s->tags[i].value);
	}
	strv_free(s->subnets);
	strv_free(s->security_groups);
	free(s->types);
	free(s->groups);
	free(s->inputs);
	free(s->tags);
}

void
sm_settings_free(struct sm_settings *s)
{
	if (s == NULL)
		return;
	lists_free(s);
	sm_algorithms_free(s);
	free(s->region);
	free(s->profile);
	free(s->role);
	free(s->image);
	free(s->bucket);
	free(s->prefix);
	free(s->code);
	free(s->code_as);
	free(s->cwd);
	free(s->input_mode);
	free(s->kms_key);
	free(s);
}
