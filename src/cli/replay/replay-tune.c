/*
 * hpotune replay --tune: the settings of the rule median are scored, and one is
 * recommended.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/replay/curve-notes.h"
#include "src/cli/replay/replay-tune.h"
#include "src/replay/curve-file.h"
#include "src/replay/policy-search.h"
#include "src/replay/replay.h"
#include "src/store/store.h"
#include "src/view/table.h"

bool
replay_tune_is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof magic];
	struct stat st;
	bool is;
	int fd;

	/* What a pipe has given once is not there again for its reader. */
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (fd = file_open_user(path)) == -1)
		return false;
	is = read(fd, head, sizeof head) == (ssize_t)sizeof head &&
	     memcmp(head, magic, sizeof head) == 0;
	(void)close(fd);
	return is;
}

int
replay_tune_load(struct curve_file *b, struct replay_plan *plan,
    const char *path, struct err *e)
{
	struct store *store;
	int rc;

	if (store_open(&store, path, STORE_READ, e) != 0)
		return -1;
	rc = replay_recorded_curves(b, plan, store, e);
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

/* halves: of its curves, run too where there are enough, or NULL. */
static int
replay_tune_file(struct policy_grid *t, struct policy_grid *halves,
    const struct replay_plan *plan, const char *path, const char *metric,
    struct err *e)
{
	struct replay_plan own = *plan;
	struct buf notes = { 0 };
	struct curve_file curves;
	int rc;

	rc = replay_tune_is_database(path)
		 ? replay_tune_load(&curves, &own, path, e)
		 : curve_file_load(&curves, path, metric, e);
	if (rc == 0 && own.own_steps && !replay_tune_is_database(path) &&
	    (rc = curve_file_stretch(&curves, path, e)) != 0)
		curve_file_free(&curves);
	if (rc != 0)
		return -1;
	curve_notes_put(&notes, &curves, own.maximize, path);
	if (curves.last_step > curves.max_steps)
		replay_tune_note_beyond(
		    &notes, path, curves.last_step, curves.max_steps);
	cli_print_notes(&notes);
	buf_free(&notes);
	policy_search_run(t, &curves, &own);
	if (halves != NULL && curves.n >= POLICY_SEARCH_HALVES)
		policy_search_halves(halves, &curves, &own);
	curve_file_free(&curves);
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
tune_put_row(
    struct table *table, const struct policy_setting *p, const char *mark)
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
tune_table_begin(void)
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
tune_held_put(struct buf *out, const struct tuning *t)
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
tune_put_text(struct buf *out, struct tuning *tuning, const struct cli *cli)
{
	const struct policy_grid *t = &tuning->all;
	const struct policy_setting *use = tuning->use;
	const struct policy_setting **list = xcalloc(t->n, sizeof *list);
	struct table *table = tune_table_begin();
	size_t i, n = list_best(t, list);

	tune_put_row(table, &t->policies[0], "median");
	for (i = 0; i < n; i++)
		if (!list[i]->as_is)
			tune_put_row(
			    table, list[i], list[i] == use ? "use" : "");
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	free(list);
	buf_printf(out, "\n%zu settings on %lld studies.\n", t->n,
	    (long long)use->sum.studies);
	tune_held_put(out, tuning);
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
	/*
	 * The setting to use is in the table also when another one is better on
	 * all files.
	 */
	t->all.policies[t->use - t->all.policies].best = true;
	return 0;
}

int
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
			tune_put_text(&out, &tuning, cli);
		status = cli_print(&out);
	} else
		status = cli_fail(&e);
	policy_grid_close(&tuning.all);
	for (i = 0; i < 2; i++)
		policy_grid_close(&tuning.halves[i]);
	return status;
}
