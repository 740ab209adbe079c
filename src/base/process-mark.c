/* Processes that are recognised by boot, namespace, pid and start time. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/process-mark.h"

enum {
	STAT_MAX = 1024,
	/* Fields of /proc/PID/stat behind the name. */
	FIELD_STATE = 1,
	FIELD_SESSION = 4,
	FIELD_TTY = 5,
	FIELD_START = 20
};

/* The beginning of a small file, a text; false: it cannot be read. */
static bool
process_mark_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* /proc/PID/stat; false: there is no such process. */
static bool
process_mark_stat(int64_t pid, char stat[STAT_MAX])
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
	return pid > 0 && process_mark_read(path, stat, STAT_MAX);
}

/* A field of it; NULL: it has none. */
static const char *
process_mark_field(const char *stat, int field)
{
	/* The name may have blanks and brackets. */
	const char *at = strrchr(stat, ')');

	while (at != NULL && field-- > 0 && (at = strchr(at, ' ')) != NULL)
		at++;
	return at;
}

/* The id of this boot, which outlives this program; NULL: unknown. */
static const char *
process_mark_boot(void)
{
	static char boot[40];

	if (boot[0] == '\0' &&
	    process_mark_read(
		"/proc/sys/kernel/random/boot_id", boot, sizeof boot))
		boot[strcspn(boot, "\n")] = '\0';
	return boot[0] != '\0' ? boot : NULL;
}

uint64_t
process_mark_namespace(void)
{
	static uint64_t own; /* a process stays in its own */
	struct stat st;

	if (own == 0 && stat("/proc/self/ns/pid", &st) == 0)
		own = (uint64_t)st.st_ino;
	return own;
}

bool
process_mark_take(struct process_mark *m, int64_t pid, uint64_t ns)
{
	const char *boot = process_mark_boot(), *start, *state;
	char stat[STAT_MAX];

	*m = (struct process_mark){ 0 };
	if (!process_mark_stat(pid, stat) ||
	    (state = process_mark_field(stat, FIELD_STATE)) == NULL ||
	    *state == 'Z' || ns == 0 || ns != process_mark_namespace() ||
	    boot == NULL || gethostname(m->host, sizeof m->host - 1) != 0 ||
	    (start = process_mark_field(stat, FIELD_START)) == NULL)
		return false;
	m->pid = pid;
	(void)snprintf(m->text, sizeof m->text, "%s %" PRIu64 " %.*s", boot, ns,
	    (int)strcspn(start, " \n"), start);
	return true;
}

bool
process_mark_same(const struct process_mark *a, const struct process_mark *b)
{
	return a->pid == b->pid && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->text, b->text) == 0;
}

enum process_seen
process_mark_look(const struct process_mark *m)
{
	struct process_mark now;
	const char *boot = process_mark_boot(), *ns = strchr(m->text, ' ');
	char host[PROCESS_MARK_HOST] = "";

	if (m->pid == 0 || ns == NULL ||
	    gethostname(host, sizeof host - 1) != 0 ||
	    strcmp(host, m->host) != 0 || boot == NULL)
		return PROCESS_SEEN_UNKNOWN;
	if (strncmp(m->text, boot, strlen(boot)) != 0)
		return PROCESS_SEEN_GONE;
	if (strtoull(ns, NULL, 10) != process_mark_namespace())
		return PROCESS_SEEN_UNKNOWN;
	return process_mark_take(&now, m->pid, process_mark_namespace()) &&
		       process_mark_same(&now, m)
		   ? PROCESS_SEEN_ALIVE
		   : PROCESS_SEEN_GONE;
}

bool
process_mark_is_terminal(int64_t pid)
{
	char stat[STAT_MAX];
	const char *session, *tty;

	if (!process_mark_stat(pid, stat))
		return false;
	session = process_mark_field(stat, FIELD_SESSION);
	tty = process_mark_field(stat, FIELD_TTY);
	return session != NULL && tty != NULL &&
	       strtoll(session, NULL, 10) == pid && strtol(tty, NULL, 10) != 0;
}
