/* Profile, region and endpoints from variables and shared files. */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-endpoint.h"
#include "trials/aws/config/aws-ini.h"

/* The environment of one case: names and values. */
static const char *vars[32];
static char home[] = "/tmp/hpotune-aws.XXXXXX";

static const char *
look(const char *name)
{
	size_t i;

	if (strcmp(name, "HOME") == 0)
		return home;
	for (i = 0; vars[i] != NULL; i += 2)
		if (strcmp(vars[i], name) == 0)
			return vars[i + 1];
	return NULL;
}

/* Set the environment to these names and values; NULL ends them. */
static void
set(const char *name, ...)
{
	va_list ap;
	size_t n = 0;

	va_start(ap, name);
	for (; name != NULL; name = va_arg(ap, const char *))
		vars[n++] = name;
	va_end(ap);
	vars[n] = NULL;
}

static void
put_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/.aws/%s", home, name);
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	free(path);
}

static const char config_text[] =
    "# a comment\n"
    "[default]\n"
    "region = eu-central-1\n"
    "[profile work]\n"
    "region=eu-west-1\n"
    "Endpoint_URL : http://127.0.0.1:4566/base/\n"
    "s3 =\n"
    "  addressing_style = path\n"
    "\n"
    "  # between\n"
    "  use_x=1\n"
    "role_arn = arn:aws:iam::1:role/x ; no comment\n"
    "[profile \"two words\"]\n"
    "region = us-east-2\n"
    "[profile sv]\n"
    "region = us-west-2\n"
    "services = near\n"
    "ca_bundle = /x.pem\n"
    "[profile none]\n"
    "services = absent\n"
    "[services near]\n"
    "sagemaker =\n"
    "  endpoint_url = https://sm.example:8443\n"
    "cloudwatch_logs =\n"
    "  endpoint_url = http://logs.example\n"
    "[sso-session corp]\n"
    "sso_region = us-east-1\n"
    "[work]\n"
    "region = not-this-one\n";

static const char credentials_text[] = "[default]\n"
				       "aws_access_key_id = DEFAULT\n"
				       "[work]\n"
				       "aws_access_key_id=WORK\n"
				       "region = eu-north-1\n"
				       "[only-here]\n"
				       "aws_access_key_id = HERE\n";

static void
test_ini(void)
{
	struct aws_ini *ini;
	struct err e = ERR_INIT;

	if (!ok(aws_ini_parse(
		    &ini, config_text, sizeof config_text - 1, "f", &e) == 0,
		"a file is read"))
		return;
	is_str(aws_ini_get(ini, "profile", "work", "endpoint_url", NULL),
	    "http://127.0.0.1:4566/base/", "keys without their case, and :");
	is_str(
	    aws_ini_get(ini, "profile", "work", "s3", "use_x"), "1", "nested");
	is_str(aws_ini_get(ini, "profile", "work", "s3", NULL), NULL,
	    "a key with nested ones has no value");
	is_str(aws_ini_get(ini, "profile", "work", "role_arn", NULL),
	    "arn:aws:iam::1:role/x ; no comment", "no comment inside a value");
	is_str(aws_ini_get(ini, "profile", "two words", "region", NULL),
	    "us-east-2", "a name in quotes");
	ok(!aws_ini_has(ini, "profile", "near"), "a service is no profile");
	ok(aws_ini_has(ini, "sso-session", "corp"), "an SSO session");
	aws_ini_free(ini);
}

static void
test_ini_wrong(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "key = 1\n", "f:1: a key before the first section" },
		{ "[a]\nsecret\n", "f:2: neither a section nor key = value" },
		{ "[a]\n= x\n", "f:2: neither a section nor key = value" },
		{ "\n[a\n", "f:2: a section is written [name]" },
		{ "[]\n", "f:1: a section is written [name]" },
		{ "[a]\nk =\n  secret\n",
		    "f:2: below this key is a line without \"=\"" },
	};
	struct aws_ini *ini;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		e = (struct err)ERR_INIT;
		is_int(aws_ini_parse(
			   &ini, cases[i].text, strlen(cases[i].text), "f", &e),
		    -1, "refused");
		is_str(e.text, cases[i].want, "with its place");
	}
}

static struct aws_config *
opened(const char *profile, const char *region)
{
	struct aws_config *c = NULL;
	struct err e = ERR_INIT;

	if (aws_config_open(&c, look, profile, region, &e) < 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	return c;
}

static void
is_region(
    const char *profile, const char *region, const char *want, const char *what)
{
	struct aws_config *c = opened(profile, region);

	is_str(aws_config_region(c), want, what);
	aws_config_free(c);
}

static void
is_other(const char *want, const char *what)
{
	struct aws_config *c = opened("sv", NULL);

	is_str(aws_config_region_other(c), want, what);
	aws_config_free(c);
}

static void
test_region(void)
{
	set(NULL);
	is_region(NULL, NULL, "eu-central-1", "the default profile's");
	is_region("two words", NULL, "us-east-2", "a named profile's");
	is_region("work", NULL, "eu-north-1", "the credentials file's first");
	is_region("only-here", NULL, NULL, "no source has it");
	set("AWS_PROFILE", "sv", NULL);
	is_region(NULL, NULL, "us-west-2", "AWS_PROFILE's");
	set("AWS_PROFILE", "sv", "AWS_DEFAULT_PROFILE", "work", NULL);
	is_region(NULL, NULL, "eu-north-1", "AWS_DEFAULT_PROFILE's first");
	set("AWS_DEFAULT_REGION", "r2", NULL);
	is_region("sv", NULL, "r2", "AWS_DEFAULT_REGION");
	set("AWS_DEFAULT_REGION", "r2", "AWS_REGION", "r1", NULL);
	is_region("sv", NULL, "r1", "AWS_REGION");
	is_other("r2", "the one that does not count is known");
	is_region("sv", "r0", "r0", "the value of study.json");
	set("AWS_DEFAULT_REGION", "r1", "AWS_REGION", "r1", NULL);
	is_other(NULL, "no other one where both say the same");
	set("AWS_REGION", "r1", NULL);
	is_other(NULL, "no other region where only one variable is set");
	set("AWS_REGION", "", NULL);
	is_region("sv", NULL, "us-west-2", "an empty variable is ignored");
}

static void
test_profile(void)
{
	struct aws_config *c;
	struct err e = ERR_INIT;

	set(NULL);
	is_int(aws_config_open(&c, look, "absent", NULL, &e), -1,
	    "a profile that is not there");
	ok(strncmp(e.text, "no AWS profile \"absent\" in /tmp/", 32) == 0,
	    "is named");
	c = opened("work", NULL);
	ok(aws_config_profile_named(c), "named here");
	is_str(aws_config_get(c, "work", "aws_access_key_id"), "WORK",
	    "a key of the credentials file");
	is_str(aws_config_get_in(c, AWS_FILE_CONFIG, "work", "region"),
	    "eu-west-1", "one file alone; [work] is no profile there");
	aws_config_free(c);
	set("AWS_PROFILE", "work", "AWS_CA_BUNDLE", "/y.pem", NULL);
	c = opened(NULL, NULL);
	ok(!aws_config_profile_named(c), "named by a variable is not named");
	is_str(aws_config_profile(c), "work",
	    "the profile of the variable is used");
	is_str(aws_config_ca_bundle(c), "/y.pem", "certificates: variable");
	aws_config_free(c);
	set("AWS_PROFILE", "sv", NULL);
	c = opened(NULL, NULL);
	is_str(aws_config_ca_bundle(c), "/x.pem", "certificates: file");
	aws_config_free(c);
	set("AWS_CONFIG_FILE", "~/absent", "AWS_SHARED_CREDENTIALS_FILE",
	    "/dev/null/x", NULL);
	c = opened(NULL, NULL);
	is_str(aws_config_profile(c), "default", "no files, no profile");
	is_str(aws_config_region(c), NULL, "no region");
	aws_config_free(c);
}

static void
is_url(const char *profile, const char *region, enum aws_service s,
    const char *want)
{
	struct aws_config *c = opened(profile, region);
	struct aws_endpoint p;
	struct err e = ERR_INIT;

	if (aws_endpoint_resolve(c, s, &p, &e) < 0)
		is_str(e.text, want, want);
	else
		is_str(p.url, want, want);
	aws_endpoint_fini(&p);
	aws_config_free(c);
}

static void
test_endpoint_hosts(void)
{
	set(NULL);
	is_url(NULL, "eu-west-1", AWS_SAGEMAKER,
	    "https://api.sagemaker.eu-west-1.amazonaws.com");
	is_url(NULL, "eu-west-1", AWS_CLOUDWATCH,
	    "https://monitoring.eu-west-1.amazonaws.com");
	is_url(NULL, "cn-north-1", AWS_S3,
	    "https://s3.cn-north-1.amazonaws.com.cn");
	is_url("only-here", NULL, AWS_STS,
	    "no AWS region: set backend.region, AWS_REGION or the region of "
	    "the profile");
	is_url(NULL, "evil.example/", AWS_STS,
	    "\"evil.example/\" is no AWS region");
	set("AWS_USE_FIPS_ENDPOINT", "True", NULL);
	is_url(NULL, "us-gov-west-1", AWS_LOGS,
	    "https://logs.us-gov-west-1.amazonaws.com");
	is_url(NULL, "us-east-1", AWS_SAGEMAKER,
	    "https://api-fips.sagemaker.us-east-1.amazonaws.com");
	is_url(NULL, "cn-north-1", AWS_S3,
	    "S3 has no FIPS endpoints in cn-north-1");
	set("AWS_USE_DUALSTACK_ENDPOINT", "true", NULL);
	is_url(NULL, "us-east-1", AWS_SQS, "https://sqs.us-east-1.api.aws");
	is_url(NULL, "us-isof-south-1", AWS_SQS,
	    "https://sqs.us-isof-south-1.api.aws.hci.ic.gov");
}

#define BAD_ENDPOINT \
	"an AWS endpoint is written https://host or https://host:port, not "

static void
test_endpoint_named(void)
{
	static const char *const bad[] = { "garbage", "//host", "https://",
		"https://a b", "http://[::", "http://[::1]x",
		"https://host:", "https://host:abc", "http://127.0.0.1:99999",
		"https://:80" };
	char want[160];
	size_t i;

	set(NULL);
	is_url("work", NULL, AWS_S3, "http://127.0.0.1:4566/base");
	is_url("sv", NULL, AWS_SAGEMAKER, "https://sm.example:8443");
	is_url("sv", NULL, AWS_LOGS, "http://logs.example");
	is_url("sv", NULL, AWS_SQS, "https://sqs.us-west-2.amazonaws.com");
	set("AWS_ENDPOINT_URL", "http://all:80/", NULL);
	is_url("sv", NULL, AWS_SAGEMAKER, "http://all");
	set("AWS_ENDPOINT_URL", "http://all", "AWS_ENDPOINT_URL_EVENTBRIDGE",
	    "https://ev:443", NULL);
	is_url("work", NULL, AWS_EVENTS, "https://ev");
	set("AWS_ENDPOINT_URL", "http://all",
	    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", NULL);
	is_url("work", "eu-west-1", AWS_SQS,
	    "https://sqs.eu-west-1.amazonaws.com");
	set("AWS_ENDPOINT_URL", "http://all", NULL);
	is_url(NULL, "Region_One", AWS_SQS, "http://all");
	is_url(NULL, "a b", AWS_SQS, "\"a b\" is no AWS region");
	set("AWS_ENDPOINT_URL", "ftp://all", NULL);
	is_url(NULL, NULL, AWS_SQS, BAD_ENDPOINT "\"ftp://all\"");
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		set("AWS_ENDPOINT_URL", bad[i], NULL);
		(void)snprintf(
		    want, sizeof want, BAD_ENDPOINT "\"%s\"", bad[i]);
		is_url(NULL, NULL, AWS_SQS, want);
	}
	set("AWS_ENDPOINT_URL", "http://[::1]:4566", NULL);
	is_url(NULL, NULL, AWS_SQS, "http://[::1]:4566");
	set("AWS_ENDPOINT_URL", "https://me:secret@all", NULL);
	is_url(NULL, NULL, AWS_SQS, BAD_ENDPOINT "\"…@…\"");
}

static void
test_endpoint_parts(void)
{
	struct aws_config *c;
	struct aws_endpoint p;
	struct err e = ERR_INIT;

	set(NULL);
	c = opened("work", NULL);
	ok(aws_endpoint_resolve(c, AWS_S3, &p, &e) == 0 && p.custom && p.plain,
	    "named by the user, without TLS");
	is_str(p.host, "127.0.0.1:4566", "a host with its port");
	is_str(p.path, "/base", "a path without its last slash");
	aws_endpoint_fini(&p);
	aws_config_set_region(c, "us-east-1");
	is_str(aws_config_region(c), "us-east-1", "a region found elsewhere");
	aws_config_free(c);
	c = opened("none", "us-east-1");
	is_int(aws_endpoint_resolve(c, AWS_S3, &p, &e), -1,
	    "services that are not there");
	ok(strstr(e.text, "\"none\" names services \"absent\"") != NULL,
	    "are named");
	aws_config_free(c);
	is_str(aws_endpoint_scope(AWS_CLOUDWATCH), "monitoring", "a scope");
	is_str(
	    aws_endpoint_service_name(AWS_LOGS), "CloudWatch Logs", "a name");
}

int
main(void)
{
	char *folder;

	if (mkdtemp(home) == NULL)
		return 99;
	folder = xasprintf("%s/.aws", home);
	if (mkdir(folder, 0700) < 0)
		return 99;
	put_file("config", config_text);
	put_file("credentials", credentials_text);
	test_ini();
	test_ini_wrong();
	test_region();
	test_profile();
	test_endpoint_hosts();
	test_endpoint_named();
	test_endpoint_parts();
	free(folder);
	folder = xasprintf("rm -rf %s", home);
	if (system(folder) != 0)
		printf("# %s stays\n", home);
	free(folder);
	return done_testing();
}
