/*
 * The environment of an attempt.  Values are passed to the trial only; they are not logged, stored or put into
 * errors.
 */

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/exec-why.h"

/*
 * Takes ownership of a word NAME=VALUE; a later word of the same name replaces
 * it.
 */
static void
local_env_put(struct strv *env, char *word)
{
	size_t i, len = strcspn(word, "=");

	if (word[len] != '=') {
		free(word);
		return;
	}
	for (i = 0; i < env->n; i++)
		if (strncmp(env->v[i], word, len + 1) == 0) {
			free(env->v[i]);
			env->v[i] = word;
			return;
		}
	strv_add(env, word);
}

static void
env_put_all(struct strv *env, char *const *words)
{
	if (words != NULL)
		while (*words != NULL)
			local_env_put(env, xstrdup(*words++));
}

static void
env_pass(struct strv *env, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL)
		local_env_put(env, xasprintf("%s=%s", name, value));
}

/*
 * What is inherited before anything is added.  Python would keep its output
 * until it ends, because the log is a file: reports would come too late.
 */
static void
env_begin(struct strv *env, const struct study_trial *t)
{
	static const char *const always[] = { "PATH", "HOME", "LANG",
		"TMPDIR" };
	size_t i;

	local_env_put(env, xstrdup("PYTHONUNBUFFERED=1"));
	if (!t->clean_env) {
		env_put_all(env, environ);
		return;
	}
	for (i = 0; i < sizeof always / sizeof always[0]; i++)
		env_pass(env, always[i]);
	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		env_pass(env, t->pass_env[i]);
}

/* Our modules come before all others. */
static void
env_put_shims(struct strv *env, const char *dir)
{
	static const char name[] = "PYTHONPATH=";
	const char *path = "";
	size_t i;

	for (i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, strlen(name)) == 0)
			path = env->v[i] + strlen(name);
	local_env_put(env,
	    xasprintf("%s%s%s%s", name, dir, *path != '\0' ? ":" : "", path));
}

/* Empty for a trial without GPUs: if unset, CUDA would use the first GPU. */
static void
env_put_gpus(struct strv *env, const struct local *l,
    const struct launch_spec *spec, const char *variable,
    enum local_gpu_name name)
{
	struct local_gpu_key key;
	struct buf b = { 0 };

	buf_printf(&b, "%s=", variable);
	local_gpu_names_put(
	    l, local_gpu_key(&key, l, spec->slot, spec->uuid), name, ",", &b);
	local_env_put(env, buf_take(&b));
}

char **
local_env_make(
    const struct local *l, const struct launch_spec *spec, const char *dir)
{
	struct local_gpu_key key;
	struct strv env = { 0 };
	char **mps;

	(void)local_gpu_key(&key, l, spec->slot, spec->uuid);
	mps = local_mps_options(l, key.text, spec->settings);
	env_begin(&env, spec->settings);
	env_put_all(&env, mps);
	strv_free(mps);
	env_put_all(&env, backend_spec_env(spec));
	env_put_all(&env, spec->env);
	local_env_put(&env, xasprintf("HPOTUNE_PARAMS=%s/params.json", dir));
	local_env_put(&env, xasprintf("HPOTUNE_METRICS=%s/metrics.jsonl", dir));
	local_env_put(&env,
	    xasprintf("HPOTUNE_CHECKPOINT_DIR=%s/checkpoint", spec->trial_dir));
	local_env_put(
	    &env, xasprintf("HPOTUNE_OUTPUT_DIR=%s/output", spec->trial_dir));
	if (l->shims != NULL)
		env_put_shims(&env, l->shims);
	/* Identifies the processes of this attempt. */
	local_env_put(&env, xasprintf("HPOTUNE_ATTEMPT_UUID=%s", spec->uuid));
	local_env_put(&env, xstrdup("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
	env_put_gpus(&env, l, spec, "CUDA_VISIBLE_DEVICES", LOCAL_GPU_VISIBLE);
	env_put_gpus(&env, l, spec, "HPOTUNE_GPU_UUIDS", LOCAL_GPU_UUID);
	env_put_gpus(&env, l, spec, "HPOTUNE_GPU_INDICES", LOCAL_GPU_INDEX);
	local_env_put(&env,
	    xasprintf("SM_NUM_GPUS=%zu", local_gpu_names_count(l, key.text)));
	return env.v;
}

const char *
local_env_get(const struct study_trial *t, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; t->env != NULL && t->env[i] != NULL; i++)
		if (strncmp(t->env[i], name, n) == 0 && t->env[i][n] == '=')
			return t->env[i] + n + 1;
	return getenv(name);
}

bool
local_env_finds(const struct study_trial *t, const char *program)
{
	return exec_why_look(
		   NULL, program, local_env_get(t, "PATH"), NULL, 0) == 0;
}
