/* The commands of gpu-script.h. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/gpu/gpu-machine.h"
#include "tests/support/gpu/gpu-script.h"

/* "name=VALUE" among the words: VALUE, or NULL. */
static const char *
option(char **words, const char *name)
{
	size_t len = strlen(name);

	for (; *words != NULL; words++)
		if (strncmp(*words, name, len) == 0 && (*words)[len] == '=')
			return *words + len + 1;
	return NULL;
}

static int64_t
number(char **words, const char *name, int64_t otherwise)
{
	const char *v = option(words, name);

	return v != NULL ? strtoll(v, NULL, 10) : otherwise;
}

static int64_t
mib(char **words, const char *name, int64_t otherwise)
{
	return number(words, name, otherwise >> 20) * (1 << 20);
}

static void
gpu_rig_new(struct gpu_machine *r, char **words)
{
	const struct gpualloc_hooks hooks = gpu_rig_hooks(r);
	const char *nodes = option(words, "nodes"),
		   *only = option(words, "only"),
		   *source = option(words, "source");
	const struct gpualloc_options o = { .per_trial =
						(int)number(words, "per", 1),
		.share = (int)number(words, "share", 1),
		.memory = mib(words, "memory", 0),
		.busy_memory = mib(words, "busy", INT64_C(1) << 30),
		.only = only != NULL ? &only : NULL,
		.n_only = only != NULL };
	struct gpu_snapshot look;
	size_t i;

	r->n = (size_t)strtol(words[1], NULL, 10);
	r->source = r->was = GPU_NVML;
	if (source != NULL)
		r->source = r->was =
		    strcmp(source, "proc") == 0 ? GPU_PROC : GPU_SIMULATED;
	for (i = 0; i < r->n; i++) {
		r->seen[i] = (struct gpu_device){ .index = (int)i,
			.node = nodes != NULL ? nodes[i] - '0' : 0,
			.memory = INT64_C(16) << 30,
			.utilization = -1,
			.power = -1,
			.energy = -1,
			.recovery = -1 };
		snprintf(r->seen[i].uuid, GPU_UUID, "GPU-%zu", i);
		snprintf(r->seen[i].name, GPU_NAME, "NVIDIA H200");
	}
	if (option(words, "found") != NULL) {
		r->process[0][0] = (struct gpu_process){ .memory = -1 };
		sscanf(option(words, "found"), "%" SCNd64 "@%63s",
		    &r->process[0][0].pid, r->process[0][0].owner);
		r->seen[0].processes = r->process[0];
		r->seen[0].n_processes = 1;
	}
	look = (struct gpu_snapshot){ .source = r->source,
		.gpus = r->seen,
		.n = (size_t)number(words, "first", (int64_t)r->n) };
	r->g = gpualloc_new(&o, &hooks, &look, r->now);
	r->seen[0].n_processes = 0;
}

static void
gpu_rig_set(struct gpu_machine *r, char **words, size_t i)
{
	struct gpu_device *s = &r->seen[i];

	s->used = mib(words, "used", s->used);
	s->energy = 1000 * number(words, "energy", s->energy / 1000);
	s->utilization = (int)number(words, "util", s->utilization);
	s->power = 1000 * number(words, "power", s->power / 1000);
	s->lost = number(words, "lost", s->lost);
	s->recovery = (int)number(words, "recovery", s->recovery);
	r->gone[i] = number(words, "gone", r->gone[i]);
}

static void
gpu_rig_process(struct gpu_machine *r, char **words, size_t i)
{
	struct gpu_process *p = &r->process[i][r->seen[i].n_processes++];

	*p = (struct gpu_process){ .pid = strtoll(words[2], NULL, 10),
		.memory =
		    words[4] != NULL ? strtoll(words[4], NULL, 10) << 20 : -1,
		.gone = strcmp(words[3], "?") == 0 };
	if (!p->gone && strcmp(words[3], "-") != 0)
		snprintf(p->owner, sizeof p->owner, "%s", words[3]);
}

static void
gpu_rig_kill(struct gpu_machine *r, size_t i, int64_t pid)
{
	size_t k, n = 0;

	for (k = 0; k < r->seen[i].n_processes; k++)
		if (r->process[i][k].pid != pid)
			r->process[i][n++] = r->process[i][k];
	if (n == r->seen[i].n_processes)
		gpu_rig_wrong(r, "no process %lld to end", (long long)pid);
	r->seen[i].n_processes = n;
}

static void
gpus_text(const struct gpu_machine *r, const char *key, char *text, size_t n)
{
	size_t at[GPU_MACHINE_GPUS], k, count = gpualloc_of(r->g, key, at),
					len = 0;

	*text = '\0';
	for (k = 0; k < count; k++)
		len += (size_t)snprintf(
		    text + len, n - len, "%s%zu", k > 0 ? "," : "", at[k]);
}

static void
gpu_rig_take(struct gpu_machine *r, char **words)
{
	char got[64] = "no";

	if (gpualloc_choose(
		r->g, words[1], strtoll(words[2], NULL, 10), 1, r->now))
		gpus_text(r, words[1], got, sizeof got);
	if (strcmp(got, words[3]) != 0)
		gpu_rig_wrong(r, "got %s", got);
}

static void
gpu_rig_adopt(struct gpu_machine *r, char **words)
{
	char text[64], got[64], *rest = text, *word;
	char uuid[GPU_MACHINE_GPUS][GPU_UUID];
	const char *uuids[GPU_MACHINE_GPUS];
	size_t n = 0;

	snprintf(text, sizeof text, "%s", words[3]);
	while ((word = strsep(&rest, ",")) != NULL) {
		snprintf(uuid[n], GPU_UUID, "GPU-%.8s", word);
		uuids[n] = uuid[n];
		n++;
	}
	gpualloc_adopt(
	    r->g, words[1], strtoll(words[2], NULL, 10), 1, uuids, n, r->now);
	gpus_text(r, words[1], got, sizeof got);
	if (words[4] != NULL && strcmp(got, words[4]) != 0)
		gpu_rig_wrong(r, "got %s", got);
}

static void
gpu_rig_end(struct gpu_machine *r, char **words)
{
	struct gpualloc_end end = { .never_began =
					strcmp(words[2], "never") == 0,
		.failed = strcmp(words[2], "fail") == 0 };
	char why[GPU_WHY];
	bool machine;

	machine =
	    gpualloc_release(r->g, words[1], &end, r->now, why, sizeof why);
	if (machine != (words[3] != NULL))
		gpu_rig_wrong(r, "the fault of %s", machine ? why : "its own");
	if (machine && strstr(why, "GPU ") == NULL)
		gpu_rig_wrong(r, "why: %s", why);
}

static void
gpu_rig_expect(struct gpu_machine *r, char **words)
{
	gpualloc_expect(r->g, strtoll(words[1], NULL, 10) << 20, r->now);
}

static void
gpu_rig_report(struct gpu_machine *r, char **words)
{
	gpualloc_settled(r->g, words[1], r->now);
}

static void
gpu_rig_probed(struct gpu_machine *r, char **words, size_t i)
{
	if (!r->probing[i])
		gpu_rig_wrong(r, "no probe was asked for");
	r->probing[i] = false;
	gpualloc_health_probed(r->g, r->seen[i].uuid,
	    strcmp(words[2], "good") == 0, "bad memory", r->now);
}

static void
check_state(struct gpu_machine *r, size_t i, const char *name, const char *text)
{
	struct gpualloc_view v;

	gpualloc_at(r->g, i, &v);
	if (strcmp(gpualloc_state_name(v.state), name) != 0 ||
	    (*text != '\0' && strstr(v.why, text) == NULL))
		gpu_rig_wrong(
		    r, "it is %s: %s", gpualloc_state_name(v.state), v.why);
}

static void
check_ready(struct gpu_machine *r, bool want, const char *text)
{
	char why[512];

	if (gpualloc_choose_ready(r->g, why, sizeof why) != want ||
	    (*text != '\0' && strstr(why, text) == NULL))
		gpu_rig_wrong(r, "why: %s", why);
}

static void
check_note(struct gpu_machine *r, const char *text)
{
	const char *at = strstr(buf_str(&r->notes), text);

	if (at == NULL || strstr(at + 1, text) != NULL)
		gpu_rig_wrong(r, "the notes are: %s", buf_str(&r->notes));
	buf_clear(&r->notes);
}

static void
check_number(struct gpu_machine *r, char **words, const char *name, double got)
{
	const char *v = option(words, name);
	double want;

	if (v == NULL)
		return;
	want = strcmp(v, "?") == 0 ? NAN : strtod(v, NULL);
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 0.01))
		gpu_rig_wrong(r, "%s is %g", name, got);
}

static void
check_usage(struct gpu_machine *r, char **words)
{
	struct gpu_usage u;

	if (!gpualloc_usage(r->g, words[1], &u)) {
		gpu_rig_wrong(r, "nothing is known of it");
		return;
	}
	check_number(r, words, "energy", u.energy);
	check_number(r, words, "memory", u.memory / (1 << 20));
	check_number(r, words, "busy", u.busy);
	check_number(r, words, "seen", u.seen);
	check_number(r, words, "gpus", u.gpus);
}

/* Commands on one GPU; false: it is none of them. */
static bool
play_gpu(struct gpu_machine *r, char **words, const char *rest)
{
	const char *do_ = words[0];
	bool yes = words[1] != NULL && words[2] != NULL &&
		   strcmp(words[2], "yes") == 0;
	size_t i = words[1] != NULL ? strtoul(words[1], NULL, 10) : 0;

	if (i >= GPU_MACHINE_GPUS)
		return false;
	if (strcmp(do_, "set") == 0)
		gpu_rig_set(r, words, i);
	else if (strcmp(do_, "proc") == 0)
		gpu_rig_process(r, words, i);
	else if (strcmp(do_, "kill") == 0)
		gpu_rig_kill(r, i, strtoll(words[2], NULL, 10));
	else if (strcmp(do_, "xid") == 0) {
		r->faults[r->n_faults].xid = (int)strtol(words[2], NULL, 10);
		snprintf(r->faults[r->n_faults++].uuid, GPU_UUID, "GPU-%zu", i);
	} else if (strcmp(do_, "other") == 0)
		r->other[i] = yes;
	else if (strcmp(do_, "probed") == 0)
		gpu_rig_probed(r, words, i);
	else if (strcmp(do_, "state") == 0)
		check_state(r, i, words[2], rest);
	else if (strcmp(do_, "booked") == 0) {
		if (r->booked[i] != yes)
			gpu_rig_wrong(r, "it is the other way");
	} else if (strcmp(do_, "distrust") == 0)
		gpualloc_health_distrust(
		    r->g, r->seen[i].uuid, words[2], r->now);
	else if (strcmp(do_, "doubt") == 0)
		gpualloc_health_doubt(r->g, r->seen[i].uuid, words[2], r->now);
	else if (strcmp(do_, "probes") == 0) {
		if (r->probing[i] != yes)
			gpu_rig_wrong(r, "it is the other way");
	} else
		return false;
	return true;
}

static bool
play_time(struct gpu_machine *r, char **words)
{
	const char *do_ = words[0];

	if (do_[0] == '+') {
		r->now += strtoll(do_ + 1, NULL, 10);
		gpualloc_tick(r->g, r->now);
	} else if (strcmp(do_, "look") == 0) {
		gpualloc_observe_asked(r->g, ++r->seq);
		gpu_rig_look(r, r->seq);
	} else if (strcmp(do_, "ask") == 0)
		gpualloc_observe_asked(r->g, r->seq + 1);
	else if (strcmp(do_, "early") == 0)
		gpu_rig_look(r, r->seq);
	else if (strcmp(do_, "down") == 0)
		r->source = GPU_NONE;
	else if (strcmp(do_, "proc-only") == 0)
		r->source = GPU_PROC;
	else if (strcmp(do_, "up") == 0)
		r->source = r->was;
	else
		return false;
	return true;
}

/* The text behind so many words. */
static const char *
behind(const char *line, int words)
{
	while (words-- > 0) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return line;
}

static bool
play_check(struct gpu_machine *r, char **words, const char *line)
{
	const char *do_ = words[0];
	int64_t want = words[1] != NULL ? strtoll(words[1], NULL, 10) : 0, got;

	if (strcmp(do_, "ready") == 0)
		check_ready(r, strcmp(words[1], "yes") == 0, behind(line, 2));
	else if (strcmp(do_, "note") == 0)
		check_note(r, behind(line, 1));
	else if (strcmp(do_, "quiet") == 0) {
		if (r->notes.len > 0)
			gpu_rig_wrong(
			    r, "the notes are: %s", buf_str(&r->notes));
	} else if (strcmp(do_, "lookin") == 0) {
		got = gpualloc_observe_in_ms(r->g, r->now);
		if (got != want)
			gpu_rig_wrong(r, "in %lld", (long long)got);
	} else if (strcmp(do_, "places") == 0) {
		if (gpualloc_choose_capacity(r->g) != want)
			gpu_rig_wrong(
			    r, "there are %d", gpualloc_choose_capacity(r->g));
	} else
		return false;
	return true;
}

static const struct {
	const char *name;
	void (*play)(struct gpu_machine *, char **words);
} doers[] = { { "gpus", gpu_rig_new }, { "take", gpu_rig_take },
	{ "adopt", gpu_rig_adopt }, { "end", gpu_rig_end },
	{ "expect", gpu_rig_expect }, { "report", gpu_rig_report },
	{ "usage", check_usage } };

static void
play_line(struct gpu_machine *r, const char *line)
{
	char copy[256], *rest = copy, *word,
			*words[GPU_MACHINE_WORDS + 1] = { NULL };
	size_t n = 0, k;

	snprintf(copy, sizeof copy, "%s", line);
	while (n < GPU_MACHINE_WORDS && (word = strsep(&rest, " ")) != NULL)
		if (*word != '\0')
			words[n++] = word;
	if (n == 0 || words[0][0] == '#')
		return;
	for (k = 0; k < sizeof doers / sizeof *doers; k++)
		if (strcmp(doers[k].name, words[0]) == 0) {
			doers[k].play(r, words);
			return;
		}
	if (!play_time(r, words) && !play_check(r, words, line) &&
	    !play_gpu(r, words, behind(line, 3)))
		gpu_rig_wrong(r, "no such command");
}

bool
gpu_script_play(const struct gpu_script *s)
{
	struct gpu_machine *r = xcalloc(1, sizeof *r);
	char *text = xstrdup(s->text), *rest = text, *line;
	int at = 0;
	bool good;

	r->now = 1000;
	while (r->why[0] == '\0' && (line = strsep(&rest, "\n")) != NULL) {
		at++;
		play_line(r, line);
		if (r->why[0] != '\0')
			printf("# line %d: %s\n# %s\n", at, line, r->why);
	}
	good = r->why[0] == '\0';
	gpualloc_free(r->g);
	buf_free(&r->notes);
	free(text);
	free(r);
	return good;
}
