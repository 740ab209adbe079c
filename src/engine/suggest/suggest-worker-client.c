/*
 * Asks hpotune-worker: one process at a time, started for the first question,
 * kept for the next one, killed when its answer is no longer needed.  It keeps
 * no state between two questions, so its crash costs the time of one answer and
 * changes none.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/coproc.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/engine/suggest/suggest-internal.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/worker/worker-protocol.h"
#include "strategies/strategy.h"

enum {
	DEATHS_MOST = 3, /* crashes during one question */
	TEXT_MOST = 65536 /* bytes of a frame besides its numbers */
};

enum place { WHERE_CPU, WHERE_CUDA, WHERES };

struct suggest_worker {
	const struct suggest_env *env;
	char *programs[WHERES]; /* NULL: none */
	enum place where;
	struct coproc *peer; /* NULL while none runs */
	bool ready; /* HELLO received */
	bool ending; /* killed: its exit is pending */
	bool garbage; /* … for an invalid message */
	struct buf input; /* received and not yet read */
	bool asked, sent, answered;
	struct suggest_question q;
	const struct strategy *strategy; /* that answers it */
	int deaths;
	char died[64]; /* how it last ended */
	/* The answer. */
	int64_t result;
	double *x;
	int64_t from;
	double seconds, fits, memory;
	char made_by[32];
	bool broken; /* unusable; why holds the reason */
	struct err why;
	char note[300]; /* a pending event; "" = none */
};

/* The program for the GPU, unless it is missing and not required. */
static char *
cuda_find(void)
{
	static const char name[] = "hpotune-worker-cuda";
	struct err e = ERR_INIT;
	char *path = NULL;

	if (spawn_find(&path, "HPOTUNE_WORKER_CUDA", name, &e) != 0)
		return NULL;
	if (*path != '\0')
		return path;
	free(path);
	return NULL;
}

static int
programs_find(char *programs[WHERES], enum study_device device, struct err *e)
{
	programs[WHERE_CPU] = programs[WHERE_CUDA] = NULL;
	if (device != STUDY_DEVICE_CPU)
		programs[WHERE_CUDA] = cuda_find();
	if (device == STUDY_DEVICE_CUDA && programs[WHERE_CUDA] == NULL)
		return err_set(e, ERR_USAGE,
		    "strategy.device is \"cuda\", but hpotune-worker-cuda is "
		    "not installed");
	if (spawn_find(&programs[WHERE_CPU], "HPOTUNE_WORKER", "hpotune-worker",
		e) != 0)
		return -1;
	if (access(programs[WHERE_CPU], X_OK) == 0)
		return 0;
	return err_set(
	    e, ERR_FILE, "%s: %s", programs[WHERE_CPU], strerror(errno));
}

static int
worker_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	char *programs[WHERES];
	int rc = programs_find(programs, study->device, e);

	(void)plugins;
	free(programs[WHERE_CPU]);
	free(programs[WHERE_CUDA]);
	return rc;
}

static int
worker_open(void **out, const struct suggest_env *env, struct err *e)
{
	struct suggest_worker *w = xcalloc(1, sizeof *w);

	w->env = env;
	*out = w;
	if (programs_find(w->programs, env->study->device, e) != 0)
		return -1;
	w->where = w->programs[WHERE_CUDA] != NULL ? WHERE_CUDA : WHERE_CPU;
	w->x = xcalloc(env->study->space->n, sizeof *w->x);
	return 0;
}

static void
worker_close(void *arg)
{
	struct suggest_worker *w = arg;

	if (w == NULL)
		return;
	coproc_free(w->peer, 0);
	buf_free(&w->input);
	free(w->programs[WHERE_CPU]);
	free(w->programs[WHERE_CUDA]);
	free(w->x);
	free(w);
}

static void
worker_broken(struct suggest_worker *w, const char *text)
{
	if (!w->broken)
		(void)err_set(&w->why, ERR_FILE, "%s", text);
	w->broken = true;
}

static void
worker_kill(struct suggest_worker *w)
{
	if (w->peer == NULL || w->ending)
		return;
	w->ending = true;
	w->ready = false;
	coproc_kill(w->peer);
}

/* Not a message of this protocol version. */
static void
worker_on_garbage(struct suggest_worker *w)
{
	(void)snprintf(w->died, sizeof w->died, "sent an invalid answer");
	w->garbage = true;
	worker_kill(w);
}

static void
worker_on_hello(struct suggest_worker *w, const struct worker_message *m)
{
	const char *version = m->data, *device;
	size_t len = strnlen(m->data, m->len);

	if (len + 1 >= m->len || m->data[m->len - 1] != '\0') {
		worker_on_garbage(w);
		return;
	}
	device = version + len + 1;
	if (strcmp(version, PACKAGE_VERSION) != 0) {
		worker_broken(w,
		    "hpotune-worker has another version: stop this "
		    "study's server and start it again");
		worker_kill(w);
		return;
	}
	w->ready = true;
	if (w->where == WHERE_CPU || *w->note != '\0')
		return;
	(void)snprintf(
	    w->note, sizeof w->note, "it computes on %.200s", device);
}

/* The device is missing: use the CPU from now on. */
static void
worker_downgrade(struct suggest_worker *w, const char *why, size_t len)
{
	char text[300];

	if (w->where != WHERE_CUDA)
		return;
	(void)snprintf(
	    text, sizeof text, "%.*s", len < 200 ? (int)len : 200, why);
	if (w->env->study->device == STUDY_DEVICE_CUDA) {
		(void)snprintf(w->note, sizeof w->note,
		    "strategy.device is \"cuda\": %s", text);
		worker_broken(w, w->note);
		*w->note = '\0';
		return;
	}
	w->where = WHERE_CPU;
	(void)snprintf(
	    w->note, sizeof w->note, "it computes on the CPU: %s", text);
}

static void
worker_on_answer(struct suggest_worker *w, const struct worker_message *m)
{
	struct worker_message_answer a;

	if (worker_protocol_read_answer(&a, w->x, w->env->study->space->n, m) !=
		0 ||
	    !w->asked || !w->sent || a.trial != w->q.trial ||
	    a.redraw != w->q.redraw) {
		worker_on_garbage(w);
		return;
	}
	w->answered = true;
	w->result = a.result;
	w->from = a.from;
	w->seconds = a.seconds;
	w->fits = a.fits;
	w->memory = a.memory;
	(void)snprintf(w->made_by, sizeof w->made_by, "%s", a.made_by);
	if (a.result != 0)
		(void)err_set(&w->why, ERR_USAGE, "%.500s", a.text);
	else if (*a.text != '\0')
		(void)snprintf(
		    w->note, sizeof w->note, "it computes on %.250s", a.text);
}

static void
worker_on_message(struct suggest_worker *w, const struct worker_message *m)
{
	switch (m->kind) {
	case WORKER_MESSAGE_HELLO:
		worker_on_hello(w, m);
		break;
	case WORKER_MESSAGE_NONE:
		if (w->where == WHERE_CPU) {
			worker_on_garbage(w);
			break;
		}
		worker_downgrade(w, m->data, m->len);
		worker_kill(w);
		break;
	case WORKER_MESSAGE_ANSWER:
		worker_on_answer(w, m);
		break;
	case WORKER_MESSAGE_STUDY:
	case WORKER_MESSAGE_ASK:
		worker_on_garbage(w);
		break;
	}
}

/* An answer has 8 bytes for each parameter, and some texts. */
static void
worker_client_on_read(void *arg, const char *data, size_t len)
{
	struct suggest_worker *w = arg;
	size_t most = TEXT_MOST + 8 * w->env->study->space->n, used = 0;
	struct worker_message m;
	ptrdiff_t n = 0;

	buf_add(&w->input, data, len);
	while (!w->ending && (n = worker_protocol_take(&m, w->input.data + used,
				  w->input.len - used, most)) > 0) {
		worker_on_message(w, &m);
		used += (size_t)n;
	}
	if (w->ending)
		buf_clear(&w->input);
	else if (n < 0)
		worker_on_garbage(w);
	else if (used > 0) {
		memmove(
		    w->input.data, w->input.data + used, w->input.len - used);
		w->input.len -= used;
	}
}

static void
worker_client_on_ended(void *arg, int status)
{
	struct suggest_worker *w = arg;

	static const char no_device[] = "hpotune-worker-cuda found no device";
	bool wanted = w->asked && !w->answered;
	bool silent = !w->ready && !w->ending && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0;

	coproc_free(w->peer, 0);
	w->peer = NULL;
	buf_free(&w->input);
	if (*w->died == '\0')
		suggest_exit_text(status, w->died, sizeof w->died);
	if (silent && w->where == WHERE_CUDA)
		worker_downgrade(w, no_device, sizeof no_device - 1);
	else if (wanted && (!w->ending || w->garbage))
		w->deaths++;
	w->ready = w->ending = w->garbage = w->sent = false;
}

static int
worker_start(struct suggest_worker *w, struct err *e)
{
	static char *const env[] = { "OPENBLAS_NUM_THREADS=1",
		"OMP_NUM_THREADS=1", NULL };
	static char automatic[] = "auto";
	bool chooses = w->where == WHERE_CUDA &&
		       w->env->study->device == STUDY_DEVICE_AUTO;
	char *argv[] = { w->programs[w->where], chooses ? automatic : NULL,
		NULL };
	struct coproc_spec spec = { .argv = argv, .env = env, .socket = true };
	struct coproc_hooks hooks = { .on_read = worker_client_on_read,
		.on_exit = worker_client_on_ended,
		.arg = w };
	char *log = suggest_log_path(w->env);
	struct worker_message_study study = { .path = w->env->study->path };
	struct buf json = { 0 }, frame = { 0 };
	int rc;

	*w->died = '\0';
	spec.log = log;
	rc = coproc_start(&w->peer, w->env->loop, &spec, &hooks, e);
	free(log);
	if (rc != 0)
		return -1;
	study_put_json(&json, w->env->study);
	study.json = buf_str(&json);
	study.json_len = json.len;
	study.strategy = w->env->study->strategy.name;
	worker_protocol_put_study(&frame, &study);
	coproc_write(w->peer, frame.data, frame.len);
	buf_free(&frame);
	buf_free(&json);
	return 0;
}

static void
worker_send(struct suggest_worker *w)
{
	struct worker_message_ask ask = { .seed = w->env->seed,
		.trial = w->q.trial,
		.n_enqueued = w->q.n_enqueued,
		.n_known = w->q.n_known,
		.redraw = w->q.redraw,
		.time_limited = w->q.time_limited,
		.time_used = w->q.time_used,
		.convergence = w->q.convergence };
	unsigned keep = HISTORY_POINTS;
	struct buf frame = { 0 };

	(void)snprintf(
	    ask.strategy, sizeof ask.strategy, "%s", w->strategy->name);
	if (w->strategy->wants_curves)
		keep |= HISTORY_CURVES;
	if (w->strategy->wants_last)
		keep |= HISTORY_LAST;
	worker_protocol_put_ask(&frame, &ask, w->env->history, keep);
	coproc_write(w->peer, frame.data, frame.len);
	buf_free(&frame);
	w->sent = true;
}

/* Pass the answer to the caller. */
static enum suggest_result
worker_answer(
    struct suggest_worker *w, struct suggest_answer *out, struct err *e)
{
	w->asked = w->sent = w->answered = false;
	if (w->result < 0) {
		*e = w->why;
		return SUGGEST_FAILED;
	}
	if (w->result > 0) {
		*e = w->why;
		return SUGGEST_EXHAUSTED;
	}
	if (w->q.convergence)
		return SUGGEST_POINT;
	suggest_answer_decode(out, w->env, w->x);
	out->from = w->from;
	out->seconds = w->seconds;
	out->fits = w->fits;
	out->memory = w->memory;
	(void)snprintf(out->made_by, sizeof out->made_by, "%s", w->made_by);
	return SUGGEST_POINT;
}

/* No answer will come. */
static enum suggest_result
worker_failed(struct suggest_worker *w, struct err *e)
{
	w->asked = false;
	if (w->broken) {
		*e = w->why;
		return SUGGEST_FAILED;
	}
	(void)err_set(e, ERR_FILE,
	    "hpotune-worker %s, %d times over trial %lld%s", w->died, w->deaths,
	    (long long)w->q.trial,
	    w->env->state_dir != NULL ? "; its output is in strategy.log" : "");
	return SUGGEST_FAILED;
}

/* A worker cannot interrupt a computation, so it is killed. */
static void
worker_cancel(void *arg)
{
	struct suggest_worker *w = arg;

	if (w->sent && !w->answered)
		worker_kill(w);
	w->asked = w->answered = w->sent = false;
}

static enum suggest_result
worker_ask(void *arg, const struct suggest_question *q,
    const struct strategy *strategy, struct suggest_answer *out, struct err *e)
{
	struct suggest_worker *w = arg;

	if (w->asked &&
	    (!suggest_question_same(q, &w->q) || strategy != w->strategy))
		worker_cancel(w);
	if (*w->note != '\0') {
		w->env->event(w->env->arg, LOG_LEVEL_INFO, w->note);
		*w->note = '\0';
	}
	if (w->answered)
		return worker_answer(w, out, e);
	if (!w->asked) {
		w->asked = true;
		w->q = *q;
		w->strategy = strategy;
		w->deaths = 0;
	}
	if (w->broken || w->deaths >= DEATHS_MOST)
		return worker_failed(w, e);
	if (w->peer == NULL && worker_start(w, e) != 0) {
		w->asked = false;
		return SUGGEST_FAILED;
	}
	if (w->ready && !w->sent)
		worker_send(w);
	return SUGGEST_LATER;
}

const struct suggest_way suggest_worker = {
	.check = worker_check,
	.open = worker_open,
	.close = worker_close,
	.ask = worker_ask,
	.cancel = worker_cancel,
};
