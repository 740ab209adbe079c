/*
 * Event loop: clock, timers, descriptors, signals; the only module that uses
 * libevent's core (http/http-server.c uses its HTTP).  One thread, one loop.
 *
 * A turn is: run the callbacks of ready events (they only record what
 * happened), then call the turn function once, which decides, commits and
 * acts.  A loop may run on a virtual clock, for the simulator: time then jumps
 * to the next timer.
 */

#ifndef HPOTUNE_LOOP_H
#define HPOTUNE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;
struct loop_timer;
struct loop_fd;
struct loop_signal;

typedef void loop_cb(void *arg);
typedef void loop_fd_cb(void *arg, int fd, bool readable, bool writable);

enum loop_clock { LOOP_REAL, LOOP_VIRTUAL };

int loop_open(struct loop **, enum loop_clock, struct err *);
void loop_close(struct loop *);

/*
 * Run until loop_stop: wait for an event, run callbacks, call turn. turn is
 * called once before the first wait.
 */
void loop_run(struct loop *, loop_cb *turn, void *arg);
void loop_stop(struct loop *);
/* Start the next turn at once, without waiting. */
void loop_wake(struct loop *);

/* Monotonic time (CLOCK_BOOTTIME) in milliseconds; virtual in a simulation. */
int64_t loop_now_ms(const struct loop *);
/*
 * Wall clock time, microseconds since 1970: for display and rows, never for
 * decisions.
 */
int64_t loop_wall_us(const struct loop *);

/*
 * A new timer, not running; cb is called each time it fires.  The caller owns
 * it.
 */
struct loop_timer *loop_timer_new(struct loop *, loop_cb *, void *arg);
/* (Re)start: fire once, in ms milliseconds.  Callable from callbacks. */
void loop_timer_set(struct loop_timer *, int64_t ms);
void loop_timer_stop(struct loop_timer *);
bool loop_timer_pending(const struct loop_timer *);
void loop_timer_free(struct loop_timer *);

/* Watch a descriptor (level-triggered).  The caller still owns fd. */
struct loop_fd *loop_fd_new(struct loop *, int fd, loop_fd_cb *, void *arg);
void loop_fd_want(struct loop_fd *, bool read, bool write);
void loop_fd_free(struct loop_fd *);

/*
 * Call cb after signal signo was received (several may be merged into one
 * call).
 */
struct loop_signal *
loop_signal_new(struct loop *, int signo, loop_cb *, void *arg);
void loop_signal_free(struct loop_signal *);

#endif /* HPOTUNE_LOOP_H */
