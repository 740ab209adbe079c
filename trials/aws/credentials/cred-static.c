/*
 * The places of static keys: variables, the credentials file, the config file;
 * and the profiles whose keys only the AWS CLI can get.
 */

#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred-static.h"

enum cred_try
cred_static_env(struct cred_chain *f)
{
	const struct aws_config *c = f->config;
	const char *id = aws_config_env(c, "AWS_ACCESS_KEY_ID");
	const char *secret = aws_config_env(c, "AWS_SECRET_ACCESS_KEY");
	const char *token = aws_config_env(c, "AWS_SECURITY_TOKEN");
	const char *expires = aws_config_env(c, "AWS_CREDENTIAL_EXPIRATION");

	if (id == NULL) {
		cred_chain_absent(f, "AWS_ACCESS_KEY_ID is not set");
		return CRED_ABSENT;
	}
	if (token == NULL)
		token = aws_config_env(c, "AWS_SESSION_TOKEN");
	if (secret == NULL) {
		err_set(&f->err, ERR_USAGE,
		    "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is "
		    "not");
		return CRED_FAILED;
	}
	cred_keys_set(&f->found, id, secret, token);
	if (expires != NULL && !cred_keys_time(expires, &f->found.expiry_s)) {
		err_set(
		    &f->err, ERR_USAGE, "AWS_CREDENTIAL_EXPIRATION is no time");
		return CRED_FAILED;
	}
	cred_chain_source(f, "environment");
	return CRED_FOUND;
}

static enum cred_try
file_keys(struct cred_chain *f, enum aws_file file, const char *name)
{
	const struct aws_config *c = f->config;
	const char *p = f->profile, *path = aws_config_path(c, file);
	const char *id = aws_config_get_in(c, file, p, "aws_access_key_id");
	const char *secret =
	    aws_config_get_in(c, file, p, "aws_secret_access_key");
	const char *token = aws_config_get_in(c, file, p, "aws_security_token");

	if (id == NULL || *id == '\0') {
		if (path != NULL)
			cred_chain_absent(
			    f, "profile \"%s\" has no keys in %s", p, path);
		return CRED_ABSENT;
	}
	if (secret == NULL || *secret == '\0') {
		err_set(&f->err, ERR_USAGE,
		    "%s: profile \"%s\" has aws_access_key_id without "
		    "aws_secret_access_key",
		    path, p);
		return CRED_FAILED;
	}
	if (token == NULL)
		token = aws_config_get_in(c, file, p, "aws_session_token");
	cred_keys_set(&f->found, id, secret, token);
	cred_chain_source(f, "profile %s (%s file)", p, name);
	return CRED_FOUND;
}

enum cred_try
cred_static_shared(struct cred_chain *f)
{
	return file_keys(f, AWS_FILE_CREDENTIALS, "credentials");
}

enum cred_try
cred_static_config(struct cred_chain *f)
{
	return file_keys(f, AWS_FILE_CONFIG, "config");
}

/*
 * A profile with interactive login (SSO).  The keys come from the AWS CLI,
 * which the profile may name as credential_process.
 */
static enum cred_try
person(struct cred_chain *f, const char *what)
{
	if (aws_config_get(f->config, f->profile, "credential_process") != NULL)
		return CRED_ABSENT;
	err_set(&f->err, ERR_USAGE,
	    "the AWS profile \"%s\" is for %s: add to it the line "
	    "credential_process = aws configure export-credentials --profile "
	    "%s --format process",
	    f->profile, what, f->profile);
	return CRED_FAILED;
}

enum cred_try
cred_static_sso(struct cred_chain *f)
{
	const struct aws_config *c = f->config;

	if (aws_config_get(c, f->profile, "sso_role_name") == NULL &&
	    aws_config_get(c, f->profile, "sso_account_id") == NULL)
		return CRED_ABSENT;
	return person(f, "SSO");
}

enum cred_try
cred_static_login(struct cred_chain *f)
{
	if (aws_config_get(f->config, f->profile, "login_session") == NULL)
		return CRED_ABSENT;
	return person(f, "\"aws login\"");
}
