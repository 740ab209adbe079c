/*
 * The SVG of a figure: its charts, a legend below them, and a style sheet with
 * colours that differ in grey, too.
 */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/figure/figure-internal.h"
#include "src/figure/figure.h"
#include "src/html/page-data.h"
#include "src/html/section.h"

static const char figure_style[] =
#include "src/figure/figure-style.inc"
    ;

#define MM_OF_UNIT (89.0 / (FIGURE_ONE_COLUMN + 2 * MARGIN))
#define LETTER 6.8 /* mean width of a letter of 11 units in a wide face */

enum { MARGIN = 4, GAP = 10, KEY = 12, KEY_GAP = 14, LINE = 16 };

const struct figure_kind figure_kinds[] = {
	{ "history", "each trial's objective, and the best so far",
	    &section_history, "no trial has a value" },
	{ "curves", "learning curves and the running median", &section_curves,
	    "no trial has reported the objective" },
	{ "importance", "how much each parameter mattered", &section_shares,
	    "too few trials have completed, or their values are equal" },
	{ "parallel", "parallel coordinates", &section_parallel,
	    "no trial has a value, or there is no parameter" },
	{ "slice", "the objective against each parameter", &section_slice,
	    "no trial has a value, or there is no parameter" },
	{ "contour", "the objective over two parameters", &section_map,
	    "it needs two parameters and 10 completed trials; --x and --y "
	    "choose the parameters" },
	{ "front", "trials by their objectives, and the front", &section_front,
	    "the study has one objective, or no trial has a value" },
	{ "timeline", "when and where trials ran", &section_timeline,
	    "no trial has begun" },
	{ "edf", "the share of trials that are at most as high", &section_edf,
	    "no trial has completed with a value" },
	{ .name = NULL },
};

const struct figure_kind *
figure_kind_find(const char *name)
{
	const struct figure_kind *k;

	for (k = figure_kinds; k->name != NULL; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

int
figure_draw(struct figure_parts *parts, struct page *page,
    const struct figure_kind *kind, struct err *e)
{
	if (kind->section->put(page, e) != 0)
		return -1;
	figure_parts_find(parts, buf_str(&page->h.out));
	if (parts->n_charts == 0)
		return err_set(e, ERR_USAGE, "plot: nothing to draw for %s: %s",
		    kind->name, kind->none);
	return 0;
}

/* Characters of escaped text: an entity is one. */
static size_t
letters(struct figure_piece p)
{
	size_t i, n = 0;

	for (i = 0; i < p.len; i++) {
		if (p.text[i] == '&')
			while (i + 1 < p.len && p.text[i] != ';')
				i++;
		n += ((unsigned char)p.text[i] & 0xc0) != 0x80;
	}
	return n;
}

static void
figure_group_put(struct buf *out, double x, double y, struct figure_piece inner)
{
	buf_printf(out, "<g transform=\"translate(%.1f %.1f)\">", x, y);
	buf_add(out, inner.text, inner.len);
	buf_puts(out, "</g>\n");
}

/* Charts beside each other where they fit; returns the y below them. */
static double
figure_charts_put(struct buf *out, const struct figure_parts *p, double width)
{
	double x = 0, y = 0, high = 0;
	size_t i;

	for (i = 0; i < p->n_charts; i++) {
		const struct figure_chart *c = &p->charts[i];

		if (x > 0 && x + c->width > width + 1) {
			x = 0;
			y += high + GAP;
			high = 0;
		}
		figure_group_put(out, x, y, c->inner);
		x += c->width;
		high = fmax(high, c->height);
	}
	return y + high;
}

/* The legend from y on; returns the y below it. */
static double
keys_put(struct buf *out, const struct figure_parts *p, double width, double y)
{
	double x = 0, wide;
	size_t i;

	if (p->n_keys > 0)
		y += GAP;
	for (i = 0; i < p->n_keys; i++) {
		const struct figure_key *k = &p->keys[i];

		wide = LETTER * (double)letters(k->label) +
		       (k->inner.len > 0 ? KEY + 4 : 0);
		if (x > 0 && x + wide > width) {
			x = 0;
			y += LINE;
		}
		if (k->inner.len > 0)
			figure_group_put(out, x, y, k->inner);
		buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">",
		    x + (k->inner.len > 0 ? KEY + 4 : 0), y + 10);
		buf_add(out, k->label.text, k->label.len);
		buf_puts(out, "</text>\n");
		x += wide + KEY_GAP;
	}
	return p->n_keys > 0 ? y + LINE : y;
}

int
figure_svg(struct buf *out, struct page *page, const struct figure_kind *kind,
    double mm[2], struct err *e)
{
	struct figure_parts parts;
	struct buf body = { 0 };
	double width, height;

	if (figure_draw(&parts, page, kind, e) != 0)
		return -1;
	width = page_data_width(page);
	height = keys_put(
	    &body, &parts, width, figure_charts_put(&body, &parts, width));
	width += 2 * MARGIN;
	height += 2 * MARGIN;
	mm[0] = width * MM_OF_UNIT;
	mm[1] = height * MM_OF_UNIT;
	buf_printf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.2fmm\" "
	    "height=\"%.2fmm\" viewBox=\"%d %d %.1f %.1f\" role=\"img\" "
	    "aria-label=\"",
	    mm[0], mm[1], -MARGIN, -MARGIN, width, height);
	buf_add(out, parts.charts[0].name.text, parts.charts[0].name.len);
	buf_printf(out,
	    "\">\n<style>%s</style>\n<rect class=\"paper\" x=\"%d\" y=\"%d\" "
	    "width=\"%.1f\" height=\"%.1f\"/>\n",
	    figure_style, -MARGIN, -MARGIN, width, height);
	buf_add(out, body.data, body.len);
	buf_puts(out, "</svg>\n");
	buf_free(&body);
	return 0;
}
