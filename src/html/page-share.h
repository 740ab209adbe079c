/* How much each parameter of a study influences an objective. */

#ifndef HPOTUNE_PAGE_SHARE_H
#define HPOTUNE_PAGE_SHARE_H

#include <stddef.h>

struct page;

enum { PAGE_SHARE_LEAST = 10 /* completed trials; below them no share */ };
#define PAGE_SHARE_GOOD 0.1 /* the share of the trials that are good */

struct page_share {
	double *points; /* n x parameters, in the unit cube */
	double *losses; /* n; smaller is better */
	size_t n; /* completed trials with a value */
	double *share; /* of each parameter; all 0 = not known */
	size_t *order; /* parameters, the greatest share first */
};

/*
 * PED-ANOVA of objective aim (an index of the page's objectives), as the command
 * importance computes it. Fills an uninitialized struct, which page_share_fini
 * frees.
 */
void page_share_read(struct page_share *, const struct page *, size_t aim);
void page_share_fini(struct page_share *);

#endif /* HPOTUNE_PAGE_SHARE_H */
