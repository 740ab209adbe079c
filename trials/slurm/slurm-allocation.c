/*
 * Jobs of several trials (trials_per_job): one allocation of Slurm runs
 * attempts side by side and one after the other.  The server puts an attempt
 * into the folder next/ of a job, from which hpotune-node takes it; each moves
 * the file by one rename or unlink, so that one of them has it.  Whoever starts
 * the attempt makes its claim, as in a job of its own.
 *
 * A job is due, sent, claimed (by hpotune-node), closing (takes nothing more)
 * and over, when its row is final and no attempt is in it.
 */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "trials/node/node.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

enum {
	GONE = 2, /* queries without a job, which is then gone */
	EMPTY_MS = 20000, /* without a trial a job is ended after it */
	IDLE_MS = 120000, /* … and ends by itself, without a server */
	BEAT_DEAD_MS = 45000, /* nine beats */
	EXCLUDED_JOBS = 2 /* more, for trials that avoid nodes */
};

#define JOB_FILE "job" /* of an attempt: job=FOLDER */

static int64_t
allocation_now_of(const struct slurm_attempt *a)
{
	return loop_now_ms(a->slurm->loop);
}

static const char *
folder_of(const struct slurm_attempt *job)
{
	return strrchr(job->dir, '/') + 1;
}

static void
entry_name(const struct slurm_attempt *guest, char name[NODE_ENTRY])
{
	(void)snprintf(name, NODE_ENTRY, "%" PRId64 ".%d", guest->source.trial,
	    guest->source.attempt);
}

/* The file of a guest below next or taken of its job. */
static char *
entry_path(const struct slurm_attempt *guest, const char *below)
{
	char name[NODE_ENTRY];

	entry_name(guest, name);
	return xasprintf("%s/%s/%s", guest->host->dir, below, name);
}

static bool
entry_is(const struct slurm_attempt *guest, const char *below)
{
	char *path = entry_path(guest, below);
	bool is = access(path, F_OK) == 0;

	free(path);
	return is;
}

static void
host_leave(struct slurm_attempt *guest)
{
	guest->host->guests--;
	guest->host = NULL;
	guest->unplaced_ms = 0;
}

/* Take a guest back that hpotune-node has not taken: it is due again. */
static bool
take_back(struct slurm_attempt *guest)
{
	char *path = entry_path(guest, NODE_NEXT);
	bool ours = unlink(path) == 0;

	free(path);
	if (!ours)
		return false;
	host_leave(guest);
	guest->row = (struct slurm_row){ 0 };
	guest->final_ms = -1;
	guest->id = 0;
	slurm_phase(guest, SLURM_DUE);
	return true;
}

void
slurm_allocation_leave(struct slurm_attempt *guest)
{
	char *path;

	if (guest->host == NULL)
		return;
	path = entry_path(guest, NODE_NEXT);
	(void)unlink(path);
	free(path);
	host_leave(guest);
}

/*
 * A guest is reported to the tuner when the job that will run it is accepted.
 */
static void
accepted_tell(struct slurm_attempt *guest)
{
	struct launch_event ev = { .kind = LAUNCH_ACCEPTED };

	if (guest->accepted || guest->host->phase != SLURM_SENT)
		return;
	guest->accepted = true;
	backend_emit(&guest->source, &ev);
}

static bool
assign(struct slurm_attempt *guest, struct slurm_attempt *job)
{
	char *next = xasprintf("%s/" NODE_NEXT, job->dir), name[NODE_ENTRY];
	char *text = xasprintf("%s\n%s\n", guest->uuid, guest->dir);
	char *whose = xasprintf("job=%s\n", folder_of(job));
	struct err e = ERR_INIT;
	bool done;

	entry_name(guest, name);
	/* The record of where the guest may start is made before it can. */
	done = slurm_folder_write(guest->dir, JOB_FILE, whose, &e) == 0;
	fail_point("slurm.before_assign");
	done = done && slurm_folder_write(next, name, text, &e) == 0;
	if (done) {
		guest->host = job;
		guest->row = job->row;
		guest->final_ms = job->final_ms;
		guest->missing = job->missing;
		guest->unplaced_ms = 0;
		job->guests++;
		slurm_phase(guest, SLURM_SENT);
		accepted_tell(guest);
	} else if (!guest->noted_unknown) {
		backend_note(&guest->source, LAUNCH_WARNING, "%s", e.text);
		guest->noted_unknown = true;
	}
	free(whose);
	free(text);
	free(next);
	return done;
}

/* The script of the job: the shell becomes hpotune-node. */
static char *
script(const struct slurm_attempt *job)
{
	const struct slurm *s = job->slurm;
	const char *shell = s->set.setup != NULL ? "/bin/bash -l" : "/bin/sh";
	struct buf b = { 0 };

	buf_printf(&b, "#!/bin/sh\n# hpotune: %lld trials side by side\n",
	    (long long)s->set.per_job);
	slurm_script_put_enter(&b, s, job->dir, job->uuid);
	slurm_script_put_deadline(&b, &s->set);
	slurm_script_put_exec(&b, s, &s->node);
	buf_puts(&b, " dir=");
	slurm_script_put_below(&b, s, job->dir);
	/* The program of packed trials has all that the job has. */
	buf_printf(&b,
	    " uuid=%s places=%lld gpus=%lld pack=%d warm=%d idle-ms=%d "
	    "preempt-ms=%lld",
	    job->uuid, (long long)s->set.per_job,
	    (long long)(s->set.pack > 0 ? 0 : s->set.n_gpus), s->set.pack > 0,
	    slurm_warm_used(s), IDLE_MS, (long long)s->set.preempt_ms);
	buf_printf(&b, " -- %s\n", shell);
	return buf_take(&b);
}

static int
allocation_folder_make(const struct slurm_attempt *job, struct err *e)
{
	static const char *const filled[] = { SHIM_STOP_FILE, SHIM_BEAT_FILE,
		NODE_UP_FILE, NODE_CLOSING_FILE, SLURM_BEGUN_FILE };
	char *jobs = xasprintf("%s/" SLURM_JOBS_DIR, job->slurm->root);
	char *next = xasprintf("%s/" NODE_NEXT, job->dir);
	char *taken = xasprintf("%s/" NODE_TAKEN, job->dir);
	char *text = script(job), *uuid = xasprintf("uuid=%s\n", job->uuid);
	int rc = slurm_folder_mkdir(jobs, e);
	size_t i;

	if (rc == 0)
		rc = slurm_folder_mkdir(job->dir, e);
	if (rc == 0)
		rc = slurm_folder_mkdir(next, e);
	if (rc == 0)
		rc = slurm_folder_mkdir(taken, e);
	if (rc == 0)
		rc = slurm_folder_write(job->dir, "job.sh", text, e);
	for (i = 0; rc == 0 && i < sizeof filled / sizeof filled[0]; i++)
		rc = slurm_folder_reserve(job->dir, filled[i], e);
	if (rc == 0 && slurm_warm_used(job->slurm))
		rc = slurm_warm_folder_make(job, e);
	/* From here on the job may have been submitted. */
	if (rc == 0)
		rc = slurm_folder_write(job->dir, SLURM_CREATE_FILE, uuid, e);
	if (rc == 0)
		rc = slurm_folder_sync(job->dir, e);
	if (rc == 0)
		rc = slurm_folder_sync(jobs, e);
	free(uuid);
	free(text);
	free(taken);
	free(next);
	free(jobs);
	return rc;
}

/* Remove a job's folder but for its output, which may say why nothing ran. */
static void
folder_remove(const struct slurm_attempt *job)
{
	static const char *const files[] = { SLURM_CREATE_FILE, "job.sh",
		SHIM_CLAIM_FILE, SHIM_BEAT_FILE, SHIM_STOP_FILE, NODE_UP_FILE,
		NODE_CLOSING_FILE, SLURM_EXCLUDE_FILE, SLURM_BEGUN_FILE };
	static const char *const dirs[] = { NODE_NEXT, NODE_TAKEN, "." };
	char *path = xasprintf("%s/" SLURM_OUT_FILE, job->dir), text[4];
	size_t i;

	if (slurm_folder_read(job->dir, SLURM_OUT_FILE, text, sizeof text) &&
	    *text == '\0')
		(void)unlink(path);
	free(path);
	slurm_warm_folder_remove(job);
	for (i = 0; i < sizeof files / sizeof files[0]; i++) {
		path = xasprintf("%s/%s", job->dir, files[i]);
		(void)unlink(path);
		free(path);
	}
	for (i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		path = i == 2 ? xstrdup(job->dir)
			      : xasprintf("%s/%s", job->dir, dirs[i]);
		(void)rmdir(path);
		free(path);
	}
}

static struct slurm_attempt *
job_new(struct slurm *s, int number, const char *uuid)
{
	struct slurm_attempt *job = xcalloc(1, sizeof *job);

	job->slurm = s;
	job->is_job = true;
	job->source = s->source;
	job->source.attempt = number;
	(void)snprintf(job->uuid, sizeof job->uuid, "%s", uuid);
	(void)snprintf(job->name, sizeof job->name, "%.150s0.%d-%.8s",
	    s->prefix, number, uuid);
	job->dir =
	    xasprintf("%s/" SLURM_JOBS_DIR "/%d-%.8s", s->root, number, uuid);
	job->trial_dir = xstrdup(job->dir);
	slurm_follow(s, job);
	job->empty_ms = allocation_now_of(job);
	if (number > s->last_job)
		s->last_job = number;
	return job;
}

static bool
allocation_is_due(const struct slurm_attempt *a)
{
	return a->is_guest && a->phase == SLURM_DUE && a->host == NULL &&
	       !a->claimed && a->stop == SLURM_STOP_NONE;
}

/* Keep a job from nodes that a trial avoids which is due. */
static void
nodes_exclude(struct slurm_attempt *job)
{
	const struct slurm *s = job->slurm;
	char list[1024], *rest, *word;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!allocation_is_due(s->attempts[i]))
			continue;
		slurm_folder_excluded(s->attempts[i], list, sizeof list);
		rest = list;
		while ((word = strsep(&rest, ",")) != NULL)
			slurm_folder_exclude(job, word);
	}
}

static void
job_make(struct slurm *s)
{
	char *uuid = rng_uuid();
	struct slurm_attempt *job = job_new(s, s->last_job + 1, uuid);
	struct err e = ERR_INIT;

	free(uuid);
	if (allocation_folder_make(job, &e) == 0) {
		nodes_exclude(job);
		return;
	}
	slurm_allocation_unsent(job, false, e.text);
}

int
slurm_allocation_load(struct slurm *s, struct err *e)
{
	char *jobs = xasprintf("%s/" SLURM_JOBS_DIR, s->root), text[128], *dir;
	char uuid[RECORD_UUID + 1];
	const struct dirent *d;
	DIR *list = opendir(jobs);
	int error = list == NULL ? errno : 0, number;

	while (list != NULL && (d = readdir(list)) != NULL) {
		number = (int)strtol(d->d_name, NULL, 10);
		if (number <= 0)
			continue;
		dir = xasprintf("%s/%s", jobs, d->d_name);
		*uuid = '\0';
		if (slurm_folder_read(
			dir, SLURM_CREATE_FILE, text, sizeof text))
			slurm_folder_word(text, "uuid", uuid, sizeof uuid);
		free(dir);
		/* Without it nothing was submitted; the number stays used. */
		if (number > s->last_job)
			s->last_job = number;
		if (strlen(uuid) == RECORD_UUID)
			slurm_phase(job_new(s, number, uuid), SLURM_LOOK);
	}
	if (list != NULL)
		(void)closedir(list);
	if (error != 0 && error != ENOENT)
		error = err_set(e, ERR_FILE, "%s: %s", jobs, strerror(error));
	else
		error = 0;
	free(jobs);
	if (s->n > 0)
		slurm_queue_ask(s, true);
	return error;
}

void
slurm_allocation_adopt(struct slurm_attempt *guest)
{
	struct slurm *s = guest->slurm;
	char text[128], folder[64] = "";
	size_t i;

	if (slurm_folder_read(guest->dir, JOB_FILE, text, sizeof text))
		slurm_folder_word(text, "job", folder, sizeof folder);
	for (i = 0; i < s->n && *folder != '\0'; i++)
		if (s->attempts[i]->is_job &&
		    strcmp(folder_of(s->attempts[i]), folder) == 0) {
			guest->host = s->attempts[i];
			guest->host->guests++;
			guest->accepted = true;
			slurm_phase(guest, SLURM_SENT);
			return;
		}
	/* If the guest was started, its claim says so, and its job is gone. */
	guest->missing = GONE;
}

static bool
has_ended(const struct slurm_attempt *job)
{
	/* The accounting may be wrong of one that lives. */
	if (job->account == SLURM_ACCOUNT_ROW && job->beat_ms != 0 &&
	    allocation_now_of(job) < job->beat_ms + BEAT_DEAD_MS)
		return false;
	return slurm_row_final(&job->row) && job->missing == 0;
}

static bool
is_gone(const struct slurm_attempt *job)
{
	return job->missing >= GONE && job->beat_ms != 0 &&
	       allocation_now_of(job) >= job->beat_ms + BEAT_DEAD_MS;
}

/* Put back into the queue by Slurm after it had begun, where it has nothing to do. */
static bool
is_back(const struct slurm_attempt *job)
{
	return job->claimed && job->missing == 0 && job->id != 0 &&
	       job->row.id == job->id && job->row.state == SLURM_STATE_WAITS &&
	       (job->closing[0] != '\0' ||
		   (job->beat_ms != 0 &&
		       allocation_now_of(job) >= job->beat_ms + BEAT_DEAD_MS));
}

/* Whether a trial can be put into it. */
static bool
is_open(const struct slurm_attempt *job)
{
	return job->is_job && job->phase != SLURM_OVER &&
	       job->closing[0] == '\0' && job->stop == SLURM_STOP_NONE &&
	       !job->grace_filed && !has_ended(job) &&
	       !slurm_row_stuck(&job->row) &&
	       (job->missing < GONE || !job->claimed);
}

bool
slurm_allocation_left(struct slurm_attempt *guest)
{
	const struct slurm_attempt *job = guest->host;

	if (job == NULL || !job->claimed || entry_is(guest, NODE_NEXT) ||
	    entry_is(guest, NODE_TAKEN)) {
		guest->unplaced_ms = 0;
		return false;
	}
	if (guest->unplaced_ms == 0)
		guest->unplaced_ms = allocation_now_of(guest);
	return allocation_now_of(guest) >= guest->unplaced_ms + SLURM_SETTLE_MS;
}

bool
slurm_allocation_lost(struct slurm_attempt *guest)
{
	struct slurm_attempt *job = guest->host;

	if (job == NULL)
		return false;
	accepted_tell(guest);
	if ((job->closing[0] != '\0' || (job->claimed && has_ended(job))) &&
	    take_back(guest))
		return false;
	if (slurm_row_stuck(&job->row) || is_gone(job) || is_back(job) ||
	    (has_ended(job) &&
		allocation_now_of(job) >= job->final_ms + SLURM_SETTLE_MS))
		return true;
	return slurm_allocation_left(guest);
}

void
slurm_allocation_unsent(
    struct slurm_attempt *job, bool refused, const char *why)
{
	struct slurm *s = job->slurm;
	struct slurm_attempt *a;
	size_t i;

	for (i = 0; i < s->n; i++) {
		a = s->attempts[i];
		if (!a->is_guest || a->phase == SLURM_OVER ||
		    (a->host != job && (a->host != NULL || a->claimed)))
			continue;
		slurm_allocation_leave(a);
		slurm_unsent(a, refused, why);
	}
	slurm_stray_add(s, job->name, false);
	folder_remove(job);
	slurm_phase(job, SLURM_OVER);
}

static void
claim_look(struct slurm_attempt *job)
{
	char text[256], word[64];

	if (job->claimed ||
	    !slurm_folder_read(job->dir, NODE_UP_FILE, text, sizeof text))
		return;
	slurm_folder_word(text, "uuid", word, sizeof word);
	/* The text is complete when its last letter is there, a newline. */
	if (strcmp(word, job->uuid) != 0 || strchr(text, '\n') == NULL)
		return;
	job->claimed = true;
	slurm_missing_over(job->slurm);
	slurm_unbegun_over(job->slurm);
	slurm_folder_word(text, "host", job->node, sizeof job->node);
	slurm_folder_word(text, "job", word, sizeof word);
	if (strtoll(word, NULL, 10) > 0)
		job->id = strtoll(word, NULL, 10);
	if (job->phase != SLURM_SENDING)
		slurm_phase(job, SLURM_SENT);
}

static void
beat_look(struct slurm_attempt *job)
{
	char text[sizeof job->beat];

	if (!job->claimed ||
	    !slurm_folder_read(job->dir, SHIM_BEAT_FILE, text, sizeof text) ||
	    (job->beat_ms != 0 && strcmp(text, job->beat) == 0))
		return;
	memcpy(job->beat, text, sizeof text);
	job->beat_ms = allocation_now_of(job);
}

static void
job_over(struct slurm_attempt *job)
{
	if (job->guests > 0)
		return;
	slurm_stray_add(job->slurm, job->name,
	    !job->claimed && !slurm_row_final(&job->row));
	folder_remove(job);
	slurm_phase(job, SLURM_OVER);
}

/* Deal with a job that never started, and that Slurm does not list. */
static void
unclaimed_missing(struct slurm_attempt *job)
{
	struct err e = ERR_INIT;

	if (job->guests == 0) {
		if (slurm_folder_abandon(job->dir, job->uuid, &e) == 0)
			job_over(job);
		return;
	}
	slurm_missing_begin(job);
}

void
slurm_allocation_look(struct slurm_attempt *job)
{
	char text[sizeof job->closing];
	struct err e = ERR_INIT;

	claim_look(job);
	beat_look(job);
	slurm_warm_look(job);
	if (slurm_folder_read(job->dir, NODE_CLOSING_FILE, text, sizeof text)) {
		text[strcspn(text, "\n")] = '\0';
		memcpy(job->closing, text, sizeof text);
	}
	if (job->phase == SLURM_DUE || job->phase == SLURM_SENDING ||
	    (job->phase == SLURM_MISSING && job->guests > 0))
		return;
	if (!job->claimed && job->missing >= GONE) {
		unclaimed_missing(job);
		return;
	}
	if (job->missing >= GONE)
		slurm_queue_ask(job->slurm, false);
	/* A copy of it that starts later is to do nothing. */
	if (!job->claimed && (has_ended(job) || slurm_row_stuck(&job->row)) &&
	    slurm_folder_abandon(job->dir, job->uuid, &e) != 0)
		return;
	if (slurm_row_stuck(&job->row) || is_gone(job) || is_back(job) ||
	    (has_ended(job) &&
		allocation_now_of(job) >= job->final_ms + SLURM_SETTLE_MS))
		job_over(job);
}

/* Whether the trial of this guest avoids the node of this job. */
static bool
is_excluded(const struct slurm_attempt *guest, const struct slurm_attempt *job)
{
	const char *node = job->node[0] != '\0' ? job->node : job->row.node;
	char list[1024], *rest = list, *word;

	if (*node == '\0')
		return false;
	slurm_folder_excluded(guest, list, sizeof list);
	while ((word = strsep(&rest, ",")) != NULL)
		if (strcmp(word, node) == 0)
			return true;
	return false;
}

/* A job with a free place: one that runs before one that waits. */
static struct slurm_attempt *
job_for(const struct slurm_attempt *guest, bool must_run)
{
	const struct slurm *s = guest->slurm;
	struct slurm_attempt *best = NULL, *job;
	size_t i;

	for (i = 0; i < s->n; i++) {
		job = s->attempts[i];
		if (!is_open(job) || job->guests >= s->set.per_job ||
		    (must_run && !job->claimed) || is_excluded(guest, job))
			continue;
		if (best == NULL || (job->claimed && !best->claimed))
			best = job;
	}
	return best;
}

/* Guests of a job that waits go to one that runs and has a free place. */
static void
waiting_move(struct slurm *s)
{
	struct slurm_attempt *a, *job;
	size_t i;

	for (i = 0; i < s->n; i++) {
		a = s->attempts[i];
		if (!a->is_guest || a->phase != SLURM_SENT || a->claimed ||
		    a->host == NULL || a->host->claimed)
			continue;
		job = job_for(a, true);
		if (job != NULL && take_back(a))
			(void)assign(a, job);
	}
}

/* Jobs that have had nothing to do for a while. */
static void
empty_end(struct slurm_attempt *job)
{
	struct err e = ERR_INIT;

	if (job->guests > 0 || !is_open(job)) {
		job->empty_ms = allocation_now_of(job);
		return;
	}
	if (allocation_now_of(job) < job->empty_ms + EMPTY_MS)
		return;
	if (slurm_folder_wish(job->dir, "stop\n", &e) != 0)
		return;
	job->stop = SLURM_STOP_NOW;
	slurm_queue_ask(job->slurm, false);
}

/* As many jobs as the trials that are due fill. */
static void
jobs_make(struct slurm *s, int64_t due)
{
	int64_t per = s->set.per_job, most, jobs = 0;
	size_t i;

	most = (s->parallel + per - 1) / per + EXCLUDED_JOBS;
	for (i = 0; i < s->n; i++)
		jobs += is_open(s->attempts[i]);
	for (; due > 0 && jobs < most; due -= per, jobs++)
		job_make(s);
}

void
slurm_allocation_place(struct slurm *s)
{
	struct slurm_attempt *a, *job;
	int64_t due = 0;
	size_t i, n = s->n;

	for (i = 0; i < n; i++) {
		a = s->attempts[i];
		if (!allocation_is_due(a))
			continue;
		job = s->hold ? NULL : job_for(a, false);
		if (job == NULL || !assign(a, job))
			due++;
	}
	if (due > 0 && !s->hold && s->set.per_job > 1)
		jobs_make(s, due);
	if (due == 0)
		waiting_move(s);
	/* New jobs get their trials at once. */
	for (i = 0; n < s->n && i < n; i++)
		if (allocation_is_due(s->attempts[i]) &&
		    (job = job_for(s->attempts[i], false)) != NULL)
			(void)assign(s->attempts[i], job);
	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->is_job)
			empty_end(s->attempts[i]);
}

void
slurm_allocation_close(struct slurm *s)
{
	struct err e = ERR_INIT;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (is_open(s->attempts[i]) && s->attempts[i]->guests == 0)
			(void)slurm_folder_write(
			    s->attempts[i]->dir, SHIM_STOP_FILE, "stop\n", &e);
}
