/* The page that hpotune report writes, from the data of page-data.h. */

#ifndef HPOTUNE_PAGE_H
#define HPOTUNE_PAGE_H

#include "src/html/section.h"

struct buf;
struct err;

/* In the first lines of each report; identifies a file as one. */
#define PAGE_ABOUT "report of hpotune"

/* The sections in their order on the page; ends with NULL. */
extern const struct page_section *const page_sections[];
/* The style sheet of the page. */
extern const char page_style[];

/* Pointing and brushing of its charts. */
extern const char page_script[];

/*
 * The whole page, into the page's html; script: with the script, inline and
 * allowed by its digest in the Content Security Policy.
 */
int page_build(struct page *, bool script, struct err *);
/*
 * Write the file atomically.  An existing file that is not a report is not
 * replaced: ERR_FILE.
 */
int page_file_write(const char *path, const struct buf *, struct err *);

#endif /* HPOTUNE_PAGE_H */
