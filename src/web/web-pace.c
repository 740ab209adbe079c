/* Reads what the kernel tells of a process, and adds up what counts. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/file.h"
#include "src/web/web-pace.h"

/* A file of the process, as a text; false: it cannot be read. */
static bool
web_pace_file(pid_t pid, const char *name, char *text, size_t n)
{
	char path[64];
	ssize_t got;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	got = file_read(AT_FDCWD, path, text, n - 1);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static int64_t
web_pace_cpu_us(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 ||
	    clock_gettime(clock, &t) != 0)
		return 0;
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void
web_pace_read(struct web_pace_seen *seen, pid_t pid)
{
	static const char bytes[] = "\nread_bytes: ";
	char text[512], *at;

	*seen = (struct web_pace_seen){ .cpu_us = web_pace_cpu_us(pid) };
	if (web_pace_file(pid, "stat", text, sizeof text) &&
	    (at = strrchr(text, ')')) != NULL && at[1] == ' ')
		seen->state = at[2];
	if (web_pace_file(pid, "schedstat", text, sizeof text)) {
		(void)strtoll(text, &at, 10);
		seen->delay_us = strtoll(at, NULL, 10) / 1000;
	}
	if (web_pace_file(pid, "io", text, sizeof text) &&
	    (at = strstr(text, bytes)) != NULL)
		seen->disk_bytes = strtoll(at + sizeof bytes - 1, NULL, 10);
}

void
web_pace_begin(struct web_pace *p, int64_t now_ms)
{
	*p = (struct web_pace){ .at_ms = now_ms };
}

void
web_pace_on(struct web_pace *p)
{
	p->cpu_us = p->wait_us = 0;
}

void
web_pace_look(struct web_pace *p, const struct web_pace_seen *seen,
    int64_t now_ms, int64_t most_ms)
{
	int64_t gap_ms = now_ms - p->at_ms, took;

	if (gap_ms > most_ms)
		gap_ms = most_ms;
	switch (seen->state) {
	case 'R': /* it has the processor, or waits for it and nothing else */
		took = seen->cpu_us - p->last.cpu_us;
		p->cpu_us += took > 0 ? took : 0;
		break;
	case 'Z':
		took = 0;
		break;
	default:
		took = 1000 * gap_ms - (seen->delay_us - p->last.delay_us);
		p->wait_us += took > 0 ? took : 0;
		break;
	}
	if (seen->disk_bytes > p->last.disk_bytes)
		p->wait_us = 0;
	p->taken_us += took > 0 ? took : 0;
	p->at_ms = now_ms;
	p->last = *seen;
}

int64_t
web_pace_idle_us(const struct web_pace *p)
{
	return p->cpu_us + p->wait_us;
}
