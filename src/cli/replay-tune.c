/*
 * hpotune replay --tune.  Knows how settings and shares are printed; refuses
 * to know which settings there are.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/table.h"
#include "src/cli/replay-tune.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/policy-search.h"
#include "src/store/store.h"

static int
read_database(
    struct bank *b, struct replay_plan *plan, const char *path, struct err *e)
{
	struct store *store;
	int rc;

	if (store_open(&store, path, STORE_READ, e) == -1)
		return -1;
	rc = tune_store(b, plan, store, e);
	store_close(store);
	return rc;
}

void
replay_note_beyond(
    struct buf *notes, const char *path, int64_t last, int64_t most)
{
	buf_printf(notes,
	    "%s: its steps go to %lld, beyond trial.max_steps, which is %lld: "
	    "nothing is judged there\n",
	    path, (long long)last, (long long)most);
}

static int
tune_file(struct tune *t, const struct replay_plan *plan, const char *path,
    struct err *e)
{
	struct replay_plan own = *plan;
	struct buf notes = { 0 };
	struct bank bank;
	int rc;

	rc = replay_is_database(path) ? read_database(&bank, &own, path, e)
				      : bank_load(&bank, path, e);
	if (rc != 0)
		return -1;
	if (bank.last_step > bank.max_steps)
		replay_note_beyond(
		    &notes, path, bank.last_step, bank.max_steps);
	cli_print_notes(&notes);
	buf_free(&notes);
	tune_bank(t, &bank, &own);
	bank_free(&bank);
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
put_row(struct table *table, const struct tune_policy *p, const char *mark)
{
	table_cell(table, mark, TABLE_PLAIN);
	table_cell(table, p->value, TABLE_PLAIN);
	table_cell(table, p->reference, TABLE_PLAIN);
	table_cell(table, p->completed ? "completed" : "reached", TABLE_PLAIN);
	cell_format(table, "%.0f", p->percentile);
	cell_format(table, "%.0f", p->min_trials);
	cell_format(table, "%.0f%%", p->warmup);
	table_cell(table, p->guard ? "yes" : "no", TABLE_PLAIN);
	cell_format(table, "%.1f %%", 100 * tune_saved(p));
	cell_format(table, "%.3f", tune_killed(p));
	cell_format(table, "%.2f %%", 100 * tune_regret(p));
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

/* The settings in the order in which they save more and kill more. */
static int
order_saved(const void *a, const void *b)
{
	double x = tune_saved(*(const struct tune_policy *const *)a);
	double y = tune_saved(*(const struct tune_policy *const *)b);

	return (x > y) - (x < y);
}

/* Those that are best, into list; how many. */
static size_t
list_best(const struct tune *t, const struct tune_policy **list)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		if (t->policies[i].best)
			list[n++] = &t->policies[i];
	qsort(list, n, sizeof(*list), order_saved);
	return n;
}

static void
put_text(struct buf *out, const struct tune *t, const struct tune_policy *use,
    const struct cli *cli)
{
	const struct tune_policy **list = xcalloc(t->n, sizeof(*list));
	struct table *table = table_begin();
	size_t i, n = list_best(t, list);

	put_row(table, &t->policies[0], "median");
	for (i = 0; i < n; i++)
		if (!list[i]->as_is)
			put_row(table, list[i], list[i] == use ? "use" : "");
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	free(list);
	buf_printf(out,
	    "\n%zu settings on %lld studies. For study.json:\n\n\"stopping\": ",
	    t->n, (long long)use->sum.studies);
	tune_put_rule(out, use);
	buf_putc(out, '\n');
}

static void
put_policy(struct buf *out, const struct tune_policy *p)
{
	buf_puts(out, "{\"rule\":");
	tune_put_rule(out, p);
	buf_puts(out, ",\"saved\":");
	json_put_number(out, tune_saved(p));
	buf_puts(out, ",\"killed_best\":");
	json_put_number(out, tune_killed(p));
	buf_puts(out, ",\"regret\":");
	json_put_number(out, tune_regret(p));
	buf_putc(out, '}');
}

static void
put_json(struct buf *out, const struct tune *t, const struct tune_policy *use)
{
	const struct tune_policy **list = xcalloc(t->n, sizeof(*list));
	size_t i, n = list_best(t, list);

	buf_puts(out, "{\"stopping\":");
	tune_put_rule(out, use);
	buf_printf(out,
	    ",\"settings\":%zu,\"studies\":%lld,\n\"median\":", t->n,
	    (long long)use->sum.studies);
	put_policy(out, &t->policies[0]);
	buf_puts(out, ",\n\"best\":[");
	for (i = 0; i < n; i++) {
		buf_puts(out, i > 0 ? ",\n" : "\n");
		put_policy(out, list[i]);
	}
	buf_puts(out, "]}\n");
	free(list);
}

int
tune_run(struct cli *cli, const struct replay_plan *plan)
{
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	struct tune tune;
	int i, rc = 0, status;

	if (cli_has(cli, "rule")) {
		(void)err_set(&e, ERR_USAGE,
		    "replay: --tune has rules of its own: leave --rule out");
		return cli_fail(&e);
	}
	tune_open(&tune);
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = tune_file(&tune, plan, cli->operands[i], &e);
	if (rc == 0) {
		if (cli->json)
			put_json(&out, &tune, tune_choose(&tune));
		else
			put_text(&out, &tune, tune_choose(&tune), cli);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	tune_close(&tune);
	return status;
}
