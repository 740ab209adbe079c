/*
 * Compares one attempt with its files and with its row of squeue.  The claim
 * and the record of the end on the shared file system decide; the row says why
 * there is none, and who ended a trial that did not end by itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/text.h"
#include "src/model/study/study.h"
#include "trials/node/node.h"
#include "trials/pack/pack-trial.h"
#include "trials/process/attempt-status.h"
#include "trials/process/last-line.h"
#include "trials/process/transient-error.h"
#include "trials/ranks/ranks.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

enum {
	BEAT_DEAD_MS = 45000, /* nine beats */
	WORD_MS = 30000, /* to wait for Slurm's word on an end */
	OUTPUT_MS = 90000, /* … for the whole output: caches of NFS last 60 s */
	GONE = 2, /* queries without a job, which is then gone */
	WALL_EARLY_S = SLURM_SIGNAL_EARLY_S + 5
};

static int64_t
slurm_look_now_of(const struct slurm_attempt *a)
{
	return loop_now_ms(a->slurm->loop);
}

static void
end_emit(struct slurm_attempt *a, struct launch_event *ev)
{
	/* The job, or a copy of it, may still wait in the queue. */
	if (!a->is_guest)
		slurm_stray_add(a->slurm, a->name,
		    !a->claimed && a->phase != SLURM_DUE &&
			!slurm_row_final(&a->row));
	slurm_allocation_leave(a);
	slurm_phase(a, SLURM_OVER);
	fail_point("slurm.before_end");
	backend_emit(&a->source, ev);
}

/* End an attempt without a valid record of the supervisor. */
static void
end_without_record(struct slurm_attempt *a, enum end_class class, bool ran,
    bool not_yet, const char *why)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	struct launch_exit *x = &ev.u.exit;

	if (slurm_tail(a, true)) {
		slurm_look_soon(a->slurm);
		return;
	}
	x->ran = ran;
	x->not_yet = not_yet;
	x->exit_code = -1;
	x->end = class;
	x->stopped = a->stop != SLURM_STOP_NONE;
	x->ended_us = loop_wall_us(a->slurm->loop);
	x->started_us = a->claim.started_us;
	if (a->has_exit) {
		x->started_us = a->exit.started_us;
		x->ended_us = a->exit.ended_us;
		x->max_rss = a->exit.max_rss;
		x->cpu_us = a->exit.cpu_us;
	}
	if (x->started_us == 0)
		x->started_us = x->ended_us;
	(void)snprintf(x->why, sizeof x->why, "%s", why);
	end_emit(a, &ev);
}

static void
place_tell(struct slurm_attempt *a, const char *text)
{
	struct launch_event ev = { .kind = LAUNCH_PLACE };

	if (strcmp(a->place, text) == 0)
		return;
	(void)snprintf(a->place, sizeof a->place, "%s", text);
	ev.u.place = a->place;
	backend_emit(&a->source, &ev);
}

static void
waits_tell(struct slurm_attempt *a, const char *text)
{
	struct launch_event ev = { .kind = LAUNCH_WAITS };

	ev.u.waits = text;
	backend_emit(&a->source, &ev);
}

static bool
has_word(const char *reason, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(reason, words[i]) != NULL)
			return true;
	return false;
}

/*
 * Note a reason that needs an action of the user: for each job, or once where all
 * jobs of the study may have it.
 */
static void
wait_note(struct slurm_attempt *a)
{
	static const char *const jobs[] = { "Held", "held", "Invalid",
		"BadConstraints", "DependencyNeverSatisfied" };
	static const char *const all[] = { "PartitionDown", "PartitionInactive",
		"PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig",
		"NodeDown", "ReqNodeNotAvail", "AssocGrp", "AssocMax", "QOSGrp",
		"QOSMax", "QOSNot", "QOSUsage", "QOSMinGRES", "AccountNot",
		"Licenses", "Reservation", "not in group permitted" };
	struct strv *noted = &a->slurm->noted_reasons;
	char kind[sizeof a->row.reason];
	size_t i;

	if (has_word(a->row.reason, jobs, sizeof jobs / sizeof jobs[0])) {
		backend_note(&a->source, LAUNCH_WARNING,
		    "its job %" PRId64 " waits in the queue of Slurm: %.80s",
		    a->row.id, a->row.reason);
		return;
	}
	if (!has_word(a->row.reason, all, sizeof all / sizeof all[0]))
		return;
	/* Behind a comma are the nodes, which change. */
	(void)snprintf(kind, sizeof kind, "%.*s",
	    (int)strcspn(a->row.reason, ","), a->row.reason);
	for (i = 0; i < noted->n; i++)
		if (strcmp(noted->v[i], kind) == 0)
			return;
	strv_add(noted, xstrdup(kind));
	backend_note(&a->slurm->source, LAUNCH_WARNING,
	    "job %" PRId64 " waits in the queue of Slurm, and others may: "
	    "%.80s",
	    a->row.id, a->row.reason);
}

/* Where and why it waits. */
static void
wait_put(const struct slurm_attempt *a, char *text, size_t n)
{
	(void)snprintf(text, n, "Slurm job %" PRId64 ", %s: %.80s", a->row.id,
	    strcmp(a->row.word, "PENDING") == 0 ? "pending" : a->row.word,
	    a->row.reason);
}

/* Whether nothing of this has changed. */
static bool
wait_is_told(const struct slurm_attempt *a)
{
	char text[sizeof a->place];

	wait_put(a, text, sizeof text);
	return strcmp(a->place, text) == 0;
}

static void
wait_tell(struct slurm_attempt *a)
{
	char text[sizeof a->place];

	if (wait_is_told(a)) {
		if (a->doubted_ms != 0 && a->word_ms > a->doubted_ms) {
			a->doubted_ms = 0;
			wait_note(a);
		}
		return;
	}
	wait_put(a, text, sizeof text);
	place_tell(a, text);
	waits_tell(a, text);
	/* 23.11 and 24.05 say this of jobs that were just submitted. */
	a->doubted_ms =
	    strcmp(a->row.reason, "InvalidAccount") == 0 ? a->word_ms : 0;
	if (a->doubted_ms == 0)
		wait_note(a);
}

static void
up_tell(struct slurm_attempt *a)
{
	struct launch_event use = { .kind = LAUNCH_USAGE };
	struct launch_event ev = { .kind = LAUNCH_UP };
	char text[sizeof a->place];

	if (a->up)
		return;
	a->up = true;
	(void)snprintf(text, sizeof text, "%s job %" PRId64, a->node, a->id);
	(void)snprintf(a->place, sizeof a->place, "%s", text);
	ev.u.up.started_us = a->claim.started_us;
	ev.u.up.place = a->place;
	ev.u.up.cpus = (int)(a->cpus * a->slurm->set.nodes);
	backend_emit(&a->source, &ev);
	/* What the cluster charges: it has them until its job ends. */
	if (a->slurm->set.n_gpus > 0) {
		use.u.usage.gpus =
		    (int)(a->slurm->set.n_gpus * a->slurm->set.nodes);
		backend_emit(&a->source, &use);
	}
}

/*
 * Tell that a job that had begun stands still, and when it goes on.  Once more after
 * each start of the server: it may have gone on meanwhile.
 */
static void
stands_tell(struct slurm_attempt *a)
{
	char text[sizeof a->place];
	bool stands = strcmp(a->row.word, "SUSPENDED") == 0 ||
		      strcmp(a->row.word, "STOPPED") == 0;

	if (a->row.id == 0 || a->row.state != SLURM_STATE_RUNS ||
	    strcmp(a->told_word, a->row.word) == 0)
		return;
	memcpy(a->told_word, a->row.word, sizeof a->told_word);
	(void)snprintf(text, sizeof text,
	    "Slurm job %" PRId64 ", %s: its processes stand still", a->row.id,
	    a->row.word);
	waits_tell(a, stands ? text : NULL);
}

/* The file of the claim has the job and the node. */
static void
claim_read(struct slurm_attempt *a)
{
	char text[256], job[32], cpus[24];

	if (a->node[0] != '\0' ||
	    !slurm_folder_read(a->dir, SHIM_CLAIM_FILE, text, sizeof text))
		return;
	slurm_missing_over(a->slurm);
	slurm_unbegun_over(a->slurm);
	slurm_folder_word(text, "host", a->node, sizeof a->node);
	slurm_folder_word(text, "job", job, sizeof job);
	slurm_folder_word(text, "cpus", cpus, sizeof cpus);
	a->cpus = (int)strtol(cpus, NULL, 10);
	if (strtoll(job, NULL, 10) > 0)
		a->id = strtoll(job, NULL, 10);
	if (a->row.id != a->id) {
		/* A copy of its job was listed last. */
		a->row = (struct slurm_row){ 0 };
		a->final_ms = -1;
	}
	if (a->phase != SLURM_SENDING && a->phase != SLURM_OVER)
		slurm_phase(a, SLURM_SENT);
}

/* The records: false: they cannot be read now. */
static bool
slurm_look_records_read(struct slurm_attempt *a, bool *foreign, struct err *e)
{
	enum record_check claim_is = RECORD_NONE, exit_is = RECORD_NONE;
	int fd = slurm_folder_open_file(a->dir, "state");
	bool had = a->has_exit;
	int error;

	*foreign = false;
	if (fd == -1) {
		error = errno;
		if (error == ENOENT && !a->claimed)
			return true;
		(void)err_set(
		    e, ERR_FILE, "%s/state: %s", a->dir, strerror(error));
		return false;
	}
	if (attempt_record_read(
		fd, a->uuid, &a->claim, &claim_is, &a->exit, &exit_is) == -1)
		claim_is = RECORD_BAD;
	(void)close(fd);
	*foreign = claim_is == RECORD_FOREIGN;
	if (claim_is == RECORD_BAD || exit_is == RECORD_BAD) {
		(void)err_set(e, ERR_FILE, "%s/state: is damaged", a->dir);
		return false;
	}
	a->claimed = claim_is == RECORD_GOOD;
	a->has_exit = a->claimed && exit_is == RECORD_GOOD;
	if (a->has_exit && !had)
		a->exit_ms = slurm_look_now_of(a);
	return true;
}

static void
beat_read(struct slurm_attempt *a)
{
	char text[sizeof a->beat];

	/* Without a file the supervisor may have died before its first beat. */
	if ((!slurm_folder_read(a->dir, SHIM_BEAT_FILE, text, sizeof text) ||
		strcmp(text, a->beat) == 0) &&
	    a->beat_ms != 0)
		return;
	memcpy(a->beat, text, sizeof text);
	a->beat_ms = slurm_look_now_of(a);
}

static void
end_wall(struct slurm_attempt *a)
{
	if (slurm_tail_has_progress(a))
		end_without_record(a, END_SPOT, true, false,
		    "the time limit of its job was reached: it continues from "
		    "its checkpoint in the next job");
	else
		end_without_record(a, END_TIMEOUT, true, false,
		    "the time limit of its job was reached, and it reported no "
		    "step that was new: give its jobs more time, or save "
		    "checkpoints more often");
}

/*
 * End an attempt whose job was cancelled: sacct says by whom, where there is
 * one; until then the attempt stays open.
 */
static void
end_cancelled(struct slurm_attempt *a)
{
	char text[240], who[SLURM_WHO];
	int64_t boot_s = 0;

	if (!slurm_cancelled_find(a, who, sizeof who) ||
	    !slurm_cancelled_boot(a, a->final_ms, &boot_s))
		return;
	if (slurm_cancelled_own(a, boot_s, who)) {
		end_without_record(a, END_LOST, a->claimed, false,
		    "its job was cancelled when the controller of Slurm was "
		    "restarted");
		return;
	}
	(void)snprintf(text, sizeof text,
	    "job %" PRId64 " was cancelled in Slurm (scancel) by %s: it is not "
	    "started again",
	    a->row.id, who);
	end_without_record(a, END_USER, a->claimed, false, text);
}

static void
end_node(struct slurm_attempt *a)
{
	const char *node = a->node[0] != '\0' ? a->node : a->row.node;
	char text[256];

	slurm_folder_exclude(a, node);
	(void)snprintf(text, sizeof text, "its node %s failed", node);
	end_without_record(a, END_LOST, a->claimed, false, text);
}

static void
end_preempted(struct slurm_attempt *a)
{
	/* The other trials of its job have the rest of the grace. */
	if (a->host != NULL && a->exit.preempted)
		(void)slurm_grace_tell(a->host);
	end_without_record(a, END_SPOT, a->claimed, false,
	    "preempted by another job of Slurm");
}

/*
 * End an attempt that is to be started again, because of its node or of Slurm; or
 * the study, where that is so everywhere.
 */
static void
end_unstarted(struct slurm_attempt *a, const char *why)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	if (slurm_unbegun_add(a->slurm, a->row.node, why, &ev.u.exit))
		end_emit(a, &ev);
	else
		end_without_record(a, END_LOST, false, false, why);
}

/* The node of an attempt that does not begin, to which its end counts. */
static void
node_tell(struct slurm_attempt *a)
{
	char text[sizeof a->place];

	if (a->node[0] == '\0')
		(void)snprintf(a->node, sizeof a->node, "%s", a->row.node);
	(void)snprintf(text, sizeof text, "%s job %" PRId64, a->node, a->id);
	if (a->node[0] != '\0')
		place_tell(a, text);
}

/*
 * End an attempt whose node could not start its job; is_counted: where that is so
 * everywhere, the study ends.
 */
static void
end_unlaunched(struct slurm_attempt *a, const char *dir, bool is_counted)
{
	char words[120], text[400];

	(void)slurm_prelude_words(dir, words, sizeof words);
	node_tell(a);
	slurm_folder_exclude(a, a->row.node);
	(void)snprintf(text, sizeof text,
	    "job %" PRId64 " could not be started on %s (%.60s%s%s): is %.120s "
	    "there, and the node in order?",
	    a->row.id, a->row.node[0] != '\0' ? a->row.node : "a node",
	    strcmp(a->row.reason, "None") == 0 ? a->row.word : a->row.reason,
	    words[0] != '\0' ? ": " : "", words, a->dir);
	if (is_counted)
		end_unstarted(a, text);
	else
		end_without_record(a, END_LOST, false, false, text);
}

/*
 * End an attempt whose script ended before the supervisor began: setup has
 * failed, or what it needs is not on the node.  Where the script was killed,
 * nothing is known of either.
 */
static void
end_unbegun(struct slurm_attempt *a, const char *dir, const char *state)
{
	bool killed = a->row.state == SLURM_STATE_LAUNCH, ours;
	char words[200], text[400];

	ours = slurm_prelude_words(dir, words, sizeof words);
	node_tell(a);
	(void)snprintf(text, sizeof text,
	    "job %" PRId64 " %s on %.40s before its supervisor began%s%s",
	    a->row.id, killed ? "was killed" : state,
	    a->node[0] != '\0' ? a->node : "a node",
	    words[0] != '\0' ? ": " : "", words);
	if (killed || ours)
		end_unstarted(a, text);
	else
		end_without_record(a, END_ERROR, false, false, text);
}

/* What the state of the job says; false: nothing beyond our own record. */
static bool
end_by_row(struct slurm_attempt *a)
{
	switch (a->row.state) {
	case SLURM_STATE_CANCELLED:
		if (a->stop != SLURM_STOP_NONE)
			return false;
		end_cancelled(a);
		return true;
	case SLURM_STATE_NODE:
		end_node(a);
		return true;
	case SLURM_STATE_PREEMPTED:
		end_preempted(a);
		return true;
	case SLURM_STATE_TIMEOUT:
		end_wall(a);
		return true;
	case SLURM_STATE_MEMORY:
		end_without_record(a, END_OOM, true, false,
		    "it used more memory than its job had (memory)");
		return true;
	case SLURM_STATE_WAITS:
	case SLURM_STATE_RUNS:
	case SLURM_STATE_COMPLETED:
	case SLURM_STATE_FAILED:
	case SLURM_STATE_LAUNCH:
	case SLURM_STATE_OTHER:
		break;
	}
	return false;
}

/* Whether SIGTERM has ended the job of a guest. */
static bool
host_interrupted(const struct slurm_attempt *guest)
{
	const struct slurm_attempt *job = guest->host;

	return job == NULL || strcmp(job->closing, NODE_CLOSING_TERM) == 0 ||
	       strcmp(job->closing, NODE_CLOSING_PREEMPTED) == 0 ||
	       strcmp(job->closing, NODE_CLOSING_WALL) == 0;
}

/* Ended in the grace of a preemption, before Slurm has ended its job. */
static bool
is_preempted(const struct slurm_attempt *a)
{
	if (a->stop != SLURM_STOP_NONE || !a->exit.ran)
		return false;
	return a->exit.preempted ||
	       (a->exit.stopped && a->host != NULL &&
		   strcmp(a->host->closing, NODE_CLOSING_PREEMPTED) == 0);
}

/* … before the limit of the job. */
static bool
host_at_wall(const struct slurm_attempt *guest)
{
	return guest->host != NULL &&
	       strcmp(guest->host->closing, NODE_CLOSING_WALL) == 0;
}

/* The trial may have been ended from outside: Slurm reports by whom. */
static bool
was_ended(const struct slurm_attempt *a)
{
	const struct attempt_exit *x = &a->exit;

	return x->stopped || x->signal == SIGTERM || x->signal == SIGKILL ||
	       x->exit_code == 128 + SIGTERM || x->exit_code == 128 + SIGKILL;
}

/* … or by a lack of memory, which Slurm reports, too. */
static bool
needs_word(const struct slurm_attempt *a)
{
	const struct attempt_exit *x = &a->exit;

	if (a->stop != SLURM_STOP_NONE || !x->ran || x->timeout ||
	    is_preempted(a))
		return false;
	/*
	 * The program of the pack was killed: perhaps with the node, whose
	 * state lags.
	 */
	if (pack_trial_lost(a->dir))
		return true;
	/* A job of several trials goes on when one of them fails. */
	if (a->is_guest && !host_interrupted(a) &&
	    (!was_ended(a) || a->word_ms > a->exit_ms))
		return false;
	return was_ended(a) || x->signal != 0 || x->exit_code != 0;
}

/*
 * Whether it was ended from outside, and what Slurm says is of another job or run.  A
 * controller that has forgotten a job that runs gives its number to another one, or
 * runs it again; where that comes to the same node, both are cancelled.
 */
static bool
is_forgotten(const struct slurm_attempt *a, bool final, int64_t boot_s)
{
	return a->missing >= GONE ||
	       (final && slurm_cancelled_own(a, boot_s, ""));
}

/* Whether the supervisor got Slurm's signal that the time is almost over. */
static bool
is_wall(const struct slurm_attempt *a)
{
	const struct attempt_exit *x = &a->exit;
	int64_t limit =
	    a->row.limit_s > 0 ? a->row.limit_s : a->slurm->set.time_s;
	int64_t ran_s = (x->ended_us - x->started_us) / 1000000;

	if (a->is_guest)
		return x->stopped && host_at_wall(a);
	return x->stopped && limit > 0 &&
	       ran_s >= limit - a->slurm->set.signal_s - WALL_EARLY_S;
}

/* Whether the attempt's output is not whole here yet; not for ever. */
static bool
is_output_late(struct slurm_attempt *a)
{
	if (slurm_tail_is_whole(a))
		return false;
	if (slurm_look_now_of(a) < a->exit_ms + OUTPUT_MS)
		return true;
	if (!a->noted_short)
		backend_note(&a->source, LAUNCH_WARNING,
		    "its log or its metrics.jsonl is shorter here than where "
		    "it ran: its last reports may be missing");
	a->noted_short = true;
	return false;
}

/* Add what the job said before the trial to the reason of a failure. */
static void
exit_add_words(const struct slurm_attempt *a, char *text, size_t n)
{
	char words[160];
	struct buf all = { 0 };

	(void)slurm_prelude_words(a->dir, words, sizeof words);
	if (words[0] == '\0')
		return;
	buf_printf(&all, "%s%sits job said before: %s", text,
	    *text != '\0' ? "; " : "", words);
	text_cut(text, n, buf_str(&all));
	buf_free(&all);
}

/*
 * Make an error of a program that is not there, which uses up a retry: each look
 * for the program would be another job.
 */
static void
exit_explain(const struct slurm_attempt *a, struct launch_exit *x)
{
	if (!x->ran && x->stopped && a->stop == SLURM_STOP_NONE)
		x->end = END_LOST;
	if (x->stopped || x->timeout || x->oom ||
	    (x->ran && x->exit_code == 0 && x->signal == 0))
		return;
	if (!x->ran) {
		x->not_yet = transient_error_resource(a->exit.error);
		if (!x->not_yet && x->end == END_NONE)
			x->end = END_ERROR;
	}
	if (x->why[0] != '\0')
		exit_add_words(a, x->why, sizeof x->why);
	else
		exit_add_words(a, x->said, sizeof x->said);
}

/*
 * Whether Slurm has put a job that had begun back into the queue, as a site may want
 * it at a preemption although hpotune does not (--no-requeue).
 */
static bool
is_requeued(const struct slurm_attempt *a)
{
	return a->claimed && a->missing == 0 && a->id != 0 &&
	       a->row.id == a->id && a->row.state == SLURM_STATE_WAITS;
}

static void
end_requeued(struct slurm_attempt *a)
{
	end_without_record(a, END_SPOT, true, false,
	    "Slurm has put its job back into the queue (requeue), as at a "
	    "preemption");
}

static void
slurm_look_end_recorded(struct slurm_attempt *a)
{
	char *log;
	const struct attempt_exit *x = &a->exit;
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	bool final = slurm_row_final(&a->row) && a->word_ms > a->exit_ms;
	bool requeued = is_requeued(a) && a->word_ms > a->exit_ms;
	int64_t boot_s = 0;

	if (x->ran)
		up_tell(a);
	if (needs_word(a) && !final && !requeued && a->missing < GONE &&
	    slurm_look_now_of(a) < a->exit_ms + WORD_MS) {
		slurm_queue_ask(a->slurm, false);
		return;
	}
	if (is_output_late(a)) {
		(void)slurm_tail(a, false);
		return;
	}
	if (is_preempted(a)) {
		end_preempted(a);
		return;
	}
	if (requeued && needs_word(a) && was_ended(a)) {
		end_requeued(a);
		return;
	}
	if (needs_word(a)) {
		if (final &&
		    (was_ended(a) || pack_trial_lost(a->dir) ||
			a->row.state == SLURM_STATE_MEMORY) &&
		    end_by_row(a))
			return;
		if (is_wall(a)) {
			end_wall(a);
			return;
		}
	}
	if (needs_word(a) && was_ended(a)) {
		if (final && !slurm_cancelled_boot(a, a->exit_ms, &boot_s))
			return;
		if (is_forgotten(a, final, boot_s)) {
			end_without_record(a, END_LOST, true, false,
			    "it was ended by a signal, and Slurm does not say "
			    "why");
			return;
		}
	}
	if (slurm_tail(a, true)) {
		slurm_look_soon(a->slurm);
		return;
	}
	attempt_status_exit(&ev.u.exit, x);
	log = xasprintf("%s/log", a->dir);
	last_line_read(log, ev.u.exit.said, sizeof ev.u.exit.said);
	free(log);
	if (a->slurm->trial->launcher != STUDY_LAUNCHER_NONE)
		ranks_words_cause(a->dir, &ev.u.exit);
	pack_trial_end(a->dir, &ev.u.exit);
	exit_explain(a, &ev.u.exit);
	end_emit(a, &ev);
}

/*
 * Look at an attempt that had begun: its job is over, or unknown to Slurm, and
 * there is no record of its end.
 */
static void
look_claimed(struct slurm_attempt *a)
{
	int64_t now = slurm_look_now_of(a);

	beat_read(a);
	if (a->claim.kind != CLAIM_STARTING)
		up_tell(a);
	if (a->up)
		stands_tell(a);
	if (slurm_tail(a, false))
		slurm_look_soon(a->slurm);
	if (slurm_row_final(&a->row) && a->missing == 0) {
		if (now < a->final_ms + SLURM_SETTLE_MS)
			return;
		/* The accounting may be wrong of one that lives. */
		if (a->account == SLURM_ACCOUNT_ROW && a->beat_ms != 0 &&
		    now < a->beat_ms + BEAT_DEAD_MS) {
			slurm_queue_ask(a->slurm, false);
			return;
		}
		if (!end_by_row(a))
			end_without_record(a, END_LOST, true, false,
			    "its supervisor died, or its end could not be "
			    "recorded");
		return;
	}
	/* In a job that goes on; a place may only look free for a while. */
	if (slurm_allocation_left(a) && a->beat_ms != 0 &&
	    now >= a->beat_ms + BEAT_DEAD_MS) {
		end_without_record(a, END_LOST, true, false,
		    "its supervisor died, or its end could not be recorded");
		return;
	}
	if (is_requeued(a) && a->beat_ms != 0 &&
	    now >= a->beat_ms + BEAT_DEAD_MS) {
		if (a->word_ms >= a->beat_ms + BEAT_DEAD_MS)
			end_requeued(a);
		else
			slurm_queue_ask(a->slurm, false);
		return;
	}
	if (a->missing < GONE)
		return;
	if (!a->noted_forgotten)
		backend_note(&a->source, LAUNCH_WARNING,
		    "Slurm no longer lists its job %" PRId64
		    ": its end is read from its files",
		    a->id);
	a->noted_forgotten = true;
	slurm_queue_ask(a->slurm, false);
	if (a->beat_ms != 0 && now >= a->beat_ms + BEAT_DEAD_MS)
		end_without_record(a, END_LOST, true, false,
		    "Slurm no longer lists its job, and its supervisor no "
		    "longer updates its files");
}

/*
 * Make sure that an attempt cannot start any more; false: it was started, or
 * this is unknown.
 */
static bool
slurm_look_give_up(struct slurm_attempt *a)
{
	struct err e = ERR_INIT;
	int rc = slurm_folder_abandon(a->dir, a->uuid, &e);

	if (rc == -1 && !a->noted_unknown)
		backend_note(&a->source, LAUNCH_WARNING,
		    "it cannot be given up: %s", e.text);
	a->noted_unknown |= rc == -1;
	if (rc != 0)
		slurm_look_soon(a->slurm);
	return rc == 0;
}

/*
 * End an attempt that is over and could not be given up, because its supervisor died
 * between its claim and the record of it: nothing has started then.  Nothing is done
 * if the claim is that of another job.
 */
static void
end_unrecorded(struct slurm_attempt *a)
{
	char text[256], word[64];
	int64_t id;

	if (!slurm_folder_read(a->dir, SHIM_CLAIM_FILE, text, sizeof text))
		return;
	slurm_folder_word(text, "uuid", word, sizeof word);
	if (strcmp(word, a->uuid) != 0)
		return;
	slurm_folder_word(text, "job", word, sizeof word);
	id = strtoll(word, NULL, 10);
	if (id != (a->host != NULL ? a->host->id : a->row.id))
		return;
	slurm_folder_word(text, "host", a->node, sizeof a->node);
	end_without_record(a, END_LOST, false, false,
	    "its supervisor died before it could start the program");
}

/*
 * A controller that was killed may have lost a job that runs: it gives the id
 * to the next one, and cancels that when the node refuses it.
 */
static void
unclaimed_over(struct slurm_attempt *a)
{
	const char *dir = a->host != NULL ? a->host->dir : a->dir;
	bool begun = slurm_prelude_begun(dir);
	char who[SLURM_WHO] = "";
	int64_t boot_s = 0;

	if (a->row.state == SLURM_STATE_CANCELLED && a->row.id != 0 &&
	    (!slurm_cancelled_find(a, who, sizeof who) ||
		!slurm_cancelled_boot(a, a->final_ms, &boot_s)))
		return;
	if (!slurm_look_give_up(a)) {
		end_unrecorded(a);
		return;
	}
	/*
	 * So ends a job that is not to be requeued when the prolog of the site
	 * fails on its node; or, for an hour after a start of the controller,
	 * what that sorts out.
	 */
	if (a->row.state == SLURM_STATE_CANCELLED && a->row.node[0] != '\0' &&
	    !begun && (!a->who_known || strcmp(who, "root") == 0) &&
	    !slurm_cancelled_own(a, boot_s, who))
		end_unlaunched(
		    a, dir, !slurm_cancelled_unbegun(a, boot_s, who));
	else if (a->row.state == SLURM_STATE_CANCELLED &&
		 slurm_cancelled_unbegun(a, boot_s, who))
		end_without_record(a, END_LOST, false, false,
		    "its job was cancelled before it began, when the "
		    "controller of Slurm was restarted");
	else if (end_by_row(a))
		return;
	else if (slurm_row_stuck(&a->row) || !begun)
		end_unlaunched(a, dir, true);
	else
		end_unbegun(a, dir, "ended");
}

/* End a guest whose job was ended while the guest's script ran. */
static void
guest_end_interrupted(struct slurm_attempt *a)
{
	char text[100];

	(void)snprintf(text, sizeof text,
	    "job %" PRId64 " ended before it had started this trial",
	    a->host->id);
	end_without_record(a, END_LOST, false, false, text);
}

/* In a job of several trials, and not started. */
static void
look_guest(struct slurm_attempt *a)
{
	if (!slurm_allocation_lost(a)) {
		if (a->row.state == SLURM_STATE_WAITS && a->row.id != 0)
			wait_tell(a);
		return;
	}
	if (a->host == NULL || !a->host->claimed) {
		unclaimed_over(a);
		return;
	}
	if (!slurm_look_give_up(a)) {
		end_unrecorded(a);
		return;
	}
	/* The job goes on, so the script of this guest has ended. */
	if (a->unplaced_ms != 0 && slurm_prelude_begun(a->dir) &&
	    !host_interrupted(a) && a->row.state == SLURM_STATE_RUNS) {
		(void)snprintf(a->node, sizeof a->node, "%s", a->host->node);
		end_unbegun(a, a->dir, "could not start this trial");
	} else
		guest_end_interrupted(a);
}

/* Whether the job of an attempt has ended a while ago, or does not begin. */
static bool
is_job_over(const struct slurm_attempt *a)
{
	return slurm_row_stuck(&a->row) ||
	       (slurm_row_final(&a->row) &&
		   slurm_look_now_of(a) >= a->final_ms + SLURM_SETTLE_MS);
}

static void
look_unclaimed(struct slurm_attempt *a)
{
	if (a->stop != SLURM_STOP_NONE && a->phase != SLURM_SENDING) {
		if (slurm_look_give_up(a))
			end_without_record(a, END_NONE, false, false,
			    "stopped before it began");
		else if (a->is_guest ? slurm_allocation_lost(a)
				     : is_job_over(a))
			end_unrecorded(a);
		return;
	}
	if (a->is_guest) {
		look_guest(a);
		return;
	}
	if (a->phase == SLURM_DUE || a->phase == SLURM_SENDING ||
	    a->phase == SLURM_MISSING)
		return;
	if (a->missing >= GONE) {
		slurm_missing_begin(a);
		return;
	}
	if (is_job_over(a)) {
		unclaimed_over(a);
		return;
	}
	if (a->row.state != SLURM_STATE_WAITS || a->row.id == 0)
		return;
	/* Put back into the queue because of its exit status (RequeueExit). */
	if (!wait_is_told(a) && slurm_prelude_left(a->dir))
		unclaimed_over(a);
	else
		wait_tell(a);
}

/* Ask the supervisor by a file, which needs no controller. */
static void
stop_file(struct slurm_attempt *a)
{
	struct err e = ERR_INIT;

	if (a->stop_filed >= a->stop)
		return;
	if (slurm_folder_wish(a->dir,
		a->stop == SLURM_STOP_NOW ? "kill\n" : "stop\n", &e) == 0)
		a->stop_filed = a->stop;
	slurm_queue_ask(a->slurm, true);
}

void
slurm_look(struct slurm_attempt *a)
{
	struct err e = ERR_INIT;
	bool foreign;

	if (a->phase == SLURM_OVER)
		return;
	if (a->is_job) {
		slurm_allocation_look(a);
		return;
	}
	if (!slurm_look_records_read(a, &foreign, &e)) {
		if (!a->noted_unknown)
			backend_note(&a->source, LAUNCH_WARNING,
			    "cannot find out whether it runs: %s", e.text);
		a->noted_unknown = true;
		return;
	}
	if (foreign) {
		end_without_record(
		    a, END_LOST, false, false, "its folder holds another run");
		return;
	}
	if (a->claimed)
		claim_read(a);
	if (a->stop != SLURM_STOP_NONE)
		stop_file(a);
	if (a->has_exit)
		slurm_look_end_recorded(a);
	else if (a->claimed)
		look_claimed(a);
	else
		look_unclaimed(a);
}
