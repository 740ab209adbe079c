/*
 * The endpoint of a service: a URL set by the user, else the host of the
 * region's partition.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-endpoint.h"

struct service {
	const char *name; /* for people */
	const char *scope; /* in the credential scope */
	const char *key; /* AWS_ENDPOINT_URL_KEY; in files in lower case */
	const char *host; /* the first part of the host's name */
	/* In the US government's regions the usual hosts obey FIPS. */
	enum { GOV_FIPS, GOV_FIPS_DUAL, GOV_PLAIN } gov;
};

static const struct service services[AWS_SERVICES] = {
	[AWS_SAGEMAKER] = { "SageMaker", "sagemaker", "SAGEMAKER",
	    "api.sagemaker", GOV_FIPS },
	[AWS_LOGS] = { "CloudWatch Logs", "logs", "CLOUDWATCH_LOGS", "logs",
	    GOV_FIPS_DUAL },
	[AWS_CLOUDWATCH] = { "CloudWatch", "monitoring", "CLOUDWATCH",
	    "monitoring", GOV_PLAIN },
	[AWS_EVENTS] = { "EventBridge", "events", "EVENTBRIDGE", "events",
	    GOV_PLAIN },
	[AWS_SQS] = { "SQS", "sqs", "SQS", "sqs", GOV_FIPS_DUAL },
	[AWS_S3] = { "S3", "s3", "S3", "s3", GOV_FIPS },
	[AWS_STS] = { "STS", "sts", "STS", "sts", GOV_FIPS_DUAL },
	[AWS_SNS] = { "SNS", "sns", "SNS", "sns", GOV_FIPS_DUAL },
};

enum partition_kind { PARTITION_AWS, PARTITION_GOV, PARTITION_OTHER };

struct partition {
	const char *prefix; /* of its regions' names */
	enum partition_kind kind;
	const char *suffix;
	const char *dual;
	bool s3_fips;
};

/* The last one is for every other region. */
static const struct partition partitions[] = {
	{ "cn-", PARTITION_OTHER, "amazonaws.com.cn",
	    "api.amazonwebservices.com.cn", false },
	{ "us-gov-", PARTITION_GOV, "amazonaws.com", "api.aws", true },
	{ "us-iso-", PARTITION_OTHER, "c2s.ic.gov", "api.aws.ic.gov", true },
	{ "us-isob-", PARTITION_OTHER, "sc2s.sgov.gov", "api.aws.scloud",
	    true },
	{ "eu-isoe-", PARTITION_OTHER, "cloud.adc-e.uk",
	    "api.cloud-aws.adc-e.uk", true },
	{ "us-isof-", PARTITION_OTHER, "csp.hci.ic.gov", "api.aws.hci.ic.gov",
	    true },
	{ "eusc-", PARTITION_OTHER, "amazonaws.eu", "api.amazonwebservices.eu",
	    true },
	{ "", PARTITION_AWS, "amazonaws.com", "api.aws", true },
};

const char *
aws_endpoint_scope(enum aws_service s)
{
	return services[s].scope;
}

const char *
aws_endpoint_service_name(enum aws_service s)
{
	return services[s].name;
}

static const struct partition *
partition_of(const char *region)
{
	const struct partition *p = partitions;

	while (strncmp(region, p->prefix, strlen(p->prefix)) != 0)
		p++;
	return p;
}

/*
 * The region becomes part of a host name and a header: allow only harmless
 * characters.  With a custom URL it may be any word, or missing.
 */
static int
check_region(const char *region, bool custom, struct err *e)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz0123456789-",
			  word[] = "abcdefghijklmnopqrstuvwxyz0123456789-"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	if (region == NULL && custom)
		return 0;
	if (region == NULL)
		return err_set(e, ERR_USAGE,
		    "no AWS region: set backend.region, AWS_REGION or the "
		    "region of the profile");
	if (strlen(region) > 40 || *region == '-' ||
	    region[strspn(region, custom ? word : good)] != '\0')
		return err_set(e, ERR_USAGE, "\"%s\" is no AWS region", region);
	return 0;
}

static void
put_sagemaker(struct buf *b, const struct partition *p, bool fips, bool dual)
{
	if (!fips)
		buf_puts(b, "api.sagemaker");
	else if (dual || p->kind == PARTITION_OTHER)
		buf_puts(b, "api.sagemaker-fips");
	else
		buf_puts(b, "api-fips.sagemaker");
}

static void
put_host(struct buf *b, enum aws_service s, const struct partition *p,
    bool fips, bool dual)
{
	const struct service *v = &services[s];

	if (p->kind == PARTITION_GOV &&
	    (v->gov == GOV_PLAIN || (v->gov == GOV_FIPS_DUAL && !dual)))
		fips = false;
	if (s == AWS_SAGEMAKER)
		put_sagemaker(b, p, fips, dual);
	else
		buf_printf(b, "%s%s", v->host, fips ? "-fips" : "");
	if (s == AWS_S3 && dual)
		buf_puts(b, ".dualstack");
}

static int
usual_url(
    const struct aws_config *c, enum aws_service s, char **url, struct err *e)
{
	const char *region = aws_config_region(c);
	const struct partition *p;
	bool fips, dual;
	struct buf b = { 0 };

	p = partition_of(region);
	fips = aws_config_flag(c, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint");
	dual = aws_config_flag(
	    c, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint");
	if (fips && s == AWS_S3 && !p->s3_fips)
		return err_set(
		    e, ERR_USAGE, "S3 has no FIPS endpoints in %s", region);
	buf_puts(&b, "https://");
	put_host(&b, s, p, fips, dual);
	buf_printf(
	    &b, ".%s.%s", region, dual && s != AWS_S3 ? p->dual : p->suffix);
	*url = buf_take(&b);
	return 0;
}

/* [services x] of the profile: a key of the service. */
static int
services_url(const struct aws_config *c, const char *key, const char **url,
    struct err *e)
{
	const char *section =
	    aws_config_get(c, aws_config_profile(c), "services");
	bool there;
	char *low, *p;

	if (section == NULL)
		return 0;
	low = xstrdup(key);
	for (p = low; *p != '\0'; p++)
		*p |= *p >= 'A' && *p <= 'Z' ? 0x20 : 0;
	*url = aws_config_services(c, section, low, "endpoint_url", &there);
	free(low);
	if (!there)
		return err_set(e, ERR_USAGE,
		    "the AWS profile \"%s\" names services \"%s\", which %s "
		    "does not have",
		    aws_config_profile(c), section,
		    aws_config_path(c, AWS_FILE_CONFIG));
	return 0;
}

/* The URL set by the user, or NULL. */
static int
named_url(const struct aws_config *c, enum aws_service s, const char **url,
    struct err *e)
{
	const char *key = services[s].key;
	char *variable;

	*url = NULL;
	if (aws_config_flag(c, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
		"ignore_configured_endpoint_urls"))
		return 0;
	variable = xasprintf("AWS_ENDPOINT_URL_%s", key);
	*url = aws_config_env(c, variable);
	free(variable);
	if (*url == NULL)
		*url = aws_config_env(c, "AWS_ENDPOINT_URL");
	if (*url == NULL && services_url(c, key, url, e) != 0)
		return -1;
	if (*url == NULL || **url == '\0')
		*url = aws_config_get(c, aws_config_profile(c), "endpoint_url");
	if (*url != NULL && **url == '\0')
		*url = NULL;
	return 0;
}

/* Without the default port. */
static char *
endpoint_host_of(const char *s, size_t n, bool plain)
{
	const char *usual = plain ? ":80" : ":443";
	size_t k = strlen(usual);

	if (n > k && memcmp(s + n - k, usual, k) == 0)
		n -= k;
	return xstrndup(s, n);
}

/* A name, an address, or an address of IPv6 in brackets; and a port. */
static bool
host_good(const char *s, size_t n)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	size_t i = 0;
	long port = 0;

	if (*s == '[') {
		i = 1 + strspn(s + 1, "0123456789abcdefABCDEF:.");
		if (i >= n || s[i] != ']')
			return false;
		i++;
	} else
		i = strspn(s, name);
	if (i == 0 || i >= n)
		return i > 0 && i == n;
	if (s[i++] != ':' || i == n)
		return false;
	for (; i < n && s[i] >= '0' && s[i] <= '9' && port < 65536; i++)
		port = port * 10 + (s[i] - '0');
	return i == n && port > 0 && port < 65536;
}

static int
endpoint_split(struct aws_endpoint *p, const char *url, struct err *e)
{
	const char *s = url;
	size_t n;

	p->plain = strncmp(url, "http://", 7) == 0;
	if (!p->plain && strncmp(url, "https://", 8) != 0)
		s = "";
	else
		s += p->plain ? 7 : 8;
	n = strcspn(s, "/?#");
	if (!host_good(s, n) || strpbrk(s, "?# \t\r\n") != NULL)
		return err_set(e, ERR_USAGE,
		    "an AWS endpoint is written https://host or "
		    "https://host:port, not \"%.100s\"",
		    memchr(s, '@', n) != NULL ? "…@…" : url);
	p->host = endpoint_host_of(s, n, p->plain);
	s += n;
	for (n = strlen(s); n > 0 && s[n - 1] == '/'; n--)
		;
	p->path = xstrndup(s, n);
	p->url = xasprintf(
	    "%s://%s%s", p->plain ? "http" : "https", p->host, p->path);
	return 0;
}

int
aws_endpoint_resolve(const struct aws_config *c, enum aws_service s,
    struct aws_endpoint *p, struct err *e)
{
	const char *named;
	char *usual = NULL;
	int rc;

	memset(p, 0, sizeof *p);
	if (named_url(c, s, &named, e) != 0 ||
	    check_region(aws_config_region(c), named != NULL, e) != 0)
		return -1;
	if (named == NULL && usual_url(c, s, &usual, e) != 0)
		return -1;
	p->custom = named != NULL;
	rc = endpoint_split(p, named != NULL ? named : usual, e);
	free(usual);
	return rc;
}

void
aws_endpoint_fini(struct aws_endpoint *p)
{
	free(p->url);
	free(p->host);
	free(p->path);
	memset(p, 0, sizeof *p);
}
