/*
 * Reports in blocks: whatever comes in whatever order, the views have each report
 * once and the newest of each step, and so has a file of an earlier version after
 * its migration.
 */

#include <inttypes.h>
#include <sqlite3.h>

#include "src/base/rng.h"
#include "src/store/row-block.h"
#include "tests/support/store-fixture.h"

static struct err e;

enum { TRIALS = 3, NAMES = 2, REPORTS_MAX = 20000 };

struct report {
	int64_t trial, step, time_us;
	int name, attempt;
	double value;
};

struct model {
	struct store *s;
	struct rng rng;
	struct report *all; /* as recorded */
	size_t n, committed;
	int64_t step[TRIALS + 1], stride[TRIALS + 1], now;
	int attempt[TRIALS + 1];
};

static const char *const names[NAMES] = { "acc", "loss" };

static void
model_put(struct buf *b, const struct report *r)
{
	buf_printf(b, "%" PRId64 "|%d|%s|%" PRId64 "|", r->trial, r->attempt,
	    names[r->name], r->step);
	if (isnan(r->value))
		buf_puts(b, "NULL");
	else
		buf_printf(b, "%.0f", r->value * 64);
	buf_printf(b, "|%" PRId64 "\n", r->time_us);
}

static void
same_rows(struct model *m, const char *sql, const char *want, const char *what)
{
	char *got = fixture_query(m->s, sql);
	struct buf b = { 0 };

	buf_puts(&b, got);
	if (b.len > 0)
		buf_putc(&b, '\n');
	if (!ok(strcmp(buf_str(&b), want) == 0, "%s", what))
		printf("# %zu bytes, not %zu\n", b.len, strlen(want));
	buf_free(&b);
	free(got);
}

/* The newest of its step: no later one has it. */
static bool
model_newest(const struct model *m, size_t i)
{
	size_t k;

	for (k = i + 1; k < m->committed; k++)
		if (m->all[k].trial == m->all[i].trial &&
		    m->all[k].name == m->all[i].name &&
		    m->all[k].step == m->all[i].step)
			return false;
	return true;
}

static int
compare_steps(const void *a, const void *b)
{
	const struct report *x = a, *y = b;

	if (x->trial != y->trial)
		return x->trial < y->trial ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

static void
check_curves(struct model *m, const char *what)
{
	struct report *curve = malloc((m->committed + 1) * sizeof *curve);
	struct buf b = { 0 };
	size_t i, n = 0;

	for (i = 0; curve != NULL && i < m->committed; i++)
		if (m->all[i].name == 0 && model_newest(m, i))
			curve[n++] = m->all[i];
	qsort(curve, n, sizeof *curve, compare_steps);
	for (i = 0; i < n; i++)
		buf_printf(&b, "%" PRId64 "|%" PRId64 "|%.0f\n", curve[i].trial,
		    curve[i].step,
		    isnan(curve[i].value) ? 0 : curve[i].value * 1e6);
	same_rows(m,
	    "SELECT trial || '|' || step || '|' || printf('%.0f', "
	    "coalesce(value, 0) * 1e6) FROM curves",
	    buf_str(&b), what);
	buf_free(&b);
	free(curve);
}

static void
check_all(struct model *m, const char *what)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < m->committed; i++)
		model_put(&b, &m->all[i]);
	same_rows(m,
	    "SELECT trial, attempt, name, step, "
	    "iif(value IS NULL, NULL, printf('%.0f', value * 64)), time_us "
	    "FROM t_metric JOIN t_name ON "
	    "id = name_id ORDER BY seq",
	    buf_str(&b), what);
	buf_free(&b);
	check_curves(m, what);
}

/* A step that rises, jumps, or goes back, also far; a time that mostly rises. */
static void
model_report(struct model *m)
{
	struct report *r = &m->all[m->n];
	int64_t trial = 1 + (int64_t)rng_below(&m->rng, TRIALS);
	uint64_t luck = rng_below(&m->rng, 400);

	if (luck == 0) {
		m->attempt[trial]++;
		m->step[trial] =
		    (int64_t)rng_below(&m->rng, (uint64_t)m->step[trial] + 1);
	} else if (luck < 4)
		m->step[trial] -= m->step[trial] < 5 ? m->step[trial] : 5;
	else if (luck == 4)
		m->stride[trial] = (int64_t)rng_below(&m->rng, 4);
	else if (luck == 5)
		m->step[trial] += (int64_t)rng_below(&m->rng, 1u << 30);
	if (luck > 5)
		m->step[trial] += m->stride[trial] > 0
				      ? m->stride[trial]
				      : 1 + (int64_t)rng_below(&m->rng, 3);
	m->now += rng_below(&m->rng, 3) == 0
		      ? (int64_t)rng_below(&m->rng, 40 * SECOND)
		      : 0;
	*r = (struct report){
		.trial = trial,
		.attempt = m->attempt[trial],
		.name = (int)rng_below(&m->rng, NAMES),
		.step = m->step[trial],
		.time_us =
		    m->now -
		    (luck == 7 ? (int64_t)rng_below(&m->rng, SECOND) : 0),
		.value =
		    luck == 6 ? NAN : (double)rng_below(&m->rng, 1u << 20) / 64,
	};
	must(store_metric_add(m->s, r->trial, r->attempt, names[r->name],
		 r->step, r->value, r->time_us, &e),
	    &e);
	m->n++;
	if (luck == 8)
		is_int(store_metric_exists(m->s, r->trial, r->attempt,
			   names[r->name], r->step, r->value, r->time_us, &e),
		    1, "a report that no commit has written yet is there");
	if (luck == 9)
		is_int(
		    store_metric_exists(m->s, r->trial, r->attempt,
			names[r->name], r->step, r->value + 1, r->time_us, &e),
		    0, "another value is not");
}

static void
model_open(struct model *m, const char *name, enum store_mode mode)
{
	char *path = fixture_path(name);

	must(store_open(&m->s, path, mode, &e), &e);
	free(path);
}

/* A turn of the server: reports, and a commit, or it fails. */
static void
model_turn(struct model *m, const char *name)
{
	uint64_t many = rng_below(&m->rng, 4) == 0 ? 400 : 3, i;

	many = 1 + rng_below(&m->rng, many);
	must(store_begin(m->s, &e), &e);
	for (i = 0; i < many && m->n < REPORTS_MAX; i++)
		model_report(m);
	if (rng_below(&m->rng, 20) == 0) {
		store_rollback(m->s);
		m->n = m->committed;
		return;
	}
	must(store_commit(m->s, false, &e), &e);
	m->committed = m->n;
	if (rng_below(&m->rng, 40) == 0) {
		store_close(m->s);
		model_open(m, name, STORE_WRITE);
	}
}

/* The file as a program before schema version 23 has left it. */
static const char earlier[] =
    "PRAGMA user_version = 22; PRAGMA legacy_alter_table = ON;"
    "DROP VIEW suggestions; ALTER TABLE t_suggestion DROP COLUMN memory;"
    "ALTER TABLE t_suggestion DROP COLUMN fits;"
    "CREATE TABLE t_rows (name_id INTEGER NOT NULL, trial INTEGER NOT NULL, "
    "step INTEGER NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL, "
    "value REAL, time_us INTEGER NOT NULL, "
    "PRIMARY KEY (name_id, trial, step, seq)) STRICT, WITHOUT ROWID;"
    "INSERT INTO t_rows SELECT name_id, trial, step, seq, attempt, value, "
    "time_us FROM t_metric;"
    "DROP VIEW t_metric; DROP TABLE t_block; DROP TABLE t_nth;"
    "DROP TABLE t_contest; DROP TABLE t_request;"
    /* Triggers of the table forbid to drop a column: all are NULL. */
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET "
    "sql = replace(sql, ', own_steps INTEGER, git_commit TEXT', '') WHERE name "
    "= 't_trial';"
    "PRAGMA writable_schema = RESET;"
    "ALTER TABLE t_rows RENAME TO t_metric;"
    "CREATE TABLE t_curve (trial INTEGER PRIMARY KEY, end_seq INTEGER, "
    "reports BLOB);";

static void
damage_do(const char *name, const char *sql)
{
	char *path = fixture_path(name);
	sqlite3 *db = NULL;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		printf("Bail out! %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	(void)sqlite3_close(db);
	free(path);
}

static int
count_record(void *arg, const struct store_record *r)
{
	size_t *n = arg;

	*n += r->step >= 0;
	return 0;
}

static void
test_random(uint64_t seed)
{
	static const enum trial_state running[] = { TRIAL_STARTING,
		TRIAL_RUNNING, TRIAL_STATES };
	static const char name[] = "random.db";
	struct model m = { .s = fixture_create(name, true), .now = T0 };
	struct store_trial t;
	size_t i, want = 0, got = 0;

	rng_init(&m.rng, seed, 0);
	m.all = calloc(REPORTS_MAX, sizeof *m.all);
	must(store_begin(m.s, &e), &e);
	for (i = 1; i <= TRIALS; i++) {
		m.attempt[i] = 1;
		m.stride[i] = 1;
		t = fixture_trial((int64_t)i, TRIAL_WAITING);
		must(store_trial_add(m.s, &t, &e), &e);
		fixture_walk(m.s, &t, running);
	}
	must(store_commit(m.s, false, &e), &e);
	while (m.n < 4000)
		model_turn(&m, name);
	check_all(&m, "all reports, and the newest of each step");
	for (i = 0; i < m.committed; i++)
		want += m.all[i].name == 0;
	must(store_walk_records(m.s, NULL, count_record, &got, &e), &e);
	is_int((long long)got, (long long)want, "a start reads each");
	is_query(m.s,
	    "SELECT sum(reports) > 3 * count(*) FROM t_block "
	    "WHERE name_id = 1",
	    "1", "most are in blocks");
	is_query(m.s,
	    "SELECT count(*) FROM t_block AS a JOIN t_block AS b "
	    "USING (name_id, trial) WHERE a.old = 0 AND b.old = 0 AND "
	    "a.seq <> b.seq AND a.step <= b.last_step AND a.last_step >= "
	    "b.step",
	    "0", "which follow each other");
	is_query(m.s,
	    "SELECT count(*) FROM t_block WHERE step > last_step OR "
	    "time_us > last_us OR reports > 32",
	    "0", "which say what they have");
	store_close(m.s);

	damage_do(name, earlier);
	model_open(&m, name, STORE_READ);
	got = 0;
	must(store_walk_records(m.s, NULL, count_record, &got, &e), &e);
	is_int((long long)got, (long long)want,
	    "of an earlier file a reader reads each");
	store_close(m.s);
	model_open(&m, name, STORE_WRITE);
	check_all(&m, "the same after the migration");
	while (m.n < 5000)
		model_turn(&m, name);
	check_all(&m, "and it goes on");
	store_close(m.s);
	free(m.all);
	m.s = NULL;
	damage_do(name, "DELETE FROM t_block");
}

/* What is in a damaged block is an error, and nothing else. */
static void
test_damage(void)
{
	static const char *const damage[] = { "reports = 33", "reports = 0",
		"step = -1", "steps = '1x'", "steps = '123'", "steps = x'00'",
		"steps = -1", "steps = 9007199254740993", "seqs = ''",
		"seqs = '12a4'", "seqs = 9223372036854775807",
		"seqs = 4611686018427387904" };
	struct store *s = fixture_create("damage.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	char *path = fixture_path("damage.db");
	char sql[160];
	size_t i, n;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	for (i = 1; i <= 2; i++)
		must(store_metric_add(s, 1, 1, "acc", (int64_t)i, 0.5, T0, &e),
		    &e);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	for (i = 0; i < sizeof damage / sizeof damage[0]; i++) {
		(void)snprintf(sql, sizeof sql,
		    "PRAGMA ignore_check_constraints = 1; "
		    "CREATE TABLE kept AS SELECT * FROM t_block; "
		    "UPDATE t_block SET %s",
		    damage[i]);
		damage_do("damage.db", sql);
		must(store_open(&s, path, STORE_READ, &e), &e);
		n = 0;
		ok(store_walk_records(s, NULL, count_record, &n, &e) < 0,
		    "%s: %s", damage[i], e.text);
		e = (struct err)ERR_INIT;
		store_close(s);
		damage_do("damage.db",
		    "DELETE FROM t_block; "
		    "INSERT INTO t_block SELECT * FROM kept; "
		    "DROP TABLE kept");
	}
	free(path);
}

/* A block from the least step to the greatest, and reports within it. */
static void
test_ends(void)
{
	static const int64_t steps[] = { 0, TRIAL_STEP_MAX, 1,
		TRIAL_STEP_MAX - 1 };
	struct store *s = fixture_create("ends.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	size_t i, n;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
	for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		must(store_begin(s, &e), &e);
		must(store_metric_add(s, 1, 1, "acc", steps[i], 0.5, T0, &e),
		    &e);
		must(store_commit(s, false, &e), &e);
		n = 0;
		must(store_walk_records(s, NULL, count_record, &n, &e), &e);
		ok(n == i + 1, "step %" PRId64 " after those before", steps[i]);
	}
	is_query(s, "SELECT step FROM curves",
	    "0\n1\n9007199254740991\n9007199254740992", "all in the curve");
	store_close(s);
}

/* A forged block whose times are as far apart as numbers can be has room. */
static void
test_forged(void)
{
	struct store *s = fixture_create("forged.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	struct model m = { .s = s };
	int64_t i;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	for (i = 1; i <= 2; i++)
		must(store_metric_add(s, 1, 1, "acc", i, 0.5, T0, &e), &e);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	damage_do("forged.db",
	    "UPDATE t_block SET time_us = 0, times = 4611686018427387904");
	model_open(&m, "forged.db", STORE_WRITE);
	must(store_begin(m.s, &e), &e);
	for (; i <= ROW_BLOCK_REPORTS; i++)
		must(store_metric_add(m.s, 1, 1, "acc", i, 0.5, T0, &e), &e);
	must(store_commit(m.s, false, &e), &e);
	is_query(
	    m.s, "SELECT sum(reports) FROM t_block", "32", "all are there");
	store_close(m.s);
}

/*
 * A block goes on in another process, also where there are more metrics than are
 * kept in memory.
 */
static void
test_goes_on(void)
{
	enum { METRICS = 4200, ROUNDS = 3 };
	struct store *s = fixture_create("on.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	struct model m = { .s = s };
	char name[16];
	int i, k;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
	for (k = 0; k < ROUNDS; k++) {
		must(store_begin(m.s, &e), &e);
		for (i = 0; i < METRICS; i++) {
			(void)snprintf(name, sizeof name, "m%d", i);
			must(store_metric_add(
				 m.s, 1, 1, name, k, i + k, T0 + k, &e),
			    &e);
		}
		must(store_commit(m.s, false, &e), &e);
		if (k > 0)
			continue;
		store_close(m.s);
		model_open(&m, "on.db", STORE_WRITE);
	}
	is_query(m.s,
	    "SELECT count(*), sum(reports), min(reports) FROM t_block",
	    "4200|12600|3", "a block of each metric has all its reports");
	is_query(m.s,
	    "SELECT count(*) FROM t_metric JOIN t_name ON id = name_id "
	    "WHERE 'm' || CAST(value - step AS INTEGER) = name",
	    "12600", "which are its own");
	store_close(m.s);
}

int
main(void)
{
	fixture_begin();
	test_random(1);
	test_damage();
	test_ends();
	test_forged();
	test_goes_on();
	return fixture_end();
}
