/*
 * The warm process of a study on this machine (trials/warm): its answers in the
 * loop, and what is noted of it.
 */

#include <string.h>

#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"

enum { IMPORT_MS = 120000 }; /* a start waits so long for an import */

const char *
local_warm_why_not(
    const struct study_trial *t, const struct option_value *values)
{
	(void)values;
	return t->launcher != STUDY_LAUNCHER_NONE
		   ? "trial.launcher starts the processes of a trial"
		   : NULL;
}

void
local_warm_collect(struct local *l)
{
	struct local_warm *w = &l->warm;

	for (; w->noted < w->process.notes.n; w->noted++)
		backend_note(&l->source, LAUNCH_INFO, "%s",
		    w->process.notes.v[w->noted]);
}

static void
warm_on_answer(void *arg, int fd, bool readable, bool writable)
{
	struct local *l = arg;

	(void)fd;
	(void)readable;
	(void)writable;
	warm_process_hear(&l->warm.process);
	loop_wake(l->loop);
}

static void
warm_on_closing(void *arg)
{
	struct local *l = arg;

	loop_fd_free(l->warm.watch);
	l->warm.watch = NULL;
}

void
local_warm_begin(
    struct local *l, const char *workdir, char *const *env, const char *cpus)
{
	struct local_warm *w = &l->warm;

	if (!warm_process_begin(&w->process, workdir, env, cpus))
		return;
	w->watch = loop_fd_new(l->loop, w->process.fd, warm_on_answer, l);
	loop_fd_want(w->watch, true, false);
}

/* Whether all trials have the same environment and the same working folder. */
static bool
warm_same_places(const struct study_trial *t)
{
	size_t i;

	for (i = 0; t->env != NULL && t->env[i] != NULL; i++)
		if (strpbrk(t->env[i], "{}") != NULL)
			return false;
	return strpbrk(t->workdir_text, "{}") == NULL && t->source.git == NULL;
}

static void
warm_on_timer(void *arg)
{
	struct local *l = arg;

	if (l->warm.process.state == WARM_PROCESS_LOADING)
		warm_process_slow(&l->warm.process, IMPORT_MS / 1000);
	loop_wake(l->loop);
}

bool
local_warm_imports(struct local *l)
{
	struct local_warm *w = &l->warm;
	int64_t now = loop_now_ms(l->loop);

	if (w->process.state != WARM_PROCESS_LOADING) {
		w->loading_ms = -1;
		return false;
	}
	if (w->loading_ms == -1) {
		w->loading_ms = now;
		loop_timer_set(w->timer, IMPORT_MS);
	}
	return now - w->loading_ms < IMPORT_MS;
}

bool
local_warm_usable(const struct local *l)
{
	return l->warm.process.state == WARM_PROCESS_READY;
}

pid_t
local_warm_fork(struct local *l, char *const *argv, char *const *env, int fd)
{
	return warm_process_fork(&l->warm.process, l->shim, argv, env, &fd, 1);
}

void
local_warm_open(struct local *l, const struct study_trial *t)
{
	struct warm_process *p = &l->warm.process;

	if (!t->warm || t->warm_at == 0)
		return;
	l->warm.skip = t->warm_at;
	l->warm.settings = warm_same_places(t) ? t : NULL;
	l->warm.loading_ms = -1;
	l->warm.timer = loop_timer_new(l->loop, warm_on_timer, l);
	warm_process_open(p, xasprintf("%s/warm", l->home.path), t->command,
	    t->warm_at, t->warm_runs_module);
	p->modules = strv_copy(t->warm_modules);
	p->listed = p->modules != NULL;
	p->closing = warm_on_closing;
	p->arg = l;
}

void
local_warm_close(struct local *l)
{
	warm_process_close(&l->warm.process);
	loop_timer_free(l->warm.timer);
}
