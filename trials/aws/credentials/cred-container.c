/*
 * Credentials from the container service (ECS, EKS).  Plain HTTP is used only
 * for addresses that cannot be another host.
 */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"

enum {
	CONTAINER_TRIES = 3,
	CONTAINER_TIMEOUT_MS = 2000,
	CONTAINER_WAIT_MS = 250 /* before the second try, then twice that */
};

static const char what[] = "the container's credential service";

static enum cred_try container_ask(struct cred_chain *);

void
cred_container_url_fini(struct cred_endpoint *u)
{
	free(u->base);
	free(u->path);
	cred_keys_wipe(u->token);
	memset(u, 0, sizeof *u);
}

static bool
container_is_near(const char *host)
{
	static const char *const known[] = { "169.254.170.2", "169.254.170.23",
		"fd00:ec2::23", "localhost", "::1", NULL };
	struct in_addr a;
	size_t i;

	for (i = 0; known[i] != NULL; i++)
		if (strcmp(host, known[i]) == 0)
			return true;
	return inet_pton(AF_INET, host, &a) == 1 &&
	       ntohl(a.s_addr) >> 24 == 127;
}

/* The host of a URL without port and brackets; NULL when it is none. */
static char *
container_host_of(const char *url)
{
	const char *s = strstr(url, "://");
	size_t n;

	if (s == NULL)
		return NULL;
	s += 3;
	n = strcspn(s, "/?#");
	if (memchr(s, '@', n) != NULL)
		return NULL;
	if (*s == '[')
		return xstrndup(s + 1, strcspn(s + 1, "]/?#"));
	return xstrndup(s, strcspn(s, ":/?#"));
}

static int
check_url(const char *url, struct err *e)
{
	bool plain = strncmp(url, "http://", 7) == 0;
	char *host = container_host_of(url);
	bool good = host != NULL && *host != '\0' &&
		    url[strcspn(url, " \t\r\n")] == '\0' &&
		    (plain ? container_is_near(host)
			   : strncmp(url, "https://", 8) == 0);

	free(host);
	if (good)
		return 0;
	return err_set(e, ERR_USAGE,
	    "AWS_CONTAINER_CREDENTIALS_FULL_URI: expected https:// or a "
	    "service of this machine");
}

/* NULL: no token is configured. */
static int
read_token(const struct aws_config *c, char **token, struct err *e)
{
	const char *path =
	    aws_config_env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *value =
	    aws_config_env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN");

	*token = NULL;
	if (path != NULL && cred_keys_token_file(token, path, e) != 0)
		return -1;
	if (path == NULL && value != NULL)
		*token = xstrdup(value);
	if (*token == NULL || (*token)[strcspn(*token, "\r\n")] == '\0')
		return 0;
	cred_keys_wipe(*token);
	return err_set(e, ERR_USAGE,
	    "the authorization token of the container has several lines");
}

static void
container_on_wait(struct cred_chain *f)
{
	cred_chain_resume(f, container_ask(f));
}

static enum cred_try
container_ask_again(struct cred_chain *f, const char *why)
{
	if (f->tries < CONTAINER_TRIES) {
		cred_chain_later(
		    f, CONTAINER_WAIT_MS << (f->tries - 1), container_on_wait);
		return CRED_WAIT;
	}
	err_set(&f->err, ERR_REMOTE, "%s: %s", what, why);
	return CRED_FAILED;
}

static enum cred_try
container_judge(struct cred_chain *f, const struct http_answer *a)
{
	struct json_doc *doc;
	struct err e = ERR_INIT;
	char why[64];
	int rc;

	if (a->status == 0)
		return container_ask_again(f, a->error);
	if (a->status != 200) {
		(void)snprintf(why, sizeof why, "status %d", a->status);
		return container_ask_again(f, why);
	}
	if (json_parse(&doc, a->body, a->len, NULL, false, &e) != 0)
		return container_ask_again(f, "its answer is no JSON");
	rc = cred_keys_read(&f->found, json_root(doc), "Token", what, &f->err);
	json_free(doc);
	return rc < 0 ? CRED_FAILED : CRED_FOUND;
}

static void
container_on_answer(void *arg, const struct http_answer *a)
{
	struct cred_chain *f = arg;

	f->request = NULL;
	cred_chain_resume(f, container_judge(f, a));
}

static enum cred_try
container_ask(struct cred_chain *f)
{
	struct http_send s = { .method = "GET",
		.url = f->url.base,
		.connect_ms = CONTAINER_TIMEOUT_MS,
		.timeout_ms = CONTAINER_TIMEOUT_MS,
		.most = 1 << 16 };
	const char *headers[3] = { "Accept: application/json" };
	char *token, *line = NULL;

	if (read_token(f->config, &token, &f->err) != 0)
		return CRED_FAILED;
	if (token != NULL)
		headers[1] = line = xasprintf("Authorization: %s", token);
	s.headers = headers;
	s.plain = s.direct = strncmp(f->url.base, "http://", 7) == 0;
	f->tries++;
	f->request = http_start(f->http, &s, container_on_answer, f);
	cred_keys_wipe(token);
	cred_keys_wipe(line);
	return CRED_WAIT;
}

enum cred_try
cred_container(struct cred_chain *f)
{
	const char *rel =
	    aws_config_env(f->config, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full =
	    aws_config_env(f->config, "AWS_CONTAINER_CREDENTIALS_FULL_URI");

	if (rel == NULL && full == NULL) {
		cred_chain_absent(
		    f, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set");
		return CRED_ABSENT;
	}
	cred_container_url_fini(&f->url);
	if (rel != NULL)
		f->url.base = xasprintf(
		    "http://169.254.170.2%s%s", *rel == '/' ? "" : "/", rel);
	else
		f->url.base = xstrdup(full);
	if (check_url(f->url.base, &f->err) != 0)
		return CRED_FAILED;
	f->tries = 0;
	cred_chain_source(f, "container");
	return container_ask(f);
}
