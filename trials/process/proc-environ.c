/* Reads the environment of other processes. */

#include "trials/process/proc-environ.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trials/process/proc.h"

enum { ENVIRON_MAX = 4 << 20, VALUE_MAX = 4200 };

bool
proc_environ_read(pid_t pid, struct buf *b)
{
	char path[64], part[8192];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	buf_putc(b, '\0');
	while (b->len < ENVIRON_MAX && (n = read(fd, part, sizeof part)) > 0)
		buf_add(b, part, (size_t)n);
	(void)close(fd);
	return true;
}

bool
proc_environ_get(const struct buf *b, const char *name, char *value, size_t n)
{
	char *word = xasprintf("%s=", name);
	const char *at;

	/* A variable follows a NUL: that of the word before. */
	at = b->data;
	while (at != NULL &&
	       (at = memmem(at, b->len - (size_t)(at - b->data), word,
		    strlen(word))) != NULL &&
	       at[-1] != '\0')
		at++;
	if (at != NULL)
		(void)snprintf(value, n, "%s", at + strlen(word));
	free(word);
	return at != NULL;
}

struct mark {
	const char *name, *value;
	int killed;
};

static bool
has_mark(void *arg, pid_t pid)
{
	const struct mark *m = arg;
	char value[VALUE_MAX];
	struct buf env = { 0 };
	bool has;

	has = proc_environ_read(pid, &env) &&
	      proc_environ_get(&env, m->name, value, sizeof value) &&
	      strcmp(value, m->value) == 0;
	buf_free(&env);
	return has;
}

static bool
kill_marked(void *arg, pid_t pid)
{
	struct mark *m = arg;

	m->killed += proc_kill(pid, has_mark, m);
	return true;
}

int
proc_environ_kill(const char *name, const char *value)
{
	struct mark m = { .name = name, .value = value };

	proc_each(kill_marked, &m);
	return m.killed;
}
