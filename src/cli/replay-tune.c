/* hpotune replay --tune: prints the scored settings and the recommended one. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/table.h"
#include "src/cli/replay-tune.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/policy-search.h"
#include "src/store/store.h"

static int
read_database(struct curve_file *b, struct replay_plan *plan, const char *path,
    struct err *e)
{
	struct store *store;
	int rc;

	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = policy_curves_read(b, plan, store, e);
	store_close(store);
	return rc;
}

void
replay_tune_note_beyond(
    struct buf *notes, const char *path, int64_t last, int64_t most)
{
	buf_printf(notes,
	    "%s: its steps go to %lld, beyond trial.max_steps, which is %lld: "
	    "nothing is judged there\n",
	    path, (long long)last, (long long)most);
}

static int
replay_tune_file(struct policy_grid *t, const struct replay_plan *plan,
    const char *path, struct err *e)
{
	struct replay_plan own = *plan;
	struct buf notes = { 0 };
	struct curve_file bank;
	int rc;

	rc = replay_is_database(path) ? read_database(&bank, &own, path, e)
				      : curve_file_load(&bank, path, e);
	if (rc != 0)
		return -1;
	if (bank.last_step > bank.max_steps)
		replay_tune_note_beyond(
		    &notes, path, bank.last_step, bank.max_steps);
	cli_print_notes(&notes);
	buf_free(&notes);
	policy_search_run(t, &bank, &own);
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
	cell_format(table, "%.1f %%", 100 * policy_grid_saved(p));
	cell_format(table, "%.3f", policy_grid_killed(p));
	cell_format(table, "%.2f %%", 100 * policy_grid_regret(p));
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
	double x = policy_grid_saved(*(const struct policy_setting *const *)a);
	double y = policy_grid_saved(*(const struct policy_setting *const *)b);

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

static void
put_text(struct buf *out, const struct policy_grid *t,
    const struct policy_setting *use, const struct cli *cli)
{
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
	buf_printf(out,
	    "\n%zu settings on %lld studies. For study.json:\n\n\"stopping\": ",
	    t->n, (long long)use->sum.studies);
	policy_grid_put_rule(out, use);
	buf_putc(out, '\n');
}

static void
put_policy(
    struct json_writer *w, const char *key, const struct policy_setting *p)
{
	json_writer_object(w, key);
	policy_grid_put_rule(json_writer_value(w, "rule"), p);
	json_writer_number(w, "saved", policy_grid_saved(p));
	json_writer_number(w, "killed_best", policy_grid_killed(p));
	json_writer_number(w, "regret", policy_grid_regret(p));
	json_writer_end(w);
}

static void
put_json(struct buf *out, const struct policy_grid *t,
    const struct policy_setting *use)
{
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

int
replay_tune_run(struct cli *cli, const struct replay_plan *plan)
{
	struct err e = ERR_INIT;
	struct buf out = { 0 };
	struct policy_grid tune;
	int i, rc = 0, status;

	if (cli_has(cli, "rule")) {
		(void)err_set(&e, ERR_USAGE,
		    "replay: --tune has rules of its own: omit --rule");
		return cli_fail(&e);
	}
	policy_grid_open(&tune);
	for (i = 0; i < cli->n_operands && rc == 0; i++)
		rc = replay_tune_file(&tune, plan, cli->operands[i], &e);
	if (rc == 0) {
		if (cli->json)
			put_json(&out, &tune, policy_grid_choose(&tune));
		else
			put_text(&out, &tune, policy_grid_choose(&tune), cli);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	policy_grid_close(&tune);
	return status;
}
