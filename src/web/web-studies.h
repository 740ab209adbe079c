/*
 * The studies that the pages show: databases named on the command line, and
 * those found in folders, which are searched again and again.
 */

#ifndef HPOTUNE_WEB_STUDIES_H
#define HPOTUNE_WEB_STUDIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct err;

/* A line of the list of studies, as read at a moment. */
struct web_summary {
	char *name, *state, *goal, *created, *ended, *trouble;
	int64_t trials, running, completed, stopped, failed, limit;
	int64_t best_trial; /* 0 = none */
	int64_t front; /* trials on it, of several objectives */
	double best, cost;
	double elapsed; /* seconds that servers ran it */
};

/* What changes with each commit of a database. */
struct web_stamp {
	dev_t dev;
	ino_t ino;
	struct timespec changed, log_changed;
	off_t size, log_size;
};

struct web_study {
	char *id; /* in addresses: NAME, or NAME~2 when it is taken */
	char *db; /* NAME.db, absolute */
	char *state_dir; /* its folder, absolute */
	char *note; /* of the user, as of the last web_study_sum; NULL = none */
	bool seen; /* in the last search */
	bool summed; /* summary is of the stamp */
	bool late; /* a page did not wait for its summary */
	struct web_stamp stamp;
	struct web_summary summary;
};

struct web_studies {
	char **
	    places; /* folders, study.json, NAME.db; borrowed, ends with NULL */
	struct web_study **studies; /* by id */
	size_t n, cap;
};

/* Search the places; studies that are gone are removed. */
void web_studies_search(struct web_studies *);
void web_studies_fini(struct web_studies *);
/* By id; searches again when it is unknown.  NULL = none. */
struct web_study *web_studies_find(struct web_studies *, const char *id);
/*
 * Read the note, and the summary unless the database has not changed, or it is
 * later than until_ms (clock_boot_ms): the study is late then.
 */
void web_study_sum(struct web_study *, int64_t until_ms);
/*
 * Read summaries of studies that are late, until then, at least one; false:
 * some still are.
 */
bool web_studies_catch_up(struct web_studies *, int64_t until_ms);
/* The stamp of the database now; all 0 when it is gone. */
void web_study_stamp(const struct web_study *, struct web_stamp *);
bool web_stamp_same(const struct web_stamp *, const struct web_stamp *);
/*
 * Whether the list hides it: there is a file "archived" in its folder.  The
 * databases belong to the tuner, so that it is none of their columns.
 */
bool web_study_archived(const struct web_study *);
/* Create or remove this file. */
int web_study_archive(const struct web_study *, bool archived, struct err *);
/*
 * Set the note, which is a file "note" there: one line of 500 bytes at most; ""
 * removes it.
 */
int web_study_note(const struct web_study *, const char *text, struct err *);
/* The note as it is now, or NULL; the caller frees it. */
char *web_study_note_read(const struct web_study *);
/* Whether a server runs it. */
bool web_study_alive(const struct web_study *);

#endif /* HPOTUNE_WEB_STUDIES_H */
