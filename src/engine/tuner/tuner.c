/*
 * The tuner: open, one turn, close.  Record, then act: the decisions of a turn
 * are committed before anything is started or stopped.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/announce/hooks.h"
#include "src/engine/announce/notices.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/median-view.h"
#include "src/engine/provenance/provenance.h"
#include "src/engine/tuner/adopt.h"
#include "src/engine/tuner/backend-events.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/checkpoints.h"
#include "src/engine/tuner/converge.h"
#include "src/engine/tuner/effects.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/restore.h"
#include "src/engine/tuner/schedule.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/study-end.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"

#define FLUSH_MS 1000 /* the view medians, elapsed time */
#define FLUSH_MORE_MS 20
#define BUSY_RETRY_MS 25
#define BUSY_WARN_MS 1000
#define LOG_LONG_BYTES (64 << 20)

/* Requests of a failed turn get no answer here: the tuner is closed next. */
static void
notes_record(struct tuner *t)
{
	size_t i;

	for (i = 0; i < t->n_notes; i++) {
		(void)store_event_add(t->store, t->turn_us, t->notes[i].level,
		    t->notes[i].area, 0, 0, t->notes[i].text, NULL);
		free(t->notes[i].text);
	}
	t->n_notes = 0;
}

static void
on_wake(void *arg)
{
	(void)arg; /* the next turn does the work */
}

static void
on_flush(void *arg)
{
	struct tuner *t = arg;

	t->clock.flush_due = true;
	loop_timer_set(t->clock.flush, FLUSH_MS);
}

static int
open_backends(
    struct tuner *t, const struct gpu_status *out, size_t n_out, struct err *e)
{
	struct launch_env env;
	size_t i, n = t->plugins.n_backends;

	store_study_id(t->study_id, &t->row);
	t->backends = xcalloc(n, sizeof *t->backends);
	for (i = 0; i < n; i++) {
		struct backend *b = &t->backends[i];

		env = (struct launch_env){
			.loop = t->env.loop,
			.study = t->study->name,
			.study_id = t->study_id,
			.metric = t->study->metric,
			.also = t->outcomes.also,
			.n_also = t->outcomes.n_also,
			.maximize = t->study->maximize,
			.state_dir = t->env.state_dir,
			.settings = &t->study->trial,
			.options = t->plugins.backends[i].options,
			/*
			 * Backends that are followed by others take as many
			 * trials as fit; otherwise the others would get none.
			 */
			.parallel = i + 1 < n ? 0 : capacity_parallel(t),
			.hold = t->env.hold,
			.out = out,
			.n_out = n_out,
			.event = tuner_on_event,
			.arg = t,
		};
		b->type = t->plugins.backends[i].type;
		if (b->type->bill != NULL &&
		    store_attempt_times(t->store, b->type->name,
			&env.times.before_s, &env.times.after_s, e) != 0)
			return -1;
		if (b->type->open(&b->ctx, &env, e) != 0)
			return -1;
		slots_init(&b->slots, b->type->slots(b->ctx));
		b->worst_cost =
		    plugins_worst_cost(&t->plugins.backends[i], t->study);
		t->n_backends = (int)i + 1;
	}
	return 0;
}

static int
open_world(struct tuner *t, struct err *e)
{
	struct gpu_status *out;
	size_t n;
	int rc = restore_broken_gpus(&out, &n, t->store, e);

	if (rc == 0)
		rc = open_backends(t, out, n, e);
	restore_broken_gpus_free(out, n);
	return rc;
}

static int
open_rules(struct tuner *t, struct err *e)
{
	struct stop_rule_set *rules, *others = NULL;

	if (plugins_open_rules(&rules, &t->plugins, t->study, e) != 0)
		return -1;
	if (t->replicates.count > 0 &&
	    plugins_open_rules(&others, &t->plugins, t->study, e) != 0) {
		stop_rule_set_free(rules);
		return -1;
	}
	judged_open(
	    &t->judged, t->history, &t->replicates, t->study, rules, others);
	return 0;
}

static void
on_doubt(void *arg, int64_t trial, int attempt, const char *text)
{
	tuner_event(arg, LOG_LEVEL_WARN, "doubt", trial, attempt, "%s", text);
}

static int
open_mathematics(struct tuner *t, struct err *e)
{
	struct stopper_env env = {
		.max_steps = t->study->trial.max_steps,
		.maximize = t->study->maximize,
		.study = t->study->name,
	};
	unsigned keep = HISTORY_CURVES;

	if (plugins_read(&t->plugins, t->study, e) != 0)
		return -1;
	if (t->plugins.strategy->wants_points || t->plugins.convergence != NULL)
		keep |= HISTORY_POINTS;
	t->history = history_new(t->study->space->n, t->study->maximize, keep);
	t->doubts.env = (struct study_doubts_env){ t->study, &t->plugins,
		t->history, t->store, on_doubt, t };
	replicates_open(&t->replicates, t->study, t->history);
	contests_open(&t->contests, &t->replicates);
	if (open_rules(t, e) != 0)
		return -1;
	second_looks_open(t);
	new_trial_open(t);
	outcome_open(&t->outcomes, t->study, t->history);
	/* These histories may be other ones than the tuner's. */
	if (t->judged.firsts != t->history)
		outcome_open_history(t->study, t->judged.firsts);
	if (t->replicates.count > 0)
		outcome_open_history(t->study, t->replicates.history);
	return median_view_open(&t->medians, &t->plugins, t->judged.rules,
	    t->judged.firsts, &env, e);
}

/* The database with the study's row; the strategy as it is recorded. */
static int
open_study(struct tuner *t, struct err *e)
{
	enum store_mode mode =
	    t->env.without_backends ? STORE_WRITE_ONCE : STORE_WRITE;

	t->store = t->env.store;
	t->env.store = NULL;
	if (t->store == NULL && store_open(&t->store, t->env.db, mode, e) != 0)
		return -1;
	if (store_study_get(t->store, &t->row, e) != 0)
		return -1;
	study_set_former(t->env.study, t->row.strategy, t->row.rule);
	return 0;
}

/* Within a transaction it is recorded at once. */
static void
on_announce_event(
    void *arg, enum log_level level, const char *area, const char *text)
{
	struct tuner *t = arg;

	if (store_in_transaction(t->store))
		tuner_event(t, level, area, 0, 0, "%s", text);
	else
		tuner_queue_event(t, level, area, text);
}

static void
on_announce_wake(void *arg, int64_t ms)
{
	tuner_wake_in(arg, ms);
}

static void
on_provenance(void *arg)
{
	tuner_wake_in(arg, 0);
}

static void
open_announcements(struct tuner *t)
{
	struct announce_env env = {
		.loop = t->env.loop,
		.study = t->study,
		.store = t->store,
		.db = t->env.db,
		.state_dir = t->env.state_dir,
		.event = on_announce_event,
		.wake_in = on_announce_wake,
		.arg = t,
	};

	if (t->env.hold)
		return;
	t->hooks = hooks_new(&env);
	if (t->env.without_backends)
		return;
	t->notices = notices_new(&env);
	if (t->env.command == NULL)
		return;
	t->provenance =
	    provenance_new(&(struct provenance_env){ .loop = t->env.loop,
		.study = t->study,
		.store = t->store,
		.command = t->env.command,
		.wake = on_provenance,
		.arg = t });
}

/*
 * The start of a study that was over begins anew: its user has mended what was
 * wrong.
 */
static int
open_blame(struct tuner *t, struct err *e)
{
	struct backend *b;
	int i;

	t->blame.off = !t->study->limits.drain;
	for (i = 0; i < t->n_backends; i++) {
		b = &t->backends[i];
		place_blame_add(&t->blame,
		    &(struct place_backend){ b->type, b->ctx, &b->slots });
	}
	return place_blame_restore(
	    &t->blame, t->store, t->row.ended_us != 0 && !t->env.hold, e);
}

int
tuner_open(struct tuner **out, const struct tuner_env *env, struct err *e)
{
	struct tuner *t = xcalloc(1, sizeof *t);

	t->env = *env;
	t->study = env->study;
	converge_open(&t->convergence);
	t->db.busy_since_ms = -1;
	t->clock.opened_ms = loop_now_ms(env->loop);
	t->turn_us = loop_wall_us(env->loop);
	t->clock.wake = loop_timer_new(env->loop, on_wake, t);
	t->clock.flush = loop_timer_new(env->loop, on_flush, t);
	if (open_study(t, e) != 0 || open_mathematics(t, e) != 0 ||
	    (!env->without_backends && !env->asked && open_world(t, e) != 0) ||
	    restore_tuner(t, e) != 0 || open_blame(t, e) != 0) {
		tuner_close(t);
		return -1;
	}
	t->clock.elapsed_ms = t->row.elapsed_ms;
	t->paused = t->row.state == STUDY_PAUSED;
	if (!env->hold) {
		t->row.run_trials = env->trials;
		t->row.run_parallel = env->parallel;
	}
	open_announcements(t);
	loop_timer_set(t->clock.flush, FLUSH_MS);
	*out = t;
	return 0;
}

void
tuner_close(struct tuner *t)
{
	size_t i;
	int k;

	if (t == NULL)
		return;
	requests_reply_all(&t->requests, false);
	checkpoints_close(t);
	provenance_free(t->provenance);
	notices_free(t->notices);
	hooks_free(t->hooks);
	new_trial_close(&t->suggestions);
	gpu_need_close(&t->gpu_need);
	converge_close(&t->convergence);
	place_blame_close(&t->blame);
	for (k = 0; k < t->n_backends; k++) {
		t->backends[k].type->close(t->backends[k].ctx);
		slots_fini(&t->backends[k].slots);
	}
	for (i = 0; i < t->n_notes; i++)
		free(t->notes[i].text);
	free(t->notes);
	live_set_free(&t->live);
	paused_free(&t->paused_set);
	median_view_close(&t->medians);
	judged_close(&t->judged);
	outcome_close(&t->outcomes);
	contests_close(&t->contests);
	replicates_close(&t->replicates);
	history_free(t->history);
	free(t->commit);
	plugins_free(&t->plugins);
	store_close(t->store);
	store_study_fini(&t->row);
	loop_timer_free(t->clock.wake);
	loop_timer_free(t->clock.flush);
	free(t->backends);
	effects_free(&t->effects);
	requests_free(&t->requests);
	free(t);
}

/* 0 started; 1 the database is locked, retry later; -1 failed. */
static int
turn_begin(struct tuner *t, struct err *e)
{
	int64_t now = loop_now_ms(t->env.loop);
	char who[128];

	if (store_begin(t->store, e) == 0) {
		if (*t->db.trouble != '\0')
			log_info("store", "the database is no longer locked");
		t->db.busy_since_ms = -1;
		*t->db.trouble = '\0';
		return 0;
	}
	if (e->kind != ERR_BUSY)
		return -1;
	tuner_wake_in(t, BUSY_RETRY_MS);
	if (t->db.busy_since_ms < 0)
		t->db.busy_since_ms = now;
	if (now - t->db.busy_since_ms >= BUSY_WARN_MS &&
	    *t->db.trouble == '\0') {
		(void)store_lock_holder(t->store, who, sizeof who);
		(void)snprintf(t->db.trouble, sizeof t->db.trouble,
		    "the database is locked by %s: trials continue, but "
		    "nothing is recorded until the lock is released",
		    who);
		log_warn("store", "%s", t->db.trouble);
	}
	return 1;
}

/* The state of GPUs recorded by an earlier server is outdated. */
static void
turn_clear_gpus(struct tuner *t)
{
	if (!t->gpus_new && !t->env.hold)
		(void)store_gpu_clear(t->store, NULL);
	t->gpus_new = true;
}

static void
turn_collect(struct tuner *t)
{
	size_t k;
	int i;

	for (i = 0; i < t->n_backends && !store_failed(t->store); i++)
		t->backends[i].type->collect(t->backends[i].ctx);
	for (k = 0; k < t->live.n && !store_failed(t->store); k++)
		stopping_settle(t, t->live.list[k]);
}

/* A reader that stays open keeps the log from shrinking: name it. */
static void
log_watch(struct tuner *t)
{
	int64_t bytes = store_wal_bytes(t->store);
	char who[128];

	t->db.tend_log = true;
	if (bytes < LOG_LONG_BYTES) {
		t->db.log_long = false;
		return;
	}
	if (t->db.log_long)
		return;
	t->db.log_long = true;
	(void)store_lock_holder(t->store, who, sizeof who);
	tuner_event(t, LOG_LEVEL_WARN, "store", 0, 0,
	    "the log of the database has grown to %lld MiB: it cannot shrink "
	    "while %s reads",
	    (long long)(bytes >> 20), who);
}

/*
 * Tell the hooks which trial is the best; one that will go on is not announced.
 */
static void
turn_find_best(struct tuner *t)
{
	int64_t best;

	if (t->hooks == NULL)
		return;
	best = tuner_best(t);
	hooks_best(t->hooks, best, live_set_find(&t->live, best) == NULL);
}

static void
turn_write(struct tuner *t)
{
	bool done = tuner_done(t) && !t->env.hold;
	size_t i;

	for (i = 0; i < t->live.n; i++)
		live_trial_write(t, t->live.list[i]);
	replicates_write(&t->replicates, t->store);
	if (!t->env.hold)
		place_blame_write(&t->blame, t->store);
	if (done)
		study_end_record(t);
	if (!done && !t->clock.flush_due)
		return;
	log_watch(t);
	t->clock.flush_due = median_view_flush(&t->medians, t->store, done);
	if (t->clock.flush_due)
		tuner_wake_in(t, FLUSH_MORE_MS);
	t->row.elapsed_ms = tuner_elapsed_ms(t);
	(void)store_study_put(t->store, &t->row, NULL);
}

int
tuner_turn(struct tuner *t, struct err *e)
{
	int rc = turn_begin(t, e);

	if (rc != 0)
		return rc;
	t->durable = false;
	t->turn_us = loop_wall_us(t->env.loop);
	notes_record(t);
	notices_record(t->notices, t->turn_us);
	adopt_attempts(t);
	turn_clear_gpus(t);
	turn_collect(t);
	adopt_settle_unsent(t);
	stopping_look_hangs(t);
	request_tell_check(t);
	requests_serve(t);
	if (t->end.shutdown)
		study_end_stop_all(t);
	study_end_replicates(t);
	study_end_check(t);
	start_failures_report(t);
	schedule_place(t);
	paused_settle(t);
	second_looks_settle(t);
	(void)study_end_confirm(t);
	checkpoints_settle(t);
	provenance_record(t->provenance, t->turn_us, loop_now_ms(t->env.loop),
	    effects_start_any(&t->effects));
	turn_find_best(t);
	turn_write(t);
	fail_point("tuner.before_commit");
	if (store_commit(t->store, t->durable, e) != 0)
		return -1;
	fail_point("tuner.after_commit");
	/* Before the next trials start, which need the space. */
	checkpoints_delete(t);
	effects_run(t);
	requests_reply_all(&t->requests, true);
	provenance_ask(t->provenance);
	notices_send(t->notices);
	hooks_run(t->hooks);
	if (t->db.tend_log)
		store_checkpoint(t->store);
	t->db.tend_log = false;
	return 0;
}

bool
tuner_announces(const struct tuner *t)
{
	return notices_busy(t->notices) || hooks_busy(t->hooks) ||
	       provenance_busy(t->provenance) || t->n_notes > 0;
}

int
tuner_record_answers(struct tuner *t, struct err *e)
{
	if (!notices_answered(t->notices) && t->n_notes == 0 &&
	    !provenance_answered(t->provenance))
		return 0;
	if (store_begin(t->store, e) != 0) {
		tuner_wake_in(t, BUSY_RETRY_MS);
		return e->kind == ERR_BUSY ? 0 : -1;
	}
	t->turn_us = loop_wall_us(t->env.loop);
	notes_record(t);
	notices_record(t->notices, t->turn_us);
	provenance_record(
	    t->provenance, t->turn_us, loop_now_ms(t->env.loop), false);
	if (store_commit(t->store, true, e) != 0)
		return -1;
	notices_send(t->notices);
	return 0;
}

void
tuner_leave_notices(struct tuner *t)
{
	notices_leave(t->notices);
}

struct tuner_end
tuner_end(const struct tuner *t)
{
	return (struct tuner_end){
		.failed = t->end.failed, .over = t->end.over, .why = t->end.why
	};
}

bool
tuner_stale(const struct tuner *t)
{
	return t->stale && t->requests.n == 0;
}

int
tuner_refresh(struct tuner *t, struct err *e)
{
	if (store_begin(t->store, e) != 0)
		return -1;
	replicates_write(&t->replicates, t->store);
	(void)median_view_flush(&t->medians, t->store, true);
	return store_commit(t->store, false, e);
}

void
tuner_hold(struct tuner *t, bool hold)
{
	t->held = hold;
}

bool
tuner_is_current(const struct tuner *t)
{
	struct buf b = { 0 };
	bool same;

	study_put_json(&b, t->study);
	same = t->row.started_us != 0 &&
	       strcmp(buf_str(&b), t->row.json) == 0 &&
	       strcmp(t->study->dir, t->row.dir) == 0;
	buf_free(&b);
	return same;
}

struct store *
tuner_store(struct tuner *t)
{
	return t->store;
}

const char *
tuner_trouble(const struct tuner *t)
{
	return t->db.trouble;
}
