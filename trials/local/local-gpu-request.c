/*
 * Resolves which GPUs of this machine a study may use and how many a trial
 * gets, with one query.  Does not check whether they are busy.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-visible.h"
#include "trials/backend.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"

static const char *const gpu_ids[] = { "uuid", "index", NULL };

static const char *const mps[] = { "auto", "off", NULL };

const struct option local_options[] = {
	{ "gpus", OPTION_ANY, 0, 0, "auto", NULL,
	    "GPUs to use: auto, how many, their UUIDs, or simulated ones" },
	{ "trials_per_gpu", OPTION_INT, 1, 64, "1", NULL,
	    "trials that share one GPU" },
	{ "gpu_ids", OPTION_TEXT, 0, 0, "uuid", gpu_ids,
	    "how CUDA_VISIBLE_DEVICES names GPUs" },
	{ "gpu_busy_memory", OPTION_SIZE, 0, 1e15, "1GiB", NULL,
	    "in use without a visible process: the GPU then counts as "
	    "foreign" },
	{ "gpu_idle", OPTION_DURATION, 0, 0, "10m", NULL,
	    "warn when a trial has not used its GPUs for this long; 0 = "
	    "never" },
	{ "bind", OPTION_BOOL, 0, 0, "true", NULL,
	    "a trial with one GPU runs on the cores near it" },
	{ "mps", OPTION_TEXT, 0, 0, "auto", mps,
	    "whether trials share a GPU by MPS where its daemon runs" },
	{ "log_cap", OPTION_SIZE, 0, 1e15, "256MiB", NULL,
	    "output kept per attempt, the newest; 0 keeps all" },
	{ 0 }
};

enum {
	ASK_MS = 20000 /* a suspended driver may need seconds */
};

#define SIMULATED_MEMORY (INT64_C(24) << 30)
#define GIB ((double)(INT64_C(1) << 30))

static void
only_add(struct local_gpu_request *w, const char *uuid)
{
	w->only = xreallocarray(w->only, w->n_only + 1, sizeof *w->only);
	w->only[w->n_only++] = xstrdup(uuid);
	w->n = w->n_only;
}

static bool
only_has(const struct local_gpu_request *w, const char *uuid)
{
	size_t i;

	for (i = 0; i < w->n_only; i++)
		if (strcmp(w->only[i], uuid) == 0)
			return true;
	return false;
}

void
local_gpu_request_visible(struct local_gpu_request *w, const char *visible)
{
	const struct gpu_device **list = xcalloc(w->look.n + 1, sizeof *list);
	size_t i, n = gpu_visible_list(&w->look, visible, list);

	w->only = xcalloc(1, sizeof *w->only);
	w->n_only = w->n = 0;
	for (i = 0; i < n; i++)
		only_add(w, list[i]->uuid);
	free(list);
}

/*
 * The GPUs that CUDA_VISIBLE_DEVICES allows (set by a batch system, for
 * example).
 */
static void
request_all(struct local_gpu_request *w)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	w->n = w->look.n;
	if (visible == NULL || w->look.n == 0)
		return;
	local_gpu_request_visible(w, visible);
	/*
	 * When some of the GPUs are hidden by choice, there is nothing to say.
	 */
	if (!gpu_visible_why(w->hidden, sizeof w->hidden, &w->look, visible))
		*w->hidden = '\0';
}

static int
request_first(struct local_gpu_request *w, size_t n, const struct json *where,
    struct err *e)
{
	size_t i;

	request_all(w);
	if (n > w->n)
		return json_err(where, e, "this machine has %zu", w->n);
	if (w->only == NULL) {
		w->only = xcalloc(1, sizeof *w->only);
		for (i = 0; i < n; i++)
			only_add(w, w->look.gpus[i].uuid);
	}
	for (i = n; i < w->n_only; i++)
		free(w->only[i]);
	w->n_only = w->n = n;
	return 0;
}

static int
request_named(struct local_gpu_request *w, const char *text,
    const struct json *where, struct err *e)
{
	const struct gpu_device *g;
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		g = gpu_visible_find(&w->look, text, len);
		if (g == NULL)
			return json_err(where, e,
			    "no GPU here is called %.*s%s%s", (int)len, text,
			    w->look.n == 0 && *w->look.why != '\0' ? ": " : "",
			    w->look.n == 0 ? w->look.why : "");
		if (only_has(w, g->uuid))
			return json_err(where, e,
			    "%.*s names a GPU for the second time: "
			    "trials_per_gpu puts several trials on one",
			    (int)len, text);
		only_add(w, g->uuid);
	}
	return 0;
}

static int
request_simulated(
    struct local_gpu_request *w, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "simulate", "memory", NULL };
	int64_t n, memory = SIMULATED_MEMORY;
	const struct json *j;

	if (json_only(block, keys, e) != 0)
		return -1;
	j = json_need(block, "simulate", e);
	if (j == NULL || json_read_integer(j, 1, GPU_SNAPSHOT_GPUS, &n, e) != 0)
		return -1;
	j = json_get(block, "memory");
	if (j != NULL && size_read(&memory, j, e) != 0)
		return -1;
	if (j != NULL && memory == 0)
		return json_err(j, e, "expected a size above 0");
	gpu_snapshot_simulate(&w->look, (int)n, memory);
	w->simulated = true;
	w->n = w->look.n;
	return 0;
}

/*
 * A text of digits could be a number of GPUs or the index of one; in a list it is
 * an index, as a number alone is a number of GPUs.
 */
static int
request_check_digits(const char *text, const struct json *j, struct err *e)
{
	if (j == NULL || json_type(j) != JSON_STRING ||
	    text[strspn(text, "0123456789")] != '\0')
		return 0;
	return json_err(j, e,
	    "expected %s for so many GPUs, or [%s] for the one with this index",
	    text, text);
}

/* "auto", "4", UUIDs joined by commas, or an object. */
static int
request_gpus(
    struct local_gpu_request *w, const struct option_value *v, struct err *e)
{
	const char *text = v->text;
	bool listed = v->json != NULL && json_type(v->json) == JSON_ARRAY;
	struct err why = ERR_INIT;
	unsigned long n;
	char *end;

	if (text == NULL)
		return request_simulated(w, v->json, e);
	if (request_check_digits(text, v->json, e) != 0)
		return -1;
	/* None needs no query. */
	if (!listed && strcmp(text, "0") == 0)
		return 0;
	if (gpu_query(&w->look, ASK_MS, &why) == -1) {
		gpu_snapshot_free(&w->look);
		w->look = (struct gpu_snapshot){ .source = GPU_NONE };
		(void)snprintf(
		    w->look.why, sizeof w->look.why, "%.150s", why.text);
	}
	n = strtoul(text, &end, 10);
	if (strcmp(text, "auto") == 0) {
		request_all(w);
		return 0;
	}
	if (listed || !isdigit((unsigned char)*text) || *end != '\0')
		return request_named(w, text, v->json, e);
	if (n > GPU_SNAPSHOT_GPUS)
		return json_err(v->json, e, "at most %d", GPU_SNAPSHOT_GPUS);
	return request_first(w, n, v->json, e);
}

static bool
may_use(const struct local_gpu_request *w, const struct gpu_device *g)
{
	return w->only == NULL || only_has(w, g->uuid);
}

/* Check that enough GPUs have the memory that a trial declares, or hide it. */
static int
memory_check(const struct local_gpu_request *w, int64_t declared, struct err *e)
{
	const struct gpu_device *g;
	int64_t most = 0;
	int n = 0;
	size_t i;

	for (i = 0; i < w->look.n; i++) {
		g = &w->look.gpus[i];
		if (!may_use(w, g))
			continue;
		n += g->memory < 0 || g->memory >= declared;
		most = g->memory > most ? g->memory : most;
	}
	if (n >= w->per_trial)
		return 0;
	return err_set(e, ERR_LAUNCH,
	    "a trial declares %.1f GiB of memory on each of %d, but %d of the "
	    "%zu here have that (the largest %.1f GiB)",
	    (double)declared / GIB, w->per_trial, n, w->n, (double)most / GIB);
}

/*
 * A driver is loaded but shows no GPU, e.g. after an upgrade: report an error,
 * because trials would otherwise run without GPUs.  A machine without the
 * library has no GPUs.
 */
static bool
driver_fails(const struct local_gpu_request *w)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	return w->look.n == 0 && *w->look.why != '\0' && gpu_query_driver() &&
	       strncmp(w->look.why, GPU_NO_LIBRARY, strlen(GPU_NO_LIBRARY)) !=
		   0 &&
	       (visible == NULL || *visible != '\0');
}

int
local_gpu_request_read(struct local_gpu_request *w,
    const struct study_trial *settings, const struct option_value *options,
    struct err *e)
{
	int64_t each = settings->gpus;
	bool said;

	*w = (struct local_gpu_request){ 0 };
	/* Trials without GPUs get none. */
	if (each != 0 &&
	    request_gpus(w, plugin_option_get(options, "gpus"), e) != 0)
		return -1;
	w->share = (int)plugin_option_number(options, "trials_per_gpu");
	if (each < 0 && driver_fails(w))
		return err_set(e, ERR_LAUNCH,
		    "the GPUs of this machine cannot be used: %s; for trials "
		    "without any, trial.gpus is 0",
		    w->look.why);
	if (each < 0)
		each = w->n > 0;
	said = w->n == 0 && *w->look.why != '\0';
	if (each > (int64_t)w->n)
		return err_set(e, ERR_LAUNCH,
		    "a trial needs %lld, but this machine has %zu%s%s",
		    (long long)each, w->n, said ? ": " : "",
		    said ? w->look.why : "");
	w->per_trial = (int)each;
	return memory_check(w, settings->gpu_memory, e);
}

void
local_gpu_request_free(struct local_gpu_request *w)
{
	size_t i;

	gpu_snapshot_free(&w->look);
	for (i = 0; i < w->n_only; i++)
		free(w->only[i]);
	free(w->only);
	*w = (struct local_gpu_request){ 0 };
}

/*
 * Plans the GPUs of a study before it starts: how many trials they hold, and
 * which of them are unusable now.
 */

static void
no_note(void *arg, bool warn, int64_t trial, int attempt, const char *text)
{
	(void)arg;
	(void)warn;
	(void)trial;
	(void)attempt;
	(void)text;
}

static bool
no_book(void *arg, const char *uuid, char *who, size_t n)
{
	(void)arg;
	(void)uuid;
	(void)who;
	(void)n;
	return true;
}

static void
no_matter(void *arg, const char *uuid)
{
	(void)arg;
	(void)uuid;
}

static void
no_news(void *arg, size_t i)
{
	(void)arg;
	(void)i;
}

/* "4 GPUs, 2 of them per trial; GPU 3 is foreign: …" */
static void
gpu_request_plan_put(struct buf *out, const struct local_gpu_request *w,
    const struct gpualloc *g)
{
	char who[GPU_OWNER];
	struct gpualloc_view v;
	size_t i;

	buf_printf(out, "%zu %s%s, %d per trial", w->n,
	    w->simulated ? "simulated GPU" : "GPU", w->n == 1 ? "" : "s",
	    w->per_trial);
	if (w->share > 1)
		buf_printf(out, ", %d trials on each", w->share);
	for (i = 0; i < gpualloc_count(g); i++) {
		gpualloc_at(g, i, &v);
		/* The owner is perhaps this study, when it runs already. */
		if (v.used && !w->simulated &&
		    gpu_lock_owner(v.seen->uuid, who, sizeof who))
			buf_printf(out, "; GPU %d is of study %s now",
			    v.seen->index, *who != '\0' ? who : "?");
		else if (v.used && v.state != GPU_FREE)
			buf_printf(out, "; GPU %d is %s now: %s", v.seen->index,
			    gpualloc_state_name(v.state), v.why);
	}
}

int64_t
local_gpu_plan(const struct study_trial *settings,
    const struct option_value *options, struct buf *out, struct err *e)
{
	static const struct gpualloc_hooks hooks = { .book = no_book,
		.unbook = no_matter,
		.note = no_note,
		.changed = no_news,
		.probe = no_matter };
	struct gpualloc_options o = { 0 };
	struct local_gpu_request w;
	struct gpualloc *g;
	int64_t n = -1;

	if (local_gpu_request_read(&w, settings, options, e) == 0)
		n = 0;
	if (n == 0 && w.per_trial > 0) {
		o.per_trial = w.per_trial;
		o.share = w.share;
		o.memory = settings->gpu_memory;
		o.busy_memory =
		    (int64_t)plugin_option_number(options, "gpu_busy_memory");
		o.only = (const char *const *)w.only;
		o.n_only = w.n_only;
		g = gpualloc_new(&o, &hooks, &w.look, 0);
		n = gpualloc_choose_capacity(g);
		gpu_request_plan_put(out, &w, g);
		gpualloc_free(g);
	}
	if (n >= 0 && *w.hidden != '\0')
		buf_printf(
		    out, "%s%s", out->len > 0 ? "; " : "none: ", w.hidden);
	local_gpu_request_free(&w);
	return n;
}
