/*
 * The context of each command: operands and options, checked against its row of
 * the command table, and functions to find a study, to print and to fail.  Each
 * cmd-NAME.c has the rows of its commands; main.c has the table.
 */

#ifndef HPOTUNE_CLI_H
#define HPOTUNE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct err;
struct json_writer;
struct store;
struct study_files;

/* Exit statuses: hpotune(1), EXIT STATUS. */
enum cli_status {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_INTERRUPTED = 3
};

struct cli_option {
	const char *name; /* long name; NULL closes a list */
	char letter; /* the short one, or 0 */
	const char *value; /* its name in the usage; NULL = a switch */
	const char *about; /* NULL: internal, not in the usage */
};

struct cli;

struct cli_command {
	const char *name;
	const char *args; /* operands as the usage shows them; NULL = none */
	const char *about; /* one line */
	const struct cli_option *options; /* or NULL */
	int min_operands;
	int max_operands; /* -1 = any number */
	bool json; /* it prints data: it accepts --json */
	int (*run)(struct cli *); /* enum cli_status */
};

struct cli_given {
	const struct cli_option *option;
	const char *value; /* NULL for a switch */
};

struct cli {
	const struct cli_command *command;
	char **operands; /* ends with NULL; borrowed from argv */
	int n_operands; /* without STUDY after cli_find_study */
	struct cli_given *given;
	size_t n_given;
	bool json; /* --json */
	bool terminal; /* stdout is one */
	bool colour; /* a terminal, and NO_COLOR is not set */
	int width; /* columns of stdout, 0 = no limit */
};

/* All commands, in the order of the manual; ends with NULL. */
extern const struct cli_command *const cli_commands[];
/* --json, on commands that print data, and --help, on all. */
extern const struct cli_option cli_option_json;
extern const struct cli_option cli_option_help;
/* Row i of all options of this command, NULL after the last. */
const struct cli_option *cli_option_row(const struct cli_command *, size_t i);
/* The row of a long name of len bytes, or of a letter when name is NULL. */
const struct cli_option *cli_option_find(
    const struct cli_command *, const char *name, size_t len, char letter);

/* Whether a switch or option was given. */
bool cli_has(const struct cli *, const char *option);
/* The (last) value of an option, or NULL. */
const char *cli_value(const struct cli *, const char *option);
/* Value i of an option that may be repeated, or NULL. */
const char *cli_value_nth(const struct cli *, const char *option, size_t i);
/* An integer in min … max, or def when not given.  ERR_USAGE. */
int cli_integer(const struct cli *, const char *option, int64_t min,
    int64_t max, int64_t def, int64_t *out, struct err *);
/* The same for any text; what names it in the error ("trial"). */
int cli_read_integer(const char *text, const char *what, int64_t min,
    int64_t max, int64_t *out, struct err *);

/* The only remaining operand, as the number of a trial. */
int cli_trial_operand(const struct cli *, int64_t *, struct err *);

/*
 * The operands NAME=VALUE … as a partial setting: space->n values, which the
 * caller has zeroed.  ERR_USAGE.
 */
struct space;
struct value;
int cli_setting_operands(
    const struct cli *, const struct space *, struct value *, struct err *);

/*
 * Write to stdout and free; returns CLI_DONE. Control sequences other than
 * newlines, tabs and colours are escaped.
 */
int cli_print(struct buf *);
/* The same for JSON, which the caller keeps. */
void cli_print_json(const char *text);
/*
 * printf of one line: control characters become \xNN, except a newline at the
 * end.
 */
void cli_print_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Append an untrusted text, escaped in the same way. */
void cli_put_text(struct buf *, const char *text);
/* Print each line of text as a note to stderr. */
void cli_print_notes(const struct buf *);
/* argv (ends with NULL) as one shell line for display; and as a JSON array. */
void cli_put_argv(struct buf *, char *const *argv);
void
cli_put_argv_json(struct json_writer *, const char *key, char *const *argv);
/* A trial's params, one line each, all digits. */
void cli_put_params(struct buf *, const char *json);
/* Print "hpotune: text" and return the exit status for its kind. */
int cli_fail(const struct err *);

/*
 * The study given on the command line: study.json, NAME.db, or the only one in
 * the folder.  Removes the operand when it names a study.  state: the folder of
 * NAME.db when it is not beside study.json, or NULL.
 */
int cli_find_study(
    struct cli *, struct study_files *, const char *state, struct err *);
/* Find the study and open its database for reading. */
int cli_open_store(
    struct cli *, struct study_files *, struct store **, struct err *);

extern const struct cli_command cmd_start, cmd_queue, cmd_check, cmd_try,
    cmd_status, cmd_watch, cmd_trials, cmd_best, cmd_show, cmd_logs, cmd_stop,
    cmd_pause, cmd_resume, cmd_retry, cmd_forget, cmd_clean, cmd_note, cmd_tag,
    cmd_rename, cmd_confirm, cmd_propose, cmd_verdict, cmd_enqueue, cmd_ask,
    cmd_tell, cmd_judge, cmd_replay, cmd_strategies, cmd_rules, cmd_importance,
    cmd_export, cmd_report, cmd_plot, cmd_web, cmd_mcp, cmd_sql, cmd_import,
    cmd_sagemaker, cmd_slurm, cmd_doctor, cmd_completion, cmd_help, cmd_version;

#endif /* HPOTUNE_CLI_H */
