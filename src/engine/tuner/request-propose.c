/* A request that proposes a setting in the place of the baseline. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/engine/callers/caller.h"
#include "src/engine/replicates/proposals.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"

/*
 * The whole setting: what the request names, and the baseline's values of the
 * rest.  False: the answer says why there is none.
 */
static bool
propose_setting(const struct tuner *t, struct request *r, int64_t baseline,
    struct value *values, struct value *over)
{
	const struct space *space = t->study->space;
	size_t p = t->study->replicates.param;
	struct err e = ERR_INIT;
	const char *broken;

	if (r->params == NULL ||
	    space_parse_values(space, r->params, over, &e) != 0) {
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
		return false;
	}
	if (over[p].kind != VALUE_NONE) {
		(void)snprintf(r->text, sizeof r->text,
		    "%s is the parameter of replicates: a proposal runs with "
		    "the values that the baseline has",
		    space->params[p].name);
		return false;
	}
	space_decode(
	    space, history_point(t->replicates.history, baseline), values);
	partial_setting_overlay(space, values, over);
	partial_setting_complete(space, values);
	broken = where_broken(space, values);
	if (broken != NULL)
		(void)snprintf(r->text, sizeof r->text,
		    "the setting does not satisfy %.150s", broken);
	values[p].kind = VALUE_NONE;
	return broken == NULL;
}

/* Record the setting, full and as JSON, or answer why not. */
static void
propose_record(
    struct tuner *t, struct request *r, int64_t baseline, const char *params)
{
	const struct contest *c;
	int64_t challenger;

	if (!proposals_allowed(
		&t->contests, params, &challenger, r->text, sizeof r->text))
		return;
	c = proposals_begin(&t->contests, t->store, challenger, params,
	    r->by != NULL ? r->by->name : NULL, t->turn_us);
	r->good = t->durable = true;
	(void)snprintf(r->text, sizeof r->text,
	    "proposal %" PRId64 " %s beside the baseline, setting %" PRId64,
	    c->number, t->env.hold ? "runs with the next start" : "runs",
	    baseline);
	buf_printf(&r->data, "{\"proposal\":%" PRId64 ",\"params\":%s}",
	    c->number, params);
}

void
request_propose(struct tuner *t, struct request *r)
{
	const struct space *space = t->study->space;
	struct value *values = xcalloc(2 * space->n, sizeof *values);
	struct buf params = { 0 };
	int64_t baseline = 0;

	if (t->study->confirm.pairs == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "study.json has no confirm, which names the baseline");
	else if ((baseline = proposals_baseline(&t->contests)) == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "the baseline, which confirm.baseline names, has no trial");
	else if (propose_setting(t, r, baseline, values, values + space->n)) {
		space_put_json(&params, space, values);
		propose_record(t, r, baseline, buf_str(&params));
	}
	buf_free(&params);
	free(values);
}
