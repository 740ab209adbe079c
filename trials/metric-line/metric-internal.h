/* What the readers of report lines share; nobody else includes this. */

#ifndef HPOTUNE_METRIC_INTERNAL_H
#define HPOTUNE_METRIC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct number;
struct report;
struct report_rules;

/* Length of the metric name at p, 0 when none stands there. */
size_t report_name_len(const char *p, const char *end);
/* Begin with nothing. */
void report_clear(struct report *);
/*
 * One pair more.  False, with the reason in why, when the pair spoils the
 * line: a step that is no step, a name given twice, too many.
 */
bool report_add(
    struct report *, const char *name, size_t len, const struct number *);
/* The last word on a line: forget everything, say why, return false. */
bool report_refuse(struct report *, const char *why);
/* A line without tag against the patterns. */
bool report_match_rules(
    struct report *, const struct report_rules *, const char *line, size_t len);

#endif /* HPOTUNE_METRIC_INTERNAL_H */
