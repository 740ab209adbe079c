/*
 * hpotune doctor: conditions on this machine that could harm a study, one line
 * each, with the remedy.  Changes nothing.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file-system.h"
#include "src/base/folder.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/cli/check/doctor-gpus.h"
#include "src/cli/check/doctor.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"
#include "src/view/table.h"
#include "trials/backend.h"

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

	file_system_look(d->dir, name, sizeof name, &network);
	(void)snprintf(text, sizeof text, "%s holds %s", name, d->dir);
	finding_add(d, network ? FINDING_BAD : FINDING_OK, "file system", text,
	    "use --state with a local folder: over a network "
	    "locks and shared memory are unreliable (or "
	    "--network-fs, when no other machine runs the study)");
}

static void
cmd_doctor_check_users(struct doctor *d)
{
	struct buf why = { 0 };

	if (folder_exposed(d->dir, &why))
		finding_add(d, FINDING_WARN, "other users", buf_str(&why),
		    "they can replace what the study runs and reads: set the "
		    "sticky bit (chmod +t), or use a folder of your own");
	else
		finding_add(d, FINDING_OK, "other users",
		    "cannot replace what is in the folder", "");
	buf_free(&why);
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
	int64_t watches =
	    doctor_number("/proc/sys/fs/inotify/max_user_watches");
	int64_t instances =
	    doctor_number("/proc/sys/fs/inotify/max_user_instances");
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
	int64_t pid_max = doctor_number("/proc/sys/kernel/pid_max");
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
	    !doctor_line("/proc/self/cgroup", line, sizeof line) ||
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
	(void)doctor_line("/proc/self/cgroup", cgroup, sizeof cgroup);
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

	(void)doctor_line("/proc/1/comm", name, sizeof name);
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
doctor_dir(struct cli *cli, struct study_files *found, bool *study,
    const char **dir, struct err *e)
{
	bool named = cli->n_operands > 0;

	*study = cli_find_study(cli, found, NULL, e) == 0;
	if (!*study && named)
		return -1;
	if (!*study && (found->db_dir = realpath(".", NULL)) == NULL)
		return err_set(
		    e, ERR_FILE, "the current folder: %s", strerror(errno));
	*dir = found->db_dir;
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
backends_ask(struct doctor *d, const struct study_files *found,
    const struct plugins *plugins, int64_t seconds, struct err *e)
{
	const struct study *study = found->study;
	struct store_study row = { .name = study->name, .seed = study->seed };
	const struct backend_type *type;
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
		type = plugins->backends[i].type;
		if (type->doctor == NULL)
			continue;
		env.options = plugins->backends[i].options;
		rc = env.loop != NULL ? 0 : loop_open(&env.loop, LOOP_REAL, e);
		if (rc == 0)
			rc = type->doctor(&env, on_launcher, d, e);
	}
	loop_close(env.loop);
	free(dir);
	return rc;
}

/* Checks of the study's backends; frees found when it cannot be read. */
static void
cmd_doctor_check_study(
    struct doctor *d, struct study_files *found, int64_t seconds)
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
		cmd_doctor_check_users, check_space, check_sqlite, check_files,
		check_inotify, check_pids, check_cgroup, doctor_gpus,
		check_session, check_init, check_slurm };
	struct study_files found = { 0 };
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
		cmd_doctor_check_study(&d, &found, seconds);
	json_writer_end(&d.json);
	if (cli->json)
		buf_printf(&out, "%s\n", buf_str(&d.text));
	else
		table_put(&out, d.table, 0, cli->colour, false);
	(void)cli_print(&out);
	buf_free(&d.text);
	table_free(d.table);
	study_files_fini(&found);
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
