/* Declarations shared by the parsers of report lines; private. */

#ifndef HPOTUNE_METRIC_INTERNAL_H
#define HPOTUNE_METRIC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_number;
struct metric_line;
struct metric_log;
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

/* Bytes that the formats keep between the lines of a log. */
size_t metric_patterns_state(const struct metric_patterns *);
/* Where the states of a log are kept; NULL: there is no log. */
void *metric_log_states(struct metric_log *);
/*
 * Pass a line that was read, or not, to the progress bars of its log: whether r is
 * a report now.  is_empty: it has no text.
 */
bool metric_log_bar(struct metric_line *, bool matched, bool is_empty);
/*
 * Whether the step of a state that is not matched says where a bar begins, and
 * that it does.
 */
bool metric_log_bar_opens(const struct metric_log *);
void metric_log_bar_open(struct metric_log *, int64_t step);

/*
 * Note whether a pattern, by its number, has matched a line of the training or of an
 * evaluation: whether it has matched both.
 */
bool metric_log_is_both(struct metric_log *, size_t rule, bool training);

/* What begins at a place of an output. */
enum metric_object {
	METRIC_OBJECT_NONE, /* no object of JSON */
	METRIC_OBJECT_OPEN, /* one whose end, or what follows it, is not known */
	METRIC_OBJECT_LINE, /* one that ends a line */
	METRIC_OBJECT_NEXT /* one that another one follows in its line */
};

/*
 * Look for the object of JSON at p, or of a list of them: next is where what follows
 * it begins, behind its newline if there is one.
 */
enum metric_object
metric_object_end(const char *p, const char *end, const char **next);
/* Leave out the marks of a list around an object. */
void metric_object_trim(const char **p, const char **end);

struct metric_json_names;
struct metric_tags;
struct study_trial;
/* How the members of JSON lines become metrics: tags and step of the study. */
struct metric_tags *metric_tags_new(const struct study_trial *);
void metric_tags_free(struct metric_tags *);
const struct metric_json_names *metric_tags_names(const struct metric_tags *);

#endif /* HPOTUNE_METRIC_INTERNAL_H */
