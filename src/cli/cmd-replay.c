/* hpotune replay: what rules would have saved, killed and cost. */

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/table.h"
#include "src/cli/replay-chart.h"
#include "src/model/goal.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/policy-search.h"
#include "src/server/replay/replay.h"
#include "src/store/store.h"
#include "strategies/stopper.h"

/* Whether a file begins like an SQLite database. */
static bool
replay_is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof magic];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is;

	if (fd == -1)
		return false;
	is = read(fd, head, sizeof head) == (ssize_t)sizeof head &&
	     memcmp(head, magic, sizeof head) == 0;
	(void)close(fd);
	return is;
}

/* ---- notes on curves whose figures would have no meaning ---------------- */

/* Fewer curves decide nothing about how often a best trial is lost. */
enum { CURVES_FEW = 20 };

static void
curve_notes_put_few(struct buf *notes, size_t trials, const char *path)
{
	if (trials > 0 && trials < CURVES_FEW)
		buf_printf(notes,
		    "%s: it has %zu trials: figures from fewer than %d "
		    "are not reliable\n",
		    path, trials, CURVES_FEW);
}

/* The reports of a study of trials with one each. */
static void
curve_notes_put_single(
    struct buf *notes, size_t trials, size_t reports, const char *path)
{
	if (trials > 0 && reports <= trials)
		buf_printf(notes,
		    "%s: each trial has one report: there is nothing that a "
		    "rule could save\n",
		    path);
}

/* The best value of a curve; NaN = none. */
static double
curve_best(const struct curve_file_curve *c, bool maximize)
{
	double best = NAN, v;
	size_t i;

	for (i = 0; i < c->n; i++) {
		v = maximize ? -c->values[i] : c->values[i];
		if (isfinite(v) && !(best <= v))
			best = v;
	}
	return best;
}

static void
notes_results(struct buf *notes, const struct curve_file *b, bool maximize,
    const char *path)
{
	double least = INFINITY, most = -INFINITY, best;
	size_t i, n = 0;

	for (i = 0; i < b->n; i++) {
		best = curve_best(&b->curves[i], maximize);
		if (!isfinite(best))
			continue;
		n++;
		least = best < least ? best : least;
		most = best > most ? best : most;
	}
	if (n == 0)
		buf_printf(notes, "%s: no value is finite\n", path);
	else if (n > 1 && !(least < most))
		buf_printf(notes,
		    "%s: all trials have the same best value: none can be "
		    "lost\n",
		    path);
}

static void
notes_steps(struct buf *notes, const struct curve_file *b, const char *path)
{
	int64_t *last = xcalloc(b->n + 1, sizeof *last), middle;
	size_t i, n = 0;

	for (i = 0; i < b->n; i++)
		if (b->curves[i].n > 0)
			last[n++] = b->curves[i].steps[b->curves[i].n - 1];
	qsort(last, n, sizeof *last, search_by_int64);
	middle = n > 0 ? last[n / 2] : 0;
	if (n > 0 && middle < b->last_step / 2)
		buf_printf(notes,
		    "%s: its steps go to %lld, but half of the trials end at "
		    "%lld or before: shares of max_steps are shares of %lld\n",
		    path, (long long)b->last_step, (long long)middle,
		    (long long)b->max_steps);
	free(last);
}

/*
 * Append a line for each: few curves, results that are all equal or not finite,
 * and trials of which most end before half of the greatest step.
 */
static void
curve_notes_put(struct buf *notes, const struct curve_file *b, bool maximize,
    const char *path)
{
	curve_notes_put_few(notes, b->n, path);
	notes_results(notes, b, maximize, path);
	notes_steps(notes, b, path);
}

/* ---- --tune: the scored settings and the recommended one ----------------- */

static int
read_database(struct curve_file *b, struct replay_plan *plan, const char *path,
    struct err *e)
{
	struct store *store;
	int rc;

	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = replay_recorded_curves(b, plan, store, e);
	store_close(store);
	return rc;
}

/* Print a note: the file has steps beyond max_steps, which rules do not use. */
static void
replay_tune_note_beyond(
    struct buf *notes, const char *path, int64_t last, int64_t most)
{
	buf_printf(notes,
	    "%s: its steps go to %lld, beyond trial.max_steps, which is %lld: "
	    "nothing is judged there\n",
	    path, (long long)last, (long long)most);
}

/* halves: of its curves, run too where there are enough, or NULL. */
static int
replay_tune_file(struct policy_grid *t, struct policy_grid *halves,
    const struct replay_plan *plan, const char *path, const char *metric,
    struct err *e)
{
	struct replay_plan own = *plan;
	struct buf notes = { 0 };
	struct curve_file bank;
	int rc;

	rc = replay_is_database(path) ? read_database(&bank, &own, path, e)
				      : curve_file_load(&bank, path, metric, e);
	if (rc != 0)
		return -1;
	curve_notes_put(&notes, &bank, own.maximize, path);
	if (bank.last_step > bank.max_steps)
		replay_tune_note_beyond(
		    &notes, path, bank.last_step, bank.max_steps);
	cli_print_notes(&notes);
	buf_free(&notes);
	policy_search_run(t, &bank, &own);
	if (halves != NULL && bank.n >= POLICY_SEARCH_HALVES)
		policy_search_halves(halves, &bank, &own);
	curve_file_free(&bank);
	return 0;
}

static void
cell_format(struct table *table, const char *format, double v)
{
	char *text = xasprintf(format, v);

	table_cell(table, text, TABLE_PLAIN);
	free(text);
}

static void
put_row(struct table *table, const struct policy_setting *p, const char *mark)
{
	table_cell(table, mark, TABLE_PLAIN);
	table_cell(table, p->value, TABLE_PLAIN);
	table_cell(table, p->reference, TABLE_PLAIN);
	table_cell(table, p->completed ? "completed" : "reached", TABLE_PLAIN);
	cell_format(table, "%.0f", p->percentile);
	cell_format(table, "%.0f", p->min_trials);
	cell_format(table, "%.0f%%", p->warmup);
	table_cell(table, p->guard ? "yes" : "no", TABLE_PLAIN);
	cell_format(table, "%.1f %%", 100 * policy_grid_means(p).saved);
	cell_format(table, "%.3f", policy_grid_means(p).killed);
	cell_format(table, "%.2f %%", 100 * policy_grid_means(p).regret);
}

static struct table *
table_begin(void)
{
	static const char *const left[] = { "", "value", "reference", "pool" };
	static const char *const right[] = { "percentile", "min_trials",
		"warmup_steps", "guard", "saved", "killed best", "regret" };
	struct table *table = table_new();
	size_t i;

	for (i = 0; i < sizeof left / sizeof *left; i++)
		table_column(table, left[i], TABLE_LEFT);
	for (i = 0; i < sizeof right / sizeof *right; i++)
		table_column(table, right[i], TABLE_RIGHT);
	return table;
}

/* The settings, ordered by increasing savings and kills. */
static int
order_saved(const void *a, const void *b)
{
	double x =
	    policy_grid_means(*(const struct policy_setting *const *)a).saved;
	double y =
	    policy_grid_means(*(const struct policy_setting *const *)b).saved;

	return (x > y) - (x < y);
}

/* Put the best ones into list; returns their number. */
static size_t
list_best(const struct policy_grid *t, const struct policy_setting **list)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		if (t->policies[i].best)
			list[n++] = &t->policies[i];
	qsort(list, n, sizeof *list, order_saved);
	return n;
}

/*
 * The grids of a run: of all curves, and of each half of several files, or of
 * the curves of one.
 */
struct tuning {
	struct policy_grid all, halves[2];
	bool several; /* files */
	bool halved; /* the halves have studies */
	const struct policy_setting *use;
	struct policy_held held;
};

static void
held_put_figures(struct buf *out, const struct policy_setting *p)
{
	buf_printf(out, "saved %.1f %%, killed %.3f",
	    100 * policy_grid_means(p).saved, policy_grid_means(p).killed);
}

/* How the choice did on files that it was not chosen on. */
static void
held_put(struct buf *out, const struct tuning *t)
{
	const struct policy_held *v = &t->held;

	if (!t->halved) {
		buf_printf(out,
		    "Chosen on these curves alone: verify it on other files "
		    "with --rule (fewer than %d are not halved).\n",
		    POLICY_SEARCH_HALVES);
		return;
	}
	if (v->chosen != NULL) {
		buf_printf(out, "Chosen on one half of the %s (",
		    t->several ? "files" : "curves");
		held_put_figures(out, v->chosen);
		buf_puts(out, "); on the other half: ");
		held_put_figures(out, v->held);
		buf_puts(out, ".\n");
		return;
	}
	buf_printf(out, "What was best on one half of the %s (",
	    t->several ? "files" : "curves");
	held_put_figures(out, v->lost);
	buf_puts(out, ") lost too many on the other (");
	held_put_figures(out, v->lost_held);
	buf_puts(out, "), so median remains as it is.\n");
}

static void
put_text(struct buf *out, struct tuning *tuning, const struct cli *cli)
{
	const struct policy_grid *t = &tuning->all;
	const struct policy_setting *use = tuning->use;
	const struct policy_setting **list = xcalloc(t->n, sizeof *list);
	struct table *table = table_begin();
	size_t i, n = list_best(t, list);

	put_row(table, &t->policies[0], "median");
	for (i = 0; i < n; i++)
		if (!list[i]->as_is)
			put_row(table, list[i], list[i] == use ? "use" : "");
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	free(list);
	buf_printf(out, "\n%zu settings on %lld studies.\n", t->n,
	    (long long)use->sum.studies);
	held_put(out, tuning);
	buf_puts(out, "For study.json:\n\n\"stopping\": ");
	policy_grid_put_rule(out, use);
	buf_putc(out, '\n');
}

static void
put_policy(
    struct json_writer *w, const char *key, const struct policy_setting *p)
{
	json_writer_object(w, key);
	policy_grid_put_rule(json_writer_value(w, "rule"), p);
	json_writer_number(w, "saved", policy_grid_means(p).saved);
	json_writer_number(w, "killed_best", policy_grid_means(p).killed);
	json_writer_number(w, "regret", policy_grid_means(p).regret);
	json_writer_end(w);
}

static void
tune_put_json(struct buf *out, const struct tuning *tuning)
{
	const struct policy_grid *t = &tuning->all;
	const struct policy_setting *use = tuning->use;
	const struct policy_setting **list = xcalloc(t->n, sizeof *list);
	struct json_writer w = { .out = out };
	size_t i, n = list_best(t, list);

	json_writer_object(&w, NULL);
	policy_grid_put_rule(json_writer_value(&w, "stopping"), use);
	json_writer_integer(&w, "settings", (int64_t)t->n);
	json_writer_integer(&w, "studies", use->sum.studies);
	json_writer_line(&w);
	put_policy(&w, "median", &t->policies[0]);
	json_writer_line(&w);
	if (tuning->halved && tuning->held.chosen != NULL) {
		put_policy(&w, "chosen", tuning->held.chosen);
		json_writer_line(&w);
		put_policy(&w, "held_out", tuning->held.held);
		json_writer_line(&w);
	}
	json_writer_array(&w, "best");
	for (i = 0; i < n; i++) {
		if (i == 0)
			buf_putc(out, '\n');
		json_writer_line(&w);
		put_policy(&w, NULL, list[i]);
	}
	json_writer_end(&w);
	json_writer_end(&w);
	buf_putc(out, '\n');
	free(list);
}

/*
 * The choice on all curves of one file, unless what is chosen on a half of them
 * loses too many on the other, whichever half it is.
 */
static void
tune_choose_one(struct tuning *t)
{
	const struct policy_setting *use = policy_grid_choose(&t->all);

	t->use = use;
	t->halved = t->halves[0].policies->sum.studies > 0;
	if (!t->halved)
		return;
	t->use = policy_grid_validate(&t->held, &t->all, t->halves);
	if (t->held.chosen != NULL)
		t->use = use;
}

/* All files; with several, the figures of each half are kept apart. */
static int
tune_files(struct tuning *t, const struct cli *cli,
    const struct replay_plan *plan, struct err *e)
{
	const char *metric = cli_value(cli, "metric");
	int i, rc = 0;

	t->several = t->halved = cli->n_operands > 1;
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = replay_tune_file(t->several ? &t->halves[i % 2] : &t->all,
		    t->several ? NULL : t->halves, plan, cli->operands[i],
		    metric, e);
	if (rc != 0)
		return -1;
	if (!t->several) {
		tune_choose_one(t);
		return 0;
	}
	policy_grid_add(&t->all, &t->halves[0]);
	policy_grid_add(&t->all, &t->halves[1]);
	t->use = policy_grid_validate(&t->held, &t->all, t->halves);
	/* It is in the table also when another one is better on all files. */
	t->all.policies[t->use - t->all.policies].best = true;
	return 0;
}

/* The whole command; returns its exit status. */
static int
replay_tune_run(struct cli *cli, const struct replay_plan *plan)
{
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	struct tuning tuning = { .use = NULL };
	int i, status;

	if (cli_has(cli, "rule")) {
		(void)err_set(&e, ERR_USAGE,
		    "replay: --tune has rules of its own: omit --rule");
		return cli_fail(&e);
	}
	policy_grid_open(&tuning.all);
	for (i = 0; i < 2; i++)
		policy_grid_open(&tuning.halves[i]);
	if (tune_files(&tuning, cli, plan, &e) == 0) {
		if (cli->json)
			tune_put_json(&out, &tuning);
		else
			put_text(&out, &tuning, cli);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	policy_grid_close(&tuning.all);
	for (i = 0; i < 2; i++)
		policy_grid_close(&tuning.halves[i]);
	return status;
}

/* ---- the command --------------------------------------------------------- */

/* Without --rule: each rule with its defaults, and these variants. */
static const struct {
	const char *rule, *text;
} variants[] = {
	{ "median", "{\"rule\": \"median\", \"warmup_steps\": \"10%\"}" },
	{ "median", "{\"rule\": \"median\", \"guard\": false}" },
	{ "optuna", "{\"rule\": \"optuna\", \"n_warmup_steps\": 5}" },
	{ "ray", "{\"rule\": \"ray\", \"grace_period\": 5}" },
};

struct replay {
	struct replay_rule **rules;
	struct replay_sum *sums; /* [rule] */
	size_t n;
	bool all; /* the default list, not chosen by the user */
	struct buf notes;
	struct replay_plan plan;
	const char *metric; /* of files; or NULL */
	struct replay_charts *charts; /* [rule]; NULL = not wanted */
};

static int
rule_add(struct replay *r, const char *text, struct err *e)
{
	r->rules = xreallocarray(r->rules, r->n + 1, sizeof *r->rules);
	if (replay_rule_read(&r->rules[r->n], text, e) != 0)
		return err_add(e, "replay");
	r->n++;
	return 0;
}

/* Whether the rule can be opened, and why not. */
static bool
rule_opens(const struct replay_rule *rule, const struct stopper_env *env,
    struct err *e)
{
	struct stop_rule_set *set;

	if (replay_rule_open(&set, rule, env, e) != 0)
		return false;
	stop_rule_set_free(set);
	return true;
}

/* All rules that work with their defaults, and the variants. */
static int
rules_all(struct replay *r, struct err *e)
{
	const struct stopper_env env = { .max_steps = 100, .study = "replay" };
	struct err unused = ERR_INIT;
	size_t i, k;

	r->all = true;
	for (i = 0; stoppers[i] != NULL; i++) {
		if (rule_add(r, stoppers[i]->name, e) != 0)
			return -1;
		if (!rule_opens(r->rules[r->n - 1], &env, &unused))
			replay_rule_free(r->rules[--r->n]);
		for (k = 0; k < sizeof variants / sizeof *variants; k++)
			if (strcmp(variants[k].rule, stoppers[i]->name) == 0 &&
			    rule_add(r, variants[k].text, e) != 0)
				return -1;
	}
	return 0;
}

/* All studies of all rules; trials of those that the user chose, or median. */
static void
charts_open(struct replay *r)
{
	size_t i;

	r->charts = xcalloc(r->n + 1, sizeof *r->charts);
	for (i = 0; i < r->n; i++) {
		r->charts[i].rows = !r->all || i == 0;
		r->sums[i].charts = &r->charts[i];
	}
}

static void
charts_close(struct replay *r)
{
	size_t i;

	for (i = 0; r->charts != NULL && i < r->n; i++)
		replay_charts_free(&r->charts[i]);
	free(r->charts);
}

/* Write what --output and --chart ask for. */
static int
charts_put(const struct replay *r, struct buf *out, const struct cli *cli,
    struct err *e)
{
	const char **texts;
	size_t i;
	int rc = 0;

	if (r->charts == NULL)
		return 0;
	texts = xcalloc(r->n + 1, sizeof *texts);
	for (i = 0; i < r->n; i++)
		texts[i] = replay_rule_text(r->rules[i]);
	if (cli_has(cli, "output"))
		rc = replay_chart_write(
		    cli_value(cli, "output"), r->charts, texts, r->n, e);
	if (rc == 0 && !cli->json && cli_has(cli, "chart"))
		replay_chart_put(out, r->charts, texts, r->n, cli);
	free(texts);
	return rc;
}

static int
rules_read(struct replay *r, const struct cli *cli, struct err *e)
{
	const char *text;
	size_t i;
	int rc = 0;

	if (!cli_has(cli, "rule"))
		rc = rules_all(r, e);
	else
		for (i = 0;
		     rc == 0 && (text = cli_value_nth(cli, "rule", i)) != NULL;
		     i++)
			rc = rule_add(r, text, e);
	r->sums = xcalloc(r->n + 1, sizeof *r->sums);
	if (cli_has(cli, "chart") || cli_has(cli, "output"))
		charts_open(r);
	return rc;
}

static int
plan_read(struct replay_plan *p, const struct cli *cli, struct err *e)
{
	const char *goal = cli_value(cli, "goal");
	/* With --tune, enough studies to know the kill rate to one percent. */
	int64_t seed, seeds = cli_has(cli, "tune") ? 100 : 20;

	p->maximize = false;
	if (goal != NULL && !goal_parse(goal, &p->maximize))
		return err_set(e, ERR_USAGE,
		    "replay: --goal: expected minimize or maximize, not "
		    "%s",
		    goal);
	p->value_last = cli_has(cli, "last");
	if (cli_integer(cli, "workers", 1, 100000, 8, &p->workers, e) != 0 ||
	    cli_integer(cli, "trials", 1, 10000000, 100, &p->trials, e) != 0 ||
	    cli_integer(cli, "seeds", 1, 1000000, seeds, &p->seeds, e) != 0 ||
	    cli_integer(cli, "seed", 0, INT64_MAX, 1, &seed, e) != 0)
		return -1;
	p->seed = (uint64_t)seed;
	return 0;
}

/* A rule of the default list that this study cannot use is omitted. */
static int
replay_rules(
    struct replay *r, struct store *store, const char *path, struct err *e)
{
	struct err why = ERR_INIT;
	bool some = false;
	size_t i;

	for (i = 0; i < r->n; i++)
		if (replay_recorded(&r->sums[i], store, r->rules[i], &why) == 0)
			some = true;
		else if (r->all && why.kind == ERR_USAGE &&
			 (some || i + 1 < r->n))
			buf_printf(&r->notes, "%s: without %s: %s\n", path,
			    replay_rule_text(r->rules[i]), why.text);
		else {
			*e = why;
			return -1;
		}
	return 0;
}

static int
replay_database(struct replay *r, const char *path, struct err *e)
{
	struct replay_sum *first = r->sums;
	struct store *store;
	int64_t trials = first->trials, reports = first->reports;
	int rc;

	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	first->beyond = 0;
	rc = replay_rules(r, store, path, e);
	store_close(store);
	trials = first->trials - trials;
	reports = first->reports - reports;
	if (rc == 0) {
		curve_notes_put_few(&r->notes, (size_t)trials, path);
		curve_notes_put_single(
		    &r->notes, (size_t)trials, (size_t)reports, path);
	}
	if (rc == 0 && first->beyond > 0)
		replay_tune_note_beyond(
		    &r->notes, path, first->beyond, first->max_steps);
	return rc;
}

static int
replay_file(struct replay *r, const char *path, struct err *e)
{
	struct curve_file bank;
	size_t i;
	int rc = 0;

	for (i = 0; r->charts != NULL && i < r->n; i++)
		replay_charts_begin(&r->charts[i], path);
	if (replay_is_database(path))
		return replay_database(r, path, e);
	if (curve_file_load(&bank, path, r->metric, e) == -1)
		return -1;
	curve_notes_put(&r->notes, &bank, r->plan.maximize, path);
	for (i = 0; i < r->n && rc == 0; i++)
		rc = replay_simulate(
		    &r->sums[i], &bank, &r->plan, r->rules[i], e);
	curve_file_free(&bank);
	return rc;
}

static double
mean_of(const struct replay_sum *s, double total)
{
	return total / (double)s->studies;
}

static void
cell_share(struct table *table, double share, const char *format)
{
	char *text = xasprintf(format, share);

	table_cell(table, text, TABLE_PLAIN);
	free(text);
}

static void
put_table(struct buf *out, const struct replay *r, const struct cli *cli)
{
	struct table *table = table_new();
	const struct replay_sum *s;
	size_t i;

	table_column(table, "rule", TABLE_LEFT);
	table_column(table, "studies", TABLE_RIGHT);
	table_column(table, "stopped", TABLE_RIGHT);
	table_column(table, "saved", TABLE_RIGHT);
	table_column(table, "killed best", TABLE_RIGHT);
	table_column(table, "regret", TABLE_RIGHT);
	table_column(table, "net saved", TABLE_RIGHT);
	table_column(table, "killed after", TABLE_RIGHT);
	table_column(table, "regret after", TABLE_RIGHT);
	for (i = 0; i < r->n; i++) {
		s = &r->sums[i];
		if (s->studies == 0)
			continue;
		table_cell(table, replay_rule_text(r->rules[i]), TABLE_PLAIN);
		table_cell_real(table, (double)s->studies, 15);
		cell_share(table, 100 * (double)s->stopped / (double)s->trials,
		    "%.0f %%");
		cell_share(table, 100 * mean_of(s, s->saved), "%.1f %%");
		cell_share(table, mean_of(s, (double)s->killed), "%.3f");
		cell_share(table, 100 * mean_of(s, s->regret), "%.2f %%");
		cell_share(table, 100 * mean_of(s, s->looked.saved), "%.1f %%");
		cell_share(table, mean_of(s, (double)s->looked.killed), "%.3f");
		cell_share(
		    table, 100 * mean_of(s, s->looked.regret), "%.2f %%");
	}
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
}

/* The same after the second look. */
static void
put_looked(struct json_writer *w, const struct replay_sum *s)
{
	const struct replay_looked *l = &s->looked;

	json_writer_object(w, "second_look");
	json_writer_integer(w, "resumed", l->resumed);
	json_writer_number(w, "saved", mean_of(s, l->saved));
	json_writer_number(w, "killed_best", mean_of(s, (double)l->killed));
	json_writer_number(w, "regret", mean_of(s, l->regret));
	json_writer_number(w, "hindsight", mean_of(s, l->hurt));
	json_writer_end(w);
}

static void
put_json(struct buf *out, const struct replay *r)
{
	struct json_writer w = { .out = out };
	const struct replay_sum *s;
	size_t i;

	json_writer_array(&w, NULL);
	for (i = 0; i < r->n; i++) {
		s = &r->sums[i];
		if (s->studies == 0)
			continue;
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_text(&w, "rule", replay_rule_text(r->rules[i]));
		json_writer_integer(&w, "studies", s->studies);
		json_writer_integer(&w, "trials", s->trials);
		json_writer_integer(&w, "stopped", s->stopped);
		json_writer_integer(&w, "reports", s->reports);
		json_writer_integer(&w, "skipped", s->skipped);
		json_writer_number(&w, "saved", mean_of(s, s->saved));
		json_writer_number(
		    &w, "killed_best", mean_of(s, (double)s->killed));
		json_writer_number(&w, "regret", mean_of(s, s->regret));
		put_looked(&w, s);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	buf_putc(out, '\n');
}

static int
replay_run(struct cli *cli)
{
	struct replay r = { 0 };
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	int i, status, rc;
	size_t k;

	r.metric = cli_value(cli, "metric");
	rc = plan_read(&r.plan, cli, &e);
	if (rc == 0 && cli_has(cli, "tune"))
		return replay_tune_run(cli, &r.plan);
	if (rc == 0)
		rc = rules_read(&r, cli, &e);
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = replay_file(&r, cli->operands[i], &e);
	if (rc == 0) {
		if (cli->json)
			put_json(&out, &r);
		else
			put_table(&out, &r, cli);
		rc = charts_put(&r, &out, cli, &e);
	}
	if (rc == 0) {
		cli_print_notes(&r.notes);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	if (rc != 0)
		buf_free(&out);
	buf_free(&r.notes);
	charts_close(&r);
	for (k = 0; k < r.n; k++)
		replay_rule_free(r.rules[k]);
	free(r.rules);
	free(r.sums);
	return status;
}

/* Where a study.json is named, its database takes its place; owned by names. */
static int
operands_resolve(struct cli *cli, struct strv *names, struct err *e)
{
	struct cli_study found;
	const char *end;
	int i;

	for (i = 0; i < cli->n_operands; i++) {
		end = strrchr(cli->operands[i], '.');
		if (end == NULL || strcmp(end, ".json") != 0)
			continue;
		if (cli_find_named(&found, cli->operands[i], e) != 0)
			return -1;
		strv_add(names, xstrdup(found.db));
		cli->operands[i] = names->v[names->n - 1];
		cli_study_fini(&found);
	}
	return 0;
}

static int
replay_command(struct cli *cli)
{
	struct strv names = { 0 };
	struct err e = ERR_INIT;
	int status;

	if (operands_resolve(cli, &names, &e) == 0)
		status = replay_run(cli);
	else
		status = cli_fail(&e);
	strv_free(names.v);
	return status;
}

static const struct cli_option replay_options[] = {
	{ "rule", 0, "RULE",
	    "a rule's name or its JSON block; may be repeated (all rules)" },
	{ "tune", 0, NULL,
	    "try hundreds of settings of median and print the best ones" },
	{ "workers", 'w', "N", "trials at a time, drawn from CSV curves (8)" },
	{ "trials", 'n', "N", "trials of a study drawn from CSV curves (100)" },
	{ "seeds", 0, "N",
	    "studies drawn from each CSV file (20; --tune: 100)" },
	{ "seed", 0, "N", "seed of the random draws (1)" },
	{ "goal", 0, "GOAL", "of CSV curves: minimize or maximize (minimize)" },
	{ "chart", 0, NULL,
	    "draw all studies, and which trials of the first are stopped" },
	{ "output", 'o', "FILE", "write a page with the curves of that study" },
	{ "metric", 0, "NAME",
	    "of CSV and event files: the column or the tag of the curves" },
	{ "last", 0, NULL,
	    "of CSV curves: the last report is the result, not the best" },
	{ NULL },
};

const struct cli_command cmd_replay = {
	.name = "replay",
	.args = "FILE...",
	.about = "apply stopping rules to recorded curves",
	.options = replay_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = replay_command,
};
