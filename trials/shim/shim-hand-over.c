/*
 * In a job of several trials that start warm: gives the attempt to a supervisor that
 * hpotune-node has from its warm process, with the arguments, the environment, the
 * folder, the output and the cores that the script of the attempt has made.
 */

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/process/args.h"
#include "trials/shim/shim.h"

enum {
	ANSWER_MS = 30000, /* more than hpotune-node waits for its process */
	CPUS = 4096 /* bytes of the list of cores */
};

/* The cores that we may use, "0-3,8"; "" = too many to write. */
static void
cpus_list(char text[CPUS])
{
	int cpu, first = -1;
	size_t at = 0;
	cpu_set_t may;

	text[0] = '\0';
	if (sched_getaffinity(0, sizeof may, &may) == -1)
		return;
	for (cpu = 0; cpu <= CPU_SETSIZE; cpu++) {
		if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &may)) {
			first = first == -1 ? cpu : first;
			continue;
		}
		if (first == -1)
			continue;
		at += (size_t)snprintf(text + at, CPUS - at, "%s%d-%d",
		    at > 0 ? "," : "", first, cpu - 1);
		if (at >= CPUS) {
			text[0] = '\0';
			return;
		}
		first = -1;
	}
}

/* The message: its length, or more than SHIM_JOB_MAX. */
static size_t
hand_over_put(char *text, char **argv)
{
	char list[CPUS], cpus[CPUS + 8], *words[] = { argv[0], cpus, NULL };
	struct shim_job job = { 0 };
	size_t at = sizeof job;

	cpus_list(list);
	(void)snprintf(cpus, sizeof cpus, "cpus=%s", list);
	at = args_put(text, SHIM_JOB_MAX, at, words, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, argv + 1, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, environ, &job.envc);
	memcpy(text, &job, sizeof job);
	return at;
}

/* With our folder and our output. */
static bool
hand_over_send(int fd, char *text, size_t len)
{
	int fds[] = { open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), 1 };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fds)] = { 0 };
	struct iovec io = { .iov_base = text, .iov_len = len };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	bool sent;

	if (fds[0] == -1)
		return false;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(c), fds, sizeof fds);
	sent = sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)len;
	(void)close(fds[0]);
	return sent;
}

static bool
hand_over_heard(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer = '\0';

	return poll(&p, 1, ANSWER_MS) == 1 &&
	       recv(fd, &answer, 1, MSG_DONTWAIT) == 1 &&
	       answer == SHIM_WARM_GO;
}

bool
shim_hand_over(int64_t fd, char **argv)
{
	static char text[SHIM_JOB_MAX];
	struct stat st;
	bool given = false;
	size_t len;

	/* A shell that closes what it does not know leaves another file there. */
	if (fstat((int)fd, &st) == -1 || !S_ISSOCK(st.st_mode))
		return false;
	len = hand_over_put(text, argv);
	fail_point("shim.before_hand_over");
	if (len <= SHIM_JOB_MAX && hand_over_send((int)fd, text, len))
		given = hand_over_heard((int)fd);
	(void)close((int)fd);
	return given;
}
