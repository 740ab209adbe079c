/*
 * The only file that uses libevent's core.  Timers are a heap of our own with one
 * libevent timer below it, so that a virtual clock needs no second code path.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <event2/event.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/loop-internal.h"
#include "src/base/loop.h"
#include "src/base/mem.h"

struct loop_timer {
	struct loop *loop;
	loop_cb *cb;
	void *arg;
	int64_t due_ms;
	uint64_t order; /* equal times fire in the order they were set */
	size_t place; /* index in the heap, or NOT_SET */
};

struct loop_fd {
	struct loop *loop;
	struct event *read, *write;
	loop_fd_cb *cb;
	void *arg;
	bool reading, writing;
};

struct loop_signal {
	struct event *ev;
	loop_cb *cb;
	void *arg;
};

struct loop {
	struct event_base *base; /* NULL on a virtual clock */
	struct event *tick;
	int64_t tick_ms; /* when tick fires; -1 = not set */
	struct loop_timer **heap;
	size_t n_timers, cap;
	uint64_t order;
	int64_t virtual_ms;
	bool woken, stopped;
};

#define NOT_SET ((size_t)-1)
/* A virtual clock starts at 2026-01-01, so that recorded times look normal. */
#define VIRTUAL_EPOCH_US INT64_C(1767225600000000)

struct event_base *
loop_base(const struct loop *loop)
{
	return loop->base;
}

int64_t
loop_now_ms(const struct loop *loop)
{
	return loop->base != NULL ? clock_boot_ms() : loop->virtual_ms;
}

int64_t
loop_wall_us(const struct loop *loop)
{
	return loop->base != NULL ? clock_wall_us()
				  : VIRTUAL_EPOCH_US + loop->virtual_ms * 1000;
}

static bool
timer_before(const struct loop_timer *a, const struct loop_timer *b)
{
	if (a->due_ms != b->due_ms)
		return a->due_ms < b->due_ms;
	return a->order < b->order;
}

static void
heap_put(struct loop *loop, size_t i, struct loop_timer *t)
{
	loop->heap[i] = t;
	t->place = i;
}

static void
loop_heap_up(struct loop *loop, size_t i)
{
	struct loop_timer *t = loop->heap[i];

	while (i > 0 && timer_before(t, loop->heap[(i - 1) / 2])) {
		heap_put(loop, i, loop->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_put(loop, i, t);
}

static void
loop_heap_down(struct loop *loop, size_t i)
{
	struct loop_timer *t = loop->heap[i];
	size_t kid;

	while ((kid = 2 * i + 1) < loop->n_timers) {
		if (kid + 1 < loop->n_timers &&
		    timer_before(loop->heap[kid + 1], loop->heap[kid]))
			kid++;
		if (!timer_before(loop->heap[kid], t))
			break;
		heap_put(loop, i, loop->heap[kid]);
		i = kid;
	}
	heap_put(loop, i, t);
}

/* Set libevent's timer to the time of our first timer. */
static void
tick_arm(struct loop *loop)
{
	struct timeval tv;
	int64_t due, wait;

	if (loop->base == NULL)
		return;
	due = loop->n_timers > 0 ? loop->heap[0]->due_ms : -1;
	if (due == loop->tick_ms)
		return;
	loop->tick_ms = due;
	if (due < 0) {
		(void)evtimer_del(loop->tick);
		return;
	}
	wait = due - loop_now_ms(loop);
	if (wait < 0)
		wait = 0;
	tv.tv_sec = (time_t)(wait / 1000);
	tv.tv_usec = (suseconds_t)(wait % 1000 * 1000);
	(void)evtimer_add(loop->tick, &tv);
}

struct loop_timer *
loop_timer_new(struct loop *loop, loop_cb *cb, void *arg)
{
	struct loop_timer *t = xcalloc(1, sizeof *t);

	*t = (struct loop_timer){
		.loop = loop, .cb = cb, .arg = arg, .place = NOT_SET
	};
	return t;
}

void
loop_timer_stop(struct loop_timer *t)
{
	struct loop *loop = t->loop;
	size_t i = t->place;

	if (i == NOT_SET)
		return;
	t->place = NOT_SET;
	loop->n_timers--;
	if (i < loop->n_timers) {
		heap_put(loop, i, loop->heap[loop->n_timers]);
		loop_heap_up(loop, i);
		loop_heap_down(loop, loop->heap[i]->place);
	}
	tick_arm(loop);
}

void
loop_timer_set(struct loop_timer *t, int64_t ms)
{
	struct loop *loop = t->loop;

	loop_timer_stop(t);
	XGROW(loop->heap, loop->n_timers, loop->cap);
	t->due_ms = loop_now_ms(loop) + (ms > 0 ? ms : 0);
	t->order = loop->order++;
	heap_put(loop, loop->n_timers, t);
	loop->n_timers++;
	loop_heap_up(loop, t->place);
	tick_arm(loop);
}

bool
loop_timer_pending(const struct loop_timer *t)
{
	return t->place != NOT_SET;
}

void
loop_timer_free(struct loop_timer *t)
{
	if (t == NULL)
		return;
	loop_timer_stop(t);
	free(t);
}

/* Run all timers that are due now, but none set by their callbacks. */
static void
timers_fire(struct loop *loop)
{
	struct loop_timer *t;
	int64_t now = loop_now_ms(loop);
	uint64_t until = loop->order;

	while (loop->n_timers > 0) {
		t = loop->heap[0];
		if (t->due_ms > now || t->order >= until)
			break;
		loop_timer_stop(t);
		t->cb(t->arg);
	}
	loop->tick_ms = -1;
	tick_arm(loop);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	timers_fire(arg);
}

int
loop_open(struct loop **out, enum loop_clock clock, struct err *e)
{
	struct loop *loop = xcalloc(1, sizeof *loop);

	loop->tick_ms = -1;
	if (clock == LOOP_REAL) {
		loop->base = event_base_new();
		if (loop->base == NULL) {
			free(loop);
			return err_set(
			    e, ERR_FILE, "the event loop cannot be created");
		}
		loop->tick = evtimer_new(loop->base, on_tick, loop);
	}
	*out = loop;
	return 0;
}

void
loop_close(struct loop *loop)
{
	if (loop == NULL)
		return;
	if (loop->base != NULL) {
		event_free(loop->tick);
		event_base_free(loop->base);
	}
	free(loop->heap);
	free(loop);
}

static void
loop_wait(struct loop *loop)
{
	int flags = EVLOOP_ONCE;

	if (loop->base != NULL) {
		if (loop->woken)
			flags |= EVLOOP_NONBLOCK;
		loop->woken = false;
		(void)event_base_loop(loop->base, flags);
		return;
	}
	if (loop->woken || loop->n_timers == 0) {
		loop->woken = false;
		return;
	}
	if (loop->heap[0]->due_ms > loop->virtual_ms)
		loop->virtual_ms = loop->heap[0]->due_ms;
	timers_fire(loop);
}

void
loop_run(struct loop *loop, loop_cb *turn, void *arg)
{
	loop->stopped = false;
	for (;;) {
		turn(arg);
		if (loop->stopped)
			return;
		loop_wait(loop);
	}
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

void
loop_wake(struct loop *loop)
{
	loop->woken = true;
}

static void
loop_on_read(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *f = arg;

	(void)what;
	f->cb(f->arg, fd, true, false);
}

static void
on_write(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *f = arg;

	(void)what;
	f->cb(f->arg, fd, false, true);
}

struct loop_fd *
loop_fd_new(struct loop *loop, int fd, loop_fd_cb *cb, void *arg)
{
	struct loop_fd *f = xcalloc(1, sizeof *f);

	*f = (struct loop_fd){ .loop = loop, .cb = cb, .arg = arg };
	if (loop->base != NULL) {
		f->read = event_new(
		    loop->base, fd, EV_READ | EV_PERSIST, loop_on_read, f);
		f->write = event_new(
		    loop->base, fd, EV_WRITE | EV_PERSIST, on_write, f);
	}
	return f;
}

static void
want(struct event *ev, bool *now, bool wanted)
{
	if (ev == NULL || *now == wanted)
		return;
	*now = wanted;
	if (wanted)
		(void)event_add(ev, NULL);
	else
		(void)event_del(ev);
}

void
loop_fd_want(struct loop_fd *f, bool reading, bool writing)
{
	want(f->read, &f->reading, reading);
	want(f->write, &f->writing, writing);
}

void
loop_fd_free(struct loop_fd *f)
{
	if (f == NULL)
		return;
	if (f->read != NULL) {
		event_free(f->read);
		event_free(f->write);
	}
	free(f);
}

static void
loop_on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct loop_signal *s = arg;

	(void)fd;
	(void)what;
	s->cb(s->arg);
}

struct loop_signal *
loop_signal_new(struct loop *loop, int signo, loop_cb *cb, void *arg)
{
	struct loop_signal *s = xcalloc(1, sizeof *s);

	s->cb = cb;
	s->arg = arg;
	if (loop->base != NULL) {
		s->ev = evsignal_new(loop->base, signo, loop_on_signal, s);
		(void)evsignal_add(s->ev, NULL);
	}
	return s;
}

void
loop_signal_free(struct loop_signal *s)
{
	if (s == NULL)
		return;
	if (s->ev != NULL)
		event_free(s->ev);
	free(s);
}
