/*
 * What git says, read; and when it is asked: with the first start of a run, again
 * after a minute, and a row only for what has changed.
 */

#include <sys/wait.h>

#include "src/base/loop.h"
#include "src/engine/provenance/git-status.h"
#include "src/engine/provenance/provenance.h"
#include "src/model/study/study.h"
#include "tests/support/store-fixture.h"

static struct err e;

static void
reads(const char *out, int status, const char *cut, const char *want,
    const char *what)
{
	struct git_status g;
	char *got;

	git_status_read(&g, out, strlen(out), status, cut);
	got = xasprintf("%s|%s|%d|%s", g.commit != NULL ? g.commit : "",
	    g.branch != NULL ? g.branch : "", g.dirty,
	    g.why != NULL ? g.why : "");
	is_str(got, want, what);
	free(got);
	git_status_free(&g);
}

static void
test_read(void)
{
	reads(
	    "# branch.oid 12ab\n# branch.head main\n# branch.upstream o/main\n"
	    "# branch.ab +0 -1\n",
	    0, "", "12ab|main|0|", "nothing has changed");
	reads("# branch.oid 12ab\n# branch.head main\n"
	      "1 .M N... 100644 100644 100644 aa aa t.sh\n",
	    0, "", "12ab|main|1|", "a file has changed");
	reads("# branch.oid 12ab\n# branch.head (detached)\n"
	      "2 R. N... 100644 100644 100644 aa aa R100 b\ta\n",
	    0, "", "12ab||1|", "renamed, without a branch");
	reads("# branch.oid 12ab\n# branch.head x\n"
	      "u UU N... 1 1 1 1 a b c d\n",
	    0, "", "12ab|x|1|", "a conflict");
	reads("# branch.oid (initial)\n# branch.head main\n", 0, "",
	    "|main|0|there is no commit yet", "no commit");
	reads("warning: could not open directory 'x/': Permission denied\n"
	      "# branch.oid 12ab\n# branch.head main\n? other\n",
	    0, "", "12ab|main|0|", "a warning and a file that is not followed");
	reads("# branch.oid 12ab\n# branch.head main", 0, "", "12ab|main|0|",
	    "a last line without its end");
	reads("fatal: not a git repository (or any of the parent "
	      "directories): .git\n",
	    128 << 8, "",
	    "||-1|not a git repository (or any of the parent directories): "
	    ".git",
	    "no repository");
	reads("env: 'git': No such file or directory\n", 127 << 8, "",
	    "||-1|git is not installed", "no git");
	reads("", 1 << 8, "", "||-1|git has failed and does not say why",
	    "an error without words");
	reads("# branch.oid 12ab\n# branch.head main\n", -1,
	    "no answer in 10 s", "12ab|main|-1|no answer in 10 s", "too late");
	reads("# branch.oid 12ab\n# branch.head main\n1 .M N\n", -1, "too long",
	    "12ab|main|1|too long", "cut after a changed file");
	reads("", SIGKILL, "", "||-1|git has failed and does not say why",
	    "killed by somebody");
}

static int woken;

static void
on_wake(void *arg)
{
	woken++;
	loop_stop(arg);
}

static void
turn(void *arg)
{
	(void)arg;
}

/* One turn of a tuner that starts an attempt at this second, and the answer. */
static void
turn_at(struct provenance *p, struct loop *loop, struct store *s,
    int64_t second, bool starts, bool answer)
{
	must(store_begin(s, &e), &e);
	provenance_record(p, T0 + second * SECOND, second * 1000, starts);
	must(store_commit(s, false, &e), &e);
	provenance_ask(p);
	is_int(provenance_busy(p), answer,
	    answer ? "git is asked" : "nothing is asked");
	if (!answer)
		return;
	loop_run(loop, turn, NULL);
	must(store_begin(s, &e), &e);
	provenance_record(
	    p, T0 + (second + 1) * SECOND, (second + 1) * 1000, false);
	must(store_commit(s, false, &e), &e);
}

/* A fake git, whose answer is the commit. */
static void
git_says(const char *commit)
{
	char *path = fixture_path("bin/env");
	FILE *f = fopen(path, "w");

	if (f == NULL ||
	    fprintf(f,
		"#!/bin/sh\necho '# branch.oid %s'\n"
		"echo '# branch.head main'\n",
		commit) < 0 ||
	    fclose(f) != 0 || chmod(path, 0700) != 0)
		printf("Bail out! %s\n", path);
	free(path);
}

static const char rows[] = "SELECT provenance, since, git_commit FROM "
			   "provenance";

static void
test_turns(void)
{
	struct study study = { .dir = (char *)(uintptr_t) "/" };
	struct store *s = fixture_create("turns.db", true);
	struct provenance_env env = { .study = &study,
		.store = s,
		.command = "[\"x\"]",
		.wake = on_wake };
	char *bin = fixture_path("bin"),
	     *path = xasprintf("%s:%s", bin, getenv("PATH"));
	struct provenance *p;

	(void)mkdir(bin, 0700);
	(void)setenv("PATH", path, 1);
	must(loop_open(&env.loop, LOOP_REAL, &e), &e);
	env.arg = env.loop;
	p = provenance_new(&env);
	git_says("aa");
	turn_at(p, env.loop, s, 0, false, false);
	is_query(s, rows, "", "no attempt, no row");
	turn_at(p, env.loop, s, 10, true, true);
	is_query(s, rows, "1|2023-11-14T22:13:30.123Z|aa", "the first start");
	git_says("bb");
	turn_at(p, env.loop, s, 69, true, false);
	turn_at(p, env.loop, s, 75, false, false);
	turn_at(p, env.loop, s, 80, true, true);
	is_query(s, rows,
	    "1|2023-11-14T22:13:30.123Z|aa\n2|2023-11-14T22:14:40.123Z|bb",
	    "a commit since then");
	turn_at(p, env.loop, s, 150, true, true);
	is_query(
	    s, "SELECT count(*) FROM provenance", "2", "the same is no row");
	provenance_free(p);

	/* The next run: the same answer, then another command. */
	p = provenance_new(&env);
	turn_at(p, env.loop, s, 200, true, true);
	is_query(s, "SELECT count(*) FROM provenance", "2",
	    "a run that is like the one before");
	provenance_free(p);
	env.command = "[\"y\"]";
	p = provenance_new(&env);
	turn_at(p, env.loop, s, 300, true, true);
	is_query(s, "SELECT provenance, command FROM provenance",
	    "1|[\"x\"]\n2|[\"x\"]\n3|[\"y\"]", "another command");
	ok(woken == 5, "each answer wakes the tuner");
	provenance_free(p);
	store_close(s);
	loop_close(env.loop);
	free(bin);
	free(path);
}

int
main(void)
{
	fixture_begin();
	test_read();
	test_turns();
	return fixture_end();
}
