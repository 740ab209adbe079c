/*
 * Parser of one line of a trial's output into step, names and values.  Input is
 * untrusted: any bytes.
 *
 * Pass complete lines only: an incomplete line may end within a number.
 */

#ifndef HPOTUNE_METRIC_LINE_H
#define HPOTUNE_METRIC_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct metric_log;
struct study_tag;
struct study_trial;

enum {
	METRIC_LINE_MAX = 65536, /* bytes; longer lines are skipped */
	METRIC_LINE_VALUES_MAX = 256, /* metrics in one line */
	METRIC_LINE_NAME_MAX = 64, /* bytes of a metric's name */
	METRIC_PART_MAX = 4096 /* bytes of a line that are matched at once */
};

struct metric_value {
	char name[METRIC_LINE_NAME_MAX + 1];
	double value; /* may be NaN or infinite */
};

struct metric_line {
	bool has_step;
	int64_t step;
	/*
	 * NULL, or why a line that was meant as a report was rejected; one
	 * clause in static memory, so that equal reasons have equal pointers.
	 */
	const char *why;
	/*
	 * For an accepted line: NULL, or why a member of it was skipped; static
	 * memory, too.
	 */
	const char *left_out;
	/*
	 * Where a library prints no step of the trial.  restarts: its numbers
	 * begin again when it goes on from a checkpoint, and first is the first
	 * number of this log.  place_name: NULL, or the metric, last in values,
	 * that says how far the training is, and place its value; replaces: a
	 * report at the same place is the same report.
	 */
	bool restarts, replaces;
	bool
	    rounded; /* the values are shown short; a file may have them whole */
	bool has_lists; /* an object of JSON has lists, which are not read */
	int64_t first;
	const char *place_name; /* static memory */
	double place;
	/*
	 * Set by whoever parses; metric_line_parse leaves them.  The state of the
	 * log that the line is of, NULL: each line is read by itself; and
	 * whether the line ends with a bare CR: another one overwrites it.
	 */
	struct metric_log *log;
	bool overwritten;
	/*
	 * Of a state of a progress bar that a format reads: which bar, 0 = none;
	 * this is its first step, at which it was shown without values; and its
	 * work is done.
	 */
	uint32_t bar;
	bool bar_first, bar_ends;
	bool bar_counted; /* … which is counted, as Ignite does, at that step */
	size_t n;
	struct metric_value values[METRIC_LINE_VALUES_MAX];
};

/* The compiled patterns of one study.  An error names the key of study.json. */
struct metric_patterns;
int metric_patterns_new(
    struct metric_patterns **, const struct study_trial *, struct err *);
void metric_patterns_free(struct metric_patterns *);

/*
 * What is kept between the lines of one log: the epoch that an earlier line has
 * named, the columns of a table, the last state of a progress bar.  NULL where the
 * patterns (NULL = none) keep nothing.
 */
struct metric_log *metric_log_new(const struct metric_patterns *);
void metric_log_free(struct metric_log *);
/* Forget all, as at the start of a log. */
void metric_log_clear(struct metric_log *);
/*
 * Make the state at an offset of a log from its first bytes and from those before
 * the offset.  room: size bytes, and r, are scratch.  Nothing is reported.
 */
void metric_log_rebuild(struct metric_log *, const struct metric_patterns *,
    struct metric_line *r, char *room, size_t size, int fd, int64_t at);
/*
 * Whether all values are 0: before anything was counted a program shows them until it
 * has others.
 */
bool metric_line_zeros(const struct metric_line *);
/*
 * Whether a format of the lines shows values short, so that files are to be read
 * first; patterns NULL: none does.
 */
bool metric_patterns_rounded(const struct metric_patterns *);
/* Whether objects of JSON are read of the lines; patterns NULL: there are none. */
bool metric_patterns_objects(const struct metric_patterns *);
/*
 * Where the line behind the one at p begins, and its length without its newline, or
 * without what a progress bar begins its next state with, a bare CR mostly; NULL: it
 * is not complete.  objects: an object of JSON is a line, which may end where another
 * one follows, and have newlines.
 */
const char *metric_line_next(const char *p, const char *end, bool objects,
    size_t *len, bool *overwritten);

/*
 * Parse a line of the log, without its newline: tagged, or matched by the
 * patterns (NULL = none).  True if it reports something.
 *
 * The tag is at the start of the line or after a bare CR (a progress bar), with
 * optional blanks, colours, and what loggers and launchers write before it: a time,
 * a level with the name of the logger, rank 0.  Pairs NAME=NUMBER follow, separated by blanks, with an optional
 * comma before the blank; any other word rejects the whole line.
 *
 * Lines of trial.reads are read after the tag; a pattern of the same line adds
 * names that it lacks.  Patterns are matched against what a terminal would show:
 * the text after the last bare CR without escape sequences, up to 4 KiB, and
 * where none matches, the text before that CR.  The step is searched in the same
 * text.
 */
bool metric_line_parse(struct metric_line *, const struct metric_patterns *,
    const char *line, size_t len);
/*
 * After a line that reports something: the next report of it, if there is one.  The
 * end of a progress bar may be two.
 */
bool metric_line_more(struct metric_line *);
/* A text that patterns are matched against. */
struct metric_part {
	const char *p; /* in the line, or in room */
	size_t len;
	char room[METRIC_PART_MAX];
};
/*
 * The part of a line after its last bare CR as a terminal shows it: without
 * escape sequences and backspaces, at most METRIC_PART_MAX bytes; one that is
 * cut ends before a blank, never within a number.  Returns how many bytes of the
 * line are before it, of which it is called again; 0 = no more parts.
 */
size_t metric_line_part(struct metric_part *, const char *line, size_t len);
/* Whether there is a pattern of this metric; patterns NULL: there are none. */
bool metric_patterns_has(const struct metric_patterns *, const char *metric);
/* What the pattern of a metric makes of a text. */
enum metric_look {
	METRIC_LOOK_NONE, /* it does not match, or there is no such pattern */
	METRIC_LOOK_SLOW, /* its match took too long */
	METRIC_LOOK_NO_GROUP, /* it matches without its first group */
	METRIC_LOOK_TEXT, /* the group has the text, which is no number */
	METRIC_LOOK_PART, /* the group has a part of the text, a number */
	METRIC_LOOK_NUMBER /* … the text, which is one */
};
/*
 * Of several patterns of the metric the one that comes last in the list above
 * counts.  text: a part of the text that is matched, without blanks around it.
 */
enum metric_look
metric_patterns_look(const struct metric_patterns *, const char *metric,
    const struct metric_part *, const char **text, size_t *len);
/*
 * A pattern that reads a metric of a line that nothing has read, where its name
 * or the last word of it stands before a number.  part is the text it reads.
 * False: the line has none, or the pattern does not fit.
 */
bool metric_guess(const char *metric, const char *line, size_t len, char *out,
    size_t size, struct metric_part *part);
/*
 * Parse a line of $HPOTUNE_METRICS: one JSON object; NaN and Infinity are
 * allowed as Python writes them.  A text that is a number counts as one, and a
 * number in an object inside has the name OBJECT/NAME; other members are
 * skipped.  What a name cannot have becomes '_'.  A number without a name, or
 * with that of another one, is skipped, too, and sets left_out.
 */
bool metric_json_parse(struct metric_line *, const char *line, size_t len);
/* The same with another member than "step" as the step. */
bool metric_json_parse_step(
    struct metric_line *, const char *line, size_t len, const char *step);
/* How the members of an object become metrics. */
struct metric_json_names {
	const char *step; /* the member that is the step; NULL: "step" */
	/*
	 * The metric's name of a member, in room or borrowed; NULL: none.  path:
	 * its keys with '/' between them, any bytes.  No function: as above.
	 */
	const char *(*name)(void *arg, const char *path, size_t len,
	    char room[METRIC_LINE_NAME_MAX + 1]);
	void *arg;
};
bool metric_json_parse_names(struct metric_line *, const char *line, size_t len,
    const struct metric_json_names *);
/*
 * Write a dictionary as Python prints it as an object of JSON, in which what is
 * neither a number nor a text is null; false: it is none.
 */
bool metric_python_json(struct buf *, const char *p, const char *end);
/*
 * Members that are the step of an object, beside "step", the first of them that
 * there is; columns of CSV, too.  NULL ends the list.
 */
extern const char *const metric_json_steps[];
/*
 * Give an object without a step that of one of these members.  word: kept between
 * the objects of a file, 0 at first; one whose value was no step is not used again.
 */
void metric_json_step(struct metric_line *, int *word);
/*
 * The name that a study gives to a metric which is called text where it is
 * written; NULL: none.  in_objects: text is a path of keys, and '.' in a tag stands
 * for its '/', too.
 */
const char *metric_tag_name(const struct study_tag *, size_t n,
    const char *text, size_t len, bool in_objects);
/*
 * A metric's name made of other text: each byte that no name contains becomes
 * '_'.  False when it is empty, too long, or has no letter and no digit of ASCII.
 */
bool metric_line_name_make(
    char out[METRIC_LINE_NAME_MAX + 1], const char *text, size_t len);

#endif /* HPOTUNE_METRIC_LINE_H */
