/*
 * capture.h without processes: the programs of Slurm are those of a simulated
 * cluster, and take as long as it pleases.  What sbatch and scancel do happens
 * at their begin, at their end, or, when their server dies, perhaps.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/sim/sim-cluster.h"

enum { QUICK_MS = 300, SLOW_MS = 5000 };

struct capture {
	struct strv argv;
	struct loop_timer *timer;
	struct buf out;
	int status;
	bool due; /* its effect */
	bool says; /* the id of its job is its answer */
	capture_cb *cb;
	void *arg;
};

static struct cluster *used;

void
cluster_use(struct cluster *c)
{
	used = c;
}

static void
capture_free(struct capture *c)
{
	loop_timer_free(c->timer);
	strv_free(c->argv.v);
	buf_free(&c->out);
	free(c);
}

static void
capture_apply(struct capture *c)
{
	int64_t id;

	if (!c->due)
		return;
	c->due = false;
	id = cluster_apply(used, c->argv.v);
	if (!c->says)
		return;
	if (cluster_chance(used, 0.2))
		buf_puts(&c->out, "sbatch: your jobs are logged\n");
	buf_printf(&c->out, "%lld%s\n", (long long)id,
	    cluster_chance(used, 0.2) ? ";site" : "");
}

static void
capture_end(void *arg)
{
	struct capture *c = arg;

	capture_apply(c);
	c->cb(c->arg, c->status, buf_str(&c->out), c->out.len,
	    c->status == -1 ? "it took longer than 60000 ms" : "");
	capture_free(c);
}

/* The words behind "env -u NAME …". */
static char *const *
capture_words(char *const *argv)
{
	if (strcmp(argv[0], "env") != 0)
		return argv;
	for (argv++; *argv != NULL && strcmp(*argv, "-u") == 0;)
		argv += 2;
	return argv;
}

int
capture_start(struct capture **out, struct loop *loop,
    const struct capture_spec *spec, capture_cb *cb, void *arg, struct err *e)
{
	char *const *argv = capture_words(spec->argv);
	/* One that is waited for takes no time of the virtual clock. */
	bool waits = loop != used->loop;
	struct capture *c;
	int64_t ms;

	if (used->dead)
		return err_set(e, ERR_FILE, "the server is dead");
	c = xcalloc(1, sizeof *c);
	c->cb = cb;
	c->arg = arg;
	for (; *argv != NULL; argv++)
		strv_add(&c->argv, xstrdup(*argv));
	c->status = cluster_answer(used, c->argv.v, &c->out, &c->due);
	c->says =
	    c->due && c->status == 0 && strcmp(c->argv.v[0], "sbatch") == 0;
	ms = c->status == -1
		 ? spec->timeout_ms
		 : 1 + cluster_below(used,
			   cluster_chance(used, 0.9) ? QUICK_MS : SLOW_MS);
	if (waits || cluster_chance(used, 0.5))
		capture_apply(c);
	c->timer = loop_timer_new(loop, capture_end, c);
	loop_timer_set(c->timer, waits ? 0 : ms);
	*out = c;
	return 0;
}

void
capture_kill(struct capture *c)
{
	if (c == NULL)
		return;
	if (cluster_chance(used, 0.5))
		capture_apply(c);
	capture_free(c);
}
