/*
 * hpotune-worker: computes suggestions of strategies that would block the
 * server.  Reads requests from its standard input, a socket of the server, and
 * exits when it closes.  Keeps no state between two requests, but which device is
 * faster.
 *
 * hpotune-worker-cuda auto computes on the CPU until a GPU is likely to be faster, and
 * opens the GPU meanwhile, in a thread.
 */

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/worker/worker-devices.h"
#include "src/worker/worker-kernels-linked.h"
#include "src/worker/worker-protocol.h"
#include "strategies/strategy.h"

enum { NICE = 5 };

struct worker {
	int in, out;
	struct buf input; /* received */
	size_t used; /* bytes of it already read */
	const struct kernels *kernels;
	struct devices {
		bool chosen; /* as follows; else kernels are all there is */
		struct worker_devices by;
		const struct kernels *gpu;
		pthread_t thread;
		enum { GPU_CLOSED, GPU_OPENING, GPU_OPEN } state;
		atomic_bool ended; /* the thread, which sets gpu and why */
		char why[256];
		char text[300]; /* to be told with the next answer */
	} devices;
	struct study *study;
	const struct strategy *strategy;
	struct option_value *options;
	struct option_value *convergence; /* NULL = not requested */
};

/* The server has exited, or uses another protocol. */
static _Noreturn void
worker_main_give_up(const char *what)
{
	if (what != NULL)
		(void)fprintf(stderr, "hpotune-worker: %s\n", what);
	exit(what != NULL);
}

static void
message_write(struct worker *w, struct buf *b)
{
	size_t said = 0;
	ssize_t n;

	while (said < b->len) {
		n = write(w->out, b->data + said, b->len - said);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			worker_main_give_up(NULL);
		said += (size_t)n;
	}
	buf_free(b);
}

/* Wait for the next message; it is valid until the next one is read. */
static struct worker_message
message_read(struct worker *w)
{
	static char piece[1 << 16];
	struct worker_message m;
	ptrdiff_t taken;
	ssize_t n;

	if (w->used == w->input.len) {
		buf_free(&w->input);
		w->used = 0;
	}
	for (;;) {
		taken = worker_protocol_take(&m, w->input.data + w->used,
		    w->input.len - w->used, WORKER_MESSAGE_MAX);
		if (taken < 0)
			worker_main_give_up(
			    "unexpected message from the server");
		if (taken > 0) {
			w->used += (size_t)taken;
			return m;
		}
		n = read(w->in, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			worker_main_give_up(NULL);
		buf_add(&w->input, piece, (size_t)n);
	}
}

static void
study_open(struct worker *w, const struct worker_message *m)
{
	struct worker_message_study s;
	struct err e = ERR_INIT;

	if (worker_protocol_read_study(&s, m) != 0)
		worker_main_give_up("the study was cut short");
	if (study_parse(&w->study, s.json, s.json_len, s.path, &e) != 0)
		worker_main_give_up(e.text);
	study_set_former(w->study, s.strategy, "");
	w->strategy = strategy_find(w->study->strategy.name);
	if (w->strategy == NULL)
		worker_main_give_up("there is no such strategy");
	if (plugin_options_read(&w->options, w->strategy->options,
		w->study->strategy.block, study_strategy_keys, &e) != 0)
		worker_main_give_up(e.text);
	if (w->study->limits.convergence &&
	    plugin_options_read(&w->convergence, strategy_convergence.options,
		w->study->limits.convergence_block, NULL, &e) != 0)
		worker_main_give_up(e.text);
}

/* Ask another strategy than the study's, with its default options. */
static int64_t
suggest_default(const char *name, struct suggestion *s,
    const struct strategy_ask *ask, struct err *e)
{
	const struct strategy *strategy = strategy_find(name);
	struct option_value *options;
	int64_t rc;

	if (strategy == NULL)
		worker_main_give_up("there is no such strategy");
	if (plugin_options_read(&options, strategy->options, NULL, NULL, e) !=
	    0)
		return -1;
	rc = strategy_suggest(strategy, s, ask, options, e);
	plugin_options_free(options);
	return rc;
}

static void *
gpu_open(void *arg)
{
	struct devices *d = arg;

	d->gpu = worker_kernels_linked(d->why, sizeof d->why);
	atomic_store(&d->ended, true);
	return NULL;
}

/* Open the GPU when it may pay for itself; use it when it is open. */
static void
gpu_prepare(struct devices *d, int64_t trials)
{
	if (d->state == GPU_CLOSED && trials >= WORKER_DEVICES_FROM) {
		if (pthread_create(&d->thread, NULL, gpu_open, d) != 0)
			return;
		d->state = GPU_OPENING;
	}
	if (d->state != GPU_OPENING || !atomic_load(&d->ended))
		return;
	(void)pthread_join(d->thread, NULL);
	d->state = GPU_OPEN;
	d->by.there = d->gpu != NULL;
	if (d->gpu == NULL)
		(void)snprintf(d->text, sizeof d->text, "the CPU: %s", d->why);
}

static const struct kernels *
kernels_choose(struct worker *w, int64_t trials)
{
	struct devices *d = &w->devices;

	if (!d->chosen)
		return w->kernels;
	gpu_prepare(d, trials);
	return worker_devices_gpu(&d->by, trials) ? d->gpu : w->kernels;
}

/* The result of the strategy's suggest, or of the convergence check. */
static int64_t
suggest(const struct worker *w, const struct worker_message_ask *q,
    struct suggestion *s, const struct strategy_ask *ask, struct err *e)
{
	if (q->convergence == 0)
		return strcmp(q->strategy, w->strategy->name) == 0
			   ? strategy_suggest(
				 w->strategy, s, ask, w->options, e)
			   : suggest_default(q->strategy, s, ask, e);
	if (w->convergence == NULL)
		worker_main_give_up("the study has no limits.convergence");
	return strategy_convergence.suggest(s, ask, w->convergence, e);
}

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of the same suggestion with other kernels; its result is not used. */
static double
seconds_with(const struct worker *w, const struct worker_message_ask *q,
    struct strategy_ask ask, const struct kernels *kernels)
{
	struct suggestion s = { .made_by = kernels->name };
	struct err e = ERR_INIT;
	double began = seconds();

	ask.kernels = kernels;
	s.x = xcalloc(ask.space->n, sizeof *s.x);
	if (suggest(w, q, &s, &ask, &e) < 0)
		began = -INFINITY;
	free(s.x);
	return seconds() - began;
}

/*
 * After an answer, while the server has it: the time of the other device.  What a GPU
 * computes for the first time takes longer than ever after.
 */
static void
devices_compare(struct worker *w, const struct worker_message_ask *q,
    const struct strategy_ask *ask, double took)
{
	struct devices *d = &w->devices;
	int64_t trials = history_count(ask->history);
	double cpu = took, gpu = took;

	if (ask->kernels == d->gpu) {
		cpu = seconds_with(w, q, *ask, w->kernels);
	} else {
		(void)seconds_with(w, q, *ask, d->gpu);
		gpu = seconds_with(w, q, *ask, d->gpu);
	}
	worker_devices_compared(
	    &d->by, trials, cpu, gpu, d->text, sizeof d->text);
}

static void
worker_main_answer(struct worker *w, const struct worker_message *m)
{
	const struct space *space = w->study->space;
	struct suggestion s = { 0 };
	struct worker_message_ask q;
	struct worker_message_answer a;
	struct strategy_ask ask;
	struct history *history = NULL;
	struct err e = ERR_INIT;
	struct buf frame = { 0 };
	double began = seconds();

	if (worker_protocol_read_ask(&q, &history, m, &e) != 0)
		worker_main_give_up(e.text);
	if (history_dims(history) != space->n)
		worker_main_give_up("the history is of another study");
	ask = (struct strategy_ask){ .space = space,
		.history = history,
		.seed = q.seed,
		.trial = q.trial,
		.n_enqueued = q.n_enqueued,
		.n_known = q.n_known,
		.redraw = (unsigned)q.redraw,
		.time_limited = q.time_limited != 0,
		.time_used = q.time_used,
		.kernels = kernels_choose(w, history_count(history)) };
	s.made_by = ask.kernels->name;
	s.x = xcalloc(space->n, sizeof *s.x);
	a = (struct worker_message_answer){
		.trial = q.trial, .redraw = q.redraw, .x = s.x, .n = space->n
	};
	a.result = suggest(w, &q, &s, &ask, &e);
	a.from = s.from;
	a.fits = s.fits;
	a.memory = s.memory;
	a.made_by = s.made_by != NULL ? s.made_by : "";
	a.text = a.result == 0 ? w->devices.text : e.text;
	a.seconds = seconds() - began;
	worker_protocol_put_answer(&frame, &a);
	message_write(w, &frame);
	*w->devices.text = '\0';
	if (a.result == 0 && strcmp(a.made_by, ask.kernels->name) == 0 &&
	    worker_devices_compare(&w->devices.by, history_count(history)))
		devices_compare(w, &q, &ask, a.seconds);
	history_free(history);
	free(s.x);
}

static void
hello(struct worker *w)
{
	const char *device = w->devices.chosen
				 ? "the CPU, and on a GPU where that is faster"
				 : w->kernels->device;
	struct buf text = { 0 }, frame = { 0 };

	buf_add(&text, PACKAGE_VERSION, sizeof PACKAGE_VERSION);
	buf_add(&text, device, strlen(device) + 1);
	worker_protocol_put(&frame, WORKER_MESSAGE_HELLO, text.data, text.len);
	buf_free(&text);
	message_write(w, &frame);
}

static void
worker_main_serve(struct worker *w)
{
	struct worker_message m;

	hello(w);
	for (;;) {
		m = message_read(w);
		if (m.kind == WORKER_MESSAGE_STUDY && w->study == NULL)
			study_open(w, &m);
		else if (m.kind == WORKER_MESSAGE_ASK && w->study != NULL)
			worker_main_answer(w, &m);
		else
			worker_main_give_up(
			    "unexpected message from the server");
	}
}

/*
 * Redirect stdout, so that output of libraries does not mix with the answers.
 */
static void
wires_open(struct worker *w)
{
	w->in = STDIN_FILENO;
	w->out = dup(STDOUT_FILENO);
	if (w->out == -1 || dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
		worker_main_give_up(strerror(errno));
}

/* Without a server: print the device it would use. */
static int
introduce(const struct worker *w, const char *why)
{
	if (w->kernels == NULL)
		printf("hpotune-worker: %s\n", why);
	else
		printf("hpotune-worker %s: %s, %s\n", PACKAGE_VERSION,
		    w->kernels->name, w->kernels->device);
	return fflush(stdout) != 0;
}

/* OpenBLAS reads its processor settings before main. */
static void
core_choose(char **argv)
{
	static const char name[] = "OPENBLAS_CORETYPE";
	const char *core = openblas_core();
	char self[PATH_MAX];
	ssize_t n;

	if (core == NULL || getenv(name) != NULL)
		return;
	/* Re-execute by its own path, so that its name stays. */
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0 || setenv(name, core, 1) != 0)
		return;
	self[n] = '\0';
	(void)execv(self, argv);
}

int
main(int argc, char **argv)
{
	struct worker w = { 0 };
	struct buf frame = { 0 };
	char why[256] = "";
	struct stat st;

	core_choose(argv);
	mem_settle_matrices();
	w.devices.chosen = argc > 1 && strcmp(argv[1], "auto") == 0;
	if (!w.devices.chosen)
		w.kernels = worker_kernels_linked(why, sizeof why);
	else if (worker_kernels_possible(why, sizeof why))
		w.kernels = kernels_cpu();
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISSOCK(st.st_mode))
		return introduce(&w, why);
	/* Exit at once when the server is killed, also within a computation. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)nice(NICE);
	wires_open(&w);
	if (w.kernels == NULL) {
		worker_protocol_put(
		    &frame, WORKER_MESSAGE_NONE, why, strlen(why));
		message_write(&w, &frame);
		return 0;
	}
	worker_main_serve(&w);
}
