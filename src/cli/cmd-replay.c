/* hpotune replay: what rules would have saved, killed and cost. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/replay/curve-notes.h"
#include "src/cli/replay/replay-chart.h"
#include "src/cli/replay/replay-page.h"
#include "src/cli/replay/replay-tune.h"
#include "src/model/goal.h"
#include "src/replay/curve-file.h"
#include "src/replay/replay-presets.h"
#include "src/replay/replay.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/table.h"
#include "strategies/stopper.h"

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
	bool presets; /* that of replay_presets */
	size_t n_ran; /* rules that a database could use */
	struct err refused; /* why one could not use the last rule */
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
		rc = replay_page_write(
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

	r->presets = cli_has(cli, "presets");
	if (r->presets && cli_has(cli, "rule"))
		return err_set(e, ERR_USAGE,
		    "replay: --presets is a list of rules, so --rule has no "
		    "meaning beside it");
	if (r->presets)
		for (i = 0; rc == 0 && replay_presets[i] != NULL; i++)
			rc = rule_add(r, replay_presets[i], e);
	else if (!cli_has(cli, "rule"))
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
	/* Enough studies to know the kill rate to one percent. */
	int64_t seed,
	    seeds = cli_has(cli, "tune") || cli_has(cli, "presets") ? 100 : 20;

	p->maximize = false;
	if (goal != NULL && !goal_parse(goal, &p->maximize))
		return err_set(e, ERR_USAGE,
		    "replay: --goal: expected minimize or maximize, not "
		    "%s",
		    goal);
	p->value_last = cli_has(cli, "last");
	p->own_steps = cli_has(cli, "own-steps");
	if (cli_integer(cli, "workers", 1, 100000, 8, &p->workers, e) != 0 ||
	    cli_integer(cli, "trials", 1, 10000000, 100, &p->trials, e) != 0 ||
	    cli_integer(cli, "seeds", 1, 1000000, seeds, &p->seeds, e) != 0 ||
	    cli_integer(cli, "seed", 0, INT64_MAX, 1, &seed, e) != 0)
		return -1;
	p->seed = (uint64_t)seed;
	return 0;
}

/* One file that is replayed: curves in memory, or a study's database. */
struct source {
	const char *path;
	bool is_database;
	struct curve_file curves;
	struct replay_plan plan; /* with its own goal */
};

/* A rule of the default list that this study cannot use is omitted. */
static int
replay_database(struct replay *r, const char *path, size_t i, struct err *e)
{
	struct err why = ERR_INIT;
	struct store *store;
	int rc;

	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = replay_recorded(&r->sums[i], store, r->rules[i], &why);
	store_close(store);
	if (rc == 0) {
		r->n_ran++;
		return 0;
	}
	if (r->all && why.kind == ERR_USAGE) {
		r->refused = why;
		buf_printf(&r->notes, "%s: without %s: %s\n", path,
		    replay_rule_text(r->rules[i]), why.text);
		return 0;
	}
	*e = why;
	return -1;
}

/* What the first rule has found out about the curves of a study. */
static void
database_notes(
    struct replay *r, const char *path, int64_t trials, int64_t reports)
{
	const struct replay_sum *first = r->sums;

	trials = first->trials - trials;
	reports = first->reports - reports;
	curve_notes_put_few(&r->notes, (size_t)trials, path);
	curve_notes_put_single(
	    &r->notes, (size_t)trials, (size_t)reports, path);
	if (first->beyond > 0)
		replay_tune_note_beyond(
		    &r->notes, path, first->beyond, first->max_steps);
}

/* Rule i of the list on one file. */
static int
replay_source(
    struct replay *r, const struct source *from, size_t i, struct err *e)
{
	struct replay_sum *sum = &r->sums[i];
	int64_t trials = sum->trials, reports = sum->reports;

	if (r->charts != NULL)
		replay_charts_begin(&r->charts[i], from->path);
	if (!from->is_database)
		return replay_simulate(
		    sum, &from->curves, &from->plan, r->rules[i], e);
	sum->beyond = 0;
	if (replay_database(r, from->path, i, e) != 0)
		return -1;
	if (i == 0)
		database_notes(r, from->path, trials, reports);
	return 0;
}

static int
source_open(
    struct source *from, struct replay *r, const char *path, struct err *e)
{
	int rc;

	*from = (struct source){ .path = path,
		.is_database = replay_tune_is_database(path),
		.plan = r->plan };
	if (from->is_database && !r->presets)
		return 0;
	if (from->is_database)
		rc = replay_tune_load(&from->curves, &from->plan, path, e);
	else
		rc = curve_file_load(&from->curves, path, r->metric, e);
	if (rc == -1)
		return -1;
	if (!from->is_database && r->plan.own_steps)
		rc = curve_file_stretch(&from->curves, path, e);
	from->is_database = false;
	if (rc == 0)
		curve_notes_put(
		    &r->notes, &from->curves, from->plan.maximize, path);
	return rc;
}

static double
replay_mean_of(const struct replay_sum *s, double total)
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

/*
 * The table with its columns as wide as the rules and usual figures, without
 * rows: a row is printed when its rule ends.
 */
static struct table *
replay_table_open(const struct replay *r)
{
	static const char *const heads[] = { "studies", "stopped", "saved",
		"killed best", "regret", "net saved", "killed after",
		"regret after", NULL };
	struct table *table = table_new();
	size_t i, k;

	table_column(table, "rule", TABLE_LEFT);
	for (k = 0; heads[k] != NULL; k++)
		table_column(table, heads[k], TABLE_RIGHT);
	for (i = 0; i < r->n; i++) {
		table_cell(table, replay_rule_text(r->rules[i]), TABLE_PLAIN);
		for (k = 0; heads[k] != NULL; k++)
			table_cell(table, "0.00 %", TABLE_PLAIN);
	}
	table_drop_rows(table);
	return table;
}

static void
replay_table_add(struct table *table, const struct replay *r, size_t i)
{
	const struct replay_sum *s = &r->sums[i];

	table_cell(table, replay_rule_text(r->rules[i]), TABLE_PLAIN);
	table_cell_real(table, (double)s->studies, 15);
	cell_share(
	    table, 100 * (double)s->stopped / (double)s->trials, "%.0f %%");
	cell_share(table, 100 * replay_mean_of(s, s->saved), "%.1f %%");
	cell_share(table, replay_mean_of(s, (double)s->killed), "%.3f");
	cell_share(table, 100 * replay_mean_of(s, s->regret), "%.2f %%");
	cell_share(table, 100 * replay_mean_of(s, s->looked.saved), "%.1f %%");
	cell_share(table, replay_mean_of(s, (double)s->looked.killed), "%.3f");
	cell_share(table, 100 * replay_mean_of(s, s->looked.regret), "%.2f %%");
}

/* The same after the second look. */
static void
put_looked(struct json_writer *w, const struct replay_sum *s)
{
	const struct replay_looked *l = &s->looked;
	double low, high;

	json_writer_object(w, "second_look");
	json_writer_integer(w, "resumed", l->resumed);
	json_writer_number(w, "saved", replay_mean_of(s, l->saved));
	json_writer_number(
	    w, "killed_best", replay_mean_of(s, (double)l->killed));
	replay_lost_interval(s, &low, &high);
	json_writer_number(w, "killed_low", low);
	json_writer_number(w, "killed_high", high);
	json_writer_number(w, "regret", replay_mean_of(s, l->regret));
	json_writer_number(w, "hindsight", replay_mean_of(s, l->hurt));
	json_writer_end(w);
}

static void
replay_put_json(struct buf *out, const struct replay *r)
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
		json_writer_number(&w, "saved", replay_mean_of(s, s->saved));
		json_writer_number(
		    &w, "killed_best", replay_mean_of(s, (double)s->killed));
		json_writer_number(&w, "regret", replay_mean_of(s, s->regret));
		put_looked(&w, s);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	buf_putc(out, '\n');
}

/* Every rule on every file; of a table, a row as each rule ends. */
static int
replay_rules_run(struct replay *r, const struct source *from, size_t n,
    const struct cli *cli, struct err *e)
{
	struct table *table = replay_table_open(r);
	struct buf row = { 0 };
	bool heads = true;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < r->n && rc == 0; i++) {
		for (k = 0; k < n && rc == 0; k++)
			rc = replay_source(r, &from[k], i, e);
		if (rc != 0 || cli->json || r->sums[i].studies == 0)
			continue;
		replay_table_add(table, r, i);
		table_put(&row, table, cli->width, cli->colour, heads);
		table_drop_rows(table);
		heads = false;
		(void)cli_print(&row);
		(void)fflush(stdout);
	}
	table_free(table);
	if (rc == 0 && r->refused.kind != ERR_NONE && r->n_ran == 0) {
		*e = r->refused;
		return -1;
	}
	return rc;
}

static int
replay_run(struct cli *cli)
{
	struct replay r = { .refused = ERR_INIT };
	struct source *from;
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	int i, status, rc;
	size_t k;

	r.metric = cli_value(cli, "metric");
	rc = plan_read(&r.plan, cli, &e);
	if (rc == 0 && cli_has(cli, "tune"))
		return replay_tune_run(cli, &r.plan);
	from = xcalloc((size_t)cli->n_operands + 1, sizeof *from);
	if (rc == 0)
		rc = rules_read(&r, cli, &e);
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = source_open(&from[i], &r, cli->operands[i], &e);
	if (rc == 0)
		rc = replay_rules_run(
		    &r, from, (size_t)cli->n_operands, cli, &e);
	if (rc == 0 && cli->json)
		replay_put_json(&out, &r);
	else if (rc == 0 && r.presets)
		replay_presets_put(&out, r.sums, r.n);
	if (rc == 0)
		rc = charts_put(&r, &out, cli, &e);
	if (rc == 0) {
		cli_print_notes(&r.notes);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	if (rc != 0)
		buf_free(&out);
	buf_free(&r.notes);
	charts_close(&r);
	for (i = 0; i < cli->n_operands; i++)
		curve_file_free(&from[i].curves);
	free(from);
	for (k = 0; k < r.n; k++)
		replay_rule_free(r.rules[k]);
	free(r.rules);
	free(r.sums);
	return status;
}

/*
 * Where a study.json is named, its database takes its place; owned by names.
 * "-" is the standard input.
 */
static int
operands_resolve(struct cli *cli, struct strv *names, struct err *e)
{
	struct study_files found;
	const char *end;
	int i;

	for (i = 0; i < cli->n_operands; i++) {
		if (strcmp(cli->operands[i], "-") == 0)
			cli->operands[i] = "/dev/stdin";
		end = strrchr(cli->operands[i], '.');
		if (end == NULL || strcmp(end, ".json") != 0)
			continue;
		if (study_files_find(&found, cli->operands[i], NULL, e) != 0)
			return -1;
		strv_add(names, xstrdup(found.db));
		cli->operands[i] = names->v[names->n - 1];
		study_files_fini(&found);
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
	{ "presets", 0, NULL,
	    "which of begun, short and careful suits the curves best" },
	{ "tune", 0, NULL,
	    "try hundreds of settings of median and print the best ones" },
	{ "workers", 'w', "N", "trials at a time, drawn from CSV curves (8)" },
	{ "trials", 'n', "N", "trials of a study drawn from CSV curves (100)" },
	{ "seeds", 0, "N",
	    "studies drawn from each CSV file (20; --tune, --presets: 100)" },
	{ "seed", 0, "N", "seed of the random draws (1)" },
	{ "goal", 0, "GOAL", "of CSV curves: minimize or maximize (minimize)" },
	{ "chart", 0, NULL,
	    "draw all studies, and which trials of the first are stopped" },
	{ "output", 'o', "FILE", "write a page with the curves of that study" },
	{ "metric", 0, "NAME",
	    "of CSV and event files: the column or the tag of the curves" },
	{ "own-steps", 0, NULL,
	    "of CSV curves: each ends a whole trial; compare equal shares" },
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
