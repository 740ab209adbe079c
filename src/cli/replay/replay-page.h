/* hpotune replay --chart=FILE: what became of the trials, as an HTML page. */

#ifndef HPOTUNE_REPLAY_PAGE_H
#define HPOTUNE_REPLAY_PAGE_H

#include <stddef.h>

struct err;
struct replay_charts;

/*
 * Write the charts of n rules (texts) to the file path as a page, with the
 * curves of the trials; -1 with the error.
 */
int replay_page_write(const char *path, const struct replay_charts *,
    const char *const *rules, size_t n, struct err *);

#endif /* HPOTUNE_REPLAY_PAGE_H */
