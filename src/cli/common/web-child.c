/* hpotune web as a child of a server: started with it, ended with it. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/cli/common/web-child.h"

enum { WEB_END_MS = 3000 }; /* that it has to end by itself */

void
web_child_start(
    struct web_child *c, const char *db, const char *port, int tell_fd)
{
	struct strv argv = { 0 };
	struct spawn_spec spec = { .out = STDERR_FILENO, .err = STDERR_FILENO };
	struct err e = ERR_INIT;
	int p[2];

	*c = (struct web_child){ 0 };
	if (pipe2(p, O_CLOEXEC) != 0) {
		log_warn("web", "pipe: %s", strerror(errno));
		return;
	}
	strv_add(&argv, xstrdup("/proc/self/exe"));
	strv_add(&argv, xstrdup("web"));
	strv_add(&argv, xstrdup("--until-eof"));
	if (port != NULL)
		strv_add(&argv, xasprintf("--port=%s", port));
	strv_add(&argv, xstrdup(db));
	if (tell_fd != -1)
		spec.out = tell_fd;
	spec.argv = argv.v;
	spec.in = p[0];
	if (spawn_start(&c->pid, &c->end_fd, &spec, &e) != 0) {
		log_warn("web", "%s", e.text);
		c->pid = 0;
		(void)close(p[1]);
	} else
		c->hold_fd = p[1];
	(void)close(p[0]);
	strv_free(argv.v);
}

void
web_child_end(struct web_child *c)
{
	struct pollfd end = { .fd = c->end_fd, .events = POLLIN };

	if (c->pid == 0)
		return;
	(void)close(c->hold_fd);
	if (poll(&end, 1, WEB_END_MS) == 1)
		(void)spawn_reap(c->pid);
	else
		(void)spawn_end(c->pid, c->end_fd);
	(void)close(c->end_fd);
	c->pid = 0;
}
