/* Child processes: output, exit, killing. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"

struct rig {
	struct loop *loop;
	int open;
};

struct end {
	struct rig *rig;
	int calls, status;
	char *out, *why;
	size_t len;
};

static void
on_end(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct end *x = arg;

	x->calls++;
	x->status = status;
	x->out = xmalloc(len + 1);
	memcpy(x->out, out, len + 1);
	x->len = len;
	x->why = xstrdup(why);
	x->rig->open--;
}

static void
on_turn(void *arg)
{
	struct rig *g = arg;

	if (g->open == 0)
		loop_stop(g->loop);
}

static void
end_free(struct end *x)
{
	free(x->out);
	free(x->why);
	*x = (struct end){ .rig = x->rig };
}

/* Run a line of shell to its end. */
static void
run(struct rig *g, struct end *x, struct capture_spec spec, const char *line)
{
	char *const argv[] = { "sh", "-c", (char *)line, NULL };
	struct err e = ERR_INIT;
	struct capture *c;

	*x = (struct end){ .rig = g };
	spec.argv = argv;
	g->open = 1;
	if (!ok(capture_start(&c, g->loop, &spec, on_end, x, &e) == 0, "%s",
		line))
		g->open = 0;
	else
		ok(x->calls == 0, "nothing is read before the loop");
	loop_run(g->loop, on_turn, g);
	is_int(x->calls, 1, "on_end is called once");
}

static void
test_ends(struct rig *g)
{
	struct capture_spec spec = { .dir = NULL };
	struct end x;

	run(g, &x, spec, "echo one; echo two; exit 3");
	ok(WIFEXITED(x.status) && WEXITSTATUS(x.status) == 3,
	    "the exit status is passed");
	is_str(x.out, "one\ntwo\n", "the output is passed");
	is_str(x.why, "", "nothing to say");
	end_free(&x);
	run(g, &x, spec, "kill -USR1 $$");
	ok(WIFSIGNALED(x.status) && WTERMSIG(x.status) == SIGUSR1,
	    "the signal is passed");
	is_str(x.out, "", "nothing printed");
	end_free(&x);
	run(g, &x, spec, "head -c 1000000 /dev/zero");
	ok(x.status == 0 && x.len == 1000000, "a lot");
	end_free(&x);
	spec.dir = "/usr";
	run(g, &x, spec, "pwd; cat; ls /proc/self/fd | wc -l");
	is_str(
	    x.out, "/usr\n4\n", "its folder, no input, no descriptor of ours");
	end_free(&x);
	spec.dir = NULL;
	spec.mute = true;
	run(g, &x, spec, "readlink /proc/$$/fd/2");
	is_str(x.out, "/dev/null\n", "its stderr goes nowhere");
	end_free(&x);
	spec.mute = false;
	run(g, &x, spec, "exec >&-; kill -0 $$; exit 4");
	ok(WIFEXITED(x.status) && WEXITSTATUS(x.status) == 4,
	    "its output ended first");
	end_free(&x);
}

/*
 * Run a line of shell that says a word and does not end: for longer, where it has
 * not said its word by then.
 */
static void
run_late(
    struct rig *g, struct end *x, struct capture_spec *spec, const char *line)
{
	spec->timeout_ms = 1000;
	run(g, x, *spec, line);
	while (x->len == 0 && spec->timeout_ms < 300000) {
		end_free(x);
		spec->timeout_ms *= 4;
		run(g, x, *spec, line);
	}
}

static void
test_bounds(struct rig *g)
{
	struct capture_spec spec = { .most = 1000 };
	struct end x;
	char want[64];

	run(g, &x, spec, "head -c 1000 /dev/zero");
	ok(x.status == 0 && x.len == 1000, "all that is allowed");
	end_free(&x);
	run(g, &x, spec, "cat /dev/zero");
	is_int(x.status, -1, "output above the limit is a failure");
	is_str(x.why, "it printed more than 1000 bytes",
	    "the reason has the limit of the output");
	end_free(&x);
	run_late(g, &x, &spec,
	    "echo begun; trap '' TERM; while :; do sleep 60; done");
	is_int(x.status, -1, "a program that exceeds its time is a failure");
	(void)snprintf(want, sizeof want, "it took longer than %lld ms",
	    (long long)spec.timeout_ms);
	is_str(x.why, want, "the reason has the limit of the time");
	is_str(x.out, "begun\n", "with what it had printed");
	end_free(&x);
}

static bool
gone(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return true;
	if (fgets(line, sizeof line, f) == NULL)
		line[0] = '\0';
	(void)fclose(f);
	return strstr(line, ") Z ") != NULL || line[0] == '\0';
}

/* A process that is left behind does not hold up the end. */
static void
test_left_behind(struct rig *g)
{
	struct capture_spec spec = { .dir = NULL };
	struct end x;
	pid_t pid;
	int i;

	run(g, &x, spec, "sleep 600 & echo $!");
	is_int(x.status, 0, "the end of the first process counts");
	pid = (pid_t)atoi(x.out);
	ok(pid > 0 && kill(pid, 0) == 0, "the other one may continue");
	if (pid > 0)
		(void)kill(pid, SIGKILL);
	end_free(&x);
	run_late(g, &x, &spec, "sleep 600 & echo $!; wait");
	pid = (pid_t)atoi(x.out);
	is_int(x.status, -1, "out of time");
	for (i = 0; i < 60000 && pid > 0 && !gone(pid); i++)
		(void)usleep(1000);
	ok(pid > 0 && gone(pid), "all of its group is ended");
	end_free(&x);
}

static void
test_start(struct rig *g)
{
	char *const argv[] = { "hpotune-no-such-program", NULL };
	char *const sleep_argv[] = { "sleep", "600", NULL };
	struct capture_spec spec = { .argv = argv };
	struct err e = ERR_INIT;
	struct end x = { .rig = g };
	struct capture *c = NULL;

	ok(capture_start(&c, g->loop, &spec, on_end, &x, &e) == -1,
	    "a program that does not exist is an error");
	is_str(e.text,
	    "hpotune-no-such-program cannot be started: "
	    "No such file or directory",
	    "the error names the program");
	spec.argv = sleep_argv;
	spec.dir = "/no-such-folder";
	ok(capture_start(&c, g->loop, &spec, on_end, &x, &e) == -1 &&
		strstr(e.text, "/no-such-folder") != NULL,
	    "no such folder: %s", e.text);
	spec.dir = NULL;
	ok(capture_start(&c, g->loop, &spec, on_end, &x, &e) == 0, "sleep");
	capture_kill(c);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "killed and reaped");
	is_int(x.calls, 0, "a killed program has no callback");
	capture_kill(NULL);
}

/* Many at once, each its own output. */
static void
test_many(struct rig *g)
{
	enum { MANY = 30 };
	struct end x[MANY] = { { .calls = 0 } };
	char line[MANY][32];
	struct capture *c;
	int i, good = 0;

	g->open = 0;
	for (i = 0; i < MANY; i++) {
		char *const argv[] = { "sh", "-c", line[i], NULL };
		struct capture_spec spec = { .argv = argv };

		x[i].rig = g;
		(void)snprintf(
		    line[i], sizeof line[i], "echo %d; exit %d", i, i);
		g->open +=
		    capture_start(&c, g->loop, &spec, on_end, &x[i], NULL) == 0;
	}
	loop_run(g->loop, on_turn, g);
	for (i = 0; i < MANY; i++) {
		good += x[i].calls == 1 && WEXITSTATUS(x[i].status) == i &&
			atoi(x[i].out) == i;
		end_free(&x[i]);
	}
	is_int(good, MANY, "many at once");
}

int
main(void)
{
	struct rig g = { .open = 0 };
	struct err e = ERR_INIT;

	/* As in the server; a helper must not inherit it. */
	(void)signal(SIGPIPE, SIG_IGN);
	ok(loop_open(&g.loop, LOOP_REAL, &e) == 0, "a loop");
	test_ends(&g);
	test_bounds(&g);
	test_left_behind(&g);
	test_start(&g);
	test_many(&g);
	loop_close(g.loop);
	return done_testing();
}
