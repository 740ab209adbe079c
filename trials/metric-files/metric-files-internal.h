/*
 * What the files of trials/metric-files share: one file that is read as it
 * grows, the readers of formats, the search below a folder.
 */

#ifndef HPOTUNE_METRIC_FILES_INTERNAL_H
#define HPOTUNE_METRIC_FILES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trials/metric-files/metric-files.h"
#include "trials/metric-line/metric-line.h"

struct metric_file;
struct metric_patterns;
struct study_file;

enum {
	METRIC_FILE_KEPT = 64, /* bytes by which a file is recognised */
	METRIC_FILE_PATH_BYTES = 4352,
	METRIC_FILE_RECORD_MAX = 1 << 20, /* larger records are pictures */
	METRIC_FILE_WHOLE_MAX = 64 << 20 /* of a file that is read at once */
};

/*
 * A format of files.  Each is one file of this folder, and a row of
 * metric-readers.c.
 */
struct metric_reader {
	const char *word; /* of "from" in trial.metrics */
	const char *what; /* what lies in a folder without path; NULL: any */
	bool has_step; /* its files have columns or members: the key "step" */
	bool is_text; /* its lines are those of a log: the keys of patterns */
	bool has_objects; /* a tag names the keys of objects with '.' or '/' */
	/* Folders give their names to the metrics of their files. */
	bool has_folders;
	/* The bytes are always those of the whole file, when it has changed. */
	bool is_whole;
	/* Whether a file below a folder is one, by its name. */
	bool (*fits)(const char *name);
	/*
	 * Read what is new: how many of the bytes are done.  A rest is given
	 * again, with more bytes behind it; final: there are no more.
	 */
	size_t (*read)(
	    struct metric_file *, const char *bytes, size_t n, bool final);
	/* The trial has ended, and all files were read; NULL: nothing to do. */
	void (*end)(struct metric_file *);
	/*
	 * Whether the file has reported a metric; NULL: the reader does not
	 * know.
	 */
	bool (*has_name)(const struct metric_file *, const char *name);
	/*
	 * Put what the file has of a metric in the place of a number; false:
	 * nothing.  NULL: the reader does not know.
	 */
	bool (*put_unread)(
	    const struct metric_file *, const char *metric, struct buf *);
	/* Free what the reader keeps for the file; NULL: nothing. */
	void (*clear)(void *state);
};

extern const struct metric_reader metric_csv;
extern const struct metric_reader metric_events;
extern const struct metric_reader metric_jsonl;
extern const struct metric_reader metric_text;
extern const struct metric_reader metric_trainer_state;

/* The reader of a word; NULL: there is none. */
const struct metric_reader *metric_reader_find(const char *word);

/* One file that was found. */
struct metric_file {
	struct metric_files *of;
	const struct metric_reader *reader;
	const struct study_file *source;
	const struct metric_patterns *patterns; /* of text; or NULL */
	char *path;
	/* Put before its tags, with '/': a folder of TensorBoard; or NULL. */
	char *prefix;
	bool below; /* the folder above has event files, too */
	dev_t dev;
	ino_t ino; /* 0 = not yet opened */
	int64_t size, mtime_us; /* at the last look */
	int64_t at; /* bytes that were read */
	char kept[METRIC_FILE_KEPT]; /* the last ones before at */
	size_t n_kept;
	uint64_t need; /* bytes of the record at the head, 0 = unknown */
	bool again; /* its reports may be recorded already */
	bool skip; /* inside a line that is too long */
	bool more; /* the budget ended before the file */
	bool over; /* nothing behind at can be read */
	bool left; /* a server has crashed in it */
	char *noted; /* what metric_file_note() has said, or NULL */
	/* Of text: its line ends with a bare CR, another one overwrites it. */
	bool overwritten;
	void *state; /* of its reader; NULL at the start of the file */
};

/*
 * What is new in the file, of at most budget bytes: those that were read.  Events
 * and files from before since_us are of an earlier attempt.
 */
size_t metric_file_look(struct metric_file *, size_t budget, bool final);
void metric_file_free(struct metric_file *);
/* Once for each file: why a part of it was not read. */
void metric_file_note(struct metric_file *, const char *why);
/*
 * Give each whole line to the function, without its end; the last one without a
 * newline, too, when final.  How many bytes are done.
 */
size_t
metric_file_lines(struct metric_file *, const char *bytes, size_t n, bool final,
    void (*line)(struct metric_file *, const char *line, size_t len));

/*
 * The metric's name of a tag of this file, which out has room for; NULL: it can
 * have none.
 */
const char *metric_files_name(const struct metric_file *, const char *tag,
    size_t len, char out[METRIC_LINE_NAME_MAX + 1]);
/* Report a value of a name; a step that is none is dropped. */
void metric_files_report(const struct metric_file *, const char *name,
    int64_t step, double value, int64_t time_us);
/*
 * Read an object of JSON; its values have the names of metrics.  NULL: there are
 * none, which the file's note says.  The line is valid until the next call.
 */
struct metric_line *
metric_files_json(struct metric_file *, const char *text, size_t len);
/* Find the name of a tag, and report the value. */
void metric_files_report_tag(const struct metric_file *, const char *tag,
    size_t len, int64_t step, double value, int64_t time_us);
/* Whether another file of the trial has reported a metric. */
bool metric_files_has_name(const struct metric_file *, const char *name);
void metric_files_note(const struct metric_files *, const char *text);
/* When the attempt began; 0 = unknown. */
int64_t metric_files_since(const struct metric_file *);
/* Room for so many bytes, until the next call. */
char *metric_files_room(const struct metric_file *, size_t n);

/* A search of files below a folder. */
struct metric_search {
	bool (*fits)(const char *name); /* unless only or pattern is given */
	const char *only; /* files of this name, or NULL */
	bool unless_events; /* only in folders without event files */
	bool has_folders; /* found with a prefix */
	/* prefix: NULL = none; below: the folder above has event files. */
	void (*found)(
	    void *arg, const char *path, const char *prefix, bool below);
	void *arg;
	/* State of the search, zero before it. */
	int64_t seen; /* entries of folders, which are its cost */
	int entries;
	bool is_full; /* there are more files than it looks at */
	const char *pattern;
	size_t base; /* bytes of a path before what the pattern matches */
};

/* path: a file, a folder, or a pattern of paths (metric_search_is_pattern). */
void metric_search(struct metric_search *, const char *path);
/*
 * Whether a path, as far as there is no such file, is a pattern: '*' stands for
 * bytes of a name, and a part that is "**" for any folders.
 */
bool metric_search_is_pattern(const char *path);
bool metric_search_matches(const char *pattern, const char *path);
bool metric_search_is_events(const char *name);
/* Whether a name ends with a text that is shorter. */
bool metric_search_ends(const char *name, const char *end);

#endif /* HPOTUNE_METRIC_FILES_INTERNAL_H */
