/*
 * Seats: trials that were passed to the program and have not ended.  A trial
 * whose member is gone keeps its seat until the program reports its end, and no
 * other process may run it meanwhile.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/pack/pack-log.h"
#include "trials/pack/pack-seats.h"
#include "trials/pack/pack.h"
#include "trials/process/attempt-record.h"
#include "trials/process/proc.h"

#define SEAT_LOCK "pack.lock"

enum {
	ALONE_MS = 2000, /* grace of a program whose members were all killed */
	LOCK_AGAIN_MS = 100
};

struct pack_seat *
pack_seats_find(struct pack *p, const struct pack_member *m)
{
	size_t i;

	for (i = 0; m->state == PACK_RUNNING && i < p->n_seats; i++)
		if (p->seats[i].member == m)
			return &p->seats[i];
	return NULL;
}

static struct pack_seat *
seat_find(struct pack *p, int64_t trial)
{
	size_t i;

	for (i = 0; i < p->n_seats; i++)
		if (p->seats[i].trial == trial)
			return &p->seats[i];
	return NULL;
}

static void
seat_free(struct pack *p, struct pack_seat *s)
{
	if (s->lock_fd != -1) {
		/* The trial's owner has ended it, or has ended itself. */
		if (ftruncate(s->lock_fd, 0) == -1)
			(void)0;
		(void)close(s->lock_fd);
	}
	*s = p->seats[--p->n_seats];
}

static void
pack_seats_program_put(struct pack *p, const char *text)
{
	pack_line_io_put(&p->program.in, text, strlen(text));
	pack_line_io_put(&p->program.in, "\n", 1);
}

static void
note_waits(struct pack *p, struct pack_member *m, const char *why)
{
	if (m->noted_wait)
		return;
	m->noted_wait = true;
	pack_log_note(p, "trial %lld attempt %lld waits: %s",
	    (long long)m->trial, (long long)m->attempt, why);
}

/* Which process has a trial: the boot, its pid and its start. */
static void
owner_write(const struct pack *p, int fd)
{
	char boot[37], text[96];
	struct proc_stat st;
	int n;

	proc_boot_id(boot);
	if (fd == -1 || !proc_stat(p->program.pid, &st))
		return;
	n = snprintf(text, sizeof text, "%s %d %lld\n", boot,
	    (int)p->program.pid, (long long)st.start);
	if (ftruncate(fd, 0) == -1 || pwrite(fd, text, (size_t)n, 0) != n)
		(void)0;
}

/*
 * Whether the program that held the lock still runs.  If its server was killed,
 * the lock is released a moment before the program ends.
 */
static bool
owner_lives(int fd)
{
	char text[96] = "", boot[37], theirs[37];
	struct proc_stat st;
	long long start;
	int pid;

	proc_boot_id(boot);
	return pread(fd, text, sizeof text - 1, 0) > 0 &&
	       sscanf(text, "%36s %d %lld", theirs, &pid, &start) == 3 &&
	       strcmp(boot, theirs) == 0 && proc_stat(pid, &st) &&
	       st.start == start && st.state != 'Z';
}

static bool
has_no_locks(int error)
{
	return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

/*
 * False: another program still has this trial.  If no lock can be taken because
 * the folder was removed, no other process can start it either.  A file system
 * of a cluster may have no locks.
 */
static bool
trial_lock(struct pack *p, struct pack_member *m, int *fd)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", m->trial_dir, SEAT_LOCK);
	*fd = file_open_for(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
	if (*fd == -1 || (attempt_record_lock(*fd) == 0 ? !owner_lives(*fd)
							: has_no_locks(errno)))
		return true;
	(void)close(*fd);
	note_waits(p, m, "another program still runs this trial");
	p->lock_try_ms = p->now_ms + LOCK_AGAIN_MS;
	return false;
}

static void
seat_take(struct pack *p, struct pack_member *m)
{
	int fd;

	if (seat_find(p, m->trial) != NULL || !trial_lock(p, m, &fd))
		return;
	p->seats[p->n_seats++] = (struct pack_seat){ .trial = m->trial,
		.attempt = m->attempt,
		.member = m,
		.unresponsive_at_ms = -1,
		.lock_fd = fd };
	m->state = PACK_RUNNING;
	owner_write(p, fd);
	fail_point("pack.before_message");
	pack_seats_program_put(p, m->message);
	free(m->message);
	m->message = NULL;
}

/* Whether the program owes an answer about a stop for too long. */
static bool
is_unresponsive(const struct pack *p)
{
	size_t i;

	for (i = 0; i < p->n_seats; i++)
		if (p->seats[i].unresponsive_at_ms >= 0 &&
		    p->seats[i].unresponsive_at_ms <= p->now_ms)
			return true;
	return false;
}

/* Whether any seat has a member. */
static bool
is_occupied(const struct pack *p)
{
	size_t i;

	for (i = 0; i < p->n_seats; i++)
		if (p->seats[i].member != NULL)
			return true;
	return false;
}

void
pack_seats_fill(struct pack *p)
{
	bool deaf = is_unresponsive(p);
	struct pack_member *m;

	p->lock_try_ms = -1;
	if (p->program.phase != PACK_UP)
		return;
	for (m = p->members; m != NULL && p->n_seats < (size_t)p->places;
	     m = m->next)
		if (m->state == PACK_WAITING && deaf)
			note_waits(p, m, "the program ignores stop requests");
		else if (m->state == PACK_WAITING)
			seat_take(p, m);
}

void
pack_seats_stop(struct pack *p, struct pack_seat *s)
{
	char text[96];

	if (s->told)
		return;
	s->told = true;
	(void)snprintf(text, sizeof text, "{\"stop\":%lld,\"attempt\":%lld}",
	    (long long)s->trial, (long long)s->attempt);
	pack_seats_program_put(p, text);
}

void
pack_seats_desert(struct pack *p, struct pack_seat *s)
{
	int64_t wait_ms = p->grace_ms;

	s->member = NULL;
	pack_seats_stop(p, s);
	pack_log_note(p, "trial %lld attempt %lld was killed",
	    (long long)s->trial, (long long)s->attempt);
	if (!is_occupied(p) && wait_ms > ALONE_MS)
		wait_ms = ALONE_MS;
	s->unresponsive_at_ms = p->now_ms + wait_ms;
}

static void
seat_end(struct pack *p, struct pack_seat *s)
{
	struct pack_member *m = s->member;
	struct buf b = { 0 };

	if (m != NULL) {
		buf_printf(&b, "%d %s", p->line.code, buf_str(&p->line.text));
		pack_members_send(m, 'e', buf_str(&b));
		m->state = PACK_LEAVING;
		buf_free(&b);
	}
	seat_free(p, s);
}

static void
pack_seats_nonsense(
    struct pack *p, const char *line, size_t len, const char *why)
{
	pack_log_note(p, "skipped: %s: %.*s%s", why,
	    (int)(len < 200 ? len : 200), line, len < 200 ? "" : " ...");
}

void
pack_seats_on_line(struct pack *p, const char *line, size_t len)
{
	struct pack_message *said = &p->line;
	struct pack_seat *s = NULL;

	pack_protocol_read(said, line, len);
	if (said->trial > 0)
		s = seat_find(p, said->trial);
	/* Reports and ends are always those of a trial. */
	if ((said->trial > 0 || said->said == PACK_MESSAGE_REPORT ||
		said->said == PACK_MESSAGE_END) &&
	    (s == NULL || (said->attempt > 0 && said->attempt != s->attempt))) {
		pack_seats_nonsense(
		    p, line, len, "the program has no such trial");
		return;
	}
	switch (said->said) {
	case PACK_MESSAGE_EMPTY:
		break;
	case PACK_MESSAGE_REPORT:
		if (s->member != NULL)
			pack_members_send(s->member, 'r', buf_str(&said->text));
		break;
	case PACK_MESSAGE_END:
		seat_end(p, s);
		break;
	case PACK_MESSAGE_LOG:
		if (s == NULL)
			pack_log_note(p, "it says: %s", buf_str(&said->text));
		else if (s->member != NULL)
			pack_members_send(s->member, 'l', buf_str(&said->text));
		break;
	case PACK_MESSAGE_INVALID:
		pack_seats_nonsense(p, line, len, buf_str(&said->text));
		break;
	}
}

void
pack_seats_end(struct pack *p, enum pack_end how, int number, const char *why)
{
	struct pack_member *m;
	struct buf b = { 0 };

	buf_printf(&b, "%c %d %s", how, number, why);
	for (m = p->members; m != NULL; m = m->next) {
		if (m->state != PACK_RUNNING &&
		    !(m->state == PACK_WAITING && how == PACK_END_NOT_RUN))
			continue;
		pack_members_send(m, 'd', buf_str(&b));
		m->state = PACK_LEAVING;
	}
	buf_free(&b);
	while (p->n_seats > 0)
		seat_free(p, &p->seats[p->n_seats - 1]);
}

int64_t
pack_seats_next_ms(const struct pack *p)
{
	int64_t first = -1, at;
	size_t i;

	for (i = 0; i < p->n_seats; i++) {
		at = p->seats[i].unresponsive_at_ms;
		if (at > p->now_ms && (first < 0 || at < first))
			first = at;
	}
	return first;
}

bool
pack_seats_deaf(const struct pack *p)
{
	return is_unresponsive(p) && !is_occupied(p);
}
