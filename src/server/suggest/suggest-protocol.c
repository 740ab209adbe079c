/*
 * The words of the protocol with the user's own program.  Knows JSON; refuses
 * to know processes.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/suggest/suggest-protocol.h"
#include "src/server/suggest/suggest.h"
#include "src/model/partial-setting.h"

/* A member whose value is no number is left out of limits, null elsewhere. */
static void
put_limit(struct buf *b, const char *key, double value)
{
	if (!isfinite(value))
		return;
	buf_printf(b, ",\"%s\":", key);
	json_put_number(b, value);
}

void
suggest_protocol_put_study(struct buf *b, const struct suggest_env *env)
{
	const struct study *s = env->study;
	size_t i;

	buf_puts(b, "{\"type\":\"study\",\"version\":1,\"study\":");
	json_put_string(b, s->name);
	buf_printf(b, ",\"seed\":%" PRIu64 ",\"parameters\":", env->seed);
	json_write(b, json_get(json_root(s->doc), "parameters"));
	buf_puts(b, ",\"objectives\":[");
	for (i = 0; i < s->n_objectives; i++) {
		buf_puts(b, i > 0 ? ",{\"metric\":" : "{\"metric\":");
		json_put_string(b, s->objectives[i].metric);
		buf_printf(b, ",\"goal\":\"%s\"}",
		    s->objectives[i].maximize ? "maximize" : "minimize");
	}
	buf_puts(b, "],\"constraints\":[");
	for (i = 0; i < s->n_constraints; i++) {
		buf_puts(b, i > 0 ? ",{\"metric\":" : "{\"metric\":");
		json_put_string(b, s->constraints[i].metric);
		put_limit(b, "min", s->constraints[i].min);
		put_limit(b, "max", s->constraints[i].max);
		buf_putc(b, '}');
	}
	buf_puts(b, "]}\n");
}

/* All objectives, in the user's sign. */
static void
put_values(struct buf *b, const struct suggest_env *env, int64_t trial)
{
	const struct study *s = env->study;
	const double *losses = history_losses(env->history, trial);
	size_t i;

	buf_puts(b, ",\"values\":{");
	for (i = 0; i < s->n_objectives; i++) {
		buf_puts(b, i > 0 ? "," : "");
		json_put_string(b, s->objectives[i].metric);
		buf_putc(b, ':');
		json_put_number(
		    b, s->objectives[i].maximize ? -losses[i] : losses[i]);
	}
	buf_putc(b, '}');
}

void
suggest_protocol_put_trial(
    struct buf *b, const struct suggest_env *env, int64_t trial)
{
	const struct history *h = env->history;
	const struct space *space = env->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	enum trial_state state = history_state(h, trial);

	space_decode(space, history_point(h, trial), values);
	buf_printf(b,
	    "{\"type\":\"tell\",\"trial\":%" PRId64
	    ",\"state\":\"%s\",\"params\":",
	    trial, trial_state_name(state));
	space_put_json(b, space, values);
	if (trial_state_final(state)) {
		put_values(b, env, trial);
		buf_puts(b, ",\"loss\":");
		json_put_number(b, history_loss(h, trial));
		if (history_n_constraints(h) > 0) {
			buf_puts(b, ",\"violation\":");
			json_put_number(b, history_violation(h, trial));
		}
	}
	buf_puts(b, "}\n");
	free(values);
}

/* The seed is of this question: a program that uses it is a function, too. */
void
suggest_protocol_put_question(struct buf *b, const struct suggest_env *env,
    const struct suggest_question *q)
{
	struct rng rng;

	rng_init(
	    &rng, env->seed, (uint64_t)q->trial ^ (uint64_t)q->redraw << 48);
	buf_printf(b,
	    "{\"type\":\"ask\",\"trial\":%" PRId64 ",\"seed\":%" PRIu64
	    ",\"redraw\":%u}\n",
	    q->trial, rng_u64(&rng) >> 11, q->redraw);
}

/* What it leaves out has one value, or a default. */
static int
answer_complete(struct value *values, const struct space *space,
    const struct json *params, struct err *e)
{
	const struct param *p;
	size_t i, k;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (values[i].kind != VALUE_NONE ||
		    !space_active(space, i, values))
			continue;
		if (!p->has_default && param_levels(p) != 1 &&
		    (param_levels(p) > 0 || p->min < p->max))
			return json_err(params, e,
			    "%s is missing, and it has no default", p->name);
	}
	partial_setting_complete(space, values);
	return 0;
}

int
suggest_protocol_read(struct suggest_answer *out, const struct suggest_env *env,
    const char *line, size_t len, struct err *e)
{
	static const char *const known[] = { "params", "empty", NULL };
	const struct space *space = env->study->space;
	const struct json *root, *params;
	struct json_doc *doc = NULL;
	bool empty = false;
	int rc;

	if (json_parse(&doc, line, len, NULL, false, e) != 0)
		return -1;
	root = json_root(doc);
	rc = json_want(root, JSON_OBJECT, e);
	if (rc == 0)
		rc = json_only(root, known, e);
	if (rc == 0 && json_bool(json_get(root, "empty"), &empty) && empty)
		rc = 1;
	if (rc == 0) {
		params = json_need(root, "params", e);
		rc = params == NULL || space_read_values(
					   space, params, out->values, e) != 0
			 ? -1
			 : answer_complete(out->values, space, params, e);
	}
	json_free(doc);
	return rc;
}
