/* Files of metrics: declarations shared by the readers of the formats. */

#ifndef HPOTUNE_METRIC_FILES_INTERNAL_H
#define HPOTUNE_METRIC_FILES_INTERNAL_H

#include <stddef.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-line/metric-line.h"

enum {
	METRIC_FILES_KEPT = 64, /* bytes by which a file is recognised */
	METRIC_FILES_BUDGET = 1 << 20, /* bytes of one read */
	METRIC_FILES_PATH = 4352
};

/* A report of a column; all zero: none yet. */
struct metric_cell {
	bool is_set;
	int64_t step;
	double value;
};

/* One file that was found. */
struct metric_file {
	const struct study_file *source;
	char *path;
	/* Put before its tags, with '/': a folder of TensorBoard; or NULL. */
	char *prefix;
	dev_t dev;
	ino_t ino; /* 0 = not yet opened */
	int64_t size, mtime_us; /* at the last look */
	int64_t at; /* bytes that were read */
	char kept[METRIC_FILES_KEPT]; /* the last ones before at */
	size_t n_kept;
	bool again; /* its reports may be recorded already */
	bool skip; /* inside a line that is too long */
	bool more; /* the budget ended before the file */
	bool over; /* nothing behind at can be read */
	bool noted;
	/* CSV: a name for each column, NULL where there is none. */
	struct strv header;
	bool has_header;
	char separator;
	size_t step_column; /* header.n: none */
	struct metric_cell *last; /* the last report of each column */
	int64_t rows; /* lines that were read, without the header */
};

struct metric_files {
	const struct study_trial *trial;
	char **paths;
	bool adopted;
	struct metric_file *files;
	size_t n, cap;
	int64_t read_ms, search_ms; /* when the next one is due */
	bool noted_many;
	char *room; /* of the last read */
	size_t room_size;
	struct metric_line line; /* scratch */
	const struct metric_files_sink *sink; /* of this read */
	int64_t since_us;
};

/* The files that there are now, added to the list. */
void metric_files_search(struct metric_files *);
/* A report with the name that the study gives to this tag. */
void metric_files_report(struct metric_files *, const struct metric_file *,
    const char *tag, size_t tag_len, int64_t step, double value,
    int64_t time_us);
/* Once for each file: why a part of it was not read. */
void
metric_files_note(struct metric_files *, struct metric_file *, const char *why);

/*
 * Readers: of the bytes at the offset of the file, how many are done; 0 asks for
 * more bytes.  *need: bytes without which nothing can be read, 0 = unknown.
 */
size_t metric_events_read(struct metric_files *, struct metric_file *,
    const char *bytes, size_t n, bool final, uint64_t *need);
/* One line of CSV or JSON, without its newline. */
void metric_csv_line(
    struct metric_files *, struct metric_file *, const char *line, size_t len);
void metric_csv_clear(struct metric_file *);
/* A whole trainer_state.json; false: it is half written. */
bool metric_trainer_read(
    struct metric_files *, struct metric_file *, const char *bytes, size_t n);

#endif /* HPOTUNE_METRIC_FILES_INTERNAL_H */
