/* TLS: certificates are accepted only if valid for the host. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/http/http-pool.h"
#include "tests/support/tap.h"

#define MAKE_CERTIFICATE                                                 \
	"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 " \
	"-nodes -days 2 -subj /CN=127.0.0.1 -addext "                    \
	"subjectAltName=IP:127.0.0.1 -keyout %s/key -out %s/cert 2>%s/log"

struct tls {
	char dir[32], *cert, *key;
	pid_t pid;
	int port;
};

static bool
certificate_make(struct tls *t)
{
	char line[512];

	(void)snprintf(t->dir, sizeof t->dir, "/tmp/t_http_tls-XXXXXX");
	if (mkdtemp(t->dir) == NULL)
		return false;
	t->cert = xasprintf("%s/cert", t->dir);
	t->key = xasprintf("%s/key", t->dir);
	(void)snprintf(
	    line, sizeof line, MAKE_CERTIFICATE, t->dir, t->dir, t->dir);
	return system(line) == 0;
}

static void
server_run(const struct tls *t, int out)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)dup2(out, STDOUT_FILENO);
	(void)execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0",
	    "-cert", t->cert, "-key", t->key, "-www", (char *)NULL);
	_exit(127);
}

/* Start the server, which says on which port it listens. */
static bool
server_start(struct tls *t)
{
	char line[256];
	int p[2];
	FILE *f;

	if (pipe2(p, O_CLOEXEC) == -1)
		return false;
	t->pid = fork();
	if (t->pid == 0)
		server_run(t, p[1]);
	(void)close(p[1]);
	f = fdopen(p[0], "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "ACCEPT 127.0.0.1:%d", &t->port) == 1)
			return true;
	return false;
}

static void
tls_end(struct tls *t)
{
	char line[128];

	if (t->pid > 0) {
		(void)kill(t->pid, SIGKILL);
		(void)waitpid(t->pid, NULL, 0);
	}
	(void)snprintf(line, sizeof line, "rm -rf %s", t->dir);
	if (system(line) != 0)
		printf("# %s stays\n", t->dir);
	free(t->cert);
	free(t->key);
}

static void
test_certificates(struct http_pool *g, const struct tls *t)
{
	struct http *before = g->http;
	struct err e = ERR_INIT;
	struct http_pool_answer h;
	char url[128];
	struct http_send s = { .method = "GET", .url = url, .direct = true };

	(void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", t->port);
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 0 && h.unsent, "an unknown certificate: %s", h.error);
	http_pool_answer_free(&h);
	ok(http_open(&g->http, g->loop, t->cert, &e) == 0, "his certificate");
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 200 && h.len > 0, "makes him known %s", h.error);
	http_pool_answer_free(&h);
	(void)snprintf(url, sizeof url, "https://localhost:%d/", t->port);
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 0 && h.unsent, "but by no other name: %s", h.error);
	http_pool_answer_free(&h);
	http_close(g->http);
	ok(http_open(&g->http, g->loop, "/no/such/bundle", &e) == 0,
	    "a bundle that is not there");
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 0 && h.unsent, "adds no certificate: %s", h.error);
	http_pool_answer_free(&h);
	http_close(g->http);
	g->http = before;
}

int
main(void)
{
	struct tls t = { .pid = 0 };
	struct http_pool g = { 0 };

	http_rig_open(&g);
	if (system("openssl version >/dev/null 2>&1") != 0)
		skip("certificates", "there is no openssl");
	else if (ok(certificate_make(&t) && server_start(&t), "a server"))
		test_certificates(&g, &t);
	is_int(g.wrong, 0, "one answer each, not from inside http_start");
	if (t.cert != NULL)
		tls_end(&t);
	http_rig_close(&g);
	return done_testing();
}
