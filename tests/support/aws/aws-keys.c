/* Provides keys like the credential chain, immediately or later. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "tests/support/aws/aws-client.h"
#include "trials/aws/credentials/cred.h"

/* The rig whose client asks for keys. */
static struct aws_client *current;

void
aws_rig_keys(struct aws_client *rig)
{
	current = rig;
	rig->generation = 1;
}

struct cred {
	struct loop_timer *timer;
	struct {
		cred_cb *cb;
		void *arg;
	} waits[64];
	int n;
};

static void
keys_give(cred_cb *cb, void *arg)
{
	char id[32], secret[64], token[64];
	struct aws_keys keys = { .id = id, .secret = secret, .token = token };
	struct err e = ERR_INIT;

	if (current->keyless) {
		(void)err_set(&e, ERR_REMOTE, "no keys were found");
		cb(arg, NULL, &e);
		return;
	}
	(void)snprintf(id, sizeof id, "AKID%d", current->generation);
	(void)snprintf(
	    secret, sizeof secret, "SECRET%d/+abc", current->generation);
	(void)snprintf(
	    token, sizeof token, "TOKEN%d+/=def", current->generation);
	cb(arg, &keys, NULL);
}

static void
on_keys_due(void *arg)
{
	struct cred *k = arg;
	int i, n = k->n;

	k->n = 0;
	for (i = 0; i < n; i++)
		if (k->waits[i].cb != NULL)
			keys_give(k->waits[i].cb, k->waits[i].arg);
}

struct cred *
cred_new(struct loop *loop, struct http *http, const struct aws_config *config)
{
	struct cred *k = xcalloc(1, sizeof *k);

	(void)http;
	(void)config;
	k->timer = loop_timer_new(loop, on_keys_due, k);
	return k;
}

void
cred_free(struct cred *k)
{
	loop_timer_free(k->timer);
	free(k);
}

void
cred_get(struct cred *k, cred_cb *cb, void *arg)
{
	if (!current->slow_keys) {
		keys_give(cb, arg);
		return;
	}
	k->waits[k->n].cb = cb;
	k->waits[k->n++].arg = arg;
	loop_timer_set(k->timer, 1);
}

void
cred_forget(struct cred *k, void *arg)
{
	int i;

	for (i = 0; i < k->n; i++)
		if (k->waits[i].arg == arg)
			k->waits[i].cb = NULL;
}

void
cred_invalidate(struct cred *k, const char *key_id)
{
	char id[32];

	(void)k;
	(void)snprintf(id, sizeof id, "AKID%d", current->generation);
	if (strcmp(id, key_id) != 0)
		return;
	current->generation++;
	current->spoiled++;
}

void
cred_set_offset(struct cred *k, int64_t offset_s)
{
	(void)k;
	current->cred_offset_s = offset_s;
}

const char *
cred_source_name(const struct cred *k)
{
	(void)k;
	return "the rig";
}
