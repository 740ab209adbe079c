/* hpotune plot: a chart of a study as a file for a paper, or as text. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/svg/svg-render.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/figure/figure.h"
#include "src/html/page-data.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/study-files/study-files.h"

enum { DPI = 300, DPI_LEAST = 36, DPI_MOST = 1200, TEXT_WIDTH = 80 };

enum plot_format { PLOT_TEXT, PLOT_SVG, PLOT_PDF, PLOT_PNG };

/* What is asked for. */
struct plot {
	const struct figure_kind *kind;
	const char *output; /* NULL: text on stdout */
	enum plot_format format;
	int64_t columns, dpi;
	bool outlines, force;
};

static int
plot_kind_read(struct plot *p, const struct cli *cli, struct err *e)
{
	const char *names[16], *near;
	struct buf all = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; figure_kinds[i].name != NULL; i++) {
		names[i] = figure_kinds[i].name;
		buf_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	names[i] = NULL;
	if (cli->n_operands != 1)
		rc = err_set(e, ERR_USAGE, "plot: expected one chart: %s",
		    buf_str(&all));
	else if ((p->kind = figure_kind_find(cli->operands[0])) == NULL) {
		near = text_nearest(cli->operands[0], names);
		rc = near != NULL
			 ? err_set(e, ERR_USAGE, "plot: %s: did you mean %s?",
			       cli->operands[0], near)
			 : err_set(e, ERR_USAGE,
			       "plot: %s: no such study or chart: charts are "
			       "%s",
			       cli->operands[0], buf_str(&all));
	}
	buf_free(&all);
	return rc;
}

static int
plot_format_read(struct plot *p, const struct cli *cli, struct err *e)
{
	const char *end;

	p->output = cli_value(cli, "output");
	p->outlines = cli_has(cli, "outlines");
	p->force = cli_has(cli, "force");
	if (cli_integer(cli, "columns", 1, 2, 1, &p->columns, e) != 0 ||
	    cli_integer(cli, "dpi", DPI_LEAST, DPI_MOST, DPI, &p->dpi, e) != 0)
		return -1;
	if (p->output == NULL && p->outlines)
		return err_set(e, ERR_USAGE,
		    "plot: --outlines requires --output FILE.svg");
	if (p->output == NULL)
		return 0;
	end = strrchr(p->output, '.');
	if (end != NULL && strcasecmp(end, ".svg") == 0)
		p->format = PLOT_SVG;
	else if (end != NULL && strcasecmp(end, ".pdf") == 0)
		p->format = PLOT_PDF;
	else if (end != NULL && strcasecmp(end, ".png") == 0)
		p->format = PLOT_PNG;
	else
		return err_set(e, ERR_USAGE,
		    "plot: --output %s: its name must end in .svg, .pdf or "
		    ".png",
		    p->output);
	if (p->outlines && p->format != PLOT_SVG)
		return err_set(e, ERR_USAGE,
		    "plot: --outlines requires --output FILE.svg");
	return 0;
}

/* The parameters of the map, which must be there. */
static int
plot_map_read(struct page *r, const struct cli *cli, struct err *e)
{
	static const char *const names[] = { "x", "y" };
	const struct space *space = r->study->space;
	size_t i, k;

	for (i = 0; i < 2; i++) {
		r->map[i] = cli_value(cli, names[i]);
		if (r->map[i] == NULL)
			continue;
		for (k = 0; k < space->n; k++)
			if (strcmp(space->params[k].name, r->map[i]) == 0)
				break;
		if (k == space->n)
			return err_set(e, ERR_USAGE,
			    "plot: --%s %s: no parameter has this name",
			    names[i], r->map[i]);
	}
	if ((r->map[0] == NULL) != (r->map[1] == NULL))
		return err_set(
		    e, ERR_USAGE, "plot: --x and --y belong together");
	return 0;
}

/* The figure as a file. */
static int
plot_file_put(const struct plot *p, struct page *r, struct err *e)
{
	struct buf svg = { 0 }, other = { 0 }, *out = &svg;
	double mm[2];
	int rc;

	r->width = p->columns == 1 ? FIGURE_ONE_COLUMN : FIGURE_TWO_COLUMNS;
	rc = figure_svg(&svg, r, p->kind, mm, e);
	if (rc == 0 && (p->format != PLOT_SVG || p->outlines)) {
		out = &other;
		rc = svg_render(&other,
		    p->format == PLOT_PDF   ? SVG_PDF
		    : p->format == PLOT_PNG ? SVG_PNG
					    : SVG_OUTLINES,
		    &svg, mm, (double)p->dpi, e);
	}
	if (rc == 0 && !p->force && access(p->output, F_OK) == 0)
		rc = err_set(e, ERR_FILE,
		    "plot: %s exists already: --force replaces it", p->output);
	if (rc == 0)
		rc = atomic_file_write(p->output, p->force, out, e);
	if (rc == 0)
		cli_print_line("%s\n", p->output);
	buf_free(&svg);
	buf_free(&other);
	return rc;
}

static int
plot_put(
    const struct plot *p, struct page *r, const struct cli *cli, struct err *e)
{
	struct buf out = { 0 };
	int rc;

	if (p->output != NULL)
		return plot_file_put(p, r, e);
	rc = figure_text(&out, r, p->kind,
	    cli->width > 20 && cli->width < 300 ? cli->width : TEXT_WIDTH,
	    text_is_utf8(), e);
	if (rc == 0)
		(void)cli_print(&out);
	else
		buf_free(&out);
	return rc;
}

static int
plot_run(struct cli *cli)
{
	struct plot p = { .format = PLOT_TEXT };
	struct page r = { 0 };
	struct study_files found;
	struct store *store;
	struct err e = ERR_INIT;
	int rc;

	if (plot_format_read(&p, cli, &e) != 0)
		return cli_fail(&e);
	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = plot_kind_read(&p, cli, &e);
	if (study_files_served(found.db))
		r.now = (double)time(NULL);
	if (rc == 0 && (rc = store_begin(store, &e)) == 0) {
		rc = page_data_read(&r, store, &e);
		if (rc == 0)
			rc = plot_map_read(&r, cli, &e);
		if (rc == 0)
			rc = plot_put(&p, &r, cli, &e);
		store_rollback(store);
	}
	page_data_fini(&r);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option plot_options[] = {
	{ "output", 'o', "FILE",
	    "write FILE.svg, FILE.pdf or FILE.png (text on the terminal)" },
	{ "columns", 0, "N", "as wide as 1 or 2 columns of a paper (1)" },
	{ "dpi", 0, "N", "png: pixels of an inch (300)" },
	{ "outlines", 0, NULL, "svg: letters as outlines" },
	{ "x", 0, "PARAM", "contour: the parameter across" },
	{ "y", 0, "PARAM", "contour: the parameter upwards" },
	{ "force", 0, NULL, "replace an existing file" },
	{ .name = NULL },
};

const struct cli_command cmd_plot = {
	.name = "plot",
	.args = "[STUDY] CHART",
	.about = "a chart as SVG, PDF, PNG or text",
	.options = plot_options,
	.min_operands = 1,
	.max_operands = 2,
	.run = plot_run,
};
