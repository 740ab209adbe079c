/* The plan of an attempt: machine, spot or not, how long, and at what price. */

#include <math.h>

#include "tests/support/tap.h"
#include "trials/sagemaker/request/sm-request.h"

static struct sm_type types[] = {
	{ .name = (char[]){ "ml.g5.xlarge" }, .price = 1.5 },
	{ .name = (char[]){ "ml.g4dn.12xlarge" }, .price = 4.5 },
};
static struct sm_group groups[] = {
	{ .name = (char[]){ "a" },
	    .type = { .name = (char[]){ "ml.g5.12xlarge" }, .price = 7 },
	    .count = 2 },
	{ .name = (char[]){ "b" },
	    .type = { .name = (char[]){ "ml.c5.xlarge" }, .price = 0.25 },
	    .count = 4 },
};

static struct sm_settings
settings(void)
{
	return (struct sm_settings){
		.types = types,
		.n_types = 2,
		.count = 2,
		.spot = true,
		.max_run_s = 3600,
		.max_wait_s = 7200,
		.on_demand_after = 2,
	};
}

static void
test_fallback(void)
{
	struct sm_settings s = settings();
	struct sm_plan p;

	sm_plan_make(&p, &s, 0);
	is_str(p.type->name, "ml.g5.xlarge", "the first choice first");
	ok(p.spot && p.max_wait_s == 7200, "on spot");
	is_int(p.instances, 2, "two instances");
	is_near(p.price, 3, 0, "the price of both");
	sm_plan_make(&p, &s, 1);
	is_str(p.type->name, "ml.g4dn.12xlarge", "then the next type");
	ok(p.spot, "still on spot");
	sm_plan_make(&p, &s, 2);
	is_str(p.type->name, "ml.g4dn.12xlarge", "the last one stays");
	ok(!p.spot && p.max_wait_s == 0, "on demand, without a wait");
	is_int(p.max_run_s, 3600, "max_run always");
	s.on_demand_after = 0;
	sm_plan_make(&p, &s, 9);
	ok(p.spot, "never on demand with 0");
	s.spot = false;
	sm_plan_make(&p, &s, 0);
	ok(!p.spot && p.max_wait_s == 0, "on demand as asked");
}

static void
test_cost(void)
{
	struct sm_type unknown = { .name = (char *)"ml.p9.48xlarge" };
	struct sm_settings s = settings();
	struct sm_plan p;
	int gpus;

	is_near(sm_plan_worst_cost(&s, NULL), 9 * 3720 / 3600.0, 1e-12,
	    "the dearest type, max_run and the grace");
	s.spot = false;
	s.keep_alive_s = 600;
	is_near(sm_plan_worst_cost(&s, NULL), 9 * 4320 / 3600.0, 1e-12,
	    "and a warm pool without use");
	s.keep_alive_s = 0;
	is_near(sm_plan_cost(&s, "ml.g5.xlarge", 2, 1800), 1.5, 1e-12,
	    "two for half an hour");
	ok(isnan(sm_plan_cost(&s, "ml.p5.48xlarge", 1, 60)),
	    "no price, no cost");
	ok(isnan(sm_plan_cost(&s, NULL, 1, 60)), "no type, no cost");
	types[1].price = NAN;
	ok(isnan(sm_plan_worst_cost(&s, NULL)), "a price is missing");
	types[1].price = 4.5;
	s.types = NULL;
	s.n_types = 0;
	s.groups = groups;
	s.n_groups = 2;
	s.count = 6;
	is_near(sm_plan_worst_cost(&s, NULL), 15 * 3720 / 3600.0, 1e-12,
	    "all groups");
	is_near(
	    sm_plan_cost(&s, NULL, 6, 3600), 15, 1e-12, "an hour of groups");
	sm_plan_make(&p, &s, 3);
	ok(p.type == NULL && p.instances == 6, "groups have no fallback");
	is_near(p.price, 15, 1e-12, "and their price");
	gpus = sm_instance_type_gpus(groups[0].type.name) * groups[0].count +
	       sm_instance_type_gpus(groups[1].type.name) * groups[1].count;
	ok(gpus > 0, "they have GPUs");
	is_int(sm_plan_gpus(&p, &s), gpus, "all are counted");
	s = settings();
	sm_plan_make(&p, &s, 0);
	is_int(sm_plan_gpus(&p, &s), 2, "of two machines with one each");
	p.type = &unknown;
	is_int(sm_plan_gpus(&p, &s), 0, "not known");
}

static void
test_gpus(void)
{
	static const struct {
		const char *type;
		int gpus;
	} rows[] = {
		{ "ml.g5.xlarge", 1 },
		{ "ml.g5.16xlarge", 1 },
		{ "ml.g5.12xlarge", 4 },
		{ "ml.g5.48xlarge", 8 },
		{ "ml.g4dn.12xlarge", 4 },
		{ "ml.g4dn.16xlarge", 1 },
		{ "ml.g6e.48xlarge", 8 },
		{ "ml.g7e.12xlarge", 2 },
		{ "ml.p2.16xlarge", 16 },
		{ "ml.p3.8xlarge", 4 },
		{ "ml.p3dn.24xlarge", 8 },
		{ "ml.p4de.24xlarge", 8 },
		{ "ml.p5.4xlarge", 1 },
		{ "ml.p5en.48xlarge", 8 },
		{ "ml.p6e-gb200.36xlarge", 4 },
		{ "ml.c7i-flex.large", 0 },
		{ "ml.m5.24xlarge", 0 },
		{ "ml.r8i.96xlarge", 0 },
		{ "ml.t3.medium", 0 },
		{ "ml.trn1n.32xlarge", 0 },
		{ "ml.p9.48xlarge", -1 },
		{ "ml.g7.12xlarge", 2 },
		{ "ml.g7.48xlarge", 8 },
		{ "ml.mystery", -1 },
		{ "g5.xlarge", -1 },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		is_int(sm_instance_type_gpus(rows[i].type), rows[i].gpus,
		    rows[i].type);
	is_int(
	    sm_instance_type_devices("ml.g5.12xlarge"), 4, "GPUs are devices");
	is_int(
	    sm_instance_type_devices("ml.trn1.2xlarge"), 2, "a small Trainium");
	is_int(
	    sm_instance_type_devices("ml.trn1n.32xlarge"), 32, "a large one");
	is_int(
	    sm_instance_type_devices("ml.trn2.48xlarge"), 64, "the second one");
	is_int(sm_instance_type_devices("ml.trn2u.48xlarge"), -1, "not known");
}

/* One process for each NeuronCore, by whichever launcher. */
static void
test_trainium(void)
{
	struct sm_type trainium = { .name = (char *)"ml.trn1.32xlarge" };
	struct sm_settings s = settings();

	s.types = &trainium;
	s.n_types = 1;
	s.launcher = SM_TORCH_DISTRIBUTED;
	is_int(sm_plan_replicas(&s), 64, "two machines of 32 cores");
	s.launcher = SM_TORCHRUN;
	is_int(sm_plan_replicas(&s), 64, "by our own torchrun, too");
	s.per_host = 16;
	is_int(sm_plan_replicas(&s), 32, "or as many as are asked for");
	s.launcher = SM_NONE;
	is_int(sm_plan_replicas(&s), 2, "without a launcher one on each");
}

static void
test_replicas(void)
{
	struct sm_settings s = settings();

	is_int(sm_plan_replicas(&s), 2, "one for each host");
	s.launcher = SM_TORCHRUN;
	is_int(sm_plan_replicas(&s), 2, "one for each GPU");
	s.n_types = 1;
	s.types = &types[1];
	is_int(sm_plan_replicas(&s), 8, "four for each host of four");
	s.per_host = 3;
	is_int(sm_plan_replicas(&s), 6, "as many as are asked for");
	s.per_host = 0;
	is_int(sm_plan_per_host(&s, "ml.p9.48xlarge"), 0, "counted there");
	is_int(sm_plan_per_host(&s, "ml.c5.xlarge"), 1, "one without GPUs");
	s.launcher = SM_PARAMETER_SERVER;
	is_int(sm_plan_replicas(&s), 2, "a worker on each host");
}

int
main(void)
{
	test_fallback();
	test_cost();
	test_gpus();
	test_trainium();
	test_replicas();
	return done_testing();
}
