/*
 * Follows an attempt from its start, or from that of the server, to its end:
 * its locks and records are compared with what was known, and the difference
 * is acted on.  The end is sent after all of its output, and after what is
 * left of it was killed.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/pack/pack-trial.h"
#include "trials/process/attempt-status.h"
#include "trials/process/cgroup.h"
#include "trials/process/last-line.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"
#include "trials/ranks/ranks.h"
#include "trials/shim/shim.h"

enum {
	UNKNOWN_MS = 2000, /* a record may be torn while it is being written */
	STARTING_MS = 30000, /* for a supervisor to make its claim */
	REMAINS_MS = 60000,
	OVERDUE_MS = 2000, /* for a supervisor to do what is due */
	KILL_ROUNDS = 3 /* of what forks while it is killed */
};

/* Whether the followed supervisor has ended; reaps it if it is our child. */
static bool
supervisor_gone(struct local_attempt *a)
{
	int status = -1;
	pid_t pid = 0;

	if (a->child > 0) {
		pid = waitpid(a->child, &status, WNOHANG);
		if (pid == 0 || (pid == -1 && errno == EINTR))
			return false;
		a->child = 0;
		a->child_status = status;
		return true;
	}
	if (!proc_ended(&a->supervisor))
		return false;
	/* Ours after all, from before the store was read again: reap it. */
	proc_reap(&a->supervisor);
	return true;
}

/*
 * When the trial began on the loop's clock, which nobody can set.  Before this
 * boot only the other clock has counted.  A process that was warm is older.
 */
static int64_t
begun_ms(const struct local *l, const struct claim *c)
{
	int64_t ran_us = loop_wall_us(l->loop) - c->started_us;
	int64_t at = loop_now_ms(l->loop) - (ran_us > 0 ? ran_us / 1000 : 0);
	int64_t made = c->trial_start * 1000 / sysconf(_SC_CLK_TCK);

	if (c->trial_start == 0 || strcmp(c->boot_id, l->boot_id) != 0)
		return at;
	return l->warm.skip > 0 && at > made ? at : made;
}

static void
reconcile_tell_up(struct local_attempt *a, const struct claim *c)
{
	struct launch_event ev = { .kind = LAUNCH_UP };
	struct buf place = { 0 };
	struct local_gpu_key key;

	a->started_us = c->started_us;
	a->up_ms = begun_ms(a->local, c);
	if (a->up)
		return;
	a->up = true;
	buf_puts(&place, a->local->host);
	(void)local_gpu_key(&key, a->local, a->slot, a->uuid);
	if (local_gpu_names_count(a->local, key.text) > 0) {
		buf_puts(&place, " gpu ");
		local_gpu_names_put(
		    a->local, key.text, LOCAL_GPU_INDEX, ",", &place);
	}
	ev.u.up.pid = c->trial_pid;
	ev.u.up.started_us = c->started_us;
	ev.u.up.place = buf_str(&place);
	backend_emit(&a->source, &ev);
	buf_free(&place);
	local_gpu_started(a);
	if (a->local->punch_unsupported && !a->local->noted_no_punch) {
		a->local->noted_no_punch = true;
		backend_note(&a->source, LAUNCH_WARNING,
		    "this file system cannot free parts of a file: "
		    "log_cap has no effect");
	}
}

/* All output was delivered: send this end. */
static void
reconcile_end(struct local_attempt *a, struct launch_event *ev)
{
	if (a->log.dropped + a->metrics.dropped > 0)
		backend_note(&a->source, LAUNCH_WARNING,
		    "%lld bytes of output were dropped before they were read",
		    (long long)(a->log.dropped + a->metrics.dropped));
	local_gpu_ended(a, ev);
	local_leftovers_remove_cgroup(a->local, a->uuid);
	fail_point("local.before_end");
	backend_emit(&a->source, ev);
	a->over = true;
	a->dirty = false;
}

static void
end_lost(struct local_attempt *a, const char *why)
{
	struct launch_event ev = { .kind = LAUNCH_LOST };

	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	ev.u.lost.why = why;
	reconcile_end(a, &ev);
}

/* Whether the error that prevented the start may be temporary. */
static bool
is_not_yet(const struct local_attempt *a, const struct attempt_exit *x,
    const char *why)
{
	if (transient_error_resource(x->error))
		return true;
	if (a->program_varies)
		return false;
	/* hpotune-ranks and hpotune-pack pass only the error text. */
	return x->error != 0 ? transient_error_exec(x->error)
			     : transient_error_exec_text(why);
}

static void
reconcile_end_recorded(
    struct local_attempt *a, const struct attempt_evidence *found)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	const struct attempt_exit *x = &found->exit;
	char *log;

	if (x->ran)
		reconcile_tell_up(a, &found->claim);
	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	/* The supervisor exits in a moment, and then it is reaped. */
	if (a->child > 0 && !x->unsynced && !supervisor_gone(a)) {
		a->local->soon = true;
		return;
	}
	if (local_gpu_end_waits(a, x)) {
		a->local->soon = true;
		return;
	}
	if (!x->stopped && (!x->ran || x->exit_code != 0 || x->signal != 0) &&
	    local_state_dir_was_moved(a->local, x->ended_us)) {
		end_lost(a, "its folder was moved or removed before it ended");
		return;
	}
	attempt_status_exit(&ev.u.exit, x);
	log = xasprintf("%s/log", a->dir);
	last_line_read(log, ev.u.exit.said, sizeof ev.u.exit.said);
	free(log);
	ranks_words_cause(a->dir, &ev.u.exit);
	if (a->local->pack.size > 0)
		pack_trial_end(a->dir, &ev.u.exit);
	ev.u.exit.not_yet = !ev.u.exit.ran && is_not_yet(a, x, ev.u.exit.why);
	/* The supervisor still writes to the disk. */
	if (a->child > 0)
		local_supervisor_leave(a->local, a->child);
	a->child = 0;
	reconcile_end(a, &ev);
	warm_process_learn(&a->local->warm.process);
}

static void
end_not_begun(struct local_attempt *a, int code)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why,
	    "its supervisor could not begin: %s",
	    code == SHIM_BUSY || code == SHIM_CLAIMED ? "another one was there"
						      : strerror(code));
	/* The state directory may have been moved meanwhile. */
	ev.u.exit.not_yet = transient_error_resource(code) || code == ENOENT;
	ev.u.exit.exit_code = -1;
	ev.u.exit.started_us = ev.u.exit.ended_us =
	    loop_wall_us(a->local->loop);
	reconcile_end(a, &ev);
}

/* Our supervisor ended before its claim: its exit status has the reason. */
static void
end_unclaimed(struct local_attempt *a)
{
	struct err e = ERR_INIT;

	/*
	 * Another supervisor may be about to start, unless the folder is new.
	 */
	if (!a->fresh &&
	    local_adopt_abandon_record(a->dir, a->uuid, &e) == -1) {
		a->local->soon |= e.kind == ERR_BUSY;
		if (e.kind != ERR_BUSY && !a->noted_full)
			backend_note(&a->source, LAUNCH_WARNING,
			    "cannot give it up: %s", e.text);
		a->noted_full |= e.kind != ERR_BUSY;
		return;
	}
	if (a->up ||
	    (WIFEXITED(a->child_status) && WEXITSTATUS(a->child_status) == 0)) {
		(void)local_leftovers_kill(a->uuid, a->dir);
		end_lost(a, "its records were removed");
		return;
	}
	if (a->child_status == -1 || !WIFEXITED(a->child_status)) {
		end_lost(a, "its supervisor was killed before it began");
		return;
	}
	end_not_begun(a, WEXITSTATUS(a->child_status));
}

static bool
unclear_longer_than(struct local_attempt *a, int64_t ms)
{
	int64_t now = loop_now_ms(a->local->loop);

	if (a->unclear_since_ms < 0)
		a->unclear_since_ms = now;
	return now - a->unclear_since_ms >= ms;
}

/* Whether the supervisor should have ended the trial by now; and for what. */
static bool
is_overdue(const struct local_attempt *a, bool *timed_out)
{
	int64_t now = loop_now_ms(a->local->loop);
	int64_t grace = a->stop_sent == LOCAL_STOP_NOW
			    ? OVERDUE_MS
			    : a->grace_ms + OVERDUE_MS;

	*timed_out = a->up && a->max_run_ms > 0 &&
		     now >= a->up_ms + a->max_run_ms + a->grace_ms + OVERDUE_MS;
	return *timed_out || (a->stop_sent != LOCAL_STOP_NONE &&
				 now >= a->stop_sent_ms + grace);
}

/*
 * A process that stops the supervisor (SIGSTOP; perhaps the trial itself) stops
 * the clocks of max_run and of the grace with it.  Continue it, and kill it if
 * it is stopped again when its time is over; until then all processes of the
 * trial are its descendants.
 */
static void
supervisor_mind(struct local_attempt *a, const struct claim *c)
{
	bool timed_out;
	int i;

	if (!proc_stopped(&a->supervisor))
		return;
	if (!a->noted_still)
		backend_note(&a->source, LAUNCH_WARNING,
		    "its supervisor was stopped by a signal, perhaps from the "
		    "trial itself: continuing it");
	a->noted_still = true;
	if (!is_overdue(a, &timed_out)) {
		(void)proc_signal(&a->supervisor, SIGCONT);
		return;
	}
	if (c->cgroup[0] != '\0')
		(void)cgroup_kill(c->cgroup);
	for (i = 0; i < KILL_ROUNDS; i++)
		if (proc_kill_descendants(a->supervisor.pid) == 0)
			break;
	if (proc_signal(&a->supervisor, SIGKILL) == 0 && !a->overdue) {
		a->overdue = true;
		a->timed_out = timed_out && a->stop_sent == LOCAL_STOP_NONE;
	}
}

/* The supervisor runs; it may be another one than we followed. */
static void
follow_running(struct local_attempt *a, const struct claim *c)
{
	if (a->supervisor.pid != c->shim_pid &&
	    !local_attempt_watch_claim(a, c))
		a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (a->supervisor.pid != 0)
		a->unclear_since_ms = -1;
	if (c->kind != CLAIM_STARTING)
		reconcile_tell_up(a, c);
	if (c->kind == CLAIM_STUCK && !a->noted_stuck) {
		a->noted_stuck = true;
		backend_note(&a->source, LAUNCH_WARNING,
		    "a process still exists a minute after SIGKILL, "
		    "because it hangs in the kernel; the slot stays "
		    "occupied");
	}
	local_attempt_signal(a);
	supervisor_mind(a, c);
	if (local_tail(a, false))
		a->dirty = true;
}

/* End an attempt whose supervisor was killed because it did not end it. */
static void
end_overdue(struct local_attempt *a, const struct claim *c)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	ev.u.exit.ran = true;
	ev.u.exit.exit_code = -1;
	ev.u.exit.signal = SIGKILL;
	ev.u.exit.timeout = a->timed_out;
	ev.u.exit.stopped = true;
	ev.u.exit.started_us = c->started_us;
	ev.u.exit.ended_us = loop_wall_us(a->local->loop);
	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why,
	    "%s, but its supervisor had been stopped: both were killed",
	    a->timed_out ? "max_run was reached" : "its grace was over");
	reconcile_end(a, &ev);
}

/*
 * The supervisor died: kill the remaining processes, and send the end when none
 * is left.
 */
static void
clear_remains(struct local_attempt *a, const struct attempt_evidence *found)
{
	bool any = local_leftovers_sweep(a, &found->claim);

	if (!any && !found->trial_lock && a->overdue) {
		end_overdue(a, &found->claim);
		return;
	}
	if (!any && !found->trial_lock) {
		end_lost(a,
		    a->child_status != -1 && WIFEXITED(a->child_status) &&
			    WEXITSTATUS(a->child_status) == EROFS
			? "its end could not be recorded: the file system is "
			  "read-only"
			: "its supervisor died or the machine went down");
		return;
	}
	a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (unclear_longer_than(a, REMAINS_MS) && !a->noted_stuck) {
		a->noted_stuck = true;
		backend_note(&a->source, LAUNCH_WARNING,
		    "processes of it still run without their supervisor, and "
		    "cannot be killed");
	}
}

static void
wait_for_claim(struct local_attempt *a)
{
	a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (unclear_longer_than(a, STARTING_MS))
		(void)local_leftovers_kill(a->uuid, a->dir);
}

static void
note_unknown(struct local_attempt *a, const struct err *e)
{
	a->local->soon |= !a->noted_unknown;
	if (!unclear_longer_than(a, UNKNOWN_MS) || a->noted_unknown)
		return;
	a->noted_unknown = true;
	backend_note(&a->source, LAUNCH_WARNING,
	    "cannot find out whether it still runs: %s", e->text);
}

static void
act(struct local_attempt *a, enum attempt_status is,
    const struct attempt_evidence *found, bool gone, const struct err *e)
{
	struct launch_event foreign = { .kind = LAUNCH_LOST,
		.u.lost.why = "its folder holds another run" };

	switch (is) {
	case ATTEMPT_NEVER:
		if (gone)
			end_unclaimed(a);
		break;
	case ATTEMPT_STARTING:
		wait_for_claim(a);
		break;
	case ATTEMPT_RUNNING:
	case ATTEMPT_ENDING:
		follow_running(a, &found->claim);
		break;
	case ATTEMPT_FINISHED:
		reconcile_end_recorded(a, found);
		break;
	case ATTEMPT_REMAINS:
	case ATTEMPT_LOST:
		/*
		 * A live supervisor may have taken its locks after our check.
		 */
		if (gone)
			clear_remains(a, found);
		else
			a->local->soon = true;
		break;
	case ATTEMPT_ABANDONED:
		end_lost(a, "it was given up before it began");
		break;
	case ATTEMPT_FOREIGN:
		if (local_foreign_run_over(a, found))
			reconcile_end(a, &foreign);
		break;
	case ATTEMPT_UNKNOWN:
		note_unknown(a, e);
		break;
	}
}

void
local_reconcile(struct local_attempt *a)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;
	enum attempt_status is;
	bool gone;

	a->dirty = false;
	if (a->up && !a->check) {
		a->dirty = local_tail(a, false);
		return;
	}
	/* Before the records are read: they are then final. */
	gone = supervisor_gone(a);
	a->check = false;
	is = attempt_status_read(&found, a->dir, a->uuid, &e);
	if (is == ATTEMPT_NEVER && local_state_dir_moved(a->local)) {
		a->check = true; /* at the next poll */
		return;
	}
	if (is == ATTEMPT_FOREIGN && a->up) {
		/* The attempt began, so its records were damaged. */
		is = ATTEMPT_UNKNOWN;
		(void)err_set(
		    &e, ERR_FILE, "%s: state: is of another run", a->dir);
	}
	act(a, is, &found, gone, &e);
}
