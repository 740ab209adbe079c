/*
 * Databases that are damaged, or a stranger's: copies of good ones with values
 * that cannot be, bytes that have flipped, ends that are missing.  Commands run
 * on each; none may end by a signal, run without end, or fail without a line.
 *
 *	damage SEED FIRST COUNT DIR NAME...
 *
 * For each number from FIRST on the study d of DIR/NAME is copied into the
 * working folder, with its log; the number decides what is done to it.  Says on
 * stdout what went wrong, with the number; exit status 1.  With DAMAGE_SHOW in
 * the environment it also says what was done to each.
 */

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/rng.h"

enum { CPU_S = 60, WALL_S = 300, COMMANDS = 3 };

/* Each word in its place; d.json has d.db and d.d. */
static const char *const commands[][10] = {
	{ "start", "-q", "d.json", "--trials", "14" },
	{ "status", "d.json" },
	{ "status", "--json", "d.db" },
	{ "best", "d.db" },
	{ "trials", "d.db" },
	{ "trials", "--json", "d.db" },
	{ "show", "d.db", "1" },
	{ "show", "--json", "d.db", "3" },
	{ "logs", "d.db", "2" },
	{ "importance", "d.db" },
	{ "report", "-o", "d.html", "d.db" },
	{ "export", "d.db" },
	{ "export", "--format", "json", "d.db" },
	{ "export", "--format", "json", "--table", "events", "d.db" },
	{ "export", "--format", "optuna", "--force", "-o", "d.opt", "d.db" },
	{ "export", "--format", "sagemaker", "d.db" },
	{ "replay", "--rule", "median", "d.db" },
	{ "replay", "--rule", "none", "--json", "d.db" },
	{ "enqueue", "d.json", "x=0.5" },
	{ "ask", "d.json" },
	{ "tell", "d.json", "2", "step=1", "loss=3" },
	{ "tell", "d.json", "3", "--done" },
	{ "judge", "d.json", "3" },
	{ "stop", "d.json", "3" },
	{ "pause", "d.json" },
	{ "check", "d.json" },
	{ "start", "-q", "warm.json" },
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const char *const tables[] = { "t_study", "t_counter", "t_param",
	"t_trial", "t_trial", "t_trial", "t_trial", "t_total", "t_attempt",
	"t_attempt", "t_name", "t_block", "t_block", "t_median", "t_stop",
	"t_event", "t_queue", "t_suggestion", "t_aim", "t_outcome", "t_front",
	"t_cost" };

static const char *const values[] = { "NULL", "NULL", "NULL", "''", "'x'", "-1",
	"0", "1", "2", "1000", "2147483647", "-2147483648", "4294967296",
	"1 << 53", "1 << 62", "9223372036854775807", "-9223372036854775807 - 1",
	"0.5", "1e308", "-1e308", "9e999", "x'00ff41'", "CAST(x'6100' AS TEXT)",
	"'null'", "'{}'", "'['", "'{\"x\": 1e999}'", "'{\"x\": {}, \"x\": []}'",
	"CAST(x'ff' AS TEXT)", "printf('%.*c', 70000, 'y')", "'running'",
	"'completed'", "'waiting'", "'starting'", "'stopping'", "'ended'",
	"'stopped'" };

#define SOME(a, rng) (a)[rng_below(rng, sizeof(a) / sizeof(a)[0])]

struct damage {
	const char *program;
	char what[400]; /* was done to this one */
	int number;
	int wrong;
};

__attribute__((format(printf, 2, 3))) static void
wrong(struct damage *d, const char *fmt, ...)
{
	va_list ap;

	printf("%d (%s): ", d->number, d->what);
	va_start(ap, fmt);
	(void)vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	(void)fflush(stdout);
	d->wrong++;
}

static void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "damage: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* The bytes of a file, ending in a 0; NULL when there is none. */
static char *
slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t got = 0;
	char *b;

	*n = 0;
	if (fd < 0)
		return NULL;
	must(fstat(fd, &st) == 0, path);
	b = xcalloc((size_t)st.st_size + 1, 1);
	while (*n < (size_t)st.st_size &&
	       (got = read(fd, b + *n, (size_t)st.st_size - *n)) > 0)
		*n += (size_t)got;
	must(got >= 0, path);
	(void)close(fd);
	return b;
}

static void
spill(const char *path, const char *b, size_t n)
{
	FILE *f = fopen(path, "we");

	must(f != NULL && fwrite(b, 1, n, f) == n && fclose(f) == 0, path);
}

static void
copy(const char *from, const char *to)
{
	size_t n;
	char *b = slurp(from, &n);

	(void)unlink(to);
	if (b != NULL)
		spill(to, b, n);
	free(b);
}

/* ---- What is done to it ------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void
did(struct damage *d, const char *fmt, ...)
{
	size_t n = strlen(d->what);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(d->what + n, sizeof d->what - n, fmt, ap);
	va_end(ap);
}

static void
flip_bytes(struct damage *d, struct rng *rng, const char *path, size_t from)
{
	size_t n, at;
	char *b = slurp(path, &n);
	int k = 1 + (int)rng_below(rng, 12);

	for (; b != NULL && n > from && k > 0; k--) {
		at = from + (size_t)rng_below(rng, n - from);
		b[at] = (char)rng_u32(rng);
		did(d, "%s byte %zu = %d; ", path, at, b[at]);
	}
	if (b != NULL)
		spill(path, b, n);
	free(b);
}

static void
cut_file(struct damage *d, struct rng *rng, const char *path)
{
	struct stat st;
	off_t n;

	if (stat(path, &st) != 0 || st.st_size == 0)
		return;
	n = (off_t)rng_below(rng, (uint64_t)st.st_size);
	must(truncate(path, n) == 0, path);
	did(d, "%s ends at %lld; ", path, (long long)n);
}

static bool
run_sql(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* One number or text of a query; free it. */
static char *
ask_sql(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;
	char *s = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	if (sqlite3_step(st) == SQLITE_ROW &&
	    sqlite3_column_text(st, 0) != NULL)
		s = xstrdup((const char *)sqlite3_column_text(st, 0));
	(void)sqlite3_finalize(st);
	return s;
}

/* One column of one row, or of all. */
static bool
put_value(struct damage *d, struct rng *rng, sqlite3 *db)
{
	const char *table = SOME(tables, rng), *value = SOME(values, rng);
	uint64_t which = rng_u64(rng) >> 1;
	char *sql, *column;
	bool all = rng_below(rng, 4) == 0, done;

	sql =
	    xasprintf("SELECT name FROM pragma_table_info('%s') WHERE cid = "
		      "%llu %% (SELECT count(*) FROM pragma_table_info('%s'))",
		table, (unsigned long long)which, table);
	column = ask_sql(db, sql);
	free(sql);
	if (column == NULL)
		return false;
	sql = xasprintf("UPDATE OR IGNORE %s SET %s = %s WHERE %d OR "
			"(%s) IS (SELECT %s FROM %s LIMIT 1 OFFSET %llu %% "
			"max(1, (SELECT count(*) FROM %s)))",
	    table, column, value, all, column, column, table,
	    (unsigned long long)which, table);
	done = run_sql(db, sql) && sqlite3_changes(db) > 0;
	if (done)
		did(d, "%s.%s%s = %s; ", table, column, all ? " (all)" : "",
		    value);
	free(sql);
	free(column);
	return done;
}

/* Without what the schema would refuse, which stands there again afterwards. */
static void
put_values(struct damage *d, struct rng *rng)
{
	int k = 1 + (int)rng_below(rng, 4);
	sqlite3 *db;

	must(sqlite3_open("d.db", &db) == SQLITE_OK, "d.db");
	must(run_sql(db,
		 "PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON;"
		 "PRAGMA ignore_check_constraints = ON;"
		 "CREATE TEMP TABLE keep AS SELECT * FROM main.sqlite_schema;"
		 "DELETE FROM main.sqlite_schema WHERE type = 'trigger';"
		 "UPDATE main.sqlite_schema SET sql = replace(replace(replace("
		 "sql, ' NOT NULL', ''), ') STRICT, ', ') '), ') STRICT', ')')"
		 " WHERE type = 'table'; PRAGMA writable_schema = RESET;"),
	    sqlite3_errmsg(db));
	while (k > 0)
		k -= put_value(d, rng, db);
	must(run_sql(db,
		 "PRAGMA writable_schema = ON; DELETE FROM main.sqlite_schema;"
		 "INSERT INTO main.sqlite_schema SELECT * FROM keep;"),
	    sqlite3_errmsg(db));
	(void)sqlite3_db_config(
	    db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)rng_below(rng, 2), NULL);
	(void)sqlite3_close(db);
}

static void
damage(struct damage *d, struct rng *rng)
{
	switch (rng_below(rng, 12)) {
	case 0:
		flip_bytes(d, rng, "d.db", 0);
		break;
	case 1:
		flip_bytes(d, rng, "d.db", 100);
		break;
	case 2:
		cut_file(d, rng, "d.db");
		break;
	case 3:
		flip_bytes(d, rng, "d.db-wal", 0);
		break;
	case 4:
		cut_file(d, rng, "d.db-wal");
		break;
	default:
		put_values(d, rng);
		break;
	}
}

/* ---- What commands do with it ------------------------------------------------------ */

/* After vfork: system calls alone. */
static void
child(char *const *argv)
{
	const struct rlimit cpu = { CPU_S, CPU_S }, core = { 0, 0 };
	int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_CORE, &core);
	(void)dup2(fd, 1);
	(void)dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
	(void)dup2(open("/dev/null", O_RDONLY), 0);
	(void)alarm(WALL_S);
	(void)execv(argv[0], argv);
	_exit(127);
}

static void
look_at(struct damage *d, const char *const *words, int status)
{
	size_t n;
	char *err = slurp("err", &n);

	if (WIFSIGNALED(status))
		wrong(d, "%s %s %s: signal %d: %s", words[0], words[1],
		    words[2], WTERMSIG(status), err);
	else if (strstr(err, "Sanitizer") != NULL ||
		 strstr(err, "runtime error") != NULL || strlen(err) != n ||
		 WEXITSTATUS(status) > 3)
		wrong(d, "%s %s: exit status %d: %s", words[0], words[1],
		    WEXITSTATUS(status), err);
	else if (strstr(err, "--help") != NULL)
		wrong(d, "%s %s: no such command line: %s", words[0], words[1],
		    err);
	else if (WEXITSTATUS(status) != 0 && n == 0)
		wrong(d, "%s %s: exit status %d without a word", words[0],
		    words[1], WEXITSTATUS(status));
	free(err);
}

static void
command(struct damage *d, const char *const *words)
{
	char *argv[12] = { (char *)(uintptr_t)d->program };
	int i, status;
	pid_t pid;

	for (i = 0; words[i] != NULL; i++)
		argv[i + 1] = (char *)(uintptr_t)words[i];
	/* With sanitizers freed memory stays mapped: fork would copy its tables. */
	pid = vfork();
	must(pid >= 0, "vfork");
	if (pid == 0)
		child(argv);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	look_at(d, words, status);
}

static void
one(struct damage *d, uint64_t seed, const char *dir, const char *name)
{
	struct rng rng;
	char *path;
	int i;

	*d->what = '\0';
	must(system("rm -rf d.db* d.d warm.db* warm.d") == 0, "rm");
	path = xasprintf("%s/%s/d.db", dir, name);
	copy(path, "d.db");
	free(path);
	path = xasprintf("%s/%s/d.db-wal", dir, name);
	copy(path, "d.db-wal");
	free(path);
	path = xasprintf("%s/%s/d.json", dir, name);
	copy(path, "d.json");
	free(path);
	did(d, "%s: ", name);
	rng_init(&rng, seed, (uint64_t)d->number);
	damage(d, &rng);
	if (getenv("DAMAGE_SHOW") != NULL)
		printf("%d: %s\n", d->number, d->what);
	for (i = 0; i < COMMANDS; i++)
		command(d, SOME(commands, &rng));
}

int
main(int argc, char **argv)
{
	struct damage d = { .program = getenv("HPOTUNE") };
	int i, count;

	if (argc < 6 || d.program == NULL) {
		fprintf(stderr, "usage: damage SEED FIRST COUNT DIR NAME...\n");
		return 2;
	}
	d.number = atoi(argv[2]);
	count = atoi(argv[3]);
	for (i = 0; i < count; i++, d.number++)
		one(&d, strtoull(argv[1], NULL, 10), argv[4],
		    argv[5 + d.number % (argc - 5)]);
	return d.wrong > 0;
}
