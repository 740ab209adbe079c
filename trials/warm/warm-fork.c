/*
 * What python/hpotune_warm.py calls for each attempt: a supervisor whose child is a
 * fork of the caller, at the price of one fork instead of two.  The supervisor shares
 * the caller's memory until it executes its program, as after vfork(), and in between
 * makes the fork, which goes on where the caller is.
 *
 * A shared object without a library of its own: the symbols are those of the C library
 * of the interpreter that loads it.
 */

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trials/warm/warm-fork.h"

#ifndef SYS_close_range /* headers before Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_rseq /* before 4.18, of which these have it by this number */
#ifdef __x86_64__
#define SYS_rseq 334
#else
#define SYS_rseq 293
#endif
#endif

/* The stack of the supervisor; libraries prepare for the fork on it, too. */
static _Alignas(64) char supervisor_stack[1 << 20];

struct supervisor {
	const struct warm_fork *fork;
	jmp_buf caller; /* where the trial goes on */
};

/* Write a process id, which has room for its digits and a NUL. */
static void
supervisor_number_put(char *text, pid_t pid)
{
	char digits[16];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	while (n > 0)
		*text++ = digits[--n];
	*text = '\0';
}

static void
supervisor_files(const struct warm_fork *f)
{
	int null = open("/dev/null", O_RDWR), output = null;

	if (f->folder != -1) {
		if (fchdir(f->folder) == -1)
			_exit(127);
		output = f->output;
	}
	/* First above what may be in the way. */
	if (dup2(output, 202) == -1 || dup2(f->server, 200) == -1 ||
	    dup2(f->trial, 201) == -1 || dup2(null, 0) == -1 ||
	    dup2(202, 1) == -1 || dup2(202, 2) == -1 || dup2(200, 3) == -1 ||
	    dup2(201, f->trial_as) == -1 ||
	    syscall(SYS_close_range, 4U, (unsigned)f->trial_as - 1, 0U) == -1 ||
	    syscall(SYS_close_range, (unsigned)f->trial_as + 1, ~0U, 0U) == -1)
		_exit(127);
}

/* The C library has them from 2.35 on: where a thread's area is, from its pointer. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/*
 * A fork of a process that shares memory has no restartable sequences, although the C
 * library believes so: register its area as the first thread's was.
 */
static void
trial_sequences_register(void)
{
#if defined __x86_64__
	char *thread;
	unsigned mark = 0x53053053;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
#elif defined __aarch64__
	char *thread = __builtin_thread_pointer();
	unsigned mark = 0xd428bc00;
#elif defined __riscv
	char *thread = __builtin_thread_pointer();
	unsigned mark = 0xf1401073;
#endif
#if defined __x86_64__ || defined __aarch64__ || defined __riscv
	if (&__rseq_size == NULL || __rseq_size == 0)
		return;
	thread += __rseq_offset;
	if (syscall(SYS_rseq, thread, 32, 0, mark) != 0)
		/* The number of the processor is asked of the kernel. */
		*(volatile int *)(thread + 4) = -2;
#endif
}

static int
supervisor_run(void *arg)
{
	struct supervisor *s = arg;
	const struct warm_fork *f = s->fork;
	pid_t pid;
	int signo;

	(void)setsid();
	(void)sched_setaffinity(0, f->cores_size, f->cores);
	pid = fork();
	if (pid == 0) {
		trial_sequences_register();
		longjmp(s->caller, 1);
	}
	if (pid == -1)
		_exit(127);
	supervisor_number_put(f->number, pid);
	supervisor_files(f);
	/* What is ignored would stay so; its handlers are none of the program's. */
	for (signo = 1; signo < NSIG; signo++)
		(void)signal(signo, SIG_DFL);
	(void)execve(f->path, f->argv, f->env);
	_exit(127);
}

pid_t
warm_fork(const struct warm_fork *f)
{
	struct supervisor s = { .fork = f };

	if (_setjmp(s.caller) != 0)
		return 0;
	return clone(supervisor_run, supervisor_stack + sizeof supervisor_stack,
	    CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, &s);
}
