/*
 * Trials of several processes: before the command stand the words of
 * hpotune-ranks, which runs it once per rank, or of an external launcher
 * (torchrun, mpirun) that does.
 */

#include <libgen.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"
#include "trials/ranks/ranks.h"

static const char ranks_program[] = "hpotune-ranks";

int
local_ranks_find(struct local *l, const struct study_trial *t, struct err *e)
{
	if (t->launcher == STUDY_LAUNCHER_NONE)
		return 0;
	return spawn_find(&l->ranks, "HPOTUNE_RANKS", ranks_program, e);
}

/* Add the words of the external launcher, if there is one. */
static void
local_ranks_launcher_words(
    struct strv *w, const struct study_trial *t, const char *command)
{
	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
	case STUDY_LAUNCHER_RANKS:
	case STUDY_LAUNCHER_SRUN: /* an error of check */
		break;
	case STUDY_LAUNCHER_TORCHRUN:
		ranks_words_torchrun(w, command, local_env_finds(t, "torchrun"),
		    1, study_processes(t));
		break;
	case STUDY_LAUNCHER_MPIRUN:
		strv_add(w, xstrdup("mpirun"));
		strv_add(w, xstrdup("-np"));
		strv_add(w, xasprintf("%lld", (long long)study_processes(t)));
		break;
	}
}

static int64_t
ports(const struct study_trial *t)
{
	return t->servers == 0 ? 1 : 1 + study_processes(t) + t->servers;
}

static void
local_ranks_number_word(struct strv *w, const char *name, int64_t number)
{
	strv_add(w, xasprintf("%s=%lld", name, (long long)number));
}

void
local_ranks_command(struct strv *w, const struct local *l,
    const struct launch_spec *spec, const char *dir)
{
	const struct study_trial *t = spec->settings;
	bool own = t->launcher == STUDY_LAUNCHER_RANKS;

	strv_add(w, xstrdup(l->ranks));
	strv_add(w, xstrdup(own ? "start" : "launcher"));
	strv_add(w, xasprintf("dir=%s", dir));
	local_ranks_number_word(w, "processes", study_processes(t));
	local_ranks_number_word(w, "servers", t->servers);
	local_ranks_number_word(w, "grace-ms", t->grace_ms);
	local_ranks_number_word(w, "ports", ports(t));
	local_ranks_number_word(w, "place", spec->slot);
	local_ranks_number_word(w, "slots", l->slots);
	local_ranks_number_word(w, "cpus", t->cpus);
	local_ranks_number_word(w, "log-cap", l->log_cap);
	strv_add(w, xstrdup("--"));
	if (own)
		return;
	local_ranks_launcher_words(w, t, spec->argv[0]);
	strv_add(w, xstrdup(l->ranks));
	strv_add(w, xstrdup("each"));
	strv_add(w, xasprintf("dir=%s", dir));
	strv_add(w, xstrdup("--"));
}

/* Outside of containers, mpirun as root needs both variables. */
static bool
root_allowed(const struct study_trial *t)
{
	static const char *const names[] = { "OMPI_ALLOW_RUN_AS_ROOT",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" };
	const char *value;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		value = local_env_get(t, names[i]);
		if (value == NULL || strcmp(value, "1") != 0)
			return false;
	}
	return true;
}

static void
about(const struct study_trial *t, const struct strv *w, struct buf *text)
{
	size_t i;

	if (w->n == 0) {
		buf_printf(text, "ranks: %lld process%s",
		    (long long)study_processes(t),
		    study_processes(t) == 1 ? "" : "es");
		if (t->servers > 0)
			buf_printf(text, ", %lld parameter server%s",
			    (long long)t->servers, t->servers > 1 ? "s" : "");
		return;
	}
	for (i = 0; i < w->n; i++)
		buf_printf(text, "%s%s", i > 0 ? " " : "", w->v[i]);
	if (t->launcher == STUDY_LAUNCHER_MPIRUN && ranks_env_is_root() &&
	    !root_allowed(t))
		buf_puts(text, " (as root, Open MPI needs "
			       "OMPI_ALLOW_RUN_AS_ROOT, see hpotune-trial(7))");
}

char *
local_ranks_launcher(const struct study_trial *t)
{
	struct strv w = { 0 };
	char *first;

	local_ranks_launcher_words(&w, t, t->command[0]);
	first = w.n > 0 ? xstrdup(w.v[0]) : NULL;
	strv_free(w.v);
	return first;
}

void
local_ranks_describe(const struct study_trial *t, struct buf *text)
{
	struct strv w = { 0 };

	if (t->launcher == STUDY_LAUNCHER_NONE)
		return;
	local_ranks_launcher_words(&w, t, t->command[0]);
	about(t, &w, text);
	strv_free(w.v);
}
