/* The local backend, one attempt at a time: actions and events. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-internal.h"

static void
test_reports(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];

	local_rig_open(&rig, NULL);
	is_int(local_rig_sh(&rig, 1,
		   "echo hpotune: step=1 acc=0.5\n"
		   "echo '{\"step\": 2, \"acc\": 0.25}' >>$HPOTUNE_METRICS\n"
		   "printf 'hpotune: step=3 acc=0.125' >&2\n"
		   "cat $HPOTUNE_PARAMS >$HPOTUNE_OUTPUT_DIR/seen\n"
		   "test -d $HPOTUNE_CHECKPOINT_DIR; exit $?"),
	    0, "an attempt starts");
	ok(local_rig_until(&rig, local_rig_over, 1), "and ends");
	is_int(t->ups, 1, "it was up once");
	ok(t->pid > 0 && t->place[0] != '\0', "with a pid and a place");
	is_int(t->exits, 1, "it ended once");
	ok(t->exit.ran && t->exit.exit_code == 0 && t->exit.signal == 0,
	    "with exit 0");
	ok(t->exit.started_us > 0 && t->exit.ended_us >= t->exit.started_us,
	    "after its start");
	ok(t->exit.max_rss > 100000 && t->exit.max_rss < 1 << 30,
	    "its memory is known");
	is_int(t->reports, 3, "three reports, the last without a newline");
	is_near(t->sum, 0.875, 0, "with their values");
	is_int(t->cursor.log, 49, "all of the log is read");
	is_int(t->cursor.metrics, 25, "and of the metrics file");
	is_int(t->notes, 0, "nothing to note");
	local_rig_close(&rig);
}

static void
test_exits(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;
	char *missing[] = { "no-such-program-here", NULL };
	char *script[] = { "./plain", NULL };
	struct launch_spec spec;
	struct err e = ERR_INIT;
	char path[128];
	int fd;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "exit 7");
	local_rig_sh(&rig, 2, "kill -9 $$");
	local_rig_sh(&rig, 3, "kill -USR2 $$");
	spec = local_rig_spec(&rig, 4, missing);
	is_int(backend_local.start(rig.ctx, &spec, &e), 0,
	    "a missing program is found out later");
	(void)snprintf(path, sizeof path, "%s/plain", rig.dir);
	fd = open(path, O_WRONLY | O_CREAT, 0755);
	if (write(fd, "exit 0\n", 7) != 7)
		abort();
	close(fd);
	spec = local_rig_spec(&rig, 5, script);
	(void)backend_local.start(rig.ctx, &spec, &e);
	rig.settings.workdir = "/no/such/folder";
	local_rig_sh(&rig, 6, "exit 0");
	ok(local_rig_until(&rig, local_rig_over, 1) &&
		local_rig_until(&rig, local_rig_over, 2) &&
		local_rig_until(&rig, local_rig_over, 3) &&
		local_rig_until(&rig, local_rig_over, 4) &&
		local_rig_until(&rig, local_rig_over, 5) &&
		local_rig_until(&rig, local_rig_over, 6),
	    "six ends");
	is_int(t[1].exit.exit_code, 7, "an exit status is reported");
	ok(t[2].exit.signal == SIGKILL && t[2].exit.exit_code == -1,
	    "a signal is reported");
	ok(strstr(t[2].exit.why, "memory") != NULL && !t[2].exit.oom,
	    "SIGKILL from outside is suspicious, not more");
	is_int(t[3].exit.signal, SIGUSR2, "SIGUSR2 is a signal like others");
	ok(!t[4].exit.ran && t[4].ups == 0, "a missing program never ran");
	ok(t[4].exit.not_yet && t[6].exit.not_yet && !t[5].exit.not_yet,
	    "it may be there later, and so may a folder");
	is_str(t[4].exit.why,
	    "cannot run no-such-program-here: No such file or directory (not "
	    "found in PATH)",
	    "and gives the reason");
	is_str(t[5].exit.why,
	    "cannot run ./plain: Exec format error (the first line of a "
	    "script is like #!/bin/sh)",
	    "no shell reads what the kernel cannot execute");
	is_str(t[6].exit.why,
	    "cannot enter /no/such/folder: No such file or directory",
	    "a missing folder is reported");
	rig.settings.workdir = rig.dir;
	spec = local_rig_spec(&rig, 7, missing);
	(void)backend_local.start(rig.ctx, &spec, &e);
	backend_local.stop(rig.ctx, 7, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 7),
	    "who waits for a program is stopped");
	ok(t[7].exits == 1 && t[7].exit.stopped, "and recorded as that");
	local_rig_close(&rig);
}

static void
test_stop(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "trap 'echo hpotune: step=9 a=9; exit 5' TERM\n"
	    "echo hpotune: step=1 a=1; while :; do sleep 0.01; done");
	ok(local_rig_until(&rig, local_rig_reported, 1), "a trial runs");
	backend_local.stop(rig.ctx, 1, 1, false);
	backend_local.stop(rig.ctx, 1, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 1), "stopped, it ends");
	is_int(t[1].exit.exit_code, 5, "in its own way");
	is_str(t[1].last, "a 9 9", "with a last word");

	rig.settings.grace_ms = 100;
	local_rig_sh(&rig, 2,
	    "trap '' TERM; echo hpotune: a=1; while :; do sleep 0.01; done");
	ok(local_rig_until(&rig, local_rig_reported, 2), "one ignores SIGTERM");
	backend_local.stop(rig.ctx, 2, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 2),
	    "after the grace it ends too");
	is_int(t[2].exit.signal, SIGKILL, "by SIGKILL");
	is_str(t[2].exit.why, "", "which is no riddle");

	rig.settings.grace_ms = 1000000;
	local_rig_sh(&rig, 3,
	    "trap '' TERM; echo hpotune: a=1; while :; do sleep 0.01; done");
	local_rig_until(&rig, local_rig_reported, 3);
	backend_local.stop(rig.ctx, 3, 1, false);
	backend_local.stop(rig.ctx, 3, 1, true);
	ok(local_rig_until(&rig, local_rig_over, 3), "now is now");
	is_int(t[3].exit.signal, SIGKILL, "whatever the grace");

	local_rig_sh(&rig, 4, "sleep 1000");
	backend_local.stop(rig.ctx, 4, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 4),
	    "a stop before the start is kept");
	is_int(t[4].exit.signal, SIGTERM, "and sent");

	local_rig_sh(&rig, 5, "kill -STOP $$; exit 3");
	local_rig_until(&rig, local_rig_is_up, 5);
	backend_local.stop(rig.ctx, 5, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 5),
	    "a frozen trial receives SIGTERM");
	local_rig_close(&rig);
}

/* A supervisor that its trial stops: it is let go on, or ended. */
static void
test_still(void)
{
	static const char again[] =
	    "trap '' TERM; setsid sh -c \"while :; do kill -STOP $PPID; done\" "
	    "&\n"
	    "echo hpotune: a=1; while :; do kill -STOP $PPID; done";
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "trap 'exit 5' TERM; kill -STOP $PPID; echo hpotune: a=1\n"
	    "while :; do sleep 0.01; done");
	local_rig_until(&rig, local_rig_reported, 1);
	backend_local.stop(rig.ctx, 1, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 1),
	    "a stopped supervisor receives the signal");
	is_int(t[1].exit.exit_code, 5, "and stops its trial");
	local_rig_sh(&rig, 2, "kill -STOP $PPID; exit 6");
	ok(local_rig_until(&rig, local_rig_over, 2),
	    "without a stop it continues, too");
	is_int(t[2].exit.exit_code, 6, "and receives the end");
	ok(strstr(buf_str(&t[2].note), "supervisor was stopped") != NULL,
	    "a note states that it was stopped");

	rig.settings.grace_ms = 100;
	local_rig_sh(&rig, 3, again);
	local_rig_until(&rig, local_rig_reported, 3);
	backend_local.stop(rig.ctx, 3, 1, false);
	ok(local_rig_until(&rig, local_rig_over, 3),
	    "stopped again and again, it is ended");
	ok(t[3].exits == 1 && t[3].exit.signal == SIGKILL && t[3].exit.stopped,
	    "as a trial whose grace is over");
	is_int(local_rig_left(3, 1), 0, "with everything that it has started");
	rig.settings.grace_ms = 1000000;
	local_rig_sh(&rig, 4, again);
	local_rig_until(&rig, local_rig_reported, 4);
	backend_local.stop(rig.ctx, 4, 1, true);
	ok(local_rig_until(&rig, local_rig_over, 4), "now is now");
	ok(t[4].exits == 1 && t[4].exit.signal == SIGKILL, "by SIGKILL");
	is_int(local_rig_left(4, 1), 0, "nothing is left");
	rig.settings.grace_ms = 100;
	rig.settings.max_run_ms = 3000;
	local_rig_sh(&rig, 5, again);
	ok(local_rig_until(&rig, local_rig_over, 5), "max_run ends it");
	ok(t[5].exits == 1 && t[5].exit.timeout, "as max_run does");
	is_int(local_rig_left(5, 1), 0, "and nothing is left");
	local_rig_close(&rig);
}

static void
on_moment(void *arg)
{
	struct local_backend *rig = arg;

	loop_stop(rig->loop);
}

static bool
never(struct local_backend *rig, int64_t trial)
{
	(void)rig;
	(void)trial;
	return false;
}

/* A trial that is silent costs nothing: no turn without a cause. */
static void
test_idle(void)
{
	struct loop_timer *moment;
	struct local_backend rig;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "echo hpotune: a=1; exec sleep 1000");
	local_rig_until(&rig, local_rig_reported, 1);
	moment = loop_timer_new(rig.loop, on_moment, &rig);
	loop_timer_set(moment, 300);
	rig.turns = 0;
	local_rig_until(&rig, never, 1);
	ok(rig.turns < 20, "a silent trial causes no turn (%d turns)",
	    rig.turns);
	backend_local.stop(rig.ctx, 1, 1, true);
	ok(local_rig_until(&rig, local_rig_over, 1), "and is still heard");
	loop_timer_free(moment);
	local_rig_close(&rig);
}

/* Whoever sends the supervisor SIGTERM: the end says that it was told to. */
static void
test_outside(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "trap 'exit 0' TERM; echo hpotune: a=1; kill -TERM $PPID\n"
	    "while :; do sleep 0.01; done");
	local_rig_sh(&rig, 2, "exit 0");
	local_rig_until(&rig, local_rig_over, 1);
	ok(t[1].exit.exit_code == 0 && t[1].exit.stopped,
	    "a stop from outside is reported");
	local_rig_until(&rig, local_rig_over, 2);
	ok(!t[2].exit.stopped, "an end of its own accord is none");
	local_rig_close(&rig);
}

static void
test_timeout(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = rig.trial;
	int64_t n;

	local_rig_open(&rig, NULL);
	/* Longer, where the shell has not begun by then. */
	for (n = 1, rig.settings.max_run_ms = 3000; n < 4;
	     n++, rig.settings.max_run_ms *= 4) {
		local_rig_sh(&rig, n,
		    "trap 'exit 4' TERM; echo hpotune: a=1\n"
		    "while :; do sleep 0.01; done");
		if (!local_rig_until(&rig, local_rig_over, n) ||
		    t[n].reports > 0)
			break;
	}
	ok(t[n].exit.timeout, "max_run ends a trial");
	ok(t[n].exit.exit_code == 4, "with grace");
	rig.settings.max_run_ms = 1000000;
	local_rig_sh(&rig, 9, "exit 0");
	local_rig_until(&rig, local_rig_over, 9);
	ok(!t[9].exit.timeout, "a quick one is not timed out");
	local_rig_close(&rig);
}

static void
test_tree(void)
{
	struct local_backend rig;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "(setsid sh -c 'trap \"\" TERM HUP; echo >up; sleep 1000' "
	    ">/dev/null 2>&1 &) &\n"
	    "while ! test -f up; do sleep 0.01; done; exit 0");
	ok(local_rig_until(&rig, local_rig_over, 1), "a trial leaves a daemon");
	is_int(rig.trial[1].exit.exit_code, 0, "and ends well");
	is_int(local_rig_left(1, 1), 0, "nothing of it is left");
	local_rig_close(&rig);
}

static void
test_environment(void)
{
	char *own[] = { "TWICE=trial", "OWN=yes", NULL };
	char *theirs[] = { "HPOTUNE_TRIAL=1", NULL };
	char *pass[] = { "PASSED", NULL };
	struct local_backend rig;
	char path[128], *text;

	(void)unsetenv("PYTHONUNBUFFERED");
	setenv("PASSED", "through", 1);
	setenv("TWICE", "server", 1);
	local_rig_open(&rig, "{\"gpus\": 0}");
	rig.env = theirs;
	rig.settings.env = own;
	local_rig_sh(&rig, 1, "env >env1");
	local_rig_until(&rig, local_rig_over, 1);
	(void)snprintf(path, sizeof path, "%s/env1", rig.dir);
	text = local_rig_text(path);
	ok(strstr(text, "\nPASSED=through\n") != NULL ||
		strncmp(text, "PASSED=", 7) == 0,
	    "the server's environment is inherited");
	ok(strstr(text, "TWICE=trial\n") != NULL &&
		strstr(text, "TWICE=server") == NULL,
	    "trial.env adds to it");
	ok(strstr(text, "HPOTUNE_TRIAL=1\n") != NULL, "ours are there");
	ok(strstr(text, "CUDA_VISIBLE_DEVICES=\n") != NULL &&
		strstr(text, "CUDA_DEVICE_ORDER=PCI_BUS_ID\n") != NULL,
	    "no GPU means none");
	ok(strstr(text, "PYTHONUNBUFFERED=1\n") != NULL,
	    "Python does not hold its output back");
	free(text);
	setenv("PYTHONUNBUFFERED", "", 1);
	local_rig_sh(&rig, 2, "env >env2");
	local_rig_until(&rig, local_rig_over, 2);
	(void)snprintf(path, sizeof path, "%s/env2", rig.dir);
	text = local_rig_text(path);
	ok(strstr(text, "PYTHONUNBUFFERED=\n") != NULL &&
		strstr(text, "PYTHONUNBUFFERED=1\n") == NULL,
	    "unless the environment says otherwise");
	free(text);
	rig.settings.clean_env = true;
	local_rig_sh(&rig, 4, "env >env4");
	local_rig_until(&rig, local_rig_over, 4);
	(void)snprintf(path, sizeof path, "%s/env4", rig.dir);
	text = local_rig_text(path);
	ok(strstr(text, "PASSED=") == NULL && strstr(text, "PATH=") != NULL &&
		strstr(text, "OWN=yes\n") != NULL &&
		strstr(text, "PYTHONUNBUFFERED=1\n") != NULL,
	    "a clean one begins with little");
	free(text);
	rig.settings.pass_env = pass;
	local_rig_sh(&rig, 3, "env >env3");
	local_rig_until(&rig, local_rig_over, 3);
	(void)snprintf(path, sizeof path, "%s/env3", rig.dir);
	text = local_rig_text(path);
	ok(strstr(text, "PASSED=through\n") != NULL,
	    "a variable of pass_env is passed");
	free(text);
	local_rig_close(&rig);
}

static void
test_inheritance(void)
{
	struct local_backend rig;
	char path[128], *text, *line, *save;
	int extra = open("/dev/null", O_RDONLY), odd = 0;

	(void)signal(SIGPIPE, SIG_IGN);
	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "ls -l /proc/self/fd | grep -- '->' >fds\n"
	    "grep -E '^Sig(Ign|Blk)' /proc/self/status >sigs\n"
	    "cat /proc/self/oom_score_adj >oom");
	local_rig_until(&rig, local_rig_over, 1);
	(void)snprintf(path, sizeof path, "%s/fds", rig.dir);
	text = local_rig_text(path);
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		if (strstr(line, "/dev/null") == NULL &&
		    strstr(line, "/log") == NULL &&
		    strstr(line, "/fds") == NULL &&
		    strstr(line, "/trial.lock") == NULL &&
		    strstr(line, "pipe:") == NULL &&
		    strstr(line, "/proc/") == NULL) {
			printf("# %s\n", line);
			odd++;
		}
	is_int(odd, 0, "a trial has its log, its lock and no other file");
	free(text);
	(void)snprintf(path, sizeof path, "%s/sigs", rig.dir);
	text = local_rig_text(path);
	line = strstr(text, "SigIgn:");
	/* Two signals of the C library's own may come ignored from anywhere. */
	ok(strstr(text, "SigBlk:\t0000000000000000") != NULL && line != NULL &&
		(strtoull(line + 8, NULL, 16) & ~UINT64_C(0x180000000)) == 0,
	    "no signal is blocked or ignored");
	free(text);
	(void)snprintf(path, sizeof path, "%s/oom", rig.dir);
	text = local_rig_text(path);
	ok(atoi(text) >= 500, "it dies before others when memory ends");
	free(text);
	(void)signal(SIGPIPE, SIG_DFL);
	close(extra);
	local_rig_close(&rig);
}

static void
test_modes(void)
{
	static const char *const names[] = { "state", "trial.lock", "log",
		"metrics.jsonl", "params.json" };
	struct local_backend rig;
	struct stat st;
	size_t i;

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1, "exit 0");
	local_rig_until(&rig, local_rig_over, 1);
	for (i = 0; i < 5; i++)
		ok(lstat(local_rig_path(&rig, 1, names[i]), &st) == 0 &&
			S_ISREG(st.st_mode) && (st.st_mode & 077) == 0,
		    "%s is private", names[i]);
	ok(stat(local_rig_path(&rig, 1, ""), &st) == 0 &&
		(st.st_mode & 077) == 0,
	    "the folder of the attempt is private");
	local_rig_close(&rig);
}

int
main(void)
{
	test_reports();
	test_exits();
	test_stop();
	test_still();
	test_idle();
	test_outside();
	test_timeout();
	test_tree();
	test_environment();
	test_inheritance();
	test_modes();
	return done_testing();
}
