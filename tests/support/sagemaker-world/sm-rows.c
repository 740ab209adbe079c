/* Rows, iterations, kills, and invariants. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/model/plugin-options.h"
#include "tests/support/sagemaker-world/sm-rows.h"
#include "tests/support/scratch.h"
#include "trials/sagemaker/sm-internal.h"

enum { TICK_MS = 7000, WEEK_MS = 7 * 86400 * 1000, RETRIES = 60 };

#define BLOCK                                                            \
	"{\"region\":\"eu-west-1\",\"role\":\"arn:aws:iam::123456789012" \
	":role/Trial\",\"image\":\"123456789012.dkr.ecr.eu-west-1."      \
	"amazonaws.com/t:1\",\"s3\":\"s3://bucket/hpt\","

static void
broken(struct sm_rows *r, const char *what, const struct row *row)
{
	r->broken++;
	printf("# trial %" PRId64 " attempt %d, at %" PRId64 " s: %s\n",
	    row != NULL ? row->trial : 0, row != NULL ? row->attempt : 0,
	    loop_now_ms(r->loop) / 1000, what);
}

static void
bail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

struct row *
sm_rows_of(struct sm_rows *r, int64_t trial)
{
	size_t i;

	for (i = r->n; i-- > 0;)
		if (r->rows[i].trial == trial)
			return &r->rows[i];
	return NULL;
}

struct sm_world_job *
sm_rows_job(struct sm_rows *r, const struct row *row)
{
	size_t i;

	for (i = 0; i < r->world.n; i++)
		if (strcmp(r->world.jobs[i]->uuid, row->uuid) == 0)
			return r->world.jobs[i];
	return NULL;
}

bool
sm_rows_noted(const struct sm_rows *r, const char *part)
{
	return strstr(buf_str(&r->notes), part) != NULL;
}

/* A job is created: an open row must expect it, and no other job may exist. */
static void
on_born(void *arg, const struct sm_world_job *job)
{
	struct sm_rows *r = arg;
	struct row *row = NULL, *other;
	struct sm_world_job *j;
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->rows[i].uuid, job->uuid) == 0)
			row = &r->rows[i];
	if (row == NULL || !row->open) {
		broken(r, "a job that no open row owns", row);
		return;
	}
	for (i = 0; i < r->n; i++) {
		other = &r->rows[i];
		j = sm_rows_job(r, other);
		if (other != row && other->trial == row->trial && j != NULL &&
		    !sm_responses_over(j, loop_now_ms(r->loop)))
			broken(r, "two jobs of one trial at once", row);
	}
}

static void
hear(void *arg, const struct launch_event *ev)
{
	struct sm_rows *r = arg;

	r->heard = xreallocarray(r->heard, r->n_heard + 1, sizeof *r->heard);
	r->heard[r->n_heard++] = *ev;
	if (ev->kind == LAUNCH_NOTE)
		buf_printf(&r->notes, "%s\n", ev->u.note.text);
}

/* Whether what was heard of its end is what it was. */
static void
check_end(struct sm_rows *r, const struct row *row)
{
	const struct sm_world_job *j = sm_rows_job(r, row);
	const struct launch_exit *x = &row->exit;
	int64_t now = loop_now_ms(r->loop);

	if (j == NULL) {
		if (row->lost || (x->ran && !x->stopped))
			broken(r, "an end of a job that never was", row);
		return;
	}
	if (!sm_responses_over(j, now) && !j->gone)
		broken(r, "its job goes on", row);
	if (j->gone ? !row->lost && x->end != END_LOST : row->lost)
		broken(r, "lost, and not", row);
	if (j->gone || (j->stop >= 0 && j->stop < j->end))
		return;
	if ((j->kind == SM_WORLD_OK) != (x->ran && x->exit_code == 0))
		broken(r, "a result is lost", row);
	if ((j->kind == SM_WORLD_CAPACITY) != (x->end == END_CAPACITY) ||
	    (j->kind == SM_WORLD_INTERNAL) != (x->end == END_LOST) ||
	    (j->kind == SM_WORLD_FAIL) != (x->exit_code == 3))
		broken(r, "its end was another one", row);
	if (row->up && row->gpus != 1)
		broken(r, "the GPU of its machine is not counted", row);
	if (j->kind == SM_WORLD_OK && row->reports == 0)
		broken(r, "its last report is lost", row);
}

static bool
retried(const struct row *row)
{
	return !row->stopping &&
	       (row->lost || row->exit.end == END_LOST ||
		   row->exit.end == END_CAPACITY ||
		   row->exit.end == END_QUOTA || row->exit.end == END_SPOT);
}

static void
commit_one(struct sm_rows *r, const struct launch_event *ev)
{
	struct row *row = ev->trial > 0 ? sm_rows_of(r, ev->trial) : NULL;

	if (row != NULL && (!row->open || row->attempt != ev->attempt)) {
		broken(r, "an event after its end", row);
		return;
	}
	switch (ev->kind) {
	case LAUNCH_ARTIFACTS:
		break;
	case LAUNCH_PLACE:
		row->placed = true;
		break;
	case LAUNCH_WAITS:
		break;
	case LAUNCH_UP:
		row->placed = true;
		if (row->up)
			broken(r, "up twice", row);
		row->up = true;
		break;
	case LAUNCH_REPORT:
		if (!row->up)
			broken(r, "a report before it is up", row);
		row->reports++;
		break;
	case LAUNCH_ACCEPTED:
		break;
	case LAUNCH_READ:
		row->cursor = ev->u.cursor;
		break;
	case LAUNCH_USAGE:
		row->gpus = ev->u.usage.gpus;
		break;
	case LAUNCH_GPU:
	case LAUNCH_COST:
		break;
	case LAUNCH_NOTE:
		break;
	case LAUNCH_SLOTS:
		r->slot_events++;
		r->slots = backend_sagemaker.slots(r->ctx);
		break;
	case LAUNCH_EXIT:
	case LAUNCH_LOST:
		row->open = false;
		row->lost = ev->kind == LAUNCH_LOST;
		if (!row->placed)
			broken(r, "an end without a place", row);
		if (!row->lost)
			row->exit = ev->u.exit;
		check_end(r, row);
		r->final[row->trial] = !retried(row) || row->attempt >= RETRIES;
		break;
	}
}

static struct launch_spec
spec_of(struct sm_rows *r, const struct row *row)
{
	static char *argv[] = { (char *)"./train", NULL };
	static char *env[] = { (char *)"HPOTUNE_STUDY=s", NULL };
	static char dir[256];
	size_t i;
	struct launch_spec s = { .trial = row->trial,
		.attempt = row->attempt,
		.slot = row->slot,
		.study = "s",
		.uuid = row->uuid,
		.trial_dir = dir,
		.argv = argv,
		.env = env,
		.params_json = "{}",
		.settings = &r->settings,
		.cursor = row->cursor,
		.up = row->up,
		.stopping = row->stopping };

	(void)snprintf(
	    dir, sizeof dir, "%s/trials/%" PRId64, r->dir, row->trial);
	for (i = 0; i < r->n; i++)
		s.past.capacity += r->rows[i].trial == row->trial &&
				   !r->rows[i].open &&
				   (r->rows[i].exit.end == END_CAPACITY ||
				       r->rows[i].exit.end == END_SPOT);
	return s;
}

void
sm_rows_start(struct sm_rows *r)
{
	struct launch_env env = { .loop = r->loop,
		.study = "s",
		.study_id = "abcdef",
		.metric = "loss",
		.state_dir = r->dir,
		.settings = &r->settings,
		.options = r->options,
		.parallel = 3,
		.hold = r->hold,
		.event = hear,
		.arg = r };
	struct err e = ERR_INIT;
	struct launch_spec spec;
	struct row *row;
	size_t i;

	if (backend_sagemaker.open(&r->ctx, &env, &e) != 0)
		bail(e.text);
	r->slots = backend_sagemaker.slots(r->ctx);
	for (i = 0; i < r->n; i++) {
		row = &r->rows[i];
		row->asked = false;
		if (!row->open)
			continue;
		spec = spec_of(r, row);
		if (backend_sagemaker.adopt(r->ctx, &spec, &e) != ADOPT_ALIVE)
			broken(r, "look does not find it", row);
		row->sent = true;
	}
}

void
sm_rows_kill(struct sm_rows *r)
{
	size_t i;

	backend_sagemaker.close(r->ctx);
	r->ctx = NULL;
	r->n_heard = 0;
	r->kills++;
	for (i = 0; i < r->n; i++)
		r->rows[i].sent = false;
}

/* The server may die here. */
static bool
dies(struct sm_rows *r)
{
	if (!sm_world_chance(&r->world, r->kill))
		return false;
	sm_rows_kill(r);
	return true;
}

static void
row_add(struct sm_rows *r, int64_t trial, int attempt)
{
	struct row *row = &r->rows[r->n++];

	if (r->n == ROWS_MOST)
		bail("too many attempts");
	*row = (struct row){ .trial = trial, .attempt = attempt, .open = true };
	(void)snprintf(row->uuid, sizeof row->uuid,
	    "%08" PRIx64 "-0000-4000-8000-%04" PRIx64 "%08x",
	    (uint64_t)sm_world_between(&r->world, 0, INT64_C(1) << 32),
	    (uint64_t)trial, (unsigned)attempt);
}

static void
place(struct sm_rows *r)
{
	struct row *row;
	int64_t trial;
	size_t i;
	int used = 0;

	for (i = 0; i < r->n; i++)
		used += r->rows[i].open;
	for (trial = 1; trial <= r->trials && used < r->slots; trial++) {
		row = sm_rows_of(r, trial);
		if (r->final[trial] || (row != NULL && row->open))
			continue;
		row_add(r, trial, row != NULL ? row->attempt + 1 : 1);
		used++;
	}
}

void
sm_rows_stop(struct sm_rows *r, int64_t trial)
{
	struct row *row = sm_rows_of(r, trial);

	if (row != NULL && row->open)
		row->stopping = true;
}

/* What follows the commit; it may be cut short anywhere. */
static bool
act(struct sm_rows *r)
{
	struct launch_spec spec;
	struct err e = ERR_INIT;
	struct row *row;
	size_t i;

	for (i = 0; i < r->n; i++) {
		row = &r->rows[i];
		if (!row->open)
			continue;
		if (!row->sent) {
			if (dies(r))
				return false;
			spec = spec_of(r, row);
			if (backend_sagemaker.start(r->ctx, &spec, &e) != 0)
				broken(r, e.text, row);
			row->sent = true;
		}
		if (row->stopping && !row->asked) {
			if (dies(r))
				return false;
			backend_sagemaker.stop(
			    r->ctx, row->trial, row->attempt, false);
			row->asked = true;
		}
	}
	return true;
}

static bool
all_quiet(struct sm_rows *r)
{
	int64_t trial;

	for (trial = 1; trial <= r->trials; trial++)
		if (!r->final[trial])
			return false;
	return !sm_world_busy(&r->world);
}

static void
turn_server(struct sm_rows *r)
{
	size_t i;

	if (r->ctx == NULL)
		sm_rows_start(r);
	backend_sagemaker.collect(r->ctx);
	if (dies(r))
		return; /* nothing of this turn was committed */
	for (i = 0; i < r->n_heard; i++)
		commit_one(r, &r->heard[i]);
	r->n_heard = 0;
	if (sm_world_chance(&r->world, r->stop))
		sm_rows_stop(r, sm_world_between(&r->world, 1, r->trials + 1));
	place(r);
	if (!dies(r))
		(void)act(r);
}

static void
turn(void *arg)
{
	struct sm_rows *r = arg;

	if (!loop_timer_pending(r->tick))
		loop_timer_set(r->tick, TICK_MS);
	if (loop_now_ms(r->loop) >= r->dead_ms)
		turn_server(r);
	if ((r->until != NULL ? r->until(r) : all_quiet(r)) || r->late)
		loop_stop(r->loop);
}

static void
on_tick(void *arg)
{
	(void)arg;
}

static void
on_guard(void *arg)
{
	struct sm_rows *r = arg;

	r->late = true;
}

bool
sm_rows_run(struct sm_rows *r, bool (*until)(struct sm_rows *))
{
	r->until = until;
	r->late = false;
	loop_timer_set(r->guard, WEEK_MS);
	loop_run(r->loop, turn, r);
	return !r->late;
}

void
sm_rows_open(struct sm_rows *r, uint64_t seed, int trials, const char *block)
{
	static const char *const except[] = { "name", NULL };
	struct err e = ERR_INIT;
	char *text = xasprintf(BLOCK "%s}",
	    block != NULL
		? block
		: "\"instance_type\":[\"ml.g5.xlarge\",\"ml.g4dn.xlarge\"],"
		  "\"spot\":true,\"max_run\":3600,"
		  "\"on_demand_after\":2");

	*r = (struct sm_rows){ .trials = trials };
	(void)snprintf(r->dir, sizeof r->dir, "%s/sm-XXXXXX", scratch_folder());
	if (mkdtemp(r->dir) == NULL ||
	    loop_open(&r->loop, LOOP_VIRTUAL, &e) != 0 ||
	    json_parse(&r->doc, text, strlen(text), NULL, false, &e) != 0 ||
	    plugin_options_read(
		&r->options, sm_options, json_root(r->doc), except, &e) != 0)
		bail(e.text);
	free(text);
	r->settings.workdir = (char *)"/";
	r->settings.dir = "/";
	sm_world_open(&r->world, r->loop, seed);
	r->world.born = on_born;
	r->world.arg = r;
	r->tick = loop_timer_new(r->loop, on_tick, r);
	r->guard = loop_timer_new(r->loop, on_guard, r);
}

void
sm_rows_close(struct sm_rows *r)
{
	char *command = xasprintf("rm -rf '%s'", r->dir);

	if (r->ctx != NULL)
		backend_sagemaker.close(r->ctx);
	loop_timer_free(r->tick);
	loop_timer_free(r->guard);
	sm_world_close(&r->world);
	loop_close(r->loop);
	plugin_options_free(r->options);
	json_free(r->doc);
	free(r->heard);
	buf_free(&r->notes);
	if (system(command) != 0)
		printf("# %s is left\n", r->dir);
	free(command);
}
