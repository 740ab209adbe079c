/*
 * Provides credentials to callers: cached ones or those of a search; decides
 * when to search again.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "src/base/loop.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred.h"

enum {
	RENEW_S = 15 * 60, /* refreshed this long before they expire */
	WAIT_S = 10 * 60, /* and here one waits for them */
	/* Limits the rate of refreshes for keys with a short lifetime. */
	CALM_MS = 60 * 1000,
	BACKOFF_MS = 1000, /* after a failure, then twice that, and so on */
	BACKOFF_MOST_MS = 60 * 1000
};

struct waiter {
	STAILQ_ENTRY(waiter) next;
	cred_cb *cb;
	void *arg;
};
STAILQ_HEAD(waiters, waiter);

struct cred {
	struct loop *loop;
	struct http *http;
	const struct aws_config *config;
	int64_t offset_s;

	struct cred_keys found;
	bool have;
	bool spoiled;
	char *source;

	struct cred_chain *fetch; /* the search under way */
	struct loop_timer *timer; /* starts a search after a failure */
	int64_t calm_ms; /* none before this */
	int64_t backoff_ms;
	struct waiters waiting, answering;
	bool busy, closed; /* freed from inside a callback: when it is over */
};

static void cred_search(struct cred *);

static void
cred_on_timer(void *arg)
{
	struct cred *c = arg;

	if (c->fetch == NULL && !STAILQ_EMPTY(&c->waiting))
		cred_search(c);
}

struct cred *
cred_new(struct loop *loop, struct http *http, const struct aws_config *config)
{
	struct cred *c = xcalloc(1, sizeof *c);

	c->loop = loop;
	c->http = http;
	c->config = config;
	c->timer = loop_timer_new(loop, cred_on_timer, c);
	STAILQ_INIT(&c->waiting);
	STAILQ_INIT(&c->answering);
	return c;
}

static void
waiters_free(struct waiters *list)
{
	struct waiter *w;

	while ((w = STAILQ_FIRST(list)) != NULL) {
		STAILQ_REMOVE_HEAD(list, next);
		free(w);
	}
}

void
cred_free(struct cred *c)
{
	if (c == NULL)
		return;
	cred_chain_free(c->fetch);
	c->fetch = NULL;
	loop_timer_free(c->timer);
	c->timer = NULL;
	waiters_free(&c->waiting);
	waiters_free(&c->answering);
	c->closed = true;
	if (c->busy)
		return;
	cred_keys_fini(&c->found);
	free(c->source);
	free(c);
}

/* Seconds until the cached keys expire; a year if they never do. */
static int64_t
left_s(const struct cred *c)
{
	if (c->found.expiry_s == 0)
		return 365 * 86400;
	return c->found.expiry_s - loop_wall_us(c->loop) / 1000000 -
	       c->offset_s;
}

static bool
cred_is_good(const struct cred *c)
{
	return c->have && !c->spoiled && left_s(c) > 0;
}

/* Pass the cached keys, or e, to all waiting callers. */
static void
cred_tell(struct cred *c, const struct err *e)
{
	const struct err none = ERR_INIT;
	struct waiter *w;

	STAILQ_CONCAT(&c->answering, &c->waiting);
	c->busy = true;
	while ((w = STAILQ_FIRST(&c->answering)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->answering, next);
		w->cb(w->arg, cred_is_good(c) ? &c->found.keys : NULL,
		    e != NULL ? e : &none);
		free(w);
	}
	c->busy = false;
	if (c->closed)
		cred_free(c);
}

static void
cred_take(struct cred *c, struct cred_chain *f)
{
	cred_keys_fini(&c->found);
	c->found = f->found;
	memset(&f->found, 0, sizeof f->found);
	free(c->source);
	c->source = f->source;
	f->source = NULL;
	if (f->offset_seen)
		c->offset_s = f->offset_s;
	c->have = true;
	c->spoiled = false;
	c->backoff_ms = 0;
	c->calm_ms =
	    loop_now_ms(c->loop) + (left_s(c) <= RENEW_S ? CALM_MS : 0);
}

static void
calm_down(struct cred *c)
{
	c->backoff_ms = c->backoff_ms == 0 ? BACKOFF_MS : 2 * c->backoff_ms;
	if (c->backoff_ms > BACKOFF_MOST_MS)
		c->backoff_ms = BACKOFF_MOST_MS;
	c->calm_ms = loop_now_ms(c->loop) + c->backoff_ms;
}

/* A search has ended.  Its keys may be expired already. */
static void
on_done(void *arg, bool good)
{
	struct cred *c = arg;
	struct cred_chain *f = c->fetch;
	struct err e = f->err;

	c->fetch = NULL;
	if (good)
		cred_take(c, f);
	if (good && left_s(c) <= 0) {
		err_set(&e, ERR_REMOTE, "the AWS credentials (%s) have expired",
		    c->source);
		good = false;
	}
	if (!good)
		calm_down(c);
	cred_chain_free(f);
	cred_tell(c, &e);
}

static void
cred_search(struct cred *c)
{
	int64_t wait_ms = c->calm_ms - loop_now_ms(c->loop);

	if (c->fetch != NULL)
		return;
	/* What calms after new keys is that they are good. */
	if (c->backoff_ms == 0 && !cred_is_good(c))
		wait_ms = 0;
	if (wait_ms > 0)
		loop_timer_set(c->timer, wait_ms);
	else
		c->fetch = cred_chain_new(c->loop, c->http, c->config,
		    CRED_PLACES, c->offset_s, on_done, c);
}

void
cred_get(struct cred *c, cred_cb *cb, void *arg)
{
	const struct err none = ERR_INIT;
	bool calm = loop_now_ms(c->loop) < c->calm_ms;
	struct waiter *w;

	if (cred_is_good(c) && !calm && left_s(c) <= RENEW_S)
		cred_search(c);
	if (cred_is_good(c) && (calm || left_s(c) > WAIT_S)) {
		cb(arg, &c->found.keys, &none);
		return;
	}
	w = xcalloc(1, sizeof *w);
	w->cb = cb;
	w->arg = arg;
	STAILQ_INSERT_TAIL(&c->waiting, w, next);
	cred_search(c);
}

static void
drop(struct waiters *list, void *arg)
{
	struct waiter *w, *next;

	for (w = STAILQ_FIRST(list); w != NULL; w = next) {
		next = STAILQ_NEXT(w, next);
		if (w->arg != arg)
			continue;
		STAILQ_REMOVE(list, w, waiter, next);
		free(w);
	}
}

void
cred_forget(struct cred *c, void *arg)
{
	drop(&c->waiting, arg);
	drop(&c->answering, arg);
}

void
cred_invalidate(struct cred *c, const char *key_id)
{
	if (c->have && key_id != NULL && strcmp(c->found.keys.id, key_id) == 0)
		c->spoiled = true;
}

void
cred_set_offset(struct cred *c, int64_t offset_s)
{
	c->offset_s = offset_s;
}

const char *
cred_source_name(const struct cred *c)
{
	return c->source != NULL ? c->source : "";
}
