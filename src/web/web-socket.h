/* The sockets on which the pages are served. */

#ifndef HPOTUNE_WEB_SOCKET_H
#define HPOTUNE_WEB_SOCKET_H

struct err;

/*
 * Listen on a Unix socket of mode 0600; one that a killed server left is
 * replaced.  ERR_BUSY: another one listens there.  The caller owns *fd.
 */
int web_socket_unix(int *fd, const char *path, struct err *);
/*
 * Listen on the number of an address; *port 0: any free one, which it is set to.
 * ERR_BUSY: the port is taken.  The caller owns *fd.
 */
int web_socket_tcp(int *fd, int *port, const char *address, struct err *);

#endif /* HPOTUNE_WEB_SOCKET_H */
