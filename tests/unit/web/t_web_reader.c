/* Readers: frames, those that do not get on, those that wait, what they inherit. */

#include <dirent.h>
#include <stdlib.h>
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

/* Readers of one study wait for one another; others do not. */
static void
test_turns(struct rig *rig)
{
	struct seen same[SAME] = { { 0 } }, other = { .rig = rig };
	struct web_reader *readers[SAME];
	size_t i;

	for (i = 0; i < SAME; i++) {
		same[i].rig = rig;
		readers[i] = start(&same[i], work_on, "a");
	}
	(void)start(&other, work_frames, "b");
	while (other.ends == 0)
		loop_run(rig->loop, on_turn, NULL);
	is_str(other.why, NULL, "another study is read meanwhile");
	is_int((long long)same[2].frames.len, 0, "a third one waits");
	web_reader_kill(readers[0]);
	while (same[2].frames.len == 0)
		loop_run(rig->loop, on_turn, NULL);
	ok(true, "and works when one of them has ended");
	web_reader_kill(readers[1]);
	web_reader_kill(readers[2]);
	is_int(same[0].ends, 0, "who kills one is not told of its end");
	for (i = 0; i < SAME; i++)
		seen_fini(&same[i]);
	seen_fini(&other);
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
	test_descriptors(&rig);
	web_readers_close(rig.readers);
	loop_close(rig.loop);
	return done_testing();
}
