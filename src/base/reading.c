/*
 * Notes of files in which a server has crashed; the header has why.  A handler
 * of a signal can reach global state alone, and calls what POSIX lists as safe.
 *
 * The notes are texts that end with a NUL: the version, a blank, and the path,
 * which is relative below the state folder, because that may be renamed.
 */

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/reading.h"

enum {
	NOTES_MAX = 1 << 20, /* bytes of them that are read */
	STACK = 1 << 16 /* of the handler: a deep recursion has no other */
};

const char reading_left_text[] =
    "it is left alone: a server has crashed while it read this file";

static const char notes_file[] = "left-alone";
static const char version[] = PACKAGE_VERSION " ";
static const int deaths[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { DEATHS = sizeof deaths / sizeof deaths[0] };

static struct {
	const char *volatile folder; /* NULL: nothing is being read */
	const char *volatile name;
	int dir_fd;
	char *path; /* of the folder of notes, with '/' at its end; or NULL */
	size_t path_len;
	char *notes; /* paths, each with a NUL; NULL: there are none */
	size_t n_notes;
	char *stack;
	stack_t stack_before; /* a sanitizer has its own */
	struct sigaction before[DEATHS];
} reading = { .dir_fd = -1 };

/* The part of a path that a note has. */
static const char *
reading_inner(const char *path)
{
	return reading.path != NULL &&
		       strncmp(path, reading.path, reading.path_len) == 0
		   ? path + reading.path_len
		   : path;
}

static int
reading_write(struct iovec *part, int n)
{
	int fd = file_open_for(
	    reading.dir_fd, notes_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	ssize_t want = 0, done;
	int i;

	if (fd == -1)
		return -1;
	for (i = 0; i < n; i++)
		want += (ssize_t)part[i].iov_len;
	done = writev(fd, part, n);
	(void)close(fd);
	return done == want ? 0 : -1;
}

static void
reading_note(const char *folder, const char *name)
{
	static char slash[] = "/", end[] = "";
	const char *inner = reading_inner(folder);
	struct iovec part[] = {
		{ (char *)version, sizeof version - 1 },
		{ (char *)inner, strlen(inner) },
		{ slash, name != NULL ? 1 : 0 },
		{ (char *)name, name != NULL ? strlen(name) : 0 },
		{ end, 1 },
	};

	if (reading_write(part, 5) == 0)
		return;
	/* The last room on a full disk. */
	(void)unlinkat(reading.dir_fd, "ballast", 0);
	(void)reading_write(part, 5);
}

/*
 * The process dies of the signal as it would without this: the instruction is
 * repeated, or the signal raised again.
 */
static void
on_death(int signo, siginfo_t *info, void *context)
{
	const char *folder = reading.folder;
	size_t i;

	(void)context;
	for (i = 0; i < DEATHS; i++)
		if (deaths[i] == signo)
			(void)sigaction(signo, &reading.before[i], NULL);
	if (info->si_code <= 0)
		(void)raise(signo);
	/* Another process may send it at any time. */
	if (info->si_code <= 0 && info->si_pid != getpid())
		return;
	reading.folder = NULL;
	if (folder != NULL)
		reading_note(folder, reading.name);
}

/* Keep the paths of the notes of this version. */
static void
reading_load(void)
{
	char *text = xmalloc(NOTES_MAX), *at, *end;
	struct buf kept = { 0 };
	ssize_t n = file_read(reading.dir_fd, notes_file, text, NOTES_MAX);

	end = text + (n > 0 ? n : 0);
	for (at = text; at < end; at += strlen(at) + 1)
		if (strncmp(at, version, sizeof version - 1) == 0)
			buf_add(&kept, at + sizeof version - 1,
			    strlen(at) + 2 - sizeof version);
	reading.n_notes = kept.len;
	reading.notes = buf_take(&kept);
	free(text);
}

void
reading_open(int dir_fd, const char *path)
{
	struct sigaction act = { .sa_sigaction = on_death,
		.sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = STACK };
	size_t i;

	reading.dir_fd = dir_fd;
	reading.path = xasprintf("%s/", path);
	reading.path_len = strlen(reading.path);
	if (faccessat(dir_fd, notes_file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		reading_load();
	stack.ss_sp = reading.stack = xmalloc(STACK);
	(void)sigaltstack(&stack, &reading.stack_before);
	for (i = 0; i < DEATHS; i++)
		(void)sigaction(deaths[i], &act, &reading.before[i]);
}

void
reading_close(void)
{
	size_t i;

	if (reading.path == NULL)
		return;
	for (i = 0; i < DEATHS; i++)
		(void)sigaction(deaths[i], &reading.before[i], NULL);
	(void)sigaltstack(&reading.stack_before, NULL);
	free(reading.stack);
	free(reading.path);
	free(reading.notes);
	reading.stack = reading.path = reading.notes = NULL;
	reading.n_notes = 0;
	reading.dir_fd = -1;
}

void
reading_begin(const char *folder, const char *name)
{
	reading.name = name;
	if (reading.path != NULL)
		reading.folder = folder;
	fail_point("reading.begin");
}

void
reading_end(void)
{
	reading.folder = NULL;
}

bool
reading_is_left(const char *folder, const char *name)
{
	const char *inner, *at, *end;
	size_t n;

	if (reading.notes == NULL)
		return false;
	end = reading.notes + reading.n_notes;
	inner = reading_inner(folder);
	n = strlen(inner);
	for (at = reading.notes; at < end; at += strlen(at) + 1)
		if (strncmp(at, inner, n) == 0 &&
		    (name == NULL
			    ? at[n] == '\0'
			    : at[n] == '/' && strcmp(at + n + 1, name) == 0))
			return true;
	return false;
}
