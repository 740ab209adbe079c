/* The other side of t_http: a server in processes of its own. */

#ifndef HPOTUNE_HTTP_PROCESS_SERVER_H
#define HPOTUNE_HTTP_PROCESS_SERVER_H

#include <sys/types.h>

struct there {
	pid_t pid;
	int port;
};

void there_start(struct there *);
void there_stop(struct there *);
/* A listening socket on a free port of this machine. */
int there_listen(int *port, int backlog);

#endif /* HPOTUNE_HTTP_PROCESS_SERVER_H */
