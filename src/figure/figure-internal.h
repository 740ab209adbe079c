/* What the files of this folder share. */

#ifndef HPOTUNE_FIGURE_INTERNAL_H
#define HPOTUNE_FIGURE_INTERNAL_H

#include "src/figure/figure-parts.h"

struct err;
struct figure_kind;
struct page;

/*
 * Draw the section into the page's html, which must be empty, and find its
 * parts in it.
 */
int figure_draw(struct figure_parts *, struct page *,
    const struct figure_kind *, struct err *);

#endif /* HPOTUNE_FIGURE_INTERNAL_H */
