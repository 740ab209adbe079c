/*
 * Submits jobs, one sbatch at a time.  The answer may be lost although the job
 * was accepted: it is then looked for by its name, and submitted again only when
 * two queries did not show it.  A job that comes up later finds the claim of the
 * other one and ends.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum { PAUSE_MIN_MS = 1000, PAUSE_MAX_MS = 60000 };

/* What sbatch has said, or why it was ended. */
static void
slurm_words(const char *out, const char *why, char *text, size_t n)
{
	slurm_program_words(out, text, n);
	if (*text == '\0')
		(void)snprintf(text, n, "sbatch: %s",
		    *why != '\0' ? why : "it printed nothing");
	else if (*why != '\0')
		(void)snprintf(
		    text + strlen(text), n - strlen(text), ": %s", why);
}

/* "JOBID" or "JOBID;CLUSTER" in a line of its own; other lines are warnings. */
static int64_t
id_of(const char *out)
{
	const char *line = out;
	int64_t id;
	char *end;

	while (*line != '\0') {
		id = strtoll(line, &end, 10);
		if (end != line && id > 0 && strchr("\n;", *end) != NULL)
			return id;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return 0;
}

void
slurm_unsent(struct slurm_attempt *a, bool refused, const char *why)
{
	struct slurm *s = a->slurm;
	struct err e = ERR_INIT;
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	int rc = slurm_folder_abandon(a->dir, a->uuid, &e);

	/* An earlier submit of it that looked lost has started after all. */
	if (rc == 1) {
		slurm_phase(a, SLURM_SENT);
		return;
	}
	if (rc == -1) {
		slurm_phase(a, SLURM_LOOK);
		return;
	}
	if (a->is_job) {
		slurm_allocation_unsent(a, refused, why);
		return;
	}
	slurm_stray_add(s, a->name, false);
	ev.u.exit.exit_code = -1;
	ev.u.exit.not_yet = true;
	ev.u.exit.refused = refused;
	ev.u.exit.started_us = ev.u.exit.ended_us = loop_wall_us(s->loop);
	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why, "%s", why);
	slurm_phase(a, SLURM_OVER);
	backend_emit(&a->source, &ev);
}

static int64_t
submit_pause_ms(int failures)
{
	int64_t ms =
	    failures < 7 ? PAUSE_MIN_MS << (failures - 1) : PAUSE_MAX_MS;

	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static void
on_down(struct slurm_attempt *a, const char *text)
{
	struct slurm *s = a->slurm;

	slurm_phase(a, SLURM_DUE);
	s->submit.failures++;
	loop_timer_set(s->submit.timer, submit_pause_ms(s->submit.failures));
	if (!s->submit.noted)
		backend_note(&a->source, LAUNCH_WARNING,
		    "Slurm does not answer (%s): jobs are submitted when it "
		    "does; those that run go on",
		    text);
	s->submit.noted = true;
}

/* Let an attempt's trial use all nodes again: 0, or -1 with the error set. */
static int
nodes_forgive(const struct slurm_attempt *a, struct err *e)
{
	return slurm_folder_write(a->trial_dir, SLURM_EXCLUDE_FILE, "", e);
}

/* No other node is left: trials that have not begun may use all again. */
static void
guests_forgive(struct slurm *s)
{
	struct err e = ERR_INIT;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->is_guest && !s->attempts[i]->claimed)
			(void)nodes_forgive(s->attempts[i], &e);
}

/*
 * An attempt may have a job all the same.  sbatch itself waits for a controller that
 * holds as many jobs as it can (MaxJobCount), for longer than it is given here.
 */
static void
unclear_note(const struct slurm_attempt *a, const char *text)
{
	struct slurm *s = a->slurm;

	if (strstr(text, "sleeping and retrying") == NULL)
		backend_note(&a->source, LAUNCH_WARNING,
		    "sbatch: %s: its job may have been accepted all the same, "
		    "and is looked for by its name %s",
		    text, a->name);
	else if (!s->submit.full_noted)
		backend_note(&s->source, LAUNCH_WARNING,
		    "the controller of Slurm takes no more jobs for now (%s): "
		    "it is asked again",
		    text);
	s->submit.full_noted |= strstr(text, "sleeping and retrying") != NULL;
}

/* What is due beside this attempt is not even tried. */
static void
on_quota(struct slurm_attempt *a, const char *text)
{
	struct slurm *s = a->slurm;
	size_t i;

	slurm_unsent(a, false, text);
	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->phase == SLURM_DUE &&
		    !s->attempts[i]->is_guest)
			slurm_unsent(s->attempts[i], false, text);
	slurm_quota_reached(s, text);
}

static void
on_refused(struct slurm_attempt *a, const char *out, const char *text)
{
	bool ended =
	    WIFEXITED(a->slurm->submit.status) && a->slurm->submit.status != -1;
	struct err e = ERR_INIT;
	char excluded[1024], why[LAUNCH_WHY];

	/* Without an exit status it has not heard all that Slurm said. */
	switch (ended ? slurm_program_refusal(out) : SLURM_REFUSAL_UNCLEAR) {
	case SLURM_REFUSAL_UNCLEAR:
		unclear_note(a, text);
		slurm_phase(a, SLURM_LOOK);
		slurm_queue_ask(a->slurm, true);
		break;
	case SLURM_REFUSAL_DOWN:
		on_down(a, text);
		break;
	case SLURM_REFUSAL_QUOTA:
		on_quota(a, text);
		break;
	case SLURM_REFUSAL_NODES:
		slurm_folder_excluded(a, excluded, sizeof excluded);
		if (*excluded != '\0' &&
		    slurm_unbegun_everywhere(a->slurm, why, sizeof why)) {
			slurm_unbegun_over(a->slurm);
			(void)nodes_forgive(a, &e);
			slurm_nodes_forgive(a->slurm);
			slurm_unsent(a, true, why);
			break;
		}
		if (*excluded != '\0' && nodes_forgive(a, &e) == 0) {
			slurm_nodes_forgive(a->slurm);
			if (a->is_job)
				guests_forgive(a->slurm);
			backend_note(&a->source, LAUNCH_WARNING,
			    "without the nodes %s that failed there is none "
			    "left: they are used again",
			    excluded);
			slurm_phase(a, SLURM_DUE);
			break;
		}
		/* Nodes that are down, or unknown after a restart. */
		slurm_unsent(a, false, text);
		break;
	case SLURM_REFUSAL_WRONG:
		(void)snprintf(why, sizeof why,
		    "Slurm does not accept such jobs: %s", text);
		slurm_unsent(a, true, why);
		break;
	}
}

static void
on_accepted(struct slurm_attempt *a, int64_t id)
{
	struct slurm *s = a->slurm;
	struct launch_event ev = { .kind = LAUNCH_ACCEPTED };

	if (s->submit.noted)
		backend_note(&a->source, LAUNCH_INFO, "Slurm answers again");
	s->submit.failures = 0;
	s->submit.noted = s->submit.full_noted = false;
	a->id = id;
	slurm_phase(a, SLURM_SENT);
	slurm_quota_look(s);
	if (a->is_job)
		slurm_look_soon(s);
	else
		backend_emit(&a->source, &ev);
	slurm_queue_ask(s, false);
}

/* From the loop: events are only for collect. */
static void
submit_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)len;
	s->submit.child = NULL;
	s->submit.status = status;
	s->submit.out = xstrdup(out);
	s->submit.why = xstrdup(why);
	fail_point("slurm.after_sbatch");
	loop_wake(s->loop);
}

void
slurm_submit_read(struct slurm *s)
{
	struct slurm_attempt *a;
	char text[LAUNCH_WHY - 40];
	int64_t id;

	if (s->submit.out == NULL)
		return;
	a = slurm_find(s, s->submit.trial, s->submit.attempt);
	id = s->submit.status == 0 ? id_of(s->submit.out) : 0;
	slurm_words(s->submit.out, s->submit.why, text, sizeof text);
	if (a != NULL && a->phase == SLURM_SENDING) {
		if (id > 0)
			on_accepted(a, id);
		else
			on_refused(a, s->submit.out, text);
	}
	free(s->submit.out);
	free(s->submit.why);
	s->submit.out = s->submit.why = NULL;
}

/*
 * sbatch without our environment, which the job has in a file.  It is not
 * --export=NIL, with which a node runs a login shell of the user before each
 * job, and delays or refuses the job when that shell does.
 */
static void
put_sbatch(struct strv *argv)
{
	static const char *const kept[] = { "SLURM_", "SBATCH_",
		"PATH=", "HOME=", "USER=", "LOGNAME=", "LANG=", "TZ=",
		"LD_LIBRARY_PATH=" };

	slurm_program_env(argv, kept, sizeof kept / sizeof kept[0]);
	strv_add(argv, xstrdup("sbatch"));
}

static struct strv
command(const struct slurm_attempt *a)
{
	struct strv argv = { 0 };
	char excluded[1024];

	put_sbatch(&argv);
	strv_add(&argv, xstrdup("--parsable"));
	strv_add(&argv, xstrdup("--no-requeue"));
	strv_add(&argv, xasprintf("--job-name=%s", a->name));
	strv_add(&argv, xasprintf("--comment=%s %s", a->name, a->uuid));
	strv_add(&argv, xstrdup("--export=ALL"));
	strv_add(&argv, xstrdup("--open-mode=append"));
	strv_add(&argv, slurm_options_output(a->dir));
	strv_add(&argv, xasprintf("--chdir=%s", a->dir));
	slurm_options_words(&a->slurm->set, &argv);
	slurm_folder_excluded(a, excluded, sizeof excluded);
	if (*excluded != '\0')
		strv_add(&argv, xasprintf("--exclude=%s", excluded));
	strv_add(&argv, xasprintf("%s/job.sh", a->dir));
	return argv;
}

static void
submit_job(struct slurm_attempt *a)
{
	struct slurm *s = a->slurm;
	struct strv argv = command(a);
	const struct capture_spec spec = {
		.argv = argv.v, .timeout_ms = SLURM_TOOL_MS, .both = true
	};
	struct err e = ERR_INIT;

	fail_point("slurm.before_sbatch");
	slurm_phase(a, SLURM_SENDING);
	s->submit.trial = a->source.trial;
	s->submit.attempt = a->source.attempt;
	if (capture_start(&s->submit.child, s->loop, &spec, submit_on_answer, s,
		&e) == -1) {
		s->submit.child = NULL;
		on_down(a, e.text);
	}
	strv_free(argv.v);
}

void
slurm_submit_next(struct slurm *s)
{
	size_t i;

	if (s->submit.child != NULL || s->hold || s->root_noted ||
	    loop_timer_pending(s->submit.timer) ||
	    loop_timer_pending(s->missing.timer))
		return;
	for (i = 0; i < s->n && s->submit.child == NULL; i++)
		if (s->attempts[i]->phase == SLURM_DUE &&
		    loop_now_ms(s->loop) >= s->attempts[i]->due_ms &&
		    !s->attempts[i]->is_guest)
			submit_job(s->attempts[i]);
}

void
slurm_submit_on_timer(void *arg)
{
	struct slurm *s = arg;

	loop_wake(s->loop);
}
