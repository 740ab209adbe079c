/*
 * Runs a program without its output and prints what it took: milliseconds of
 * CPU and the most memory it had, in MiB.
 *
 *	meter PROGRAM [ARGUMENT ...]
 */

#include <sys/resource.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static double
ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

int
main(int argc, char **argv)
{
	struct rusage u;
	int status = 0, null;
	pid_t pid;

	if (argc < 2) {
		(void)fprintf(stderr, "usage: meter PROGRAM [ARGUMENT ...]\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
			(void)execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid) {
		perror("meter");
		return 1;
	}
	printf("%.3f %.1f\n", ms_of(u.ru_utime) + ms_of(u.ru_stime),
	    (double)u.ru_maxrss / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
