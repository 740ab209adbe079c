/*
 * hpotune doctor: conditions on this machine that could harm a study, one line
 * each, with the remedy.  Changes nothing.
 */

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/common/table.h"
#include "src/model/study/study.h"
#include "src/server/plugins/plugins.h"
#include "src/server/state-dir.h"
#include "src/store/store.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/launcher.h"

enum finding {
	FINDING_OK,
	FINDING_WARN, /* works, but may cause harm */
	FINDING_BAD /* a study would not start here */
};

struct doctor {
	const char *dir; /* where the study is, or would be */
	bool probe; /* GPUs are tested, too */
	struct table *table;
	struct buf text; /* of the JSON document */
	struct json_writer json;
	int worst;
};

/* The first line of a file, without its end. */
static bool
line_read(const char *path, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(buf, (int)n, f) != NULL;
	(void)fclose(f);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

/* The number at the beginning of a file, or -1. */
static int64_t
number_read(const char *path)
{
	char line[64], *end;
	long long value;

	if (!line_read(path, line, sizeof line))
		return -1;
	value = strtoll(line, &end, 10);
	return end == line ? -1 : value;
}

/*
 * Print one line.  more: further members for JSON, joined by commas, or "";
 * mend is not shown for FINDING_GOOD.
 */
static void
doctor_add(struct doctor *d, enum finding finding, const char *what,
    const char *found, const char *mend, const char *more)
{
	static const char *const names[] = { "ok", "warning", "bad" };
	static const enum table_tint tints[] = { TABLE_GOOD, TABLE_PLAIN,
		TABLE_BAD };

	table_cell(d->table, names[finding], tints[finding]);
	table_cell(d->table, what, TABLE_PLAIN);
	table_cell(d->table, found, TABLE_PLAIN);
	table_cell(d->table, finding == FINDING_OK ? "" : mend, TABLE_PLAIN);
	json_writer_line(&d->json);
	json_writer_object(&d->json, NULL);
	json_writer_text(&d->json, "finding", names[finding]);
	json_writer_text(&d->json, "what", what);
	json_writer_text(&d->json, "found", found);
	json_writer_text(&d->json, "mend", finding == FINDING_OK ? "" : mend);
	if (more[0] != '\0')
		json_writer_raw(&d->json, NULL, more);
	json_writer_end(&d->json);
	if ((int)finding > d->worst)
		d->worst = (int)finding;
}

/* ---- GPUs: processes, health, reasons why no trial could use one --------- */

enum {
	LOOK_MS = 60 * 1000, /* a driver may have to initialize many GPUs */
	PROBE_MS = 60 * 1000,
	SHOWN_MOST = 4 /* processes of one GPU */
};

/* As long as gpu_busy_memory does not set another value. */
#define BUSY_BYTES (INT64_C(1) << 30)

/* A process on a GPU, as far as its /proc files are readable. */
struct owner {
	char user[64], command[64];
	char trial[128]; /* "trial 3 of NAME", or "" */
	bool there;
};

/* The value of a variable in a process's initial environment. */
static void
environ_value(int64_t pid, const char *name, char *to, size_t n)
{
	char path[64], *line = NULL;
	size_t cap = 0, len = strlen(name);
	FILE *f;

	to[0] = '\0';
	(void)snprintf(path, sizeof path, "/proc/%" PRId64 "/environ", pid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (getdelim(&line, &cap, '\0', f) > 0)
		if (strncmp(line, name, len) == 0 && line[len] == '=')
			(void)snprintf(to, n, "%s", line + len + 1);
	free(line);
	(void)fclose(f);
}

static void
owner_find(struct owner *o, int64_t pid)
{
	char path[64], study[64], number[24];
	const struct passwd *user;
	struct stat st;

	*o = (struct owner){ .there = false };
	(void)snprintf(path, sizeof path, "/proc/%" PRId64, pid);
	if (stat(path, &st) == -1)
		return;
	o->there = true;
	user = getpwuid(st.st_uid);
	if (user != NULL)
		(void)snprintf(o->user, sizeof o->user, "%s", user->pw_name);
	else
		(void)snprintf(
		    o->user, sizeof o->user, "user %u", (unsigned)st.st_uid);
	(void)snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", pid);
	(void)line_read(path, o->command, sizeof o->command);
	environ_value(pid, "HPOTUNE_STUDY", study, sizeof study);
	environ_value(pid, "HPOTUNE_TRIAL", number, sizeof number);
	if (study[0] != '\0')
		(void)snprintf(
		    o->trial, sizeof o->trial, "trial %s of %s", number, study);
}

static void
size_put(struct buf *b, int64_t bytes)
{
	if (bytes >= 1 << 30)
		buf_printf(b, "%.1f GiB", (double)bytes / 0x1p30);
	else
		buf_printf(b, "%.0f MiB", (double)bytes / 0x1p20);
}

static void
process_put(struct buf *b, const struct gpu_process *p, const struct owner *o)
{
	if (o->trial[0] != '\0')
		buf_puts(b, o->trial);
	else if (o->there)
		buf_printf(b, "%s of %s", o->command, o->user);
	else
		buf_puts(b, "a process that is not visible here");
	buf_printf(
	    b, " (pid %" PRId64 "%s", p->pid, p->memory >= 0 ? ", " : ")");
	if (p->memory >= 0) {
		size_put(b, p->memory);
		buf_putc(b, ')');
	}
}

/* What is not to be had is negative, and null. */
static void
number_put_json(struct json_writer *w, const char *key, int64_t n)
{
	if (n >= 0)
		json_writer_integer(w, key, n);
	else
		json_writer_null(w, key);
}

static void
process_put_json(
    struct json_writer *w, const struct gpu_process *p, const struct owner *o)
{
	json_writer_object(w, NULL);
	json_writer_integer(w, "pid", p->pid);
	number_put_json(w, "memory", p->memory);
	json_writer_text(w, "user", o->user);
	json_writer_text(w, "command", o->command);
	json_writer_text(w, "trial", o->trial);
	json_writer_end(w);
}

/* The MPS daemon works for its clients and is not counted as a user. */
static bool
owner_foreign(const struct owner *o)
{
	return o->there && o->trial[0] == '\0' &&
	       strncmp(o->command, "nvidia-cuda-mps", 15) != 0;
}

/* The visible processes on a GPU, by owner. */
struct company {
	size_t trials, foreign;
};

static void
processes_put(struct buf *found, struct json_writer *more,
    const struct gpu_device *g, struct company *c)
{
	struct owner o;
	size_t i;

	json_writer_array(more, "processes");
	for (i = 0; i < g->n_processes; i++) {
		owner_find(&o, g->processes[i].pid);
		c->trials += o.trial[0] != '\0';
		c->foreign += owner_foreign(&o);
		process_put_json(more, &g->processes[i], &o);
		if (i >= SHOWN_MOST)
			continue;
		buf_puts(found, "; ");
		process_put(found, &g->processes[i], &o);
	}
	if (i > SHOWN_MOST)
		buf_printf(found, "; and %zu more", i - SHOWN_MOST);
	json_writer_end(more);
}

static void
facts_put_json(struct json_writer *w, const struct gpu_device *g)
{
	json_writer_integer(w, "index", g->index);
	json_writer_text(w, "uuid", g->uuid);
	json_writer_text(w, "name", g->name);
	json_writer_text(w, "bus", g->bus);
	number_put_json(w, "node", g->node);
	number_put_json(w, "memory", g->memory);
	number_put_json(w, "used", g->used);
	number_put_json(w, "temperature", g->temperature);
	number_put_json(w, "utilization", g->utilization);
	number_put_json(w, "power", g->power);
}

static void
facts_put(struct buf *b, const struct gpu_device *g)
{
	buf_puts(b, g->name[0] != '\0' ? g->name : "a GPU");
	if (g->memory >= 0) {
		buf_puts(b, ", ");
		size_put(b, g->memory);
	}
	if (g->used >= 0) {
		buf_puts(b, ", ");
		size_put(b, g->used);
		buf_puts(b, " used");
	}
	if (g->temperature >= 0)
		buf_printf(b, ", %d C", g->temperature);
	buf_printf(b, ", %s", g->uuid);
}

/* Whether it works, tested by a separate program. */
static bool
probe_put(
    struct buf *found, struct json_writer *more, const struct gpu_device *g)
{
	struct err e = ERR_INIT;
	bool good = gpu_query_probe(g->uuid, PROBE_MS, &e) == 0;

	buf_printf(found, "; %s", good ? "its test succeeded" : e.text);
	json_writer_text(more, "probe", good ? "good" : e.text);
	return good;
}

/* Why trials could not use it, or "". */
static const char *
gpu_unused(const struct gpu_device *g, const struct company *c)
{
	if (g->lost || g->recovery > 0)
		return "trials cannot use it until this is fixed";
	if (c->foreign > 0)
		return "trials cannot use it while others compute there";
	/* In a container the driver's pids belong to another pid namespace. */
	if (c->trials == 0 && g->used > BUSY_BYTES)
		return "a process that is not visible here uses it: trials "
		       "cannot use it while that is more than "
		       "gpu_busy_memory";
	return g->why[0] != '\0' ? "a GPU that cannot be queried is not checked"
				 : "";
}

static void
gpu_find(struct doctor *d, const struct gpu_device *g)
{
	struct buf found = { 0 }, more = { 0 };
	struct json_writer w = { .out = &more };
	char what[48], who[GPU_OWNER * 2] = "";
	struct company c = { 0 };
	enum finding finding;
	const char *mend;

	(void)snprintf(what, sizeof what, "GPU %d%s", g->index,
	    g->parent[0] != '\0' ? ", a slice" : "");
	facts_put(&found, g);
	json_writer_object(&w, "gpu");
	facts_put_json(&w, g);
	processes_put(&found, &w, g, &c);
	if (gpu_lock_owner(g->uuid, who, sizeof who))
		buf_printf(
		    &found, "; booked by %s", who[0] != '\0' ? who : "a study");
	if (g->why[0] != '\0')
		buf_printf(&found, "; %s", g->why);
	json_writer_text(&w, "owner", who);
	json_writer_text(&w, "why", g->why);
	mend = gpu_unused(g, &c);
	finding = mend[0] != '\0' ? FINDING_WARN : FINDING_OK;
	if (d->probe && !probe_put(&found, &w, g)) {
		mend = "no trial would work there: fix this first";
		finding = FINDING_BAD;
	}
	json_writer_text(&w, "unused", mend);
	json_writer_end(&w);
	doctor_add(d, finding, what, buf_str(&found), mend, buf_str(&more));
	buf_free(&found);
	buf_free(&more);
}

/* The state of the driver. */
static void
driver_find(struct doctor *d, const struct gpu_snapshot *l)
{
	char text[256];

	switch (l->source) {
	case GPU_SIMULATED:
	case GPU_NONE:
		if (!gpu_query_driver())
			doctor_add(d, FINDING_OK, "GPUs", "none", "", "");
		else
			doctor_add(d, FINDING_WARN, "GPUs", l->why,
			    "trials get no GPU until this is fixed", "");
		break;
	case GPU_NVML:
		(void)snprintf(text, sizeof text, "%zu, driver %s%s%s", l->n,
		    l->driver, l->why[0] != '\0' ? "; " : "", l->why);
		doctor_add(d,
		    l->why[0] != '\0' || l->n == 0 ? FINDING_WARN : FINDING_OK,
		    "GPUs", text,
		    "look at nvidia-smi: trials get those that it shows", "");
		break;
	case GPU_PROC:
		(void)snprintf(text, sizeof text,
		    "%zu, driver %s, and no NVML: %s", l->n, l->driver, l->why);
		doctor_add(d, FINDING_WARN, "GPUs", text,
		    "install NVML, which belongs to the driver: without "
		    "it users and errors of GPUs are not detected",
		    "");
		break;
	}
}

/* Check the driver and each GPU. */
static void
doctor_gpus(struct doctor *d)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot look;
	size_t i;

	if (gpu_query(&look, LOOK_MS, &e) != 0) {
		doctor_add(d, FINDING_WARN, "GPUs", e.text,
		    "trials get no GPU until this is fixed", "");
		return;
	}
	driver_find(d, &look);
	for (i = 0; i < look.n; i++)
		gpu_find(d, &look.gpus[i]);
	gpu_snapshot_free(&look);
}

/* ---- the other checks ---------------------------------------------------- */

static void
finding_add(struct doctor *d, enum finding finding, const char *what,
    const char *found, const char *mend)
{
	doctor_add(d, finding, what, found, mend, "");
}

static void
check_fs(struct doctor *d)
{
	char name[64], text[512];
	bool network;

	state_dir_file_system(d->dir, name, sizeof name, &network);
	(void)snprintf(text, sizeof text, "%s holds %s", name, d->dir);
	finding_add(d, network ? FINDING_BAD : FINDING_OK, "file system", text,
	    "use --state with a local folder: over a network "
	    "locks and shared memory are unreliable (or "
	    "--network-fs, when no other machine runs the study)");
}

static void
check_space(struct doctor *d)
{
	struct statfs fs;
	char text[128];
	double free_mib;

	if (statfs(d->dir, &fs) == -1)
		return;
	free_mib = (double)fs.f_bavail * (double)fs.f_bsize / 0x1p20;
	(void)snprintf(text, sizeof text, "%.0f MiB free", free_mib);
	finding_add(d, free_mib < 1024 ? FINDING_WARN : FINDING_OK,
	    "disk space", text,
	    "make room: logs and checkpoints are kept "
	    "beside the study");
	if (access(d->dir, W_OK) == -1)
		finding_add(d, FINDING_BAD, "folder", "may not be written",
		    "chmod u+w it, or use --state DIR");
}

static void
check_sqlite(struct doctor *d)
{
	const char *version = store_sqlite_version();
	int a = 0, b = 0, c = 0;

	(void)sscanf(version, "%d.%d.%d", &a, &b, &c);
	finding_add(d,
	    a * 1000000 + b * 1000 + c < 3051003 ? FINDING_WARN : FINDING_OK,
	    "SQLite", version,
	    "before 3.51.3 two writers could damage the "
	    "write-ahead log when it restarts; hpotune lets one process write: "
	    "do not write to NAME.db with other programs, or upgrade");
}

static void
check_files(struct doctor *d)
{
	struct rlimit limit;
	char text[64];

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	(void)snprintf(text, sizeof text, "%" PRIu64 ", at most %" PRIu64,
	    (uint64_t)limit.rlim_cur, (uint64_t)limit.rlim_max);
	finding_add(d, limit.rlim_cur < 1024 ? FINDING_WARN : FINDING_OK,
	    "open files", text,
	    "ulimit -n 4096: each running trial takes a "
	    "few");
}

static void
check_inotify(struct doctor *d)
{
	int64_t watches = number_read("/proc/sys/fs/inotify/max_user_watches");
	int64_t instances =
	    number_read("/proc/sys/fs/inotify/max_user_instances");
	char text[96];
	int fd = inotify_init1(IN_CLOEXEC);

	(void)snprintf(text, sizeof text,
	    "%" PRId64 " watches, %" PRId64 " instances%s", watches, instances,
	    fd == -1 ? ", none left" : "");
	if (fd != -1)
		(void)close(fd);
	finding_add(d, fd == -1 || watches < 8192 ? FINDING_WARN : FINDING_OK,
	    "inotify", text,
	    "raise fs.inotify.max_user_watches and max_user_instances "
	    "(sysctl): without them output is read once a second");
}

static void
check_pids(struct doctor *d)
{
	int64_t pid_max = number_read("/proc/sys/kernel/pid_max");
	struct rlimit limit;
	char text[96];
	bool low = pid_max >= 0 && pid_max < 32768;

	if (getrlimit(RLIMIT_NPROC, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY) {
		(void)snprintf(text, sizeof text,
		    "pid_max %" PRId64 ", %" PRIu64 " for you", pid_max,
		    (uint64_t)limit.rlim_cur);
		low = low || limit.rlim_cur < 512;
	} else
		(void)snprintf(text, sizeof text, "pid_max %" PRId64, pid_max);
	finding_add(d, low ? FINDING_WARN : FINDING_OK, "processes", text,
	    "raise kernel.pid_max (sysctl) or ulimit -u: each trial is two "
	    "processes and what it starts");
}

/* Our cgroup v2 folder; false when there is none. */
static bool
cgroup_path(char *path, size_t n)
{
	char line[400];

	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == -1 ||
	    !line_read("/proc/self/cgroup", line, sizeof line) ||
	    strncmp(line, "0::", 3) != 0)
		return false;
	(void)snprintf(path, n, "/sys/fs/cgroup%s", line + 3);
	return true;
}

static void
check_cgroup(struct doctor *d)
{
	static const char *const mend =
	    "systemd-run --user --scope -p Delegate=yes hpotune start ...: "
	    "then memory limits and out-of-memory verdicts are exact";
	char path[512];

	if (!cgroup_path(path, sizeof path))
		finding_add(d, FINDING_WARN, "cgroup v2", "not there",
		    "trial.memory is not enforced and out of memory is only a "
		    "guess; boot with the unified hierarchy for both");
	else if (access(path, W_OK) == -1)
		finding_add(
		    d, FINDING_WARN, "cgroup v2", "not delegated", mend);
	else
		finding_add(d, FINDING_OK, "cgroup v2", "delegated", mend);
}

/* The last value of KillUserProcesses in a configuration file, if any. */
static void
kill_setting(const char *path, bool *kills)
{
	FILE *f = fopen(path, "re");
	char line[256];

	if (f == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "KillUserProcesses=", 18) == 0)
			*kills = strncmp(line + 18, "yes", 3) == 0 ||
				 strncmp(line + 18, "true", 4) == 0 ||
				 line[18] == '1';
	(void)fclose(f);
}

/* Whether trials would be killed at the end of the login session. */
static void
check_session(struct doctor *d)
{
	const char *user = getenv("USER");
	char path[300], cgroup[400] = "";
	bool kills = false, linger = false;

	kill_setting("/usr/lib/systemd/logind.conf", &kills);
	kill_setting("/etc/systemd/logind.conf", &kills);
	if (user != NULL && strchr(user, '/') == NULL) {
		(void)snprintf(
		    path, sizeof path, "/var/lib/systemd/linger/%s", user);
		linger = access(path, F_OK) == 0;
	}
	(void)line_read("/proc/self/cgroup", cgroup, sizeof cgroup);
	if (strstr(cgroup, "session-") == NULL)
		finding_add(d, FINDING_OK, "login session", "not in one", "");
	else if (kills && !linger)
		finding_add(d, FINDING_WARN, "login session",
		    "KillUserProcesses=yes and no linger",
		    "run loginctl enable-linger: otherwise logging out "
		    "kills server and trials");
	else
		finding_add(
		    d, FINDING_OK, "login session", "trials outlive it", "");
}

static void
check_init(struct doctor *d)
{
	char name[64] = "?";

	(void)line_read("/proc/1/comm", name, sizeof name);
	if (getpid() == 1 || getppid() == 1)
		finding_add(d, FINDING_WARN, "process 1",
		    getpid() == 1 ? "this is process 1 of its container"
				  : "started by process 1 of a container",
		    "when process 1 ends the container ends, and every trial "
		    "with it: start it with an init (docker run --init) and "
		    "keep that running");
	else
		finding_add(d, FINDING_OK, "process 1", name, "");
}

static void
check_slurm(struct doctor *d)
{
	const char *job = getenv("SLURM_JOB_ID");
	char text[96];

	if (job == NULL) {
		finding_add(d, FINDING_OK, "Slurm", "not in a job", "");
		return;
	}
	(void)snprintf(text, sizeof text, "inside job %.32s", job);
	finding_add(d, FINDING_WARN, "Slurm", text,
	    "trials end with the job: set limits.wall_time below "
	    "the time limit of the job, and start the study "
	    "again in the next job");
}

/*
 * The folder of the given study, or of the only one here. study: there is one,
 * whose backends are checked, too.
 */
static int
doctor_dir(struct cli *cli, struct cli_study *found, bool *study,
    const char **dir, struct err *e)
{
	bool named = cli->n_operands > 0;

	*study = cli_find_study(cli, found, NULL, e) == 0;
	if (!*study && named)
		return -1;
	if (!*study && (found->state_dir = realpath(".", NULL)) == NULL)
		return err_set(
		    e, ERR_FILE, "the current folder: %s", strerror(errno));
	*dir = found->state_dir;
	return 0;
}

static void
on_launcher(void *arg, enum launch_level level, const char *what,
    const char *text, const char *mend)
{
	static const enum finding findings[] = { [LAUNCH_INFO] = FINDING_OK,
		[LAUNCH_WARNING] = FINDING_WARN,
		[LAUNCH_ERROR] = FINDING_BAD };

	finding_add(arg, findings[level], what, text, mend != NULL ? mend : "");
}

static int
backends_ask(struct doctor *d, const struct cli_study *found,
    const struct plugins *plugins, int64_t seconds, struct err *e)
{
	const struct study *study = found->study;
	struct store_study row = { .name = study->name, .seed = study->seed };
	const struct launcher *launcher;
	char id[STUDY_ID], *dir = load_study_dir(found);
	struct launch_env env = {
		.study = study->name,
		.study_id = id,
		.metric = study->metric,
		.maximize = study->maximize,
		.state_dir = dir,
		.settings = &study->trial,
		.parallel = study->limits.parallel,
		.patience_ms = seconds * 1000,
	};
	int rc = 0;
	size_t i;

	store_study_id(id, &row);
	for (i = 0; i < plugins->n_backends && rc == 0; i++) {
		launcher = plugins->backends[i].launcher;
		if (launcher->doctor == NULL)
			continue;
		env.options = plugins->backends[i].options;
		rc = env.loop != NULL ? 0 : loop_open(&env.loop, LOOP_REAL, e);
		if (rc == 0)
			rc = launcher->doctor(&env, on_launcher, d, e);
	}
	loop_close(env.loop);
	free(dir);
	return rc;
}

/* Checks of the study's backends; frees found when it cannot be read. */
static void
check_study(struct doctor *d, struct cli_study *found, int64_t seconds)
{
	struct err e = ERR_INIT;
	struct plugins plugins;

	if (load_study_read(found, &e) == 0 &&
	    plugins_read(&plugins, found->study, &e) == 0) {
		if (backends_ask(d, found, &plugins, seconds, &e) != 0)
			finding_add(d, FINDING_BAD, "backend", e.text,
			    "fix this and run it again");
		plugins_free(&plugins);
		return;
	}
	finding_add(d, FINDING_BAD, "study", e.text, "run hpotune check");
}

static int
doctor_run(struct cli *cli)
{
	static void (*const checks[])(struct doctor *) = { check_fs,
		check_space, check_sqlite, check_files, check_inotify,
		check_pids, check_cgroup, doctor_gpus, check_session,
		check_init, check_slurm };
	struct cli_study found = { 0 };
	struct doctor d = { .table = table_new(),
		.probe = cli_has(cli, "probe"),
		.json.out = &d.text };
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int64_t seconds;
	bool study;
	size_t i;

	if (cli_integer(cli, "timeout", 1, 3600, 15, &seconds, &e) != 0 ||
	    doctor_dir(cli, &found, &study, &d.dir, &e) != 0) {
		table_free(d.table);
		return cli_fail(&e);
	}
	for (i = 0; i < 4; i++)
		table_column(d.table, "", TABLE_LEFT);
	json_writer_array(&d.json, NULL);
	for (i = 0; i < sizeof checks / sizeof checks[0]; i++)
		checks[i](&d);
	if (study)
		check_study(&d, &found, seconds);
	json_writer_end(&d.json);
	if (cli->json)
		buf_printf(&out, "%s\n", buf_str(&d.text));
	else
		table_put(&out, d.table, 0, cli->colour, false);
	(void)cli_print(&out);
	buf_free(&d.text);
	table_free(d.table);
	cli_study_fini(&found);
	return d.worst == FINDING_BAD ? CLI_FAILED : CLI_DONE;
}

static const struct cli_option doctor_options[] = {
	{ "probe", 0, NULL, "also test with CUDA on each GPU" },
	{ "timeout", 0, "SECONDS",
	    "longest wait for a service of the backend, in seconds (15)" },
	{ .name = NULL },
};

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.args = "[STUDY]",
	.about = "check this machine for conditions that could disturb a study",
	.options = doctor_options,
	.max_operands = 1,
	.json = true,
	.run = doctor_run,
};
