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

/* ---- machines ----------------------------------------------------------- */

/*
 * Instance types in order, groups of a heterogeneous cluster, and the price
 * table.
 */

enum {
	TYPE_NAME_MAX = 63, /* characters */
	TYPES_MAX = 32,
	GROUPS_MAX = 5, /* AWS's */
	GROUP_NAME_MAX = 64, /* AWS's */
	COUNT_MAX = 10000,
	PRICE_MAX = 100000 /* dollars an hour of one instance */
};

/* ml.FAMILY.SIZE */
static bool
type_good(const char *s)
{
	size_t family, size, i;

	if (strncmp(s, "ml.", 3) != 0 || strlen(s) > TYPE_NAME_MAX)
		return false;
	s += 3;
	family = strcspn(s, ".");
	if (family == 0 || s[family] == '\0')
		return false;
	size = strlen(s + family + 1);
	for (i = 0; i < family + 1 + size; i++)
		if (i != family && !islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) && s[i] != '-')
			return false;
	return size > 0;
}

/* "g5.xlarge" is what EC2 calls it. */
static int
type_err(const struct json *j, const char *name, struct err *e)
{
	char *full = xasprintf("ml.%s", name);
	int rc;

	if (type_good(full))
		rc = json_err(j, e,
		    "expected an instance type of SageMaker; did you mean "
		    "\"%s\"?",
		    full);
	else
		rc = json_err(
		    j, e, "expected an instance type like \"ml.g5.xlarge\"");
	free(full);
	return rc;
}

static int
type_add(struct sm_reader *r, const struct json *j, char *name)
{
	struct sm_settings *s = r->s;
	size_t i;
	int rc;

	if (!type_good(name)) {
		rc = type_err(j, name, r->e);
		free(name);
		return rc;
	}
	s->types[s->n_types++] = (struct sm_type){ .name = name, .price = NAN };
	for (i = 0; i + 1 < s->n_types; i++)
		if (strcmp(s->types[i].name, name) == 0)
			return json_err(
			    j, r->e, "%s is twice in the list", name);
	return 0;
}

/* The option's text has its words joined by commas. */
static int
read_types(struct sm_reader *r)
{
	const struct option_value *v =
	    plugin_option_get(r->values, "instance_type");
	const struct json *j = v->json;
	const char *p = v->text;
	size_t n;

	r->s->types = xcalloc(TYPES_MAX, sizeof *r->s->types);
	if (json_type(j) == JSON_ARRAY)
		j = json_first(j);
	for (;;) {
		if (r->s->n_types == TYPES_MAX)
			return json_err(v->json, r->e,
			    "expected at most %d instance types", TYPES_MAX);
		n = strcspn(p, ",");
		if (type_add(r, j, xstrndup(p, n)) == -1)
			return -1;
		if (p[n] == '\0')
			return 0;
		p += n + 1;
		if (json_type(v->json) == JSON_ARRAY)
			j = json_next(j);
	}
}

static int
group_check_name(
    struct sm_reader *r, const struct sm_group *g, const struct json *j)
{
	size_t i, n = strlen(g->name);

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)g->name[i]) && g->name[i] != '-' &&
		    g->name[i] != '_')
			break;
	if (n == 0 || n > GROUP_NAME_MAX || i < n)
		return json_err(j, r->e,
		    "expected a name of at most 64 letters, digits, - and _");
	for (i = 0; &r->s->groups[i] != g; i++)
		if (strcmp(r->s->groups[i].name, g->name) == 0)
			return json_err(j, r->e, "duplicate group name");
	return 0;
}

static int
read_group(struct sm_reader *r, const struct json *block)
{
	static const char *const keys[] = { "name", "instance_type", "count",
		NULL };
	struct sm_group *g = &r->s->groups[r->s->n_groups];
	const struct json *name, *type, *count = json_get(block, "count");
	const char *text;
	int64_t n = 1;

	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0 ||
	    (name = json_need(block, "name", r->e)) == NULL ||
	    (type = json_need(block, "instance_type", r->e)) == NULL ||
	    json_read_string(name, &text, r->e) != 0)
		return -1;
	*g = (struct sm_group){ .name = xstrdup(text), .type.price = NAN };
	r->s->n_groups++;
	if (group_check_name(r, g, name) == -1 ||
	    json_read_string(type, &text, r->e) != 0)
		return -1;
	if (!type_good(text))
		return type_err(type, text, r->e);
	g->type.name = xstrdup(text);
	if (count != NULL &&
	    json_read_integer(count, 1, COUNT_MAX, &n, r->e) != 0)
		return -1;
	g->count = (int)n;
	r->s->count += g->count;
	return 0;
}

static int
read_groups(struct sm_reader *r, const struct json *list)
{
	const struct json *j;

	if (json_want(list, JSON_ARRAY, r->e) != 0)
		return -1;
	if (json_count(list) < 1 || json_count(list) > GROUPS_MAX)
		return json_err(
		    list, r->e, "expected 1 to %d groups", GROUPS_MAX);
	if (sm_options_json(r, "instance_type") != NULL)
		return json_err(sm_options_json(r, "instance_type"), r->e,
		    "groups have their own types: expected one of them");
	if (sm_options_json(r, "instance_count") != NULL)
		return json_err(sm_options_json(r, "instance_count"), r->e,
		    "groups have their own counts: expected one of them");
	if (plugin_option_get(r->values, "keep_alive")->number > 0)
		return json_err(sm_options_json(r, "keep_alive"), r->e,
		    "warm pools do not go with groups: expected 0");
	r->s->count = 0;
	r->s->groups = xcalloc(GROUPS_MAX, sizeof *r->s->groups);
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (read_group(r, j) == -1)
			return -1;
	return 0;
}

static bool
price_set(struct sm_settings *s, const char *name, double price)
{
	bool found = false;
	size_t i;

	for (i = 0; i < s->n_types; i++)
		if (strcmp(s->types[i].name, name) == 0) {
			s->types[i].price = price;
			found = true;
		}
	for (i = 0; i < s->n_groups; i++)
		if (strcmp(s->groups[i].type.name, name) == 0) {
			s->groups[i].type.price = price;
			found = true;
		}
	return found;
}

/* A price that no attempt can have is a slip of the pen. */
static int
price_err(struct sm_reader *r, const struct json *j)
{
	const char *names[TYPES_MAX + GROUPS_MAX + 1] = { NULL };
	struct buf hint = { 0 };
	size_t i, n = 0;

	for (i = 0; i < r->s->n_types; i++)
		names[n++] = r->s->types[i].name;
	for (i = 0; i < r->s->n_groups; i++)
		names[n++] = r->s->groups[i].type.name;
	json_put_hint(&hint, json_key(j), names);
	json_err_key(
	    j, r->e, "the study uses no such instance type%s", buf_str(&hint));
	buf_free(&hint);
	return -1;
}

static int
read_prices(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "price_per_hour");
	double price;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	for (j = json_first(block); j != NULL; j = json_next(j)) {
		if (json_read_number(j, 0, PRICE_MAX, &price, r->e) != 0)
			return -1;
		if (!price_set(r->s, json_key(j), price))
			return price_err(r, j);
	}
	return 0;
}

static int
machines_read(struct sm_reader *r)
{
	const struct json *groups = sm_options_json(r, "groups");

	r->s->count =
	    (int)plugin_option_get(r->values, "instance_count")->number;
	if (groups != NULL) {
		if (read_groups(r, groups) == -1)
			return -1;
	} else if (!plugin_option_get(r->values, "instance_type")->given) {
		return json_err(sm_options_where(r, "instance_type"), r->e,
		    "the sagemaker backend also needs \"instance_type\": one "
		    "like \"ml.g5.xlarge\", or a list of them");
	} else if (read_types(r) == -1) {
		return -1;
	}
	return read_prices(r);
}

/* ---- the block ---------------------------------------------------------- */

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
want(const struct sm_reader *r, const char *name, const char *form)
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
region_good(const char *s)
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

/* Whether it is "s3://BUCKET/PREFIX". */
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
		return want(r, "kms_key",
		    "a key's id or ARN, or \"alias/NAME\" or its ARN");
	if (s->region != NULL && !region_good(s->region))
		return want(r, "region", "a region like \"eu-west-1\"");
	if (s->profile != NULL && *s->profile == '\0')
		return want(r, "profile", "the name of a profile");
	if (s->role == NULL || !role_good(s->role))
		return want(r, "role",
		    "the ARN of a role like "
		    "\"arn:aws:iam::123456789012:role/NAME\"");
	if (s->image == NULL && sm_options_json(r, "algorithms") != NULL)
		return 0;
	if (s->image == NULL || !image_good(s->image))
		return want(
		    r, "image", "the name of an image, at most 255 characters");
	return 0;
}

/* Of "s3://BUCKET/PREFIX/" the two, without slashes at the ends. */
static int
read_s3(struct sm_reader *r)
{
	const char *uri = plugin_option_get(r->values, "s3")->text, *prefix;
	size_t n;

	if (uri == NULL || !s3_valid(uri))
		return want(r, "s3", "a URI like \"s3://BUCKET/PREFIX/\"");
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
topic_good(const char *s)
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
	if (j != NULL && !topic_good(text))
		return json_err(j, r->e, "expected the ARN of a topic");
	r->s->alarm = block;
	return 0;
}

static void
read_rest(struct sm_reader *r)
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
	if (read_names(&r) == -1 || machines_read(&r) == -1 ||
	    sm_algorithms_read(&r) == -1 || read_s3(&r) == -1 ||
	    read_code(&r) == -1 || read_run(&r) == -1 || read_spot(&r) == -1 ||
	    sm_algorithms_check_spot(&r) == -1 || sm_inputs_read(&r) == -1 ||
	    sm_distribution_read(&r) == -1 || read_extra(&r) == -1 ||
	    read_alarm(&r) == -1) {
		sm_settings_free(r.s);
		return -1;
	}
	read_rest(&r);
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
