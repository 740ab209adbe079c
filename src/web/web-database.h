/* The database of a study, open in a transaction and read once, for its pages. */

#ifndef HPOTUNE_WEB_DATABASE_H
#define HPOTUNE_WEB_DATABASE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct page;
struct web_study;

/*
 * Open and read it; root: of the address of the page.  Call web_database_close
 * also after an error.
 */
int web_database_open(
    struct page *, const char *root, const struct web_study *, struct err *);
void web_database_close(struct page *);
/* The index of a trial by its number.  ERR_USAGE: there is none. */
int
web_database_trial(size_t *, const struct page *, int64_t trial, struct err *);

#endif /* HPOTUNE_WEB_DATABASE_H */
