/*
 * Settings from the environment and the shared files (~/.aws/config,
 * credentials): region, endpoints, profiles.  Reads each file once; makes no
 * request.
 */

#ifndef HPOTUNE_AWS_CONFIG_H
#define HPOTUNE_AWS_CONFIG_H

#include <stdbool.h>

struct aws_config;
struct err;

enum aws_service {
	AWS_SAGEMAKER,
	AWS_LOGS,
	AWS_CLOUDWATCH,
	AWS_EVENTS,
	AWS_SQS,
	AWS_S3,
	AWS_STS,
	AWS_SNS,
	AWS_SERVICES
};

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
/* Whether one of the files contains it. */
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
const char *aws_config_ca_bundle(const struct aws_config *);

struct aws_endpoint {
	char *url; /* "https://host[:port][/path]", without trailing "/" */
	char *host; /* with its port */
	char *path; /* of url, "" = none */
	bool custom; /* set by the user: S3 bucket goes into the path */
	bool plain; /* http:// */
};
/* Resolve with partitions (China, US government), FIPS and dual stack. */
int aws_endpoint_resolve(const struct aws_config *, enum aws_service,
    struct aws_endpoint *, struct err *);
void aws_endpoint_fini(struct aws_endpoint *);
/* "logs", "monitoring": the service in the credential scope. */
const char *aws_endpoint_scope(enum aws_service);
const char *aws_endpoint_service_name(enum aws_service); /* name for messages */

#endif /* HPOTUNE_AWS_CONFIG_H */
