/*
 * Connections of members (the processes of trials): accept, read, write.  A
 * member that does not read does not block the others.  Seats: trials that were
 * passed to the program and have not ended.  A trial whose member is gone keeps
 * its seat until the program reports its end, and no other process may run it
 * meanwhile.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/pack/pack.h"
#include "trials/process/attempt-record.h"
#include "trials/process/proc.h"

static void
pack_members_send(struct pack_member *, char letter, const char *text);

#define SEAT_LOCK "pack.lock"

enum {
	ALONE_MS = 2000, /* grace of a program whose members were all killed */
	LOCK_AGAIN_MS = 100
};

static struct pack_seat *
pack_members_find(struct pack *p, const struct pack_member *m)
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
		/* Its owner has ended it, or has ended. */
		if (ftruncate(s->lock_fd, 0) == -1)
			(void)0;
		(void)close(s->lock_fd);
	}
	*s = p->seats[--p->n_seats];
}

static void
program_put(struct pack *p, const char *text)
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
	*fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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
	program_put(p, m->message);
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
pack_members_fill(struct pack *p)
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

static void
pack_members_stop(struct pack *p, struct pack_seat *s)
{
	char text[96];

	if (s->told)
		return;
	s->told = true;
	(void)snprintf(text, sizeof text, "{\"stop\":%lld,\"attempt\":%lld}",
	    (long long)s->trial, (long long)s->attempt);
	program_put(p, text);
}

/* The member of a seat disconnected before the end of its trial. */
static void
pack_members_desert(struct pack *p, struct pack_seat *s)
{
	int64_t wait_ms = p->grace_ms;

	s->member = NULL;
	pack_members_stop(p, s);
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
nonsense(struct pack *p, const char *line, size_t len, const char *why)
{
	pack_log_note(p, "skipped: %s: %.*s%s", why,
	    (int)(len < 200 ? len : 200), line, len < 200 ? "" : " ...");
}

void
pack_members_on_line(struct pack *p, const char *line, size_t len)
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
		nonsense(p, line, len, "the program has no such trial");
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
		nonsense(p, line, len, buf_str(&said->text));
		break;
	}
}

/*
 * Waiting members are not affected by the end of the program, unless it cannot
 * be executed.
 */
void
pack_members_end(struct pack *p, enum pack_end how, int number, const char *why)
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
pack_members_next_ms(const struct pack *p)
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
pack_members_deaf(const struct pack *p)
{
	return is_unresponsive(p) && !is_occupied(p);
}

static void pack_arrivals_came(struct pack *, int64_t trial, int64_t attempt);

enum {
	MEMBERS_MAX = 3 * PACK_PLACES_MAX,
	DOOR_AGAIN_MS = 100,
	WAITING_MAX = 1 << 20 /* bytes on the way to one member */
};

static struct pack_member *
member_new(int fd)
{
	struct pack_member *m = xcalloc(1, sizeof *m);

	pack_line_io_open(&m->io, fd, PACK_GREETING_MAX);
	return m;
}

void
pack_members_admit(struct pack *p)
{
	struct pack_member **at = &p->members;
	int fd;

	if (p->accept_try_ms > p->now_ms)
		return;
	p->accept_try_ms = -1;
	while (*at != NULL)
		at = &(*at)->next;
	while (p->n_members < MEMBERS_MAX &&
	       (fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC)) != -1) {
		fail_point("pack.after_accept");
		*at = member_new(fd);
		at = &(*at)->next;
		p->n_members++;
	}
	/* Without descriptors they wait in the backlog. */
	if (p->n_members >= MEMBERS_MAX || (errno != EAGAIN && errno != EINTR))
		p->accept_try_ms = p->now_ms + DOOR_AGAIN_MS;
}

static void
pack_members_send(struct pack_member *m, char letter, const char *text)
{
	struct buf b = { 0 };

	if (letter == 'r' && pack_line_io_pending(&m->io) > WAITING_MAX) {
		m->dropped++;
		return;
	}
	if (m->dropped > 0 && letter != 'r') {
		buf_printf(&b,
		    "l %zu reports were dropped: they came faster than they "
		    "could be written\n",
		    m->dropped);
		m->dropped = 0;
	}
	buf_printf(&b, "%c %s\n", letter, text);
	/* Log lines may be dropped silently. */
	if (letter != 'l' || pack_line_io_pending(&m->io) <= WAITING_MAX)
		pack_line_io_put(&m->io, b.data, b.len);
	buf_free(&b);
}

/* The folder of a trial is that above its checkpoints. */
static char *
trial_dir(const char *text, size_t n)
{
	char *dir = xstrndup(text, n), *slash = strrchr(dir, '/');

	if (slash != NULL)
		*slash = '\0';
	return dir;
}

/* "TRIAL ATTEMPT KEY LENGTH CHECKPOINT_DIR MESSAGE", behind "j ". */
static void
greet_join(struct pack *p, struct pack_member *m, const char *text)
{
	long long trial, attempt, len;
	char key[PACK_KEY + 1];
	int at = 0;

	if (sscanf(text, "%lld %lld %16s %lld %n", &trial, &attempt, key, &len,
		&at) != 4 ||
	    at == 0 || trial < 1 || attempt < 1 || len < 1 ||
	    (size_t)len + 1 > strlen(text + at)) {
		m->io.over = true;
		return;
	}
	if (p->leaving || strcmp(key, p->key) != 0) {
		p->hasty = true;
		pack_members_send(m, 'o', "");
		m->state = PACK_LEAVING;
		return;
	}
	m->trial = trial;
	m->attempt = attempt;
	m->trial_dir = trial_dir(text + at, (size_t)len);
	m->message = xstrdup(text + at + len + 1);
	m->state = PACK_WAITING;
	p->hasty = false;
	pack_arrivals_came(p, trial, attempt);
	pack_members_send(m, 'w', "");
}

/* "KEY TRIAL ATTEMPT", behind "a ". */
static void
greet_ask(struct pack *p, struct pack_member *m, const char *text)
{
	long long trial, attempt;
	char key[PACK_KEY + 1];

	if (sscanf(text, "%16s %lld %lld", key, &trial, &attempt) != 3 ||
	    p->leaving || strcmp(key, p->key) != 0) {
		pack_members_send(m, 'o', "");
		return;
	}
	pack_arrivals_add(p, trial, attempt);
	pack_members_send(m, 'w', "");
}

static void
greet(struct pack *p, struct pack_member *m, const char *line)
{
	if (strncmp(line, "j ", 2) == 0) {
		greet_join(p, m, line + 2);
		return;
	}
	m->state = PACK_LEAVING;
	if (strcmp(line, "q") == 0)
		p->hasty = true;
	if (strncmp(line, "a ", 2) == 0)
		greet_ask(p, m, line + 2);
}

static void
member_stop(struct pack *p, struct pack_member *m)
{
	if (m->state == PACK_RUNNING)
		pack_members_stop(p, pack_members_find(p, m));
	if (m->state != PACK_WAITING)
		return;
	pack_members_send(m, 'e', "1 it was stopped before it started");
	m->state = PACK_LEAVING;
}

void
pack_members_read(struct pack *p, struct pack_member *m)
{
	size_t len;
	char *line;

	pack_line_io_read(&m->io);
	while ((line = pack_line_io_next(&m->io, &len)) != NULL)
		if (m->state == PACK_GREETING)
			greet(p, m, line);
		else if (strcmp(line, "s") == 0)
			member_stop(p, m);
}

static void
member_free(struct pack *p, struct pack_member *m)
{
	struct pack_seat *s = pack_members_find(p, m);

	if (s != NULL)
		pack_members_desert(p, s);
	pack_line_io_close(&m->io);
	free(m->message);
	free(m->trial_dir);
	free(m);
	p->n_members--;
}

void
pack_members_sweep(struct pack *p)
{
	struct pack_member *m, **at = &p->members;

	while ((m = *at) != NULL) {
		pack_line_io_flush(&m->io);
		if (!m->io.over && !(m->state == PACK_LEAVING &&
				       pack_line_io_pending(&m->io) == 0)) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		member_free(p, m);
	}
}

/*
 * Expected members.  The launcher starts a server per attempt, and the
 * attempt's own process connects a moment later or earlier.  Until then the
 * place does not exit.
 */

enum { EXPECT_MS = 30000 /* for a supervisor to make its claim */ };

static void
expect_prune(struct pack *p)
{
	struct pack_arrival *x = p->expected;
	size_t i, kept = 0;

	for (i = 0; i < p->n_expected; i++)
		if (x[i].until_ms > p->now_ms)
			x[kept++] = x[i];
	p->n_expected = kept;
}

/* Whether the other half of it was noted before; else this half is now. */
static void
expect_note(struct pack *p, int64_t trial, int64_t attempt, bool came)
{
	struct pack_arrival *x = p->expected;
	size_t i;

	expect_prune(p);
	for (i = 0; i < p->n_expected; i++)
		if (x[i].trial == trial && x[i].attempt == attempt) {
			if (x[i].came != came)
				x[i] = x[--p->n_expected];
			return;
		}
	if (p->n_expected == p->cap_expected) {
		p->cap_expected = p->cap_expected * 2 + 64;
		p->expected = xreallocarray(
		    p->expected, p->cap_expected, sizeof *p->expected);
	}
	p->expected[p->n_expected++] = (struct pack_arrival){ trial, attempt,
		p->now_ms + EXPECT_MS, came };
}

void
pack_arrivals_add(struct pack *p, int64_t trial, int64_t attempt)
{
	expect_note(p, trial, attempt, false);
}

static void
pack_arrivals_came(struct pack *p, int64_t trial, int64_t attempt)
{
	expect_note(p, trial, attempt, true);
}

int64_t
pack_arrivals_until(struct pack *p)
{
	int64_t last = -1;
	size_t i;

	expect_prune(p);
	for (i = 0; i < p->n_expected; i++)
		if (!p->expected[i].came && p->expected[i].until_ms > last)
			last = p->expected[i].until_ms;
	return last;
}
