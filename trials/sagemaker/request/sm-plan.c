/*
 * The plan of one attempt: machine, spot or on-demand, time limits, maximum
 * cost.  No I/O.
 */

#include <math.h>
#include <string.h>

#include "src/base/json/json.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-request.h"

/* Dollars an hour of all groups together; NaN = a price is missing. */
double
sm_groups_price(const struct sm_settings *s)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < s->n_groups; i++)
		sum += s->groups[i].type.price * s->groups[i].count;
	return sum;
}

void
sm_plan_make(struct sm_plan *plan, const struct sm_settings *s, int capacity)
{
	size_t i = capacity > 0 ? (size_t)capacity : 0;

	*plan = (struct sm_plan){
		.instances = s->count,
		.spot = s->spot && (s->on_demand_after == 0 ||
				       capacity < s->on_demand_after),
		.max_run_s = s->max_run_s,
	};
	if (plan->spot)
		plan->max_wait_s = s->max_wait_s;
	if (s->n_groups > 0) {
		plan->price = sm_groups_price(s);
		return;
	}
	plan->type = &s->types[i < s->n_types ? i : s->n_types - 1];
	plan->price = plan->type->price * s->count;
}

/*
 * At on-demand prices: AWS promises no spot price and bills no more than
 * these.  Includes the download, the grace in which a job at its limit may
 * still run, the upload, and an unused warm pool.
 */
double
sm_plan_cost(const struct sm_settings *s, const char *type, int instances,
    double billable_s)
{
	double price = NAN;
	size_t i;

	if (s->n_groups > 0)
		return sm_groups_price(s) * billable_s / 3600;
	for (i = 0; type != NULL && i < s->n_types; i++)
		if (strcmp(s->types[i].name, type) == 0)
			price = s->types[i].price;
	return price * instances * billable_s / 3600;
}

int
sm_plan_gpus(const struct sm_plan *plan, const struct sm_settings *s)
{
	int n, gpus = 0;
	size_t i;

	if (plan->type != NULL) {
		n = sm_instance_type_gpus(plan->type->name);
		return n > 0 ? n * plan->instances : 0;
	}
	for (i = 0; i < s->n_groups; i++) {
		n = sm_instance_type_gpus(s->groups[i].type.name);
		if (n < 0)
			return 0;
		gpus += n * s->groups[i].count;
	}
	return gpus;
}

int
sm_plan_per_host(const struct sm_settings *s, const char *type)
{
	const struct sm_distribution *row = sm_distribution_row(s);
	int n;

	if (!row->counts)
		return 1;
	if (s->per_host > 0)
		return s->per_host;
	n = type != NULL ? sm_instance_type_devices(type) : -1;
	return n < 0 ? 0 : n == 0 ? 1 : n;
}

/*
 * The replicas of the first type: if others differ, sm-settings.c has rejected
 * trial.batch.
 */
int
sm_plan_replicas(const struct sm_settings *s)
{
	const struct sm_type *type =
	    s->n_groups > 0 ? &s->groups[0].type : &s->types[0];
	int per_host = sm_plan_per_host(s, type->name), hosts = s->count;
	const char *group = NULL;
	size_t i;

	if (s->dist != NULL)
		group = json_string(json_get(s->dist, "group"));
	for (i = 0; group != NULL && i < s->n_groups; i++)
		if (strcmp(s->groups[i].name, group) == 0) {
			hosts = s->groups[i].count;
			per_host = sm_plan_per_host(s, s->groups[i].type.name);
		}
	return hosts * (per_host > 0 ? per_host : 1);
}
