/*
 * Creates and adopts the training job of an attempt.
 *
 * The name of the job prevents duplicates: it contains the study, the trial,
 * the attempt and six digits of a uuid that is stored before anything is sent,
 * so a repeated Create has one effect.  The whole uuid, in the environment of
 * the job, proves that it is ours.  Failures and how they are handled:
 *
 *  failure                         handling
 *  ------------------------------  -------------------------------------------
 *  server killed before start      no note "create", Describe finds nothing:
 *                                  create it; if a stop is pending: end
 *  server killed between the note  Describe finds nothing, the note is recent:
 *  and Create                      repeat the Create; if a stop is pending:
 *                                  Describe until no request can take effect
 *                                  any more, 15 min
 *  answer of Create lost           repeat it: it takes effect, or returns
 *                                  ResourceInUse and Describe shows our uuid
 *  … and a foreign job has the     collision: this attempt is lost, the next
 *  name                            has another name
 *  … a refusal after a lost        Describe first: the lost one may have taken
 *  answer                          effect
 *  … a refusal that the user must  remove the note, undo the attempt; the tuner
 *  fix (permission, role, bucket)  retries with one trial at intervals
 *  server killed after Create      Describe finds it with our uuid: adopt
 *  the note is old, no job         no request can take effect any more: the
 *                                  attempt is lost (perhaps the job was
 *                                  created, ended and deleted)
 *  server killed after a stop      the stop is in the store: send it again; an
 *                                  ended job rejects it: Describe
 *  stop while Create is in flight  wait for its answer, then stop the job
 *  the job ends without a server   Describe has the result; read the output
 *                                  from the last recorded event, then end
 *  end sent, not committed         the same
 *  reports sent, not committed     the cursor was not either: read again; the
 *                                  tuner drops recorded reports
 *  missing in a list               unknown: Describe
 *  Describe: no such job           three times within a minute: lost
 *  another region or account in    the note has the old one: the state is
 *  study.json                      unknown until that is restored
 *  code partly in S3               run.sh is uploaded last: without it upload
 *                                  all again under the same key
 *
 * The note "create" in the folder of an attempt: a CreateTrainingJob was, or is
 * about to be, sent.  Without it nothing was ever sent; its time bounds how
 * long a request may still take effect.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/text.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-poll.h"

struct sm_create_note {
	/*
	 * Wall time of the last note, seconds since 1970; 0 = none, INT64_MAX =
	 * unreadable.
	 */
	int64_t sent_s;
	char place[64]; /* sm.place then; "" = unknown */
};

#define MARK "create"

static int
dir_err(struct err *e, const char *path)
{
	int error = errno;
	bool passes = error == ENOSPC || error == EDQUOT || error == EMFILE ||
		      error == ENFILE || error == EAGAIN || error == ENOMEM;

	return err_set(
	    e, passes ? ERR_BUSY : ERR_LAUNCH, "%s: %s", path, strerror(error));
}

/* Make the folder at path and, at most two of them, those above it. */
static int
sm_create_dir_make(const char *path, int above, struct err *e)
{
	const char *end = strrchr(path, '/');
	char *parent;
	int rc = 0;

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || above == 0 || end == NULL || end == path)
		return dir_err(e, path);
	parent = xstrndup(path, (size_t)(end - path));
	rc = sm_create_dir_make(parent, above - 1, e);
	free(parent);
	if (rc == 0 && mkdir(path, 0700) == -1 && errno != EEXIST)
		rc = dir_err(e, path);
	return rc;
}

static int
create_note_write(int dir, const char *text)
{
	size_t len = strlen(text);
	int rc = -1;
	int fd = file_open_for(dir, MARK, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1)
		return -1;
	errno = ENOSPC; /* for half a write */
	if (write(fd, text, len) == (ssize_t)len && fsync(fd) == 0 &&
	    fsync(dir) == 0)
		rc = 0;
	(void)close(fd);
	return rc;
}

static int
sm_create_note_set(const struct sm_attempt *a, int64_t wall_s, struct err *e)
{
	char *text =
	    xasprintf("%" PRId64 " %s %s\n", wall_s, a->job, a->sm->place);
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir != -1 ? create_note_write(dir, text) : -1;

	if (rc == -1)
		(void)dir_err(e, a->dir);
	if (dir != -1)
		(void)close(dir);
	free(text);
	return rc;
}

/* If the note cannot be removed, the next server only makes one more query. */
static void
sm_create_note_drop(const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir);

	(void)unlink(path);
	free(path);
}

/* "SECONDS JOB PLACE\n"; false: it was not written to its end. */
static bool
create_note_parse(
    struct sm_create_note *m, const char *job, char *text, size_t len)
{
	char *at, *place;

	if (len == 0 || text[len - 1] != '\n')
		return false;
	text[len - 1] = '\0';
	m->sent_s = strtoll(text, &at, 10);
	if (m->sent_s <= 0 || *at != ' ' ||
	    (place = strchr(at + 1, ' ')) == NULL)
		return false;
	*place++ = '\0';
	/*
	 * The note may be of another attempt, which had this folder before the
	 * database was restored.
	 */
	if (strcmp(at + 1, job) != 0)
		m->sent_s = 0;
	else
		(void)snprintf(m->place, sizeof m->place, "%s", place);
	return true;
}

static void
sm_create_note_get(struct sm_create_note *m, const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir), text[256];
	ssize_t n = file_read(AT_FDCWD, path, text, sizeof text);
	bool none = n == -1 && errno == ENOENT;

	free(path);
	*m = (struct sm_create_note){ .sent_s = none ? 0 : INT64_MAX };
	if (n > 0 && !create_note_parse(m, a->job, text, (size_t)n))
		*m = (struct sm_create_note){ .sent_s = INT64_MAX };
}

static bool
may_act(const struct sm_attempt *a)
{
	return loop_now_ms(a->sm->loop) < a->may_act_until_ms;
}

/* Send the Create of an attempt, once the code is in S3. */
static void
code_await(struct sm_attempt *a)
{
	a->state = SM_CODE;
	if (a->sm->hold)
		return;
	sm_code_upload_start(a->sm);
	if (a->sm->code.step != SM_CODE_READY)
		return;
	a->state = SM_QUEUED;
	sm_create_pump(a->sm);
}

/* Retry after a pause; without the code there is nothing to send. */
static void
queue_later(struct sm_attempt *a)
{
	a->state = a->sm->code.step == SM_CODE_READY ? SM_QUEUED : SM_CODE;
	loop_timer_set(a->timer, sm_pause_ms(a->sm, a->tries++));
}

/* The job exists. */
static void
born(struct sm_attempt *a)
{
	const struct sm_plan *p = &a->plan;

	a->state = SM_CREATED;
	a->tries = a->misses = 0;
	a->may_act_until_ms = 0;
	sm_events_accepted(a);
	sm_events_note(a->sm, a, LAUNCH_INFO, "training job %s created: %s%s",
	    a->job, p->type != NULL ? p->type->name : "instance groups",
	    p->spot ? ", spot" : "");
	loop_timer_set(a->timer, sm_ms(a->sm, SM_LIST_SOON_S));
	sm_poll_soon(a->sm, sm_ms(a->sm, SM_LIST_S));
	if (a->stop)
		sm_job_update_stop(a);
}

/* End the attempt without a job, with this class. */
static void
over_unrun(
    struct sm_attempt *a, enum end_class end, bool stopped, const char *why)
{
	a->exit = (struct launch_exit){
		.exit_code = -1,
		.stopped = stopped,
		.end = end,
		.billed = true,
		.priced = true,
	};
	text_cut(a->exit.why, sizeof a->exit.why, why);
	sm_events_over(a);
}

/* A refusal for good. */
static void
sm_create_refused(struct sm_attempt *a, const struct aws_answer *r)
{
	struct sm_limit limit;
	char why[LAUNCH_WHY];

	if (!a->stop && r->what == AWS_QUOTA &&
	    !(sm_quota_limit_read(&limit, r->message) && limit.warm)) {
		sm_quota_hit(a, r->message);
		over_unrun(a, END_QUOTA, false, r->message);
		return;
	}
	if (sm_owner_errors_why(
		why, sizeof why, a->sm->set, r->code, r->message)) {
		sm_create_note_drop(a);
		sm_events_over_unmade(a, why);
		return;
	}
	over_unrun(a, END_NONE, a->stop,
	    a->stop ? "stopped before it started" : r->message);
}

static void
trouble_note(struct sm_attempt *a, const struct aws_answer *r)
{
	if (!a->said_trouble)
		sm_events_note(a->sm, a, LAUNCH_WARNING,
		    "the training job is not created yet: %s; it is tried "
		    "again",
		    r->message);
	a->said_trouble = true;
}

/* Go on after a request without a clear answer. */
static void
unanswered(struct sm_attempt *a, const struct aws_answer *r)
{
	trouble_note(a, r);
	if (a->stop) {
		a->state = SM_QUEUED;
		sm_create_cancel(a);
	} else
		queue_later(a);
}

static void
on_create(void *arg, const struct aws_answer *r)
{
	struct sm_attempt *a = arg;
	struct sm *sm = a->sm;

	a->call = NULL;
	sm->creating--;
	fail_point("sagemaker.created");
	if (r->unclear || (r->what == AWS_TRANSIENT && r->sent))
		a->may_act_until_ms =
		    loop_now_ms(sm->loop) + sm_ms(sm, SM_QUARANTINE_S);
	switch (r->what) {
	case AWS_OK:
		born(a);
		break;
	case AWS_EXISTS:
		sm_poll_describe(a);
		break;
	case AWS_THROTTLE:
	case AWS_TRANSIENT:
	case AWS_CLOCK:
	case AWS_CREDENTIALS:
		unanswered(a, r);
		break;
	case AWS_QUOTA:
	case AWS_MISSING:
	case AWS_CALLER:
	case AWS_CLASSES:
		if (!may_act(a)) {
			sm_create_refused(a, r);
			break;
		}
		/*
		 * An earlier request may still take effect: Create and Describe
		 * are repeated.
		 */
		trouble_note(a, r);
		a->tries++;
		a->state = SM_ADOPT;
		sm_poll_describe(a);
		break;
	}
	sm_create_pump(sm);
}

static int
body_make(struct sm_attempt *a, struct err *e)
{
	struct sm *sm = a->sm;
	struct sm_request request = {
		.settings = sm->set,
		.plan = &a->plan,
		.spec = a->spec,
		.job = a->job,
		.study_id = sm->study_id,
		.metric = sm->metric,
		.study_key = sm->study_key,
		.code_key = sm->code.key,
		.region = aws_client_region(sm->aws),
	};
	struct buf body = { 0 };

	if (sm_job_request_put(&body, &request, e) != 0) {
		buf_free(&body);
		return -1;
	}
	a->body = buf_take(&body);
	return 0;
}

static void
send(struct sm_attempt *a)
{
	struct sm *sm = a->sm;
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "CreateTrainingJob" };
	struct err e = ERR_INIT;

	if (a->body == NULL && body_make(a, &e) != 0) {
		if (may_act(a)) {
			/* The same settings fail again; but a job may exist. */
			a->state = SM_ADOPT;
			sm_poll_describe(a);
		} else
			over_unrun(a, END_NONE, false, e.text);
		return;
	}
	if (sm_create_note_set(a, loop_wall_us(sm->loop) / 1000000, &e) == -1) {
		if (!a->said_trouble)
			sm_events_note(sm, a, LAUNCH_WARNING, "%s", e.text);
		a->said_trouble = true;
		queue_later(a);
		return;
	}
	fail_point("sagemaker.before_create");
	a->state = SM_SENT;
	a->found = false;
	sm->creating++;
	ask.body = a->body;
	a->call = aws_json(sm->aws, &ask, on_create, a);
}

void
sm_create_pump(struct sm *sm)
{
	struct sm_attempt *a;
	size_t i;

	for (i = 0; i < sm->n && sm->creating < SM_LANES; i++) {
		a = sm->attempts[i];
		if (a->state == SM_QUEUED && !loop_timer_pending(a->timer))
			send(a);
	}
}

static void
sm_create_on_timer(void *arg)
{
	struct sm_attempt *a = arg;

	switch (a->state) {
	case SM_CODE:
		code_await(a);
		break;
	case SM_QUEUED:
		sm_create_pump(a->sm);
		break;
	case SM_SENT:
	case SM_ADOPT:
	case SM_ABANDON:
	case SM_CREATED:
	case SM_RUNNING:
		sm_poll_describe(a);
		break;
	case SM_DRAIN:
	case SM_OVER:
		break;
	}
}

/* Make the attempt's folder with the parents, and its timer. */
static int
sm_create_begin(struct sm_attempt *a, struct err *e)
{
	a->timer = loop_timer_new(a->sm->loop, sm_create_on_timer, a);
	return sm_create_dir_make(a->dir, 2, e);
}

int
sm_create_queue(struct sm_attempt *a, struct err *e)
{
	if (sm_create_begin(a, e) != 0)
		return -1;
	code_await(a);
	return 0;
}

int
sm_create_adopt(struct sm_attempt *a, int64_t wall_s, struct err *e)
{
	struct sm *sm = a->sm;
	int64_t most = sm_ms(sm, SM_QUARANTINE_S) + sm_ms(sm, SM_CALL_S);
	int64_t age_ms;
	struct sm_create_note mark;

	if (sm_create_begin(a, e) != 0)
		return -1;
	sm_create_note_get(&mark, a);
	/*
	 * In another region or account the job would not be found, and would be
	 * started twice.
	 */
	if (*mark.place != '\0' && strcmp(mark.place, sm->place) != 0)
		return err_set(e, ERR_LAUNCH,
		    "its training job is in %s, but study.json names %s now",
		    mark.place, sm->place);
	a->state = SM_ADOPT;
	a->found = mark.sent_s != 0;
	/* The time of a note from the future is useless. */
	age_ms = mark.sent_s < wall_s ? (wall_s - mark.sent_s) * 1000 : 0;
	if (a->found && age_ms < most)
		a->may_act_until_ms = loop_now_ms(sm->loop) + most - age_ms;
	return 0;
}

/* Watch for the job until no request of ours can create it any more. */
static void
quarantine(struct sm_attempt *a)
{
	int64_t left = a->may_act_until_ms - loop_now_ms(a->sm->loop);
	int64_t pause = sm_pause_ms(a->sm, a->tries++);

	if (left <= 0) {
		over_unrun(a, END_NONE, true, "stopped before it started");
		return;
	}
	a->state = SM_ABANDON;
	loop_timer_set(a->timer, pause < left ? pause : left);
}

void
sm_create_cancel(struct sm_attempt *a)
{
	loop_timer_stop(a->timer);
	a->tries = 0;
	quarantine(a);
}

void
sm_create_absent(struct sm_attempt *a)
{
	if (a->stop)
		quarantine(a);
	else if (a->state == SM_SENT && ++a->misses < SM_MISSING_TIMES)
		/* Create reported that the job exists. */
		loop_timer_set(a->timer, sm_pause_ms(a->sm, a->misses));
	else if (a->found && !may_act(a))
		over_unrun(a, END_LOST, false,
		    "its training job was never created, or was deleted");
	else if (a->tries == 0)
		code_await(a);
	else
		queue_later(a);
}

void
sm_create_collision(struct sm_attempt *a)
{
	over_unrun(a, END_LOST, a->stop, "another training job has its name");
}
