/*
 * Compares the ledger with the store of a study.  The ledger is right: the
 * processes themselves wrote it.
 */

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/evidence/proposal-rule.h"
#include "src/store/store.h"
#include "tests/torture/asks.h"
#include "tests/torture/ledger.h"
#include "tests/torture/harness.h"

enum {
	TRIALS_MAX = 8192,
	ATTEMPTS_MAX = 512,
	STEPS_MAX = 16,
	PROPOSAL_PAIRS = 12
};

struct book_step {
	bool says, said; /* about to be written, written */
	double value;
	int stored;
};

struct book {
	bool told; /* another program ran it */
	int starts;
	bool ended; /* it wrote its last line */
	int status;
	bool shim_killed;
	bool has_row;
	struct book_step steps[STEPS_MAX];
};

struct ledger {
	struct book *(*books)[ATTEMPTS_MAX]; /* [trial][attempt], or NULL */
	long last; /* trial that has books: the rest is never touched */
	struct verdict *v;
	struct store *store;
	int shown;
};

static void __attribute__((format(printf, 3, 4)))
fault(struct ledger *l, int *count, const char *fmt, ...)
{
	va_list ap;

	(*count)++;
	if (l->shown++ >= 5)
		return;
	printf("# FAULT: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static struct book *
book_of(struct ledger *l, long trial, long attempt)
{
	if (trial < 1 || trial >= TRIALS_MAX || attempt < 1 ||
	    attempt >= ATTEMPTS_MAX) {
		printf("Bail out! trial %ld, attempt %ld is beyond the judge\n",
		    trial, attempt);
		exit(1);
	}
	if (trial > l->last)
		l->last = trial;
	if (l->books[trial][attempt] == NULL)
		l->books[trial][attempt] = xcalloc(1, sizeof(struct book));
	return l->books[trial][attempt];
}

static void
ledger_line(struct ledger *l, const char *line)
{
	long trial, attempt, n;
	struct book *b;
	char what[16];
	double value;

	if (sscanf(line, "%15s %ld %ld %ld %lf", what, &trial, &attempt, &n,
		&value) != 5) {
		fault(l, &l->v->invented, "ledger: %s", line);
		return;
	}
	b = book_of(l, trial, attempt);
	if (strcmp(what, "start") == 0) {
		if (b->starts++ > 0)
			fault(l, &l->v->twice,
			    "trial %ld attempt %ld ran twice", trial, attempt);
	} else if (strcmp(what, "end") == 0) {
		b->ended = true;
		b->status = (int)n;
	} else if (n >= 0 && n < STEPS_MAX) {
		b->steps[n].value = value;
		if (strcmp(what, "says") == 0)
			b->steps[n].says = true;
		else
			b->steps[n].said = true;
	}
}

/* "PLACE PID … dir=…/trials/NUMBER/attempt-NUMBER …" */
static void
kill_line(struct ledger *l, const char *line)
{
	const char *at = strstr(line, "rig.d/trials/");
	long trial, attempt;

	if (at == NULL ||
	    sscanf(at, "rig.d/trials/%ld/attempt-%ld", &trial, &attempt) != 2)
		return;
	book_of(l, trial, attempt)->shim_killed = true;
	l->v->shim_kills++;
}

static void
each_line(struct ledger *l, const char *path,
    void (*fn)(struct ledger *, const char *))
{
	FILE *f = fopen(path, "r");
	char line[8192];

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		fn(l, line);
	}
	if (f != NULL)
		(void)fclose(f);
}

static void
each_row(struct ledger *l, struct store *s, const char *sql,
    void (*fn)(struct ledger *, const struct store_rows *))
{
	const char *none[] = { NULL };
	struct err e = ERR_INIT;
	struct store_rows *rows = NULL;
	int rc;

	if (store_rows_open(&rows, s, sql, none, &e) != 0) {
		fault(l, &l->v->open, "%s", e.text);
		return;
	}
	while ((rc = store_rows_next(rows, &e)) == 1)
		fn(l, rows);
	if (rc != 0)
		fault(l, &l->v->open, "%s", e.text);
	store_rows_close(rows);
}

/* An attempt of another program, which may be given up after it or run here next. */
static void
told_row(struct ledger *l, const struct store_rows *r)
{
	book_of(l, (long)store_rows_int(r, 0), (long)store_rows_int(r, 1))
	    ->told = true;
	l->v->told += store_rows_int(r, 1) == 1;
}

/* "HOOK TRIAL": each is run once at most. */
static void
hook_count(struct ledger *l, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[400], seen[2][TRIALS_MAX] = { 0 };
	const char *at;
	long trial;

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		l->v->hooks++;
		at = strstr(line, "\"trial\":");
		trial = at != NULL ? strtol(at + 8, NULL, 10) : 0;
		if (trial < 0 || trial >= TRIALS_MAX)
			trial = 0;
		if (strstr(line, "\"hook\":\"best\"") == NULL &&
		    seen[strstr(line, "\"hook\":\"failed\"") != NULL][trial]++)
			fault(
			    l, &l->v->twice, "a hook was run twice: %s", line);
	}
	if (f != NULL)
		(void)fclose(f);
}

static bool
has_checkpoint(const struct harness *r, long trial)
{
	char path[160];
	FILE *f;

	(void)snprintf(
	    path, sizeof path, "%s/%ld/checkpoint/model", r->trials, trial);
	f = fopen(path, "r");
	if (f != NULL)
		(void)fclose(f);
	return f != NULL;
}

static void
keep_count(struct ledger *l, const struct harness *r, int keep)
{
	long trial;

	for (trial = 1; trial <= l->last; trial++)
		l->v->kept += has_checkpoint(r, trial);
	if (keep >= 0 && l->v->kept > keep)
		fault(l, &l->v->unkept, "%d checkpoints are left, of %d",
		    l->v->kept, keep);
}

static void
trial_row(struct ledger *l, const struct store_rows *r)
{
	const char *state = store_rows_text(r, 1);
	long trial = (long)store_rows_int(r, 0);
	long attempt = (long)store_rows_int(r, 2);
	enum trial_state s;
	struct book *b;

	l->v->trials++;
	if (!trial_state_parse(state, &s) || !trial_state_final(s)) {
		fault(l, &l->v->open, "trial %ld is %s", trial, state);
		return;
	}
	if (s != TRIAL_COMPLETED)
		return;
	b = book_of(l, trial, attempt);
	if (b->told)
		return;
	if (!b->ended || b->status != 0)
		fault(l, &l->v->invented,
		    "trial %ld is completed, its attempt %ld is not", trial,
		    attempt);
}

static void
attempt_row(struct ledger *l, const struct store_rows *r)
{
	long trial = (long)store_rows_int(r, 0);
	long attempt = (long)store_rows_int(r, 1);
	struct book *b = book_of(l, trial, attempt);
	enum end_class c;
	bool given_up;

	l->v->attempts++;
	b->has_row = true;
	if (b->told)
		return;
	if (store_rows_null(r, 2) ||
	    !end_class_parse(store_rows_text(r, 2), &c)) {
		fault(l, &l->v->open, "trial %ld attempt %ld has not ended",
		    trial, attempt);
		return;
	}
	if (c == END_LOST) {
		l->v->lost++;
		/* One server gave it up, died, and the next one found that. */
		given_up = b->starts == 0 && !store_rows_null(r, 3) &&
			   strcmp(store_rows_text(r, 3),
			       "it was given up before it began") == 0;
		if (!b->shim_killed && !given_up)
			fault(l, &l->v->false_lost,
			    "trial %ld attempt %ld is lost, but its supervisor "
			    "was left alone",
			    trial, attempt);
	}
	if (c == END_OK && (b->starts == 0 || !b->ended || b->status != 0))
		fault(l, &l->v->invented,
		    "trial %ld attempt %ld is ok, but did not end well", trial,
		    attempt);
}

static void
metric_row(struct ledger *l, const struct store_rows *r)
{
	long trial = (long)store_rows_int(r, 0);
	long attempt = (long)store_rows_int(r, 1);
	long step = (long)store_rows_int(r, 2);
	struct book_step *s;

	if (book_of(l, trial, attempt)->told)
		return;
	if (step < 0 || step >= STEPS_MAX) {
		fault(
		    l, &l->v->invented, "trial %ld has step %ld", trial, step);
		return;
	}
	s = &book_of(l, trial, attempt)->steps[step];
	if (!s->says || s->value != store_rows_real(r, 3))
		fault(l, &l->v->invented,
		    "trial %ld attempt %ld never said %.17g at step %ld", trial,
		    attempt, store_rows_real(r, 3), step);
	if (s->stored++ > 0)
		fault(l, &l->v->doubled,
		    "trial %ld attempt %ld step %ld is there twice", trial,
		    attempt, step);
}

static void
book_close(struct ledger *l, long trial, long attempt, const struct book *b)
{
	int step;

	if (b->starts > 0 && !b->has_row)
		fault(l, &l->v->invented,
		    "trial %ld attempt %ld ran without a row", trial, attempt);
	for (step = 0; step < STEPS_MAX; step++) {
		l->v->reports += b->steps[step].said;
		if (b->steps[step].said && b->steps[step].stored == 0)
			fault(l, &l->v->forgotten,
			    "trial %ld attempt %ld step %d was forgotten",
			    trial, attempt, step);
	}
}

/*
 * A contest that is decided rests on pairs that have ended, each once; how many
 * trials are of contests.  That a verdict stays is a trigger of the schema.
 */
static long
contests_check(struct ledger *l, struct store *s)
{
	long n;

	n = asks_number(s,
	    "SELECT count(*) FROM (SELECT 1 FROM t_trial WHERE forgotten = 0 "
	    "AND setting IS NOT NULL AND ?1 = ?1 GROUP BY setting, replicate "
	    "HAVING count(*) > 1)",
	    0);
	if (n > 0)
		fault(l, &l->v->doubled, "%ld replicates came twice", n);
	n = asks_number(s,
	    "SELECT count(*) FROM t_contest AS c WHERE verdict <> 'open' AND "
	    "?1 = ?1 AND (ended_us IS NULL OR looks * 2 > (SELECT count(*) "
	    "FROM t_trial AS t WHERE t.setting IN (challenger, baseline) AND "
	    "t.replicate BETWEEN searched + 1 AND searched + looks AND "
	    "ended_us IS NOT NULL))",
	    0);
	if (n > 0)
		fault(l, &l->v->invented,
		    "%ld verdicts rest on runs that have not ended", n);
	n = asks_number(s,
	    "SELECT count(*) FROM (SELECT 1 FROM t_contest WHERE ?1 = ?1 "
	    "GROUP BY kind, coalesce(challenger, params), baseline "
	    "HAVING count(*) > 1)",
	    0);
	if (n > 0)
		fault(l, &l->v->doubled, "%ld contests are there twice", n);
	return asks_number(s,
	    "SELECT count(*) FROM t_trial WHERE ?1 = ?1 AND replicate > "
	    "(SELECT searched FROM t_contest LIMIT 1)",
	    0);
}

/* The loss of a run of a contest, as the rule has it. */
static double
contest_run_loss(
    struct store *s, const char *setting, const char *replicate, size_t k)
{
	static const char sql[] =
	    "SELECT state, objective FROM t_trial WHERE forgotten = 0 AND "
	    "setting = CAST(?1 AS INTEGER) AND "
	    "replicate = CAST(?2 AS INTEGER) + CAST(?3 AS INTEGER)";
	char number[24];
	const char *args[] = { setting, replicate, number, NULL };
	struct store_rows *rows;
	struct err e = ERR_INIT;
	double loss = INFINITY;

	(void)snprintf(number, sizeof number, "%zu", k + 1);
	if (store_rows_open(&rows, s, sql, args, &e) != 0)
		return NAN;
	if (store_rows_next(rows, &e) == 1) {
		if (strcmp(store_rows_text(rows, 0), "cancelled") == 0)
			loss = NAN;
		else if (strcmp(store_rows_text(rows, 0), "completed") == 0)
			loss = -store_rows_real(rows, 1);
	}
	store_rows_close(rows);
	return loss;
}

/* A verdict on a proposal is what the rule says of its recorded runs. */
static void
proposal_row(struct ledger *l, const struct store_rows *row)
{
	static const char *const names[] = { "open", "kept", "discarded",
		"undecided" };
	size_t k, looks, n = (size_t)store_rows_int(row, 2), most;
	double a[PROPOSAL_PAIRS], b[PROPOSAL_PAIRS];
	enum proposal_verdict verdict;

	most = (size_t)store_rows_int(row, 3);
	for (k = 0; k < PROPOSAL_PAIRS; k++) {
		a[k] = contest_run_loss(l->store, store_rows_text(row, 5),
		    store_rows_text(row, 7), k);
		b[k] = contest_run_loss(l->store, store_rows_text(row, 6),
		    store_rows_text(row, 7), k);
	}
	/* With so few pairs it does not count how many others there were. */
	verdict = proposal_rule_judge(
	    a, b, n, most, 0, store_rows_real(row, 4), &looks);
	if (strcmp(names[verdict], store_rows_text(row, 1)) != 0 || looks != n)
		fault(l, &l->v->invented,
		    "proposal %s is %s after %zu pairs, not %s after %zu",
		    store_rows_text(row, 0), names[verdict], looks,
		    store_rows_text(row, 1), n);
	l->v->verdicts++;
}

static void
compare(struct ledger *l, const struct harness *r, int trials, int keep)
{
	struct err e = ERR_INIT;
	struct store *s;
	long best, contests, told, n;

	if (store_open(&s, r->db, STORE_READ, &e) != 0) {
		fault(l, &l->v->open, "%s", e.text);
		return;
	}
	each_row(l, s,
	    "SELECT trial, attempt FROM t_attempt WHERE backend IN ('ask', "
	    "'external')",
	    told_row);
	each_row(l, s, "SELECT trial, state, attempts FROM trials", trial_row);
	each_row(l, s, "SELECT trial, attempt, end_class, why FROM t_attempt",
	    attempt_row);
	each_row(l, s,
	    "SELECT trial, attempt, step, value FROM metrics "
	    "WHERE name = 'score'",
	    metric_row);
	l->v->broken = asks_broken(r, s, &l->v->promises);
	best = asks_number(s,
	    "SELECT coalesce((SELECT trial FROM trials WHERE state = "
	    "'completed' AND ?1 = ?1 ORDER BY objective DESC LIMIT 1), 0)",
	    0);
	told = asks_number(s,
	    "SELECT coalesce((SELECT backend IN ('ask', 'external') FROM "
	    "t_trial WHERE trial = CAST(?1 AS INTEGER)), 0)",
	    best);
	if (keep >= 0 && best > 0 && told == 0 && !has_checkpoint(r, best))
		fault(l, &l->v->unkept,
		    "the checkpoint of trial %ld, the best one, is deleted",
		    best);
	contests = contests_check(l, s);
	l->store = s;
	each_row(l, s,
	    "SELECT contest, verdict, looks, replicates, alpha, challenger, "
	    "baseline, searched FROM t_contest WHERE kind = 'propose' AND "
	    "verdict <> 'open' AND challenger IS NOT NULL AND "
	    "why NOT LIKE 'another one was kept%'",
	    proposal_row);
	/* Each that ended so goes on once, unless nothing could be kept. */
	n = asks_number(s,
	    "SELECT count(*) FROM t_contest AS o WHERE ?1 = ?1 AND "
	    "why LIKE 'another one was kept:%' AND NOT EXISTS (SELECT 1 FROM "
	    "t_contest AS c WHERE c.challenger = o.challenger AND "
	    "o.why LIKE '% proposal ' || c.contest || ' goes on %')",
	    0);
	if (n > 0)
		fault(l, &l->v->forgotten, "%ld proposals do not go on", n);
	store_close(s);
	if (l->v->trials - contests != trials)
		fault(l, &l->v->open, "%d trials instead of %d",
		    l->v->trials - (int)contests, trials);
}

void
ledger_judge(struct verdict *v, const struct harness *r, int trials, int keep)
{
	struct ledger l = { .v = v };
	long trial, attempt;

	*v = (struct verdict){ 0 };
	l.books = xcalloc(TRIALS_MAX, sizeof *l.books);
	each_line(&l, r->ledger, ledger_line);
	each_line(&l, r->fail_log, kill_line);
	hook_count(&l, r->hooks);
	compare(&l, r, trials, keep);
	keep_count(&l, r, keep);
	for (trial = 1; trial <= l.last; trial++)
		for (attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
			if (l.books[trial][attempt] == NULL)
				continue;
			book_close(&l, trial, attempt, l.books[trial][attempt]);
			free(l.books[trial][attempt]);
		}
	free(l.books);
	v->orphans = harness_alive(r);
	if (v->orphans > 0)
		fault(&l, &(int){ 0 }, "%d processes are left", v->orphans);
}

int
ledger_faults(const struct verdict *v)
{
	return v->twice + v->forgotten + v->doubled + v->invented +
	       v->false_lost + v->broken + v->open + v->orphans + v->unkept;
}

void
ledger_add(struct verdict *a, const struct verdict *b)
{
	a->trials += b->trials;
	a->attempts += b->attempts;
	a->reports += b->reports;
	a->lost += b->lost;
	a->shim_kills += b->shim_kills;
	a->promises += b->promises;
	a->broken += b->broken;
	a->twice += b->twice;
	a->forgotten += b->forgotten;
	a->doubled += b->doubled;
	a->invented += b->invented;
	a->false_lost += b->false_lost;
	a->open += b->open;
	a->orphans += b->orphans;
	a->told += b->told;
	a->hooks += b->hooks;
	a->kept += b->kept;
	a->verdicts += b->verdicts;
	a->unkept += b->unkept;
}
