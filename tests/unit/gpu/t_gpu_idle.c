/* The idle warning: when it is given, and its text. */

#include <math.h>
#include <string.h>

#include "tests/support/tap.h"
#include "trials/gpu/gpu-idle.h"

#define MINUTE 60000
#define WINDOW (10 * MINUTE)

struct life {
	struct gpu_idle idle;
	int64_t ms;
	int gpus;
	double share; /* of each of them */
	double busy, seen;
	int told;
	int64_t told_ms; /* the first time */
	char text[160];
};

static struct life
begin(int gpus, int64_t window_ms)
{
	struct life l = { .gpus = gpus, .share = 1, .told_ms = -1 };

	gpu_idle_begin(&l.idle, window_ms);
	return l;
}

/* So much time goes by, a look every 2 s, GPUs in use for share of it. */
static void
pass(struct life *l, int64_t ms, double share)
{
	char text[160];
	int64_t end = l->ms + ms;

	for (; l->ms < end; l->ms += 2000) {
		l->busy += 2 * l->gpus * l->share * share;
		l->seen += 2 * l->gpus * l->share;
		if (!gpu_idle_update(&l->idle, l->gpus, l->busy, l->seen, l->ms,
			text, sizeof text))
			continue;
		if (l->told++ == 0) {
			l->told_ms = l->ms;
			(void)strcpy(l->text, text);
		}
	}
}

static void
test_idle(void)
{
	struct life l = begin(1, WINDOW);

	pass(&l, WINDOW, 0.034);
	is_int(l.told, 0, "nothing before the time is over");
	pass(&l, 4000, 0.034);
	is_int(l.told, 1, "then it is reported");
	is_str(l.text, "its GPU has been used 3 % for 10 minutes", "its text");
	pass(&l, 10 * WINDOW, 0);
	is_int(l.told, 1, "and only once");
}

static void
test_busy(void)
{
	struct life l = begin(1, WINDOW);

	pass(&l, 10 * WINDOW, 0.11);
	is_int(l.told, 0, "eleven percent are enough");
	l = begin(1, WINDOW);
	pass(&l, 100 * WINDOW, 0.9);
	pass(&l, WINDOW - 4 * MINUTE, 0);
	is_int(l.told, 0, "a pause shorter than the time");
	pass(&l, WINDOW, 0);
	is_int(l.told, 1, "a long one is reported, however busy it was before");
	ok(l.told_ms >= 101 * (int64_t)WINDOW - 2 * MINUTE &&
		l.told_ms <= 101 * (int64_t)WINDOW + MINUTE,
	    "in time");
}

static void
test_several(void)
{
	struct life l = begin(4, 90 * 1000);

	pass(&l, 60 * MINUTE, 0.0999);
	is_str(l.text, "its 4 GPUs have been used 9 % for 90 seconds",
	    "several GPUs, and never the limit itself");
	l = begin(1, 60 * MINUTE);
	pass(&l, 61 * MINUTE, 0);
	is_str(l.text, "its GPU has been used 0 % for 1 hour", "an hour");
	l = begin(1, 20000);
	for (l.ms = 0; l.told == 0 && l.ms < MINUTE; l.ms += 10010)
		l.told = gpu_idle_update(
		    &l.idle, 1, 0, (double)l.ms, l.ms, l.text, sizeof l.text);
	is_str(l.text, "its GPU has been used 0 % for 20 seconds",
	    "a time of two tellings");
	/* What trials share is counted for each of them by its share. */
	l = begin(1, WINDOW);
	l.share = 1.0 / 32;
	pass(&l, 11 * MINUTE, 0.05);
	is_str(l.text, "its GPU has been used 5 % for 10 minutes",
	    "one of many on a GPU");
}

static void
test_silence(void)
{
	struct life l = begin(1, 0);
	char text[160];
	int64_t ms;

	pass(&l, 10 * WINDOW, 0);
	is_int(l.told, 0, "0: no warning is configured");
	l = begin(1, WINDOW);
	for (ms = 0; ms < 10 * WINDOW; ms += 2000)
		if (gpu_idle_update(
			&l.idle, 1, NAN, NAN, ms, text, sizeof text) ||
		    gpu_idle_update(&l.idle, 0, 0, 0, ms, text, sizeof text))
			l.told++;
	is_int(
	    l.told, 0, "unknown use, and attempts without GPUs, are ignored");
	/* The driver is silent: nothing is counted. */
	l = begin(1, WINDOW);
	pass(&l, MINUTE, 0);
	l.ms += 10 * WINDOW;
	pass(&l, MINUTE, 0);
	is_int(l.told, 0, "a window that hardly anything was seen of");
	pass(&l, WINDOW, 0);
	is_int(l.told, 1, "seen again it is reported");
	l = begin(1, WINDOW);
	pass(&l, WINDOW / 2, 0);
	l.busy = l.seen = 0;
	pass(&l, WINDOW, 0);
	is_int(l.told, 0, "a GPU whose count restarts has a new idle time");
	pass(&l, MINUTE, 0);
	is_int(l.told, 1, "and reaches the threshold");
}

int
main(void)
{
	test_idle();
	test_busy();
	test_several();
	test_silence();
	return done_testing();
}
