/* Assumed roles: the chain of profiles, and web identity. */

#include <stdlib.h>
#include <string.h>

#include "src/base/http/http.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-assume-role.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred-sts.h"

/* Places of keys for a profile that is the source of another. */
#define PROFILE_PLACES                                         \
	(1u << CRED_PLACE_WEB | 1u << CRED_PLACE_SSO |         \
	    1u << CRED_PLACE_SHARED | 1u << CRED_PLACE_LOGIN | \
	    1u << CRED_PLACE_PROCESS | 1u << CRED_PLACE_CONFIG)

static bool
assume_role_has(
    const struct cred_chain *f, const char *profile, const char *key)
{
	return aws_config_get(f->config, profile, key) != NULL;
}

/* With a web identity beside it the role is assumed by that. */
static bool
has_role(const struct cred_chain *f, const char *profile)
{
	return assume_role_has(f, profile, "role_arn") &&
	       !assume_role_has(f, profile, "web_identity_token_file");
}

static bool
has_keys(const struct cred_chain *f, const char *profile)
{
	return assume_role_has(f, profile, "aws_access_key_id") ||
	       assume_role_has(f, profile, "aws_secret_access_key");
}

static bool
has_been(const struct cred_chain *f, const char *profile)
{
	size_t i;

	for (i = 0; i < f->n_roles; i++)
		if (strcmp(f->roles[i], profile) == 0)
			return true;
	return false;
}

/* credential_source: one place alone. */
static enum cred_try
go_to_place(struct cred_chain *f, const char *profile, const char *source)
{
	static const struct {
		const char *name;
		enum cred_place place;
	} known[] = {
		{ "Environment", CRED_PLACE_ENV },
		{ "EcsContainer", CRED_PLACE_CONTAINER },
		{ "Ec2InstanceMetadata", CRED_PLACE_IMDS },
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, source) == 0) {
			f->places = 1u << known[i].place;
			f->at = CRED_PLACE_ENV;
			return CRED_ABSENT;
		}
	err_set(&f->err, ERR_USAGE,
	    "AWS profile \"%s\": credential_source \"%s\" is none of "
	    "Environment, EcsContainer, Ec2InstanceMetadata",
	    profile, source);
	return CRED_FAILED;
}

/* Check the source profile of a role. */
static int
check_source(struct cred_chain *f, const char *profile, const char *source)
{
	if (!aws_config_has_profile(f->config, source))
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": its source_profile \"%s\" does not "
		    "exist",
		    profile, source);
	/* A profile may name itself if it has keys of its own. */
	if (has_been(f, source) &&
	    (strcmp(source, profile) != 0 || !has_keys(f, source)))
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": its source_profile \"%s\" leads back "
		    "to itself",
		    profile, source);
	return 0;
}

static int
assume_role_check(struct cred_chain *f, const char *p)
{
	bool profile = assume_role_has(f, p, "source_profile");
	bool place = assume_role_has(f, p, "credential_source");

	if (profile == place)
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": role_arn needs %s source_profile "
		    "%s credential_source",
		    p, profile ? "one of" : "a", profile ? "and" : "or a");
	if (assume_role_has(f, p, "mfa_serial"))
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": mfa_serial: hpotune cannot prompt for "
		    "a code; use a profile with credential_process = aws "
		    "configure export-credentials --profile %s --format "
		    "process",
		    p, p);
	if (f->n_roles == CRED_ROLES_MAX)
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": more than %d roles in a row", p,
		    CRED_ROLES_MAX);
	return 0;
}

enum cred_try
cred_assume_role(struct cred_chain *f)
{
	const char *source;

	while (has_role(f, f->profile)) {
		if (assume_role_check(f, f->profile) < 0)
			return CRED_FAILED;
		buf_clear(&f->looked);
		f->roles[f->n_roles++] = xstrdup(f->profile);
		source =
		    aws_config_get(f->config, f->profile, "credential_source");
		if (source != NULL)
			return go_to_place(f, f->profile, source);
		source =
		    aws_config_get(f->config, f->profile, "source_profile");
		if (check_source(f, f->profile, source) < 0)
			return CRED_FAILED;
		free(f->profile);
		f->profile = xstrdup(source);
		f->places = PROFILE_PLACES;
		f->use_env = false;
		if (has_keys(f, source))
			break;
	}
	return CRED_ABSENT;
}

/* "&Name=value", encoded. */
static void
cred_assume_form(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "&%s=", name);
	http_put_encoded(b, value, strlen(value), false);
}

/* The name that shows up in AWS's own records. */
static void
put_session(struct buf *b, const struct cred_chain *f, const char *name)
{
	char *usual = NULL;

	if (name == NULL)
		name = usual =
		    xasprintf("hpotune-%lld", (long long)cred_chain_now_s(f));
	cred_assume_form(b, "RoleSessionName", name);
	free(usual);
}

enum cred_try
cred_assume_role_again(struct cred_chain *f, const char *profile)
{
	const struct aws_config *c = f->config;
	const char *role = aws_config_get(c, profile, "role_arn");
	const char *external = aws_config_get(c, profile, "external_id");
	const char *seconds = aws_config_get(c, profile, "duration_seconds");
	struct buf b = { 0 };

	buf_puts(&b, "Action=AssumeRole&Version=2011-06-15");
	cred_assume_form(&b, "RoleArn", role);
	put_session(&b, f, aws_config_get(c, profile, "role_session_name"));
	if (external != NULL)
		cred_assume_form(&b, "ExternalId", external);
	if (seconds != NULL && *seconds != '\0' &&
	    seconds[strspn(seconds, "0123456789")] == '\0')
		cred_assume_form(&b, "DurationSeconds", seconds);
	cred_chain_source(f, "role of profile %s", profile);
	return cred_sts_send(f, &b, true, role);
}

/* A variable, where they count, else a key of the profile. */
static const char *
web_get(const struct cred_chain *f, const char *variable, const char *key)
{
	const char *s = f->use_env ? aws_config_env(f->config, variable) : NULL;

	return s != NULL ? s : aws_config_get(f->config, f->profile, key);
}

enum cred_try
cred_assume_role_web(struct cred_chain *f)
{
	const char *path = web_get(
	    f, "AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
	const char *role = web_get(f, "AWS_ROLE_ARN", "role_arn");
	struct buf b = { 0 };
	char *token;

	if (path == NULL || *path == '\0')
		return CRED_ABSENT;
	if (role == NULL || *role == '\0') {
		err_set(&f->err, ERR_USAGE,
		    "a web identity needs a role: neither AWS_ROLE_ARN nor "
		    "role_arn of profile \"%s\" is set",
		    f->profile);
		return CRED_FAILED;
	}
	if (cred_keys_token_file(&token, path, &f->err) != 0)
		return CRED_FAILED;
	buf_puts(&b, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15");
	cred_assume_form(&b, "RoleArn", role);
	put_session(
	    &b, f, web_get(f, "AWS_ROLE_SESSION_NAME", "role_session_name"));
	cred_assume_form(&b, "WebIdentityToken", token);
	cred_keys_wipe(token);
	cred_chain_source(f, "web identity");
	return cred_sts_send(f, &b, false, role);
}
