/* What the output of an ended attempt shows of a metric that it lacks. */

#ifndef HPOTUNE_UNREAD_LOG_H
#define HPOTUNE_UNREAD_LOG_H

#include <stdbool.h>

struct buf;
struct metric_patterns;

/*
 * Read the files log and metrics.jsonl of the folder of an attempt, at most 4 MiB
 * of the beginning of each and as much of its end, and append one clause about
 * the metric (metric_unread_put); false: there is none.
 */
bool unread_log_put(struct buf *, const char *folder,
    const struct metric_patterns *, const char *metric);

#endif /* HPOTUNE_UNREAD_LOG_H */
