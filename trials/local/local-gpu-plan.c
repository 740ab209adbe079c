/*
 * Plans the GPUs of a study before it starts: how many trials they hold, and
 * which of them are unusable now.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"

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
plan_put(struct buf *out, const struct local_gpu_request *w,
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
		/* This study perhaps, when it runs already. */
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
	const struct option *table = launcher_local.options;
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
		o.busy_memory = (int64_t)plugin_option_get(
		    table, options, "gpu_busy_memory")
				    ->number;
		o.only = (const char *const *)w.only;
		o.n_only = w.n_only;
		g = gpualloc_new(&o, &hooks, &w.look, 0);
		n = gpualloc_choose_capacity(g);
		plan_put(out, &w, g);
		gpualloc_free(g);
	}
	local_gpu_request_free(&w);
	return n;
}
