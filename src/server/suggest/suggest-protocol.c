/* Writes and reads the messages of the protocol with the user's own program. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/goal.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"
#include "src/server/suggest/suggest-protocol.h"
#include "src/server/suggest/suggest.h"
#include "src/model/partial-setting.h"

/* An infinite limit is left out. */
static void
put_limit(struct json_writer *w, const char *key, double value)
{
	if (isfinite(value))
		json_writer_number(w, key, value);
}

void
suggest_protocol_put_study(struct buf *b, const struct suggest_env *env)
{
	const struct study *s = env->study;
	struct json_writer w = { .out = b };
	size_t i;

	json_writer_object(&w, NULL);
	json_writer_text(&w, "type", "study");
	json_writer_integer(&w, "version", 1);
	json_writer_text(&w, "study", s->name);
	buf_printf(json_writer_value(&w, "seed"), "%" PRIu64, env->seed);
	json_write(json_writer_value(&w, "parameters"),
	    json_get(json_root(s->doc), "parameters"));
	if (where_count(s->space) > 0) {
		json_writer_array(&w, "where");
		for (i = 0; i < where_count(s->space); i++)
			json_writer_text(&w, NULL, where_text(s->space, i));
		json_writer_end(&w);
	}
	json_writer_array(&w, "objectives");
	for (i = 0; i < s->n_objectives; i++) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "metric", s->objectives[i].metric);
		json_writer_text(
		    &w, "goal", goal_name(s->objectives[i].maximize));
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_array(&w, "constraints");
	for (i = 0; i < s->n_constraints; i++) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "metric", s->constraints[i].metric);
		put_limit(&w, "min", s->constraints[i].min);
		put_limit(&w, "max", s->constraints[i].max);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_end(&w);
	buf_putc(b, '\n');
}

/* All objectives, in the user's sign. */
static void
put_values(struct json_writer *w, const struct suggest_env *env, int64_t trial)
{
	const struct study *s = env->study;
	const double *losses = history_losses(env->history, trial);
	size_t i;

	json_writer_object(w, "values");
	for (i = 0; i < s->n_objectives; i++)
		json_writer_number(w, s->objectives[i].metric,
		    s->objectives[i].maximize ? -losses[i] : losses[i]);
	json_writer_end(w);
}

void
suggest_protocol_put_trial(
    struct buf *b, const struct suggest_env *env, int64_t trial)
{
	const struct history *h = env->history;
	const struct space *space = env->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	enum trial_state state = history_state(h, trial);
	struct json_writer w = { .out = b };

	space_decode(space, history_point(h, trial), values);
	json_writer_object(&w, NULL);
	json_writer_text(&w, "type", "tell");
	json_writer_integer(&w, "trial", trial);
	json_writer_text(&w, "state", trial_state_name(state));
	space_put_json(json_writer_value(&w, "params"), space, values);
	if (trial_state_final(state)) {
		put_values(&w, env, trial);
		json_writer_number(&w, "loss", history_loss(h, trial));
		if (history_n_constraints(h) > 0)
			json_writer_number(
			    &w, "violation", history_violation(h, trial));
	}
	json_writer_end(&w);
	buf_putc(b, '\n');
	free(values);
}

/*
 * The seed depends on the question: a program that uses it is deterministic,
 * too.
 */
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

/* A parameter that the answer omits has one value, or a default. */
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
