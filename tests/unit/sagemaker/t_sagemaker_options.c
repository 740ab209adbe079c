/* The sagemaker backend block: its settings, and every error. */

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/sagemaker-wrong.h"
#include "tests/support/tap.h"
#include "trials/sagemaker/request/sm-request.h"

#define ROLE "\"role\": \"arn:aws:iam::123456789012:role/Trial\""
#define IMAGE "\"image\": \"1.dkr.ecr.eu-west-1.amazonaws.com/train:1\""

static char dir[] = "/tmp/hpotune-test.XXXXXX";
static const char *const base[] = { ROLE, IMAGE,
	"\"instance_type\": \"ml.g5.xlarge\"",
	"\"s3\": \"s3://bucket/hpotune/\"", NULL };

/* Whether text has the key at its top, be it in a comment. */
static bool
has_key(const char *text, const char *key)
{
	int depth = 0;

	for (; *text != '\0'; text++) {
		depth += *text == '{' || *text == '[';
		depth -= *text == '}' || *text == ']';
		if (depth == 0 && strncmp(text, key, strlen(key)) == 0)
			return true;
	}
	return false;
}

/* A study whose block is text and the needed members that text has not. */
static char *
study_text(const char *text, const char *trial)
{
	struct buf b = { 0 };
	char *key;
	size_t i;

	buf_puts(&b,
	    "{\"study\":\"s\",\"objective\":{\"metric\":\"loss\",\"goal\":"
	    "\"minimize\"},\"parameters\":{\"lr\":{\"type\":\"float\","
	    "\"min\":0,\"max\":1}},\"limits\":{\"trials\":1},\n\"trial\":{");
	if (trial == NULL || strstr(trial, "\"command\"") == NULL)
		buf_puts(&b, "\"command\":[\"./train\",\"{params}\"]");
	if (trial != NULL)
		buf_printf(&b, "%s%s",
		    strstr(trial, "\"command\"") == NULL ? "," : "", trial);
	buf_puts(&b, "},\n\"backend\":{\"name\":\"sagemaker\"");
	for (i = 0; base[i] != NULL; i++) {
		key = xstrndup(base[i], strcspn(base[i], ":"));
		if (!has_key(text, key))
			buf_printf(&b, ",%s", base[i]);
		free(key);
	}
	if (*text != '\0')
		buf_printf(&b, ",%s", text);
	buf_puts(&b, "}}");
	return buf_take(&b);
}

struct reading {
	struct study *study;
	struct option_value *values;
	struct sm_settings *s;
	struct err e;
};

static bool
reading_open(struct reading *r, const char *text, const char *trial)
{
	static const char *const except[] = { "name", NULL };
	char *json = study_text(text, trial);
	char *path = xasprintf("%s/study.json", dir);

	*r = (struct reading){ .e = ERR_INIT };
	if (study_parse(&r->study, json, strlen(json), path, &r->e) == 0 &&
	    plugin_options_read(&r->values, sm_options,
		r->study->backends[0].block, except, &r->e) == 0)
		(void)sm_settings_read(
		    &r->s, r->values, &r->study->trial, &r->e);
	free(path);
	free(json);
	return r->s != NULL;
}

static void
reading_close(struct reading *r)
{
	sm_settings_free(r->s);
	plugin_options_free(r->values);
	if (r->study != NULL)
		study_free(r->study);
}

static void
test_wrong(void)
{
	struct reading r;
	size_t i;
	bool good;

	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		good = !reading_open(&r, wrong[i].text, wrong[i].trial) &&
		       strstr(r.e.text, wrong[i].want) != NULL &&
		       strstr(r.e.text, "study.json:") != NULL &&
		       r.e.kind == ERR_USAGE;
		if (!ok(good, "%s is refused: %s", wrong[i].text,
			wrong[i].want))
			printf("# %s\n", r.e.text);
		reading_close(&r);
	}
}

/* What is wrong only with groups, which leave no instance_type to give. */
static void
test_wrong_groups(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "\"keep_alive\": 60, \"groups\": [{\"name\": \"a\", "
		  "\"instance_type\": \"ml.g5.xlarge\"}]",
		    "backend.keep_alive: warm pools do not go with groups" },
		{ "\"groups\": [{\"name\": \"a\"}]",
		    "backend.groups[0]: the key" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": \"big\"}]",
		    "groups[0].instance_type: expected an instance type" },
		{ "\"groups\": [{\"name\": \"\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}]",
		    "groups[0].name: expected a name" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}, {\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}]",
		    "groups[1].name: duplicate group name" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\", \"count\": 0}]",
		    "groups[0].count: expected a whole number" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}, {\"name\": \"b\", \"instance_type\": "
		  "\"ml.c5.xlarge\"}], \"distribution\": {\"launcher\": "
		  "\"torchrun\"}",
		    "differ in devices: expected processes_per_host" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}], \"code\": \".\", \"distribution\": "
		  "{\"launcher\": \"torch-distributed\"}",
		    "does not go with groups: expected mpi or smddp" },
		{ "\"instance_type\": \"ml.g5.xlarge\", \"code\": \".\", "
		  "\"distribution\": {\"launcher\": \"pytorch-ddp\"}",
		    "expected types with several GPUs" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}], \"code\": \".\", \"distribution\": "
		  "{\"launcher\": \"mpi\"}",
		    "expected \"group\", too" },
		{ "\"groups\": [{\"name\": \"a\", \"instance_type\": "
		  "\"ml.g5.xlarge\"}], \"code\": \".\", \"distribution\": "
		  "{\"launcher\": \"mpi\", \"group\": \"b\"}",
		    "distribution.group: expected the name of one of" },
	};
	struct reading r;
	char *text;
	size_t i;
	bool good;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		/* A comment keeps the needed instance_type away. */
		text = xasprintf("/* \"instance_type\" */ %s", rows[i].text);
		good = !reading_open(&r, text, "\"command\": [\"train.py\"]") &&
		       strstr(r.e.text, rows[i].want) != NULL;
		if (!ok(good, "%s is refused: %s", rows[i].text, rows[i].want))
			printf("# %s\n", r.e.text);
		reading_close(&r);
		free(text);
	}
}

/* Each of the needed ones, left out. */
static void
test_needed(void)
{
	static const char *const keys[] = { "role", "image", "instance_type",
		"s3" };
	struct reading r;
	char *text, *want;
	size_t i;

	for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		text = xasprintf("/* \"%s\" */ \"volume\": 1e9", keys[i]);
		want = xasprintf("also needs \"%s\": ", keys[i]);
		if (!ok(!reading_open(&r, text, NULL) &&
			    strstr(r.e.text, want) != NULL &&
			    strstr(r.e.text, "study.json:3:") != NULL,
			"without %s", keys[i]))
			printf("# %s\n", r.e.text);
		reading_close(&r);
		free(want);
		free(text);
	}
}

static void
test_too_many(void)
{
	struct buf inputs = { 0 }, tags = { 0 }, image = { 0 };
	struct reading r;
	int i;

	buf_puts(&inputs, "\"inputs\":{");
	buf_puts(&tags, "\"tags\":{");
	for (i = 0; i < 20; i++)
		buf_printf(&inputs, "%s\"c%d\":\"s3://bucket/x\"",
		    i > 0 ? "," : "", i);
	for (i = 0; i < 47; i++)
		buf_printf(&tags, "%s\"t%d\":\"x\"", i > 0 ? "," : "", i);
	buf_puts(&inputs, "}");
	buf_puts(&tags, "}");
	buf_puts(&image, "\"image\":\"");
	for (i = 0; i < 256; i++)
		buf_putc(&image, 'x');
	buf_puts(&image, "\"");
	ok(!reading_open(&r, buf_str(&inputs), NULL) &&
		strstr(r.e.text, "expected at most 19 channels") != NULL,
	    "20 channels and ours are too many");
	reading_close(&r);
	ok(!reading_open(&r, buf_str(&tags), NULL) &&
		strstr(r.e.text, "expected at most 46 tags") != NULL,
	    "47 tags and ours are too many");
	reading_close(&r);
	ok(!reading_open(&r, buf_str(&image), NULL) &&
		strstr(r.e.text, "backend.image: expected") != NULL,
	    "an image of 256 characters");
	reading_close(&r);
	buf_free(&inputs);
	buf_free(&tags);
	buf_free(&image);
}

/* What SageMaker reads by itself may stand in any form that it takes. */
static void
test_uris(void)
{
	static const char *const good[] = { "s3://bucket/a b/c d",
		"s3://an-alias-123-s3alias/x/",
		"s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/point/a b",
		"https://bucket.s3.eu-west-1.amazonaws.com/data/",
		"https://s3.eu-west-1.amazonaws.com/bucket/data/" };
	static const char *const bad[] = { "s3://arn:aws:s3:x:1:other/point",
		"s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/",
		"https://bucket.s3.amazonaws.com", "https:///bucket",
		"http://bucket.s3.amazonaws.com/x", "s3://Bucket_/x" };
	struct reading r;
	char *text;
	size_t i;

	for (i = 0; i < sizeof good / sizeof good[0]; i++) {
		text = xasprintf("\"inputs\": { \"train\": \"%s\" }", good[i]);
		ok(reading_open(&r, text, NULL), "an input %s", good[i]);
		reading_close(&r);
		free(text);
	}
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		text = xasprintf("\"inputs\": { \"train\": \"%s\" }", bad[i]);
		ok(!reading_open(&r, text, NULL), "no input %s", bad[i]);
		reading_close(&r);
		free(text);
	}
}

/* A share of the batch must mean the same on every machine. */
static void
test_batch(void)
{
	struct reading r;

	reading_open(&r,
	    "\"instance_type\": [\"ml.g5.xlarge\", \"ml.g5.12xlarge\"], "
	    "\"distribution\": {\"launcher\": \"torchrun\"}",
	    NULL);
	ok(r.s != NULL, "without a batch types may differ in devices");
	r.study->trial.batch_global = 512;
	sm_settings_free(r.s);
	ok(sm_settings_read(&r.s, r.values, &r.study->trial, &r.e) == -1 &&
		strstr(r.e.text, "differ in devices") != NULL,
	    "with one they may not");
	reading_close(&r);
	reading_open(&r,
	    "\"instance_type\": \"ml.g99.xlarge\", \"distribution\": "
	    "{\"launcher\": \"torchrun\"}",
	    NULL);
	r.study->trial.batch_global = 512;
	sm_settings_free(r.s);
	ok(sm_settings_read(&r.s, r.values, &r.study->trial, &r.e) == -1 &&
		strstr(r.e.text, "is unknown") != NULL,
	    "an instance type of unknown devices is an error");
	reading_close(&r);
}

static void
test_defaults(void)
{
	struct reading r;
	struct sm_settings *s;

	if (!ok(reading_open(&r, "", NULL), "the least block"))
		printf("# %s\n", r.e.text);
	s = r.s;
	if (s == NULL)
		return;
	is_str(s->bucket, "bucket", "bucket");
	is_str(s->prefix, "hpotune", "prefix");
	is_int(s->max_run_s, 86400, "a day");
	is_int(s->max_wait_s, 0, "no wait without spot");
	is_int(s->volume_gb, 30, "30 GiB");
	is_int(s->count, 1, "one instance");
	is_int(s->launcher, SM_NONE, "no launcher");
	ok(s->checkpoints && !s->spot, "checkpoints, no spot");
	ok(isnan(s->types[0].price), "no price");
	ok(s->region == NULL && s->code == NULL, "no region, no code");
	is_str(s->input_mode, "File", "File mode");
	is_int(s->parallel, 0, "limits.parallel states how many");
	reading_close(&r);
}

static void
test_full(void)
{
	struct reading r;
	struct sm_settings *s;

	if (!ok(reading_open(&r,
		    "\"region\": \"eu-west-1\", \"instance_type\": "
		    "[\"ml.g5.xlarge\", \"ml.g4dn.xlarge\"], "
		    "\"instance_count\": 2, \"volume\": \"50GiB\", "
		    "\"spot\": true, \"max_run\": \"2h\", \"max_wait\": "
		    "\"4h\", \"on_demand_after\": 2, \"code\": \"src/\", "
		    "\"kms_key\": \"alias/key\", "
		    "\"inputs\": { \"train\": \"s3://bucket/data/\" }, "
		    "\"distribution\": { \"launcher\": \"torchrun\", "
		    "\"processes_per_host\": 8 }, \"price_per_hour\": { "
		    "\"ml.g5.xlarge\": 1.408 }, \"tags\": {}, \"vpc\": {}, "
		    "\"keep_alive\": 0",
		    NULL),
		"the block of the interface"))
		printf("# %s\n", r.e.text);
	s = r.s;
	if (s == NULL)
		return;
	is_int((long long)s->n_types, 2, "two types");
	is_near(s->types[0].price, 1.408, 0, "the price of the first");
	ok(isnan(s->types[1].price), "the second has none");
	is_int(s->max_wait_s, 14400, "max_wait");
	is_int(s->max_run_s, 7200, "max_run");
	is_int(s->per_host, 8, "processes");
	is_int(sm_plan_replicas(s), 16, "replicas");
	is_str(s->code_as, "src", "src below the working folder");
	ok(s->cwd == NULL, "which is the top");
	is_str(s->inputs[0].s3, "s3://bucket/data/", "an input");
	is_str(s->kms_key, "alias/key", "a key");
	reading_close(&r);
	ok(reading_open(&r, "\"code\": \".\"", "\"workdir\": \"src\""),
	    "a working folder in the code");
	is_str(r.s->cwd, "src", "it is entered");
	reading_close(&r);
	ok(reading_open(&r, "\"spot\": true", "\"max_run\": \"30m\"") &&
		r.s->max_run_s == 1800 && r.s->max_wait_s == 1800 + 3600,
	    "trial.max_run, and an hour to wait at least");
	reading_close(&r);
	ok(reading_open(&r, "\"spot\": true, \"max_run\": \"5h\"", NULL) &&
		r.s->max_wait_s == 36000,
	    "or as long as it runs");
	reading_close(&r);
	ok(reading_open(&r,
	       "\"spot\": true, \"checkpoints\": false, \"force_spot\": true",
	       NULL),
	    "spot without checkpoints when forced");
	reading_close(&r);
}

int
main(void)
{
	char *path, *file;
	FILE *f;

	if (mkdtemp(dir) == NULL)
		return 99;
	path = xasprintf("%s/src", dir);
	file = xasprintf("%s/file", dir);
	if (mkdir(path, 0700) == -1 || (f = fopen(file, "w")) == NULL)
		return 99;
	(void)fclose(f);
	test_defaults();
	test_full();
	test_needed();
	test_wrong();
	test_wrong_groups();
	test_too_many();
	test_uris();
	test_batch();
	(void)rmdir(path);
	(void)unlink(file);
	free(path);
	free(file);
	(void)rmdir(dir);
	return done_testing();
}
