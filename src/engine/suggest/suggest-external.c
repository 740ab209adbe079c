/*
 * Asks the user's own program, over its standard input and output.  It is sent
 * each trial that changed before a question; a program that crashes is started
 * once more and sent all trials again.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/coproc.h"
#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/suggest/suggest-internal.h"
#include "src/engine/suggest/suggest.h"
#include "src/model/goal.h"
#include "src/model/history/history.h"
#include "src/model/partial-setting.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"
#include "src/plugins/plugins.h"
#include "strategies/strategy.h"

enum {
	DEATHS_MOST = 2, /* crashes during one question */
	GRACE_MS = 1000, /* for its exit, after its input was closed */
	LINE_MOST = 1 << 20, /* and more for each parameter */
	PARAM_MOST = 4096,
	SUGGEST_UNSENT_MAX =
	    1
	    << 20, /* bytes unread, from which it must read before more is sent */
	ARGS_MOST = 1024
};

struct suggest_external {
	const struct suggest_env *env;
	char **argv;
	int64_t timeout_ms;
	struct coproc *peer; /* NULL while none runs */
	bool ending; /* killed: its exit is pending */
	struct loop_timer *silence;
	struct buf input; /* received and not yet read */
	/* Per trial from the first: its state as sent + 1; 0 = not sent. */
	uint8_t *states_sent;
	size_t n_states_sent;
	int64_t lines; /* lines received from this process */
	int dropped; /* questions whose answers are no longer needed */
	bool asked, sent, answered;
	struct suggest_question q;
	int deaths;
	char died[64];
	int64_t sent_ms;
	/* The answer: 0 or 1 as of protocol_read. */
	int result;
	struct value *values;
	double seconds;
	bool broken; /* unusable; why holds the reason */
	struct err why;
};

/* An infinite limit is left out. */
static void
put_limit(struct json_writer *w, const char *key, double value)
{
	if (isfinite(value))
		json_writer_number(w, key, value);
}

/* Append the study; sent once. */
static void
protocol_put_study(struct buf *b, const struct suggest_env *env)
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
suggest_external_put_values(
    struct json_writer *w, const struct suggest_env *env, int64_t trial)
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

/* Append a trial from the history. */
static void
protocol_put_trial(struct buf *b, const struct suggest_env *env, int64_t trial)
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
		suggest_external_put_values(&w, env, trial);
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
static void
protocol_put_question(struct buf *b, const struct suggest_env *env,
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

/*
 * Parse one line of the program: 0 with the values of the answer filled, 1 when
 * it has nothing left, -1 with err.
 */
static int
protocol_read(struct suggest_answer *out, const struct suggest_env *env,
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

static const struct json *
command_of(const struct suggest_env *env)
{
	const struct plugins *plugins = env->plugins;

	return plugin_option_get(plugins->strategy_options, "command")->json;
}

/* NULL with err, unless it is a list of texts. */
static char **
command_read(const struct json *j, struct err *e)
{
	const struct json *item;
	const char *text;
	char **argv;
	size_t n = 0;

	if (json_type(j) != JSON_ARRAY || json_count(j) == 0 ||
	    json_count(j) > ARGS_MOST) {
		(void)json_err(j, e,
		    "expected a list of texts: a program and its arguments");
		return NULL;
	}
	argv = xcalloc(json_count(j) + 1, sizeof *argv);
	for (item = json_first(j); item != NULL; item = json_next(item)) {
		if (json_read_string(item, &text, e) != 0) {
			strv_free(argv);
			return NULL;
		}
		argv[n++] = xstrdup(text);
	}
	return argv;
}

static int
suggest_external_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	struct suggest_env env = { .plugins = plugins };
	char **argv = command_read(command_of(&env), e);

	(void)study;
	if (argv == NULL)
		return -1;
	strv_free(argv);
	return 0;
}

static void
external_end(struct suggest_external *c)
{
	if (c->peer == NULL || c->ending)
		return;
	c->ending = true;
	coproc_kill(c->peer);
}

static void
external_broken(struct suggest_external *c)
{
	c->broken = true;
	external_end(c);
}

static void
on_silence(void *arg)
{
	struct suggest_external *c = arg;

	if (!c->asked) {
		external_end(c);
		return;
	}
	(void)err_set(&c->why, ERR_FILE, "%s: no answer for %lld s", c->argv[0],
	    (long long)(c->timeout_ms / 1000));
	external_broken(c);
}

static int
external_open(void **out, const struct suggest_env *env, struct err *e)
{
	struct suggest_external *c = xcalloc(1, sizeof *c);

	*out = c;
	c->env = env;
	c->argv = command_read(command_of(env), e);
	if (c->argv == NULL)
		return -1;
	c->timeout_ms =
	    (int64_t)(plugin_option_number(
			  env->plugins->strategy_options, "timeout") *
		      1000);
	c->silence = loop_timer_new(env->loop, on_silence, c);
	c->values = xcalloc(env->study->space->n, sizeof *c->values);
	return 0;
}

static void
external_close(void *arg)
{
	struct suggest_external *c = arg;

	if (c == NULL)
		return;
	coproc_free(c->peer, GRACE_MS);
	loop_timer_free(c->silence);
	buf_free(&c->input);
	if (c->argv != NULL)
		strv_free(c->argv);
	free(c->values);
	free(c->states_sent);
	free(c);
}

/* Process one line, without its end. */
static void
external_read_line(struct suggest_external *c, const char *line, size_t len)
{
	struct suggest_answer a = { .values = c->values };
	struct err e = ERR_INIT;

	c->lines++;
	if (c->dropped > 0) {
		c->dropped--;
		if (c->sent)
			loop_timer_set(c->silence, c->timeout_ms);
		else
			loop_timer_stop(c->silence);
		return;
	}
	if (!c->sent || c->answered)
		(void)err_set(&e, ERR_USAGE,
		    "unexpected output: no suggestion was requested");
	else {
		c->result = protocol_read(&a, c->env, line, len, &e);
		c->answered = c->result >= 0;
	}
	if (*e.text != '\0') {
		(void)err_set(&c->why, ERR_USAGE,
		    "%s: line %lld of its output: %.300s", c->argv[0],
		    (long long)c->lines, e.text);
		external_broken(c);
		return;
	}
	loop_timer_stop(c->silence);
	c->seconds = (double)(loop_now_ms(c->env->loop) - c->sent_ms) / 1000;
}

static void
suggest_external_on_read(void *arg, const char *data, size_t len)
{
	struct suggest_external *c = arg;
	size_t most = LINE_MOST + PARAM_MOST * c->env->study->space->n;
	size_t used = 0, old = c->input.len;
	const char *end;

	buf_add(&c->input, data, len);
	end = memchr(c->input.data + old, '\n', len);
	while (end != NULL && !c->ending) {
		external_read_line(c, c->input.data + used,
		    (size_t)(end - c->input.data) - used);
		used = (size_t)(end - c->input.data) + 1;
		end = memchr(c->input.data + used, '\n', c->input.len - used);
	}
	memmove(c->input.data, c->input.data + used, c->input.len - used);
	c->input.len -= used;
	if (c->input.len > most && !c->ending) {
		(void)err_set(&c->why, ERR_USAGE,
		    "%s: line %lld of its output has more than %zu bytes",
		    c->argv[0], (long long)c->lines + 1, most);
		external_broken(c);
	}
}

static void
suggest_external_on_ended(void *arg, int status)
{
	struct suggest_external *c = arg;

	coproc_free(c->peer, 0);
	c->peer = NULL;
	buf_free(&c->input);
	loop_timer_stop(c->silence);
	if (c->asked && !c->answered && !c->ending) {
		c->deaths++;
		suggest_exit_text(status, c->died, sizeof c->died);
	}
	c->ending = c->sent = false;
	c->dropped = 0;
	c->lines = 0;
	free(c->states_sent);
	c->states_sent = NULL;
	c->n_states_sent = 0;
}

static int
external_start(struct suggest_external *c, struct err *e)
{
	struct coproc_spec spec = { .argv = c->argv,
		.dir = c->env->study->dir };
	struct coproc_hooks hooks = { .on_read = suggest_external_on_read,
		.on_exit = suggest_external_on_ended,
		.arg = c };
	char *log = suggest_log_path(c->env);
	struct buf b = { 0 };
	int rc;

	spec.log = log;
	rc = coproc_start(&c->peer, c->env->loop, &spec, &hooks, e);
	free(log);
	if (rc != 0)
		return -1;
	protocol_put_study(&b, c->env);
	coproc_write(c->peer, b.data, b.len);
	buf_free(&b);
	return 0;
}

/* Send trials that changed; false: the program must read some of it first. */
static bool
external_put_trials(struct suggest_external *c)
{
	const struct history *h = c->env->history;
	int64_t first = history_first(h), n = history_count(h) - first + 1, i;
	struct buf b = { 0 };
	uint8_t state;

	if ((size_t)n > c->n_states_sent) {
		c->states_sent = xreallocarray(c->states_sent, (size_t)n, 1);
		memset(c->states_sent + c->n_states_sent, 0,
		    (size_t)n - c->n_states_sent);
		c->n_states_sent = (size_t)n;
	}
	for (i = 0; i < n && c->peer != NULL; i++) {
		state = (uint8_t)(history_state(h, first + i) + 1);
		if (c->states_sent[i] == state || state == TRIAL_WAITING + 1)
			continue;
		if (coproc_unsent(c->peer) > SUGGEST_UNSENT_MAX)
			break;
		c->states_sent[i] = state;
		protocol_put_trial(&b, c->env, first + i);
		coproc_write(c->peer, b.data, b.len);
		buf_clear(&b);
	}
	buf_free(&b);
	return i == n;
}

static void
external_send(struct suggest_external *c)
{
	struct buf b = { 0 };

	protocol_put_question(&b, c->env, &c->q);
	coproc_write(c->peer, b.data, b.len);
	buf_free(&b);
	c->sent = true;
	c->sent_ms = loop_now_ms(c->env->loop);
}

static enum suggest_result
external_answer(struct suggest_external *c, struct suggest_answer *out)
{
	c->asked = c->sent = c->answered = false;
	if (c->result > 0)
		return SUGGEST_EXHAUSTED;
	memcpy(out->values, c->values,
	    c->env->study->space->n * sizeof *out->values);
	out->seconds = c->seconds;
	(void)snprintf(out->made_by, sizeof out->made_by, "external");
	return SUGGEST_POINT;
}

static enum suggest_result
external_failed(struct suggest_external *c, struct err *e)
{
	c->asked = false;
	if (c->broken)
		*e = c->why;
	else
		(void)err_set(e, ERR_FILE, "%s %s, %d times over trial %lld%s",
		    c->argv[0], c->died, c->deaths, (long long)c->q.trial,
		    c->env->state_dir != NULL
			? "; its output is in strategy.log"
			: "");
	return SUGGEST_FAILED;
}

/* The program will answer all the same; that answer is discarded. */
static void
external_cancel(void *arg)
{
	struct suggest_external *c = arg;

	c->dropped += c->sent && !c->answered;
	c->asked = c->sent = c->answered = false;
}

static enum suggest_result
external_ask(void *arg, const struct suggest_question *q,
    const struct strategy *strategy, struct suggest_answer *out, struct err *e)
{
	struct suggest_external *c = arg;

	(void)strategy;
	if (c->asked && !suggest_question_same(q, &c->q))
		external_cancel(c);
	if (c->answered)
		return external_answer(c, out);
	if (!c->asked) {
		c->asked = true;
		c->q = *q;
		c->deaths = 0;
	}
	if (c->broken || c->deaths >= DEATHS_MOST)
		return external_failed(c, e);
	if (c->peer == NULL && external_start(c, e) != 0) {
		c->asked = false;
		return SUGGEST_FAILED;
	}
	if (c->sent || c->ending)
		return SUGGEST_LATER;
	/* From now on the program is expected to answer in time. */
	if (!loop_timer_pending(c->silence))
		loop_timer_set(c->silence, c->timeout_ms);
	if (external_put_trials(c))
		external_send(c);
	return SUGGEST_LATER;
}

const struct suggest_way suggest_external = {
	.check = suggest_external_check,
	.open = external_open,
	.close = external_close,
	.ask = external_ask,
	.cancel = external_cancel,
};
