/*
 * Inside the store: the connection, its prepared statements, and how values
 * travel in and out.  Only src/store includes this.
 */

#ifndef HPOTUNE_STORE_INTERNAL_H
#define HPOTUNE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "src/base/err.h"
#include "src/store/store.h"

/* "hpot": what file(1) and store_open look for. */
#define STORE_APPLICATION_ID 0x68706f74

/* How long a transaction waits for the write lock. */
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
	STMT_GPU_PUT,
	STMT_GPU_CLEAR,
	STMT_ARTIFACTS_PUT,
	STMT_NOTICE_ADD,
	STMT_NOTICE_NEXT,
	STMT_NOTICE_TOLD,
	STMT_NOTICE_MARK,
	STMT_COST_GET,
	STMT_NAME_GET,
	STMT_NAME_ADD,
	STMT_METRIC_ADD,
	STMT_METRIC_EXISTS,
	STMT_METRIC_EACH,
	STMT_METRIC_LAST,
	STMT_SPEED,
	STMT_MEDIAN_PUT,
	STMT_STOP_ADD,
	STMT_STOP_LATE,
	STMT_EVENT_ADD,
	STMT_SUGGESTION_ADD,
	STMT_QUEUE_ADD,
	STMT_QUEUE_NEXT,
	STMT_QUEUE_TAKE,
	STMT_QUEUE_LENGTH,
	STMT_CURVE_EACH,
	STMT_RECORD_REPORT,
	STMT_RECORD_TRIAL,
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
	unsigned long log_inode, index_inode; /* of the log; 0 = not seen yet */
	bool begun; /* between store_begin and its end */
	bool lost; /* an error has undone the transaction: */
	struct err lost_err; /* this one */
	bool dead; /* memory and file may differ: reopen */
	int64_t seq; /* last number given to a record */
	int64_t seq_begin; /* the same when the transaction began */
	struct store_name *names; /* cache of t_name, sorted by name */
	size_t n_names;
	sqlite3_stmt *stmts[STMT_COUNT];
	int64_t steps, steps_most; /* query-limit.c */
};

/* What stat says: -1 an error, 0 nothing or an empty file, 1 a file. */
int store_file_kind(const char *path, struct err *);
struct store *store_new(const char *path, enum store_mode);
/* Open the connection and set what every connection has. */
int store_connect(struct store *, const char *name, int flags, struct err *);
/* The same for writing. */
int store_connect_write(struct store *, struct err *);
/* Whose file it is; *version 0 = nobody's: nothing was ever put into it. */
int store_identify(struct store *, int64_t *version, struct err *);
/*
 * The journal.  A network file system has no shared memory: there an old
 * rollback journal, and nobody else may look while we have it open.
 */
int store_set_journal(struct store *, bool network_fs, struct err *);

/* Make the name of a file last. */
void store_sync_folder(const char *path);
/* Give every query of the connection an end: SQLITE_INTERRUPT. */
void query_limit_open(struct store *);
/* A query begins: it has all the steps, unless another one is under way. */
void query_limit_begin(struct store *);

/* Fill err from the connection's last error: "PATH: what: why". */
int store_fail(struct store *, const char *what, struct err *);
/* Run SQL text that gives no rows. */
int store_exec(struct store *, const char *sql, struct err *);
/* Forget the ids of metric names, after a rollback and at the end. */
void store_names_clear(struct store *);

/* The statement, ready to bind; NULL and err when it cannot be prepared. */
sqlite3_stmt *stmt_get(struct store *, enum stmt_id, struct err *);
/* 1 a row, 0 the end, -1 an error; both ends reset the statement. */
int stmt_step(struct store *, sqlite3_stmt *, struct err *);
/* Run a statement that writes; refused outside a transaction. */
int stmt_write(struct store *, sqlite3_stmt *, struct err *);
/* Let go of a row before the end. */
void stmt_done(sqlite3_stmt *);
void stmt_finalize_all(struct store *);

/*
 * Bind parameter i.  Text is made valid UTF-8 and must live until the statement
 * has run; NULL and NaN bind NULL.
 */
void stmt_text(sqlite3_stmt *, int i, const char *);
/* One line for people: what a terminal would obey stands as \xNN. */
void stmt_line(sqlite3_stmt *, int i, const char *);
void stmt_int(sqlite3_stmt *, int i, int64_t);
/* NULL when v is the value that stands for none. */
void stmt_int_or(sqlite3_stmt *, int i, int64_t v, int64_t none);
void stmt_real(sqlite3_stmt *, int i, double);

/* Read column i: borrowed text, a number, or what stands for NULL. */
char *stmt_col_text(sqlite3_stmt *, int i);
int64_t stmt_col_int(sqlite3_stmt *, int i, int64_t none);
double stmt_col_real(sqlite3_stmt *, int i);
/* A copy of text that may be NULL. */
char *stmt_dup(const char *);

/* Whether s is valid UTF-8; a copy with U+FFFD for each byte that is not. */
bool utf8_valid(const char *s);
char *utf8_clean(const char *s);

/* Inside a transaction: bring an empty or older file to the newest schema. */
int schema_migrate(struct store *, int64_t from, struct err *);
/* For a reader of an older file: what it lacks, as views of its own. */
int schema_read_old(struct store *, int64_t version, struct err *);
/* The newest schema version this program knows. */
int64_t schema_version(void);
/* Inside a transaction: make moves and views anew. */
int schema_refresh(struct store *, struct err *);

/* The views that name parameters and metrics. */
int schema_generated_views(struct store *, struct err *);

/* Make t_name's id of a name, inside a transaction. */
int store_name_id(struct store *, const char *name, int64_t *id, struct err *);
/* "strategy", "enqueue" or "default" as static text. */
const char *store_source(const char *);

#endif /* HPOTUNE_STORE_INTERNAL_H */
