/* Starts one process of a trial: the setup in the child. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trials/process/transient-error.h"
#include "trials/ranks/ranks-args.h"
#include "trials/ranks/ranks-output.h"
#include "trials/ranks/ranks-spawn.h"
#include "trials/ranks/ranks.h"

/* Writes an errno to out; nothing on success. */
static void __attribute__((noreturn)) ranks_spawn_child_run(
    const struct ranks *s, const struct rank *r, pid_t parent, int out)
{
	sigset_t none;
	int error;

	/*
	 * The kernel kills us when the parent dies; check that it has not
	 * already.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(127);
	(void)setpgid(0, 0);
	/* srun sends what it forwards to all processes of a task. */
	if (s->args.nodes > 0 && !ranks_args_is_far(s))
		(void)signal(SIGUSR2, SIG_IGN);
	if (s->args.mode == RANKS_START)
		ranks_env_rank(&s->args, s->lease.first, r->role, r->number);
	if (ranks_output_redirect(s, r) == -1)
		error = errno;
	else {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		error = transient_error_retry_exec(s->args.argv);
	}
	if (write(out, &error, sizeof error) == -1)
		_exit(126);
	_exit(127);
}

/* Read the child's error; EOF after its exec. */
static int
child_heard(int in)
{
	int error = 0;
	ssize_t n;

	do
		n = read(in, &error, sizeof error);
	while (n == -1 && errno == EINTR);
	return n == sizeof error ? error : 0;
}

int
ranks_spawn(struct ranks *s, struct rank *r)
{
	pid_t self = getpid();
	int p[2], error;

	if (pipe2(p, O_CLOEXEC) == -1)
		return errno;
	r->pid = fork();
	if (r->pid == 0)
		ranks_spawn_child_run(s, r, self, p[1]);
	error = r->pid == -1 ? errno : 0;
	(void)close(p[1]);
	if (r->pid == -1)
		r->pid = 0;
	else {
		/*
		 * The child does this, too: the group is there whoever is
		 * first.
		 */
		(void)setpgid(r->pid, r->pid);
		error = child_heard(p[0]);
	}
	(void)close(p[0]);
	return error;
}
