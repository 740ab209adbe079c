/* hpotune replay: what rules would have saved, killed and cost. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/table.h"
#include "src/cli/tune.h"
#include "src/server/bank.h"
#include "src/server/replay.h"
#include "src/store/store.h"

/* Without --rule: everything, and settings that are often asked for. */
static const char *const all_rules[] = {
	"none",
	"median",
	"{\"rule\": \"median\", \"warmup_steps\": \"10%\"}",
	"{\"rule\": \"median\", \"guard\": false}",
	"vizier",
	"sagemaker",
	"optuna",
	"{\"rule\": \"optuna\", \"n_warmup_steps\": 5}",
	"{\"rule\": \"ray\", \"grace_period\": 5}",
	"nni",
	"syne-tune",
	"katib",
	"percentile",
	"patience",
	NULL,
};

struct replay {
	struct replay_rule **rules;
	struct replay_sum *sums; /* [rule] */
	size_t n;
	struct replay_plan plan;
};

static int
rules_read(struct replay *r, const struct cli *cli, struct err *e)
{
	const char *text;
	size_t i;

	for (i = 0;; i++) {
		text = cli_has(cli, "rule") ? cli_value_nth(cli, "rule", i)
					    : all_rules[i];
		if (text == NULL)
			break;
		r->rules = xreallocarray(r->rules, i + 1, sizeof(*r->rules));
		if (replay_rule_read(&r->rules[i], text, e) == -1)
			return err_add(e, "replay");
		r->n = i + 1;
	}
	r->sums = xcalloc(r->n + 1, sizeof(*r->sums));
	return 0;
}

static int
plan_read(struct replay_plan *p, const struct cli *cli, struct err *e)
{
	const char *goal = cli_value(cli, "goal");
	/* How often the best trial is killed is to be known to a per cent. */
	int64_t seed, seeds = cli_has(cli, "tune") ? 100 : 20;

	if (goal != NULL && strcmp(goal, "minimize") != 0 &&
	    strcmp(goal, "maximize") != 0)
		return err_set(e, ERR_USAGE,
		    "replay: --goal is minimize or maximize, not %s", goal);
	p->maximize = goal != NULL && strcmp(goal, "maximize") == 0;
	p->value_last = cli_has(cli, "last");
	if (cli_integer(cli, "workers", 1, 100000, 8, &p->workers, e) == -1 ||
	    cli_integer(cli, "trials", 1, 10000000, 100, &p->trials, e) == -1 ||
	    cli_integer(cli, "seeds", 1, 1000000, seeds, &p->seeds, e) == -1 ||
	    cli_integer(cli, "seed", 0, INT64_MAX, 1, &seed, e) == -1)
		return -1;
	p->seed = (uint64_t)seed;
	return 0;
}

bool
replay_is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is;

	if (fd == -1)
		return false;
	is = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	     memcmp(head, magic, sizeof(head)) == 0;
	(void)close(fd);
	return is;
}

static int
replay_database(struct replay *r, const char *path, struct err *e)
{
	struct store *store;
	size_t i;
	int rc = 0;

	if (store_open(&store, path, STORE_READ, e) == -1)
		return -1;
	for (i = 0; i < r->n && rc == 0; i++)
		rc = replay_store(&r->sums[i], store, r->rules[i], e);
	store_close(store);
	return rc;
}

static int
replay_file(struct replay *r, const char *path, struct err *e)
{
	struct bank bank;
	size_t i;
	int rc = 0;

	if (replay_is_database(path))
		return replay_database(r, path, e);
	if (bank_load(&bank, path, e) == -1)
		return -1;
	for (i = 0; i < r->n && rc == 0; i++)
		rc = replay_bank(&r->sums[i], &bank, &r->plan, r->rules[i], e);
	bank_free(&bank);
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
	for (i = 0; i < r->n; i++) {
		s = &r->sums[i];
		table_cell(table, replay_rule_text(r->rules[i]), TABLE_PLAIN);
		table_cell_real(table, (double)s->studies, 15);
		cell_share(table, 100 * (double)s->stopped / (double)s->trials,
		    "%.0f %%");
		cell_share(table, 100 * mean_of(s, s->saved), "%.1f %%");
		cell_share(table, mean_of(s, (double)s->killed), "%.3f");
		cell_share(table, 100 * mean_of(s, s->regret), "%.2f %%");
	}
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
}

static void
put_json(struct buf *out, const struct replay *r)
{
	const struct replay_sum *s;
	size_t i;

	buf_putc(out, '[');
	for (i = 0; i < r->n; i++) {
		s = &r->sums[i];
		buf_puts(out, i > 0 ? ",\n{\"rule\":" : "{\"rule\":");
		json_put_string(out, replay_rule_text(r->rules[i]));
		buf_printf(out,
		    ",\"studies\":%lld,\"trials\":%lld,"
		    "\"stopped\":%lld,\"reports\":%lld,"
		    "\"skipped\":%lld,\"saved\":",
		    (long long)s->studies, (long long)s->trials,
		    (long long)s->stopped, (long long)s->reports,
		    (long long)s->skipped);
		json_put_number(out, mean_of(s, s->saved));
		buf_puts(out, ",\"killed_best\":");
		json_put_number(out, mean_of(s, (double)s->killed));
		buf_puts(out, ",\"regret\":");
		json_put_number(out, mean_of(s, s->regret));
		buf_putc(out, '}');
	}
	buf_puts(out, "]\n");
}

int
cmd_replay(struct cli *cli)
{
	struct replay r = { 0 };
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	int i, status, rc;
	size_t k;

	rc = plan_read(&r.plan, cli, &e);
	if (rc == 0 && cli_has(cli, "tune"))
		return tune_run(cli, &r.plan);
	if (rc == 0)
		rc = rules_read(&r, cli, &e);
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = replay_file(&r, cli->operands[i], &e);
	if (rc == 0) {
		if (cli->json)
			put_json(&out, &r);
		else
			put_table(&out, &r, cli);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	for (k = 0; k < r.n; k++)
		replay_rule_free(r.rules[k]);
	free(r.rules);
	free(r.sums);
	return status;
}
