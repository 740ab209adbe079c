/*
 * Compares one attempt with its files and with its row of squeue.  The claim
 * and the record of the end on the shared file system decide; the row says why
 * there is none, and who ended a trial that did not end by itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/node/node.h"
#include "trials/pack/pack-trial.h"
#include "trials/process/attempt-status.h"
#include "trials/process/last-line.h"
#include "trials/process/transient-error.h"
#include "trials/ranks/ranks.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

/* ---- who has cancelled a job -------------------------------------------- */

/*
 * Its owner or an administrator, by the accounting of Slurm, where there is
 * one. The row of squeue does not have it.
 */

enum {
	ASK_MS = 10000,
	PAUSE_MS = 2000, /* between two */
	LAG_MS = 20000, /* until the accounting has the end of a job */
	NONE_MS = 60000 /* until one without accounting is asked again */
};

#define UNKNOWN "its owner or an administrator"

static void
user_name(const char *uid, char *who, size_t n)
{
	char *end;
	unsigned long id = strtoul(uid, &end, 10);
	const struct passwd *pw = NULL;

	if (end != uid && (*end == '\0' || *end == '|'))
		pw = getpwuid((uid_t)id);
	if (pw != NULL)
		(void)snprintf(who, n, "%s", pw->pw_name);
	else
		(void)snprintf(
		    who, n, "user %.*s", (int)strcspn(uid, "|"), uid);
}

bool
slurm_look_who(const char *out, const char *name, char *who, size_t n)
{
	static const char by[] = "CANCELLED by ";
	size_t len = strlen(name);
	const char *line, *end;
	char word[64];

	*who = '\0';
	for (line = out; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
		end = strchrnul(line, '\n');
		/* An id alone may be that of another job. */
		if (strncmp(line, name, len) != 0 || line[len] != '|')
			continue;
		(void)snprintf(word, sizeof word, "%.*s",
		    (int)(end - line - (long)len - 1), line + len + 1);
		if (strncmp(word, by, sizeof by - 1) != 0)
			continue;
		user_name(word + sizeof by - 1, who, n);
		return true;
	}
	return false;
}

static void
on_answer(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;
	struct slurm_attempt *a = slurm_find(s, s->who.trial, s->who.attempt);

	(void)len;
	(void)why;
	s->who.child = NULL;
	s->who.none_ms = status != 0 ? loop_now_ms(s->loop) : 0;
	if (a != NULL)
		a->who_known = status == 0 &&
			       slurm_look_who(out,
				   a->host != NULL ? a->host->name : a->name,
				   a->who, sizeof a->who);
	slurm_look_soon(s);
}

static void
ask(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	char job[32], *argv[] = { "sacct", "--allocations", "--noheader",
		"--parsable2", "--duplicates", "--format=JobName%200,State",
		"--jobs", job, NULL };
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = ASK_MS, .both = true
	};
	struct err e = ERR_INIT;

	if (s->who.child != NULL ||
	    (s->who.asked_ms != 0 &&
		loop_now_ms(s->loop) < s->who.asked_ms + PAUSE_MS))
		return;
	s->who.asked_ms = loop_now_ms(s->loop);
	(void)snprintf(job, sizeof job, "%lld", (long long)a->row.id);
	s->who.trial = a->source.trial;
	s->who.attempt = a->source.attempt;
	if (capture_start(&s->who.child, s->loop, &spec, on_answer, s, &e) ==
	    -1) {
		s->who.child = NULL;
		s->who.none_ms = loop_now_ms(s->loop);
	}
}

/*
 * Who has cancelled its job, by sacct; false: the query runs, and
 * the attempt is examined again.
 */
static bool
who_find(struct slurm_attempt *a, char *who, size_t n)
{
	int64_t now = loop_now_ms(a->slurm->loop);

	if (a->who_known) {
		(void)snprintf(who, n, "%s", a->who);
		return true;
	}
	if (a->slurm->who.none_ms != 0 &&
	    now < a->slurm->who.none_ms + NONE_MS) {
		(void)snprintf(who, n,
		    UNKNOWN " (who is unknown: Slurm has no accounting here)");
		return true;
	}
	if (a->final_ms >= 0 && now >= a->final_ms + LAG_MS) {
		(void)snprintf(who, n, UNKNOWN);
		return true;
	}
	ask(a);
	return false;
}

/* ---- an attempt --------------------------------------------------------- */

enum {
	BEAT_DEAD_MS = 45000, /* nine beats */
	WORD_MS = 30000, /* to wait for Slurm's word on an end */
	OUTPUT_MS = 90000, /* … for the whole output: caches of NFS last 60 s */
	GONE = 2, /* queries without a job, which is then gone */
	RESTART_S = 3600, /* so long a controller sorts out what it has lost */
	WALL_EARLY_S = SLURM_SIGNAL_EARLY_S + 5
};

#define STEP_FILE "slurm-step"

static int64_t
now_of(const struct slurm_attempt *a)
{
	return loop_now_ms(a->slurm->loop);
}

static void
end_emit(struct slurm_attempt *a, struct launch_event *ev)
{
	/* A copy of its job may still wait in the queue. */
	if (!a->is_guest)
		slurm_stray_add(a->slurm, a->name);
	slurm_allocation_leave(a);
	slurm_phase(a, SLURM_OVER);
	fail_point("slurm.before_end");
	launcher_emit(&a->source, ev);
}

/* It ended without a valid record of the supervisor. */
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
	launcher_emit(&a->source, &ev);
}

static void
waits_tell(struct slurm_attempt *a, const char *text)
{
	struct launch_event ev = { .kind = LAUNCH_WAITS };

	ev.u.waits = text;
	launcher_emit(&a->source, &ev);
}

/*
 * Where and why it waits; a reason that needs an action of the user is a note.
 */
static void
wait_tell(struct slurm_attempt *a)
{
	static const char *const owners[] = { "Held", "held", "Invalid",
		"PartitionDown", "PartitionInactive", "PartitionTimeLimit",
		"PartitionNodeLimit", "NodeDown", "ReqNodeNotAvail", "AssocGrp",
		"AssocMax", "QOSGrp", "QOSMax", "QOSNot", "AccountNot",
		"BadConstraints", "Licenses", "Reservation",
		"DependencyNeverSatisfied" };
	char text[sizeof a->place];
	size_t i;

	(void)snprintf(text, sizeof text, "Slurm job %" PRId64 ", %s: %.80s",
	    a->row.id,
	    strcmp(a->row.word, "PENDING") == 0 ? "pending" : a->row.word,
	    a->row.reason);
	if (strcmp(a->place, text) == 0)
		return;
	place_tell(a, text);
	waits_tell(a, text);
	for (i = 0; i < sizeof owners / sizeof owners[0]; i++)
		if (strstr(a->row.reason, owners[i]) != NULL)
			break;
	if (i < sizeof owners / sizeof owners[0])
		launcher_note(&a->source, LAUNCH_WARNING,
		    "its job %" PRId64 " waits in the queue of Slurm: %.80s",
		    a->row.id, a->row.reason);
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
	launcher_emit(&a->source, &ev);
	/* What the cluster charges: it has them until its job ends. */
	if (a->slurm->set.n_gpus > 0) {
		use.u.usage.gpus =
		    (int)(a->slurm->set.n_gpus * a->slurm->set.nodes);
		launcher_emit(&a->source, &use);
	}
}

/* The file of the claim has the job and the node. */
static void
claim_read(struct slurm_attempt *a)
{
	char text[256], job[32], cpus[24];

	if (a->node[0] != '\0' ||
	    !slurm_folder_read(a->dir, SHIM_CLAIM_FILE, text, sizeof text))
		return;
	slurm_folder_word(text, "host", a->node, sizeof a->node);
	slurm_folder_word(text, "job", job, sizeof job);
	slurm_folder_word(text, "cpus", cpus, sizeof cpus);
	a->cpus = (int)strtol(cpus, NULL, 10);
	if (strtoll(job, NULL, 10) > 0)
		a->id = strtoll(job, NULL, 10);
	if (a->phase != SLURM_SENDING && a->phase != SLURM_OVER)
		slurm_phase(a, SLURM_SENT);
}

/* The records: false: they cannot be read now. */
static bool
records_read(struct slurm_attempt *a, bool *foreign, struct err *e)
{
	enum record_check claim_is = RECORD_NONE, exit_is = RECORD_NONE;
	char *path = xasprintf("%s/state", a->dir);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bool had = a->has_exit;
	int error;

	*foreign = false;
	if (fd == -1) {
		error = errno;
		free(path);
		if (error == ENOENT && !a->claimed)
			return true;
		(void)err_set(
		    e, ERR_FILE, "%s/state: %s", a->dir, strerror(error));
		return false;
	}
	free(path);
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
		a->exit_ms = now_of(a);
	return true;
}

static void
beat_read(struct slurm_attempt *a)
{
	char text[sizeof a->beat];

	if (!slurm_folder_read(a->dir, SHIM_BEAT_FILE, text, sizeof text) ||
	    (a->beat_ms != 0 && strcmp(text, a->beat) == 0))
		return;
	memcpy(a->beat, text, sizeof text);
	a->beat_ms = now_of(a);
}

/* Whether this attempt has gone on where earlier ones were cut off. */
static bool
has_progress(struct slurm_attempt *a)
{
	int64_t last = slurm_tail_last_step(a), before = -1;
	struct err e = ERR_INIT;
	char text[32];

	if (slurm_folder_read(a->trial_dir, STEP_FILE, text, sizeof text) &&
	    *text != '\0')
		before = strtoll(text, NULL, 10);
	if (last <= before)
		return false;
	(void)snprintf(text, sizeof text, "%" PRId64 "\n", last);
	(void)slurm_folder_write(a->trial_dir, STEP_FILE, text, &e);
	return true;
}

static void
end_wall(struct slurm_attempt *a)
{
	if (has_progress(a))
		end_without_record(a, END_SPOT, true, false,
		    "the time limit of its job was reached: it continues from "
		    "its checkpoint in the next job");
	else
		end_without_record(a, END_TIMEOUT, true, false,
		    "the time limit of its job was reached, and it reported no "
		    "step that was new: give its jobs more time, or save "
		    "checkpoints more often");
}

/* Who has cancelled it: sacct says so where it is; until then it stays open. */
static void
end_cancelled(struct slurm_attempt *a)
{
	char text[240], who[SLURM_WHO];

	if (!who_find(a, who, sizeof who))
		return;
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

/* The last line of the job's own output, which is empty if all is well. */
static void
last_words(const struct slurm_attempt *a, char *text, size_t n)
{
	char all[4096], *end;

	*text = '\0';
	if (!slurm_folder_read(a->dir, "slurm.out", all, sizeof all))
		return;
	end = all + strlen(all);
	while (end > all && end[-1] == '\n')
		*--end = '\0';
	end = strrchr(all, '\n');
	(void)snprintf(
	    text, n, "%.*s", (int)n - 1, end != NULL ? end + 1 : all);
}

/* It ended before its supervisor began. */
static void
end_unbegun(struct slurm_attempt *a)
{
	char words[160], text[400];

	last_words(a->host != NULL ? a->host : a, words, sizeof words);
	if (a->row.state == SLURM_STATE_LAUNCH || slurm_row_stuck(&a->row)) {
		slurm_folder_exclude(a, a->row.node);
		(void)snprintf(text, sizeof text,
		    "job %" PRId64 " could not be started on %s (%.60s): is "
		    "%.120s there, and the node in order?",
		    a->row.id, a->row.node[0] != '\0' ? a->row.node : "a node",
		    a->row.reason, a->dir);
	} else
		(void)snprintf(text, sizeof text,
		    "job %" PRId64
		    " ended (%s) before its supervisor began%s%s",
		    a->row.id, a->row.word, words[0] != '\0' ? ": " : "",
		    words);
	end_without_record(a, END_LOST, false, false, text);
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
		end_without_record(a, END_SPOT, a->claimed, false,
		    "preempted by another job of Slurm");
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
	       strcmp(job->closing, NODE_CLOSING_WALL) == 0;
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

	if (a->stop != SLURM_STOP_NONE || !x->ran || x->timeout)
		return false;
	/* Its program was killed: perhaps with the node, whose state lags. */
	if (pack_trial_lost(a->dir))
		return true;
	/* A job of several trials goes on when one of them fails. */
	if (a->is_guest && !host_interrupted(a) &&
	    (!was_ended(a) || a->word_ms > a->exit_ms))
		return false;
	return was_ended(a) || x->signal != 0 || x->exit_code != 0;
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

/* Whether its output is not whole here yet; not for ever. */
static bool
is_output_late(struct slurm_attempt *a)
{
	if (slurm_tail_is_whole(a))
		return false;
	if (now_of(a) < a->exit_ms + OUTPUT_MS)
		return true;
	if (!a->noted_short)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "its log or its metrics.jsonl is shorter here than where "
		    "it ran: its last reports may be missing");
	a->noted_short = true;
	return false;
}

static void
end_recorded(struct slurm_attempt *a)
{
	char *log;
	const struct attempt_exit *x = &a->exit;
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	bool final = slurm_row_final(&a->row) && a->word_ms > a->exit_ms;

	if (x->ran)
		up_tell(a);
	if (needs_word(a) && !final && a->missing < GONE &&
	    now_of(a) < a->exit_ms + WORD_MS) {
		slurm_queue_ask(a->slurm, false);
		return;
	}
	if (is_output_late(a)) {
		(void)slurm_tail(a, false);
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
	ev.u.exit.not_yet = !x->ran && transient_error_exec(x->error);
	end_emit(a, &ev);
}

/* Its job is over, or unknown to Slurm, and there is no record of its end. */
static void
look_claimed(struct slurm_attempt *a)
{
	int64_t now = now_of(a);

	beat_read(a);
	if (a->claim.kind != CLAIM_STARTING)
		up_tell(a);
	if (slurm_tail(a, false))
		slurm_look_soon(a->slurm);
	if (slurm_row_final(&a->row) && a->missing == 0) {
		if (now < a->final_ms + SLURM_SETTLE_MS)
			return;
		if (!end_by_row(a))
			end_without_record(a, END_LOST, true, false,
			    "its supervisor died, or its end could not be "
			    "recorded");
		return;
	}
	if (a->missing < GONE)
		return;
	if (!a->noted_forgotten)
		launcher_note(&a->source, LAUNCH_WARNING,
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

/* It cannot start any more; false: it was started, or this is unknown. */
static bool
give_up(struct slurm_attempt *a)
{
	struct err e = ERR_INIT;
	int rc = slurm_folder_abandon(a->dir, a->uuid, &e);

	if (rc == -1 && !a->noted_unknown)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "it cannot be given up: %s", e.text);
	a->noted_unknown |= rc == -1;
	if (rc != 0)
		slurm_look_soon(a->slurm);
	return rc == 0;
}

/*
 * A controller that was killed may have lost a job that runs: it gives the id
 * to the next one, and cancels that when the node refuses it.
 */
static void
unclaimed_over(struct slurm_attempt *a)
{
	int64_t boot_s = 0;

	if (a->row.state == SLURM_STATE_CANCELLED && a->row.id != 0 &&
	    !slurm_queue_boot(a->slurm, a->final_ms, &boot_s))
		return;
	if (!give_up(a))
		return;
	if (a->row.state == SLURM_STATE_CANCELLED &&
	    a->row.submitted_s < boot_s + RESTART_S)
		end_without_record(a, END_LOST, false, false,
		    "its job was cancelled before it began, when the "
		    "controller of Slurm was restarted");
	else if (!end_by_row(a))
		end_unbegun(a);
}

/* In a job of several trials, and not started. */
static void
look_guest(struct slurm_attempt *a)
{
	char words[160], text[400];

	if (!slurm_allocation_lost(a)) {
		if (a->row.state == SLURM_STATE_WAITS && a->row.id != 0)
			wait_tell(a);
		return;
	}
	if (a->host == NULL || !a->host->claimed) {
		unclaimed_over(a);
		return;
	}
	if (!give_up(a))
		return;
	last_words(a, words, sizeof words);
	(void)snprintf(text, sizeof text,
	    "job %" PRId64 " ended or failed before it had started this "
	    "trial%s%s",
	    a->host->id, words[0] != '\0' ? ": " : "", words);
	end_without_record(a, END_LOST, false, false, text);
}

static void
look_unclaimed(struct slurm_attempt *a)
{
	if (a->stop != SLURM_STOP_NONE && a->phase != SLURM_SENDING) {
		if (give_up(a))
			end_without_record(a, END_NONE, false, false,
			    "stopped before it began");
		return;
	}
	if (a->is_guest) {
		look_guest(a);
		return;
	}
	if (a->phase == SLURM_DUE || a->phase == SLURM_SENDING)
		return;
	if (a->missing >= GONE) {
		if (a->phase == SLURM_SENT)
			launcher_note(&a->source, LAUNCH_WARNING,
			    "Slurm no longer lists its job %" PRId64
			    " before it began: it is submitted again",
			    a->id);
		a->row = (struct slurm_row){ 0 };
		a->id = 0;
		slurm_phase(a, SLURM_DUE);
		return;
	}
	if (slurm_row_stuck(&a->row) ||
	    (slurm_row_final(&a->row) &&
		now_of(a) >= a->final_ms + SLURM_SETTLE_MS)) {
		unclaimed_over(a);
		return;
	}
	if (a->row.state == SLURM_STATE_WAITS && a->row.id != 0)
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
	if (!records_read(a, &foreign, &e)) {
		if (!a->noted_unknown)
			launcher_note(&a->source, LAUNCH_WARNING,
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
		end_recorded(a);
	else if (a->claimed)
		look_claimed(a);
	else
		look_unclaimed(a);
}
