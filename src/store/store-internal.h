/*
 * Inside the store: the connection, its prepared statements, and how values are
 * bound and read.  Only src/store includes this.
 */

#ifndef HPOTUNE_STORE_INTERNAL_H
#define HPOTUNE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "src/base/err.h"
#include "src/store/store.h"

struct buf;
struct kept;
struct statements;
struct views_only;

/* "hpot": identifies the file, for file(1) and store_open. */
#define STORE_APPLICATION_ID 0x68706f74

/* How long a transaction waits for the write lock, in milliseconds. */
#define STORE_WRITE_WAIT_MS 20

enum stmt_id {
	STMT_BEGIN_READ,
	STMT_BEGIN_WRITE,
	STMT_COMMIT,
	STMT_COUNTER_GET,
	STMT_COUNTER_PUT,
	STMT_STUDY_ADD,
	STMT_STUDY_GET,
	STMT_STUDY_PUT,
	STMT_PARAM_ADD,
	STMT_PARAM_EACH,
	STMT_STUDY_LEAVES,
	STMT_AIM_ADD,
	STMT_AIM_EACH,
	STMT_MOVE_ADD,
	STMT_TRIAL_ADD,
	STMT_TRIAL_GET,
	STMT_SETTING_PUT,
	STMT_SETTING_OUTCOME_PUT,
	STMT_TRIAL_REPORT,
	STMT_TRIAL_PUT,
	STMT_TRIAL_END,
	STMT_TRIAL_EACH,
	STMT_TRIAL_FAILED,
	STMT_OUTCOME_PUT,
	STMT_OUTCOME_EACH,
	STMT_OUTCOME_GET,
	STMT_FRONT_ADD,
	STMT_FRONT_DROP,
	STMT_FRONT_EACH,
	STMT_FRONT_CLEAR,
	STMT_ATTEMPT_ADD,
	STMT_ATTEMPT_GET,
	STMT_ATTEMPT_OFFSETS,
	STMT_ATTEMPT_PUT,
	STMT_ATTEMPT_OPEN,
	STMT_ATTEMPT_UNDO,
	STMT_ATTEMPT_DROP,
	STMT_ATTEMPT_TIMES,
	STMT_ATTEMPT_COST,
	STMT_ATTEMPT_PAST,
	STMT_ATTEMPT_LOOKS,
	STMT_GPU_PUT,
	STMT_GPU_CLEAR,
	STMT_ARTIFACTS_PUT,
	STMT_NOTICE_ADD,
	STMT_NOTICE_NEXT,
	STMT_NOTICE_TOLD,
	STMT_NOTICE_MARK,
	STMT_COST_GET,
	STMT_GPU_SECONDS_GET,
	STMT_NAME_GET,
	STMT_NAME_ADD,
	STMT_NAME_EACH,
	STMT_BLOCK_PUT,
	STMT_BLOCK_DROP,
	STMT_BLOCK_BEFORE,
	STMT_BLOCK_FILL,
	STMT_SPENT_ADD,
	STMT_SPENT_PAST,
	STMT_METRIC_EXISTS,
	STMT_METRIC_EACH,
	STMT_METRIC_LAST,
	STMT_METRIC_SERIES,
	STMT_SPEED,
	STMT_MEDIAN_PUT,
	STMT_MEDIAN_EACH,
	STMT_STOP_ADD,
	STMT_LOOK_EACH,
	STMT_OWN_STEPS_PUT,
	STMT_TRIAL_REVIVE,
	STMT_RETRY_ADD,
	STMT_TRIAL_FORGET,
	STMT_MEDIAN_CLEAR,
	STMT_TRIAL_REFIT,
	STMT_PARAM_CLEAR,
	STMT_STUDY_RENAME,
	STMT_LOGS_RENAME,
	STMT_CHANGE_ADD,
	STMT_PROVENANCE_PUT,
	STMT_PROVENANCE_SETTLE,
	STMT_PACKAGES_ADD,
	STMT_ASKER_PUT,
	STMT_TRIAL_NUMBER,
	STMT_CONTEST_PUT,
	STMT_CONTEST_EACH,
	STMT_NOTE_PUT,
	STMT_NOTE_DROP,
	STMT_TAG_PUT,
	STMT_TAG_DROP,
	STMT_PLACE_PUT,
	STMT_PLACE_EACH,
	STMT_PLACE_FORGIVE,
	STMT_ANY_REPORT,
	STMT_ANY_DOUBT,
	STMT_STOP_LATE,
	STMT_EVENT_ADD,
	STMT_REQUEST_ADD,
	STMT_SUGGESTION_ADD,
	STMT_QUEUE_ADD,
	STMT_QUEUE_NEXT,
	STMT_QUEUE_TAKE,
	STMT_QUEUE_LENGTH,
	STMT_QUEUE_DROP,
	STMT_CURVE_EACH,
	STMT_RECORD_BLOCK,
	STMT_RECORD_SERIES,
	STMT_RECORD_TRIAL,
	STMT_RECORD_LOOK,
	STMT_RECORD_RETRY,
	STMT_RECORD_STOP,
	STMT_LAST_STEP,
	STMT_WARM_ADD,
	STMT_WARM_COUNT,
	STMT_WARM_EACH,
	STMT_COUNT
};

struct store {
	sqlite3 *db;
	char *path;
	enum store_mode mode;
	bool wal;
	bool once; /* opened by STORE_WRITE_ONCE */
	unsigned long log_inode,
	    index_inode; /* of the log; 0 = not recorded yet */
	bool begun; /* between store_begin and commit or rollback */
	bool lost; /* the transaction has failed: it can only be rolled back */
	struct err lost_err; /* … by this error, the first */
	bool failed; /* a call has failed */
	bool fixed; /* it cannot be kept: immutable, or of an older program */
	bool dead; /* memory and file may differ: open again */
	int64_t seq; /* number of the latest record */
	int64_t seq_begin; /* the same when the transaction began */
	struct store_name *names; /* cache of t_name, sorted by name */
	size_t n_names;
	bool new_names; /* results lacks metrics of this transaction */
	sqlite3_stmt *stmts[STMT_COUNT];
	int64_t steps, steps_most; /* query.c */
	bool steps_fixed; /* query.c: not by the size of the file */
	struct kept *kept; /* kept.c: it may be kept after its close; or NULL */
	struct statements *statements; /* of readers, or NULL */
	/* query-views.c: the query that is compiled, or NULL; limits before it */
	struct views_only *views;
	bool views_watched;
	int views_limits[4];
	/* row-block.c: by trial and metric; the last one used */
	struct block **blocks;
	size_t n_blocks, cap_blocks, block_last;
	size_t n_dirty; /* of them have reports that the file has not */
};

struct store *store_new(const char *path, enum store_mode);
/* store_open in two parts, and store_close, where nothing is kept. */
int store_open_check(const char *path, struct err *);
int store_open_new(
    struct store **, const char *path, enum store_mode, struct err *);
void store_free(struct store *);
/* Open the connection and apply the settings common to all connections. */
int store_connect(struct store *, const char *name, int flags, struct err *);
/* From now on keep the errno that SQLite only logs; before any connection. */
void os_error_listen(void);
/* The errno of the last failure of this connection; 0: none is known. */
int os_error(const struct store *);
/* Check that the file is a study's; *version 0: a file without tables. */
int store_identify(struct store *, int64_t *version, struct err *);
/* A statement of statements_put with this text, or NULL. */
sqlite3_stmt *statements_take(struct store *, const char *sql);
/* Take a statement over for its next use; false: it is not kept. */
bool statements_put(struct store *, sqlite3_stmt *);
void statements_free(struct store *);
/* The state of a path: -1 an error, 0 no file or an empty one, 1 a file. */
int store_file_kind(const char *path, struct err *);
/*
 * Set the journal mode.  A network file system has no shared memory: it gets a
 * rollback journal, and no other process can read while it is open.
 */
int store_set_journal(struct store *, bool network_fs, struct err *);
/* store_connect for writing, with the settings of a writer. */
int store_connect_write(struct store *, struct err *);

/* Sync the folder of path, so that a new file's name is durable. */
void store_sync_folder(const char *path);
/* Limit each query of the connection: SQLITE_INTERRUPT. */
void query_limit_open(struct store *);
/* Set the limits of a query of the user, and those of our own again. */
void query_views_limits(struct store *);
void query_views_limits_lift(struct store *);
/* No limit: for a file of our own that is only written. */
void query_limit_lift(struct store *);
/* A query begins: reset the step count, unless another one is running. */
void query_limit_begin(struct store *);
/* What went wrong with a database of another tool; what: "storage of Optuna". */
int
query_foreign_err(sqlite3 *, const char *path, const char *what, struct err *);

/*
 * The first n columns of the first row of a query, NaN where it is NULL or there
 * is no row: 1, 0 when there is none, or -1.
 */
int query_numbers(
    double *out, size_t n, struct store *, const char *sql, struct err *);
/* store_rows_open of a text that holds its numbers. */
int query_openf(struct store_rows **, struct store *, struct err *,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The rows of a statement, which they own. */
struct store_rows *store_rows_of(struct store *, sqlite3_stmt *);

/* "PATH: text" is the error, of kind ERR_STORE; the transaction fails. */
int store_refuse(struct store *, struct err *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Set err from the connection's last error: "PATH: what: why"; the transaction
 * fails.
 */
int store_fail(struct store *, const char *what, struct err *);
/* Run SQL that returns no rows. */
int store_exec(struct store *, const char *sql, struct err *);
/* Clear the cache of metric ids, after a rollback and at the close. */
void store_names_clear(struct store *);

/* The statement, ready to bind; NULL with err when it cannot be prepared. */
sqlite3_stmt *stmt_get(struct store *, enum stmt_id, struct err *);
/* 1 a row, 0 the end, -1 an error; both ends reset the statement. */
int stmt_step(struct store *, sqlite3_stmt *, struct err *);
/* 0, or -1 with err outside a transaction and in one that has failed. */
int stmt_may_write(struct store *, struct err *);
/* Run a statement that writes; the same errors. */
int stmt_write(struct store *, sqlite3_stmt *, struct err *);
/* Reset a statement before its last row. */
void stmt_done(sqlite3_stmt *);
void stmt_finalize_all(struct store *);

/* Texts of statements, by those who bind them. */
extern const char row_trial_add[], row_trial_get[], row_trial_report[],
    row_trial_put[];
extern const char row_attempt_add[], row_attempt_get[], row_attempt_offsets[],
    row_attempt_put[], row_attempt_open[];

/*
 * Bind parameter i.  Text is made valid UTF-8 and must live until the statement
 * has run; NULL and NaN bind NULL.
 */
void stmt_text(sqlite3_stmt *, int i, const char *);
/* One line for display: control characters become \xNN. */
void stmt_line(sqlite3_stmt *, int i, const char *);
void stmt_int(sqlite3_stmt *, int i, int64_t);
/* NULL when v equals none. */
void stmt_int_or(sqlite3_stmt *, int i, int64_t v, int64_t none);
void stmt_real(sqlite3_stmt *, int i, double);

/* Read column i: borrowed text or a number; NULL reads as the default. */
char *stmt_col_text(sqlite3_stmt *, int i);
int64_t stmt_col_int(sqlite3_stmt *, int i, int64_t none);
double stmt_col_real(sqlite3_stmt *, int i);
/* A copy of text that may be NULL. */
char *stmt_dup(const char *);

/* The version in which reports are copied to blocks. */
enum { SCHEMA_WITH_BLOCKS = 23 };

/* Inside a transaction: migrate a file of version from to the newest schema. */
int schema_migrate(struct store *, int64_t from, struct err *);
/* schema-old.c, for a reader of an older file: define what it lacks as temporary views. */
int schema_read_old(struct store *, int64_t version, struct err *);
/* The newest schema version that this program supports. */
int64_t schema_version(void);
/* Inside a transaction: write the transitions, recreate views that differ. */
int schema_refresh(struct store *, struct err *);
/* The same in the image of a new study, which has all but what depends on it. */
int schema_first(struct store *, struct err *);
/*
 * Append the statements that make the views whose columns depend on the study.
 * Columns beyond SQLite's limit are omitted.
 */
int schema_views_generated(struct store *, struct buf *sql, struct err *);
/*
 * Inside a transaction: make view results again, for metrics that are new; or
 * make a temporary one, for a reader of a file whose results has no metrics.
 */
int schema_views_results(struct store *, bool temporary, struct err *);

/* create.c: open, in memory, what a new study has before anything is written. */
int store_open_newest(struct store *, struct err *);
/* Inside a transaction: the names of the parameters, in order. */
int store_add_params(struct store *, const struct space *, struct err *);
/* The id of a name in t_name, which is added if new; inside a transaction. */
int store_name_id(struct store *, const char *name, int64_t *id, struct err *);

/* lock-holder.c: whether the file system of the database has no locks. */
bool store_lock_impossible(const struct store *);

#endif /* HPOTUNE_STORE_INTERNAL_H */
