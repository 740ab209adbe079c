/*
 * Settings from the environment and the shared files (~/.aws/config,
 * credentials): region, profiles.  Reads each file once; makes no
 * request.
 */

#ifndef HPOTUNE_AWS_CONFIG_H
#define HPOTUNE_AWS_CONFIG_H

#include <stdbool.h>

struct aws_config;
struct err;

/*
 * env looks up variables, usually getenv. profile and region: from study.json,
 * NULL = the usual order.  A missing profile or an unreadable file is an error;
 * a missing region is none yet, because IMDS may provide it.
 */
typedef const char *aws_getenv(const char *name);
int aws_config_open(struct aws_config **, aws_getenv *env, const char *profile,
    const char *region, struct err *);
/* Read the files again, with the same profile and region. */
int aws_config_reload(
    struct aws_config **, const struct aws_config *, struct err *);
void aws_config_free(struct aws_config *);

/* NULL when not set. */
const char *aws_config_region(const struct aws_config *);
void aws_config_set_region(struct aws_config *, const char *);
/*
 * AWS_DEFAULT_REGION if it differs from AWS_REGION, which is used; else NULL.
 */
const char *aws_config_region_other(const struct aws_config *);
/* The selected profile, "default" if none is named. */
const char *aws_config_profile(const struct aws_config *);
/*
 * Whether the profile was named (then it precedes the keys of the environment).
 */
bool aws_config_profile_named(const struct aws_config *);
/* A key of a profile (credentials file first, then config), or NULL. */
const char *
aws_config_get(const struct aws_config *, const char *profile, const char *key);
enum aws_file { AWS_FILE_CREDENTIALS, AWS_FILE_CONFIG };
/* A key of a profile in one of the files. */
const char *aws_config_get_in(const struct aws_config *, enum aws_file,
    const char *profile, const char *key);
/* Whether one of the files contains this profile. */
bool aws_config_has_profile(const struct aws_config *, const char *profile);
/* Path of a file, for messages; NULL if there is no home directory. */
const char *aws_config_path(const struct aws_config *, enum aws_file);
/* A variable; NULL if unset or empty. */
const char *aws_config_env(const struct aws_config *, const char *name);
/* The variable, else the key of the selected profile. */
const char *aws_config_set(
    const struct aws_config *, const char *variable, const char *key);
/* Whether that value is "true". */
bool aws_config_flag(
    const struct aws_config *, const char *variable, const char *key);
/*
 * A key of a service in [services name]; *there: whether that section exists.
 */
const char *aws_config_services(const struct aws_config *, const char *name,
    const char *service, const char *key, bool *there);
const char *aws_config_ca_bundle(const struct aws_config *);

#endif /* HPOTUNE_AWS_CONFIG_H */
