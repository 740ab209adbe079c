/* AWS services and their endpoints. */

#ifndef HPOTUNE_AWS_ENDPOINT_H
#define HPOTUNE_AWS_ENDPOINT_H

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

#endif /* HPOTUNE_AWS_ENDPOINT_H */
