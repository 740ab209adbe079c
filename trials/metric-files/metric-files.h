/*
 * Reads metrics from files that a trial writes (trial.reads, and trial.metrics
 * with "from" or "path"): TensorBoard event files, CSV, JSON lines,
 * trainer_state.json, lines of text.
 *
 * Files are found by their names below a folder, or named one by one, and are
 * looked at again as they grow: whole records and lines only.  How far each was
 * read is kept in memory alone: after a restart all are read again, and their
 * reports are marked, so that the tuner drops those that are recorded.
 * Input is untrusted: any bytes, any tree.
 */

#ifndef HPOTUNE_METRIC_FILES_H
#define HPOTUNE_METRIC_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct study_trial;

struct metric_files_sink {
	/*
	 * One value.  time_us: of the report, 0 = not given; again: it may be
	 * recorded already, with this step and value.
	 */
	void (*report)(void *arg, const char *name, int64_t step, double value,
	    int64_t time_us, bool again);
	/* A clause for the log: what was not read. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

struct metric_files;

enum { METRIC_READERS_MAX = 16 };

/* The words of the formats, for "from"; the list ends with NULL. */
void metric_reader_words(const char *out[METRIC_READERS_MAX + 1]);
/*
 * The files of one attempt; NULL when the study has none.  paths: one for each of
 * trial.files, absolute; copied.  adopted: an earlier server may have recorded
 * some of their reports.  The settings are borrowed.
 */
struct metric_files *
metric_files_new(const struct study_trial *, char *const *paths, bool adopted);
void metric_files_free(struct metric_files *);
/*
 * Append that files were read, and have no number of this metric, which none has
 * reported; false: no file was found, or none is read (NULL).
 */
bool metric_files_put_unread(
    const struct metric_files *, const char *metric, struct buf *);
/* Whether a file with steps has reported this metric; m may be NULL. */
bool metric_files_reports(const struct metric_files *m, const char *metric);
/*
 * Read what is new, at most 1 MiB; true: there may be more at once.  Files that
 * were last written before since_us, and events of TensorBoard from before it,
 * belong to an earlier attempt: they are not read.  Between two looks pass at
 * least 250 ms of now_ms, between two searches of a folder 1 s and more, unless
 * final: the trial has ended, and the last line needs no newline.
 */
bool metric_files_read(struct metric_files *, const struct metric_files_sink *,
    int64_t since_us, int64_t now_ms, bool final);

/*
 * Whether the files of a study can be read: formats, keys and patterns of
 * trial.metrics.  An error names the key of study.json.
 */
int metric_files_check(const struct study_trial *, struct err *);

#endif /* HPOTUNE_METRIC_FILES_H */
