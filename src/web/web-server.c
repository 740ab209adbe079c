/*
 * Listens, checks the rights of the client, and passes each request to its
 * page.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/web/web-access.h"
#include "src/web/web-action.h"
#include "src/web/web-address.h"
#include "src/web/web-live.h"
#include "src/web/web-page.h"
#include "src/web/web-server.h"
#include "src/web/web-studies.h"

static const char script[] =
#include "src/web/web-script.inc"
    ;
static const char style[] =
#include "src/web/web-style.inc"
    ;

enum { LATE_MS = 5 /* of a turn of the loop: an answer takes several turns */ };

struct web_server {
	const struct web_server_options *options;
	struct loop *loop;
	struct loop_timer *late; /* for studies whose summaries are */
	struct http_server *http;
	struct web_access access;
	struct web_studies studies;
	struct web_live *live;
	struct web_actions *actions;
	struct web_page_studies *study_pages;
};

/* ---- answers ------------------------------------------------------------- */

static void
headers_put(struct http_server_request *r, const char *type)
{
	http_server_set(r, "Content-Type", type);
	http_server_set(r, "Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; "
	    "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
	    "frame-ancestors 'none'; base-uri 'none'");
	http_server_set(r, "X-Content-Type-Options", "nosniff");
	http_server_set(r, "Referrer-Policy", "same-origin");
	http_server_set(r, "Cross-Origin-Resource-Policy", "same-origin");
	http_server_set(r, "Cache-Control", "no-store");
}

static void
answer(struct http_server_request *r, int status, const char *type,
    const struct buf *b)
{
	headers_put(r, type);
	http_server_answer(r, status, b->data, b->len);
}

static void
html_answer(struct http_server_request *r, int status, struct buf *b)
{
	answer(r, status, "text/html; charset=utf-8", b);
	buf_free(b);
}

static void
text_answer(struct http_server_request *r, int status, const char *text)
{
	struct buf b = { 0 };

	buf_puts(&b, text);
	answer(r, status, "text/plain; charset=utf-8", &b);
	buf_free(&b);
}

static void
constant_answer(struct http_server_request *r, const char *type, const char *a,
    const char *b)
{
	struct buf text = { 0 };

	buf_puts(&text, a);
	buf_puts(&text, b);
	answer(r, 200, type, &text);
	buf_free(&text);
}

static void
sentence_answer(struct web_server *w, struct http_server_request *r, int status,
    const char *title, const char *sentence)
{
	struct buf b = { 0 };

	web_page_sentence(&b, &w->access, title, sentence);
	html_answer(r, status, &b);
}

/* ---- requests ------------------------------------------------------------ */

/* Whether the verdict lets the request pass; otherwise it is answered. */
static bool
passes(struct web_server *w, struct http_server_request *r, bool post,
    enum web_verdict verdict)
{
	struct buf b = { 0 };

	switch (verdict) {
	case WEB_ALLOWED:
		return true;
	case WEB_WRONG_HOST:
		text_answer(r, 403,
		    "This host name is not allowed: use localhost, or "
		    "--allow-host NAME.\n");
		break;
	case WEB_WRONG_ORIGIN:
		text_answer(
		    r, 403, "This request does not come from our own page.\n");
		break;
	case WEB_READ_ONLY:
		text_answer(r, 403, "hpotune web runs with --read-only.\n");
		break;
	case WEB_NO_TOKEN:
		if (post) {
			text_answer(r, 401, "This needs the token.\n");
			break;
		}
		web_page_login(&b, &w->access);
		html_answer(r, 401, &b);
		break;
	}
	return false;
}

static void
login(struct web_server *w, struct http_server_request *r)
{
	struct web_address form = { 0 };
	char *cookie;
	const char *body;
	size_t len;
	bool good;

	body = http_server_body(r, &len);
	if (body != NULL)
		web_address_read_form(&form, body, len);
	good = web_access_is_token(
	    w->access.token, web_address_param(&form, "token", 0));
	web_address_fini(&form);
	if (!good) {
		sentence_answer(w, r, 403, "Wrong token",
		    "hpotune web printed the address with the right one.");
		return;
	}
	cookie = xasprintf("%s=%s; HttpOnly; SameSite=Strict; Path=/",
	    w->access.cookie, w->access.token);
	http_server_set(r, "Set-Cookie", cookie);
	http_server_set(r, "Location", "/");
	free(cookie);
	text_answer(r, 303, "");
}

static void
action(struct web_server *w, const struct web_study *s,
    struct http_server_request *r)
{
	struct web_address form = { 0 };
	const char *body;
	size_t len;

	body = http_server_body(r, &len);
	if (body != NULL)
		web_address_read_form(&form, body, len);
	headers_put(r, "text/plain; charset=utf-8");
	web_action_do(w->actions, s, &form, r);
	web_address_fini(&form);
}

static void
log_answer(const struct web_study *s, const struct web_address *a,
    struct http_server_request *r)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int64_t next;
	char number[32];
	bool over;

	if (web_page_log(&b, s, a, &next, &over, &e) != 0) {
		buf_free(&b);
		text_answer(r, 404, e.text);
		return;
	}
	(void)snprintf(number, sizeof number, "%" PRId64, next);
	http_server_set(r, "X-Next", number);
	http_server_set(r, "X-Over", over ? "1" : "0");
	answer(r, 200, "text/plain; charset=utf-8", &b);
	buf_free(&b);
}

/* What is about one study. */
static void
study_answer(
    struct web_server *w, struct web_address *a, struct http_server_request *r)
{
	const struct web_study *s = web_studies_find(&w->studies, a->study);
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (s == NULL) {
		sentence_answer(w, r, 404, "No such study",
		    "The list of studies names those that there are.");
		return;
	}
	switch (a->page) {
	case WEB_PAGE_LIVE:
		headers_put(r, "text/event-stream");
		/* A stream of events has no end: HEAD gets its headers. */
		if (http_server_method(r) == HTTP_SERVER_HEAD) {
			http_server_answer(r, 200, "", 0);
			return;
		}
		web_live_add(
		    w->live, s, r, web_address_number(a, "tick", 0) == 1);
		return;
	case WEB_PAGE_LOG:
		log_answer(s, a, r);
		return;
	case WEB_PAGE_TRIAL:
		rc = web_page_trial(&b, &w->access, s, a, &e);
		break;
	case WEB_PAGE_TRIALS:
		rc = web_page_trials(&b, &w->access, s, a, &e);
		break;
	case WEB_PAGE_LINE:
		rc = web_page_line(&b, s, a, &e);
		if (rc == 0)
			answer(r, 200, "text/plain; charset=utf-8", &b);
		else
			text_answer(r, 404, e.text);
		buf_free(&b);
		return;
	default:
		headers_put(r, "text/html; charset=utf-8");
		rc = web_page_study(w->study_pages, &w->access, s, a, r, &e);
		if (rc == 0)
			return;
		break;
	}
	if (rc == 0) {
		html_answer(r, 200, &b);
		return;
	}
	buf_free(&b);
	sentence_answer(w, r, e.kind == ERR_USAGE ? 404 : 503,
	    "This cannot be shown", e.text);
}

static void
compare_answer(struct web_server *w, const struct web_address *a,
    struct http_server_request *r)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;

	if (web_page_compare(&b, &w->access, &w->studies, a, &e) == 0)
		html_answer(r, 200, &b);
	else {
		buf_free(&b);
		sentence_answer(w, r, 404, "This cannot be shown", e.text);
	}
}

/* What may be seen without a token: nothing of a study. */
static bool
public_answer(struct web_server *w, const struct web_address *a,
    const struct web_access_headers *headers, bool post,
    struct http_server_request *r)
{
	if (!post &&
	    (a->page == WEB_PAGE_STYLE || a->page == WEB_PAGE_SCRIPT)) {
		if (!passes(w, r, false, web_access_file(&w->access, headers)))
			return true;
		if (a->page == WEB_PAGE_STYLE)
			constant_answer(
			    r, "text/css; charset=utf-8", page_style, style);
		else
			constant_answer(r, "text/javascript; charset=utf-8",
			    page_script, script);
	} else if (post && a->page == WEB_PAGE_LOGIN) {
		if (passes(w, r, true, web_access_login(&w->access, headers)))
			login(w, r);
	} else
		return false;
	return true;
}

/* Other requests are answered between two turns. */
static void
on_late(void *arg)
{
	struct web_server *w = arg;

	if (!web_studies_catch_up(&w->studies, clock_boot_ms() + LATE_MS))
		loop_timer_set(w->late, 0);
}

static void
get_answer(
    struct web_server *w, struct web_address *a, struct http_server_request *r)
{
	struct buf b = { 0 };

	if (a->page == WEB_PAGE_INDEX) {
		web_page_index(&b, &w->access, &w->studies, a);
		html_answer(r, 200, &b);
		loop_timer_set(w->late, 0);
	} else if (a->page == WEB_PAGE_COMPARE)
		compare_answer(w, a, r);
	else if (a->study != NULL && a->page != WEB_PAGE_ACTION &&
		 a->page != WEB_PAGE_NONE)
		study_answer(w, a, r);
	else
		sentence_answer(w, r, 404, "No such page",
		    "The list of studies leads to all pages.");
}

static void
post_answer(struct web_server *w, const struct web_address *a,
    struct http_server_request *r)
{
	const struct web_study *s =
	    a->page != WEB_PAGE_ACTION
		? NULL
		: web_studies_find(&w->studies, a->study);

	if (s != NULL)
		action(w, s, r);
	else
		text_answer(r, 404, "There is nothing to act on.\n");
}

static void
on_request(void *arg, struct http_server_request *r)
{
	struct web_server *w = arg;
	struct web_access_headers headers = {
		.host = http_server_header(r, "Host"),
		.origin = http_server_header(r, "Origin"),
		.cookie = http_server_header(r, "Cookie"),
		.form = http_server_header(r, "X-Hpotune-Form"),
	};
	bool post = http_server_method(r) == HTTP_SERVER_POST;
	struct web_address a;

	web_address_read(&a, http_server_target(r));
	if (!public_answer(w, &a, &headers, post, r) &&
	    passes(w, r, post,
		post ? web_access_act(&w->access, &headers)
		     : web_access_read(&w->access, &headers))) {
		if (post)
			post_answer(w, &a, r);
		else
			get_answer(w, &a, r);
	}
	web_address_fini(&a);
}

/* ---- the socket ---------------------------------------------------------- */

/* Remove the socket of a server that was killed; ERR_BUSY: one listens. */
static int
socket_remove(const struct sockaddr_un *un, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (lstat(un->sun_path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_USAGE,
		    "%s: exists and is no socket: choose another path with "
		    "--socket",
		    un->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	/* Not blocking: the other one's queue may be full. */
	rc = connect(fd, (const struct sockaddr *)un, sizeof *un) == 0 ? 0
								       : errno;
	(void)close(fd);
	if (rc == 0 || rc == EAGAIN)
		return err_set(e, ERR_BUSY,
		    "%s: another hpotune web listens there", un->sun_path);
	if (rc != ECONNREFUSED && rc != ENOENT)
		return err_set(
		    e, ERR_FILE, "%s: %s", un->sun_path, strerror(rc));
	(void)unlink(un->sun_path);
	return 0;
}

static int
unix_listen(int *fd, const char *path, struct err *e)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof un.sun_path)
		return err_set(e, ERR_USAGE,
		    "%s: the path of a socket has at most %zu bytes: choose "
		    "a shorter one with --socket",
		    path, sizeof un.sun_path - 1);
	memcpy(un.sun_path, path, strlen(path) + 1);
	if (socket_remove(&un, e) != 0)
		return -1;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	mask = umask(0177);
	rc = bind(*fd, (struct sockaddr *)&un, sizeof un);
	(void)umask(mask);
	if (rc == 0 && listen(*fd, SOMAXCONN) == 0)
		return 0;
	rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	(void)close(*fd);
	return rc;
}

static int
tcp_address(struct sockaddr_storage *out, socklen_t *len, const char *text,
    int port, struct err *e)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		*len = sizeof *four;
	} else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		*len = sizeof *six;
	} else
		return err_set(e, ERR_USAGE,
		    "--bind %s: expected the number of an address, such as "
		    "127.0.0.1 or ::1",
		    text);
	return 0;
}

static int
tcp_listen(int *fd, int *port, const char *text, struct err *e)
{
	struct sockaddr_storage address;
	socklen_t len;
	int on = 1, rc;

	if (tcp_address(&address, &len, text, *port, e) != 0)
		return -1;
	*fd = socket(
	    address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(*fd, (struct sockaddr *)&address, len) != 0 ||
	    listen(*fd, SOMAXCONN) != 0 ||
	    getsockname(*fd, (struct sockaddr *)&address, &len) != 0) {
		rc = errno == EADDRINUSE
			 ? err_set(e, ERR_BUSY,
			       "%s port %d: %s: choose another port, or 0 for "
			       "any free one",
			       text, *port, strerror(errno))
			 : err_set(e, ERR_FILE, "%s port %d: %s", text, *port,
			       strerror(errno));
		(void)close(*fd);
		return rc;
	}
	*port = ntohs(address.ss_family == AF_INET
			  ? ((struct sockaddr_in *)&address)->sin_port
			  : ((struct sockaddr_in6 *)&address)->sin6_port);
	return 0;
}

/* ---- the process --------------------------------------------------------- */

static void
on_stop(void *arg)
{
	struct web_server *w = arg;

	loop_stop(w->loop);
}

/* The program that started us has ended. */
static void
on_until(void *arg, int fd, bool readable, bool writable)
{
	struct web_server *w = arg;
	char byte;

	(void)readable;
	(void)writable;
	if (read(fd, &byte, 1) <= 0)
		loop_stop(w->loop);
}

static void
on_turn(void *arg)
{
	(void)arg;
}

static void
serve(struct web_server *w, int port)
{
	struct loop_signal *interrupted, *terminated;
	struct loop_fd *until = NULL;

	interrupted = loop_signal_new(w->loop, SIGINT, on_stop, w);
	terminated = loop_signal_new(w->loop, SIGTERM, on_stop, w);
	if (w->options->until_fd != -1) {
		until = loop_fd_new(w->loop, w->options->until_fd, on_until, w);
		loop_fd_want(until, true, false);
	}
	w->options->ready(w->options->arg, port, w->access.token);
	loop_run(w->loop, on_turn, w);
	if (until != NULL)
		loop_fd_free(until);
	loop_signal_free(interrupted);
	loop_signal_free(terminated);
}

int
web_server_run(const struct web_server_options *options, struct err *e)
{
	struct web_server w = { .options = options,
		.studies = { .places = options->places } };
	int fd = -1, port = options->port, rc;

	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_open(&w.loop, LOOP_REAL, e) != 0)
		return -1;
	web_access_init(&w.access, options->socket == NULL);
	w.access.read_only = options->read_only;
	w.access.host = options->host;
	rc = options->socket != NULL ? unix_listen(&fd, options->socket, e)
				     : tcp_listen(&fd, &port, options->bind, e);
	if (rc == 0) {
		w.late = loop_timer_new(w.loop, on_late, &w);
		w.live = web_live_open(w.loop);
		w.actions = web_actions_open(w.loop);
		w.study_pages = web_page_studies_open(w.loop);
		rc = http_server_open(&w.http, w.loop, fd, on_request, &w, e);
		if (rc == 0) {
			serve(&w, port);
			http_server_close(w.http);
		}
		if (options->socket != NULL)
			(void)unlink(options->socket);
		web_page_studies_close(w.study_pages);
		web_actions_close(w.actions);
		web_live_close(w.live);
		loop_timer_free(w.late);
	}
	web_studies_fini(&w.studies);
	loop_close(w.loop);
	return rc;
}
