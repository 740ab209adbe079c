/*
 * Kills at every system call: one small study is run repeatedly, and the
 * server, or one supervisor, is killed before call 1, 2, 3 … of those that
 * change anything, or before every fourth of them without TEST_LONG, where the
 * first is drawn.  Then the study is finished and judged.
 *
 *	syscalls [--all] [--from N] [--step N] [--jobs N] [--keep] [PASS…]
 *
 * PASS is server, exit (the supervisor of a trial that ends by itself), stop (of
 * one that a rule stops), maker (what makes folders ahead), made (a supervisor
 * that was started ahead, waits, and gets a trial in a folder made ahead) or giver
 * (the server that gives it the trial).  As argv[0] = hpotune-shim, or with
 * ahead=, this program holds a supervisor until it is traced.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/ledger.h"
#include "tests/torture/harness.h"
#include "tests/support/tap.h"
#include "tests/torture/trace.h"

enum {
	TRIALS = 2,
	JOBS_MAX = 16,
	CALLS_MAX = 1024, /* of a server until its first trial */
	MARGIN = 8, /* calls by which two runs may differ */
	BEYOND = 2, /* runs in a row that end before the chosen call */
	PATIENCE_MS = 300000,
/* A sanitized server takes its time; the plain one is the proof. */
#ifdef __SANITIZE_ADDRESS__
	STEP = 7,
	STEP_LONG = 7
#else
	STEP = 4,
	STEP_LONG = 1
#endif
};

struct options {
	bool all, keep;
	long from, step;
	long skipped; /* calls before the first death, less than step */
	int jobs;
};

struct pass {
	const char *name;
	int trial; /* whose supervisor; 0 = none */
	/* what is traced: in the arguments of a supervisor; NULL = the server */
	const char *what;
	bool ahead; /* trials one after the other, in folders made ahead */
	/* a path in the folder: calls before it is there belong to another pass */
	const char *begins;
};

/* A server does the same in both studies until it makes the first trial. */
static const struct pass passes[] = {
	{ "server", 0, NULL, false, NULL },
	{ "exit", 1, "rig.d/trials/1/attempt-1", false, NULL },
	{ "stop", 2, "rig.d/trials/2/attempt-1", false, NULL },
	{ "maker", 0, "rig.d/ahead", true, NULL },
	{ "made", 2, "wait=", true, NULL },
	{ "giver", 0, NULL, true, "rig.d/trials" },
};

/* What the jobs have found, in memory they share. */
struct found {
	long kills, calls, faults;
};

/* The server would go on, and end this process with the study. */
static void
gate_stop_server(void)
{
	const char *tracer = getenv("GATE_TRACER");
	pid_t parent = getppid();

	/* The tracer adopts it when the server has ended. */
	if (tracer != NULL && strtol(tracer, NULL, 10) != parent)
		(void)kill(parent, SIGSTOP);
}

/*
 * The first one waits until it is traced, while the server is stopped, and executes
 * the supervisor.
 */
static int
gate(char **argv)
{
	const char *trial = getenv("GATE_TRIAL"), *file = getenv("GATE_FILE");
	const char *shim = getenv("GATE_SHIM");
	char text[4096];
	ssize_t n;
	int fd;

	if (trial == NULL || file == NULL || shim == NULL)
		return 125;
	if (argv[1] != NULL && strstr(argv[1], trial) != NULL) {
		fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd == -1)
			(void)execv(shim, argv);
		gate_stop_server();
		(void)dprintf(fd, "%ld\n", (long)getpid());
		(void)close(fd);
		do {
			(void)poll(NULL, 0, 1);
			fd = open("/proc/self/status", O_RDONLY);
			n = read(fd, text, sizeof text - 1);
			(void)close(fd);
			text[n > 0 ? n : 0] = '\0';
		} while (strstr(text, "TracerPid:\t0\n") != NULL);
	}
	(void)execv(shim, argv);
	return 125;
}

static void
study_open(struct harness *r, const struct pass *p, uint64_t seed)
{
	char members[1600], command[700];

	/* In 80 ms the folder of the next trial is made. */
	harness_command(command, sizeof command,
	    p->ahead ? "\"{kind}\", \"2\", \"40\""
		     : "\"{kind}\", \"2\", \"1\"");
	(void)snprintf(members, sizeof members,
	    "\"objective\": {\"metric\": \"score\", \"goal\": \"maximize\"},\n"
	    "\"parameters\": {\"kind\": {\"type\": \"choice\", "
	    "\"values\": [\"plain\", \"bad\"]}},\n"
	    "\"strategy\": {\"name\": \"random\", \"seed\": 1},\n"
	    "\"stopping\": {\"rule\": \"threshold\", \"lower\": 0},\n"
	    "\"trial\": {\"command\": %s, \"grace\": 0.2, \"retries\": 5},\n"
	    "\"backend\": {\"name\": \"local\"},\n"
	    "\"enqueue\": [{\"kind\": \"plain\"}, {\"kind\": \"bad\"}],\n"
	    "\"limits\": {\"trials\": %d, \"parallel\": %d}\n",
	    command, TRIALS, p->ahead ? 1 : 2);
	harness_open(r, seed, members);
}

/* The pid the gate wrote, or 0 when the server ended without one. */
static pid_t
gate_wait(const char *file, pid_t server, int *status)
{
	char text[32];
	ssize_t n = 0;
	int fd;

	while (!harness_wait(server, 500, status)) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd == -1)
			continue;
		n = read(fd, text, sizeof text - 1);
		(void)close(fd);
		if (n > 0 && text[n - 1] == '\n') {
			text[n] = '\0';
			return (pid_t)strtol(text, NULL, 10);
		}
	}
	return 0;
}

static void
shim_note(const struct harness *r, pid_t pid, int trial)
{
	FILE *f = fopen(r->fail_log, "a");

	if (f == NULL ||
	    fprintf(f, "trace %ld dir=%s/%d/attempt-1\n", (long)pid, r->trials,
		trial) < 0 ||
	    fclose(f) != 0)
		printf("# cannot write %s\n", r->fail_log);
}

/* Run with the death chosen in t; leaves the server's exit status. */
static enum trace_end
run_traced(
    struct harness *r, const struct pass *p, struct trace *t, int *status)
{
	char file[128], self[512], tracer[24];
	enum trace_end end;
	pid_t server, shim;
	ssize_t n;

	if (p->what == NULL) {
		end = trace_child(t, harness_serve(r, NULL, NULL, true));
		*status = t->status;
		return end;
	}
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	(void)snprintf(file, sizeof file, "%s/gate", r->dir);
	(void)setenv("GATE_FILE", file, 1);
	(void)setenv("GATE_TRIAL", p->what, 1);
	(void)snprintf(tracer, sizeof tracer, "%ld", (long)getpid());
	(void)setenv("GATE_TRACER", tracer, 1);
	server = harness_serve(r, NULL, self, false);
	shim = gate_wait(file, server, status);
	if (shim == 0)
		return TRACE_ENDED;
	end = trace_stranger(t, shim, server);
	if (end == TRACE_KILLED && p->trial > 0)
		shim_note(r, shim, p->trial);
	if (!harness_wait(server, (int64_t)PATIENCE_MS * 1000, status)) {
		printf("# the server hangs\n");
		(void)kill(server, SIGKILL);
		(void)harness_wait(server, -1, status);
	}
	return end;
}

static void
complain(const struct harness *r, const struct pass *p, const struct trace *t)
{
	char command[200];

	printf("# %s killed before call %ld, %s: not survived\n", p->name,
	    t->calls, trace_call_name(t->last));
	(void)fflush(stdout);
	(void)snprintf(command, sizeof command,
	    "tail -n 12 '%s' | sed 's/^/# /'", r->server_log);
	(void)!system(command);
}

/* One death and what became of it; false: the call was never reached. */
static bool
death(
    const struct pass *p, const struct options *o, long at, struct found *found)
{
	struct trace t = { .all = o->all, .kill_at = at };
	struct verdict v;
	struct harness r;
	enum trace_end end;
	int status = 0;

	study_open(&r, p, (uint64_t)at);
	end = run_traced(&r, p, &t, &status);
	if (end == TRACE_KILLED && p->what == NULL) {
		pid_t server = harness_serve(&r, NULL, NULL, false);

		if (!harness_wait(
			server, (int64_t)PATIENCE_MS * 1000, &status)) {
			printf("# the second server hangs\n");
			(void)kill(server, SIGKILL);
			(void)harness_wait(server, -1, &status);
		}
	}
	(void)harness_wait_quiet(&r, PATIENCE_MS);
	ledger_judge(&v, &r, TRIALS, -1);
	if (ledger_faults(&v) > 0 || status != 0) {
		complain(&r, p, &t);
		found->faults++;
	}
	found->kills += end == TRACE_KILLED;
	if (t.calls > found->calls)
		found->calls = t.calls;
	harness_close(&r, o->keep && (ledger_faults(&v) > 0 || status != 0));
	(void)fflush(stdout);
	return end == TRACE_KILLED;
}

/* Whether what the pass begins with is there before call at. */
static bool
has_begun(const struct pass *p, const struct options *o, long at)
{
	struct trace t = { .all = o->all, .kill_at = at };
	struct harness r;
	char path[256];
	int status = 0;
	bool begun;

	study_open(&r, p, (uint64_t)at);
	(void)run_traced(&r, p, &t, &status);
	(void)snprintf(path, sizeof path, "%s/%s", r.dir, p->begins);
	begun = access(path, F_OK) == 0;
	(void)harness_wait_quiet(&r, 5000);
	harness_close(&r, false);
	return begun;
}

/* The call with which the deaths of the pass begin. */
static long
pass_first(const struct pass *p, const struct options *o)
{
	long before = 1, after = o->all ? 64 * CALLS_MAX : CALLS_MAX, middle;

	if (p->begins == NULL)
		return o->from + o->skipped;
	while (after - before > 1) {
		middle = before + (after - before) / 2;
		if (has_begun(p, o, middle))
			after = middle;
		else
			before = middle;
	}
	before = before > MARGIN ? before - MARGIN : 1;
	return (o->from > before ? o->from : before) + o->skipped;
}

static void __attribute__((noreturn)) job(const struct pass *p,
    const struct options *o, long first, int nr, struct found *found)
{
	long at = first + nr * o->step;
	int beyond = 0;

	for (; beyond < BEYOND; at += o->jobs * o->step)
		beyond = death(p, o, at, found) ? 0 : beyond + 1;
	exit(0);
}

static void
pass_run(const struct pass *p, const struct options *o)
{
	struct found *found, sum = { 0 };
	int64_t ms = -harness_now_ms();
	long first = pass_first(p, o);
	int i, status, bad = 0;

	found = mmap(NULL, sizeof *found * JOBS_MAX, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (found == MAP_FAILED)
		return;
	(void)fflush(stdout);
	for (i = 0; i < o->jobs; i++)
		if (fork() == 0)
			job(p, o, first, i, &found[i]);
	while (wait(&status) != -1 || errno == EINTR)
		bad += status != 0;
	for (i = 0; i < o->jobs; i++) {
		sum.kills += found[i].kills;
		sum.faults += found[i].faults;
		if (found[i].calls > sum.calls)
			sum.calls = found[i].calls;
	}
	(void)munmap(found, sizeof *found * JOBS_MAX);
	ms += harness_now_ms();
	printf("# %s: %ld calls, the first %ld, %ld deaths, %ld not survived, "
	       "%.1f s\n",
	    p->name, sum.calls, first, sum.kills, sum.faults,
	    (double)ms / 1000);
	ok(bad == 0 && sum.faults == 0 && sum.kills > 0,
	    "%s: killed before calls of its own, every one of %ld: nothing is "
	    "lost",
	    p->name, o->step);
}

static bool
wanted(const struct pass *p, char **names)
{
	if (*names == NULL)
		return true;
	for (; *names != NULL; names++)
		if (strcmp(*names, p->name) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "from", required_argument, NULL, 'f' },
		{ "step", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "keep", no_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = {
		.from = 1, .step = often(STEP, STEP_LONG), .jobs = 2
	};
	bool from_given = false;
	char shim[600];
	size_t i;
	int c;

	if (strcmp(argv[0], "hpotune-shim") == 0 ||
	    (argc > 1 && strncmp(argv[1], "ahead=", 6) == 0))
		return gate(argv);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'a':
			o.all = true;
			break;
		case 'f':
			o.from = atol(optarg);
			from_given = true;
			break;
		case 's':
			o.step = atol(optarg);
			break;
		case 'j':
			o.jobs = atoi(optarg);
			break;
		case 'k':
			o.keep = true;
			break;
		case '?':
			return 2;
		}
	if (o.jobs < 1 || o.jobs > JOBS_MAX || o.step < 1 || o.from < 1)
		return 2;
	if (!from_given)
		o.skipped = (long)time(NULL) % o.step;
	(void)snprintf(shim, sizeof shim, "%s/tests/torture/hpotune-shim-fail",
	    harness_top());
	(void)setenv("GATE_SHIM", shim, 1);
	for (i = 0; i < sizeof passes / sizeof *passes; i++)
		if (wanted(&passes[i], argv + optind))
			pass_run(&passes[i], &o);
	return done_testing();
}
