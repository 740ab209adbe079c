/* Declarations shared by the parsers of report lines; private. */

#ifndef HPOTUNE_METRIC_INTERNAL_H
#define HPOTUNE_METRIC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct metric_number;
struct metric_line;
struct metric_patterns;

/* Length of the metric name at p, 0 if there is none. */
size_t metric_line_name_len(const char *p, const char *end);
/* Reset to empty. */
void metric_line_clear(struct metric_line *);
/*
 * Add a pair.  False, with the reason in why, when the whole line is invalid: a
 * bad step, a duplicate name, too many pairs.
 */
bool metric_line_add(struct metric_line *, const char *name, size_t len,
    const struct metric_number *);
/* Reject the line: clear it, set why, return false. */
bool metric_line_refuse(struct metric_line *, const char *why);
/* Match a line without tag against the patterns. */
bool metric_patterns_match(struct metric_line *, const struct metric_patterns *,
    const char *line, size_t len);

#endif /* HPOTUNE_METRIC_INTERNAL_H */
