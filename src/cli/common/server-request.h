/*
 * A request of a command: over the socket of the running server, or executed on
 * the database when none runs.
 */

#ifndef HPOTUNE_SERVER_REQUEST_H
#define HPOTUNE_SERVER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/cli/common/cli.h"
#include "src/server/server.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"

struct server_request {
	struct cli *cli;
	struct study_files found;
	char *dir; /* NAME.d */
	struct state_dir state;
	char *by; /* on whose behalf (caller-env.h), or NULL */
	bool list; /* answers are elements of one JSON list */
	bool answered; /* not the first element */
};

/* Find the study, which must exist; closed by server_request_close. */
int server_request_open(struct server_request *, struct cli *, struct err *);
void server_request_close(struct server_request *);

/* What is asked: the name in the protocol, and its arguments. */
struct server_asked {
	const char *name;
	enum tuner_request_kind kind;
	int64_t trial; /* 0 = none */
	const char *params; /* JSON, or NULL */
	bool wait; /* until the server has shut down, unless for a trial */
};
/* Send one and print its answer; returns the exit status. */
int server_request_send(struct server_request *, const struct server_asked *);
/* One for each of n trials: with --json one list of those that were good. */
int server_request_send_each(struct server_request *,
    const struct server_asked *, const int64_t *trials, int n);

/* Find the study, send one request, print its answer; the exit status. */
int server_request_once(struct cli *, const struct server_asked *);
/*
 * The same about the trial that the first operand names.  put writes the params,
 * from the operands behind it; these are wanted, unless there is enough without
 * them.
 */
int server_request_about(struct cli *, struct server_asked *,
    void (*put)(struct buf *, const struct cli *), bool enough,
    const char *wanted);
/*
 * The same for each trial that the operands name, of which one is wanted; NULL:
 * one request where none is named.  all: one request for all trials, and none may
 * be named.
 */
int server_request_named(
    struct cli *, const struct server_asked *, bool all, const char *wanted);

#endif /* HPOTUNE_SERVER_REQUEST_H */
