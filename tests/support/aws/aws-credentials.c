/* The server that plays STS, a container and an instance. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/aws/aws-credentials.h"
#include "tests/support/http/http-loop-server.h"
#include "trials/aws/config/aws-config.h"

enum { GUARD_MS = 300 * 1000 }; /* of what is waited for */

static char home[] = "/tmp/hpotune-cred.XXXXXX";
static char *vars[64]; /* names and values */

static const char *
look(const char *name)
{
	size_t i;

	if (strcmp(name, "HOME") == 0)
		return home;
	for (i = 0; vars[i] != NULL; i += 2)
		if (strcmp(vars[i], name) == 0)
			return vars[i + 1];
	return NULL;
}

/* "PORT" -> the server's; "HOME" -> ours. */
static char *
filled(const struct aws_credentials *g, const char *text)
{
	struct buf b = { 0 };

	while (*text != '\0') {
		if (strncmp(text, "PORT", 4) == 0) {
			buf_printf(&b, "%d", http_loop_server_port(g->fake));
			text += 4;
		} else if (strncmp(text, "HOME", 4) == 0) {
			buf_puts(&b, home);
			text += 4;
		} else
			buf_putc(&b, *text++);
	}
	return b.data != NULL ? buf_take(&b) : xstrdup("");
}

static void
put_time(struct buf *b, int after_s)
{
	time_t t = time(NULL) + after_s;
	char text[32];
	struct tm tm;

	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	buf_puts(b, text);
}

static void
say_json(struct aws_credentials *g, struct buf *body, const char *name, int n)
{
	buf_printf(body,
	    "{\"Code\": \"Success\", \"AccessKeyId\": \"%s%d\", "
	    "\"SecretAccessKey\": \"HUSH\", \"Token\": \"TOKEN\", "
	    "\"Expiration\": \"",
	    name, n);
	put_time(body, g->life_s);
	buf_puts(body, "\"}");
}

static void
keep(char *to, size_t size, const struct http_loop_server_request *a,
    const char *name)
{
	char *value = http_loop_server_header(a, name);

	(void)snprintf(to, size, "%s", value != NULL ? value : "");
	free(value);
}

static int
say_sts(struct aws_credentials *g, const struct http_loop_server_request *a,
    struct buf *body)
{
	bool web = strstr(a->body, "WebIdentity&") != NULL;
	const char *what = web ? "AssumeRoleWithWebIdentity" : "AssumeRole";

	(void)snprintf(g->form, sizeof g->form, "%s", a->body);
	keep(g->session, sizeof g->session, a, "x-amz-security-token");
	buf_printf(body,
	    "<%sResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
	    "<%sResult><Credentials><AccessKeyId>%s%d</AccessKeyId>"
	    "<SecretAccessKey>HUSH</SecretAccessKey>"
	    "<SessionToken>TOKEN</SessionToken><Expiration>",
	    what, what, web ? "WEB" : "ROLE", g->sts);
	put_time(body, g->life_s);
	buf_printf(body, "</Expiration></Credentials></%sResult></%sResponse>",
	    what, what);
	return 200;
}

static int
say_instance(struct aws_credentials *g,
    const struct http_loop_server_request *a, struct buf *body)
{
	static const char roles[] =
	    "/latest/meta-data/iam/security-credentials/";
	char *token = http_loop_server_header(a, "x-aws-ec2-metadata-token");
	bool allowed = token != NULL ? strcmp(token, "a-token") == 0
				     : g->token_status != 200;

	free(token);
	g->metadata++;
	if (!allowed)
		return 401;
	if (strcmp(a->path, "/latest/meta-data/placement/region") == 0) {
		buf_puts(body, "eu-west-3\n");
		return 200;
	}
	if (strcmp(a->path, roles) == 0) {
		buf_puts(body, "a role");
		return g->no_role ? 404 : 200;
	}
	if (strcmp(a->path + strlen(roles), "a%20role") != 0)
		return 404;
	say_json(g, body, "IMDS", g->metadata);
	return 200;
}

static int
on_ask(void *arg, const struct http_loop_server_request *a, struct buf *head,
    struct buf *body)
{
	struct aws_credentials *g = arg;
	bool sts = strcmp(a->method, "POST") == 0;
	bool token = strcmp(a->path, "/latest/api/token") == 0;

	g->sts += sts;
	g->tokens += token;
	g->container += strncmp(a->path, "/creds", 6) == 0;
	keep(g->auth, sizeof g->auth, a, "Authorization");
	if (g->silent)
		return -1;
	if (g->bad > 0) {
		g->bad--;
		buf_puts(head, g->bad_head != NULL ? g->bad_head : "");
		buf_puts(body, g->bad_body != NULL ? g->bad_body : "");
		return g->bad_status;
	}
	if (sts)
		return say_sts(g, a, body);
	if (token) {
		buf_puts(body, "a-token");
		return strcmp(a->method, "PUT") == 0 ? g->token_status : 405;
	}
	if (strncmp(a->path, "/creds", 6) != 0)
		return say_instance(g, a, body);
	say_json(g, body, "TASK", g->container);
	return 200;
}

static void
on_guard(void *arg)
{
	struct aws_credentials *g = arg;

	g->late = true;
}

static void
bail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

void
cred_rig_open(struct aws_credentials *g)
{
	struct err e = ERR_INIT;
	char *folder;

	memset(g, 0, sizeof *g);
	g->life_s = 3600;
	g->token_status = 200;
	if (mkdtemp(home) == NULL)
		bail("no folder");
	folder = xasprintf("%s/.aws", home);
	if (mkdir(folder, 0700) == -1)
		bail("no folder");
	free(folder);
	if (loop_open(&g->loop, LOOP_REAL, &e) == -1 ||
	    http_open(&g->http, g->loop, NULL, &e) == -1)
		bail(e.text);
	g->fake = http_loop_server_new(g->loop, on_ask, g);
	g->guard = loop_timer_new(g->loop, on_guard, g);
}

static void
chain_close(struct aws_credentials *g)
{
	size_t i;

	cred_free(g->cred);
	g->cred = NULL;
	aws_config_free(g->config);
	g->config = NULL;
	for (i = 0; vars[i] != NULL; i++) {
		free(vars[i]);
		vars[i] = NULL;
	}
}

void
cred_rig_close(struct aws_credentials *g)
{
	char *command = xasprintf("rm -rf %s", home);

	chain_close(g);
	http_loop_server_free(g->fake);
	loop_timer_free(g->guard);
	http_close(g->http);
	loop_close(g->loop);
	if (system(command) != 0)
		printf("# %s stays\n", home);
	free(command);
}

void
cred_rig_put(struct aws_credentials *g, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", home, name), *all = filled(g, text);
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(all, f) < 0 || fclose(f) != 0)
		bail("cannot write a file");
	if (strstr(name, ".sh") != NULL && chmod(path, 0700) == -1)
		bail("chmod");
	free(path);
	free(all);
}

void
cred_rig_files(
    struct aws_credentials *g, const char *config, const char *credentials)
{
	cred_rig_put(g, ".aws/config", config);
	cred_rig_put(g, ".aws/credentials", credentials);
}

void
cred_rig_env(struct aws_credentials *g, const char *profile, ...)
{
	struct err e = ERR_INIT;
	const char *s;
	size_t n = 0;
	va_list ap;

	chain_close(g);
	va_start(ap, profile);
	while ((s = va_arg(ap, const char *)) != NULL)
		vars[n++] = filled(g, s);
	va_end(ap);
	if (aws_config_open(&g->config, look, profile, NULL, &e) == -1)
		bail(e.text);
	g->cred = cred_new(g->loop, g->http, g->config);
	g->sts = g->container = g->tokens = g->metadata = 0;
	g->bad = 0;
	g->bad_head = g->bad_body = NULL;
	g->life_s = 3600;
	g->form[0] = g->auth[0] = g->session[0] = '\0';
}

static void
copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from != NULL ? from : "");
}

void
aws_credentials_on_keys(
    void *arg, const struct aws_keys *keys, const struct err *e)
{
	struct aws_credentials_answer *t = arg;

	t->calls++;
	t->good = keys != NULL;
	copy(t->why, sizeof t->why, e->text);
	if (keys == NULL)
		return;
	copy(t->id, sizeof t->id, keys->id);
	copy(t->secret, sizeof t->secret, keys->secret);
	copy(t->token, sizeof t->token, keys->token);
}

struct until {
	struct aws_credentials *rig;
	const int *counter;
	int n;
};

static void
on_turn(void *arg)
{
	struct until *u = arg;

	if (*u->counter >= u->n || u->rig->late)
		loop_stop(u->rig->loop);
}

void
cred_rig_until(struct aws_credentials *g, const int *counter, int n)
{
	struct until u = { g, counter, n };

	g->late = false;
	loop_timer_set(g->guard, GUARD_MS);
	loop_run(g->loop, on_turn, &u);
	loop_timer_stop(g->guard);
	if (g->late)
		printf("# nothing came for five minutes\n");
}

struct aws_credentials_answer
cred_rig_get(struct aws_credentials *g)
{
	struct aws_credentials_answer t = { 0 };

	cred_get(g->cred, aws_credentials_on_keys, &t);
	cred_rig_until(g, &t.calls, 1);
	cred_forget(g->cred, &t);
	return t;
}
