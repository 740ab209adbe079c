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
#include "src/server/state-dir.h"

struct server_request {
	struct cli *cli;
	struct cli_study found;
	char *dir; /* NAME.d */
	struct state_dir state;
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
	bool wait; /* until the server has shut down */
};
/* Send one and print its answer; returns the exit status. */
int server_request_send(struct server_request *, const struct server_asked *);
/* One for each of n trials: with --json one list of those that were good. */
int server_request_send_each(struct server_request *,
    const struct server_asked *, const int64_t *trials, int n);

/*
 * The remaining operands as n trial numbers, which the caller frees; all are
 * read before one is used.
 */
int server_request_trials(
    struct server_request *, int64_t **trials, int *n, struct err *);

#endif /* HPOTUNE_SERVER_REQUEST_H */
