/*
 * The server of one place: takes the lock, accepts members, and owns the user's
 * program while it is needed.  It outlives the server and all supervisors.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/pack/pack-arrivals.h"
#include "trials/pack/pack-log.h"
#include "trials/pack/pack-program.h"
#include "trials/pack/pack-seats.h"
#include "trials/pack/pack.h"
#include "trials/process/attempt-record.h"
#include "trials/process/proc-environ.h"

enum {
	LINGER_MS = 5000, /* before a program without trials is ended */
	AGAIN_MS = 100, /* between two tries at the lock of a place */
	FILES_EACH = 3,
	FILES_OTHER = 64,
	/* limit of another server's answer about its program */
	ANSWER_MS = 10000
};

/* Whether another server of the same program accepts members. */
static bool
is_served(const struct pack *p)
{
	char text[PACK_KEY + 64], answer[4] = "";
	struct pollfd poll_fd = { .events = POLLIN };
	bool is = false;
	int n;

	poll_fd.fd = pack_connect(p->dir_fd);
	if (poll_fd.fd == -1)
		return false;
	n = snprintf(text, sizeof text, "a %s %lld %lld\n", p->key,
	    (long long)p->trial, (long long)p->attempt);
	if (write(poll_fd.fd, text, (size_t)n) == n &&
	    poll(&poll_fd, 1, ANSWER_MS) == 1)
		is = read(poll_fd.fd, answer, sizeof answer - 1) > 0 &&
		     answer[0] == 'w';
	(void)close(poll_fd.fd);
	return is;
}

/* 1: the place is ours; 0: another one serves it; -1 with errno. */
static int
place_take(struct pack *p)
{
	p->lock_fd =
	    file_open_for(p->dir_fd, PACK_LOCK, O_RDWR | O_CREAT, 0600);
	if (p->lock_fd == -1)
		return -1;
	while (attempt_record_lock(p->lock_fd) == -1) {
		if (errno != EAGAIN)
			return -1;
		/* Wait for a server that is starting or exiting. */
		if (is_served(p))
			return 0;
		(void)poll(NULL, 0, AGAIN_MS);
	}
	return 1;
}

/* The folder is entered for a moment: a name of a socket must be short. */
static int
door_open(struct pack *p)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX,
		.sun_path = PACK_SOCKET };

	p->listen_fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listen_fd == -1 || fchdir(p->dir_fd) == -1)
		return -1;
	(void)unlink(PACK_SOCKET);
	if (bind(p->listen_fd, (struct sockaddr *)&name, sizeof name) == -1)
		return -1;
	return listen(p->listen_fd, PACK_PLACES_MAX);
}

static void
door_close(struct pack *p)
{
	struct pack_member *m;

	if (p->leaving)
		return;
	p->leaving = true;
	(void)unlinkat(p->dir_fd, PACK_SOCKET, 0);
	/*
	 * Waiting connections fail, and their members connect to the next
	 * server.
	 */
	(void)close(p->listen_fd);
	p->listen_fd = -1;
	p->accept_try_ms = -1;
	for (m = p->members; m != NULL; m = m->next)
		if (m->state == PACK_WAITING)
			m->io.over = true;
}

static int
owner_ears_open(struct pack *p)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGXFSZ);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signal_fd == -1)
		return -1;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void
owner_signals_heard(struct pack *p)
{
	struct signalfd_siginfo info;

	while (read(p->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGTERM && !p->leaving) {
			pack_log_note(p, "it was stopped");
			door_close(p);
			pack_program_end(p);
		}
}

static bool
anybody_waits(const struct pack *p)
{
	const struct pack_member *m;

	for (m = p->members; m != NULL; m = m->next)
		if (m->state == PACK_WAITING)
			return true;
	return false;
}

/* End a program that is not needed or does not respond. */
static void
program_mind(struct pack *p)
{
	bool idle = p->n_members == 0 && p->n_seats == 0;

	if (p->program.phase == PACK_NONE && !p->leaving && anybody_waits(p))
		pack_program_start(p);
	if (pack_seats_deaf(p))
		pack_program_kill(p);
	if (!idle) {
		p->leave_at_ms = -1;
		return;
	}
	if (p->leave_at_ms < 0 || p->hasty)
		p->leave_at_ms = p->now_ms + (p->hasty ? 0 : LINGER_MS);
	if (pack_arrivals_until(p) > p->leave_at_ms)
		p->leave_at_ms = pack_arrivals_until(p);
	if (p->now_ms >= p->leave_at_ms) {
		door_close(p);
		pack_program_end(p);
	}
}

/* Milliseconds to the next thing that is to be done; -1 = nothing. */
static int
owner_wait_ms(const struct pack *p)
{
	const int64_t at[] = { p->leaving ? -1 : p->leave_at_ms, p->lock_try_ms,
		p->accept_try_ms, pack_seats_next_ms(p),
		pack_program_next_ms(p) };
	int64_t first = clock_first(at, sizeof at / sizeof at[0]);

	if (first < 0)
		return -1;
	return first <= p->now_ms ? 0 : (int)(first - p->now_ms);
}

struct polls {
	struct pollfd *fd;
	size_t n, cap;
};

static void
polls_add(struct polls *polls, int fd, short events)
{
	XGROW(polls->fd, polls->n, polls->cap);
	polls->fd[polls->n++] = (struct pollfd){ .fd = fd, .events = events };
}

static void
polls_add_io(struct polls *polls, const struct pack_line_io *io, bool reads)
{
	short events = 0;

	if (io->fd != -1 && !io->over) {
		events = reads ? POLLIN : 0;
		if (pack_line_io_pending(io) > 0)
			events = (short)(events | POLLOUT);
	}
	polls_add(polls, events != 0 ? io->fd : -1, events);
}

static void
owner_wait_for_something(struct pack *p, struct polls *polls)
{
	struct pack_program *g = &p->program;
	struct pack_member *m;
	size_t i = 6;

	polls->n = 0;
	polls_add(polls, p->signal_fd, POLLIN);
	polls_add(polls, p->accept_try_ms < 0 ? p->listen_fd : -1, POLLIN);
	polls_add(polls, g->exec_fd, POLLIN);
	polls_add_io(polls, &g->in, false);
	polls_add_io(polls, &g->out, true);
	polls_add_io(polls, &g->err, true);
	for (m = p->members; m != NULL; m = m->next)
		polls_add_io(polls, &m->io, true);
	(void)poll(polls->fd, polls->n, owner_wait_ms(p));
	p->now_ms = clock_boot_ms();
	for (m = p->members; m != NULL; m = m->next, i++)
		if ((polls->fd[i].revents & ~POLLOUT) != 0)
			pack_members_read(p, m);
}

/*
 * Two descriptors per trial and one for a waiting member; the program keeps the
 * inherited limit.
 */
static void
owner_files_allow(struct pack *p)
{
	rlim_t want = (rlim_t)p->places * FILES_EACH + FILES_OTHER;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == -1)
		return;
	p->files = files.rlim_cur;
	if (files.rlim_cur >= want)
		return;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* False: no member is left, exit. */
static bool
owner_turn(struct pack *p)
{
	owner_signals_heard(p);
	if (!p->leaving)
		pack_members_admit(p);
	pack_program_turn(p);
	pack_members_sweep(p);
	program_mind(p);
	pack_seats_fill(p);
	pack_line_io_flush(&p->program.in);
	pack_members_sweep(p);
	return !p->leaving || p->program.phase != PACK_NONE || p->n_members > 0;
}

int
pack_owner_main(struct pack *p)
{
	static struct stop_tree stop_tree;
	struct polls polls = { 0 };
	int r;

	p->dir_fd =
	    open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir_fd == -1)
		return errno;
	r = place_take(p);
	if (r != 1)
		return r == 0 ? 0 : errno;
	/* Kill what a killed predecessor left. */
	(void)proc_environ_kill("HPOTUNE_PACK_DIR", p->dir);
	pack_log_open(&p->log, p->dir_fd);
	p->seats = xcalloc((size_t)p->places, sizeof *p->seats);
	p->now_ms = clock_boot_ms();
	p->leave_at_ms = p->lock_try_ms = p->accept_try_ms = -1;
	owner_files_allow(p);
	pack_arrivals_add(p, p->trial, p->attempt);
	p->program = (struct pack_program){ .exec_fd = -1,
		.stop_tree = &stop_tree,
		.in.fd = -1,
		.out.fd = -1,
		.err.fd = -1,
		.kill_at_ms = -1,
		.sweep_at_ms = -1 };
	fail_point("pack.before_door");
	if (owner_ears_open(p) == -1 || door_open(p) == -1) {
		r = errno;
		pack_log_note(p, "cannot listen: %s", strerror(r));
		return r;
	}
	while (owner_turn(p))
		owner_wait_for_something(p, &polls);
	pack_log_note(p, "it leaves");
	free(polls.fd);
	free(p->seats);
	free(p->expected);
	buf_free(&p->line.text);
	return 0;
}
