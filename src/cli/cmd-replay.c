/* hpotune replay: what rules would have saved, killed and cost. */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/table.h"
#include "src/cli/replay/curve-notes.h"
#include "src/cli/replay/replay-chart.h"
#include "src/cli/replay/replay-page.h"
#include "src/cli/replay/replay-tune.h"
#include "src/model/goal.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/replay.h"
#include "src/store/store.h"
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
	struct curve_file curves;
	size_t i;
	int rc = 0;

	for (i = 0; r->charts != NULL && i < r->n; i++)
		replay_charts_begin(&r->charts[i], path);
	if (replay_tune_is_database(path))
		return replay_database(r, path, e);
	if (curve_file_load(&curves, path, r->metric, e) == -1)
		return -1;
	curve_notes_put(&r->notes, &curves, r->plan.maximize, path);
	for (i = 0; i < r->n && rc == 0; i++)
		rc = replay_simulate(
		    &r->sums[i], &curves, &r->plan, r->rules[i], e);
	curve_file_free(&curves);
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
		cell_share(table, 100 * replay_mean_of(s, s->saved), "%.1f %%");
		cell_share(table, replay_mean_of(s, (double)s->killed), "%.3f");
		cell_share(
		    table, 100 * replay_mean_of(s, s->regret), "%.2f %%");
		cell_share(
		    table, 100 * replay_mean_of(s, s->looked.saved), "%.1f %%");
		cell_share(
		    table, replay_mean_of(s, (double)s->looked.killed), "%.3f");
		cell_share(table, 100 * replay_mean_of(s, s->looked.regret),
		    "%.2f %%");
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
	json_writer_number(w, "saved", replay_mean_of(s, l->saved));
	json_writer_number(
	    w, "killed_best", replay_mean_of(s, (double)l->killed));
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
			replay_put_json(&out, &r);
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
