/* The table of trials: sorted, filtered, in pages. */

#ifndef HPOTUNE_WEB_TABLE_H
#define HPOTUNE_WEB_TABLE_H

struct err;
struct page;
struct web_address;

/*
 * Append the table to the page's html.  The address may have where (a filter),
 * sort (a column), down and page.  A wrong filter is shown above an empty
 * table and is no error.
 */
int web_table_put(
    struct page *, const char *study, const struct web_address *, struct err *);

/*
 * The forms below the table: columns of one's choice (column=NAME in the
 * address), and the trials whose boxes are marked beside each other.
 */
void web_table_forms_put(
    struct page *, const char *study, const struct web_address *);

#endif /* HPOTUNE_WEB_TABLE_H */
