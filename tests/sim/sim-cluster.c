/* The jobs of a simulated cluster, and what Slurm's programs answer. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/sim/sim-cluster.h"

enum {
	SHOWN_MS = 300 * 1000, /* a job that has ended: MinJobAge */
	EXIT_1 = 1 << 8
};

struct cluster *
cluster_new(
    struct loop *loop, uint64_t seed, const struct cluster_faults *faults)
{
	struct cluster *c = xcalloc(1, sizeof *c);

	c->loop = loop;
	c->faults = *faults;
	c->last_id = 100;
	c->boot_ms = -1000000000;
	rng_init(&c->dice, seed, 7);
	return c;
}

static void
cluster_job_free(struct cluster_job *j)
{
	loop_timer_free(j->timer);
	free(j->name);
	free(j->uuid);
	free(j->dir);
	free(j);
}

void
cluster_free(struct cluster *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = 0; i < c->n; i++)
		cluster_job_free(c->jobs[i]);
	free(c->jobs);
	free(c->runs);
	free(c->list);
	free(c);
}

bool
cluster_chance(struct cluster *c, double share)
{
	return share > 0 && rng_uniform(&c->dice) < share;
}

int64_t
cluster_below(struct cluster *c, int64_t n)
{
	return (int64_t)rng_below(&c->dice, (uint64_t)n);
}

struct cluster_job *
cluster_find(const struct cluster *c, int64_t id)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->jobs[i]->id == id && c->jobs[i]->known)
			return c->jobs[i];
	return NULL;
}

void
cluster_over(struct cluster_job *j, enum cluster_state state)
{
	j->state = state;
	j->ended_ms = loop_now_ms(j->cluster->loop);
}

/* A time by the clock of the controller, as Slurm prints it. */
static void
cluster_put_time(const struct cluster *c, struct buf *out, int64_t ms)
{
	time_t t =
	    (time_t)(loop_wall_us(c->loop) / 1000000 -
		     (loop_now_ms(c->loop) - ms) / 1000 + c->faults.clock_s);
	struct tm local;
	char text[40];

	(void)localtime_r(&t, &local);
	(void)strftime(text, sizeof text,
	    c->faults.odd_times ? "%d %b %H:%M" : "%Y-%m-%dT%H:%M:%S", &local);
	buf_puts(out, text);
}

static const char *
cluster_reason(const struct cluster_job *j)
{
	if (j->state == CLUSTER_PENDING)
		return j->id % 2 == 0 ? "Priority" : "Resources";
	if (j->state == CLUSTER_FAILED)
		return j->launch_failure ? "JobLaunchFailure"
					 : "NonZeroExitCode";
	return "None";
}

static void
cluster_put_row(const struct cluster_job *j, struct buf *out)
{
	static const char *const words[] = { "PENDING", "RUNNING", "COMPLETED",
		"FAILED", "CANCELLED", "NODE_FAIL", "PREEMPTED" };

	buf_printf(out, "%lld|%s|%s|%s|1:00:00|", (long long)j->id,
	    words[j->state], cluster_reason(j), j->node);
	cluster_put_time(j->cluster, out, j->submitted_ms);
	if (j->cluster->faults.renames)
		buf_printf(out, "|site|%s %s\n", j->name, j->uuid);
	else
		buf_printf(out, "|%s|of the site\n", j->name);
}

static bool
cluster_shows(const struct cluster_job *j)
{
	return j->known &&
	       (j->state <= CLUSTER_RUNNING ||
		   loop_now_ms(j->cluster->loop) < j->ended_ms + SHOWN_MS);
}

static void
cluster_put_list(struct cluster *c, const char *state, struct buf *out)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (cluster_shows(c->jobs[i]) && !c->jobs[i]->hidden &&
		    (state == NULL || strcmp(state, "all") == 0 ||
			c->jobs[i]->state == CLUSTER_PENDING) &&
		    !cluster_chance(c, c->faults.drops))
			cluster_put_row(c->jobs[i], out);
}

/* The value of an argument that begins so; or NULL. */
static const char *
cluster_option(char *const *argv, const char *name)
{
	for (; *argv != NULL; argv++)
		if (strncmp(*argv, name, strlen(name)) == 0)
			return *argv + strlen(name);
	return NULL;
}

static int
cluster_by_number(struct cluster *c, const char *number, struct buf *out)
{
	const struct cluster_job *j =
	    cluster_find(c, strtoll(number, NULL, 10));

	if (j == NULL || !cluster_shows(j) ||
	    (j->hidden && c->faults.blind > 0)) {
		buf_puts(
		    out, "slurm_load_jobs error: Invalid job id specified\n");
		return EXIT_1;
	}
	cluster_put_row(j, out);
	return 0;
}

static int
cluster_squeue(struct cluster *c, char *const *argv, struct buf *out)
{
	const char *number = cluster_option(argv, "--jobs=");

	c->lies++;
	if (cluster_chance(c, c->faults.refuses)) {
		buf_puts(out,
		    "slurm_load_jobs error: Unable to contact slurm controller "
		    "(connect failure)\n");
		return EXIT_1;
	}
	if (number != NULL)
		return cluster_by_number(c, number, out);
	if (cluster_chance(c, c->faults.empty))
		return 0;
	if (cluster_chance(c, c->faults.others)) {
		buf_puts(out,
		    "101|RUNNING|None|n1|1:00:00|2026-01-01T00:00:00|hers\n"
		    "102|PENDING|Priority||1:00:00|N/A|a|b\n"
		    "not a row\n");
		return 0;
	}
	if (c->list != NULL && cluster_chance(c, c->faults.old)) {
		buf_puts(out, c->list);
		return 0;
	}
	c->lies--;
	cluster_put_list(c, cluster_option(argv, "--states="), out);
	if (c->list == NULL || cluster_chance(c, 0.1)) {
		free(c->list);
		c->list = xstrdup(buf_str(out));
	}
	return 0;
}

static int
cluster_sbatch(
    struct cluster *c, char *const *argv, struct buf *out, bool *effect)
{
	const struct cluster_faults *bad = &c->faults;

	if (cluster_option(argv, "--version") != NULL ||
	    cluster_option(argv, "--test-only") != NULL)
		return 0;
	if (cluster_chance(c, bad->down)) {
		buf_puts(out,
		    "sbatch: error: Batch job submission failed: Unable to "
		    "contact slurm controller (connect failure)\n");
		return EXIT_1;
	}
	if (cluster_chance(c, bad->quota)) {
		buf_puts(out,
		    "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: "
		    "Batch job submission failed: Job violates "
		    "accounting/QOS policy (job submit limit, user's size "
		    "and/or time limits)\n");
		return EXIT_1;
	}
	if (cluster_chance(c, bad->nodes)) {
		buf_puts(out,
		    "sbatch: error: Batch job submission failed: Requested "
		    "node configuration is not available\n");
		return EXIT_1;
	}
	*effect = !cluster_chance(c, bad->unsent);
	if (*effect && !cluster_chance(c, bad->lost))
		return 0;
	switch (cluster_below(c, 3)) {
	case 0:
		return -1;
	case 1:
		buf_puts(out,
		    "sbatch: error: Batch job submission failed: Socket timed "
		    "out on send/recv operation\n");
		return EXIT_1;
	default:
		return SIGTERM;
	}
}

static int
cluster_scontrol(const struct cluster *c, struct buf *out)
{
	buf_puts(out, "Configuration data\nBOOT_TIME               = ");
	cluster_put_time(c, out, c->boot_ms);
	buf_puts(out, "\nPreemptType             = preempt/none\n");
	return 0;
}

/* Rows of NAME|STATE. */
static int
cluster_sacct(const struct cluster *c, char *const *argv, struct buf *out)
{
	const struct cluster_job *j;

	while (*argv != NULL && strcmp(*argv, "--jobs") != 0)
		argv++;
	if (c->faults.no_sacct || *argv == NULL)
		return EXIT_1;
	j = cluster_find(c, strtoll(argv[1], NULL, 10));
	if (j != NULL)
		buf_printf(out, "%s|%s\n", j->name,
		    j->state == CLUSTER_CANCELLED ? "CANCELLED by 12345"
						  : "COMPLETED");
	return 0;
}

int
cluster_answer(
    struct cluster *c, char *const *argv, struct buf *out, bool *effect)
{
	*effect = false;
	if (cluster_chance(c, c->faults.hangs))
		return -1;
	if (strcmp(argv[0], "squeue") == 0)
		return cluster_squeue(c, argv, out);
	if (strcmp(argv[0], "sbatch") == 0)
		return cluster_sbatch(c, argv, out, effect);
	if (strcmp(argv[0], "scontrol") == 0)
		return cluster_scontrol(c, out);
	if (strcmp(argv[0], "sacct") == 0)
		return cluster_sacct(c, argv, out);
	if (strcmp(argv[0], "sinfo") == 0) {
		buf_puts(out, "main*|infinite|n/a\n");
		return 0;
	}
	if (strcmp(argv[0], "scancel") != 0)
		return EXIT_1;
	if (cluster_chance(c, c->faults.refuses)) {
		buf_puts(out, "scancel: error: Unable to contact slurm "
			      "controller (connect failure)\n");
		return EXIT_1;
	}
	*effect = true;
	return 0;
}

static int64_t
cluster_submit(struct cluster *c, char *const *argv)
{
	struct cluster_job *j = xcalloc(1, sizeof *j);
	const char *at;

	j->cluster = c;
	j->id = ++c->last_id;
	j->name = xstrdup(cluster_option(argv, "--job-name="));
	/* "NAME UUID" */
	at = strrchr(cluster_option(argv, "--comment="), ' ');
	j->uuid = xstrdup(at != NULL ? at + 1 : "");
	j->dir = xstrdup(cluster_option(argv, "--chdir="));
	at = strstr(j->dir, "/trials/");
	(void)sscanf(at != NULL ? at : "", "/trials/%lld/attempt-%d",
	    (long long *)&j->trial, &j->attempt);
	j->known = true;
	j->hidden = cluster_chance(c, c->faults.hidden);
	j->submitted_ms = loop_now_ms(c->loop);
	j->run = SIZE_MAX;
	j->unwanted_ms = CLUSTER_NEVER;
	XGROW(c->jobs, c->n, c->cap);
	c->jobs[c->n++] = j;
	c->submits++;
	cluster_node_plan(j);
	return j->id;
}

static void
cluster_cancel_one(struct cluster_job *j)
{
	if (j->state == CLUSTER_PENDING)
		cluster_over(j, CLUSTER_CANCELLED);
	else if (j->state == CLUSTER_RUNNING)
		cluster_node_stop(j, true);
}

static void
cluster_cancel(struct cluster *c, char *const *argv)
{
	const char *name = cluster_option(argv, "--name=");
	bool softly = cluster_option(argv, "--batch") != NULL;
	struct cluster_job *j;
	size_t i;

	c->cancels++;
	for (i = 0; name != NULL && !c->faults.renames && i < c->n; i++)
		if (c->jobs[i]->known && c->jobs[i]->state == CLUSTER_PENDING &&
		    strcmp(c->jobs[i]->name, name) == 0)
			cluster_cancel_one(c->jobs[i]);
	for (argv++; *argv != NULL; argv++) {
		j = cluster_find(c, strtoll(*argv, NULL, 10));
		if (j == NULL)
			continue;
		if (!softly)
			cluster_cancel_one(j);
		else if (j->state == CLUSTER_RUNNING)
			cluster_node_stop(j, false);
	}
}

int64_t
cluster_apply(struct cluster *c, char *const *argv)
{
	if (strcmp(argv[0], "sbatch") == 0)
		return cluster_submit(c, argv);
	cluster_cancel(c, argv);
	return 0;
}
