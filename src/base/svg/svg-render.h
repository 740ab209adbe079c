/*
 * Turns an SVG into PDF, PNG, or an SVG whose letters are outlines, by librsvg and
 * cairo, which are opened at the first use.
 */

#ifndef HPOTUNE_SVG_RENDER_H
#define HPOTUNE_SVG_RENDER_H

struct buf;
struct err;

enum svg_format { SVG_PDF, SVG_PNG, SVG_OUTLINES };

/*
 * Append the document; mm: width and height.  dpi is for PNG alone.  ERR_FILE
 * when the libraries are missing.
 */
int svg_render(struct buf *out, enum svg_format, const struct buf *svg,
    const double mm[2], double dpi, struct err *);

#endif /* HPOTUNE_SVG_RENDER_H */
