/* The local backend under a real loop, for tests. */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/json/json.h"
#include "tests/support/local-backend.h"
#include "tests/support/scratch.h"
#include "trials/local/local-internal.h"

enum { DEADLINE_MS = 300000, MOMENT_MS = 300 };

static void
heard_report(struct local_rig_trial *t, const struct launch_event *ev)
{
	(void)snprintf(t->last, sizeof t->last, "%s %lld %.9g",
	    ev->u.report.name,
	    ev->u.report.has_step ? (long long)ev->u.report.step : -1,
	    ev->u.report.value);
	if (t->reports++ == 0)
		memcpy(t->first, t->last, sizeof t->first);
	t->sum += ev->u.report.value;
}

static void
on_event(void *arg, const struct launch_event *ev)
{
	struct local_backend *rig = arg;
	struct local_rig_trial *t = &rig->trial[ev->trial];

	switch (ev->kind) {
	case LAUNCH_ARTIFACTS:
	case LAUNCH_PLACE:
	case LAUNCH_WAITS:
	case LAUNCH_COST:
		break;
	case LAUNCH_UP:
		t->ups++;
		t->pid = ev->u.up.pid;
		(void)snprintf(t->place, sizeof t->place, "%s", ev->u.up.place);
		break;
	case LAUNCH_REPORT:
		heard_report(t, ev);
		break;
	case LAUNCH_ACCEPTED:
		break;
	case LAUNCH_READ:
		t->reads++;
		t->cursor = ev->u.cursor;
		break;
	case LAUNCH_USAGE:
		t->usages++;
		t->usage = ev->u.usage;
		break;
	case LAUNCH_GPU:
		rig->gpus++;
		break;
	case LAUNCH_SLOTS:
		rig->slots++;
		break;
	case LAUNCH_NOTE:
		t->notes++;
		buf_printf(&t->note, "%s\n", ev->u.note.text);
		break;
	case LAUNCH_EXIT:
		t->exits++;
		t->exit = ev->u.exit;
		break;
	case LAUNCH_LOST:
		t->losts++;
		(void)snprintf(t->lost, sizeof t->lost, "%s", ev->u.lost.why);
		break;
	}
}

static void
on_deadline(void *arg)
{
	struct local_backend *rig = arg;

	rig->late = true;
	loop_stop(rig->loop);
}

static void
on_turn(void *arg)
{
	struct local_backend *rig = arg;

	rig->turns++;
	if (!rig->deaf)
		backend_local.collect(rig->ctx);
	if (rig->done(rig, rig->arg))
		loop_stop(rig->loop);
}

bool
local_rig_until(struct local_backend *rig,
    bool (*done)(struct local_backend *, int64_t), int64_t arg)
{
	rig->done = done;
	rig->arg = arg;
	rig->late = false;
	loop_timer_set(rig->deadline, rig->deaf ? MOMENT_MS : DEADLINE_MS);
	loop_run(rig->loop, on_turn, rig);
	loop_timer_stop(rig->deadline);
	return !rig->late;
}

bool
local_rig_over(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].exits + rig->trial[trial].losts > 0;
}

bool
local_rig_is_up(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].ups > 0;
}

bool
local_rig_reported(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].reports > 0;
}

int
local_rig_backend_open(struct local_backend *rig, struct err *e)
{
	struct launch_env env = {
		.loop = rig->loop,
		.study = "rig",
		.state_dir = rig->state_dir,
		.settings = &rig->settings,
		.options = rig->options,
		.parallel = rig->parallel,
		.event = on_event,
		.arg = rig,
	};

	return backend_local.open(&rig->ctx, &env, e);
}

static void
must(int r, const struct err *e)
{
	if (r != -1)
		return;
	printf("Bail out! %s\n", e->text);
	exit(1);
}

/* By hand, without make's environment: the one above the folder of tests. */
static void
shim_default(void)
{
	char path[512], *tests;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);

	path[n > 0 ? n : 0] = '\0';
	tests = strstr(path, "/tests/unit/");
	if (tests == NULL)
		return;
	strcpy(tests, "/hpotune-shim");
	(void)setenv("HPOTUNE_SHIM", path, 0);
}

void
local_rig_open(struct local_backend *rig, const char *block)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	shim_default();
	(void)unsetenv("CUDA_VISIBLE_DEVICES");
	*rig = (struct local_backend){ .attempt = 1 };
	(void)snprintf(rig->dir, sizeof rig->dir, "/tmp/hpotune-rig-XXXXXX");
	if (mkdtemp(rig->dir) == NULL)
		must(-1, &e);
	rig->state_dir = xasprintf("%s/rig.d", rig->dir);
	(void)mkdir(rig->state_dir, 0700);
	rig->settings = (struct study_trial){
		.workdir = rig->dir,
		.grace_ms = 10000,
		.gpus = -1,
	};
	if (block != NULL)
		must(json_parse(&doc, block, strlen(block), "block", false, &e),
		    &e);
	must(plugin_options_read(&rig->options, backend_local.options,
		 doc != NULL ? json_root(doc) : NULL, NULL, &e),
	    &e);
	rig->doc = doc;
	must(loop_open(&rig->loop, LOOP_REAL, &e), &e);
	rig->deadline = loop_timer_new(rig->loop, on_deadline, rig);
	must(local_rig_backend_open(rig, &e), &e);
}

void
local_rig_close(struct local_backend *rig)
{
	size_t i;

	if (rig->ctx != NULL)
		backend_local.close(rig->ctx);
	loop_timer_free(rig->deadline);
	loop_close(rig->loop);
	plugin_options_free(rig->options);
	json_free(rig->doc);
	(void)scratch_delete(rig->dir);
	free(rig->state_dir);
	for (i = 0; i < LOCAL_BACKEND_TRIALS; i++)
		buf_free(&rig->trial[i].note);
}

void
local_rig_restart(struct local_backend *rig)
{
	struct err e = ERR_INIT;

	backend_local.close(rig->ctx);
	must(local_rig_backend_open(rig, &e), &e);
}

const char *
local_rig_uuid(int64_t trial, int attempt)
{
	static char uuid[64];

	/* Two runs of the test at once must not see each other's. */
	(void)snprintf(uuid, sizeof uuid, "%08x-%04x-4000-8000-%012llx",
	    (unsigned)getpid(), (unsigned)attempt & 0xffff,
	    (unsigned long long)trial);
	return uuid;
}

struct launch_spec
local_rig_spec(struct local_backend *rig, int64_t trial, char *const *argv)
{
	static char *const no_env[] = { NULL };
	static char trial_dir[256], uuid[64];

	(void)snprintf(trial_dir, sizeof trial_dir, "%s/trials/%lld",
	    rig->state_dir, (long long)trial);
	(void)snprintf(
	    uuid, sizeof uuid, "%s", local_rig_uuid(trial, rig->attempt));
	return (struct launch_spec){
		.trial = trial,
		.attempt = rig->attempt,
		.slot = rig->slot,
		.study = "rig",
		.uuid = uuid,
		.trial_dir = trial_dir,
		.argv = argv,
		.env = rig->env != NULL ? rig->env : no_env,
		.params_json = "{\"lr\":0.5}",
		.settings = &rig->settings,
		.cursor = rig->trial[trial].cursor,
	};
}

int
local_rig_sh(struct local_backend *rig, int64_t trial, const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct launch_spec spec = local_rig_spec(rig, trial, argv);
	struct err e = ERR_INIT;
	int r = backend_local.start(rig->ctx, &spec, &e);

	if (r == -1)
		printf("# %s\n", e.text);
	return r;
}

enum launch_adoption
local_rig_look(struct local_backend *rig, int64_t trial, struct err *e)
{
	char *argv[] = { "true", NULL };
	struct launch_spec spec = local_rig_spec(rig, trial, argv);

	return backend_local.adopt(rig->ctx, &spec, e);
}

bool
local_rig_file(const char *path)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 5; i++) {
		if (access(path, F_OK) == 0)
			return true;
		(void)poll(NULL, 0, 5);
	}
	return false;
}

const char *
local_rig_path(struct local_backend *rig, int64_t trial, const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof path, "%s/trials/%lld/attempt-%d/%s",
	    rig->state_dir, (long long)trial, rig->attempt, name);
	return path;
}

char *
local_rig_text(const char *path)
{
	struct buf b = { 0 };
	char block[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return NULL;
	buf_puts(&b, "");
	while ((n = read(fd, block, sizeof block)) > 0)
		buf_add(&b, block, (size_t)n);
	(void)close(fd);
	return buf_take(&b);
}

static bool
has_mark(const char *pid, const char *word)
{
	char path[300], *text;
	struct buf b = { 0 };
	ssize_t n;
	bool has;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%s/environ", pid);
	text = xmalloc(1 << 20);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd == -1 ? 0 : read(fd, text, 1 << 20);
	if (fd != -1)
		(void)close(fd);
	has = n > 0 && memmem(text, (size_t)n, word, strlen(word)) != NULL;
	free(text);
	buf_free(&b);
	return has;
}

/* Whether a process is a supervisor, whose name may be cut. */
static bool
is_supervisor(const char *pid)
{
	char path[300], name[16] = "";
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	(void)!fgets(name, sizeof name, f);
	(void)fclose(f);
	return strncmp(name, "hpotune-shim", 12) == 0;
}

static int
count_marked(int64_t trial, int attempt, bool supervisors)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	char word[96];
	int n = 0;

	(void)snprintf(word, sizeof word, "HPOTUNE_ATTEMPT_UUID=%s",
	    local_rig_uuid(trial, attempt));
	while ((d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]))
			n += has_mark(d->d_name, word) &&
			     (supervisors || !is_supervisor(d->d_name));
	(void)closedir(dir);
	return n;
}

int
local_rig_alive(int64_t trial, int attempt)
{
	return count_marked(trial, attempt, true);
}

int
local_rig_left(int64_t trial, int attempt)
{
	return count_marked(trial, attempt, false);
}
