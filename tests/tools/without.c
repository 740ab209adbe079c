/*
 * Run a program without some system calls, as old kernels and the filters of
 * containers do:
 *
 *	without ENOSYS|EPERM|EMFILE|ENOSPC pidfd_open,pidfd_send_signal COMMAND…
 *
 * or without locks of files, as some file systems are:
 *
 *	without ENOLCK|EOPNOTSUPP locks COMMAND…
 *
 * Exit status 77: this machine has no filters of system calls.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77, CALLS_MAX = 8 };

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "pidfd_open", SYS_pidfd_open },
	{ "pidfd_send_signal", SYS_pidfd_send_signal },
	{ "inotify_add_watch", SYS_inotify_add_watch },
	{ "inotify_init1", SYS_inotify_init1 },
};

static const struct {
	const char *name;
	unsigned number;
} errors[] = {
	{ "ENOSYS", ENOSYS },
	{ "EPERM", EPERM },
	{ "EMFILE", EMFILE },
	{ "ENOSPC", ENOSPC },
	{ "ENOLCK", ENOLCK },
	{ "EOPNOTSUPP", EOPNOTSUPP },
};

static unsigned
error_number(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	return ENOSYS;
}

static int
call_number(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	return -1;
}

/* Load the number; for each call: is it this one, then the error; allow. */
static int
filter_set(char *names, unsigned error)
{
	struct sock_filter code[2 * CALLS_MAX + 2];
	struct sock_fprog program = { .filter = code };
	unsigned short n = 0;
	const char *name;
	char *rest;
	int number;

	code[n++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (name = strtok_r(names, ",", &rest);
	     name != NULL && n + 3 <= 2 * CALLS_MAX + 2;
	     name = strtok_r(NULL, ",", &rest)) {
		number = call_number(name);
		if (number == -1)
			return -1;
		code[n++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
	}
	code[n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The same for the requests of fcntl about locks, and for flock. */
static int
locks_set(unsigned error)
{
	static const unsigned requests[] = { F_GETLK, F_SETLK, F_SETLKW,
		F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW };
	enum { REQUESTS = sizeof requests / sizeof *requests };
	struct sock_filter code[REQUESTS + 6], *c = code;
	struct sock_fprog program = { .filter = code };
	unsigned char i;

	*c++ = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	*c++ = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, REQUESTS + 3, 0);
	*c++ = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, REQUESTS + 1);
	*c++ = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]));
	for (i = 0; i < REQUESTS; i++)
		*c++ = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, requests[i], REQUESTS - i, 0);
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	*c++ = (struct sock_filter)BPF_STMT(
	    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
	program.len = (unsigned short)(c - code);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	if (argc < 4) {
		(void)fprintf(stderr, "without: ERRNO CALL,… COMMAND…\n");
		return 1;
	}
	if ((strcmp(argv[2], "locks") == 0
		    ? locks_set(error_number(argv[1]))
		    : filter_set(argv[2], error_number(argv[1]))) == -1) {
		perror("without");
		return SKIPPED;
	}
	(void)execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
