/* Finds the tasks of srun, and runs programs of Slurm.  It has static memory. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trials/process/slurm-step.h"

enum { SLURM_STEP_MOST = 4096 /* processes that are looked at */ };

bool
slurm_step_is_srun(const char *exe)
{
	return strcmp(exe, "srun") == 0 || strcmp(exe, "srun (deleted)") == 0;
}

bool
slurm_step_runs(pid_t root)
{
	static struct proc_node list[SLURM_STEP_MOST];
	size_t n = proc_descendants(root, list, SLURM_STEP_MOST), i;
	char exe[256];

	for (i = 0; i < n; i++)
		if (proc_exe(list[i].pid, exe, sizeof exe) &&
		    slurm_step_is_srun(exe))
			return true;
	return false;
}

/* Whether its initial environment has this word. */
static bool
slurm_step_has(pid_t pid, const char *word)
{
	static char text[65536];
	size_t len = strlen(word) + 2, kept = 1;
	char path[64], key[128];
	bool has = false;
	ssize_t n;
	int fd;

	if (len > sizeof key)
		return false;
	/* With the end of the word before it, and its own. */
	key[0] = '\0';
	memcpy(key + 1, word, len - 1);
	(void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	text[0] = '\0';
	while (fd != -1 && !has &&
	       (n = read(fd, text + kept, sizeof text - kept)) > 0) {
		kept += (size_t)n;
		has = memmem(text, kept, key, len) != NULL;
		if (kept > len) {
			memmove(text, text + kept - len, len);
			kept = len;
		}
	}
	if (fd != -1)
		(void)close(fd);
	return has;
}

/* Slurm starts each task by a process of this name. */
static bool
slurm_step_is_parent(pid_t pid)
{
	char path[64], name[32] = "";
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	if (read(fd, name, sizeof name - 1) < 0)
		name[0] = '\0';
	(void)close(fd);
	return strcmp(name, "slurmstepd\n") == 0;
}

struct slurm_step_list {
	struct proc_node *node;
	size_t n, max;
	char word[96];
};

static bool
slurm_step_add(void *arg, pid_t pid)
{
	struct slurm_step_list *l = arg;
	struct proc_stat s;

	if (pid != getpid() && proc_stat(pid, &s) && s.state != 'Z' &&
	    slurm_step_is_parent(s.ppid) && slurm_step_has(pid, l->word))
		l->node[l->n++] = (struct proc_node){
			.pid = pid, .ppid = s.ppid, .start = s.start
		};
	return l->n < l->max;
}

size_t
slurm_step_tasks(struct proc_node *node, size_t max)
{
	struct slurm_step_list l = { .node = node, .max = max };
	const char *uuid = getenv("HPOTUNE_ATTEMPT_UUID");

	if (uuid == NULL || max == 0)
		return 0;
	(void)snprintf(
	    l.word, sizeof l.word, "HPOTUNE_ATTEMPT_UUID=%.60s", uuid);
	proc_each(slurm_step_add, &l);
	return l.n;
}

void
slurm_step_kill(void)
{
	static struct proc_node list[SLURM_STEP_MOST];
	size_t n = slurm_step_tasks(list, SLURM_STEP_MOST), i;
	struct proc_ref r;

	for (i = 0; i < n; i++) {
		(void)proc_kill_descendants(list[i].pid);
		if (!proc_open(&r, list[i].pid, list[i].start))
			continue;
		(void)proc_signal(&r, SIGKILL);
		proc_close(&r);
	}
}

pid_t
slurm_step_cancel(void)
{
	char scancel[] = "scancel", how[] = "--signal=TERM", id[64];
	char *argv[] = { scancel, how, id, NULL };
	const char *job = getenv("SLURM_JOB_ID");
	pid_t pid;

	if (job == NULL || *job == '\0')
		return 0;
	(void)snprintf(id, sizeof id, "%.60s", job);
	pid = fork();
	if (pid == 0)
		slurm_step_become(argv, -1);
	return pid == -1 ? 0 : pid;
}

/* Variables that change what the programs do. */
static void
slurm_step_environ(void)
{
	static const char *const names[] = { "SQUEUE_", "SCANCEL_",
		"SLURM_TIME_FORMAT=" };
	char name[64];
	size_t i = 0, k, len;

	while (environ[i] != NULL) {
		for (k = 0; k < sizeof names / sizeof names[0]; k++)
			if (strncmp(environ[i], names[k], strlen(names[k])) ==
			    0)
				break;
		/* Slurm has no longer name than fits. */
		len = strcspn(environ[i], "=");
		if (k == sizeof names / sizeof names[0] || len >= sizeof name) {
			i++;
			continue;
		}
		(void)snprintf(name, sizeof name, "%.*s", (int)len, environ[i]);
		i = unsetenv(name) == -1 ? i + 1 : 0;
	}
}

_Noreturn void
slurm_step_become(char *const *argv, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	slurm_step_environ();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null != -1 && dup2(null, 0) != -1 && dup2(null, 2) != -1 &&
	    dup2(out != -1 ? out : null, 1) != -1)
		(void)execvp(argv[0], argv);
	_exit(127);
}
