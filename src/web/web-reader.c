/* Forks readers, takes their frames, measures how they get on, kills them. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/web/web-pace.h"
#include "src/web/web-reader.h"
#include "src/web/web-sink.h"

enum {
	AT_ONCE = 12, /* readers that work */
	STAYING = 32, /* readers that stay */
	OF_STUDY = 2, /* of one study, working or stuck */
	TICK_MS = 20, /* between two looks at readers that work */
	STAY_TICK_MS = 200, /* at those that stay */
	/* A longer gap between two looks is our own fault, or the machine slept */
	GAP_MS = 100,
	STAY_GAP_MS = 400,
	SINK_FD = 3,
	BYTES_MOST = 64 << 20 /* of one that works */
};

enum web_reader_state {
	READER_WAITS, /* to be forked */
	READER_WORKS,
	READER_DIES /* killed or at its end, not reaped */
};

struct web_reader {
	struct web_readers *all;
	struct web_reader *next;
	enum web_reader_state state;
	struct web_reader_spec spec;
	char *study;
	struct web_sink_shared *shared;
	pid_t pid;
	int fd; /* -1 = closed */
	struct loop_fd *watch;
	struct buf in; /* of a frame that is not complete */
	size_t bytes; /* received */
	bool told; /* late was called */
	bool busy; /* a callback runs, which may kill it */
	bool killed;
	uint32_t turn; /* of the last look */
	uint64_t beats; /* as of the last look */
	struct web_pace pace;
};

struct web_readers {
	struct loop *loop;
	struct loop_timer *timer;
	struct web_reader *first; /* in the order of their starts */
	uint32_t turn;
};

/* In the new process: nothing of ours but the pipe; it ends with us. */
static void
web_reader_child(struct web_reader *r, int fd, pid_t parent)
{
	struct web_sink sink = { .fd = SINK_FD, .shared = r->shared };
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd != SINK_FD && dup2(fd, SINK_FD) == -1)
		_exit(1);
	closefrom(SINK_FD + 1);
	r->spec.work(r->spec.arg, &sink);
	web_sink_put(&sink, '.', "", 0);
	_exit(0);
}

static void
web_reader_pipe_close(struct web_reader *r)
{
	if (r->watch != NULL)
		loop_fd_free(r->watch);
	r->watch = NULL;
	if (r->fd != -1)
		(void)close(r->fd);
	r->fd = -1;
}

static void
web_reader_free(struct web_reader *r)
{
	struct web_reader **at;

	for (at = &r->all->first; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	web_reader_pipe_close(r);
	if (r->shared != NULL)
		(void)munmap(r->shared, sizeof *r->shared);
	buf_free(&r->in);
	free(r->study);
	free(r);
}

/* Whether it has been reaped. */
static bool
web_reader_reaped(struct web_reader *r)
{
	return waitpid(r->pid, NULL, WNOHANG) != 0;
}

/* What is left of it is its process, until that is reaped. */
static void
web_reader_die(struct web_reader *r)
{
	struct web_readers *all = r->all;
	const struct web_reader *o;
	bool waits = false;

	web_reader_pipe_close(r);
	if (r->state == READER_WORKS)
		(void)kill(r->pid, SIGKILL);
	if (r->state == READER_WAITS || web_reader_reaped(r))
		web_reader_free(r);
	else {
		r->state = READER_DIES;
		web_pace_on(&r->pace);
	}
	for (o = all->first; o != NULL; o = o->next)
		waits |= o->state == READER_WAITS;
	if (all->first != NULL)
		loop_timer_set(all->timer, waits ? 0 : TICK_MS);
}

/* The end of its work, for the caller. */
static void
web_reader_end(struct web_reader *r, const char *why)
{
	struct web_reader_spec spec = r->spec;
	int64_t at = atomic_load(&r->shared->at);

	web_reader_die(r);
	spec.end(spec.arg, why, at);
}

/* Pass complete frames on; false: it is no more. */
static bool
web_reader_frames(struct web_reader *r)
{
	size_t at = 0;
	uint32_t len;
	char kind;

	while (r->in.len - at >= WEB_SINK_HEAD) {
		memcpy(&len, r->in.data + at, sizeof len);
		kind = r->in.data[at + sizeof len];
		if (r->in.len - at - WEB_SINK_HEAD < len)
			break;
		if (kind == '.') {
			web_reader_end(r, NULL);
			return false;
		}
		r->busy = true;
		r->spec.frame(
		    r->spec.arg, kind, r->in.data + at + WEB_SINK_HEAD, len);
		r->busy = false;
		if (r->killed) {
			web_reader_die(r);
			return false;
		}
		at += WEB_SINK_HEAD + len;
	}
	if (at > 0) {
		memmove(r->in.data, r->in.data + at, r->in.len - at);
		r->in.len -= at;
	}
	return true;
}

/* Take what the pipe has; false: it is no more. */
static bool
web_reader_take(struct web_reader *r)
{
	char piece[65536];
	ssize_t n;

	for (;;) {
		n = read(r->fd, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			web_reader_end(r, "could not be read: its reader died");
			return false;
		}
		web_pace_on(&r->pace);
		r->bytes += (size_t)n;
		if (!r->spec.stays && r->bytes > BYTES_MOST) {
			web_reader_end(r, "has more than a page can show");
			return false;
		}
		buf_add(&r->in, piece, (size_t)n);
		if (!web_reader_frames(r))
			return false;
	}
}

static void
web_reader_on_pipe(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	(void)web_reader_take(arg);
}

/* What it has taken since the last look. */
static void
web_reader_measure(struct web_reader *r, int64_t now)
{
	uint64_t beats = atomic_load(&r->shared->beats);
	struct web_pace_seen seen;

	web_pace_read(&seen, r->pid);
	web_pace_look(
	    &r->pace, &seen, now, r->spec.stays ? STAY_GAP_MS : GAP_MS);
	if (beats != r->beats)
		web_pace_on(&r->pace);
	r->beats = beats;
}

static void
web_reader_look(struct web_reader *r, int64_t now)
{
	if (!web_reader_take(r))
		return;
	web_reader_measure(r, now);
	if (web_pace_idle_us(&r->pace) >= 1000 * WEB_READER_LIMIT_MS) {
		web_reader_end(r, "did not answer within a second");
		return;
	}
	if (r->told || r->spec.late == NULL ||
	    r->pace.taken_us < 1000 * r->spec.patience_ms)
		return;
	r->told = true;
	r->busy = true;
	r->spec.late(r->spec.arg);
	r->busy = false;
	if (r->killed)
		web_reader_die(r);
}

static bool
web_reader_fork(struct web_reader *r)
{
	pid_t parent = getpid();
	sigset_t all, old;
	int p[2];

	if (pipe2(p, O_CLOEXEC) != 0)
		return false;
	/* A signal in the new process would be taken for one of ours. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &old);
	r->pid = fork();
	if (r->pid == 0)
		web_reader_child(r, p[1], parent);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(p[1]);
	if (r->pid == -1) {
		(void)close(p[0]);
		return false;
	}
	(void)fcntl(p[0], F_SETFL, O_NONBLOCK);
	r->fd = p[0];
	r->watch = loop_fd_new(r->all->loop, r->fd, web_reader_on_pipe, r);
	loop_fd_want(r->watch, true, false);
	web_pace_begin(&r->pace, loop_now_ms(r->all->loop));
	r->state = READER_WORKS;
	return true;
}

size_t
web_readers_stuck(const struct web_readers *all, const char *study)
{
	const struct web_reader *r;
	size_t n = 0;

	for (r = all->first; r != NULL; r = r->next)
		n += r->state == READER_DIES &&
		     web_pace_idle_us(&r->pace) >= 1000 * WEB_READER_LIMIT_MS &&
		     strcmp(r->study, study) == 0;
	return n;
}

/* Whether there is room for it beside those that work. */
static bool
web_reader_may(const struct web_reader *r)
{
	size_t alike = 0, of_study = 0;
	const struct web_reader *o;

	for (o = r->all->first; o != NULL; o = o->next) {
		if (o->state == READER_WAITS || o->spec.stays != r->spec.stays)
			continue;
		alike += o->state == READER_WORKS;
		of_study += strcmp(o->study, r->study) == 0;
	}
	/* Readers of no study, of the list, are few. */
	return r->spec.stays	     ? alike < STAYING
	       : r->study[0] == '\0' ? true
				     : alike < AT_ONCE && of_study < OF_STUDY;
}

static void
web_reader_turn(struct web_reader *r, int64_t now)
{
	switch (r->state) {
	case READER_WAITS:
		if (!r->spec.stays && r->study[0] != '\0' &&
		    web_readers_stuck(r->all, r->study) >= OF_STUDY)
			web_reader_end(r, "hangs since it was read last");
		else if (web_reader_may(r) && !web_reader_fork(r))
			web_reader_end(r, "cannot be read: too many processes");
		break;
	case READER_WORKS:
		web_reader_look(r, now);
		break;
	case READER_DIES:
		if (web_reader_reaped(r))
			web_reader_free(r);
		else
			web_reader_measure(r, now);
		break;
	}
}

/* The next one of this turn: a callback may have freed any of them. */
static struct web_reader *
web_readers_next(struct web_readers *all)
{
	struct web_reader *r;

	for (r = all->first; r != NULL; r = r->next)
		if (r->turn != all->turn) {
			r->turn = all->turn;
			return r;
		}
	return NULL;
}

static void
web_readers_on_timer(void *arg)
{
	struct web_readers *all = arg;
	int64_t now = loop_now_ms(all->loop), next = STAY_TICK_MS;
	struct web_reader *r;

	all->turn++;
	while ((r = web_readers_next(all)) != NULL)
		web_reader_turn(r, now);
	for (r = all->first; r != NULL; r = r->next)
		if (!r->spec.stays && r->state != READER_DIES)
			next = TICK_MS;
	if (all->first != NULL)
		loop_timer_set(all->timer, next);
}

struct web_readers *
web_readers_open(struct loop *loop)
{
	struct web_readers *all = xcalloc(1, sizeof *all);

	all->loop = loop;
	all->timer = loop_timer_new(loop, web_readers_on_timer, all);
	return all;
}

void
web_readers_close(struct web_readers *all)
{
	struct web_reader *r;

	if (all == NULL)
		return;
	for (r = all->first; r != NULL; r = r->next)
		if (r->state == READER_WORKS)
			(void)kill(r->pid, SIGKILL);
	while ((r = all->first) != NULL) {
		/* One that hangs ends without us. */
		if (r->state != READER_WAITS)
			(void)web_reader_reaped(r);
		web_reader_free(r);
	}
	loop_timer_free(all->timer);
	free(all);
}

struct web_reader *
web_reader_start(struct web_readers *all, const struct web_reader_spec *spec)
{
	struct web_reader *r = xcalloc(1, sizeof *r), **at;

	r->all = all;
	r->spec = *spec;
	r->study = xstrdup(spec->study);
	r->spec.study = r->study;
	r->fd = -1;
	r->turn = all->turn - 1;
	r->shared = mmap(NULL, sizeof *r->shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->shared == MAP_FAILED)
		log_bug("out of memory");
	atomic_store(&r->shared->at, -1);
	for (at = &all->first; *at != NULL; at = &(*at)->next)
		;
	*at = r;
	/* Most are forked at once; what fails then ends from the timer. */
	if (web_reader_may(r) && !web_reader_fork(r))
		log_debug("web", "a reader cannot be started now");
	loop_timer_set(all->timer, TICK_MS);
	return r;
}

void
web_reader_kill(struct web_reader *r)
{
	if (r == NULL)
		return;
	if (r->busy)
		r->killed = true;
	else
		web_reader_die(r);
}

uint32_t
web_reader_ask(struct web_reader *r)
{
	return atomic_fetch_add(&r->shared->asked, 1) + 1;
}
