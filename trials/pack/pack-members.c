/*
 * Connections of members (the processes of trials): accept, read, write.  A
 * member that does not read does not block the others.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "src/base/fail.h"
#include "trials/pack/pack-arrivals.h"
#include "trials/pack/pack-seats.h"
#include "trials/pack/pack.h"

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

void
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
pack_members_greet(struct pack *p, struct pack_member *m, const char *line)
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
		pack_seats_stop(p, pack_seats_find(p, m));
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
			pack_members_greet(p, m, line);
		else if (strcmp(line, "s") == 0)
			member_stop(p, m);
}

static void
member_free(struct pack *p, struct pack_member *m)
{
	struct pack_seat *s = pack_seats_find(p, m);

	if (s != NULL)
		pack_seats_desert(p, s);
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
