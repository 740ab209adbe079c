/*
 * hpotune-node: runs the trials that the server puts into the folder of a job,
 * several side by side, one after the other, until the time of the job is over,
 * nothing has come for a while, or the server ends it.  The supervisor of each
 * trial is hpotune-shim, as in a job of its own.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/node/node-warm.h"
#include "trials/node/node.h"
#include "trials/process/args.h"
#include "trials/process/proc.h"
#include "trials/process/proc-environ.h"
#include "trials/shim/shim.h"

enum {
	PLACES_MAX = 1024,
	LOOK_MS = 300,
	EARLY_S = 90, /* Slurm's signal before the limit may come so early */
	UUID_BYTES = 40,
	FDS_FIRST = 2 /* signals and the warm process */
};

struct place {
	pid_t pid; /* 0 = free */
	char name[NODE_ENTRY]; /* TRIAL.ATTEMPT */
	char uuid[UUID_BYTES];
	int64_t started_ms;
	int ask_fd; /* of its script, which may ask once; -1 = it has asked */
	int word_fd; /* of its supervisor, if that is warm; or -1 */
};

struct node {
	const char *dir; /* of the job */
	const char *uuid; /* of the job */
	char **interpreter; /* of job.sh, with its arguments */
	int64_t n_places;
	int64_t gpus; /* of one place */
	int64_t idle_ms;

	int dir_fd, next_fd, signal_fd;
	struct shim_preempt preempt;
	bool told_preempted; /* by the server */
	struct shim shim; /* of the folder of the job: claim, beat, stop */
	struct place *places;
	char *gpu_list, **gpu_names; /* of all GPUs of the job */
	int64_t n_gpu_names;
	cpu_set_t cpus;
	bool divide_cpus; /* each place has cores of its own */
	int64_t pack; /* 1: all places are those of one program */
	char *pack_place; /* its folder, on a disk of this machine */
	pid_t *serves; /* what serves it, or waits to */
	size_t n_serves, cap_serves;
	int64_t warm; /* 1: trials start warm */
	struct node_warm warm_process;
	struct pollfd *polled; /* FDS_FIRST, and two of each place */
	int64_t deadline_s; /* 0 = none */
	int64_t longest_ms; /* trial so far; -1 = none has ended */
	int64_t busy_ms; /* when something ran or came the last time */
	int64_t now_ms;
	const char *closing; /* NODE_CLOSING_…; NULL = it takes trials */
};

static bool
node_args(struct node *n, char **argv)
{
	const struct arg table[] = {
		{ "dir=", &n->dir, NULL },
		{ "uuid=", &n->uuid, NULL },
		{ "places=", NULL, &n->n_places },
		{ "gpus=", NULL, &n->gpus },
		{ "pack=", NULL, &n->pack },
		{ "warm=", NULL, &n->warm },
		{ "idle-ms=", NULL, &n->idle_ms },
		{ "preempt-ms=", NULL, &n->preempt.every_ms },
	};

	n->interpreter = args_read(argv, table, sizeof table / sizeof table[0]);
	return n->interpreter != NULL && n->dir != NULL && n->uuid != NULL &&
	       strlen(n->uuid) == RECORD_UUID && n->n_places > 0 &&
	       n->n_places <= PLACES_MAX && n->gpus >= 0 &&
	       n->gpus <= PLACES_MAX;
}

/* Split CUDA_VISIBLE_DEVICES; fewer GPUs than places need: fewer places. */
static bool
node_main_gpus_read(struct node *n)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	char *rest, *name;

	if (n->gpus == 0)
		return true;
	n->gpu_list = rest = xstrdup(list != NULL ? list : "");
	n->gpu_names = xcalloc(strlen(rest) + 1, sizeof *n->gpu_names);
	while ((name = strsep(&rest, ",")) != NULL)
		if (*name != '\0')
			n->gpu_names[n->n_gpu_names++] = name;
	if (n->n_gpu_names < n->gpus * n->n_places)
		(void)dprintf(2,
		    "hpotune-node: the job has %" PRId64
		    " GPUs (CUDA_VISIBLE_DEVICES=%s), its %" PRId64
		    " places need %" PRId64 "\n",
		    n->n_gpu_names, list != NULL ? list : "", n->n_places,
		    n->gpus * n->n_places);
	if (n->n_gpu_names < n->gpus * n->n_places)
		n->n_places = n->n_gpu_names / n->gpus;
	return n->n_places > 0;
}

/*
 * Cores are divided only where the job is bound to cores of its own: elsewhere
 * all jobs of the machine would use the same ones.
 */
static void
cpus_read(struct node *n)
{
	const char *given = getenv("SLURM_CPUS_ON_NODE");
	int64_t count;

	if (given == NULL || !args_number(given, &count) ||
	    sched_getaffinity(0, sizeof n->cpus, &n->cpus) == -1)
		return;
	n->divide_cpus = n->pack == 0 && CPU_COUNT(&n->cpus) == count &&
			 count >= n->n_places;
}

/*
 * Make the folder of the program of packed trials: its socket and its lock are
 * local files.
 */
static bool
pack_open(struct node *n)
{
	const char *tmp = getenv("TMPDIR");

	if (n->pack == 0)
		return true;
	n->pack_place = xasprintf(
	    "%s/hpotune-XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	return mkdtemp(n->pack_place) != NULL &&
	       setenv(NODE_PACK_PLACE, n->pack_place, 1) == 0;
}

static bool
node_open(struct node *n)
{
	const char *deadline = getenv("HPOTUNE_DEADLINE");
	sigset_t set;
	int64_t i;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if (deadline == NULL || !args_number(deadline, &n->deadline_s))
		n->deadline_s = 0;
	n->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	n->dir_fd = open(n->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n->places = xcalloc((size_t)n->n_places, sizeof *n->places);
	for (i = 0; i < n->n_places; i++)
		n->places[i].ask_fd = n->places[i].word_fd = -1;
	n->polled =
	    xcalloc(FDS_FIRST + 2 * (size_t)n->n_places, sizeof *n->polled);
	n->warm_process.dir = n->dir;
	n->shim.dir = n->dir;
	n->shim.uuid = n->uuid;
	n->shim.dir_fd = n->dir_fd;
	n->shim.beat_at_ms = -1;
	return n->signal_fd != -1 && n->dir_fd != -1 && pack_open(n) &&
	       prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* Write a line into a file of the folder, in place: false with errno. */
static bool
line_write(const struct node *n, const char *name, const char *line)
{
	int fd =
	    file_open_for(n->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good;

	if (fd == -1)
		return false;
	good = dprintf(fd, "%s\n", line) > 0 && fsync(fd) == 0;
	(void)close(fd);
	return good;
}

/* Say in the folder of the job why no further trial is taken. */
static void
close_down(struct node *n, const char *why)
{
	if (n->closing != NULL)
		return;
	n->closing = why;
	(void)line_write(n, NODE_CLOSING_FILE, why);
}

/* Record which job this is, and where it runs. */
static bool
up_say(const struct node *n)
{
	const char *job = getenv("SLURM_JOB_ID");
	const char *host = getenv("SLURMD_NODENAME");
	char name[128] = "?", line[512];

	(void)gethostname(name, sizeof name - 1);
	(void)snprintf(line, sizeof line, "uuid=%s job=%.40s host=%.100s",
	    n->uuid, job != NULL ? job : "",
	    host != NULL && *host != '\0' ? host : name);
	return line_write(n, NODE_UP_FILE, line);
}

static void
signal_all(const struct node *n, int signo)
{
	int64_t i;

	for (i = 0; i < n->n_places; i++)
		if (n->places[i].pid != 0)
			(void)kill(n->places[i].pid, signo);
}

static int
running(const struct node *n)
{
	int count = 0;
	int64_t i;

	for (i = 0; i < n->n_places; i++)
		count += n->places[i].pid != 0;
	return count;
}

/* The uuid and the folder of the attempt, each with the end of a line. */
static bool
entry_read(int next_fd, const char *name, char uuid[UUID_BYTES], char *dir)
{
	char text[UUID_BYTES + PATH_MAX + 2], *end;
	int fd = file_open(next_fd, name);
	ssize_t got = fd == -1 ? -1 : read(fd, text, sizeof text - 1);

	if (fd != -1)
		(void)close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	end = strchr(text, '\n');
	if (end == NULL || end - text != RECORD_UUID)
		return false;
	*end = '\0';
	memcpy(uuid, text, RECORD_UUID + 1);
	(void)snprintf(dir, PATH_MAX, "%s", end + 1);
	/* The last one: a path may have others. */
	end = strrchr(dir, '\n');
	if (end != NULL)
		*end = '\0';
	return *dir == '/';
}

static void
number_export(const char *name, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRId64, value);
	(void)setenv(name, text, 1);
}

/* In the child: the GPUs of place i. */
static void
gpus_export(const struct node *n, int64_t i)
{
	char list[4096] = "";
	size_t used = 0;
	int64_t k;

	for (k = i * n->gpus; k < (i + 1) * n->gpus; k++)
		used += (size_t)snprintf(list + used, sizeof list - used,
		    "%s%.63s", used > 0 ? "," : "", n->gpu_names[k]);
	(void)setenv("CUDA_VISIBLE_DEVICES", list, 1);
	number_export("SLURM_GPUS_ON_NODE", n->gpus);
}

/* In the child: its part of the cores. */
static void
cpus_export(const struct node *n, int64_t i)
{
	int64_t share = CPU_COUNT(&n->cpus) / n->n_places, seen = 0;
	cpu_set_t mine;
	int cpu;

	if (!n->divide_cpus)
		return;
	CPU_ZERO(&mine);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &n->cpus) && seen++ / share == i)
			CPU_SET(cpu, &mine);
	(void)sched_setaffinity(0, sizeof mine, &mine);
	number_export("SLURM_CPUS_ON_NODE", share);
}

/*
 * Make the folder of an attempt the current one, if only this user can write it:
 * false, and it is said why.
 */
static bool
folder_enter(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool ours;

	if (fd == -1 || fstat(fd, &st) == -1 || fchdir(fd) == -1) {
		(void)dprintf(
		    2, "hpotune-node: %s: %s\n", dir, strerror(errno));
		return false;
	}
	ours = st.st_uid == geteuid() && (st.st_mode & 022) == 0;
	if (!ours)
		(void)dprintf(2,
		    "hpotune-node: %s: belongs to another user, or others can "
		    "write in it: nothing is started\n",
		    dir);
	return ours;
}

static void
output_open(void)
{
	int fd = file_open_for(
	    AT_FDCWD, "slurm.out", O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd == -1)
		return;
	(void)dup2(fd, 1);
	(void)dup2(fd, 2);
	if (fd > 2)
		(void)close(fd);
}

/* In a child: become the script of this name in the folder of an attempt. */
static _Noreturn void
script_become(const struct node *n, const char *dir, const char *name)
{
	char *argv[8], script[NODE_ENTRY];
	sigset_t none;
	int k;

	if (!folder_enter(dir))
		_exit(127);
	(void)snprintf(script, sizeof script, "./%s", name);
	for (k = 0; k < 6 && n->interpreter[k] != NULL; k++)
		argv[k] = n->interpreter[k];
	argv[k++] = script;
	argv[k] = NULL;
	output_open();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execv(argv[0], argv);
	(void)dprintf(2, "hpotune-node: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The script of an attempt becomes its supervisor, which may ask for another. */
static _Noreturn void
child_become(const struct node *n, int64_t i, const char *dir, int ask_fd)
{
	if (ask_fd != -1)
		(void)dup2(ask_fd, SHIM_NODE_FD);
	if (n->gpus > 0)
		gpus_export(n, i);
	cpus_export(n, i);
	number_export("HPOTUNE_PLACE", i);
	script_become(n, dir, "job.sh");
}

/*
 * Start a serving process for the place of each attempt: it ends if another one
 * serves the place, and is there when that one leaves.  Its session is its own:
 * it outlives the attempt.
 */
static void
serve_start(struct node *n, const char *dir)
{
	pid_t pid;

	if (n->pack == 0)
		return;
	pid = fork();
	if (pid == 0) {
		(void)setsid();
		script_become(n, dir, NODE_SERVE_FILE);
	}
	if (pid == -1) {
		(void)dprintf(2, "hpotune-node: fork: %s\n", strerror(errno));
		return;
	}
	XGROW(n->serves, n->n_serves, n->cap_serves);
	n->serves[n->n_serves++] = pid;
}

/* A socket on which the script of place i may ask: its end, or -1. */
static int
node_main_ask_open(struct node *n, int64_t i)
{
	int s[2];

	if (n->warm == 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) == -1)
		return -1;
	n->places[i].ask_fd = s[0];
	return s[1];
}

static void
node_main_fd_close(int *fd)
{
	if (*fd != -1)
		(void)close(*fd);
	*fd = -1;
}

/* Move an entry from next to taken, and run it in place i. */
static void
entry_take(struct node *n, int64_t i, const char *name)
{
	char from[NODE_ENTRY + 8], to[NODE_ENTRY + 8], dir[PATH_MAX];
	struct place *p = &n->places[i];
	int ask_fd;

	if (!entry_read(n->next_fd, name, p->uuid, dir))
		return;
	(void)snprintf(from, sizeof from, NODE_NEXT "/%s", name);
	(void)snprintf(to, sizeof to, NODE_TAKEN "/%s", name);
	/*
	 * The server takes an entry back by unlinking it: either it or we have
	 * it.
	 */
	if (renameat(n->dir_fd, from, n->dir_fd, to) == -1)
		return;
	(void)snprintf(p->name, sizeof p->name, "%s", name);
	p->started_ms = n->busy_ms = n->now_ms;
	serve_start(n, dir);
	ask_fd = node_main_ask_open(n, i);
	p->pid = fork();
	if (p->pid == 0)
		child_become(n, i, dir, ask_fd);
	node_main_fd_close(&ask_fd);
	if (p->pid == -1) {
		p->pid = 0;
		node_main_fd_close(&p->ask_fd);
		(void)dprintf(2, "hpotune-node: fork: %s\n", strerror(errno));
		(void)unlinkat(n->dir_fd, to, 0);
	}
}

/* Whether a comes before b: by trial, then by attempt. */
static bool
entry_before(const char *a, const char *b)
{
	char *rest_a, *rest_b;
	long long ta = strtoll(a, &rest_a, 10), tb = strtoll(b, &rest_b, 10);

	if (ta != tb)
		return ta < tb;
	return strcmp(rest_a, rest_b) < 0;
}

/* The first entry of next; false: there is none. */
static bool
entry_first(struct node *n, char name[NODE_ENTRY])
{
	const struct dirent *d;
	DIR *list;
	int fd;

	*name = '\0';
	/* Opened anew, so that another machine's entries are seen. */
	fd = openat(n->dir_fd, NODE_NEXT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd != -1 ? fdopendir(fd) : NULL;
	if (list == NULL) {
		if (fd != -1)
			(void)close(fd);
		return false;
	}
	while ((d = readdir(list)) != NULL)
		if (d->d_name[0] >= '0' && d->d_name[0] <= '9' &&
		    strlen(d->d_name) < NODE_ENTRY &&
		    (*name == '\0' || entry_before(d->d_name, name)))
			(void)snprintf(name, NODE_ENTRY, "%s", d->d_name);
	(void)closedir(list);
	return *name != '\0';
}

/* Whether a trial as long as the longest so far would still end in time. */
static bool
time_left(const struct node *n)
{
	int64_t left_ms =
	    (n->deadline_s - clock_wall_us() / 1000000) * INT64_C(1000);

	return n->deadline_s == 0 || n->longest_ms < 0 ||
	       left_ms > n->longest_ms;
}

static void
entries_take(struct node *n)
{
	char name[NODE_ENTRY], before[NODE_ENTRY] = "";
	int64_t i;

	for (i = 0; i < n->n_places; i++) {
		if (n->places[i].pid != 0)
			continue;
		if (!entry_first(n, name) || strcmp(name, before) == 0)
			return;
		n->next_fd = openat(
		    n->dir_fd, NODE_NEXT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		entry_take(n, i, name);
		(void)close(n->next_fd);
		/*
		 * An entry that cannot be taken now is tried at the next look.
		 */
		(void)memcpy(before, name, sizeof before);
	}
}

/* What a supervisor that was killed has left of its trial. */
static void
node_main_place_free(struct node *n, struct place *p, int status)
{
	char path[NODE_ENTRY + 8];

	if (!WIFEXITED(status))
		(void)proc_environ_kill("HPOTUNE_ATTEMPT_UUID", p->uuid);
	if (n->now_ms - p->started_ms > n->longest_ms)
		n->longest_ms = n->now_ms - p->started_ms;
	(void)snprintf(path, sizeof path, NODE_TAKEN "/%s", p->name);
	(void)unlinkat(n->dir_fd, path, 0);
	p->pid = 0;
	node_main_fd_close(&p->ask_fd);
	node_main_fd_close(&p->word_fd);
	warm_process_learn(&n->warm_process.process);
	n->busy_ms = n->now_ms;
}

static void
child_reaped(struct node *n, pid_t pid, int status)
{
	int64_t i;
	size_t k;

	if (pid == n->warm_process.process.pid)
		n->warm_process.process.reaped = true;
	for (i = 0; i < n->n_places; i++)
		if (n->places[i].pid == pid)
			node_main_place_free(n, &n->places[i], status);
	for (k = 0; k < n->n_serves; k++)
		if (n->serves[k] == pid)
			n->serves[k--] = n->serves[--n->n_serves];
}

static void
node_main_children_reap(struct node *n)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		shim_preempt_reaped(&n->preempt, pid);
		child_reaped(n, pid, status);
	}
}

/* What the program wrote that belongs to no trial: into the job's output. */
static void
pack_log_copy(const struct node *n)
{
	char path[PATH_MAX], text[4096];
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof path, "%s/log", n->pack_place);
	fd = file_open(AT_FDCWD, path);
	while (fd != -1 && (got = read(fd, text, sizeof text)) > 0)
		if (write(1, text, (size_t)got) != got)
			break;
	if (fd != -1)
		(void)close(fd);
}

/* No trial is left: its program ends, in its own grace, and its folder goes. */
static void
pack_close(struct node *n)
{
	static const char *const files[] = { "sock", "lock", "log", "log.old" };
	char path[PATH_MAX];
	int status;
	size_t i;
	pid_t pid;

	if (n->pack == 0)
		return;
	for (i = 0; i < n->n_serves; i++)
		(void)kill(n->serves[i], SIGTERM);
	while (n->n_serves > 0 && (pid = waitpid(-1, &status, 0)) > 0)
		child_reaped(n, pid, status);
	pack_log_copy(n);
	for (i = 0; i < sizeof files / sizeof files[0]; i++) {
		(void)snprintf(
		    path, sizeof path, "%s/%s", n->pack_place, files[i]);
		(void)unlink(path);
	}
	(void)rmdir(n->pack_place);
	free(n->pack_place);
	free(n->serves);
}

/* All trials are told to end; the reason counts, not that of closing before. */
static void
all_end(struct node *n, const char *why)
{
	if (n->closing == NULL || strcmp(n->closing, NODE_CLOSING_DONE) == 0) {
		n->closing = NULL;
		close_down(n, why);
	}
	shim_preempt_end(&n->preempt);
	signal_all(n, SIGTERM);
}

/* SIGTERM: the limit of the job is near, or the job is cancelled. */
static void
signals_hear(struct node *n)
{
	struct signalfd_siginfo info;
	int64_t now_s = clock_wall_us() / 1000000;

	while (read(n->signal_fd, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		all_end(n, n->deadline_s > 0 && now_s >= n->deadline_s - EARLY_S
			       ? NODE_CLOSING_WALL
			       : NODE_CLOSING_TERM);
	}
}

static void
server_hear(struct node *n)
{
	enum shim_wish wish;

	n->shim.now_ms = n->now_ms;
	wish = shim_shared_look(&n->shim);
	if (wish == SHIM_WISH_PREEMPT) {
		if (!n->told_preempted)
			all_end(n, NODE_CLOSING_PREEMPTED);
		n->told_preempted = true;
	} else if (wish != SHIM_WISH_NONE)
		close_down(n, NODE_CLOSING_DONE);
	if (wish == SHIM_WISH_KILL)
		signal_all(n, SIGUSR1);
}

/* The script of place i asks: another supervisor may get its attempt. */
static void
place_asked(struct node *n, int64_t i)
{
	struct place *p = &n->places[i];
	pid_t pid = 0;

	/* What was told to end is not to be followed by another one. */
	if (n->closing == NULL)
		pid =
		    node_warm_answer(&n->warm_process, p->ask_fd, &p->word_fd);
	node_main_fd_close(&p->ask_fd);
	if (pid == 0)
		return;
	p->pid = pid;
}

/* The supervisor of a place says how its trial has started. */
static void
place_heard(struct node *n, struct place *p)
{
	char text[SHIM_WARM_ANSWER] = "";
	ssize_t got = recv(p->word_fd, text, sizeof text - 1, MSG_DONTWAIT);

	if (got > 0)
		warm_process_heard(&n->warm_process.process, text);
	node_main_fd_close(&p->word_fd);
}

/* Wait for a signal, a word or the next look. */
static void
node_wait(struct node *n)
{
	struct pollfd *p = n->polled;
	int64_t i;

	p[0] = (struct pollfd){ .fd = n->signal_fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (n->warm_process.known)
		p[1].fd = n->warm_process.process.fd;
	for (i = 0; i < n->n_places; i++) {
		p[FDS_FIRST + 2 * i] =
		    (struct pollfd){ .fd = n->places[i].ask_fd,
			    .events = POLLIN };
		p[FDS_FIRST + 2 * i + 1] =
		    (struct pollfd){ .fd = n->places[i].word_fd,
			    .events = POLLIN };
	}
	if (poll(p, FDS_FIRST + 2 * (nfds_t)n->n_places, LOOK_MS) <= 0)
		return;
	for (i = 0; i < n->n_places; i++)
		if (p[FDS_FIRST + 2 * i + 1].revents != 0)
			place_heard(n, &n->places[i]);
	if (p[1].revents != 0)
		warm_process_hear(&n->warm_process.process);
	for (i = 0; i < n->n_places; i++)
		if (p[FDS_FIRST + 2 * i].revents != 0)
			place_asked(n, i);
	node_warm_notes_write(&n->warm_process);
}

static void
node_run(struct node *n)
{
	for (;;) {
		n->now_ms = clock_boot_ms();
		signals_hear(n);
		node_main_children_reap(n);
		server_hear(n);
		shim_preempt_run(&n->preempt, n->now_ms);
		if (shim_preempt_heard(&n->preempt, n->now_ms))
			all_end(n, NODE_CLOSING_PREEMPTED);
		if (n->closing == NULL && !time_left(n))
			close_down(n, NODE_CLOSING_DONE);
		if (n->closing == NULL)
			entries_take(n);
		if (running(n) > 0)
			n->busy_ms = n->now_ms;
		else if (n->closing != NULL)
			return;
		else if (n->now_ms >= n->busy_ms + n->idle_ms)
			close_down(n, NODE_CLOSING_DONE);
		node_wait(n);
	}
}

int
main(int argc, char **argv)
{
	struct node n = { .longest_ms = -1,
		.idle_ms = 120000,
		.next_fd = -1,
		.preempt = { .at_ms = -1, .fd = -1 } };
	int r;

	if (argc < 2 || !node_args(&n, argv + 1)) {
		(void)dprintf(2,
		    "hpotune-node: is started by a job of hpotune, for the "
		    "trials of that job\n");
		return EINVAL;
	}
	if (!node_main_gpus_read(&n))
		return ENODEV;
	cpus_read(&n);
	if (!node_open(&n)) {
		(void)dprintf(
		    2, "hpotune-node: %s: %s\n", n.dir, strerror(errno));
		return errno != 0 ? errno : EIO;
	}
	r = shim_shared_claim(&n.shim);
	if (r != 0)
		return r;
	if (!up_say(&n)) {
		(void)dprintf(
		    2, "hpotune-node: %s: %s\n", n.dir, strerror(errno));
		return errno;
	}
	n.busy_ms = clock_boot_ms();
	shim_preempt_begin(&n.preempt, n.busy_ms);
	node_run(&n);
	shim_preempt_end(&n.preempt);
	pack_close(&n);
	node_warm_close(&n.warm_process);
	(void)proc_kill_descendants(getpid());
	free(n.places);
	free(n.polled);
	free(n.gpu_names);
	free(n.gpu_list);
	return 0;
}
