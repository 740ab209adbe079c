/* hpotune web: the server of the pages, a process of its own. */

#ifndef HPOTUNE_WEB_SERVER_H
#define HPOTUNE_WEB_SERVER_H

#include <stdbool.h>

struct err;

struct web_server_options {
	char **places; /* folders, study.json, NAME.db; ends with NULL */
	const char *socket; /* path of a Unix socket, or NULL: TCP */
	const char *bind; /* address of TCP, "127.0.0.1" */
	int port; /* 0 = any free one */
	const char *host; /* a host name that is allowed as well, or NULL */
	bool read_only;
	int until_fd; /* ends when this reads its end; -1 = none */
	/*
	 * Called once when clients can connect: token is "" on a Unix socket.
	 */
	void (*ready)(void *arg, int port, const char *token);
	void *arg;
};

/* Serve until SIGINT or SIGTERM. */
int web_server_run(const struct web_server_options *, struct err *);

#endif /* HPOTUNE_WEB_SERVER_H */
