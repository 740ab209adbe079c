/* Runs commands for the pages. */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/mem.h"
#include "src/web/web-action.h"

enum { TIMEOUT_MS = 120000, RUNNING = 8 };

struct action {
	struct web_actions *all;
	struct action *next;
	struct capture *capture;
	struct http_server_request *request; /* NULL = its client has gone */
};

struct web_actions {
	struct loop *loop;
	struct action *first;
	size_t n;
};

static void
web_action_answer(
    struct http_server_request *request, int status, const char *text)
{
	http_server_set(request, "Content-Type", "text/plain; charset=utf-8");
	http_server_answer(request, status, text, strlen(text));
}

static void
web_action_on_gone(void *arg, struct http_server_request *request)
{
	struct action *a = arg;

	(void)request;
	a->request = NULL;
}

static void
web_action_on_end(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct action *a = arg, **at;
	bool good =
	    status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;

	(void)len;
	for (at = &a->all->first; *at != a; at = &(*at)->next)
		;
	*at = a->next;
	a->all->n--;
	if (a->request != NULL)
		web_action_answer(
		    a->request, good ? 200 : 409, status == -1 ? why : out);
	free(a);
}

struct web_actions *
web_actions_open(struct loop *loop)
{
	struct web_actions *all = xcalloc(1, sizeof *all);

	all->loop = loop;
	return all;
}

void
web_actions_close(struct web_actions *all)
{
	struct action *a, *next;

	for (a = all == NULL ? NULL : all->first; a != NULL; a = next) {
		next = a->next;
		capture_kill(a->capture);
		free(a);
	}
	free(all);
}

void
web_action_run(struct web_actions *all, char *const *argv,
    struct http_server_request *request)
{
	struct capture_spec spec = {
		.argv = argv, .timeout_ms = TIMEOUT_MS, .both = true
	};
	struct err e = ERR_INIT;
	struct action *a;

	if (all->n >= RUNNING) {
		web_action_answer(
		    request, 400, "too many actions are in progress");
		return;
	}
	a = xcalloc(1, sizeof *a);
	a->all = all;
	a->request = request;
	if (capture_start(
		&a->capture, all->loop, &spec, web_action_on_end, a, &e) != 0) {
		web_action_answer(request, 409, e.text);
		free(a);
		return;
	}
	http_server_watch(request, web_action_on_gone, a);
	a->next = all->first;
	all->first = a;
	all->n++;
}
