/*
 * The control socket, both ends: reads lines, looks up the command in a table
 * and passes it on.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/server/control.h"
#include "src/study-files/state-dir.h"

enum {
	LINE_MAX_BYTES = 524288 /* a diff, too */,
	CLIENTS_MAX = 64,
	ACCEPT_PAUSE_MS = 1000
};

struct client {
	struct control *control;
	uint64_t number; /* in order of connection */
	int fd;
	struct loop_fd *watch;
	struct buf in;
	bool waiting; /* an answer is pending */
	bool gone; /* it has disconnected */
	bool stays; /* stays open until the server has shut down */
	bool keeps; /* the client sends further requests */
};

struct control {
	struct loop *loop;
	struct control_hooks hooks;
	int fd;
	int dir_fd;
	struct loop_fd *watch;
	struct loop_timer *accept_again;
	struct client *clients[CLIENTS_MAX];
	uint64_t n_seen;
};

/*
 * The address uses the directory's descriptor: sun_path is too short for long
 * paths.
 */
static socklen_t
address(struct sockaddr_un *un, const struct state_dir *s)
{
	memset(un, 0, sizeof *un);
	un->sun_family = AF_UNIX;
	(void)snprintf(un->sun_path, sizeof un->sun_path,
	    "/proc/self/fd/%d/control", s->dir_fd);
	return (socklen_t)sizeof *un;
}

static void
client_free(struct client *c)
{
	size_t i;

	for (i = 0; i < CLIENTS_MAX; i++)
		if (c->control->clients[i] == c)
			c->control->clients[i] = NULL;
	loop_fd_free(c->watch);
	if (c->fd >= 0)
		close(c->fd);
	buf_free(&c->in);
	free(c);
}

static void
client_send(struct client *c, bool good, const char *text, const char *data)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_bool(&w, "ok", good);
	json_writer_text(&w, "text", text);
	if (data != NULL)
		json_writer_raw(&w, "data", data);
	json_writer_end(&w);
	buf_putc(&b, '\n');
	if (send(c->fd, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		c->gone = true; /* disconnected: no answer is sent */
	buf_free(&b);
}

static void
control_on_reply(void *arg, bool good, const char *text, const char *data)
{
	struct client *c = arg;

	c->waiting = false;
	if (!c->gone)
		client_send(c, good, text, data);
	if (!c->keeps || c->gone)
		client_free(c);
}

static const struct ask_row {
	const char *name;
	enum tuner_request_kind ask;
} asks[] = {
	{ "stop", TUNER_STOP_TRIAL },
	{ "pause", TUNER_PAUSE },
	{ "resume", TUNER_RESUME },
	{ "enqueue", TUNER_ENQUEUE },
	{ "unqueue", TUNER_UNQUEUE },
	{ "note", TUNER_NOTE },
	{ "tag", TUNER_TAG },
	{ "retry", TUNER_RETRY },
	{ "forget", TUNER_FORGET },
	{ "confirm", TUNER_CONFIRM },
	{ "propose", TUNER_PROPOSE },
	{ "propose-commit", TUNER_PROPOSE_COMMIT },
	{ "clean", TUNER_CLEAN },
	{ "ask", TUNER_ASK },
	{ "tell", TUNER_TELL },
	{ "judge", TUNER_JUDGE },
	{ "called", TUNER_CALLED },
};

/*
 * Strict: a trial number that cannot be parsed must not stop the whole study.
 */
static int
control_numbers_read(
    int64_t *trial, bool *now, const struct json *root, struct err *e)
{
	const struct json *j = json_get(root, "trial");

	if (j != NULL && json_read_integer(j, 1, INT64_MAX, trial, e) != 0)
		return -1;
	j = json_get(root, "now");
	return j != NULL ? json_read_bool(j, now, e) : 0;
}

/* True when the client has its answer and can be closed. */
static bool
client_command(struct client *c, const struct json *root)
{
	const char *name = json_string(json_get(root, "command"));
	const struct json *params = json_get(root, "params");
	const struct json *caller = json_get(root, "by");
	struct buf text = { 0 }, by = { 0 };
	struct err e = ERR_INIT;
	enum tuner_request_kind ask;
	int64_t trial = 0;
	bool now = false;
	size_t i;

	if (control_numbers_read(&trial, &now, root, &e) != 0) {
		client_send(c, false, e.text, NULL);
		return true;
	}
	if (name != NULL && strcmp(name, "stop") == 0 && trial == 0) {
		c->stays = true;
		client_send(c, true,
		    now ? "the server kills its trials and shuts down"
			: "the server waits for its trials to checkpoint and "
			  "shuts down",
		    NULL);
		c->control->hooks.leave(c->control->hooks.arg, now);
		return c->gone;
	}
	if (params != NULL)
		json_write(&text, params);
	if (caller != NULL)
		json_write(&by, caller);
	for (i = 0; i < sizeof asks / sizeof *asks; i++) {
		if (name == NULL || strcmp(name, asks[i].name) != 0)
			continue;
		c->waiting = true;
		ask = asks[i].ask == TUNER_STOP_TRIAL && now ? TUNER_KILL_TRIAL
							     : asks[i].ask;
		c->control->hooks.request(c->control->hooks.arg, ask, trial,
		    buf_str(&text), caller != NULL ? buf_str(&by) : NULL,
		    control_on_reply, c);
		buf_free(&text);
		buf_free(&by);
		return false;
	}
	buf_free(&text);
	buf_free(&by);
	client_send(c, false, "no such command", NULL);
	return true;
}

static bool
client_line(struct client *c)
{
	struct json_doc *doc;
	struct err e = ERR_INIT;
	bool over;

	/* A client waits for its answer before it sends another request. */
	if (json_parse(&doc, c->in.data, strcspn(c->in.data, "\n"), NULL, false,
		&e) != 0) {
		client_send(c, false, e.text, NULL);
		return true;
	}
	buf_clear(&c->in);
	(void)json_bool(json_get(json_root(doc), "keep"), &c->keeps);
	over = client_command(c, json_root(doc));
	json_free(doc);
	return over;
}

static void
on_client(void *arg, int fd, bool readable, bool writable)
{
	struct client *c = arg;
	char chunk[4096];
	ssize_t n;

	(void)readable;
	(void)writable;
	n = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || c->in.len + (size_t)n > LINE_MAX_BYTES) {
		c->gone = true;
		loop_fd_want(c->watch, false, false);
		if (!c->waiting)
			client_free(c);
		return;
	}
	if (c->waiting || c->stays)
		return;
	buf_add(&c->in, chunk, (size_t)n);
	if (strchr(c->in.data, '\n') != NULL && client_line(c))
		client_free(c);
}

static bool
peer_is_us(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof cred;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
	       cred.uid == geteuid();
}

/*
 * A free place among the clients, or CLIENTS_MAX. When all are taken, the
 * oldest client without a request is closed.
 */
static size_t
control_place_free(struct control *ctl)
{
	size_t i, oldest = CLIENTS_MAX;
	struct client *c;

	for (i = 0; i < CLIENTS_MAX; i++) {
		c = ctl->clients[i];
		if (c == NULL)
			return i;
		if (!c->waiting && !c->stays &&
		    (oldest == CLIENTS_MAX ||
			c->number < ctl->clients[oldest]->number))
			oldest = i;
	}
	if (oldest < CLIENTS_MAX)
		client_free(ctl->clients[oldest]);
	return oldest;
}

static void
control_on_accept_again(void *arg)
{
	struct control *ctl = arg;

	if (ctl->watch != NULL)
		loop_fd_want(ctl->watch, true, false);
}

static void
control_on_connect(void *arg, int fd, bool readable, bool writable)
{
	struct control *ctl = arg;
	struct client *c;
	size_t i;
	int peer;

	(void)readable;
	(void)writable;
	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (peer < 0) {
		/*
		 * For example out of descriptors: the socket stays readable, so
		 * stop watching it for a while.
		 */
		if (errno != EAGAIN && errno != EINTR &&
		    errno != ECONNABORTED) {
			loop_fd_want(ctl->watch, false, false);
			loop_timer_set(ctl->accept_again, ACCEPT_PAUSE_MS);
		}
		return;
	}
	i = peer_is_us(peer) ? control_place_free(ctl) : CLIENTS_MAX;
	if (i == CLIENTS_MAX) {
		close(peer);
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->control = ctl;
	c->number = ctl->n_seen++;
	c->fd = peer;
	c->watch = loop_fd_new(ctl->loop, peer, on_client, c);
	loop_fd_want(c->watch, true, false);
	ctl->clients[i] = c;
}

int
control_open(struct control **out, struct loop *loop, const struct state_dir *s,
    const struct control_hooks *hooks, struct err *e)
{
	struct sockaddr_un un;
	socklen_t len = address(&un, s);
	struct control *ctl;
	mode_t mask;
	int fd, rc;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(
		    e, ERR_FILE, "the control socket: %s", strerror(errno));
	(void)unlinkat(
	    s->dir_fd, "control", 0); /* of a server that was killed */
	mask = umask(077);
	rc = bind(fd, (struct sockaddr *)&un, len);
	(void)umask(mask);
	if (rc != 0 || listen(fd, CLIENTS_MAX) != 0) {
		err_set(e, ERR_FILE, "%s/control: %s", s->dir, strerror(errno));
		close(fd);
		return -1;
	}
	ctl = xcalloc(1, sizeof *ctl);
	ctl->loop = loop;
	ctl->hooks = *hooks;
	ctl->fd = fd;
	ctl->dir_fd = s->dir_fd;
	ctl->accept_again = loop_timer_new(loop, control_on_accept_again, ctl);
	ctl->watch = loop_fd_new(loop, fd, control_on_connect, ctl);
	loop_fd_want(ctl->watch, true, false);
	*out = ctl;
	return 0;
}

void
control_retire(struct control *ctl)
{
	if (ctl == NULL || ctl->fd < 0)
		return;
	loop_fd_free(ctl->watch);
	(void)unlinkat(ctl->dir_fd, "control", 0);
	close(ctl->fd);
	ctl->watch = NULL;
	ctl->fd = -1;
}

void
control_close(struct control *ctl)
{
	size_t i;

	if (ctl == NULL)
		return;
	control_retire(ctl);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (ctl->clients[i] != NULL)
			client_free(ctl->clients[i]);
	loop_timer_free(ctl->accept_again);
	free(ctl);
}

static int
answer_read(const char *line, struct control_answer *a, struct err *e)
{
	struct json_doc *doc;
	const struct json *data;
	const char *text;
	struct buf b = { 0 };

	if (json_parse(&doc, line, strcspn(line, "\n"), NULL, false, e) != 0)
		return err_add(e, "the server's answer");
	text = json_string(json_get(json_root(doc), "text"));
	a->ok = false;
	(void)json_bool(json_get(json_root(doc), "ok"), &a->ok);
	(void)snprintf(a->text, sizeof a->text, "%s", text != NULL ? text : "");
	data = json_get(json_root(doc), "data");
	if (data != NULL)
		json_write(&b, data);
	a->data = data != NULL ? buf_take(&b) : NULL;
	json_free(doc);
	return 0;
}

int
control_call(const struct state_dir *s, const char *line, bool wait,
    struct control_answer *a, struct err *e)
{
	struct sockaddr_un un;
	socklen_t len = address(&un, s);
	struct buf in = { 0 };
	char chunk[1024];
	ssize_t n;
	int fd, rc = 0;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&un, len) != 0) {
		rc = errno == ENOENT || errno == ECONNREFUSED
			 ? 1
			 : err_set(e, ERR_FILE, "%s/control: %s", s->dir,
			       strerror(errno));
		close(fd);
		return rc;
	}
	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 ||
	    send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		rc = err_set(e, ERR_FILE,
		    "the server closed the connection before it received "
		    "the request");
	while (rc == 0 && (wait || strchr(buf_str(&in), '\n') == NULL) &&
	       (n = recv(fd, chunk, sizeof chunk, 0)) > 0)
		buf_add(&in, chunk, (size_t)n);
	close(fd);
	if (rc == 0 && strchr(buf_str(&in), '\n') == NULL)
		rc = err_set(e, ERR_FILE,
		    "the server closed the connection without an answer: "
		    "hpotune status shows whether it runs");
	a->lost = rc != 0;
	if (rc == 0)
		rc = answer_read(buf_str(&in), a, e);
	buf_free(&in);
	return rc;
}
