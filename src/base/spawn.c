/*
 * Programs with default signal dispositions, as a shell leaves them.  Children
 * are reaped by pid only, never by waiting for any child.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/spawn-internal.h"
#include "src/base/spawn.h"

/* How long spawn_end waits for a killed process. */
enum { END_MS = 5000 };

static int
spawn_start_err(const struct spawn_spec *spec, int error, struct err *e)
{
	return err_set(e, ERR_FILE, "%s cannot be started%s%s: %s",
	    spec->argv[0], spec->dir != NULL ? " in " : "",
	    spec->dir != NULL ? spec->dir : "", strerror(error));
}

/* Whether both are "NAME=…" of the same variable. */
static bool
env_same(const char *a, const char *b)
{
	size_t n = strcspn(b, "=") + 1;

	return strncmp(a, b, n) == 0;
}

/* Our environment with some variables replaced; the strings are borrowed. */
static char **
spawn_env_make(char *const *over)
{
	size_t n = 0, n_over = 0, i, k, used = 0;
	char **env;

	while (environ[n] != NULL)
		n++;
	while (over != NULL && over[n_over] != NULL)
		n_over++;
	env = xcalloc(n + n_over + 1, sizeof *env);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n_over; k++)
			if (env_same(environ[i], over[k]))
				break;
		if (k == n_over)
			env[used++] = environ[i];
	}
	for (k = 0; k < n_over; k++)
		env[used++] = over[k];
	return env;
}

static int
spawn(pid_t *pid, const struct spawn_spec *spec)
{
	const int fds[] = { spec->in, spec->out, spec->err };
	char **env = spawn_env_make(spec->env);
	int r = spawn_posix(pid, &(struct spawn_child){ .path = spec->argv[0],
				     .search = true,
				     .argv = spec->argv,
				     .env = env,
				     .dir = spec->dir,
				     .fds = fds,
				     .n = 3 });

	free(env);
	return r;
}

/* A child to wait for, and a descriptor to close when it has ended. */
struct ending {
	pid_t pid;
	int fd;
};

static void *
ending_wait(void *arg)
{
	struct ending w = *(struct ending *)arg;
	siginfo_t si;

	free(arg);
	/* WNOWAIT: the code that started it reaps it. */
	while (waitid(P_PID, (id_t)w.pid, &si, WEXITED | WNOWAIT) == -1 &&
	       errno == EINTR)
		;
	(void)close(w.fd);
	return NULL;
}

/*
 * Start a thread that closes the other end of a pipe when the child has ended.
 * 0 or an errno; on 0 it owns fd.
 */
static int
ending_begin(pid_t pid, int fd)
{
	struct ending *w = xcalloc(1, sizeof *w);
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r;

	*w = (struct ending){ .pid = pid, .fd = fd };
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attr, ending_wait, w);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)pthread_attr_destroy(&attr);
	if (r != 0)
		free(w);
	return r;
}

/*
 * A descriptor that becomes readable when the child has ended; -1 with errno.
 */
static int
end_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), p[2], r;

	/*
	 * Old kernels lack pidfds, and old containers forbid them: use the
	 * thread.
	 */
	if (fd != -1 || (errno != ENOSYS && errno != EPERM))
		return fd;
	if (pipe2(p, O_CLOEXEC) == -1)
		return -1;
	r = ending_begin(pid, p[1]);
	if (r == 0)
		return p[0];
	(void)close(p[0]);
	(void)close(p[1]);
	errno = r;
	return -1;
}

int
spawn_start(
    pid_t *pid, int *end_fd, const struct spawn_spec *spec, struct err *e)
{
	int r = spawn(pid, spec);

	if (r != 0)
		return spawn_start_err(spec, r, e);
	*end_fd = end_open(*pid);
	if (*end_fd != -1)
		return 0;
	r = errno;
	spawn_kill(*pid);
	(void)spawn_reap(*pid);
	return spawn_start_err(spec, r, e);
}

int
spawn_find(char **path, const char *variable, const char *name, struct err *e)
{
	static const char *const places[] = { "", "../libexec/hpotune/" };
	const char *given = getenv(variable);
	char exe[PATH_MAX], *try;
	ssize_t n;
	size_t i;

	if (given != NULL) {
		*path = xstrdup(given);
		return 0;
	}
	n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	if (n > 0)
		strrchr(exe, '/')[1] = '\0';
	for (i = 0; i < 3; i++) {
		try = i < 2 ? xasprintf("%s%s%s", exe, places[i], name)
			    : xasprintf("%s/%s", LIBEXECDIR, name);
		if ((i == 2 || n > 0) && access(try, X_OK) == 0) {
			*path = try;
			return 0;
		}
		free(try);
	}
	return err_set(
	    e, ERR_FILE, "%s/%s: %s", LIBEXECDIR, name, strerror(errno));
}

void
spawn_kill(pid_t pid)
{
	(void)kill(-pid, SIGKILL);
}

int
spawn_end(pid_t pid, int end_fd)
{
	struct pollfd end = { .fd = end_fd, .events = POLLIN };

	spawn_kill(pid);
	while (poll(&end, 1, END_MS) == -1 && errno == EINTR)
		;
	return end.revents != 0 ? spawn_reap(pid) : -1;
}

int
spawn_reap(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return status;
}

int
spawn_session(pid_t *pid, const char *path, char *const *argv, char *const *env,
    const int *fds, size_t n)
{
	return spawn_session_in(NULL, pid, path, argv, env, fds, n);
}

int
spawn_session_in(const char *dir, pid_t *pid, const char *path,
    char *const *argv, char *const *env, const int *fds, size_t n)
{
	int *all = xcalloc(3 + n, sizeof *all), r;
	size_t i;

	for (i = 0; i < 3 + n; i++)
		all[i] = i < 3 ? -1 : fds[i - 3];
	r = spawn_posix(pid, &(struct spawn_child){ .path = path,
				 .argv = argv,
				 .env = env,
				 .dir = dir,
				 .session = true,
				 .fds = all,
				 .n = 3 + n });
	free(all);
	return r;
}
