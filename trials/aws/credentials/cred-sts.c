/*
 * Requests to STS for the keys of roles.  Retries a few times; adopts the clock
 * of STS if ours is wrong.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "src/base/text.h"
#include "src/base/xml.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-endpoint.h"
#include "trials/aws/config/aws-retry.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred-sts.h"

enum { STS_TRIES = 4, STS_CONNECT_MS = 5000, STS_TIMEOUT_MS = 20000 };

static const char form_type[] =
    "application/x-www-form-urlencoded; charset=utf-8";

static enum cred_try send_form(struct cred_chain *);

void
cred_sts_fini(struct cred_sts *s)
{
	cred_keys_wipe(s->form);
	free(s->role);
	memset(s, 0, sizeof *s);
}

/* The reason of STS, sanitised. */
static enum cred_try
sts_refused(struct cred_chain *f, const char *code, const char *message)
{
	struct buf b = { 0 };

	text_put_harmless(&b, code, strlen(code), TEXT_LINE);
	if (*code != '\0' && *message != '\0')
		buf_puts(&b, ": ");
	text_put_harmless(&b, message, strlen(message), TEXT_LINE);
	err_set(&f->err, ERR_REMOTE, "AWS refuses to assume the role %s: %s",
	    f->sts.role, buf_str(&b));
	buf_free(&b);
	return CRED_FAILED;
}

static const char *
sts_field(const struct xml *credentials, const char *name)
{
	const char *s = credentials != NULL ? xml_get(credentials, name) : NULL;

	return s != NULL ? s : "";
}

/* <AssumeRole…Response><AssumeRole…Result><Credentials> */
static enum cred_try
sts_read_keys(struct cred_chain *f, const struct xml *root)
{
	const struct xml *c = root != NULL ? xml_first(root, NULL) : NULL;
	int64_t expiry_s;

	while (c != NULL && xml_first(c, "Credentials") == NULL)
		c = xml_next(c, NULL);
	c = c != NULL ? xml_first(c, "Credentials") : NULL;
	if (*sts_field(c, "AccessKeyId") == '\0' ||
	    *sts_field(c, "SecretAccessKey") == '\0' ||
	    *sts_field(c, "SessionToken") == '\0' ||
	    !cred_keys_time(sts_field(c, "Expiration"), &expiry_s))
		return sts_refused(f, "", "its answer has no keys");
	cred_keys_set(&f->found, sts_field(c, "AccessKeyId"),
	    sts_field(c, "SecretAccessKey"), sts_field(c, "SessionToken"));
	f->found.expiry_s = expiry_s;
	return CRED_FOUND;
}

static void
again(struct cred_chain *f)
{
	cred_chain_resume(f, send_form(f));
}

static enum cred_try
ask_later(struct cred_chain *f, const struct http_answer *a)
{
	int64_t asked = aws_retry_after_ms(
	    http_header(a, "retry-after"), http_header(a, "x-amz-retry-after"));
	uint32_t r;

	rng_system(&r, sizeof r);
	cred_chain_later(
	    f, aws_retry_backoff_ms(f->tries, r / 4294967296.0, asked), again);
	return CRED_WAIT;
}

/* Ask again by the clock of the server, which is the one that counts. */
static enum cred_try
ask_by_their_clock(struct cred_chain *f, const struct http_answer *a)
{
	const char *date = http_header(a, "date");
	int64_t s;

	if (f->offset_seen || date == NULL || !aws_retry_date_s(date, &s))
		return sts_refused(f, "", "the clock of this machine is off");
	f->offset_seen = true;
	f->offset_s = s - loop_wall_us(f->loop) / 1000000;
	return send_form(f);
}

static enum cred_try
sts_judge(
    struct cred_chain *f, const struct http_answer *a, const struct xml *root)
{
	const struct xml *error =
	    root != NULL ? xml_first(root, "Error") : NULL;
	const char *code = sts_field(error, "Code");
	const char *message = sts_field(error, "Message");
	enum aws_class class = aws_retry_classify(a->status, code, message);

	if (class == AWS_OK)
		return sts_read_keys(f, root);
	if (class == AWS_CLOCK && f->sts.sign)
		return ask_by_their_clock(f, a);
	if ((class == AWS_THROTTLE || class == AWS_TRANSIENT ||
		strcmp(code, "IDPCommunicationError") == 0) &&
	    f->tries < STS_TRIES)
		return ask_later(f, a);
	if (a->status == 0)
		return sts_refused(f, "", a->error);
	if (*code == '\0')
		return sts_refused(f, "", "it answers with an error");
	return sts_refused(f, code, message);
}

static void
sts_on_answer(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;
	struct err e = ERR_INIT;
	struct xml *root = NULL;
	enum cred_try t;

	f->request = NULL;
	if (a->len > 0 && xml_parse(&root, a->body, a->len, &e) < 0)
		root = NULL;
	t = sts_judge(f, a, root);
	xml_free(root);
	if (t != CRED_WAIT)
		cred_sts_fini(&f->sts);
	cred_chain_resume(f, t);
}

static char **
signed_headers(const struct cred_chain *f, const struct aws_endpoint *p)
{
	const struct aws_pair type = { "Content-Type", form_type };
	const struct aws_sigv4 s = { .keys = &f->found.keys,
		.region = aws_config_region(f->config),
		.service = aws_endpoint_scope(AWS_STS),
		.time_s = cred_chain_now_s(f),
		.method = "POST",
		.host = p->host,
		.path = *p->path != '\0' ? p->path : "/",
		.headers = &type,
		.n_headers = 1,
		.body = f->sts.form,
		.body_len = strlen(f->sts.form) };

	return aws_sigv4_headers(&s);
}

/* Send the request with the headers of the signature, or none, and the type. */
static void
sts_start(struct cred_chain *f, const struct aws_endpoint *p)
{
	char **sign = f->sts.sign ? signed_headers(f, p) : NULL;
	char *type = xasprintf("Content-Type: %s", form_type), *url;
	const char *headers[8] = { type };
	struct http_send s = { .method = "POST",
		.headers = headers,
		.body = f->sts.form,
		.body_len = strlen(f->sts.form),
		.connect_ms = STS_CONNECT_MS,
		.timeout_ms = STS_TIMEOUT_MS,
		.most = 1 << 20,
		.plain = p->plain };
	size_t i;

	for (i = 0; sign != NULL && sign[i] != NULL; i++)
		headers[i + 1] = sign[i];
	s.url = url = xasprintf("%s%s", p->url, *p->path != '\0' ? "" : "/");
	f->request = http_start(f->http, &s, sts_on_answer, f);
	aws_sigv4_free(sign);
	free(type);
	free(url);
}

static enum cred_try
send_form(struct cred_chain *f)
{
	struct aws_endpoint p;

	if (aws_endpoint_resolve(f->config, AWS_STS, &p, &f->err) < 0)
		return CRED_FAILED;
	if (aws_config_region(f->config) == NULL && f->sts.sign) {
		aws_endpoint_fini(&p);
		return sts_refused(f, "", "no AWS region is set");
	}
	f->tries++;
	sts_start(f, &p);
	aws_endpoint_fini(&p);
	return CRED_WAIT;
}

enum cred_try
cred_sts_send(
    struct cred_chain *f, struct buf *form, bool sign, const char *role)
{
	cred_sts_fini(&f->sts);
	f->sts.form = buf_take(form);
	f->sts.role = xstrdup(role);
	f->sts.sign = sign;
	f->tries = 0;
	return send_form(f);
}
