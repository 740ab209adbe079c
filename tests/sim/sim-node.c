/*
 * What a job does on its node: the script says that it has begun, the
 * supervisor claims the attempt by a link, the program reports, and its end is
 * recorded, or is not.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/sim/sim-cluster.h"
#include "trials/process/attempt-record.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

enum {
	GRACE_MS = 3000,
	KILL_WAIT_MS = 30000 /* of Slurm, until SIGKILL */
};

static void cluster_node_on_timer(void *);

/* What a file of the attempt gets; the folder may be gone with the study. */
static void
cluster_node_write(
    const struct cluster_job *j, const char *name, const char *text, int flags)
{
	char *path = xasprintf("%s/%s", j->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd != -1 && write(fd, text, strlen(text)) == -1)
		abort();
	if (fd != -1)
		(void)close(fd);
	free(path);
}

static void
cluster_node_sector(
    const struct cluster_job *j, const unsigned char *sector, off_t at)
{
	char *path = xasprintf("%s/state", j->dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1 || pwrite(fd, sector, RECORD_SECTOR, at) != RECORD_SECTOR)
		abort();
	(void)close(fd);
	free(path);
}

void
cluster_node_plan(struct cluster_job *j)
{
	struct cluster *c = j->cluster;

	j->timer = loop_timer_new(c->loop, cluster_node_on_timer, j);
	loop_timer_set(j->timer, 1 + cluster_below(c, c->faults.wait_ms));
}

static int64_t
cluster_node_wall_us(const struct cluster_job *j, int64_t ms)
{
	return loop_wall_us(j->cluster->loop) -
	       1000 * (loop_now_ms(j->cluster->loop) - ms);
}

/* The attempt is ours, by the link that only one can make. */
static bool
cluster_node_claim(struct cluster_job *j)
{
	char *text = xasprintf("uuid=%s job=%lld restart=0 cpus=4 host=%s\n",
	    j->uuid, (long long)j->id, j->node);
	char *from = xasprintf("%s/claim.%lld", j->dir, (long long)j->id);
	char *to = xasprintf("%s/" SHIM_CLAIM_FILE, j->dir);
	struct claim claim = { .kind = CLAIM_STARTED };
	unsigned char sector[RECORD_SECTOR];
	bool got;

	cluster_node_write(j, strrchr(from, '/') + 1, text, O_TRUNC);
	got = link(from, to) == 0;
	(void)unlink(from);
	if (got) {
		(void)snprintf(claim.uuid, sizeof claim.uuid, "%s", j->uuid);
		claim.claimed_us = claim.started_us =
		    loop_wall_us(j->cluster->loop);
		attempt_record_encode_claim(sector, &claim);
		cluster_node_sector(j, sector, 0);
	}
	free(text);
	free(from);
	free(to);
	return got;
}

/* What fate has in store for the program. */
static void
cluster_node_fate(struct cluster_job *j)
{
	struct cluster *c = j->cluster;

	j->steps = 1 + cluster_below(c, CLUSTER_STEPS - 1);
	j->wait_ms =
	    200 + cluster_below(c, cluster_chance(c, 0.2) ? 60000 : 3000);
	j->fails = cluster_chance(c, c->faults.fail);
	j->grace_ms = 1 + cluster_below(c, GRACE_MS);
	j->dies_at = CLUSTER_NEVER;
	if (cluster_chance(c, c->faults.node))
		j->dies_as = CLUSTER_NODE_FAIL;
	else if (cluster_chance(c, c->faults.preempts))
		j->dies_as = CLUSTER_PREEMPTED;
	else
		return;
	j->dies_at = cluster_below(c, j->steps + 1);
}

static void
cluster_node_start(struct cluster_job *j)
{
	struct cluster *c = j->cluster;
	int64_t now = loop_now_ms(c->loop);

	XGROW(c->runs, c->n_runs, c->cap_runs);
	j->run = c->n_runs++;
	c->runs[j->run] = (struct cluster_run){ .trial = j->trial,
		.attempt = j->attempt,
		.started_ms = now,
		.ended_ms = CLUSTER_NEVER };
	(void)snprintf(
	    c->runs[j->run].uuid, sizeof c->runs[j->run].uuid, "%s", j->uuid);
	cluster_node_fate(j);
	j->kill_ms = CLUSTER_NEVER;
	j->step_ms = now + j->wait_ms;
	j->beat_ms = now;
	if (cluster_chance(c, c->faults.forgets))
		j->known = false;
}

static void
cluster_node_begin(struct cluster_job *j)
{
	struct cluster *c = j->cluster;

	if (cluster_chance(c, c->faults.drains)) {
		j->known = false;
		cluster_over(j, CLUSTER_CANCELLED);
		return;
	}
	j->state = CLUSTER_RUNNING;
	(void)snprintf(
	    j->node, sizeof j->node, "n%d", (int)cluster_below(c, 5));
	/* A study that was deleted, or a node in disorder. */
	if (access(j->dir, F_OK) == -1 || cluster_chance(c, c->faults.launch)) {
		j->launch_failure = true;
		cluster_over(j, CLUSTER_FAILED);
		return;
	}
	cluster_node_write(j, SLURM_BEGUN_FILE, "1\n", 0);
	if (cluster_node_claim(j))
		cluster_node_start(j);
	else
		cluster_over(j, CLUSTER_FAILED);
}

/* The bytes of a file of the attempt. */
static int64_t
cluster_node_size(const struct cluster_job *j, const char *name)
{
	char *path = xasprintf("%s/%s", j->dir, name);
	struct stat st = { 0 };

	(void)stat(path, &st);
	free(path);
	return st.st_size;
}

/* The program has ended: what its supervisor records, where it lives. */
static void
cluster_node_end(
    struct cluster_job *j, int code, int signo, enum cluster_state state)
{
	struct cluster_run *run = &j->cluster->runs[j->run];
	int64_t now = loop_now_ms(j->cluster->loop);
	unsigned char sector[RECORD_SECTOR];
	const struct attempt_exit x = { .ran = true,
		.stopped = run->stopped,
		.exit_code = code,
		.signal = signo,
		.started_us = cluster_node_wall_us(j, run->started_ms),
		.ended_us = cluster_node_wall_us(j, now),
		.metrics_size = cluster_node_size(j, "metrics.jsonl") };

	run->ended_ms = now;
	run->code = code;
	run->signal = signo;
	run->recorded = state != CLUSTER_NODE_FAIL;
	if (run->recorded) {
		attempt_record_encode_exit(sector, &x, j->uuid);
		cluster_node_sector(j, sector, RECORD_SECTOR);
	}
	cluster_over(j, state);
}

void
cluster_node_stop(struct cluster_job *j, bool now)
{
	int64_t at = loop_now_ms(j->cluster->loop), ms = j->grace_ms;

	if (j->run == SIZE_MAX)
		return;
	j->cluster->runs[j->run].stopped = true;
	/* scancel: SIGTERM, and what is left after KillWait is killed. */
	if (j->kill_ms == CLUSTER_NEVER)
		j->kill_ms = at + (ms < KILL_WAIT_MS ? ms : KILL_WAIT_MS);
	if (now)
		j->dies_as = CLUSTER_CANCELLED;
	loop_timer_set(j->timer, j->kill_ms > at ? j->kill_ms - at : 0);
}

static void
cluster_node_report(struct cluster_job *j)
{
	struct cluster_run *run = &j->cluster->runs[j->run];
	char line[120];

	run->steps++;
	(void)snprintf(line, sizeof line,
	    "{\"step\": %lld, \"m\": %lld.%03d%02lld}\n", (long long)run->steps,
	    (long long)run->trial, run->attempt, (long long)run->steps);
	cluster_node_write(j, "metrics.jsonl", line, O_APPEND);
}

/* What the server asks for by a file. */
static void
cluster_node_look(struct cluster_job *j)
{
	char *path = xasprintf("%s/" SHIM_STOP_FILE, j->dir), text[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	if (fd == -1)
		return;
	if (read(fd, text, sizeof text - 1) > 0 && *text != '\0' &&
	    j->kill_ms == CLUSTER_NEVER) {
		if (*text == 'k')
			j->grace_ms = 1;
		cluster_node_stop(j, false);
	}
	(void)close(fd);
}

static void
cluster_node_beat(struct cluster_job *j, int64_t now)
{
	char text[24];

	if (now < j->beat_ms)
		return;
	j->beat_ms = now + SHIM_BEAT_MS;
	(void)snprintf(text, sizeof text, "%020lld\n", (long long)++j->beats);
	cluster_node_write(j, SHIM_BEAT_FILE, text, 0);
}

/* The controller starts a job that runs once more; the claim prevents it. */
static void
cluster_node_again(struct cluster_job *j)
{
	if (cluster_chance(j->cluster, j->cluster->faults.again / 10) &&
	    cluster_node_claim(j))
		cluster_node_start(j);
}

static void
cluster_node_run(struct cluster_job *j)
{
	struct cluster_run *run = &j->cluster->runs[j->run];
	int64_t now = loop_now_ms(j->cluster->loop);

	cluster_node_beat(j, now);
	cluster_node_look(j);
	if (j->kill_ms != CLUSTER_NEVER && now >= j->kill_ms) {
		cluster_node_end(j, -1, SIGTERM,
		    j->dies_as == CLUSTER_CANCELLED ? CLUSTER_CANCELLED
						    : CLUSTER_COMPLETED);
		return;
	}
	if (now >= j->step_ms && j->kill_ms == CLUSTER_NEVER) {
		if (j->dies_at == run->steps) {
			run->stopped = true;
			cluster_node_end(j, -1, SIGTERM, j->dies_as);
			return;
		}
		if (run->steps == j->steps) {
			cluster_node_end(
			    j, j->fails ? 1 : 0, 0, CLUSTER_COMPLETED);
			return;
		}
		cluster_node_report(j);
		j->step_ms = now + j->wait_ms;
	}
	cluster_node_again(j);
	loop_timer_set(j->timer, SHIM_LOOK_MS);
}

static void
cluster_node_on_timer(void *arg)
{
	struct cluster_job *j = arg;

	if (j->state == CLUSTER_PENDING)
		cluster_node_begin(j);
	if (j->state == CLUSTER_RUNNING)
		cluster_node_run(j);
}
