/* Readers: frames, those that do not get on, those that wait, what they inherit. */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/web/web-reader.h"
#include "src/web/web-sink.h"
#include "tests/support/tap.h"

enum { SLICE_US = 40000, SLICES = 35, SAME = 3 };

struct rig {
	struct loop *loop;
	struct web_readers *readers;
};

struct seen {
	struct rig *rig;
	struct buf frames; /* kinds and bytes */
	int ends, lates;
	int64_t at;
	char *why;
};

static void
on_frame(void *arg, char kind, const char *bytes, size_t len)
{
	struct seen *s = arg;

	buf_putc(&s->frames, kind);
	buf_add(&s->frames, bytes, len);
	loop_stop(s->rig->loop);
}

static void
on_late(void *arg)
{
	struct seen *s = arg;

	s->lates++;
}

static void
on_end(void *arg, const char *why, int64_t at)
{
	struct seen *s = arg;

	s->ends++;
	s->at = at;
	s->why = why == NULL ? NULL : xstrdup(why);
	loop_stop(s->rig->loop);
}

static void
on_turn(void *arg)
{
	(void)arg;
}

static struct web_reader *
start(
    struct seen *s, void (*work)(void *, struct web_sink *), const char *study)
{
	return web_reader_start(
	    s->rig->readers, &(struct web_reader_spec){ .work = work,
				 .frame = on_frame,
				 .late = on_late,
				 .patience_ms = WEB_READER_LIMIT_MS / 2,
				 .end = on_end,
				 .arg = s,
				 .study = study });
}

/* What a reader has done when it has ended. */
static void
run(struct seen *s, struct rig *rig, void (*work)(void *, struct web_sink *))
{
	*s = (struct seen){ .rig = rig };
	(void)start(s, work, "a");
	is_int(s->ends, 0, "nothing is called before it has started");
	while (s->ends == 0)
		loop_run(rig->loop, on_turn, NULL);
}

static void
seen_fini(struct seen *s)
{
	buf_free(&s->frames);
	free(s->why);
}

/* The processor's time, so that a busy machine changes nothing. */
static void
spin(int64_t us)
{
	int64_t until = clock_cpu_us() + us;

	while (clock_cpu_us() < until)
		;
}

static void
work_frames(void *arg, struct web_sink *sink)
{
	char *large = xcalloc(1, 300000);

	(void)arg;
	web_sink_put(sink, 'a', "one", 3);
	web_sink_put(sink, 'b', "", 0);
	web_sink_put(sink, 'c', large, 300000);
	free(large);
	web_sink_at(sink, 7);
	web_sink_put(sink, 'd', "two", 3);
}

static void
test_frames(struct rig *rig)
{
	struct seen s;

	run(&s, rig, work_frames);
	is_int((long long)s.frames.len, 4 + 1 + 300001 + 4,
	    "all frames came, large ones as well");
	ok(memcmp(s.frames.data, "aonebc", 6) == 0 &&
		memcmp(s.frames.data + 300006, "dtwo", 4) == 0,
	    "in their order");
	is_str(s.why, NULL, "it has said all");
	is_int(s.at, 7, "and at what it was");
	is_int(s.ends, 1, "once");
	seen_fini(&s);
}

static void
work_spin(void *arg, struct web_sink *sink)
{
	(void)arg;
	web_sink_at(sink, 5);
	web_sink_put(sink, 'a', "", 0);
	for (;;)
		;
}

static void
work_wait(void *arg, struct web_sink *sink)
{
	(void)arg;
	web_sink_put(sink, 'a', "", 0);
	for (;;)
		(void)pause();
}

static void
work_die(void *arg, struct web_sink *sink)
{
	(void)arg;
	web_sink_put(sink, 'a', "", 0);
	_exit(0);
}

/* More than the limit, of which each part is less. */
static void
work_slices(void *arg, struct web_sink *sink)
{
	int i;

	(void)arg;
	for (i = 0; i < SLICES; i++) {
		spin(SLICE_US);
		web_sink_at(sink, i);
	}
}

static void
test_limits(struct rig *rig)
{
	static const struct {
		const char *what, *why;
		void (*work)(void *, struct web_sink *);
	} rows[] = {
		{ "one that computes for ever",
		    "did not answer within a second", work_spin },
		{ "one that waits for ever", "did not answer within a second",
		    work_wait },
		{ "one that dies", "could not be read: its reader died",
		    work_die },
	};
	struct seen s;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		run(&s, rig, rows[i].work);
		is_str(s.why, rows[i].why, rows[i].what);
		is_str(buf_str(&s.frames), "a", "what it wrote came");
		is_int(s.lates, rows[i].work != work_die, "it was late, once");
		seen_fini(&s);
	}
	run(&s, rig, work_spin);
	is_int(s.at, 5, "at what it was is known");
	seen_fini(&s);
	run(&s, rig, work_slices);
	is_str(s.why, NULL, "one that gets on is not killed");
	is_int(s.lates, 1, "but is late");
	seen_fini(&s);
}

/* A reader of this work ends when it is killed, and not before. */
static void
work_on(void *arg, struct web_sink *sink)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int64_t i;

	(void)arg;
	web_sink_put(sink, 'a', "", 0);
	for (i = 0;; i++) {
		web_sink_at(sink, i);
		(void)nanosleep(&moment, NULL);
	}
}

/* Until it has written, or is no more. */
static void
wait_begun(struct seen *s)
{
	while (s->frames.len == 0 && s->ends == 0)
		loop_run(s->rig->loop, on_turn, NULL);
}

/* Readers of one study wait for one another; others do not. */
static void
test_turns(struct rig *rig)
{
	struct seen same[SAME] = { { 0 } }, other = { .rig = rig };
	struct web_reader *readers[SAME];
	size_t i;

	for (i = 0; i < SAME; i++) {
		same[i].rig = rig;
		readers[i] = start(&same[i], work_on, "turns");
	}
	(void)start(&other, work_frames, "b");
	while (other.ends == 0)
		loop_run(rig->loop, on_turn, NULL);
	is_str(other.why, NULL, "another study is read meanwhile");
	is_int((long long)same[2].frames.len, 0, "a third one waits");
	if (same[0].ends == 0)
		web_reader_kill(readers[0]);
	wait_begun(&same[2]);
	ok(same[2].frames.len > 0, "and works when one of them has ended (%s)",
	    same[2].why == NULL ? "it does" : same[2].why);
	for (i = 1; i < SAME; i++)
		if (same[i].ends == 0)
			web_reader_kill(readers[i]);
	is_int(same[0].ends, 0, "who kills one is not told of its end");
	for (i = 0; i < SAME; i++)
		seen_fini(&same[i]);
	seen_fini(&other);
}

/* Write the number of this process, then nothing. */
static void
work_number(void *arg, struct web_sink *sink)
{
	pid_t pid = getpid();

	(void)arg;
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	web_sink_put(sink, 'p', &pid, sizeof pid);
	for (;;)
		(void)pause();
}

/* Start readers of this work and study, and wait for their numbers. */
static void
start_numbers(struct rig *rig, const char *study, struct seen *seen,
    struct web_reader **readers, pid_t *pids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		seen[i] = (struct seen){ .rig = rig };
		readers[i] = start(&seen[i], work_number, study);
	}
	for (i = 0; i < n; i++) {
		wait_begun(&seen[i]);
		if (seen[i].ends > 0) {
			printf("Bail out! a reader %s\n", seen[i].why);
			exit(1);
		}
		memcpy(&pids[i], seen[i].frames.data + 1, sizeof *pids);
	}
}

/*
 * A process that holds these: they can be killed, but their parent sees the end
 * only when this process has ended.  -1: not allowed here.
 */
static pid_t
hold(const pid_t *pids, size_t n)
{
	int p[2];
	char done = 0;
	pid_t pid;
	size_t i;

	if (pipe(p) != 0 || (pid = fork()) == -1)
		return -1;
	if (pid == 0) {
		for (i = 0; i < n; i++)
			if (ptrace(PTRACE_SEIZE, pids[i], 0, 0) != 0)
				_exit(1);
		if (write(p[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(p[1]);
	if (read(p[0], &done, 1) != 1) {
		(void)waitpid(pid, NULL, 0);
		pid = -1;
	}
	(void)close(p[0]);
	return pid;
}

static void
on_moment(void *arg)
{
	loop_stop(arg);
}

/* Longer than the time between two looks. */
static void
run_moment(struct rig *rig)
{
	struct loop_timer *t = loop_timer_new(rig->loop, on_moment, rig->loop);

	loop_timer_set(t, 30);
	loop_run(rig->loop, on_turn, NULL);
	loop_timer_free(t);
}

/* Readers that have ended, but whose parent has not seen it, are not stuck. */
static void
test_ended(struct rig *rig)
{
	enum { ENDED = 2, LOOKS = 3 };
	struct seen ended[ENDED], next = { .rig = rig };
	struct web_reader *readers[ENDED];
	pid_t pids[ENDED], holder;
	size_t i;

	start_numbers(rig, "ended", ended, readers, pids, ENDED);
	holder = hold(pids, ENDED);
	for (i = 0; i < ENDED; i++)
		web_reader_kill(readers[i]);
	(void)start(&next, work_frames, "ended");
	for (i = 0; i < LOOKS; i++)
		run_moment(rig);
	if (holder != -1) {
		is_int(next.ends, 0, "one waits for two that end");
		is_int((long long)web_readers_stuck(rig->readers, "ended"), 0,
		    "they are not stuck");
		(void)kill(holder, SIGKILL);
		(void)waitpid(holder, NULL, 0);
	} else
		skip("one waits for two that end", "nothing can be traced");
	while (next.ends == 0)
		loop_run(rig->loop, on_turn, NULL);
	is_str(next.why, NULL, "and is read then");
	for (i = 0; i < ENDED; i++)
		seen_fini(&ended[i]);
	seen_fini(&next);
}

#define FREEZER "/sys/fs/cgroup/freezer"

static bool
freezer_write(const char *group, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", group, name);
	FILE *f = fopen(path, "w");
	bool good = f != NULL && fputs(text, f) >= 0;

	if (f != NULL && fclose(f) != 0)
		good = false;
	free(path);
	return good;
}

/* Move them there. */
static bool
freezer_take(const char *group, const pid_t *pids, size_t n)
{
	bool good = true;
	char number[32];
	size_t i;

	for (i = 0; i < n; i++) {
		(void)snprintf(number, sizeof number, "%d", (int)pids[i]);
		good &= freezer_write(group, "cgroup.procs", number);
	}
	return good;
}

/* Readers that hang in the kernel when they are killed. */
static void
test_stuck(struct rig *rig)
{
	enum { STUCK = 2 };
	char *group = xasprintf(FREEZER "/hpotune-test-%d", (int)getpid());
	struct seen stuck[STUCK], next = { .rig = rig };
	struct web_reader *readers[STUCK];
	pid_t pids[STUCK];
	bool frozen;
	size_t i;

	start_numbers(rig, "stuck", stuck, readers, pids, STUCK);
	frozen = mkdir(group, 0700) == 0 && freezer_take(group, pids, STUCK) &&
		 freezer_write(group, "freezer.state", "FROZEN");
	for (i = 0; i < STUCK; i++)
		web_reader_kill(readers[i]);
	(void)start(&next, work_frames, "stuck");
	while (next.ends == 0)
		loop_run(rig->loop, on_turn, NULL);
	if (frozen) {
		is_str(next.why, "hangs since it was read last",
		    "a study whose readers hang in the kernel");
		is_int((long long)web_readers_stuck(rig->readers, "stuck"),
		    STUCK, "they are stuck");
	} else {
		is_str(next.why, NULL, "readers that were killed are no more");
		skip("readers that hang in the kernel", "no freezer here");
	}
	if (frozen)
		(void)freezer_write(group, "freezer.state", "THAWED");
	while (web_readers_stuck(rig->readers, "stuck") > 0)
		run_moment(rig);
	ok(true, "until they have ended");
	(void)rmdir(group);
	free(group);
	for (i = 0; i < STUCK; i++)
		seen_fini(&stuck[i]);
	seen_fini(&next);
}

/* The descriptors above those that each program has, but for the folder's. */
static void
work_descriptors(void *arg, struct web_sink *sink)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	struct buf b = { 0 };

	(void)arg;
	while ((entry = readdir(folder)) != NULL)
		if (atoi(entry->d_name) > 2 &&
		    atoi(entry->d_name) != dirfd(folder))
			buf_printf(&b, "%s ", entry->d_name);
	web_sink_put(sink, 'a', buf_str(&b), b.len);
	(void)closedir(folder);
	buf_free(&b);
}

static void
test_descriptors(struct rig *rig)
{
	struct seen s;
	int p[2];

	if (pipe(p) != 0) {
		printf("Bail out! no pipe\n");
		exit(1);
	}
	run(&s, rig, work_descriptors);
	is_str(buf_str(&s.frames), "a3 ",
	    "a reader has its pipe, and no descriptor of a client");
	seen_fini(&s);
	(void)close(p[0]);
	(void)close(p[1]);
}

int
main(void)
{
	struct err e = ERR_INIT;
	struct rig rig = { 0 };

	if (loop_open(&rig.loop, LOOP_REAL, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		return 1;
	}
	rig.readers = web_readers_open(rig.loop);
	test_frames(&rig);
	test_limits(&rig);
	test_turns(&rig);
	test_ended(&rig);
	test_stuck(&rig);
	test_descriptors(&rig);
	web_readers_close(rig.readers);
	loop_close(rig.loop);
	return done_testing();
}
