/* What a supervisor without an attempt is started with, and is told. */

#include <stdbool.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/process/args.h"
#include "trials/shim/shim.h"
#include "trials/warm/waiting-words.h"

/* NAME and so many spaces, which the supervisor replaces. */
static char *
waiting_words_padded(const char *name, size_t n)
{
	return xasprintf("%s%*s", name, (int)n, "");
}

static bool
waiting_words_is_mark(const char *word)
{
	return strncmp(word, SHIM_MARK_UUID, strlen(SHIM_MARK_UUID)) == 0 ||
	       strncmp(word, SHIM_MARK_PARAMS, strlen(SHIM_MARK_PARAMS)) == 0;
}

char **
waiting_words_argv(const char *name)
{
	struct strv w = { 0 };

	strv_add(&w, xstrdup(name));
	strv_add(&w, waiting_words_padded(SHIM_WAIT, SHIM_WAIT_ROOM));
	return w.v;
}

char **
waiting_words_env(char *const *env)
{
	struct strv w = { 0 };

	for (; *env != NULL; env++)
		if (!waiting_words_is_mark(*env))
			strv_add(&w, xstrdup(*env));
	strv_add(&w, waiting_words_padded(SHIM_MARK_UUID, RECORD_UUID));
	strv_add(&w, waiting_words_padded(SHIM_MARK_PARAMS, SHIM_WAIT_ROOM));
	return w.v;
}

/* Whether the marks have room where the supervisor has left it. */
static bool
waiting_words_fit(char *const *argv, char *const *env)
{
	for (; *env != NULL; env++)
		if (waiting_words_is_mark(*env) &&
		    strlen(*env) > SHIM_WAIT_ROOM)
			return false;
	return strlen(argv[1]) <= SHIM_WAIT_ROOM;
}

size_t
waiting_words_job(char *text, char *const *argv, char *const *env)
{
	struct shim_job job = { 0 };
	size_t at = sizeof job;

	if (!waiting_words_fit(argv, env))
		return 0;
	at = args_put(text, SHIM_JOB_MAX, at, argv, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, env, &job.envc);
	memcpy(text, &job, sizeof job);
	return at <= SHIM_JOB_MAX ? at : 0;
}
