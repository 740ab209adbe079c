/*
 * What is prepared before a trial starts: supervisors that wait for one, and
 * folders.  A trial must not notice, and nothing may be left of it.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-record.h"
#include "trials/process/proc.h"

/* Whether a supervisor waits, and folders are complete. */
static bool
prepared(struct local_backend *rig, int64_t arg)
{
	const struct local *l = rig->ctx;
	struct pollfd maker = { .fd = l->ahead.maker_end, .events = POLLIN };

	(void)arg;
	return l->supervisors.n > 0 && l->ahead.n + l->ahead.making > 0 &&
	       (l->ahead.maker == 0 || poll(&maker, 1, 0) == 1);
}

/* Whether a maker has made so many folders. */
static bool
made(struct local_backend *rig, int64_t folders)
{
	const struct local *l = rig->ctx;
	struct pollfd maker = { .fd = l->ahead.maker_end, .events = POLLIN };

	return l->ahead.making == folders && poll(&maker, 1, 0) == 1;
}

/* Trial 1 runs, and all is prepared for the next ones. */
static void
prepare(struct local_backend *rig)
{
	rig->parallel = 2;
	local_rig_restart(rig);
	local_rig_sh(rig, 1, "while :; do echo; sleep 0.02; done");
	if (!local_rig_until(rig, prepared, 0))
		abort();
}

static void
finish(struct local_backend *rig)
{
	backend_local.stop(rig->ctx, 1, 1, true);
	local_rig_until(rig, local_rig_over, 1);
	local_rig_close(rig);
}

/* A file of /proc, its NULs as line ends; the caller frees it. */
static char *
proc_text(pid_t pid, const char *name)
{
	static char text[1 << 16];
	char path[64];
	ssize_t i, n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	for (i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	text[n > 0 ? n : 0] = '\0';
	return xstrdup(text);
}

static void
is_in(const char *text, const char *word, const char *what)
{
	bool is = strstr(text, word) != NULL;

	ok(is, "%s", what);
	if (!is)
		printf("# not there: %s\n", word);
}

static void
test_given(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[2];
	struct local *l;
	char *env[] = { "EMPTY=", "LINES=a\nb", NULL }, *text, word[256];
	char *argv[] = { "sh", "-c",
		"echo \"$#$1|$EMPTY|$LINES\" >said; "
		"ls -l /proc/$$/fd | grep -c socket >fds\n"
		"cat $HPOTUNE_PARAMS >>said; env >env\n"
		"echo hpotune: a=1; while ! test -f go; do sleep 0.01; done\n"
		"exit 5",
		"sh", "", "x y", NULL };
	struct launch_spec spec;
	struct err e = ERR_INIT;
	struct stat st;
	pid_t pid;

	local_rig_open(&rig, NULL);
	prepare(&rig);
	l = rig.ctx;
	pid = l->supervisors.waiting[l->supervisors.n - 1].pid;
	rig.env = env;
	spec = local_rig_spec(&rig, 2, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), 0, "a second trial");
	ok(local_rig_until(&rig, local_rig_reported, 2), "it runs");
	is_int(local_attempt_find(l, 2, 1)->child, pid,
	    "its supervisor had waited");
	text = proc_text(pid, "cmdline");
	(void)snprintf(word, sizeof word, "hpotune-shim\ndir=%s\n",
	    local_rig_path(&rig, 2, ""));
	word[strlen(word) - 2] = '\n'; /* the folder has no "/" at its end */
	word[strlen(word) - 1] = '\0';
	is_in(text, word, "its first argument is the folder");
	free(text);
	text = proc_text(pid, "environ");
	(void)snprintf(word, sizeof word, "\nHPOTUNE_ATTEMPT_UUID=%s\n",
	    local_rig_uuid(2, 1));
	is_in(text, word, "it is found by the attempt");
	(void)snprintf(word, sizeof word, "\nHPOTUNE_PARAMS=%s\n",
	    local_rig_path(&rig, 2, "params.json"));
	is_in(text, word, "and in this folder");
	free(text);
	(void)snprintf(word, sizeof word, "%s/said", rig.dir);
	text = local_rig_text(word);
	is_str(text, "2||a\nb\n{\"lr\":0.5}",
	    "arguments, variables and parameters are as they were given");
	free(text);
	(void)snprintf(word, sizeof word, "%s/fds", rig.dir);
	text = local_rig_text(word);
	is_str(text, "0\n", "the trial has no socket");
	free(text);
	is_int(stat(local_rig_path(&rig, 2, "gpus"), &st), -1,
	    "no file for GPUs that it does not have");
	(void)snprintf(word, sizeof word, "%s/go", rig.dir);
	close(open(word, O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 2), "its end is heard");
	is_int(t->exit.exit_code, 5, "as it was");
	is_int(t->losts, 0, "and once");
	rig.env = NULL;
	finish(&rig);
}

/*
 * Two folders are there for each slot; more are made before the last is taken.
 */
static void
test_stock(void)
{
	struct local_backend rig;
	struct local *l;
	int64_t trial;

	local_rig_open(&rig, NULL);
	prepare(&rig);
	l = rig.ctx;
	for (trial = 2; trial <= 3; trial++) {
		local_rig_sh(&rig, trial, "exit 0");
		ok(local_rig_until(&rig, local_rig_over, trial), "a trial");
	}
	is_int(l->ahead.n, 2, "two of four folders were taken");
	ok(local_rig_until(&rig, made, 2), "two others are made");
	is_int(l->ahead.n, 2, "beside those that are there");
	local_rig_sh(&rig, 4, "exit 0");
	ok(local_rig_until(&rig, local_rig_over, 4), "the next one");
	is_int(l->ahead.n, 3, "takes the oldest");
	finish(&rig);
}

/* What does not fit into a message is started in the usual way. */
static void
test_too_long(void)
{
	struct local_backend rig;
	char *big, *env[] = { NULL, NULL };
	struct local *l;
	int n;

	local_rig_open(&rig, NULL);
	prepare(&rig);
	l = rig.ctx;
	n = l->supervisors.n;
	big = xasprintf("BIG=%0100000d", 7);
	env[0] = big;
	rig.env = env;
	local_rig_sh(&rig, 2, "test ${#BIG} = 100000");
	ok(local_rig_until(&rig, local_rig_over, 2) &&
		rig.trial[2].exit.exit_code == 0,
	    "an environment of 100,000 bytes");
	is_int(l->supervisors.n, n, "needs no supervisor that waits");
	rig.env = NULL;
	free(big);
	finish(&rig);
}

static void
test_killed(void)
{
	struct local_backend rig;
	struct local *l;
	siginfo_t si;
	int i;

	local_rig_open(&rig, NULL);
	prepare(&rig);
	l = rig.ctx;
	for (i = 0; i < l->supervisors.n; i++) {
		kill(l->supervisors.waiting[i].pid, SIGKILL);
		(void)waitid(P_PID, (id_t)l->supervisors.waiting[i].pid, &si,
		    WEXITED | WNOWAIT);
	}
	local_rig_sh(&rig, 2, "exit 6");
	ok(local_rig_until(&rig, local_rig_over, 2) &&
		rig.trial[2].exit.exit_code == 6,
	    "those that wait were killed: a trial starts without them");
	finish(&rig);
}

/* The server ends: so do they, and what gets no message starts nothing. */
static void
test_left(void)
{
	struct local_backend rig;
	struct err e = ERR_INIT;
	struct proc_ref one;
	struct pollfd end = { .events = POLLIN };
	struct local *l;

	local_rig_open(&rig, NULL);
	prepare(&rig);
	l = rig.ctx;
	proc_open_child(&one, l->supervisors.waiting[0].pid);
	/* As the kernel does for a server that is killed. */
	close(l->supervisors.waiting[0].fd);
	end.fd = one.fd;
	is_int(poll(&end, 1, 30000), 1, "one whose server has died ends");
	l->supervisors.waiting[0].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	proc_close(&one);
	proc_open_child(&one, l->supervisors.waiting[l->supervisors.n - 1].pid);
	backend_local.close(rig.ctx);
	end.fd = one.fd;
	is_int(poll(&end, 1, 0), 1, "when the server closes, none waits");
	proc_close(&one);
	if (local_rig_backend_open(&rig, &e) == -1)
		abort();
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "trials go on");
	finish(&rig);
}

/*
 * The machine goes down after the claim is on the disk, and before the new name
 * of the folder is.
 */
static void
test_old_name(void)
{
	struct local_backend rig;
	struct err e = ERR_INIT;
	char from[256], to[256];

	local_rig_open(&rig, NULL);
	prepare(&rig);
	local_rig_sh(&rig, 2, "echo hpotune: a=1; exit 7");
	ok(local_rig_until(&rig, local_rig_over, 2), "a trial ended");
	backend_local.stop(rig.ctx, 1, 1, true);
	local_rig_until(&rig, local_rig_over, 1);
	backend_local.close(rig.ctx);
	(void)snprintf(from, sizeof from, "%s/trials/2", rig.state_dir);
	(void)snprintf(to, sizeof to, "%s/ahead", rig.state_dir);
	(void)mkdir(to, 0700);
	(void)snprintf(to, sizeof to, "%s/ahead/x/attempt-1", rig.state_dir);
	*strrchr(to, '/') = '\0';
	if (rename(from, to) == -1)
		abort();
	(void)snprintf(to, sizeof to, "%s/ahead/y", rig.state_dir);
	(void)mkdir(to, 0700);
	if (local_rig_backend_open(&rig, &e) == -1)
		abort();
	is_int(local_rig_look(&rig, 2, &e), ADOPT_ENDED,
	    "its folder, under its old name, is found by its claim");
	is_int(access(local_rig_path(&rig, 2, "log"), F_OK), 0,
	    "and has its name again");
	is_int(access(to, F_OK), -1, "one without a claim is removed");
	local_rig_close(&rig);
}

/* The end of a trial is known before its output is on the disk. */
static void
test_early_end(void)
{
	struct local_backend rig;
	char *was = xstrdup(getenv("HPOTUNE_SHIM"));
	char *fails = xasprintf("%.*s/tests/torture/hpotune-shim-fail",
	    (int)(strrchr(was, '/') - was), was);
	struct claim c;
	struct attempt_exit x;
	enum record_check a, b;
	int fd;

	if (access(fails, X_OK) == -1) {
		skip("an early end", "no programs that fail");
		free(was);
		free(fails);
		return;
	}
	setenv("HPOTUNE_SHIM", fails, 1);
	setenv("HPOTUNE_FAIL", "shim.before_exit_record=delay(900000)", 1);
	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 2, "echo hpotune: a=3; exit 4");
	ok(local_rig_until(&rig, local_rig_over, 2) &&
		rig.trial[2].exit.exit_code == 4,
	    "a trial has ended although its supervisor has not");
	is_int(rig.trial[2].reports, 1, "with its report");
	fd = open(local_rig_path(&rig, 2, "state"), O_RDONLY);
	ok(attempt_record_read(fd, local_rig_uuid(2, 1), &c, &a, &x, &b) == 0 &&
		b == RECORD_GOOD && x.unsynced,
	    "the record says that the disk may not have its output");
	is_int(attempt_record_locked(fd), 1, "the supervisor is there");
	(void)kill((pid_t)c.shim_pid, SIGKILL);
	(void)close(fd);
	unsetenv("HPOTUNE_FAIL");
	setenv("HPOTUNE_SHIM", was, 1);
	free(was);
	free(fails);
	local_rig_close(&rig);
}

int
main(void)
{
	test_given();
	test_stock();
	test_too_long();
	test_killed();
	test_left();
	test_old_name();
	test_early_end();
	return done_testing();
}
