/*
 * hpotune check: read study.json as "start" would, and print the plan.  Runs
 * nothing and creates nothing.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/plan.h"
#include "src/cli/running.h"
#include "src/cli/table.h"
#include "src/model/options.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/plugs.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/launcher.h"

static void
param_put_values(struct buf *out, const struct param *p)
{
	size_t i;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		for (i = 0; i < p->n_values; i++) {
			buf_puts(out, i > 0 ? ", " : "");
			value_put(out, &p->values[i]);
		}
		return;
	}
	buf_printf(out, "%.15g to %.15g", p->min, p->max);
	if (p->step != 0 && !(p->type == PARAM_INT && p->step == 1))
		buf_printf(out, " by %.15g", p->step);
}

static void
param_put_when(
    struct buf *out, const struct space *space, const struct param *p)
{
	size_t i;

	if (p->parent < 0)
		return;
	buf_printf(out, "when %s is ", space->params[p->parent].name);
	for (i = 0; i < p->n_when; i++) {
		buf_puts(out, i > 0 ? " or " : "");
		value_put(out, &p->when[i]);
	}
}

static void
params_put(struct buf *out, const struct space *space, const struct cli *cli)
{
	static const char *const types[] = { [PARAM_FLOAT] = "float",
		[PARAM_INT] = "int",
		[PARAM_CHOICE] = "choice",
		[PARAM_FIXED] = "fixed" };
	static const char *const scales[] = { [SCALE_LINEAR] = "",
		[SCALE_LOG] = "log",
		[SCALE_REVERSE_LOG] = "reverse-log" };
	struct table *table = table_new();
	struct buf text = { 0 };
	size_t i;

	table_column(table, "parameter", TABLE_LEFT);
	table_column(table, "type", TABLE_LEFT);
	table_column(table, "values", TABLE_SHRINK);
	table_column(table, "scale", TABLE_LEFT);
	table_column(table, "condition", TABLE_SHRINK);
	for (i = 0; i < space->n; i++) {
		table_cell(table, space->params[i].name, TABLE_PLAIN);
		table_cell(table, types[space->params[i].type], TABLE_PLAIN);
		buf_clear(&text);
		param_put_values(&text, &space->params[i]);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
		table_cell(table, scales[space->params[i].scale], TABLE_PLAIN);
		buf_clear(&text);
		param_put_when(&text, space, &space->params[i]);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
	}
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	buf_free(&text);
}

static void
rules_put(struct buf *out, const struct plugs *plugs)
{
	size_t i;

	for (i = 0; i < plugs->n_rules; i++)
		buf_printf(out, "%s%s%s", i > 0 ? ", " : "",
		    plugs->rules[i].stopper->name,
		    plugs->rules[i].veto ? " (veto)" : "");
}

static void
backends_put(struct buf *out, const struct plugs *plugs)
{
	size_t i;

	for (i = 0; i < plugs->n_backends; i++)
		buf_printf(out, "%s%s", i > 0 ? ", then " : "",
		    plugs->backends[i].launcher->name);
}

static void
worst_put(struct buf *out, const struct plan *plan)
{
	if (plan->worst_ms < 0) {
		buf_puts(out, "no bound: limits.wall_time or trial.max_run "
			      "would give one");
		return;
	}
	buf_puts(out, "at most ");
	duration_put(out, plan->worst_ms);
	if (plan->study->limits.wall_time_ms > 0 &&
	    plan->worst_ms ==
		plan->study->limits.wall_time_ms + plan->study->trial.grace_ms)
		buf_puts(out, " (limits.wall_time and one grace)");
	else
		buf_puts(out, " (every attempt takes all its time)");
}

static void
trials_put(struct buf *out, const struct plan *plan)
{
	if (plan->trials == 0)
		buf_puts(out, "until a limit is reached");
	else
		buf_printf(out, "%" PRId64, plan->trials);
	if (plan->exhausted)
		buf_puts(out, ": then the strategy has tried everything");
	if (plan->study->n_enqueue > 0)
		buf_printf(
		    out, "; %zu of them enqueued", plan->study->n_enqueue);
}

static void
plan_put(struct buf *out, const struct plan *plan, const struct cli *cli)
{
	const struct study *study = plan->study;

	buf_printf(out, "%s: %s is right\n\n", study->name, study->path);
	params_put(out, study->space, cli);
	buf_printf(out, "\nobjective  %s %s\n",
	    study->maximize ? "maximize" : "minimize", study->metric);
	buf_printf(out, "strategy   %s, seed ", plan->plugs->strategy->name);
	if (study->has_seed)
		buf_printf(out, "%" PRIu64 "\n", study->seed);
	else
		buf_puts(out, "drawn at the first start\n");
	buf_puts(out, "stopping   ");
	rules_put(out, plan->plugs);
	buf_puts(out, "\nbackend    ");
	backends_put(out, plan->plugs);
	buf_puts(out, "\ncommand    ");
	cli_put_argv(out, plan->command);
	buf_puts(out, "\n           (for example) in ");
	cli_put_shell(out, study->trial.workdir);
	buf_puts(out, "\ntrials     ");
	trials_put(out, plan);
	if (plan->slots > 0)
		buf_printf(out, "\nslots      %" PRId64 "%s", plan->slots,
		    study->limits.parallel > 0 ? "" : " on this machine");
	else
		buf_puts(out, "\nslots      as many as the backend has");
	buf_puts(out, "\ntime       ");
	worst_put(out, plan);
	buf_putc(out, '\n');
	if (plan->attempt_cost == 0)
		return;
	buf_puts(out, "cost       ");
	plan_put_cost(out, plan);
	buf_putc(out, '\n');
}

static void
plan_put_json(struct buf *out, const struct plan *plan)
{
	const struct study *study = plan->study;
	size_t i;

	buf_puts(out, "{\"study\":");
	json_put_string(out, study->name);
	buf_puts(out, ",\"file\":");
	json_put_string(out, study->path);
	buf_puts(out, ",\"parameters\":[");
	for (i = 0; i < study->space->n; i++) {
		buf_puts(out, i > 0 ? "," : "");
		json_put_string(out, study->space->params[i].name);
	}
	buf_puts(out, "],\"strategy\":");
	json_put_string(out, plan->plugs->strategy->name);
	buf_puts(out, ",\"stopping\":[");
	for (i = 0; i < plan->plugs->n_rules; i++) {
		buf_puts(out, i > 0 ? "," : "");
		json_put_string(out, plan->plugs->rules[i].stopper->name);
	}
	buf_puts(out, "],\"backend\":[");
	for (i = 0; i < plan->plugs->n_backends; i++) {
		buf_puts(out, i > 0 ? "," : "");
		json_put_string(out, plan->plugs->backends[i].launcher->name);
	}
	buf_puts(out, "],\"workdir\":");
	json_put_string(out, study->trial.workdir);
	buf_puts(out, ",\"command\":");
	cli_put_argv_json(out, plan->command);
	buf_puts(out, ",\"trials\":");
	json_put_number(out, plan->trials > 0 ? (double)plan->trials : NAN);
	buf_puts(out, ",\"slots\":");
	json_put_number(out, plan->slots > 0 ? (double)plan->slots : NAN);
	buf_puts(out, ",\"worst_seconds\":");
	json_put_number(
	    out, plan->worst_ms < 0 ? NAN : (double)plan->worst_ms / 1e3);
	buf_puts(out, ",\"attempt_cost\":");
	json_put_number(out, plan->attempt_cost);
	buf_puts(out, ",\"worst_cost\":");
	json_put_number(out, plan->worst_cost);
	buf_puts(out, ",\"missing\":");
	if (plan->missing[0] != '\0')
		json_put_string(out, plan->missing);
	else
		buf_puts(out, "null");
	buf_puts(out, "}\n");
}

static int
check_study(struct cli *cli, const struct study *study, struct err *e)
{
	struct plan plan = { .study = study };
	struct buf out = { 0 };
	struct plugs plugs;
	int rc;

	if (plugs_read(&plugs, study, e) == -1)
		return -1;
	plan.plugs = &plugs;
	if ((rc = plan_make(&plan, e)) == 0) {
		if (cli->json)
			plan_put_json(&out, &plan);
		else
			plan_put(&out, &plan, cli);
		(void)cli_print(&out);
		if (plan.missing[0] != '\0')
			rc = err_set(e, ERR_FILE, "%s", plan.missing);
	}
	plan_fini(&plan);
	plugs_free(&plugs);
	return rc;
}

int
cmd_check(struct cli *cli)
{
	struct cli_study found;
	struct err e = ERR_INIT;
	int rc;

	if (running_find(cli, &found, NULL, &e) == -1)
		return cli_fail(&e);
	rc = check_study(cli, found.study, &e);
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}
