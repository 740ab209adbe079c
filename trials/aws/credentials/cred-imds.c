/*
 * The metadata service of an EC2 instance (IMDSv2, or version 1 if no token can
 * be had): keys of the instance's role, region.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"

enum {
	/*
	 * Static stability: during an outage the instance may return expired
	 * keys; they are used for this long.
	 */
	STABLE_S = 20 * 60
};

static const char roles_path[] = "latest/meta-data/iam/security-credentials/";

static const char region_path[] = "latest/meta-data/placement/region";

static enum cred_try
absent(struct cred_chain *f, const char *why)
{
	cred_chain_absent(f, "no instance metadata: %s", why);
	return CRED_ABSENT;
}

static enum cred_try
absent_status(struct cred_chain *f, const struct http_answer *a)
{
	char why[64];

	if (a->status == 0)
		return absent(f, a->error);
	if (a->status == 200)
		return absent(f, "an empty answer");
	(void)snprintf(why, sizeof why, "status %d", a->status);
	return absent(f, why);
}

/* A whole number of at least 1, as botocore's settings have it. */
static int
imds_setting(const struct cred_chain *f, const char *variable, const char *key)
{
	const char *s = aws_config_set(f->config, variable, key);
	long n = s != NULL ? strtol(s, NULL, 10) : 1;

	if (n < 1)
		return 1;
	return n < 60 ? (int)n : 60;
}

static void
imds_ask(
    struct cred_chain *f, const char *method, const char *header, http_cb *cb)
{
	char *url = xasprintf("%s%s", f->url.base, f->url.path);
	const char *headers[] = { header, NULL };
	struct http_send s = { .method = method,
		.url = url,
		.headers = headers,
		.connect_ms = f->url.timeout_ms,
		.timeout_ms = f->url.timeout_ms,
		.most = 1 << 16,
		.plain = true,
		.direct = true };

	f->tries++;
	f->request = http_start(f->http, &s, cb, f);
	free(url);
}

static void
imds_get(struct cred_chain *f, http_cb *cb)
{
	char *header =
	    f->url.token != NULL
		? xasprintf("x-aws-ec2-metadata-token: %s", f->url.token)
		: NULL;

	imds_ask(f, "GET", header, cb);
	cred_keys_wipe(header);
}

static void
imds_begin(struct cred_chain *f, char *path, http_cb *cb)
{
	free(f->url.path);
	f->url.path = path;
	f->tries = 0;
	imds_get(f, cb);
}

/* Whether a failed GET is worth another try; then it is on its way. */
static bool
tried_again(struct cred_chain *f, const struct http_answer *a, http_cb *cb)
{
	if ((a->status == 200 && a->len > 0) || f->tries >= f->url.most)
		return false;
	imds_get(f, cb);
	return true;
}

static enum cred_try
imds_read_keys(struct cred_chain *f, const struct http_answer *a)
{
	struct json_doc *doc;
	struct err e = ERR_INIT;
	int rc;

	if (a->status != 200 || a->len == 0)
		return absent_status(f, a);
	if (json_parse(&doc, a->body, a->len, NULL, false, &e) != 0)
		return absent(f, "its answer is no JSON");
	rc = cred_keys_read(
	    &f->found, json_root(doc), "Token", "the instance metadata", &e);
	json_free(doc);
	if (rc < 0)
		return absent(f, e.text);
	if (f->found.expiry_s != 0 && f->found.expiry_s <= cred_chain_now_s(f))
		f->found.expiry_s = cred_chain_now_s(f) + STABLE_S;
	cred_chain_source(f, "instance");
	return CRED_FOUND;
}

static void
imds_on_keys(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;

	f->request = NULL;
	if (!tried_again(f, a, imds_on_keys))
		cred_chain_resume(f, imds_read_keys(f, a));
}

static void
on_roles(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;
	struct buf path = { 0 };

	f->request = NULL;
	if (tried_again(f, a, on_roles))
		return;
	if (a->status == 404) {
		cred_chain_resume(f, absent(f, "the instance has no role"));
		return;
	}
	if (a->status != 200 || a->len == 0) {
		cred_chain_resume(f, absent_status(f, a));
		return;
	}
	buf_puts(&path, roles_path);
	http_put_encoded(&path, a->body, strcspn(a->body, "\r\n"), false);
	imds_begin(f, buf_take(&path), imds_on_keys);
}

/* Without a token: as the first version of the service. */
static enum cred_try
without_token(struct cred_chain *f)
{
	if (aws_config_flag(f->config, "AWS_EC2_METADATA_V1_DISABLED",
		"ec2_metadata_v1_disabled")) {
		err_set(&f->err, ERR_REMOTE,
		    "the instance metadata service gives no token, and its "
		    "first version is switched off");
		return CRED_FAILED;
	}
	imds_begin(f, xstrdup(f->url.first), f->url.got);
	return CRED_WAIT;
}

static void
on_token(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;
	size_t n = strcspn(a->body, "\r\n");

	f->request = NULL;
	if (a->status == 200 && n > 0) {
		f->url.token = xstrndup(a->body, n);
		imds_begin(f, xstrdup(f->url.first), f->url.got);
	} else if (a->unsent || a->status == 400) {
		cred_chain_resume(f, absent_status(f, a));
	} else {
		cred_chain_resume(f, without_token(f));
	}
}

static const char *
service_url(const struct cred_chain *f)
{
	const char *named =
	    aws_config_set(f->config, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
		"ec2_metadata_service_endpoint");
	const char *mode =
	    aws_config_set(f->config, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
		"ec2_metadata_service_endpoint_mode");

	if (named != NULL)
		return named;
	return mode != NULL && strcasecmp(mode, "ipv6") == 0
		   ? "http://[fd00:ec2::254]/"
		   : "http://169.254.169.254/";
}

static enum cred_try
ask_token(struct cred_chain *f, const char *first, http_cb *got)
{
	const char *off =
	    aws_config_env(f->config, "AWS_EC2_METADATA_DISABLED");
	const char *url = service_url(f);

	if (off != NULL && strcasecmp(off, "true") == 0)
		return absent(f, "AWS_EC2_METADATA_DISABLED is set");
	cred_container_url_fini(&f->url);
	f->url.base =
	    xasprintf("%s%s", url, url[strlen(url) - 1] == '/' ? "" : "/");
	f->url.path = xstrdup("latest/api/token");
	f->url.timeout_ms =
	    1000 * imds_setting(f, "AWS_METADATA_SERVICE_TIMEOUT",
		       "metadata_service_timeout");
	f->url.most = imds_setting(f, "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
	    "metadata_service_num_attempts");
	f->url.first = first;
	f->url.got = got;
	f->tries = 0;
	imds_ask(
	    f, "PUT", "x-aws-ec2-metadata-token-ttl-seconds: 21600", on_token);
	return CRED_WAIT;
}

enum cred_try
cred_imds(struct cred_chain *f)
{
	return ask_token(f, roles_path, on_roles);
}

static void
on_region(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;

	f->request = NULL;
	if (tried_again(f, a, on_region))
		return;
	if (a->status != 200 || a->len == 0) {
		cred_chain_resume(f, absent_status(f, a));
		return;
	}
	cred_chain_source(f, "%.*s", (int)strcspn(a->body, " \t\r\n"), a->body);
	cred_chain_resume(f, CRED_FOUND);
}

enum cred_try
cred_imds_region(struct cred_chain *f)
{
	return ask_token(f, region_path, on_region);
}
