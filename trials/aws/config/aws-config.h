/*
 * What the environment and the shared files (~/.aws/config, credentials) say:
 * region, endpoints, profiles.  Reads files once; asks nobody.
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
 * env: where variables are looked up, getenv as a rule.  profile and region:
 * of study.json, NULL = the usual chain.  A profile that does not exist, or a
 * file that cannot be read, is an error; a missing region is one only when
 * aws_config_region is asked (IMDS may know it).
 */
typedef const char *aws_getenv(const char *name);
int aws_config_open(struct aws_config **, aws_getenv *env, const char *profile,
    const char *region, struct err *);
/* The same profile and region with the files as they are by now. */
int aws_config_reload(
    struct aws_config **, const struct aws_config *, struct err *);
void aws_config_free(struct aws_config *);

/* NULL when nobody says. */
const char *aws_config_region(const struct aws_config *);
void aws_config_set_region(struct aws_config *, const char *);
/* AWS_DEFAULT_REGION where AWS_REGION names another one, which counts. */
const char *aws_config_region_other(const struct aws_config *);
/* The profile in force, "default" when none is named. */
const char *aws_config_profile(const struct aws_config *);
/* Whether the profile was named (then the keys of the environment yield). */
bool aws_config_profile_named(const struct aws_config *);
/* A key of a profile (credentials file first, then config), or NULL. */
const char *
aws_config_get(const struct aws_config *, const char *profile, const char *key);
enum aws_file { AWS_FILE_CREDENTIALS, AWS_FILE_CONFIG };
/* A key of a profile in one of the files alone. */
const char *aws_config_get_in(const struct aws_config *, enum aws_file,
    const char *profile, const char *key);
/* Whether one of the files has it. */
bool aws_config_has_profile(const struct aws_config *, const char *profile);
/* Of which file, for people; NULL when there is no home to look in. */
const char *aws_config_path(const struct aws_config *, enum aws_file);
/* A variable; NULL also when it is empty. */
const char *aws_config_env(const struct aws_config *, const char *name);
/* The variable, else the key of the profile in force. */
const char *aws_config_set(
    const struct aws_config *, const char *variable, const char *key);
/* Whether that is "true". */
bool aws_config_flag(
    const struct aws_config *, const char *variable, const char *key);
/* "~/x" in the home of the environment; a new text. */
char *aws_config_expand(const struct aws_config *, const char *path);
/* A key of a service in [services name]; *there: whether the section is. */
const char *aws_config_services(const struct aws_config *, const char *name,
    const char *service, const char *key, bool *there);
const char *aws_config_ca_bundle(const struct aws_config *);

struct aws_endpoint {
	char *url; /* "https://host[:port][/path]", no "/" at its end */
	char *host; /* with its port */
	char *path; /* of url, "" when it has none */
	bool custom; /* named by the user: S3 paths carry the bucket */
	bool plain; /* http:// */
};
/* Partitions (China, US government), FIPS and dual stack as they are set. */
int aws_endpoint_resolve(const struct aws_config *, enum aws_service,
    struct aws_endpoint *, struct err *);
void aws_endpoint_fini(struct aws_endpoint *);
/* "logs", "monitoring": the name in the credential scope. */
const char *aws_endpoint_scope(enum aws_service);
const char *aws_endpoint_service_name(enum aws_service); /* for people */

#endif /* HPOTUNE_AWS_CONFIG_H */
