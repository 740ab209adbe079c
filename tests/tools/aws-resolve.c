/*
 * Prints our interpretation of the environment and the shared files as JSON,
 * for a comparison with botocore:
 *
 *	aws-resolve ini FILE: [[section, key, nested key or null, value], …]
 *	aws-resolve endpoints: {"region": …, "sagemaker": URL, …}
 *	aws-resolve keys [PROFILE]: {"id": …, "source": …} or {"error": …}
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/config/aws-endpoint.h"
#include "trials/aws/credentials/cred.h"
#include "trials/aws/config/aws-ini.h"

static const char *
env(const char *name)
{
	return getenv(name);
}

static void
put_pair(struct buf *b, const char *name, const char *value)
{
	buf_puts(b, b->len > 1 ? ", " : "");
	json_put_string(b, name);
	buf_puts(b, ": ");
	if (value != NULL)
		json_put_string(b, value);
	else
		buf_puts(b, "null");
}

static void
say(struct buf *b)
{
	printf("%s\n", buf_str(b));
	buf_free(b);
}

static void
say_error(const struct err *e)
{
	struct buf b = { 0 };

	buf_putc(&b, '{');
	put_pair(&b, "error", e->text);
	buf_putc(&b, '}');
	say(&b);
}

static void
ask_ini(const char *path)
{
	struct err e = ERR_INIT;
	struct aws_ini_item x;
	struct aws_ini *ini;
	struct buf b = { 0 };
	size_t i;

	if (aws_ini_load(&ini, path, &e) < 0) {
		say_error(&e);
		return;
	}
	buf_putc(&b, '[');
	for (i = 0; aws_ini_at(ini, i, &x); i++) {
		buf_puts(&b, i > 0 ? ", [" : "[");
		json_put_string(&b, x.section);
		buf_puts(&b, ", ");
		json_put_string(&b, x.key);
		buf_puts(&b, ", ");
		if (x.sub != NULL)
			json_put_string(&b, x.sub);
		else
			buf_puts(&b, "null");
		buf_puts(&b, ", ");
		json_put_string(&b, x.value);
		buf_putc(&b, ']');
	}
	buf_putc(&b, ']');
	say(&b);
	aws_ini_free(ini);
}

static void
put_endpoint(struct buf *b, const struct aws_config *c, enum aws_service s)
{
	struct err e = ERR_INIT;
	struct aws_endpoint p;

	if (aws_endpoint_resolve(c, s, &p, &e) == 0)
		put_pair(b, aws_endpoint_scope(s), p.url);
	else
		put_pair(b, aws_endpoint_scope(s), NULL);
	aws_endpoint_fini(&p);
}

static void
ask_endpoints(const struct aws_config *c)
{
	struct buf b = { 0 };
	int s;

	buf_putc(&b, '{');
	put_pair(&b, "region", aws_config_region(c));
	put_pair(&b, "ca_bundle", aws_config_ca_bundle(c));
	for (s = 0; s < AWS_SERVICES; s++)
		put_endpoint(&b, c, (enum aws_service)s);
	buf_putc(&b, '}');
	say(&b);
}

struct asking {
	struct loop *loop;
	struct cred *cred;
};

static void
on_keys(void *arg, const struct aws_keys *keys, const struct err *e)
{
	struct asking *a = arg;
	struct buf b = { 0 };

	if (keys == NULL) {
		say_error(e);
	} else {
		buf_putc(&b, '{');
		put_pair(&b, "id", keys->id);
		put_pair(&b, "secret", keys->secret);
		put_pair(&b, "token", keys->token);
		put_pair(&b, "source", cred_source_name(a->cred));
		buf_putc(&b, '}');
		say(&b);
	}
	loop_stop(a->loop);
}

static void
on_turn(void *arg)
{
	(void)arg;
}

static int
ask_keys(const struct aws_config *c, struct err *e)
{
	struct asking a;
	struct http *http;

	if (loop_open(&a.loop, LOOP_REAL, e) < 0 ||
	    http_open(&http, a.loop, aws_config_ca_bundle(c), e) < 0)
		return -1;
	a.cred = cred_new(a.loop, http, c);
	cred_get(a.cred, on_keys, &a);
	loop_run(a.loop, on_turn, NULL);
	cred_free(a.cred);
	http_close(http);
	loop_close(a.loop);
	return 0;
}

int
main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct aws_config *c;
	int rc = 0;

	if (argc == 3 && strcmp(argv[1], "ini") == 0) {
		ask_ini(argv[2]);
		return 0;
	}
	if (argc < 2 ||
	    (strcmp(argv[1], "endpoints") != 0 && strcmp(argv[1], "keys") != 0))
		return 2;
	if (aws_config_open(&c, env, argc > 2 ? argv[2] : NULL, NULL, &e) < 0) {
		say_error(&e);
		return 0;
	}
	if (strcmp(argv[1], "endpoints") == 0)
		ask_endpoints(c);
	else
		rc = ask_keys(c, &e);
	if (rc < 0)
		say_error(&e);
	aws_config_free(c);
	return 0;
}
