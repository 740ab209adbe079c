/* Files, rows and transactions of the store. */

#include <fcntl.h>
#include <sys/wait.h>

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

static struct err e;

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		exit(1);
}

/* Change a file from outside, as a shell would. */
static int
shell(const char *path, const char *sql)
{
	sqlite3 *db;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return rc;
}

static void
refused(const char *path, enum err_kind kind, const char *part)
{
	struct store *s = NULL;
	int mode;

	for (mode = STORE_READ; mode <= STORE_WRITE; mode++) {
		e = (struct err)ERR_INIT;
		if (ok(store_open(&s, path, (enum store_mode)mode, &e) < 0,
			"open for %s is refused: %s",
			mode == STORE_READ ? "reading" : "writing", part))
			ok(e.kind == kind && strstr(e.text, part) != NULL &&
				strncmp(e.text, path, strlen(path)) == 0,
			    "and reports it: %s", strrchr(e.text, '/'));
		else
			store_close(s);
	}
}

static void
test_strange_files(void)
{
	char *path = fixture_path("strange.db");
	struct store *s;
	bool there;

	refused(path, ERR_FILE, "No such file");
	refused(fixture_dir, ERR_FILE, "directory");
	write_file(path, "");
	refused(path, ERR_STORE, "empty");
	ok(store_exists(&there, path, &e) == 0 && !there,
	    "an empty file is no study");
	write_file(path,
	    "This is a text of more than a hundred bytes, and so "
	    "it cannot be taken for a short file.  It is no database at all, "
	    "and never was.\n");
	refused(path, ERR_STORE, "not a database");
	ok(store_exists(&there, path, &e) < 0, "garbage is nothing to replace");
	(void)unlink(path);
	ok(shell(path, "CREATE TABLE mine (a)") == 0,
	    "a database of another program");
	refused(path, ERR_STORE, "another program");
	(void)unlink(path);
	s = fixture_create("strange.db", true);
	store_close(s);
	ok(store_exists(&there, path, &e) == 0 && there, "a study is there");
	ok(shell(path, "PRAGMA user_version = 99") == 0, "a later version");
	refused(path, ERR_STORE, "newer");
	free(path);
}

static void
test_create(void)
{
	struct store_study study = fixture_study(true);
	struct space space = { .n = 0 };
	char *path = fixture_path("create.db");
	struct store *s;
	struct stat st;
	bool there = true;

	ok(store_exists(&there, path, &e) == 0 && !there, "nothing there");
	/* What a death while creating leaves. */
	ok(shell(path, "PRAGMA journal_mode = WAL") == 0, "an unfilled file");
	ok(store_exists(&there, path, &e) == 0 && !there, "counts as nothing");
	ok(store_create(&s, path, &study, &space, false, &e) == 0,
	    "and is taken over");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600,
	    "file is 0600");
	free(path);
	path = fixture_path("create.db-wal");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "log is 0600");
	free(path);
	path = fixture_path("create.db");
	ok(store_create(&s, path, &study, &space, false, &e) < 0 &&
		e.kind == ERR_FILE,
	    "a second study is refused: %s", e.text);
	store_close(s);
	free(path);
}

static void
test_study(void)
{
	struct store *s = fixture_create("study.db", false);
	struct store_study study;
	char *path = fixture_path("study.db");

	must(store_study_get(s, &study, &e), &e);
	is_str(study.name, "small", "name");
	ok(!study.maximize, "goal");
	study.state = STUDY_FINISHED;
	study.seed = UINT64_MAX;
	study.ended_us = T0 + 3 * SECOND;
	study.elapsed_ms = 2000;
	free(study.why);
	study.why = xstrdup("all\xff done");
	ok(store_study_put(s, &study, &e) < 0,
	    "no writing outside store_begin");
	must(store_begin(s, &e), &e);
	ok(store_in_transaction(s), "in a transaction");
	must(store_study_put(s, &study, &e), &e);
	must(store_commit(s, true, &e), &e);
	ok(!store_in_transaction(s), "out of it");
	store_study_fini(&study);
	store_close(s);

	must(store_open(&s, path, STORE_WRITE, &e), &e);
	must(store_study_get(s, &study, &e), &e);
	is_int(study.state, STUDY_FINISHED, "state after a restart");
	ok(study.seed == UINT64_MAX, "a seed of 64 bits");
	is_int(study.max_steps, 10, "max_steps");
	is_int(study.created_us, T0, "created");
	is_int(study.ended_us, T0 + 3 * SECOND, "ended");
	is_str(study.why, "all\\xff done", "text is made harmless UTF-8");
	store_study_fini(&study);
	is_query(s, "SELECT seed FROM study", "18446744073709551615",
	    "the view shows the seed without a sign");
	store_close(s);
	free(path);
}

static void
test_trial_rows(void)
{
	struct store *s = fixture_create("trial.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING), got;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
	must(store_begin(s, &e), &e);
	t = fixture_trial(3, TRIAL_WAITING);
	ok(store_trial_add(s, &t, &e) < 0, "a number left out: %s", e.text);
	store_rollback(s);
	must(store_begin(s, &e), &e);
	t = fixture_trial(2, TRIAL_RUNNING);
	ok(store_trial_add(s, &t, &e) < 0, "born running: %s", e.text);
	store_rollback(s);
	must(store_begin(s, &e), &e);
	t = fixture_trial(1, TRIAL_STARTING);
	t.cause = STOP_USER;
	t.objective = 0.25;
	t.last_step = 4;
	t.reports = 5;
	t.attempts = 2;
	t.failures = 1;
	t.free_retries = 3;
	t.alone = true;
	t.not_before_us = T0;
	t.source = SOURCE_ENQUEUE;
	t.backend = (char *)(uintptr_t) "local";
	t.why = (char *)(uintptr_t) "because";
	must(store_trial_put(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
	must(store_begin(s, &e), &e);
	t.number = 9;
	ok(store_trial_put(s, &t, &e) < 0, "no trial 9: %s", e.text);
	store_rollback(s);
	must(store_trial_get(s, 1, &got, &e), &e);
	ok(got.state == TRIAL_STARTING && got.cause == STOP_USER &&
		got.objective == 0.25 && got.last_step == 4 &&
		got.reports == 5 && got.attempts == 2 && got.failures == 1 &&
		got.free_retries == 3 && got.alone && got.not_before_us == T0 &&
		got.ended_us == 0,
	    "numbers read back");
	is_str(got.params, t.params, "params are as they were added");
	is_int(got.source, SOURCE_ENQUEUE, "source");
	is_str(got.why, "because", "why");
	store_trial_fini(&got);
	ok(store_trial_get(s, 2, &got, &e) < 0, "no trial 2: %s", e.text);
	store_close(s);
}

/* Whether the text of an error ends so. */
static bool
ends_so(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The first failure fails the transaction, whatever follows it. */
static void
test_failed_transaction(void)
{
	static const char no_trial[] = "there is no trial 9";
	static const char not_next[] = "trial 3 is not the next";
	struct store *s = fixture_create("failed.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	struct err own = ERR_INIT;

	must(store_begin(s, &e), &e);
	ok(store_trial_get(s, 9, &t, &e) < 0 && ends_so(e.text, no_trial),
	    "a row that does not exist: %s", e.text);
	ok(!store_failed(s), "is no failure");
	t = fixture_trial(1, TRIAL_WAITING);
	must(store_trial_add(s, &t, &e), &e);
	t.number = 3;
	ok(store_trial_add(s, &t, &e) < 0 && ends_so(e.text, not_next),
	    "a write that is refused: %s", e.text);
	ok(store_failed(s), "is one");
	t.number = 9;
	ok(store_trial_put(s, &t, &e) < 0 && ends_so(e.text, not_next),
	    "the next write has its error: %s", e.text);
	t.number = 2;
	ok(store_trial_add(s, &t, &e) < 0 && ends_so(e.text, not_next),
	    "also one that is right: %s", e.text);
	ok(store_commit(s, true, &e) < 0 && ends_so(e.text, not_next),
	    "and the commit: %s", e.text);
	ok(!store_failed(s), "which ends the transaction");
	is_query(s, "SELECT count(*) FROM t_trial", "0", "with no effect");
	must(store_begin(s, &e), &e);
	t.number = 1;
	must(store_trial_add(s, &t, &e), &e);
	(void)err_set(&own, ERR_STORE, "own");
	store_fail_with(s, &own);
	(void)err_set(&own, ERR_STORE, "second");
	store_fail_with(s, &own);
	ok(store_commit(s, true, &e) < 0 && strcmp(e.text, "own") == 0,
	    "a failure of the caller: %s", e.text);
	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
	is_query(s, "SELECT count(*) FROM t_trial", "1", "the next one works");
	store_close(s);
}

/* The schema allows exactly the moves of src/model/trial.c. */
static void
test_moves(void)
{
	static const enum trial_state path_to[TRIAL_STATES][4] = {
		[TRIAL_WAITING] = { TRIAL_STATES },
		[TRIAL_STARTING] = { TRIAL_STARTING, TRIAL_STATES },
		[TRIAL_RUNNING] = { TRIAL_STARTING, TRIAL_RUNNING,
		    TRIAL_STATES },
		[TRIAL_STOPPING] = { TRIAL_STARTING, TRIAL_STOPPING,
		    TRIAL_STATES },
		[TRIAL_COMPLETED] = { TRIAL_STARTING, TRIAL_COMPLETED,
		    TRIAL_STATES },
		[TRIAL_STOPPED] = { TRIAL_STARTING, TRIAL_STOPPING,
		    TRIAL_STOPPED, TRIAL_STATES },
		[TRIAL_FAILED] = { TRIAL_STARTING, TRIAL_FAILED, TRIAL_STATES },
		[TRIAL_CANCELLED] = { TRIAL_CANCELLED, TRIAL_STATES },
	};
	struct store *s = fixture_create("moves.db", true);
	enum trial_state from, to, end;
	enum trial_event ev;
	struct store_trial t;
	bool may;

	for (from = 0; from < TRIAL_STATES; from++)
		for (to = 0; to < TRIAL_STATES; to++) {
			may = from == to;
			for (ev = 0; ev < TRIAL_EVENTS; ev++)
				may = may ||
				      (trial_move(from, ev, &end) && end == to);
			must(store_begin(s, &e), &e);
			t = fixture_trial(1, TRIAL_WAITING);
			must(store_trial_add(s, &t, &e), &e);
			fixture_walk(s, &t, path_to[from]);
			t.state = to;
			ok((store_trial_put(s, &t, &e) == 0) == may,
			    "%s to %s is %s", trial_state_name(from),
			    trial_state_name(to), may ? "done" : "refused");
			store_rollback(s);
		}
	store_close(s);
}

static void
test_attempt_rows(void)
{
	struct store *s = fixture_create("attempt.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_STARTING);
	struct store_attempt a = fixture_attempt(1, 1), got;

	must(store_begin(s, &e), &e);
	ok(store_attempt_add(s, &a, &e) < 0, "no attempt without its trial");
	store_rollback(s);
	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_attempt_add(s, &a, &e), &e);
	a.state = TRIAL_STOPPED;
	a.place = (char *)(uintptr_t) "gpu 1";
	a.slot = 3;
	a.started_us = T0;
	a.ended_us = T0 + 5 * SECOND / 2;
	a.exit_code = 0;
	a.signal = 15;
	a.end_class = END_STOPPED;
	a.resumed_step = 0;
	a.log_offset = 123456789012345;
	a.metrics_offset = 7;
	a.log_skip = true;
	a.max_rss = 1 << 30;
	a.cpu_us = 99;
	a.log = (char *)(uintptr_t) "/x/log";
	a.why = (char *)(uintptr_t) "\xc3\x28";
	must(store_attempt_put(s, &a, &e), &e);
	must(store_commit(s, false, &e), &e);
	must(store_attempt_get(s, 1, 1, &got, &e), &e);
	ok(got.state == TRIAL_COMPLETED && got.slot == 3 &&
		got.started_us == T0 && got.ended_us == a.ended_us &&
		got.exit_code == 0 && got.signal == 15 &&
		got.end_class == END_STOPPED && got.resumed_step == 0 &&
		got.log_offset == 123456789012345 && got.metrics_offset == 7 &&
		got.log_skip && !got.metrics_skip && got.max_rss == 1 << 30 &&
		got.cpu_us == 99,
	    "numbers read back");
	is_str(got.place, "gpu 1", "place");
	is_str(got.log, "/x/log", "log");
	is_str(got.why, "\\xc3(", "why is made harmless UTF-8");
	store_attempt_fini(&got);
	is_query(s, "SELECT seconds, started FROM trials",
	    "2.5|2023-11-14T22:13:20.123Z", "the trial sums its attempts");
	ok(store_attempt_get(s, 1, 2, &got, &e) < 0, "none: %s", e.text);
	a.attempt = 2;
	must(store_begin(s, &e), &e);
	ok(store_attempt_put(s, &a, &e) < 0, "none to put: %s", e.text);
	store_rollback(s);
	store_close(s);
}

static void
test_queue(void)
{
	struct store *s = fixture_create("queue.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	enum trial_source source;
	char *params;
	int64_t id;

	is_int(store_queue_next(s, &id, &params, &source, &e), 1, "empty");
	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_queue_add(s, "{\"lr\":1}", SOURCE_ENQUEUE, &e), &e);
	must(store_queue_add(s, "{\"lr\":2}", SOURCE_DEFAULT, &e), &e);
	must(store_queue_next(s, &id, &params, &source, &e), &e);
	is_str(params, "{\"lr\":1}", "the oldest first");
	is_int(source, SOURCE_ENQUEUE, "its source");
	free(params);
	must(store_queue_take(s, id, 1, &e), &e);
	must(store_commit(s, false, &e), &e);
	must(store_begin(s, &e), &e);
	ok(store_queue_take(s, id, 1, &e) < 0, "taken once: %s", e.text);
	store_rollback(s);
	must(store_begin(s, &e), &e);
	must(store_queue_next(s, &id, &params, &source, &e), &e);
	is_str(params, "{\"lr\":2}", "then the next");
	free(params);
	must(store_queue_take(s, id, 1, &e), &e);
	must(store_commit(s, false, &e), &e);
	is_int(
	    store_queue_next(s, &id, &params, &source, &e), 1, "empty again");
	store_close(s);
}

static bool
log_there(const char *path)
{
	char *log = xasprintf("%s-wal", path);
	bool there = access(log, F_OK) == 0;

	free(log);
	return there;
}

/* Somebody who only looks in leaves views and log as they are. */
static void
test_visit(void)
{
	char *path = fixture_path("visit.db"), *got;
	struct store *s = fixture_create("visit.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
	store_close(s);
	ok(!log_there(path), "a writer takes its log away");
	must(store_open(&s, path, STORE_WRITE_ONCE, &e), &e);
	got = fixture_query(s, "SELECT count(*) FROM trials");
	is_str(got, "1", "a visitor sees the views");
	free(got);
	must(store_begin(s, &e), &e);
	t = fixture_trial(2, TRIAL_WAITING);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	ok(log_there(path), "and leaves the log");
	must(store_open(&s, path, STORE_WRITE_ONCE, &e), &e);
	got = fixture_query(s, "SELECT count(*) FROM trials");
	is_str(got, "2", "in which the next one finds what it wrote");
	free(got);
	must(store_begin(s, &e), &e);
	t = fixture_trial(3, TRIAL_WAITING);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, true, &e), &e);
	store_checkpoint_at_close(s);
	store_close(s);
	ok(!log_there(path), "until one settles it");
	must(store_open(&s, path, STORE_READ, &e), &e);
	got = fixture_query(s, "SELECT count(*) FROM trials");
	is_str(got, "3", "with all that was written");
	free(got);
	store_close(s);
	free(path);
}

/* Of an attempt that runs, each column of its bill is written at once. */
static void
test_running_bill(void)
{
	static const char sql[] =
	    "SELECT billable_seconds, cost, trained_seconds, "
	    "download_seconds, upload_seconds FROM t_attempt";
	struct store *s = fixture_create("bill.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	struct store_attempt a = fixture_attempt(1, 1);

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_attempt_add(s, &a, &e), &e);
	is_query(s, sql, "NULL|NULL|NULL|NULL|NULL", "no bill yet");
	a.billed = true;
	a.billable_s = 60;
	must(store_attempt_put(s, &a, &e), &e);
	is_query(s, sql, "60.0|NULL|NULL|NULL|NULL", "billed seconds");
	a.priced = true;
	a.cost = 0.5;
	must(store_attempt_put(s, &a, &e), &e);
	is_query(s, sql, "60.0|0.5|NULL|NULL|NULL", "the cost");
	a.trained_s = 40;
	must(store_attempt_put(s, &a, &e), &e);
	is_query(s, sql, "60.0|0.5|40.0|NULL|NULL", "seconds of training");
	a.before_s = 15;
	must(store_attempt_put(s, &a, &e), &e);
	is_query(s, sql, "60.0|0.5|40.0|15.0|NULL", "seconds of download");
	a.after_s = 5;
	must(store_attempt_put(s, &a, &e), &e);
	is_query(s, sql, "60.0|0.5|40.0|15.0|5.0", "seconds of upload");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

int
main(void)
{
	fixture_begin();
	test_visit();
	test_strange_files();
	test_create();
	test_study();
	test_trial_rows();
	test_failed_transaction();
	test_moves();
	test_attempt_rows();
	test_running_bill();
	test_queue();
	return fixture_end();
}
