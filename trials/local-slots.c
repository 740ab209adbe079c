/*
 * How many trials fit on this machine, and which GPUs each place has.  Knows
 * GPUs by number or UUID only; refuses to know whether they are busy.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/log.h"
#include "src/model/options.h"
#include "src/model/study.h"
#include "trials/local.h"

enum {
	GPUS_MAX = 1024,
	SLOTS_MAX = 65536,
	FILES_EACH = 3,
	FILES_OTHER = 128 /* the store, the loop, clients */
};

static void
gpu_add(struct local_gpus *g, char *name)
{
	g->name = xreallocarray(g->name, g->n + 1, sizeof *g->name);
	g->name[g->n++] = name;
}

/* One folder per GPU, made by the driver. */
static size_t
gpus_present(void)
{
	DIR *dir = opendir("/proc/driver/nvidia/gpus");
	const struct dirent *d;
	size_t n = 0;

	if (dir == NULL)
		return 0;
	while ((d = readdir(dir)) != NULL)
		n += d->d_name[0] != '.';
	(void)closedir(dir);
	return n;
}

static void
gpus_split(struct local_gpus *g, const char *text)
{
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		/* As CUDA reads it: nothing counts from a bad word on. */
		if (len == 0 || *text == '-')
			return;
		gpu_add(g, xstrndup(text, len));
	}
}

static void
gpus_count(struct local_gpus *g, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		gpu_add(g, xasprintf("%zu", i));
}

void
local_gpus_auto(struct local_gpus *g, size_t present, const char *visible)
{
	/* Whoever started us (a batch system) may have lent us some only. */
	if (visible == NULL || present == 0)
		gpus_count(g, present);
	else
		gpus_split(g, visible);
}

/* "auto", "4", or UUIDs joined by commas. */
static int
gpus_read(struct local_gpus *g, const struct option_value *v, struct err *e)
{
	const char *text = v->text;
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (strcmp(text, "auto") == 0)
		local_gpus_auto(
		    g, gpus_present(), getenv("CUDA_VISIBLE_DEVICES"));
	else if (!isdigit((unsigned char)*text) || *end != '\0')
		gpus_split(g, text);
	else if (n > GPUS_MAX)
		return json_err(v->json, e, "at most %d", GPUS_MAX);
	else
		gpus_count(g, n);
	return 0;
}

static int64_t
cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return 1;
	return CPU_COUNT(&set);
}

/* How many GPUs a trial has, when there are so many. */
static int
gpus_want(int64_t *want, const struct local_gpus *g,
    const struct study_trial *settings, struct err *e)
{
	*want = settings->gpus < 0 ? g->n > 0 : settings->gpus;
	if (*want > (int64_t)g->n)
		return err_set(e, ERR_LAUNCH,
		    "a trial wants %lld, but there %s %zu here",
		    (long long)*want, g->n == 1 ? "is" : "are", g->n);
	return 0;
}

static void
gpus_free(struct local_gpus *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		free(g->name[i]);
	free(g->name);
}

int
local_slots_check(const struct study_trial *settings,
    const struct option_value *options, struct err *e)
{
	struct local_gpus g = { 0 };
	int64_t want;
	int rc;

	rc = gpus_read(
	    &g, option_get(launcher_local.options, options, "gpus"), e);
	if (rc == 0)
		rc = gpus_want(&want, &g, settings, e);
	gpus_free(&g);
	return rc;
}

/*
 * An attempt that is followed takes three descriptors.  Where the soft limit
 * does not reach, it is raised; trials inherit it, so only then.  Where the
 * hard limit does not reach, fewer run at once: without descriptors the ends
 * of trials could not be read, and the study would stand still.
 */
static int64_t
files_allow(int64_t slots)
{
	rlim_t want = (rlim_t)slots * FILES_EACH + FILES_OTHER;
	struct rlimit files;
	int64_t fit;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		log_warn("local", "the limit on open files stays: %s",
		    strerror(errno));
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	fit = ((int64_t)files.rlim_cur - FILES_OTHER) / FILES_EACH;
	if (fit < 1)
		fit = 1;
	log_warn("local",
	    "%lld of %lld trials run at once: the limit on open files is %llu "
	    "(ulimit -n)",
	    (long long)fit, (long long)slots,
	    (unsigned long long)files.rlim_cur);
	return fit;
}

int
local_slots_open(struct local *l, const struct launch_env *env, struct err *e)
{
	const struct option *table = launcher_local.options;
	const struct option_value *gpus, *share;
	int64_t want, cpus = env->settings->cpus, n;
	struct local_gpus *g = &l->gpus;

	gpus = option_get(table, env->options, "gpus");
	share = option_get(table, env->options, "trials_per_gpu");
	if (gpus_read(g, gpus, e) == -1)
		return -1;
	if (gpus_want(&want, g, env->settings, e) == -1)
		return -1;
	g->per_trial = (size_t)want;
	if (want > 0) {
		g->groups = g->n / g->per_trial;
		n = (int64_t)g->groups * (int64_t)share->number;
		if (env->parallel > 0 && env->parallel < n)
			n = env->parallel;
	} else if (env->parallel > 0)
		n = env->parallel;
	else
		n = cores() / (cpus > 0 ? cpus : 1);
	l->slots = (int)files_allow(n < 1 ? 1 : n > SLOTS_MAX ? SLOTS_MAX : n);
	return 0;
}

void
local_slots_close(struct local *l)
{
	gpus_free(&l->gpus);
}

void
local_slot_gpus(const struct local *l, int slot, struct buf *b)
{
	const struct local_gpus *g = &l->gpus;
	size_t i, first;

	if (g->per_trial == 0)
		return;
	first = (size_t)slot % g->groups * g->per_trial;
	for (i = 0; i < g->per_trial; i++)
		buf_printf(b, "%s%s", i > 0 ? "," : "", g->name[first + i]);
}

void
local_slot_name(const struct local *l, int slot, char *text, size_t n)
{
	struct buf b = { 0 };

	if (l->gpus.per_trial == 0) {
		(void)snprintf(text, n, "cpu");
		return;
	}
	local_slot_gpus(l, slot, &b);
	(void)snprintf(text, n, "gpu %s", buf_str(&b));
	buf_free(&b);
}
