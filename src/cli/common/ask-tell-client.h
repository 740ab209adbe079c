/*
 * Requests of programs that run trials themselves: sent to the running server,
 * or executed on the database when none runs.
 */

#ifndef HPOTUNE_ASK_TELL_CLIENT_H
#define HPOTUNE_ASK_TELL_CLIENT_H

#include <stdbool.h>

#include "src/cli/common/cli.h"
#include "src/engine/tuner/tuner.h"
#include "src/study-files/study-files.h"

struct control_answer;
struct json_writer;

struct ask_tell_client {
	struct study_files found;
	char *dir; /* NAME.d */
	bool network_fs; /* network_fs for a study that is created */
	int64_t asker; /* pid of the process that asks and tells; 0 = unknown */
	bool is_sure; /* it is that process which runs the trial */
	char *by; /* on whose behalf (caller-env.h), or NULL */
};

/*
 * Find the study (db_dir as for cli_find_study).  With make, its database
 * need not exist.
 */
int ask_tell_client_open(struct ask_tell_client *, struct cli *,
    const char *db_dir, bool make, struct err *);
void ask_tell_client_close(struct ask_tell_client *);
/*
 * Add the member "asker" to the params of a request: which process asks or tells.
 */
void
ask_tell_client_put_asker(const struct ask_tell_client *, struct json_writer *);
/*
 * Send one request; params is JSON. Waits while another process has the study
 * locked.  Answers that are not ok are errors, too.  The caller frees the data.
 */
int ask_tell_client_call(struct ask_tell_client *, enum tuner_request_kind,
    int64_t trial, const char *params, struct control_answer *, struct err *);
/* Print the answer to reports, or to judge; warnings go to standard error. */
int ask_tell_client_print(
    const struct cli *, const struct control_answer *, struct err *);

#endif /* HPOTUNE_ASK_TELL_CLIENT_H */
