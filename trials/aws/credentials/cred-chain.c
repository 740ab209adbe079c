/*
 * One search for credentials: tries the places in order until one has keys,
 * then assumes the roles in turn.  Here are the places of static keys too
 * (variables, the credentials file, the config file), and the profiles whose
 * keys only the AWS CLI can get.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "src/base/text.h"
#include "src/base/xml.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-retry.h"
#include "trials/aws/credentials/cred-internal.h"

/* ---- assumed roles ------------------------------------------------------ */

/*
 * The chain of profiles, and web identity.  Requests to STS for the keys of
 * roles.  Retries a few times; adopts STS's clock if ours is wrong.
 */

enum { STS_TRIES = 4, STS_CONNECT_MS = 5000, STS_TIMEOUT_MS = 20000 };

static const char form_type[] =
    "application/x-www-form-urlencoded; charset=utf-8";

static enum cred_try send_form(struct cred_chain *);

static void
sts_fini(struct cred_sts *s)
{
	cred_keys_wipe(s->form);
	free(s->role);
	memset(s, 0, sizeof *s);
}

/* The reason of STS, sanitised. */
static enum cred_try
refused(struct cred_chain *f, const char *code, const char *message)
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
field(const struct xml *credentials, const char *name)
{
	const char *s = credentials != NULL ? xml_get(credentials, name) : NULL;

	return s != NULL ? s : "";
}

/* <AssumeRole…Response><AssumeRole…Result><Credentials> */
static enum cred_try
read_keys(struct cred_chain *f, const struct xml *root)
{
	const struct xml *c = root != NULL ? xml_first(root, NULL) : NULL;
	int64_t expiry_s;

	while (c != NULL && xml_first(c, "Credentials") == NULL)
		c = xml_next(c, NULL);
	c = c != NULL ? xml_first(c, "Credentials") : NULL;
	if (*field(c, "AccessKeyId") == '\0' ||
	    *field(c, "SecretAccessKey") == '\0' ||
	    *field(c, "SessionToken") == '\0' ||
	    !cred_keys_time(field(c, "Expiration"), &expiry_s))
		return refused(f, "", "its answer has no keys");
	cred_keys_set(&f->found, field(c, "AccessKeyId"),
	    field(c, "SecretAccessKey"), field(c, "SessionToken"));
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

/* Their clock counts. */
static enum cred_try
ask_by_their_clock(struct cred_chain *f, const struct http_answer *a)
{
	const char *date = http_header(a, "date");
	int64_t s;

	if (f->offset_seen || date == NULL || !aws_retry_date_s(date, &s))
		return refused(f, "", "the clock of this machine is off");
	f->offset_seen = true;
	f->offset_s = s - loop_wall_us(f->loop) / 1000000;
	return send_form(f);
}

static enum cred_try
judge(struct cred_chain *f, const struct http_answer *a, const struct xml *root)
{
	const struct xml *error =
	    root != NULL ? xml_first(root, "Error") : NULL;
	const char *code = field(error, "Code");
	const char *message = field(error, "Message");
	enum aws_class class = aws_retry_classify(a->status, code, message);

	if (class == AWS_OK)
		return read_keys(f, root);
	if (class == AWS_CLOCK && f->sts.sign)
		return ask_by_their_clock(f, a);
	if ((class == AWS_THROTTLE || class == AWS_TRANSIENT ||
		strcmp(code, "IDPCommunicationError") == 0) &&
	    f->tries < STS_TRIES)
		return ask_later(f, a);
	if (a->status == 0)
		return refused(f, "", a->error);
	if (*code == '\0')
		return refused(f, "", "it answers with an error");
	return refused(f, code, message);
}

static void
on_answer(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;
	struct err e = ERR_INIT;
	struct xml *root = NULL;
	enum cred_try t;

	f->request = NULL;
	if (a->len > 0 && xml_parse(&root, a->body, a->len, &e) < 0)
		root = NULL;
	t = judge(f, a, root);
	xml_free(root);
	if (t != CRED_WAIT)
		sts_fini(&f->sts);
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

/* Those of the signature, or none, and the type. */
static void
start(struct cred_chain *f, const struct aws_endpoint *p)
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
	f->request = http_start(f->http, &s, on_answer, f);
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
		return refused(f, "", "no AWS region is set");
	}
	f->tries++;
	start(f, &p);
	aws_endpoint_fini(&p);
	return CRED_WAIT;
}

/*
 * Send a request to STS: takes ownership of form, the body; signed with the
 * keys found so far, or unsigned. role is used in the error.  Ends in
 * cred_chain_resume.
 */
static enum cred_try
sts_send(struct cred_chain *f, struct buf *form, bool sign, const char *role)
{
	sts_fini(&f->sts);
	f->sts.form = buf_take(form);
	f->sts.role = xstrdup(role);
	f->sts.sign = sign;
	f->tries = 0;
	return send_form(f);
}

enum { TOKEN_BYTES_MAX = 1 << 16 };

/* Places of keys for a profile that is the source of another. */
#define PROFILE_PLACES                                         \
	(1u << CRED_PLACE_WEB | 1u << CRED_PLACE_SSO |         \
	    1u << CRED_PLACE_SHARED | 1u << CRED_PLACE_LOGIN | \
	    1u << CRED_PLACE_PROCESS | 1u << CRED_PLACE_CONFIG)

static bool
has(const struct cred_chain *f, const char *profile, const char *key)
{
	return aws_config_get(f->config, profile, key) != NULL;
}

/* With a web identity beside it the role is assumed by that. */
static bool
has_role(const struct cred_chain *f, const char *profile)
{
	return has(f, profile, "role_arn") &&
	       !has(f, profile, "web_identity_token_file");
}

static bool
has_keys(const struct cred_chain *f, const char *profile)
{
	return has(f, profile, "aws_access_key_id") ||
	       has(f, profile, "aws_secret_access_key");
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
check_role(struct cred_chain *f, const char *p)
{
	bool profile = has(f, p, "source_profile");
	bool place = has(f, p, "credential_source");

	if (profile == place)
		return err_set(&f->err, ERR_USAGE,
		    "AWS profile \"%s\": role_arn needs %s source_profile "
		    "%s credential_source",
		    p, profile ? "one of" : "a", profile ? "and" : "or a");
	if (has(f, p, "mfa_serial"))
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

/* One place each. */
static enum cred_try
assume_role(struct cred_chain *f)
{
	const char *source;

	while (has_role(f, f->profile)) {
		if (check_role(f, f->profile) < 0)
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

/* Assume the role of a profile with the keys found so far. */
static enum cred_try
assume_profile(struct cred_chain *f, const char *profile)
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
	return sts_send(f, &b, true, role);
}

/* A variable, where they count, else a key of the profile. */
static const char *
web_get(const struct cred_chain *f, const char *variable, const char *key)
{
	const char *s = f->use_env ? aws_config_env(f->config, variable) : NULL;

	return s != NULL ? s : aws_config_get(f->config, f->profile, key);
}

/* One place each. */
static enum cred_try
assume_web(struct cred_chain *f)
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
	if (cred_chain_token_file(&token, path, &f->err) != 0)
		return CRED_FAILED;
	buf_puts(&b, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15");
	cred_assume_form(&b, "RoleArn", role);
	put_session(
	    &b, f, web_get(f, "AWS_ROLE_SESSION_NAME", "role_session_name"));
	cred_assume_form(&b, "WebIdentityToken", token);
	cred_keys_wipe(token);
	cred_chain_source(f, "web identity");
	return sts_send(f, &b, false, role);
}

int
cred_chain_token_file(char **out, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = xcalloc(1, TOKEN_BYTES_MAX + 1);
	size_t n = 0, from;
	ssize_t k = 1;

	while (fd >= 0 && k > 0 && n < TOKEN_BYTES_MAX) {
		k = read(fd, text + n, TOKEN_BYTES_MAX - n);
		n += k > 0 ? (size_t)k : 0;
	}
	if (fd < 0 || k < 0) {
		err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		cred_keys_wipe(text);
		return -1;
	}
	close(fd);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
		text[--n] = '\0';
	from = strspn(text, " \t\r\n");
	*out = xstrdup(text + from);
	cred_keys_wipe(text);
	return 0;
}

/* ---- the search --------------------------------------------------------- */

static enum cred_try
static_env(struct cred_chain *f)
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

static enum cred_try
static_shared(struct cred_chain *f)
{
	return file_keys(f, AWS_FILE_CREDENTIALS, "credentials");
}

static enum cred_try
static_config(struct cred_chain *f)
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

static enum cred_try
static_sso(struct cred_chain *f)
{
	const struct aws_config *c = f->config;

	if (aws_config_get(c, f->profile, "sso_role_name") == NULL &&
	    aws_config_get(c, f->profile, "sso_account_id") == NULL)
		return CRED_ABSENT;
	return person(f, "SSO");
}

static enum cred_try
static_login(struct cred_chain *f)
{
	if (aws_config_get(f->config, f->profile, "login_session") == NULL)
		return CRED_ABSENT;
	return person(f, "\"aws login\"");
}

static enum cred_try (*const places[CRED_PLACES])(struct cred_chain *) = {
	[CRED_PLACE_ENV] = static_env,
	[CRED_PLACE_ROLE] = assume_role,
	[CRED_PLACE_WEB] = assume_web,
	[CRED_PLACE_SSO] = static_sso,
	[CRED_PLACE_SHARED] = static_shared,
	[CRED_PLACE_LOGIN] = static_login,
	[CRED_PLACE_PROCESS] = cred_process,
	[CRED_PLACE_CONFIG] = static_config,
	[CRED_PLACE_CONTAINER] = cred_container,
	[CRED_PLACE_IMDS] = cred_imds,
	[CRED_PLACE_REGION] = cred_imds_region,
};

void
cred_chain_absent(struct cred_chain *f, const char *fmt, ...)
{
	va_list ap;

	if (f->looked.len > 0)
		buf_puts(&f->looked, "; ");
	va_start(ap, fmt);
	buf_vprintf(&f->looked, fmt, ap);
	va_end(ap);
}

void
cred_chain_source(struct cred_chain *f, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	free(f->source);
	f->source = buf_take(&text);
}

int64_t
cred_chain_now_s(const struct cred_chain *f)
{
	return loop_wall_us(f->loop) / 1000000 + f->offset_s;
}

static void
on_timer(void *arg)
{
	struct cred_chain *f = arg;

	f->on_timer(f);
}

void
cred_chain_later(
    struct cred_chain *f, int64_t ms, void (*cb)(struct cred_chain *))
{
	f->on_timer = cb;
	loop_timer_set(f->timer, ms);
}

/* A key ends up in a header: no blank, no control, no line's end. */
static bool
is_clean(const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		if (*s < '!' || *s > '~')
			return false;
	return true;
}

static void
end(struct cred_chain *f, bool good)
{
	f->done(f->arg, good);
}

/* Keys were found: the result, or those for the next role. */
static void
found(struct cred_chain *f)
{
	const struct aws_keys *k = &f->found.keys;
	enum cred_try t;
	char *role;

	if (!is_clean(k->id) || !is_clean(k->secret) || !is_clean(k->token)) {
		err_set(&f->err, ERR_USAGE,
		    "AWS credentials (%s): characters that no key has",
		    f->source);
		end(f, false);
		return;
	}
	if (f->n_roles == 0) {
		end(f, true);
		return;
	}
	role = f->roles[--f->n_roles];
	f->roles[f->n_roles] = NULL;
	t = assume_profile(f, role);
	free(role);
	if (t != CRED_WAIT)
		end(f, false);
}

static void
nothing(struct cred_chain *f)
{
	if (f->n_roles > 0)
		err_set(&f->err, ERR_USAGE,
		    "no AWS credentials to assume the role of profile \"%s\" "
		    "with: %s",
		    f->roles[f->n_roles - 1], buf_str(&f->looked));
	else
		err_set(&f->err, ERR_USAGE, "no AWS credentials: %s",
		    buf_str(&f->looked));
	end(f, false);
}

static void
walk(struct cred_chain *f)
{
	enum cred_try t = CRED_ABSENT;
	enum cred_place at;

	while (t == CRED_ABSENT && f->at < CRED_PLACES) {
		at = f->at++;
		if ((f->places & (1u << at)) != 0)
			t = places[at](f);
	}
	if (t == CRED_ABSENT)
		nothing(f);
	else if (t != CRED_WAIT)
		cred_chain_resume(f, t);
}

void
cred_chain_resume(struct cred_chain *f, enum cred_try t)
{
	switch (t) {
	case CRED_ABSENT:
		walk(f);
		break;
	case CRED_FOUND:
		found(f);
		break;
	case CRED_FAILED:
		end(f, false);
		break;
	case CRED_WAIT:
		break;
	}
}

/* Reload the files: they may have changed since the last search. */
static void
begin(struct cred_chain *f)
{
	if (aws_config_reload(&f->config, f->base, &f->err) != 0) {
		end(f, false);
		return;
	}
	f->use_env = !aws_config_profile_named(f->config);
	if (!f->alone)
		f->places = (1u << CRED_PLACE_REGION) - 1;
	if (!f->use_env)
		f->places &= ~(1u << CRED_PLACE_ENV);
	f->profile = xstrdup(aws_config_profile(f->config));
	walk(f);
}

struct cred_chain *
cred_chain_new(struct loop *loop, struct http *http,
    const struct aws_config *config, enum cred_place only, int64_t offset_s,
    void (*done)(void *, bool), void *arg)
{
	struct cred_chain *f = xcalloc(1, sizeof *f);

	f->loop = loop;
	f->http = http;
	f->base = config;
	f->alone = only != CRED_PLACES;
	f->places = f->alone ? 1u << only : 0;
	f->offset_s = offset_s;
	f->done = done;
	f->arg = arg;
	f->timer = loop_timer_new(loop, on_timer, f);
	cred_chain_later(f, 0, begin);
	return f;
}

void
cred_chain_free(struct cred_chain *f)
{
	if (f == NULL)
		return;
	if (f->request != NULL)
		http_cancel(f->request);
	if (f->child != NULL)
		capture_kill(f->child);
	loop_timer_free(f->timer);
	aws_config_free(f->config);
	while (f->n_roles > 0)
		free(f->roles[--f->n_roles]);
	cred_keys_fini(&f->found);
	sts_fini(&f->sts);
	cred_container_url_fini(&f->url);
	free(f->source);
	free(f->profile);
	buf_free(&f->looked);
	free(f);
}
