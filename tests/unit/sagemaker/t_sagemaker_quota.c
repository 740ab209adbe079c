/* Refusals for lack of quota: parsing and consequences. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/sagemaker/sm-internal.h"

struct limit_case {
	const char *what, *text;
	bool good;
	const char *type;
	bool spot, warm;
	int limit, in_use, delta;
};

#define LIMIT(what, n, used, more)                         \
	"The account-level service limit '" what "' is " n \
	" Instances, with current utilization of " used    \
	" Instances and a request delta of " more          \
	" Instances. Please use AWS Service Quotas to request an increase."

static const struct limit_case limits[] = {
	{ "on-demand",
	    LIMIT("ml.g5.xlarge for training job usage", "2", "2", "1"), true,
	    "ml.g5.xlarge", false, false, 2, 2, 1 },
	{ "spot",
	    LIMIT(
		"ml.p4d.24xlarge for spot training job usage", "16", "14", "4"),
	    true, "ml.p4d.24xlarge", true, false, 16, 14, 4 },
	{ "none at all",
	    LIMIT("ml.p3.2xlarge for training job usage", "0", "0", "1"), true,
	    "ml.p3.2xlarge", false, false, 0, 0, 1 },
	{ "warm pools",
	    LIMIT("ml.g5.xlarge for training warm pool usage", "0", "0", "1"),
	    true, "ml.g5.xlarge", false, true, 0, 0, 1 },
	{ "all types together",
	    LIMIT("Number of instances across training jobs", "20", "19", "2"),
	    true, "", false, false, 20, 19, 2 },
	{ "one number only", "The limit 'x' is 7.", true, "", false, false, 7,
	    -1, -1 },
	{ "another text", "You have reached a limit.", false, "", false, false,
	    -1, -1, -1 },
	{ "a quote that does not close", "limit 'ml.", false, "", false, false,
	    -1, -1, -1 },
	{ "nothing", "", false, "", false, false, -1, -1, -1 },
};

static void
try_limit(const struct limit_case *c)
{
	struct sm_limit l;

	ok(sm_quota_limit_read(&l, c->text) == c->good &&
		strcmp(l.type, c->type) == 0 && l.spot == c->spot &&
		l.warm == c->warm && l.limit == c->limit &&
		l.in_use == c->in_use && l.delta == c->delta,
	    "%s", c->what);
}

/* A backend without a wire: two types, spot, then on-demand. */
struct rig {
	struct sm sm;
	struct sm_settings set;
	struct sm_type types[2];
	struct sm_attempt attempts[4];
	struct sm_attempt *list[4];
};

static void
rig_open(struct rig *r)
{
	struct err e = ERR_INIT;
	int i;

	*r = (struct rig){ 0 };
	r->types[0].name = (char *)"ml.a";
	r->types[1].name = (char *)"ml.b";
	r->set.types = r->types;
	r->set.n_types = 2;
	r->set.count = 1;
	r->set.pace = 1;
	r->sm.set = &r->set;
	r->sm.parallel = r->sm.slots = 4;
	if (loop_open(&r->sm.loop, LOOP_VIRTUAL, &e) != 0)
		printf("Bail out! %s\n", e.text);
	r->sm.cap_timer = loop_timer_new(r->sm.loop, sm_quota_probe, &r->sm);
	r->sm.attempts = r->list;
	for (i = 0; i < 4; i++) {
		r->list[i] = &r->attempts[i];
		r->attempts[i].sm = &r->sm;
		r->attempts[i].state = SM_RUNNING;
		sm_plan_make(&r->attempts[i].plan, &r->set, 0);
	}
	r->sm.n = 4;
}

static void
rig_close(struct rig *r)
{
	size_t i;

	loop_timer_free(r->sm.cap_timer);
	loop_close(r->sm.loop);
	for (i = 0; i < r->sm.n_queue; i++)
		free(r->sm.queue[i].text);
	free(r->sm.queue);
	free(r->sm.caps);
}

static void
test_cap(void)
{
	struct rig r;

	rig_open(&r);
	r.attempts[3].state = SM_SENT;
	sm_quota_hit(&r.attempts[3],
	    LIMIT("ml.a for training job usage", "2", "2", "1"));
	is_int(r.sm.slots, 2, "the cap is the limit");
	is_int((int)r.sm.n_queue, 1, "and is reported once");
	ok(r.sm.queue[0].ev.kind == LAUNCH_SLOTS, "as slots");
	sm_quota_hit(&r.attempts[3],
	    LIMIT("ml.a for training job usage", "9", "9", "1"));
	is_int(
	    r.sm.slots, 3, "others use the rest: what we have is what we get");
	r.sm.n = 0;
	sm_quota_hit(&r.attempts[3],
	    LIMIT("ml.a for training job usage", "9", "9", "1"));
	is_int(r.sm.slots, 1, "one is tried again");
	sm_quota_hit(&r.attempts[3], "no numbers here");
	is_int(r.sm.slots, 1, "a text without numbers");
	rig_close(&r);
}

static void
test_cluster(void)
{
	struct rig r;

	rig_open(&r);
	r.attempts[3].plan.instances = 4;
	sm_quota_hit(&r.attempts[3],
	    LIMIT("ml.a for training job usage", "11", "8", "4"));
	is_int(r.sm.slots, 2, "a limit in machines, a cap in jobs");
	rig_close(&r);
}

static void
test_none(void)
{
	struct sm_plan plan;
	struct rig r;

	rig_open(&r);
	sm_quota_hit(&r.attempts[0],
	    LIMIT("ml.a for training job usage", "0", "0", "1"));
	sm_quota_plan(&r.sm, &plan, 0);
	is_str(plan.type->name, "ml.b", "a type without any is passed over");
	is_int(r.sm.slots, 4, "and lowers nothing");
	sm_quota_plan(&r.sm, &r.attempts[1].plan, 1);
	sm_quota_hit(&r.attempts[1],
	    LIMIT("ml.b for training job usage", "0", "0", "1"));
	sm_quota_plan(&r.sm, &plan, 0);
	is_str(
	    plan.type->name, "ml.a", "none may be used: the first reports it");
	is_int(r.sm.slots, 1, "one is tried again");
	rig_close(&r);
}

static void
on_turn(void *arg)
{
	struct rig *r = arg;

	if (r->sm.n_caps == 0)
		loop_stop(r->sm.loop);
}

static void
test_probe(void)
{
	struct rig r;

	rig_open(&r);
	sm_quota_hit(&r.attempts[3],
	    LIMIT("ml.a for training job usage", "2", "2", "1"));
	loop_run(r.sm.loop, on_turn, &r);
	is_int(r.sm.slots, 4, "a cap rises until it is none");
	is_int(loop_now_ms(r.sm.loop) / 1000 / SM_PROBE_S, 2,
	    "by one from time to time");
	rig_close(&r);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof limits / sizeof limits[0]; i++)
		try_limit(&limits[i]);
	test_cap();
	test_cluster();
	test_none();
	test_probe();
	return done_testing();
}
