/*
 * Selects profile and region in botocore's order: arguments, variables, shared
 * files.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-ini.h"

enum { FILES = 2 };

struct aws_config {
	aws_getenv *env;
	char *profile;
	bool named;
	char *region; /* NULL = not set */
	char *paths[FILES];
	struct aws_ini *files[FILES];
};

const char *
aws_config_env(const struct aws_config *c, const char *name)
{
	const char *s = c->env(name);

	return s != NULL && *s != '\0' ? s : NULL;
}

/* Replace "~/" by the home directory; a new text. */
static char *
expand_home(const struct aws_config *c, const char *path)
{
	const char *home = aws_config_env(c, "HOME");

	if (path[0] != '~' || (path[1] != '/' && path[1] != '\0') ||
	    home == NULL)
		return xstrdup(path);
	return xasprintf("%s%s", home, path + 1);
}

/* What the variable names, else the file of that name in the home. */
static char *
file_path(const struct aws_config *c, const char *variable, const char *usual)
{
	const char *named = aws_config_env(c, variable);

	if (named != NULL)
		return expand_home(c, named);
	if (aws_config_env(c, "HOME") == NULL)
		return NULL;
	return expand_home(c, usual);
}

static int
load_files(struct aws_config *c, struct err *e)
{
	int i, rc;

	c->paths[AWS_FILE_CREDENTIALS] =
	    file_path(c, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
	c->paths[AWS_FILE_CONFIG] =
	    file_path(c, "AWS_CONFIG_FILE", "~/.aws/config");
	for (i = 0; i < FILES; i++) {
		if (c->paths[i] != NULL)
			rc = aws_ini_load(&c->files[i], c->paths[i], e);
		else
			rc = aws_ini_parse(&c->files[i], "", 0, "", e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The first of the variables that is set; NULL ends them. */
static const char *
first_env(const struct aws_config *c, const char *a, const char *b)
{
	const char *s = aws_config_env(c, a);

	return s != NULL ? s : aws_config_env(c, b);
}

static int
choose_profile(struct aws_config *c, const char *profile, struct err *e)
{
	const char *var = first_env(c, "AWS_DEFAULT_PROFILE", "AWS_PROFILE");
	const char *path = aws_config_path(c, AWS_FILE_CONFIG);

	c->named = profile != NULL;
	if (profile == NULL)
		profile = var;
	c->profile = xstrdup(profile != NULL ? profile : "default");
	if (profile == NULL || aws_config_has_profile(c, profile))
		return 0;
	return err_set(e, ERR_USAGE, "no AWS profile \"%s\" in %s or beside it",
	    profile, path != NULL ? path : "~/.aws/config");
}

static void
choose_region(struct aws_config *c, const char *region)
{
	if (region == NULL)
		region = first_env(c, "AWS_REGION", "AWS_DEFAULT_REGION");
	if (region == NULL)
		region = aws_config_get(c, c->profile, "region");
	aws_config_set_region(c, region);
}

int
aws_config_open(struct aws_config **out, aws_getenv *env, const char *profile,
    const char *region, struct err *e)
{
	struct aws_config *c = xcalloc(1, sizeof *c);

	c->env = env;
	if (load_files(c, e) != 0 || choose_profile(c, profile, e) != 0) {
		aws_config_free(c);
		return -1;
	}
	choose_region(c, region);
	*out = c;
	return 0;
}

int
aws_config_reload(
    struct aws_config **out, const struct aws_config *old, struct err *e)
{
	struct aws_config *c = xcalloc(1, sizeof *c);

	c->env = old->env;
	c->profile = xstrdup(old->profile);
	c->named = old->named;
	aws_config_set_region(c, old->region);
	if (load_files(c, e) != 0) {
		aws_config_free(c);
		return -1;
	}
	*out = c;
	return 0;
}

void
aws_config_free(struct aws_config *c)
{
	int i;

	if (c == NULL)
		return;
	for (i = 0; i < FILES; i++) {
		free(c->paths[i]);
		aws_ini_free(c->files[i]);
	}
	free(c->profile);
	free(c->region);
	free(c);
}

const char *
aws_config_region(const struct aws_config *c)
{
	return c->region;
}

void
aws_config_set_region(struct aws_config *c, const char *region)
{
	char *copy = region != NULL && *region != '\0' ? xstrdup(region) : NULL;

	free(c->region);
	c->region = copy;
}

const char *
aws_config_region_other(const struct aws_config *c)
{
	const char *first = aws_config_env(c, "AWS_REGION");
	const char *other = aws_config_env(c, "AWS_DEFAULT_REGION");

	return first != NULL && other != NULL && strcmp(first, other) != 0
		   ? other
		   : NULL;
}

const char *
aws_config_profile(const struct aws_config *c)
{
	return c->profile;
}

bool
aws_config_profile_named(const struct aws_config *c)
{
	return c->named;
}

const char *
aws_config_path(const struct aws_config *c, enum aws_file file)
{
	return c->paths[file];
}

const char *
aws_config_get_in(const struct aws_config *c, enum aws_file file,
    const char *profile, const char *key)
{
	const struct aws_ini *ini = c->files[file];
	const char *value;

	if (file == AWS_FILE_CREDENTIALS)
		return aws_ini_get(ini, NULL, profile, key, NULL);
	value = aws_ini_get(ini, "profile", profile, key, NULL);
	if (value == NULL && strcmp(profile, "default") == 0)
		value = aws_ini_get(ini, NULL, profile, key, NULL);
	return value;
}

const char *
aws_config_get(const struct aws_config *c, const char *profile, const char *key)
{
	const char *value =
	    aws_config_get_in(c, AWS_FILE_CREDENTIALS, profile, key);

	if (value == NULL)
		value = aws_config_get_in(c, AWS_FILE_CONFIG, profile, key);
	return value;
}

bool
aws_config_has_profile(const struct aws_config *c, const char *profile)
{
	const struct aws_ini *config = c->files[AWS_FILE_CONFIG];

	return aws_ini_has(c->files[AWS_FILE_CREDENTIALS], NULL, profile) ||
	       aws_ini_has(config, "profile", profile) ||
	       (strcmp(profile, "default") == 0 &&
		   aws_ini_has(config, NULL, profile));
}

const char *
aws_config_set(
    const struct aws_config *c, const char *variable, const char *key)
{
	const char *s = aws_config_env(c, variable);

	return s != NULL ? s : aws_config_get(c, c->profile, key);
}

bool
aws_config_flag(
    const struct aws_config *c, const char *variable, const char *key)
{
	const char *s = aws_config_set(c, variable, key);

	return s != NULL && strcasecmp(s, "true") == 0;
}

const char *
aws_config_services(const struct aws_config *c, const char *name,
    const char *service, const char *key, bool *there)
{
	const struct aws_ini *config = c->files[AWS_FILE_CONFIG];

	*there = aws_ini_has(config, "services", name);
	return aws_ini_get(config, "services", name, service, key);
}

const char *
aws_config_ca_bundle(const struct aws_config *c)
{
	return aws_config_set(c, "AWS_CA_BUNDLE", "ca_bundle");
}
