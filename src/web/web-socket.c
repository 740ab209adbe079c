/* Listens, on a path or on a port. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/web/web-socket.h"

/* Remove the socket of a server that was killed; ERR_BUSY: one listens. */
static int
web_socket_remove(const struct sockaddr_un *un, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (lstat(un->sun_path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_USAGE,
		    "%s: exists and is no socket: choose another path with "
		    "--socket",
		    un->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	/* Not blocking: the other one's queue may be full. */
	rc = connect(fd, (const struct sockaddr *)un, sizeof *un) == 0 ? 0
								       : errno;
	(void)close(fd);
	if (rc == 0 || rc == EAGAIN)
		return err_set(e, ERR_BUSY,
		    "%s: another hpotune web listens there", un->sun_path);
	if (rc != ECONNREFUSED && rc != ENOENT)
		return err_set(
		    e, ERR_FILE, "%s: %s", un->sun_path, strerror(rc));
	(void)unlink(un->sun_path);
	return 0;
}

int
web_socket_unix(int *fd, const char *path, struct err *e)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof un.sun_path)
		return err_set(e, ERR_USAGE,
		    "%s: the path of a socket has at most %zu bytes: choose "
		    "a shorter one with --socket",
		    path, sizeof un.sun_path - 1);
	memcpy(un.sun_path, path, strlen(path) + 1);
	if (web_socket_remove(&un, e) != 0)
		return -1;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	mask = umask(0177);
	rc = bind(*fd, (struct sockaddr *)&un, sizeof un);
	(void)umask(mask);
	if (rc == 0 && listen(*fd, SOMAXCONN) == 0)
		return 0;
	rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	(void)close(*fd);
	return rc;
}

static int
web_socket_address(struct sockaddr_storage *out, socklen_t *len,
    const char *text, int port, struct err *e)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		*len = sizeof *four;
	} else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		*len = sizeof *six;
	} else
		return err_set(e, ERR_USAGE,
		    "--bind %s: expected the number of an address, such as "
		    "127.0.0.1 or ::1",
		    text);
	return 0;
}

int
web_socket_tcp(int *fd, int *port, const char *text, struct err *e)
{
	struct sockaddr_storage address;
	socklen_t len;
	int on = 1, rc;

	if (web_socket_address(&address, &len, text, *port, e) != 0)
		return -1;
	*fd = socket(
	    address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1)
		return err_set(e, ERR_FILE, "socket: %s", strerror(errno));
	(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(*fd, (struct sockaddr *)&address, len) != 0 ||
	    listen(*fd, SOMAXCONN) != 0 ||
	    getsockname(*fd, (struct sockaddr *)&address, &len) != 0) {
		rc = errno == EADDRINUSE
			 ? err_set(e, ERR_BUSY,
			       "%s port %d: %s: choose another port, or 0 for "
			       "any free one",
			       text, *port, strerror(errno))
			 : err_set(e, ERR_FILE, "%s port %d: %s", text, *port,
			       strerror(errno));
		(void)close(*fd);
		return rc;
	}
	*port = ntohs(address.ss_family == AF_INET
			  ? ((struct sockaddr_in *)&address)->sin_port
			  : ((struct sockaddr_in6 *)&address)->sin6_port);
	return 0;
}
