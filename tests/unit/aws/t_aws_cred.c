/* Every source of credentials, and the messages when they fail. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/aws/aws-credentials.h"
#include "tests/support/tap.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"

/* No instance is asked. */
#define ALONE "AWS_EC2_METADATA_DISABLED", "true"
#define KEYS "AWS_ACCESS_KEY_ID", "ENV", "AWS_SECRET_ACCESS_KEY", "HUSH"
#define STS                                                            \
	"AWS_ENDPOINT_URL_STS", "http://127.0.0.1:PORT", "AWS_REGION", \
	    "eu-west-1"
#define SERVICE "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:PORT"
/* One that answers may take long, on a busy machine. */
#define INSTANCE SERVICE, "AWS_METADATA_SERVICE_TIMEOUT", "50"

static const char credentials[] = "[default]\n"
				  "aws_access_key_id = FILE\n"
				  "aws_secret_access_key = HUSH\n"
				  "[half]\n"
				  "aws_access_key_id = HALF\n"
				  "[session]\n"
				  "aws_access_key_id = SESSION\n"
				  "aws_secret_access_key = HUSH\n"
				  "aws_session_token = TOKEN\n"
				  "[odd]\n"
				  "aws_access_key_id = ODD\n"
				  "aws_secret_access_key = HU SH\n";

static const char config[] =
    "[profile conf]\n"
    "aws_access_key_id = CONF\n"
    "aws_secret_access_key = HUSH\n"
    "[profile empty]\n"
    "region = eu-west-1\n"
    "[profile role]\n"
    "role_arn = arn:aws:iam::1:role/one\n"
    "source_profile = session\n"
    "role_session_name = me\n"
    "external_id = a b&c\n"
    "duration_seconds = 900\n"
    "[profile two]\n"
    "role_arn = arn:aws:iam::1:role/two\n"
    "source_profile = role\n"
    "[profile self]\n"
    "role_arn = arn:aws:iam::1:role/self\n"
    "source_profile = self\n"
    "aws_access_key_id = SELF\n"
    "aws_secret_access_key = HUSH\n"
    "[profile loop1]\n"
    "role_arn = arn:aws:iam::1:role/l1\n"
    "source_profile = loop2\n"
    "[profile loop2]\n"
    "role_arn = arn:aws:iam::1:role/l2\n"
    "source_profile = loop1\n"
    "[profile nosource]\n"
    "role_arn = arn:aws:iam::1:role/n\n"
    "[profile both]\n"
    "role_arn = arn:aws:iam::1:role/n\n"
    "source_profile = default\n"
    "credential_source = Environment\n"
    "[profile lost]\n"
    "role_arn = arn:aws:iam::1:role/n\n"
    "source_profile = nobody\n"
    "[profile poor]\n"
    "role_arn = arn:aws:iam::1:role/n\n"
    "source_profile = empty\n"
    "[profile mfa]\n"
    "role_arn = arn:aws:iam::1:role/n\n"
    "source_profile = default\n"
    "mfa_serial = arn:aws:iam::1:mfa/me\n"
    "[profile fromenv]\n"
    "role_arn = arn:aws:iam::1:role/e\n"
    "credential_source = Environment\n"
    "[profile fromtask]\n"
    "role_arn = arn:aws:iam::1:role/t\n"
    "credential_source = EcsContainer\n"
    "[profile frominstance]\n"
    "role_arn = arn:aws:iam::1:role/i\n"
    "credential_source = Ec2InstanceMetadata\n"
    "[profile fromwhere]\n"
    "role_arn = arn:aws:iam::1:role/w\n"
    "credential_source = Moon\n"
    "[profile web]\n"
    "role_arn = arn:aws:iam::1:role/web\n"
    "web_identity_token_file = HOME/token\n"
    "[profile overweb]\n"
    "role_arn = arn:aws:iam::1:role/ow\n"
    "source_profile = web\n"
    "[profile sso]\n"
    "sso_session = corp\n"
    "sso_account_id = 1\n"
    "sso_role_name = r\n"
    "[profile ssoproc]\n"
    "sso_account_id = 1\n"
    "sso_role_name = r\n"
    "credential_process = HOME/good.sh \"two words\" 'x\"y' a\\ b \"\"\n"
    "[profile login]\n"
    "login_session = arn:aws:iam::1:user/me\n"
    "[profile badproc]\n"
    "credential_process = HOME/bad.sh\n"
    "[profile textproc]\n"
    "credential_process = printf HUSH\n"
    "[profile oldproc]\n"
    "credential_process = printf '{\"Version\": 2}'\n"
    "[profile noproc]\n"
    "credential_process = HOME/absent\n"
    "[profile quoteproc]\n"
    "credential_process = x 'y\n";

static void
test_env(struct aws_credentials *g)
{
	struct aws_credentials_answer t;

	cred_rig_env(g, NULL, KEYS, ALONE, NULL);
	is_found(g, "ENV", "environment", "keys of the environment");
	cred_rig_env(g, NULL, KEYS, "AWS_SESSION_TOKEN", "T1", ALONE, NULL);
	t = cred_rig_get(g);
	is_str(t.token, "T1", "the session token of the environment");
	is_str(t.secret, "HUSH", "the secret of the environment");
	cred_rig_env(g, NULL, "AWS_ACCESS_KEY_ID", "ENV", ALONE, NULL);
	is_refused(g, "AWS_SECRET_ACCESS_KEY is not", "half of the keys");
	cred_rig_env(g, NULL, KEYS, "AWS_PROFILE", "session", ALONE, NULL);
	is_found(g, "ENV", "environment", "AWS_PROFILE does not come first");
	cred_rig_env(g, "session", KEYS, ALONE, NULL);
	is_found(g, "SESSION", "profile session (credentials file)",
	    "a profile of study.json does");
	cred_rig_env(g, NULL, KEYS, "AWS_CREDENTIAL_EXPIRATION",
	    "2001-01-01T00:00:00Z", ALONE, NULL);
	is_refused(g, "have expired", "keys that have expired");
}

static void
test_files(struct aws_credentials *g)
{
	cred_rig_env(g, NULL, ALONE, NULL);
	is_found(g, "FILE", "profile default (credentials file)",
	    "the default profile");
	cred_rig_env(g, "conf", ALONE, NULL);
	is_found(
	    g, "CONF", "profile conf (config file)", "keys in the config file");
	cred_rig_env(g, "half", ALONE, NULL);
	is_refused(g,
	    "profile \"half\" has aws_access_key_id without "
	    "aws_secret_access_key",
	    "half of the keys in a file");
	cred_rig_env(g, "odd", ALONE, NULL);
	is_refused(g, "characters that no key has", "a secret with a blank");
	cred_rig_env(g, "empty", ALONE, NULL);
	is_refused(g, "profile \"empty\" has no keys in /tmp/",
	    "nothing anywhere: the profile");
	is_refused(g, "AWS_EC2_METADATA_DISABLED is set",
	    "the error names the instance service, too");
}

static void
test_role(struct aws_credentials *g)
{
	cred_rig_env(g, "role", STS, ALONE, NULL);
	is_found(g, "ROLE1", "role of profile role", "a role");
	is_str(g->form,
	    "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A"
	    "%3A1%3Arole%2Fone&RoleSessionName=me&ExternalId=a%20b%26c&"
	    "DurationSeconds=900",
	    "the form of AssumeRole");
	ok(strncmp(g->auth, "AWS4-HMAC-SHA256 Credential=SESSION/", 36) == 0 &&
		strstr(g->auth, "/eu-west-1/sts/aws4_request") != NULL,
	    "signed with the keys of its source");
	is_str(g->session, "TOKEN", "the request has the token of its source");
	cred_rig_env(g, "two", STS, ALONE, NULL);
	is_found(g, "ROLE2", "role of profile two", "a role by a role");
	ok(strncmp(g->auth, "AWS4-HMAC-SHA256 Credential=ROLE1/", 34) == 0,
	    "signed with the keys of the first");
	ok(strstr(g->form, "&RoleSessionName=hpotune-") != NULL,
	    "the session has a name");
	cred_rig_env(g, "self", STS, ALONE, NULL);
	is_found(g, "ROLE1", "role of profile self",
	    "a profile that is its own source");
	cred_rig_env(g, NULL, "AWS_PROFILE", "role", STS, ALONE, NULL);
	is_found(g, "ROLE1", "role of profile role",
	    "a role profile named by AWS_PROFILE");
}

static void
test_role_sources(struct aws_credentials *g)
{
	cred_rig_env(g, "fromenv", KEYS, STS, ALONE, NULL);
	is_found(g, "ROLE1", "role of profile fromenv",
	    "a role with the keys of the environment");
	cred_rig_env(g, "fromenv", STS, ALONE, NULL);
	is_refused(g, "AWS_ACCESS_KEY_ID is not set",
	    "the environment has no keys for the role");
	cred_rig_env(g, "fromtask", STS, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "http://127.0.0.1:PORT/creds", NULL);
	is_found(g, "ROLE1", "role of profile fromtask",
	    "a role with the keys of a container");
	is_int(g->container, 1, "the container service is queried once");
	cred_rig_env(g, "frominstance", STS, INSTANCE, NULL);
	is_found(g, "ROLE1", "role of profile frominstance",
	    "a role with the keys of an instance");
	is_int(g->tokens, 1, "the instance service is queried once");
	cred_rig_env(g, "overweb", STS, ALONE, NULL);
	is_found(g, "ROLE2", "role of profile overweb", "of a web identity");
}

static void
test_role_wrong(struct aws_credentials *g)
{
	static const struct {
		const char *profile, *want;
	} cases[] = {
		{ "loop1", "\"loop1\" leads back to itself" },
		{ "nosource", "needs a source_profile or a credential_source" },
		{ "both", "one of source_profile and credential_source" },
		{ "lost", "its source_profile \"nobody\" does not exist" },
		{ "poor", "no AWS credentials to assume the role of profile "
			  "\"poor\" with: profile \"empty\" has no keys" },
		{ "mfa", "credential_process = aws configure" },
		{ "fromwhere", "credential_source \"Moon\" is none of" },
	};
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		cred_rig_env(g, cases[i].profile, STS, ALONE, NULL);
		is_refused(g, cases[i].want, cases[i].profile);
		is_int(g->sts, 0, "no request is sent");
	}
	cred_rig_env(g, "role", "AWS_ENDPOINT_URL_STS", "http://127.0.0.1:PORT",
	    ALONE, NULL);
	is_refused(g, "no AWS region is set", "no region to sign for");
}

static void
test_sts(struct aws_credentials *g)
{
	cred_rig_env(g, "role", STS, ALONE, NULL);
	g->bad = 9;
	g->bad_status = 403;
	g->bad_body =
	    "<ErrorResponse><Error><Type>Sender</Type>"
	    "<Code>AccessDenied</Code><Message>not &#x202e; you</Message>"
	    "</Error></ErrorResponse>";
	is_refused(g,
	    "AWS refuses to assume the role arn:aws:iam::1:role/one: "
	    "AccessDenied: not \\x",
	    "denied");
	is_int(g->sts, 1, "is not asked again");
	cred_rig_env(g, "role", STS, ALONE, NULL);
	g->bad = 1;
	g->bad_status = 503;
	is_found(g, "ROLE2", "role of profile role", "a bad moment");
	cred_rig_env(g, "role", STS, ALONE, NULL);
	g->bad = 1;
	g->bad_status = 403;
	g->bad_head = "Date: Sun, 06 Nov 2033 08:49:37 GMT\r\n";
	g->bad_body = "<ErrorResponse><Error><Code>SignatureDoesNotMatch"
		      "</Code><Message>Signature expired: 1 is now earlier"
		      "</Message></Error></ErrorResponse>";
	is_refused(g, "have expired", "by the other side's clock");
	is_int(g->sts, 2, "asked again");
	ok(strstr(g->auth, "/20331106/") != NULL, "dated by their clock");
	cred_rig_env(g, "role", STS, ALONE, NULL);
	g->bad = 1;
	g->bad_status = 200;
	g->bad_body = "<a><b/></a>";
	is_refused(g, "its answer has no keys", "an answer without keys");
}

static void
test_web(struct aws_credentials *g)
{
	cred_rig_put(g, "token", "first\n");
	cred_rig_env(g, NULL, "AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token",
	    "AWS_ROLE_ARN", "arn:w", "AWS_ROLE_SESSION_NAME", "s", STS, ALONE,
	    NULL);
	is_found(g, "WEB1", "web identity", "a web identity");
	is_str(g->form,
	    "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
	    "RoleArn=arn%3Aw&RoleSessionName=s&WebIdentityToken=first",
	    "the form of AssumeRoleWithWebIdentity");
	is_str(g->auth, "", "a request with a web identity is not signed");
	cred_rig_put(g, "token", "second");
	cred_invalidate(g->cred, "WEB1");
	is_found(g, "WEB2", "web identity", "requested again");
	ok(strstr(g->form, "WebIdentityToken=second") != NULL,
	    "with the file as it is now");
	cred_rig_env(g, "web", STS, ALONE, NULL);
	is_found(g, "WEB1", "web identity", "a web identity of a profile");
	cred_rig_env(g, NULL, "AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/absent",
	    "AWS_ROLE_ARN", "arn:w", STS, ALONE, NULL);
	is_refused(
	    g, "/absent: No such file", "a web identity without its file");
	cred_rig_env(g, NULL, "AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token", STS,
	    ALONE, NULL);
	is_refused(
	    g, "a web identity needs a role", "a web identity without a role");
	cred_rig_env(g, "session", "AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token",
	    "AWS_ROLE_ARN", "arn:w", STS, ALONE, NULL);
	is_found(g, "SESSION", "profile session (credentials file)",
	    "a named profile leaves the variables aside");
}

static void
test_process(struct aws_credentials *g)
{
	char **argv =
	    cred_process_split("a 'b c' \"d \\\"e\\\" \\x\" f\\ g '' h");

	cred_rig_put(g, "good.sh",
	    "#!/bin/sh\n"
	    "printf '{\"Version\": 1, \"AccessKeyId\": \"PROC-%s-%s-%s-%s\",' "
	    "$# \"$(echo $1 | tr ' ' _)\" \"$(echo $2 | tr '\"' q)\" "
	    "\"$(echo $3 | tr ' ' _)\"\n"
	    "echo '\"SecretAccessKey\": \"HUSH\"}'\n");
	cred_rig_put(g, "bad.sh",
	    "#!/bin/sh\necho HUSH\n"
	    "[ \"$(readlink /proc/$$/fd/2)\" = /dev/null ] || exit 4\n"
	    "exit 3\n");
	cred_rig_env(g, "ssoproc", ALONE, NULL);
	is_found(g, "PROC-4-two_words-xqy-a_b",
	    "credential_process of profile ssoproc", "a program");
	cred_rig_env(g, "badproc", ALONE, NULL);
	is_refused(g, "ended with status 3", "credential_process that fails");
	cred_rig_env(g, "textproc", ALONE, NULL);
	is_refused(
	    g, "printed no JSON", "credential_process that prints no JSON");
	cred_rig_env(g, "oldproc", ALONE, NULL);
	is_refused(g, "its \"Version\" is not 1",
	    "credential_process of another version");
	cred_rig_env(g, "noproc", ALONE, NULL);
	is_refused(g, "credential_process of profile \"noproc\": ",
	    "credential_process that does not exist");
	cred_rig_env(g, "quoteproc", ALONE, NULL);
	is_refused(g, "a quote without its end",
	    "credential_process with an open quote");
	cred_rig_env(g, "sso", ALONE, NULL);
	is_refused(g,
	    "credential_process = aws configure export-credentials "
	    "--profile sso --format process",
	    "SSO: the line that helps");
	cred_rig_env(g, "login", ALONE, NULL);
	is_refused(g, "--profile login", "a login: the same");
	is_str(argv[1], "b c", "words: quotes");
	is_str(argv[2], "d \"e\" \\x", "a backslash between double ones");
	is_str(argv[3], "f g", "a backslash");
	is_str(argv[4], "", "an empty word");
	is_str(argv[6], NULL, "no further word");
	while (*argv != NULL) {
		free(*argv);
		argv++;
	}
	free(argv - 6);
}

static void
test_container(struct aws_credentials *g)
{
#define TASK                                                           \
	"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:PORT/" \
					      "creds?x=1"
	cred_rig_files(g, config, "");
	cred_rig_put(g, "token", "t1\n");
	cred_rig_env(
	    g, NULL, TASK, "AWS_CONTAINER_AUTHORIZATION_TOKEN", "t0", NULL);
	is_found(g, "TASK1", "container", "a container");
	is_str(g->auth, "t0", "the container service gets its token");
	cred_rig_env(g, NULL, TASK, "AWS_CONTAINER_AUTHORIZATION_TOKEN", "t0",
	    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "HOME/token", NULL);
	is_found(g, "TASK1", "container", "a container");
	is_str(g->auth, "t1", "with the token of its file");
	cred_rig_put(g, "token", "t2");
	cred_invalidate(g->cred, "TASK1");
	is_found(g, "TASK2", "container", "requested again");
	is_str(g->auth, "t2", "with the token as it is now");
	cred_rig_put(g, "token", "t2\nEvil: yes");
	cred_invalidate(g->cred, "TASK2");
	is_refused(g, "has several lines", "a token that would do harm");
	cred_rig_env(g, NULL, TASK, NULL);
	g->bad = 2;
	g->bad_status = 500;
	is_found(g, "TASK3", "container", "the third try");
	cred_rig_env(g, NULL, TASK, NULL);
	g->bad = 3;
	is_refused(g, "credential service: status 500",
	    "after three tries the container service has failed");
	cred_rig_env(g, NULL, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "http://evil.example/creds", NULL);
	is_refused(g, "expected https:// or a service of this machine",
	    "a host that is far away");
	cred_rig_env(g, NULL, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "http://127.0.0.1@evil.example/creds", NULL);
	is_refused(g, "expected https://", "a host hidden behind a user name");
	cred_rig_env(g, NULL, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "http://127.0.0.1.evil.example/creds", NULL);
	is_refused(g, "expected https://", "one that begins well");
}

static void
test_instance(struct aws_credentials *g)
{
	cred_rig_env(g, NULL, INSTANCE, NULL);
	is_found(g, "IMDS2", "instance", "an instance");
	is_int(
	    g->tokens, 1, "one token is requested from the instance service");
	g->token_status = 403;
	cred_rig_env(g, NULL, INSTANCE, NULL);
	is_found(g, "IMDS2", "instance", "without a token: the first version");
	cred_rig_env(
	    g, NULL, INSTANCE, "AWS_EC2_METADATA_V1_DISABLED", "true", NULL);
	is_refused(g, "its first version is switched off", "unless it is off");
	g->token_status = 200;
	g->no_role = true;
	cred_rig_env(g, NULL, INSTANCE, NULL);
	is_refused(g, "the instance has no role", "an instance without a role");
	g->no_role = false;
	cred_rig_env(g, NULL, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
	    "http://127.0.0.1:1", NULL);
	is_refused(g, "no instance metadata: ", "no instance metadata service");
	is_int(g->metadata, 0, "no request is sent");
	cred_rig_env(g, NULL, SERVICE, NULL);
	g->silent = true;
	is_refused(g, "no instance metadata: ", "one without an answer");
	g->silent = false;
	cred_rig_env(g, NULL, INSTANCE, NULL);
	g->life_s = -60;
	is_found(g, "IMDS2", "instance", "its keys are taken though old");
}

/* The region of the instance, when nobody says one.  It is waited for, so a
 * process of its own asks. */
static void
test_region(struct aws_credentials *g)
{
	struct err e = ERR_INIT;
	int status = -1;
	pid_t pid;

	cred_rig_env(g, NULL, ALONE, NULL);
	is_int(cred_ask_region(g->config, &e), -1, "no region anywhere");
	is_str(e.text,
	    "no region of AWS is set: name one in backend.region, AWS_REGION "
	    "or the profile \"default\" (no instance metadata: "
	    "AWS_EC2_METADATA_DISABLED is set)",
	    "lists where it could be");
	cred_rig_env(g, NULL, "AWS_REGION", "us-east-1", INSTANCE, NULL);
	is_int(cred_ask_region(g->config, &e), 0, "one that is given");
	is_str(aws_config_region(g->config), "us-east-1", "holds");
	cred_rig_env(g, NULL, INSTANCE, NULL);
	pid = fork();
	if (pid == 0)
		_exit(cred_ask_region(g->config, &e) < 0 ||
		      strcmp(aws_config_region(g->config), "eu-west-3") != 0);
	cred_rig_until(g, &g->metadata, 1);
	ok(waitpid(pid, &status, 0) == pid && status == 0,
	    "else that of the instance");
}

static void
test_time(void)
{
	static const struct {
		const char *text;
		long long want;
	} cases[] = {
		{ "1970-01-01T00:00:10Z", 10 },
		{ "2024-11-20T12:00:00.123Z", 1732104000 },
		{ "2024-11-20T13:00:00+01:00", 1732104000 },
		{ "2024-11-20T10:30:00-0130", 1732104000 },
		{ "2024-11-20T12:00:00", -1 },
		{ "2024-11-20", -1 },
		{ "2024-11-20T12:00:00Zx", -1 },
		{ "", -1 },
	};
	int64_t s;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		s = -1;
		if (!cred_keys_time(cases[i].text, &s))
			s = -1;
		is_int(s, cases[i].want, cases[i].text);
	}
}

int
main(void)
{
	struct aws_credentials g;

	cred_rig_open(&g);
	cred_rig_files(&g, config, credentials);
	test_env(&g);
	test_files(&g);
	test_role(&g);
	test_role_wrong(&g);
	cred_rig_put(&g, "token", "x");
	test_role_sources(&g);
	test_sts(&g);
	test_web(&g);
	test_process(&g);
	test_container(&g);
	test_instance(&g);
	test_region(&g);
	test_time();
	cred_rig_close(&g);
	return done_testing();
}
