/*
 * Ranges of charts that an address asks for: curves.x=10..50, in the words of
 * page-data.h; and the form by which they are chosen.
 */

#ifndef HPOTUNE_WEB_ZOOM_H
#define HPOTUNE_WEB_ZOOM_H

#include <stdbool.h>

struct html;
struct page;
struct web_address;

/*
 * Set the ranges of the page, and the parameters of its map, to those of an
 * address; their names are borrowed from it, web_database_close frees the rest.  Others than two numbers FROM..TO
 * with FROM < TO are left out.
 */
void web_zoom_read(struct page *, const struct web_address *);
/* Whether one of the ranges is of the section with this name. */
bool web_zoom_is_of(const struct page *, const char *section);
/*
 * The form for the charts of a section, closed unless they are zoomed; nothing
 * for sections that cannot be zoomed.
 */
void
web_zoom_put(struct page *, const char *section, const struct web_address *);
/* The range of this name in an address; false: none. */
bool
web_zoom_range(double range[2], const struct web_address *, const char *name);
/* The form for the charts of several studies; cost: one is by cost. */
void web_zoom_put_compare(struct html *, const struct web_address *, bool cost);

#endif /* HPOTUNE_WEB_ZOOM_H */
