/* The options of the backend block, and the words of sbatch made of them. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/ranks/ranks.h"
#include "trials/slurm/slurm-internal.h"

/* Ranks of one node; 0 = unknown. */
static int64_t
ranks_per_node(const struct slurm_settings *set, const struct study_trial *t)
{
	if (t->launcher == STUDY_LAUNCHER_NONE)
		return 1;
	if (t->processes > 0)
		return t->processes;
	if (set->n_gpus > 1)
		return set->n_gpus;
	return set->nodes > 1 ? 1 : 0;
}

/* Ranks of one node; 0 = unknown. */
static int
ranks_check(const struct slurm_settings *set, const struct study_trial *t,
    struct err *e)
{
	if (t->servers > 0 && set->nodes > 1)
		return err_set(e, ERR_USAGE,
		    "trial.parameter_servers are for one node: expected "
		    "nodes 1");
	if (set->per_job > 1 &&
	    (set->nodes > 1 || t->launcher == STUDY_LAUNCHER_SRUN))
		return err_set(e, ERR_USAGE,
		    "trials_per_job: a job of several trials has one node: "
		    "expected nodes 1, and not the launcher srun");
	return 0;
}

enum {
	TIME_EXTRA_S = 120, /* for the supervisor, over max_run and grace */
	TEST_MS = 8000,
	SIGNAL_LOOK_S = 30, /* between Slurm's looks whose signal is due */
	PREEMPT_MIN_MS = 2000, /* between two looks for a preemption */
	PREEMPT_MAX_MS = 60000,
	PREEMPT_UNKNOWN_MS = 10000, /* … of unknown grace */
	TIME_MAX_S = 366 * 86400
};

const struct option slurm_options[] = {
	{ "partition", OPTION_WORDS, 0, 0, NULL, NULL,
	    "partitions; Slurm uses the one that begins first" },
	{ "account", OPTION_TEXT, 0, 0, NULL, NULL, "the account to charge" },
	{ "qos", OPTION_TEXT, 0, 0, NULL, NULL, "quality of service" },
	{ "constraint", OPTION_TEXT, 0, 0, NULL, NULL,
	    "features that a node must have" },
	{ "time", OPTION_DURATION, 60, TIME_MAX_S, NULL, NULL,
	    "limit of one job; a trial that is not done continues in the "
	    "next" },
	{ "dir", OPTION_TEXT, 0, 0, NULL, NULL,
	    "folder of the trials on a file system that all nodes share "
	    "(NAME.d)" },
	{ "gpus", OPTION_WORDS, 0, 0, NULL, NULL,
	    "GPUs of one trial, 2 or a100:2 (trial.gpus)" },
	{ "nodes", OPTION_INT, 1, 4096, "1", NULL,
	    "nodes of one trial; gpus, cpus and memory are those of each" },
	{ "cpus", OPTION_INT, 1, 4096, NULL, NULL,
	    "cores of one trial (trial.cpus)" },
	{ "memory", OPTION_SIZE, 1, 1e15, NULL, NULL,
	    "memory of one trial (trial.memory)" },
	{ "trials_per_job", OPTION_INT, 1, 1024, "1", NULL,
	    "trials that one job runs side by side, and others after them" },
	{ "exclude_failed_nodes", OPTION_BOOL, 0, 0, "true", NULL,
	    "a trial does not use a node again that failed under it" },
	{ "setup", OPTION_TEXT, 0, 0, NULL, NULL,
	    "shell commands of each job before the trial" },
	{ "extra", OPTION_JSON, 0, 0, NULL, NULL,
	    "a list of further options of sbatch" },
	{ 0 }
};

/* Options of sbatch that are ours; another value would break what we do. */
static const char *const ours[] = { "--job-name", "-J", "--parsable",
	"--requeue", "--no-requeue", "--output", "-o", "--error", "-e",
	"--export", "--signal", "--chdir", "-D", "--array", "-a", "--wrap",
	"--comment", "--open-mode", "--wait", "-W", "--test-only", "--hold",
	"-H", "--nodes", "-N", "--ntasks", "-n", "--ntasks-per-node", NULL };

static const struct option_value *
get(const struct option_value *values, const char *name)
{
	return plugin_option_get(values, name);
}

static char *
slurm_options_text_of(const struct option_value *values, const char *name)
{
	const struct option_value *v = get(values, name);

	return v->is_set && v->text != NULL && *v->text != '\0'
		   ? xstrdup(v->text)
		   : NULL;
}

static int64_t
slurm_options_number_of(
    const struct option_value *values, const char *name, int64_t other)
{
	const struct option_value *v = get(values, name);

	return v->is_set ? (int64_t)v->number : other;
}

static bool
slurm_options_is_ours(const char *word)
{
	size_t i, n;

	for (i = 0; ours[i] != NULL; i++) {
		n = strlen(ours[i]);
		if (strncmp(word, ours[i], n) == 0 &&
		    (word[n] == '\0' || word[n] == '=' || ours[i][1] != '-'))
			return true;
	}
	return false;
}

static int
extra_read(struct slurm_settings *set, const struct json *list, struct err *e)
{
	const struct json *item;
	const char *word;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	for (item = json_first(list); item != NULL; item = json_next(item)) {
		if (json_read_string(item, &word, e) != 0)
			return -1;
		if (word[0] != '-' || word[1] == '\0')
			return json_err(item, e,
			    "expected an option of sbatch with its value, such "
			    "as \"--reservation=x\"");
		if (slurm_options_is_ours(word))
			return json_err(item, e,
			    "hpotune sets this option of sbatch itself");
		strv_add(&set->extra, xstrdup(word));
	}
	return 0;
}

/* "2", "a100:2", "gpu:a100:2": what follows --gres=gpu:; NULL for none. */
static int
slurm_options_gpus_read(struct slurm_settings *set,
    const struct study_trial *trial, const struct option_value *v,
    struct err *e)
{
	static const char name[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *text = v->is_set ? v->text : NULL, *colon;
	char *end;
	long n;

	if (text == NULL) {
		set->n_gpus = trial->gpus > 0 ? trial->gpus : 0;
		if (trial->gpus > 0)
			set->gres = xasprintf("%lld", (long long)trial->gpus);
		return 0;
	}
	if (strncmp(text, "gpu:", 4) == 0)
		text += 4;
	colon = strchr(text, ':');
	if (json_type(v->json) == JSON_ARRAY)
		return json_err(v->json, e,
		    "expected a number of GPUs, or one text such as "
		    "\"a100:2\": Slurm selects which ones");
	n = strtol(colon != NULL ? colon + 1 : text, &end, 10);
	if (end == text || *end != '\0' || n < 0 || n > 1024 ||
	    (colon != NULL && (colon == text || end == colon + 1 ||
				  text + strspn(text, name) != colon)))
		return json_err(v->json, e,
		    "expected a number of GPUs, or TYPE:NUMBER such as "
		    "\"a100:2\"");
	set->n_gpus = n;
	if (n > 0)
		set->gres = xstrdup(text);
	return 0;
}

/* A packed program is the program of its job: as many trials as it takes. */
static int
per_job_read(struct slurm_settings *set, const struct study_trial *trial,
    const struct option_value *v, struct err *e)
{
	set->pack = trial->pack;
	set->per_job = v->is_set ? (int64_t)v->number : 1;
	if (trial->pack == 0)
		return 0;
	if (set->per_job > 1 && set->per_job != trial->pack)
		return json_err(v->json, e,
		    "with trial.pack a job runs the trials of one program, "
		    "here %lld: this option is not needed",
		    (long long)trial->pack);
	set->per_job = trial->pack;
	return 0;
}

int64_t
slurm_options_parts(const struct slurm_settings *set)
{
	return set->pack > 0 ? 1 : set->per_job;
}

static int
slurm_options_dir_read(const struct slurm_settings *set,
    const struct option_value *v, struct err *e)
{
	if (set->dir == NULL || set->dir[0] == '/')
		return 0;
	return json_err(v->json, e, "expected an absolute path");
}

/*
 * Slurm sends the signal up to one look early (measured with 22.05): the first
 * half of a short job is the trial's all the same.
 */
static void
signal_fit(struct slurm_settings *set, int64_t limit_s)
{
	int64_t most = limit_s / 2 - SIGNAL_LOOK_S;

	if (most < 1)
		most = 1;
	if (limit_s > 0 && set->signal_s > most)
		set->signal_s = most;
}

static void
times_make(struct slurm_settings *set, const struct study_trial *trial)
{
	int64_t grace_s = (trial->grace_ms + 999) / 1000;

	if (set->time_s == 0 && trial->max_run_ms > 0)
		set->time_s =
		    (trial->max_run_ms + 999) / 1000 + grace_s + TIME_EXTRA_S;
	/* Slurm counts minutes. */
	set->time_s = (set->time_s + 59) / 60 * 60;
	set->signal_s = grace_s + SLURM_SIGNAL_EARLY_S;
	if (set->signal_s > 65535)
		set->signal_s = 65535;
	signal_fit(set, set->time_s);
}

int
slurm_options_read(struct slurm_settings *set, const struct study_trial *trial,
    const struct option_value *values, struct err *e)
{
	*set = (struct slurm_settings){ 0 };
	set->partition = slurm_options_text_of(values, "partition");
	set->account = slurm_options_text_of(values, "account");
	set->qos = slurm_options_text_of(values, "qos");
	set->constraint = slurm_options_text_of(values, "constraint");
	set->setup = slurm_options_text_of(values, "setup");
	set->dir = slurm_options_text_of(values, "dir");
	set->time_s = slurm_options_number_of(values, "time", 0);
	set->nodes = slurm_options_number_of(values, "nodes", 1);
	set->cpus = slurm_options_number_of(values, "cpus", trial->cpus);
	set->memory = slurm_options_number_of(values, "memory", trial->memory);
	set->exclude = get(values, "exclude_failed_nodes")->number != 0;
	times_make(set, trial);
	if (per_job_read(set, trial, get(values, "trials_per_job"), e) == 0 &&
	    slurm_options_dir_read(set, get(values, "dir"), e) == 0 &&
	    slurm_options_gpus_read(set, trial, get(values, "gpus"), e) == 0 &&
	    extra_read(set, get(values, "extra")->json, e) == 0) {
		set->tasks = ranks_per_node(set, trial);
		if (set->tasks > 1)
			set->cpus = (set->cpus + set->tasks - 1) / set->tasks;
		return 0;
	}
	slurm_options_free(set);
	return -1;
}

void
slurm_options_free(struct slurm_settings *set)
{
	free(set->partition);
	free(set->account);
	free(set->qos);
	free(set->constraint);
	free(set->gres);
	free(set->setup);
	free(set->dir);
	strv_free(set->extra.v);
	*set = (struct slurm_settings){ 0 };
}

static void
slurm_options_add_text(struct strv *list, const char *name, const char *value)
{
	if (value != NULL)
		strv_add(list, xasprintf("%s=%s", name, value));
}

/* "a100:2": the number is that of all trials of a job. */
static void
add_gres(const struct slurm_settings *set, struct strv *list)
{
	const char *colon = strrchr(set->gres, ':');

	strv_add(list,
	    xasprintf("--gres=gpu:%.*s%lld",
		colon != NULL ? (int)(colon + 1 - set->gres) : 0, set->gres,
		(long long)(set->n_gpus * slurm_options_parts(set))));
}

/* "--time=1-12:00:00", in whole minutes. */
static char *
time_word(int64_t s)
{
	int64_t days = s / 86400, hours = s / 3600 % 24, minutes = s / 60 % 60;

	return days > 0
		   ? xasprintf("--time=%lld-%02lld:%02lld:00", (long long)days,
			 (long long)hours, (long long)minutes)
		   : xasprintf("--time=%lld:%02lld:00", (long long)hours,
			 (long long)minutes);
}

static char *
memory_word(const struct slurm_settings *set)
{
	int64_t mb =
	    (set->memory * slurm_options_parts(set) + (1 << 20) - 1) >> 20;

	return mb % 1024 == 0 ? xasprintf("--mem=%lldG", (long long)mb / 1024)
			      : xasprintf("--mem=%lldM", (long long)mb);
}

void
slurm_options_words(const struct slurm_settings *set, struct strv *list)
{
	slurm_options_add_text(list, "--partition", set->partition);
	slurm_options_add_text(list, "--account", set->account);
	slurm_options_add_text(list, "--qos", set->qos);
	slurm_options_add_text(list, "--constraint", set->constraint);
	if (set->gres != NULL)
		add_gres(set, list);
	if (set->time_s > 0)
		strv_add(list, time_word(set->time_s));
	strv_add(
	    list, xasprintf("--signal=B:TERM@%lld", (long long)set->signal_s));
	if (set->nodes > 1 || set->tasks > 1 || slurm_options_parts(set) > 1) {
		strv_add(
		    list, xasprintf("--nodes=%lld", (long long)set->nodes));
		strv_add(
		    list, xasprintf("--ntasks-per-node=%lld",
			      (long long)((set->tasks > 1 ? set->tasks : 1) *
					  slurm_options_parts(set))));
	}
	if (set->cpus > 0)
		strv_add(list,
		    xasprintf("--cpus-per-task=%lld", (long long)set->cpus));
	if (set->memory > 0)
		strv_add(list, memory_word(set));
	strv_add_all(list, set->extra.v);
}

bool
slurm_options_uses(const struct slurm_settings *set, const char *name, size_t n)
{
	const char *at = set->partition, *end;
	bool is_default = n > 0 && name[n - 1] == '*';

	n -= is_default;
	if (at == NULL)
		return is_default;
	for (;; at = end + 1) {
		end = strchrnul(at, ',');
		if ((size_t)(end - at) == n && strncmp(at, name, n) == 0)
			return true;
		if (*end == '\0')
			return false;
	}
}

/* Seconds of the partitions that the jobs may use; 0 = no limit. */
struct limits {
	int64_t most; /* of a job that asks for time; -1 = unknown */
	int64_t without; /* of one that does not, in the shortest of them */
};

/* The second and the third field of a row of sinfo: most, default. */
static void
limits_add(struct limits *limits, const char *fields, size_t n)
{
	char text[64], *rest = text;
	int64_t most, without;

	(void)snprintf(text, sizeof text, "%.*s", (int)n, fields);
	most = slurm_row_limit(strsep(&rest, "|"));
	without = rest != NULL ? slurm_row_limit(rest) : 0;
	if (without == 0)
		without = most;
	/* None is the longest. */
	if (most == 0 || limits->most == 0)
		limits->most = 0;
	else if (most > limits->most)
		limits->most = most;
	if (without > 0 && (limits->without == 0 || without < limits->without))
		limits->without = without;
}

static struct limits
limits_ask(const struct slurm_settings *set)
{
	char *argv[] = { "sinfo", "--all", "--noheader", "--format=%P|%l|%L",
		NULL };
	struct limits limits = { .most = -1 };
	struct buf out = { 0 };
	const char *line = "", *bar, *end;

	if (slurm_program_call(argv, TEST_MS, &out) == 0)
		line = buf_str(&out);
	for (; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
		end = strchrnul(line, '\n');
		bar = memchr(line, '|', (size_t)(end - line));
		if (bar != NULL &&
		    slurm_options_uses(set, line, (size_t)(bar - line)))
			limits_add(&limits, bar + 1, (size_t)(end - bar - 1));
	}
	buf_free(&out);
	return limits;
}

/*
 * Slurm takes jobs of more time than their partition gives, and lets them wait
 * for ever, unless EnforcePartLimits is set.
 */
static int
time_check(const struct slurm_settings *set, struct err *e)
{
	int64_t most = set->time_s > 0 ? limits_ask(set).most : 0;

	if (most <= 0 || set->time_s <= most)
		return 0;
	return err_set(e, ERR_USAGE,
	    "a job gets %lld minutes (time, or trial.max_run with the grace), "
	    "but its partition gives %lld at most",
	    (long long)set->time_s / 60, (long long)most / 60);
}

/*
 * A server sees a preemption within a tenth of the grace, a job that asks for itself
 * within a fifth; but jobs of one study together ask the controller ten times a
 * second at most.
 */
static int64_t
preempt_fit(struct slurm_settings *set, int64_t parallel)
{
	int64_t grace_s = slurm_preemption_grace(set);
	int64_t ms = grace_s < 0 ? PREEMPT_UNKNOWN_MS : grace_s * 1000 / 5;
	int64_t least = (parallel + set->per_job - 1) / set->per_job * 100;

	if (grace_s == 0)
		return 0;
	set->listing_ms = ms / 2 < PREEMPT_MIN_MS	? PREEMPT_MIN_MS
			  : ms / 2 > PREEMPT_MAX_MS / 2 ? PREEMPT_MAX_MS / 2
							: ms / 2;
	if (least < PREEMPT_MIN_MS)
		least = PREEMPT_MIN_MS;
	return ms < least ? least : ms > PREEMPT_MAX_MS ? PREEMPT_MAX_MS : ms;
}

void
slurm_options_fit(struct slurm_settings *set, int64_t parallel)
{
	if (set->time_s == 0)
		signal_fit(set, limits_ask(set).without);
	set->preempt_ms = preempt_fit(set, parallel);
}

char *
slurm_options_output(const char *dir)
{
	const char *special = strchr(dir, '\\') != NULL ? "\\" : "%";
	struct buf b = { 0 };

	buf_puts(&b, "--output=");
	for (; *dir != '\0'; dir++) {
		if (*dir == *special)
			buf_putc(&b, *special);
		buf_putc(&b, *dir);
	}
	buf_puts(&b, "/" SLURM_OUT_FILE);
	return buf_take(&b);
}

int
slurm_options_check(const struct study_trial *trial,
    const struct option_value *values, struct err *e)
{
	struct slurm_settings set;
	int rc;

	if (slurm_options_read(&set, trial, values, e) != 0)
		return -1;
	rc = ranks_check(&set, trial, e);
	if (rc == 0)
		rc = slurm_cluster_check(&set, e);
	if (rc == 0)
		rc = time_check(&set, e);
	slurm_options_free(&set);
	return rc;
}

void
slurm_options_describe(const struct study_trial *trial,
    const struct option_value *values, struct buf *text)
{
	const struct option_value *time = get(values, "time");
	struct slurm_settings set;
	struct err e = ERR_INIT;
	struct strv words = { 0 };
	size_t i;

	if (slurm_options_read(&set, trial, values, &e) != 0)
		return;
	slurm_options_words(&set, &words);
	for (i = 0; i < words.n; i++)
		if (strncmp(words.v[i], "--signal=", 9) != 0)
			buf_printf(
			    text, "%s%s", text->len > 0 ? " " : "", words.v[i]);
	if (set.time_s == 0 || set.memory == 0)
		buf_printf(text, "%sthe default %s%s%s of the partition",
		    text->len > 0 ? ", " : "", set.time_s == 0 ? "time" : "",
		    set.time_s == 0 && set.memory == 0 ? " and " : "",
		    set.memory == 0 ? "memory" : "");
	/* To users of Slurm such a number is one of minutes. */
	if (time->is_set && json_type(time->json) == JSON_NUMBER) {
		buf_printf(
		    text, " (%.0f is a number of seconds, ", time->number);
		duration_put(text, set.time_s * 1000);
		buf_printf(text,
		    ", not of minutes as in Slurm; \"%.0fm\" would be that)",
		    time->number);
	}
	strv_free(words.v);
	slurm_options_free(&set);
}
