/* What the readers of report lines share; nobody else includes this. */

#ifndef HPOTUNE_METRIC_INTERNAL_H
#define HPOTUNE_METRIC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct metric_number;
struct metric_line;
struct metric_patterns;

/* Length of the metric name at p, 0 when none stands there. */
size_t metric_line_name_len(const char *p, const char *end);
/* Begin with nothing. */
void metric_line_clear(struct metric_line *);
/*
 * One pair more.  False, with the reason in why, when the pair spoils the
 * line: a step that is no step, a name given twice, too many.
 */
bool metric_line_add(struct metric_line *, const char *name, size_t len,
    const struct metric_number *);
/* The last word on a line: forget everything, say why, return false. */
bool metric_line_refuse(struct metric_line *, const char *why);
/* A line without tag against the patterns. */
bool metric_patterns_match(struct metric_line *, const struct metric_patterns *,
    const char *line, size_t len);

#endif /* HPOTUNE_METRIC_INTERNAL_H */
