/* The server of t_http, in processes of its own. */

#ifndef HPOTUNE_HTTP_PROCESS_SERVER_H
#define HPOTUNE_HTTP_PROCESS_SERVER_H

#include <sys/types.h>

struct http_process_server {
	pid_t pid;
	int port;
};

void http_process_server_start(struct http_process_server *);
void http_process_server_stop(struct http_process_server *);
/* A listening socket on a free port of this machine. */
int http_process_server_listen(int *port, int backlog);

#endif /* HPOTUNE_HTTP_PROCESS_SERVER_H */
