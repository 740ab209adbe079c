/* Base: errors, buffers, random numbers, the loop on both clocks. */

#include <stdlib.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

static void
test_err(void)
{
	struct err e = ERR_INIT;
	char path[2001], *gap;
	int i;

	is_int(err_set(&e, ERR_FILE, "no %s", "disk"), -1, "failing is -1");
	err_add(&e, "trial %d", 7);
	is_str(e.text, "trial 7: no disk", "a layer prefixes the clause");
	is_int(e.kind, ERR_FILE, "and the kind stays");
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	err_set(&e, ERR_FILE, "what: %s: why", path);
	is_int((long long)strlen(e.text), sizeof e.text - 1,
	    "a long text fills what there is");
	ok(strncmp(e.text, "what: ppp", 9) == 0, "with its beginning");
	ok(strstr(e.text, "pp...pp") != NULL, "a gap");
	is_str(e.text + strlen(e.text) - 5, ": why", "and its end");
	err_add(&e, "%s", "trial 7");
	ok(strncmp(e.text, "trial 7: what", 13) == 0, "a prefix stays whole");
	is_str(e.text + strlen(e.text) - 5, ": why", "and the end stays");
	memset(path, '\xc3', sizeof path - 1);
	for (i = 0; i < (int)sizeof path - 2; i += 2)
		path[i + 1] = '\xa9';
	for (i = 0; i < 4; i++) {
		err_set(&e, ERR_FILE, "%.*s%s", i, "abcd", path);
		gap = strstr(e.text, "...");
		ok(gap != NULL && gap[-1] == '\xa9' && gap[3] == '\xc3',
		    "no character is cut in two");
	}
}

static void
test_buf(void)
{
	struct buf b = { 0 };
	int i;

	is_str(buf_str(&b), "", "an empty buffer is an empty string");
	for (i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	is_int((long long)b.len, 3890, "a buffer grows");
	buf_clear(&b);
	buf_puts(&b, "x");
	is_str(buf_str(&b), "x", "and starts again");
	buf_free(&b);
}

/* The known-answer vectors published with Random123. */
static void
test_rng(void)
{
	const uint32_t zero[4] = { 0 }, ones[4] = { ~0u, ~0u, ~0u, ~0u };
	uint32_t out[4];
	struct rng a, b;
	double sum = 0;
	int i;

	rng_philox(out, zero, zero);
	ok(out[0] == 0x6627e8d5 && out[1] == 0xe169c58d &&
		out[2] == 0xbc57ac4c && out[3] == 0x9b00dbd8,
	    "Philox4x32-10 of zeros");
	rng_philox(out, ones, ones);
	ok(out[0] == 0x408f276d && out[1] == 0x41c83b0e &&
		out[2] == 0xa20bc7c6 && out[3] == 0x6d5451fd,
	    "Philox4x32-10 of ones");
	rng_init(&a, 7, 1);
	rng_init(&b, 7, 1);
	ok(rng_u64(&a) == rng_u64(&b), "same seed and stream, same numbers");
	rng_init(&b, 7, 2);
	ok(rng_u64(&a) != rng_u64(&b), "another stream, others");
	for (i = 0; i < 100000; i++)
		sum += rng_uniform(&a);
	is_near(sum / 100000, 0.5, 0.005, "uniform numbers have mean 1/2");
	for (i = 0; i < 1000 && rng_below(&a, 3) < 3; i++)
		;
	is_int(i, 1000, "below 3 is below 3");
}

struct seen {
	struct loop *loop;
	struct loop_timer *timer[3];
	char order[16];
	size_t n;
	int turns;
};

static void
on_first(void *arg)
{
	struct seen *s = arg;

	s->order[s->n++] = 'a';
	loop_timer_set(s->timer[0], 0);
	if (s->n > 6)
		loop_timer_stop(s->timer[0]);
}

static void
on_second(void *arg)
{
	struct seen *s = arg;

	s->order[s->n++] = 'b';
}

static void
on_last(void *arg)
{
	struct seen *s = arg;

	s->order[s->n++] = 'z';
	loop_stop(s->loop);
}

static void
on_turn(void *arg)
{
	struct seen *s = arg;

	s->turns++;
}

static void
test_virtual_clock(void)
{
	struct seen s = { 0 };

	loop_open(&s.loop, LOOP_VIRTUAL, NULL);
	s.timer[0] = loop_timer_new(s.loop, on_last, &s);
	s.timer[1] = loop_timer_new(s.loop, on_second, &s);
	s.timer[2] = loop_timer_new(s.loop, on_second, &s);
	loop_timer_set(s.timer[0], 86400000);
	loop_timer_set(s.timer[1], 10);
	loop_timer_set(s.timer[2], 5);
	loop_timer_stop(s.timer[2]);
	loop_run(s.loop, on_turn, &s);
	is_str(s.order, "bz", "timers fire in order, a stopped one never");
	is_int(loop_now_ms(s.loop), 86400000, "a day passes at once");
	is_int(s.turns, 3, "one turn before the first wait and after each");
	loop_timer_free(s.timer[0]);
	loop_timer_free(s.timer[1]);
	loop_timer_free(s.timer[2]);
	loop_close(s.loop);
}

static void
on_fd(void *arg, int fd, bool readable, bool writable)
{
	struct seen *s = arg;
	char c;

	if (readable && !writable && read(fd, &c, 1) == 1)
		s->order[s->n++] = c;
}

static void
test_real_loop(void)
{
	struct seen s = { 0 };
	struct loop_fd *f;
	struct loop_signal *sig;
	int p[2];

	loop_open(&s.loop, LOOP_REAL, NULL);
	s.timer[0] = loop_timer_new(s.loop, on_first, &s);
	s.timer[1] = loop_timer_new(s.loop, on_last, &s);
	loop_timer_set(s.timer[1], 30);
	if (pipe(p) != 0 || write(p[1], "r", 1) != 1)
		abort();
	f = loop_fd_new(s.loop, p[0], on_fd, &s);
	loop_fd_want(f, true, false);
	sig = loop_signal_new(s.loop, SIGUSR1, on_second, &s);
	raise(SIGUSR1);
	loop_run(s.loop, on_turn, &s);
	ok(strchr(s.order, 'r') != NULL, "a readable descriptor is delivered");
	ok(strchr(s.order, 'b') != NULL, "a signal is delivered");
	ok(s.order[s.n - 1] == 'z', "a timer ends the loop");
	loop_signal_free(sig);
	loop_fd_free(f);
	loop_timer_free(s.timer[0]);
	loop_timer_free(s.timer[1]);
	loop_close(s.loop);
	close(p[0]);
	close(p[1]);
}

int
main(void)
{
	test_err();
	test_buf();
	test_rng();
	test_virtual_clock();
	test_real_loop();
	return done_testing();
}
