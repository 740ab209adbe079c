/* A request that proposes a setting in the place of the baseline. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
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

/* What a request asks for. */
struct propose_asked {
	char *params; /* a partial setting as JSON */
	const char *commit, *diff; /* NULL: the commit of the baseline */
	struct json_doc *doc; /* which both are in, or NULL */
};

/* False: the answer says what is wrong. */
static bool
request_propose_read(struct propose_asked *a, struct request *r)
{
	struct err e = ERR_INIT;
	struct buf params = { 0 };
	const struct json *root;

	if (r->params == NULL)
		return false;
	if (r->ask == TUNER_PROPOSE) {
		a->params = xstrdup(r->params);
		return true;
	}
	if (json_parse(
		&a->doc, r->params, strlen(r->params), NULL, false, &e) != 0) {
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
		return false;
	}
	root = json_root(a->doc);
	json_write(&params, json_get(root, "values"));
	a->params = buf_take(&params);
	a->commit = json_string(json_get(root, "commit"));
	a->diff = json_string(json_get(root, "diff"));
	if (a->commit != NULL)
		return true;
	(void)snprintf(r->text, sizeof r->text, "commit: missing");
	return false;
}

/*
 * The whole setting: what the request names, and the baseline's values of the
 * rest.  False: the answer says why there is none.
 */
static bool
propose_setting(const struct tuner *t, struct request *r, const char *params,
    int64_t baseline, struct value *values, struct value *over)
{
	const struct space *space = t->study->space;
	size_t p = t->study->replicates.param;
	struct err e = ERR_INIT;
	const char *broken;

	if (space_parse_values(space, params, over, &e) != 0) {
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

/* Record it, its setting full and as JSON, or answer why not. */
static void
propose_record(
    struct tuner *t, struct request *r, int64_t baseline, struct proposal *p)
{
	const struct contest *c;

	if (!proposals_allowed(&t->contests, p->params, p->commit,
		&p->challenger, r->text, sizeof r->text))
		return;
	p->caller = r->by != NULL ? r->by->name : NULL;
	c = proposals_begin(&t->contests, t->store, p, t->turn_us);
	r->good = t->durable = true;
	(void)snprintf(r->text, sizeof r->text,
	    "proposal %" PRId64 " %s beside the baseline, setting %" PRId64,
	    c->number, t->env.hold ? "runs with the next start" : "runs",
	    baseline);
	buf_printf(&r->data, "{\"proposal\":%" PRId64 ",\"params\":%s",
	    c->number, p->params);
	if (p->commit != NULL)
		buf_printf(&r->data, ",\"commit\":\"%s\"", p->commit);
	buf_puts(&r->data, "}");
}

/* Whether the study can run a commit; else the answer says why not. */
static bool
propose_allows_commit(
    const struct tuner *t, struct request *r, const struct propose_asked *a)
{
	if (a->commit == NULL || t->study->trial.source.git != NULL)
		return true;
	(void)snprintf(r->text, sizeof r->text,
	    "study.json has no trial.source, which names the repository");
	return false;
}

void
request_propose(struct tuner *t, struct request *r)
{
	const struct space *space = t->study->space;
	struct value *values = xcalloc(2 * space->n, sizeof *values);
	struct propose_asked a = { 0 };
	struct proposal p = { 0 };
	struct buf params = { 0 };
	int64_t baseline = 0;

	if (t->study->confirm.pairs == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "study.json has no confirm, which names the baseline");
	else if ((baseline = proposals_baseline(&t->contests)) == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "the baseline, which confirm.baseline names, has no trial");
	else if (request_propose_read(&a, r) &&
		 propose_allows_commit(t, r, &a) &&
		 propose_setting(
		     t, r, a.params, baseline, values, values + space->n)) {
		space_put_json(&params, space, values);
		p.params = buf_str(&params);
		p.diff = a.diff;
		p.commit = a.commit != NULL
			       ? a.commit
			       : proposals_commit(&t->contests, baseline);
		propose_record(t, r, baseline, &p);
	}
	buf_free(&params);
	free(a.params);
	json_free(a.doc);
	free(values);
}
