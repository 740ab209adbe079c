/* Sockets that no descriptor of a supervisor is in the way of. */

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trials/warm/waiting-sockets.h"

enum { FD_LEAST = 16 /* above those that a supervisor is started with */ };

int
waiting_sockets_open(int s[2])
{
	int low[2], i, r = 0;

	s[0] = s[1] = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low) == -1)
		return errno;
	for (i = 0; i < 2; i++) {
		s[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FD_LEAST);
		if (s[i] == -1)
			r = errno;
		(void)close(low[i]);
	}
	for (i = 0; i < 2 && r != 0; i++) {
		if (s[i] != -1)
			(void)close(s[i]);
		s[i] = -1;
	}
	return r;
}
