/*
 * Whether Slurm takes its place away from this job.  At the begin of the grace
 * it tells processes that srun has started, and nobody else; so it is asked, by
 * one squeue for one job at a time, where no server asks for all jobs.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "trials/process/slurm-step.h"
#include "trials/shim/shim.h"

enum {
	SHIM_PREEMPT_TOOL_MS = 20000, /* of one squeue */
	SHIM_PREEMPT_LAST_MS = 5000, /* of the last one */
	SHIM_PREEMPT_STEPS_MS = 100, /* before the first look for srun */
	SHIM_PREEMPT_STEPS_MAX_MS = 60000
};

static void
shim_preempt_start(struct shim_preempt *p, int64_t now_ms)
{
	char squeue[] = "squeue", all[] = "--all", header[] = "--noheader",
	     format[] = "--Format=PreemptTime:30", jobs[64];
	char *argv[] = { squeue, all, header, format, jobs, NULL };
	const char *job = getenv("SLURM_JOB_ID");
	int out[2];

	p->ask_at_ms = now_ms + p->every_ms;
	if (job == NULL || pipe2(out, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	(void)snprintf(jobs, sizeof jobs, "--jobs=%.40s", job);
	p->pid = fork();
	if (p->pid == 0)
		slurm_step_become(argv, out[1]);
	(void)close(out[1]);
	if (p->pid == -1) {
		p->pid = 0;
		(void)close(out[0]);
		return;
	}
	p->fd = out[0];
	p->len = 0;
	p->ask_at_ms = now_ms + SHIM_PREEMPT_TOOL_MS;
}

/* Whether a server has looked since the last call. */
static bool
shim_preempt_served(struct shim_preempt *p)
{
	char text[sizeof p->looks] = "";
	int fd = file_open(AT_FDCWD, SHIM_LOOKS_FILE);
	bool served;

	if (fd == -1)
		return false;
	if (read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	(void)close(fd);
	served = strcmp(text, p->looks) != 0;
	memcpy(p->looks, text, sizeof text);
	return served;
}

void
shim_preempt_begin(struct shim_preempt *p, int64_t now_ms)
{
	if (p->every_ms == 0 && p->last == 0)
		return;
	/* Jobs of a study do not ask all at the same moment. */
	p->ask_at_ms = p->every_ms == 0
			   ? -1
			   : now_ms + 1 + getpid() * INT64_C(37) % p->every_ms;
	(void)shim_preempt_served(p);
	p->steps_wait_ms = SHIM_PREEMPT_STEPS_MS;
	p->steps_at_ms = p->at_ms = now_ms + SHIM_PREEMPT_STEPS_MS;
}

void
shim_preempt_end(struct shim_preempt *p)
{
	p->at_ms = -1;
	if (p->pid != 0)
		(void)kill(p->pid, SIGKILL);
	if (p->fd != -1)
		(void)close(p->fd);
	p->fd = -1;
}

void
shim_preempt_reaped(struct shim_preempt *p, pid_t pid)
{
	if (p->pid == pid)
		p->pid = 0;
}

/* Soon after the begin of the program, and then at ever longer intervals. */
static void
shim_preempt_look(struct shim_preempt *p, int64_t now_ms)
{
	int64_t most =
	    p->every_ms > 0 ? p->every_ms : SHIM_PREEMPT_STEPS_MAX_MS;

	p->steps = slurm_step_runs(getpid());
	p->steps_wait_ms =
	    p->steps_wait_ms * 2 < most ? p->steps_wait_ms * 2 : most;
	p->steps_at_ms = p->steps ? -1 : now_ms + p->steps_wait_ms;
}

static void
shim_preempt_ask(struct shim_preempt *p, int64_t now_ms)
{
	if (p->fd != -1 || p->pid != 0)
		/* The program that asks hangs, or the controller does. */
		shim_preempt_end(p);
	else if (!shim_preempt_served(p)) {
		shim_preempt_start(p, now_ms);
		return;
	}
	p->ask_at_ms = now_ms + p->every_ms;
}

void
shim_preempt_run(struct shim_preempt *p, int64_t now_ms)
{
	int64_t at[2];

	if (p->at_ms < 0)
		return;
	if (p->steps_at_ms >= 0 && now_ms >= p->steps_at_ms)
		shim_preempt_look(p, now_ms);
	if (p->ask_at_ms >= 0 && now_ms >= p->ask_at_ms)
		shim_preempt_ask(p, now_ms);
	at[0] = p->steps_at_ms;
	at[1] = p->ask_at_ms;
	p->at_ms = clock_first(at, 2);
}

bool
shim_preempt_heard(struct shim_preempt *p, int64_t now_ms)
{
	ssize_t n;

	if (p->fd == -1)
		return false;
	n = read(p->fd, p->text + p->len, sizeof p->text - 1 - p->len);
	if (n > 0) {
		p->len += (size_t)n;
		if (p->len < sizeof p->text - 1)
			return false;
	}
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	(void)close(p->fd);
	p->fd = -1;
	p->ask_at_ms = now_ms + p->every_ms;
	p->text[p->len] = '\0';
	/* "2026-11-27T10:26:56", or "N/A". */
	return p->text[0] >= '1' && p->text[0] <= '9';
}

bool
shim_preempt_last(struct shim_preempt *p)
{
	int64_t until = clock_boot_ms() + SHIM_PREEMPT_LAST_MS, now;
	struct pollfd f = { .events = POLLIN };
	bool is = false;

	if ((p->every_ms == 0 && p->last == 0) || !p->steps)
		return false;
	shim_preempt_start(p, clock_boot_ms());
	while (!is && p->fd != -1 && (now = clock_boot_ms()) < until) {
		f.fd = p->fd;
		(void)poll(&f, 1, (int)(until - now));
		is = shim_preempt_heard(p, now);
	}
	shim_preempt_end(p);
	return is;
}
