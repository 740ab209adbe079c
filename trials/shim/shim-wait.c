/*
 * Started before its attempt is known: waits for the arguments, the environment
 * and the locks, which come in one message.  Until then it has nothing that an
 * attempt owns, and it ends with the server; from then on it needs none.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/process/args.h"
#include "trials/shim/shim.h"

enum {
	SERVER_FD = 3, /* as it was started */
	SERVER_LEAST = 90, /* out of the way of the locks, which begin at 3 */
	WORDS = 8192 /* arguments or variables, at most */
};

/* Put text where other programs read it; the rest of the room is cleared. */
static void
room_fill(char *room, const char *text)
{
	size_t n = strlen(room), len = strlen(text);

	if (len > n)
		return;
	memcpy(room, text, len);
	memset(room + len, 0, n - len);
}

/* The variables by which the processes of an attempt are found. */
static void
mark_fill(char *const *ours, char *const *theirs, const char *name)
{
	size_t n = strlen(name);

	for (; *ours != NULL; ours++)
		if (strncmp(*ours, name, n) == 0)
			break;
	for (; *theirs != NULL; theirs++)
		if (strncmp(*theirs, name, n) == 0)
			break;
	if (*ours != NULL && *theirs != NULL)
		room_fill(*ours, *theirs);
}

/* Whether the locks that came are the descriptors from 3 on. */
static bool
locks_came(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd[SHIM_JOB_FDS];
	size_t i, n;

	if (c == NULL)
		return true;
	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    CMSG_NXTHDR(m, c) != NULL)
		return false;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fd;
	if (n > SHIM_JOB_FDS)
		return false;
	memcpy(fd, CMSG_DATA(c), n * sizeof *fd);
	for (i = 0; i < n; i++)
		if (fd[i] != 3 + (int)i)
			return false;
	return true;
}

/* The length of the message, 0 at the end of the server, -1 with errno. */
static ssize_t
job_read(int fd, char *text)
{
	_Alignas(struct cmsghdr) char
	    control[CMSG_SPACE(sizeof(int) * SHIM_JOB_FDS)];
	struct iovec io = { .iov_base = text, .iov_len = SHIM_JOB_MAX };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n > 0 && ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
			 !locks_came(&m))) {
		errno = EMSGSIZE;
		return -1;
	}
	return n == -1 && errno == ECONNRESET ? 0 : n;
}

/*
 * The socket out of the way of the locks; where the limit on open files does not
 * allow that number, at the last one that it allows.
 */
static int
server_raise(void)
{
	int least = SERVER_LEAST, fd;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur <= SERVER_LEAST)
		least = (int)files.rlim_cur - 1;
	fd = fcntl(SERVER_FD, F_DUPFD_CLOEXEC, least);
	if (fd != -1)
		(void)close(SERVER_FD);
	return fd;
}

char **
shim_wait(char **argv, int *server, int *status)
{
	/* The arguments and the environment of this process until it ends. */
	static char text[SHIM_JOB_MAX], *args[WORDS], *env[WORDS];
	char *at = text + sizeof(struct shim_job);
	struct shim_job job;
	ssize_t n;

	*server = server_raise();
	*status = *server == -1 ? errno : EINVAL;
	if (*server == -1)
		return NULL;
	fail_point("shim.waiting");
	n = job_read(*server, text);
	if (n <= 0 || (size_t)n < sizeof job) {
		*status = n == 0 ? 0 : n == -1 ? errno : EINVAL;
		return NULL;
	}
	memcpy(&job, text, sizeof job);
	if (job.argc < 2 || !args_take(args, WORDS, &at, text + n, job.argc) ||
	    !args_take(env, WORDS, &at, text + n, job.envc))
		return NULL;
	mark_fill(environ, env, SHIM_MARK_UUID);
	mark_fill(environ, env, SHIM_MARK_PARAMS);
	room_fill(argv[1], args[1]);
	environ = env;
	fail_point("shim.given");
	return args;
}
