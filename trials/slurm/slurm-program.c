/*
 * Slurm's programs: run to their end, and what they mean when they refuse.
 */

#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

struct call {
	struct loop *loop;
	struct capture *child;
	struct buf *out;
	int status;
};

static void
on_end(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct call *c = arg;

	c->child = NULL;
	c->status =
	    status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	buf_add(c->out, out, len);
	if (c->status == -1)
		buf_puts(c->out, why);
	loop_stop(c->loop);
}

static void
on_turn(void *arg)
{
	(void)arg;
}

int
slurm_program_call(char *const *argv, int64_t ms, struct buf *out)
{
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = ms, .both = true
	};
	struct call c = { .out = out, .status = -1 };
	struct err e = ERR_INIT;

	if (loop_open(&c.loop, LOOP_REAL, &e) != 0)
		return -1;
	if (capture_start(&c.child, c.loop, &spec, on_end, &c, &e) == 0)
		loop_run(c.loop, on_turn, NULL);
	else
		buf_puts(out, e.text);
	loop_close(c.loop);
	return c.status;
}

static const struct {
	const char *words;
	enum slurm_refusal is;
} refusals[] = {
	/* Before the others: the job may be there. */
	{ "Socket timed out", SLURM_REFUSAL_UNCLEAR },
	{ "Zero Bytes were transmitted", SLURM_REFUSAL_UNCLEAR },
	{ "Unable to contact slurm controller", SLURM_REFUSAL_DOWN },
	{ "Unable to resolve", SLURM_REFUSAL_DOWN },
	{ "Slurm temporarily unable to accept job", SLURM_REFUSAL_DOWN },
	{ "Slurm backup controller in standby mode", SLURM_REFUSAL_DOWN },
	{ "Resource temporarily unavailable", SLURM_REFUSAL_DOWN },
	/* Such as QOSMaxWallDurationPerJobLimit: the next words name both. */
	{ "PerJob", SLURM_REFUSAL_WRONG },
	{ "PerNode", SLURM_REFUSAL_WRONG },
	{ "JobLimit", SLURM_REFUSAL_QUOTA },
	{ "MaxSubmit", SLURM_REFUSAL_QUOTA },
	{ "job submit limit", SLURM_REFUSAL_QUOTA },
	{ "Requested node configuration is not available",
	    SLURM_REFUSAL_NODES },
	{ "Invalid", SLURM_REFUSAL_WRONG },
	{ "invalid", SLURM_REFUSAL_WRONG },
	{ "unrecognized option", SLURM_REFUSAL_WRONG },
	{ "Requested time limit", SLURM_REFUSAL_WRONG },
	{ "Requested partition configuration not available",
	    SLURM_REFUSAL_WRONG },
	{ "can not be satisfied", SLURM_REFUSAL_WRONG },
	{ "cannot be satisfied", SLURM_REFUSAL_WRONG },
	{ "not permitted", SLURM_REFUSAL_WRONG },
	{ "Access/permission denied", SLURM_REFUSAL_WRONG },
	{ "No partition specified", SLURM_REFUSAL_WRONG },
	{ "violates accounting/QOS policy", SLURM_REFUSAL_WRONG },
};

enum slurm_refusal
slurm_program_refusal(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strstr(text, refusals[i].words) != NULL)
			return refusals[i].is;
	return SLURM_REFUSAL_UNCLEAR;
}
