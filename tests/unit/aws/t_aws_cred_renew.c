/* When credentials are refreshed, and what waiting callers get. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/aws/aws-credentials.h"
#include "tests/support/tap.h"

#define TASK "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:PORT/creds"

/* Keys that are good for an hour, and a clock that is moved. */
static void
begin(struct aws_credentials *g)
{
	cred_rig_env(g, NULL, TASK, NULL);
	is_found(g, "TASK1", "container", "keys for an hour");
}

static void
test_many(struct aws_credentials *g)
{
	struct aws_credentials_answer t[3] = { { 0 } };
	size_t i;

	cred_rig_env(g, NULL, TASK, NULL);
	for (i = 0; i < 3; i++)
		cred_get(g->cred, aws_credentials_on_keys, &t[i]);
	is_int(t[0].calls, 0, "not from inside the call");
	cred_forget(g->cred, &t[1]);
	cred_rig_until(g, &t[2].calls, 1);
	ok(t[0].good && t[2].good && t[0].calls == 1, "several wait for one");
	is_int(t[1].calls, 0, "a cancelled request gets no answer");
	is_int(g->container, 1, "asked once");
	cred_get(g->cred, aws_credentials_on_keys, &t[1]);
	is_int(t[1].calls, 1, "cached keys are returned at once");
	g->life_s = 2 * 3600;
	cred_set_offset(g->cred, 61 * 60);
	cred_get(g->cred, aws_credentials_on_keys, &t[1]);
	cred_rig_until(g, &t[1].calls, 2);
	ok(g->container == 2 && strcmp(t[1].id, "TASK2") == 0, "they expire");
}

static void
test_windows(struct aws_credentials *g)
{
	struct aws_credentials_answer t = { 0 };

	begin(g);
	cred_set_offset(g->cred, 44 * 60);
	cred_get(g->cred, aws_credentials_on_keys, &t);
	is_int(t.calls, 1, "16 min before: given");
	cred_set_offset(g->cred, 46 * 60);
	cred_get(g->cred, aws_credentials_on_keys, &t);
	ok(t.calls == 2 && strcmp(t.id, "TASK1") == 0,
	    "14 min before: the old ones, at once");
	g->life_s = 2 * 3600;
	cred_rig_until(g, &g->container, 2);
	cred_set_offset(g->cred, 51 * 60);
	is_found(g, "TASK2", "container", "while new ones were asked for");
	is_int(g->container, 2, "once");

	begin(g);
	cred_set_offset(g->cred, 51 * 60);
	g->life_s = 2 * 3600;
	cred_get(g->cred, aws_credentials_on_keys, &t);
	is_int(t.calls, 2, "9 min before: not the old ones");
	cred_rig_until(g, &t.calls, 3);
	is_str(t.id, "TASK2", "but new ones");
}

static void
test_failures(struct aws_credentials *g)
{
	struct aws_credentials_answer t;

	begin(g);
	cred_set_offset(g->cred, 51 * 60);
	g->bad = 3;
	g->bad_status = 500;
	t = cred_rig_get(g);
	ok(t.good && strcmp(t.id, "TASK1") == 0,
	    "no new ones: the old ones, while they are good");
	is_int(g->container, 4, "after three tries");
	t = cred_rig_get(g);
	is_int(g->container, 4, "and no request is sent for a while");
	ok(t.good, "but they are given");

	begin(g);
	cred_set_offset(g->cred, 3 * 3600);
	g->bad = 3;
	is_refused(g, "status 500", "old ones that are over are not");
	g->life_s = 4 * 3600;
	is_found(g, "TASK5", "container", "who asks then waits a second");
}

static void
test_spoil(struct aws_credentials *g)
{
	begin(g);
	cred_invalidate(g->cred, "another");
	is_found(g, "TASK1", "container", "another key was refused");
	cred_invalidate(g->cred, "TASK1");
	is_found(g, "TASK2", "container",
	    "the keys in use were refused: they are requested again");
	cred_invalidate(g->cred, "TASK2");
	g->bad = 3;
	g->bad_status = 500;
	is_refused(g, "status 500", "a refused key is not given again");
}

/* Keys that are short-lived are not asked for all the time. */
static void
test_short(struct aws_credentials *g)
{
	cred_rig_env(g, NULL, TASK, NULL);
	g->life_s = 300;
	is_found(g, "TASK1", "container", "keys for five minutes");
	is_found(g, "TASK1", "container", "are used");
	is_int(g->container, 1, "without new ones at each use");
	cred_invalidate(g->cred, "TASK1");
	is_found(g, "TASK2", "container", "refused: requested again, at once");
	cred_set_offset(g->cred, 301);
	g->life_s = 900;
	is_found(g, "TASK3", "container", "over: the same");
	cred_rig_env(g, NULL, TASK, NULL);
	g->life_s = -5;
	is_refused(
	    g, "the AWS credentials (container) have expired", "or are over");
}

/* Files are read anew. */
static void
test_files(struct aws_credentials *g)
{
	cred_rig_files(g, "",
	    "[default]\naws_access_key_id = OLD\n"
	    "aws_secret_access_key = x\n");
	cred_rig_env(g, NULL, "AWS_EC2_METADATA_DISABLED", "true", NULL);
	is_found(g, "OLD", "profile default (credentials file)", "of a file");
	cred_rig_files(g, "",
	    "[default]\naws_access_key_id = NEW\n"
	    "aws_secret_access_key = x\n");
	cred_invalidate(g->cred, "OLD");
	is_found(g, "NEW", "profile default (credentials file)",
	    "of the file as it is now");
	cred_rig_files(g, "", "nonsense\n");
	cred_invalidate(g->cred, "NEW");
	is_refused(g, "credentials:1: neither", "of a file that is broken");
	cred_rig_files(g, "", "");
}

static struct aws_credentials *freed;

static void
on_keys(void *arg, const struct aws_keys *keys, const struct err *e)
{
	int *calls = arg;

	(void)keys;
	(void)e;
	++*calls;
	cred_free(freed->cred);
	freed->cred = NULL;
}

static void
test_free(struct aws_credentials *g)
{
	int calls = 0, others = 0;

	cred_rig_env(g, NULL, TASK, NULL);
	freed = g;
	cred_get(g->cred, on_keys, &calls);
	cred_get(g->cred, on_keys, &others);
	cred_rig_until(g, &calls, 1);
	is_int(others, 0, "freed from a callback: no other callback is called");
	cred_rig_env(g, NULL, TASK, NULL);
	cred_get(g->cred, on_keys, &others);
	cred_free(g->cred);
	g->cred = NULL;
	begin(g);
	is_int(others, 0, "freed while a search is under way");
}

int
main(void)
{
	struct aws_credentials g;

	cred_rig_open(&g);
	test_many(&g);
	test_windows(&g);
	test_failures(&g);
	test_spoil(&g);
	test_short(&g);
	test_files(&g);
	test_free(&g);
	cred_rig_close(&g);
	return done_testing();
}
