/*
 * Tracing by ptrace.  Children of the traced process are not traced, so trials
 * and supervisors run normally.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/ptrace.h>

#include "tests/torture/trace.h"

/* Calls that can change something outside the process. */
static const struct call {
	long number;
	const char *name;
} calls[] = {
	{ SYS_bind, "bind" },
	{ SYS_clone, "clone" },
	{ SYS_clone3, "clone3" },
	{ SYS_connect, "connect" },
	{ SYS_execve, "execve" },
	{ SYS_exit_group, "exit_group" },
	{ SYS_fallocate, "fallocate" },
	{ SYS_fchmod, "fchmod" },
	{ SYS_fcntl, "fcntl" },
	{ SYS_fdatasync, "fdatasync" },
	{ SYS_fsync, "fsync" },
	{ SYS_ftruncate, "ftruncate" },
	{ SYS_kill, "kill" },
	{ SYS_listen, "listen" },
	{ SYS_mkdirat, "mkdirat" },
	{ SYS_openat, "openat" },
	{ SYS_pidfd_send_signal, "pidfd_send_signal" },
	{ SYS_prctl, "prctl" },
	{ SYS_pwrite64, "pwrite64" },
	{ SYS_recvmsg, "recvmsg" },
	{ SYS_renameat2, "renameat2" },
	{ SYS_sendmsg, "sendmsg" },
	{ SYS_sendto, "sendto" },
	{ SYS_setpgid, "setpgid" },
	{ SYS_setsid, "setsid" },
	{ SYS_unlinkat, "unlinkat" },
	{ SYS_wait4, "wait4" },
	{ SYS_waitid, "waitid" },
	{ SYS_write, "write" },
	{ SYS_writev, "writev" },
#ifdef SYS_fork
	{ SYS_fork, "fork" },
	{ SYS_mkdir, "mkdir" },
	{ SYS_open, "open" },
	{ SYS_rename, "rename" },
	{ SYS_renameat, "renameat" },
	{ SYS_rmdir, "rmdir" },
	{ SYS_unlink, "unlink" },
	{ SYS_vfork, "vfork" },
#endif
};

const char *
trace_call_name(long number)
{
	static char text[32];
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number)
			return calls[i].name;
	(void)snprintf(text, sizeof text, "call %ld", number);
	return text;
}

/* Opening counts when it may create, fcntl when it locks. */
static bool
changes(long number, const __u64 *args)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number)
			break;
	if (i == sizeof calls / sizeof *calls)
		return false;
	if (number == SYS_openat)
		return (args[2] & O_CREAT) != 0;
#ifdef SYS_open
	if (number == SYS_open)
		return (args[1] & O_CREAT) != 0;
#endif
	if (number == SYS_fcntl)
		return args[1] == F_SETLK || args[1] == F_SETLKW ||
		       args[1] == F_OFD_SETLK || args[1] == F_OFD_SETLKW;
	return true;
}

static void __attribute__((noreturn)) die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) == -1)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* At the entry of a call: whether it is the chosen one. */
static bool
call_entered(struct trace *t, pid_t pid)
{
	struct ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) == -1)
		return false; /* killed meanwhile */
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    (!t->all && !changes((long)info.entry.nr, info.entry.args)))
		return false;
	t->last = (long)info.entry.nr;
	return ++t->calls == t->kill_at;
}

/* From a stop to its end; counting begins with an exec. */
static enum trace_end
follow(struct trace *t, pid_t pid, bool counting)
{
	int signo;

	for (;;) {
		signo = WSTOPSIG(t->status);
		if (signo == (SIGTRAP | 0x80)) {
			if (counting && call_entered(t, pid)) {
				(void)kill(pid, SIGKILL);
				t->status = wait_for(pid);
				return TRACE_KILLED;
			}
			signo = 0;
		} else if (t->status >> 16 == PTRACE_EVENT_EXEC) {
			counting = true;
			signo = 0;
		} else if (t->status >> 16 != 0)
			signo = 0;
		if (ptrace(PTRACE_SYSCALL, pid, NULL,
			(void *)(intptr_t)signo) == -1 &&
		    errno != ESRCH)
			die("ptrace");
		t->status = wait_for(pid);
		if (!WIFSTOPPED(t->status))
			return TRACE_ENDED;
	}
}

enum trace_end
trace_child(struct trace *t, pid_t pid)
{
	t->calls = 0;
	t->status = wait_for(pid);
	if (!WIFSTOPPED(t->status))
		return TRACE_ENDED;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == -1)
		die("ptrace");
	t->status = SIGTRAP << 8 | 0x7f | PTRACE_EVENT_EXEC << 16;
	return follow(t, pid, true);
}

enum trace_end
trace_stranger(struct trace *t, pid_t pid, pid_t parent)
{
	t->calls = 0;
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)) == -1 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == -1)
		die("ptrace");
	(void)kill(parent, SIGCONT);
	t->status = wait_for(pid);
	if (!WIFSTOPPED(t->status))
		return TRACE_ENDED;
	return follow(t, pid, false);
}
