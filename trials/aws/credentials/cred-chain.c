/*
 * One search for credentials: tries the places in order until one has keys,
 * then assumes the roles in turn.
 */

#include <stdlib.h>

#include "src/base/capture.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-assume-role.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred-static.h"
#include "trials/aws/credentials/cred-sts.h"

static enum cred_try (*const places[CRED_PLACES])(struct cred_chain *) = {
	[CRED_PLACE_ENV] = cred_static_env,
	[CRED_PLACE_ROLE] = cred_assume_role,
	[CRED_PLACE_WEB] = cred_assume_role_web,
	[CRED_PLACE_SSO] = cred_static_sso,
	[CRED_PLACE_SHARED] = cred_static_shared,
	[CRED_PLACE_LOGIN] = cred_static_login,
	[CRED_PLACE_PROCESS] = cred_process,
	[CRED_PLACE_CONFIG] = cred_static_config,
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
cred_chain_on_timer(void *arg)
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
cred_chain_end(struct cred_chain *f, bool good)
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
		cred_chain_end(f, false);
		return;
	}
	if (f->n_roles == 0) {
		cred_chain_end(f, true);
		return;
	}
	role = f->roles[--f->n_roles];
	f->roles[f->n_roles] = NULL;
	t = cred_assume_role_again(f, role);
	free(role);
	if (t != CRED_WAIT)
		cred_chain_end(f, false);
}

static void
cred_chain_nothing(struct cred_chain *f)
{
	if (f->n_roles > 0)
		err_set(&f->err, ERR_USAGE,
		    "no AWS credentials to assume the role of profile \"%s\" "
		    "with: %s",
		    f->roles[f->n_roles - 1], buf_str(&f->looked));
	else
		err_set(&f->err, ERR_USAGE, "no AWS credentials: %s",
		    buf_str(&f->looked));
	cred_chain_end(f, false);
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
		cred_chain_nothing(f);
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
		cred_chain_end(f, false);
		break;
	case CRED_WAIT:
		break;
	}
}

/* Reload the files: they may have changed since the last search. */
static void
cred_chain_begin(struct cred_chain *f)
{
	if (aws_config_reload(&f->config, f->base, &f->err) != 0) {
		cred_chain_end(f, false);
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
	f->timer = loop_timer_new(loop, cred_chain_on_timer, f);
	cred_chain_later(f, 0, cred_chain_begin);
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
	cred_sts_fini(&f->sts);
	cred_container_url_fini(&f->url);
	free(f->source);
	free(f->profile);
	buf_free(&f->looked);
	free(f);
}
