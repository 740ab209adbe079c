/*
 * Why a trial of several processes failed: which process failed first, how it
 * ended, and the last line of its output.  The others failed as a consequence.
 */

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/ranks/ranks-output.h"
#include "trials/ranks/ranks.h"

enum { TAIL = 4096 };

/* "rank 2", "parameter server 0" */
static void
name_text(char *text, size_t n, enum rank_role role, int number)
{
	switch (role) {
	case RANK_WORKER:
		(void)snprintf(text, n, "rank %d", number);
		break;
	case RANK_SERVER:
		(void)snprintf(text, n, "parameter server %d", number);
		break;
	case RANK_LAUNCHER:
		(void)snprintf(text, n, "the launcher");
		break;
	}
}

static ssize_t
first_failure_tail_read(int dir_fd, const char *name, char *text, size_t n)
{
	int fd = file_open(dir_fd, name);
	struct stat st;
	ssize_t got = -1;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0)
		got = pread(fd, text, n,
		    st.st_size > (off_t)n ? st.st_size - (off_t)n : 0);
	(void)close(fd);
	return got;
}

static bool
is_break(char c)
{
	return c == '\n' || c == '\r';
}

/* Some launchers frame their messages with lines such as "-----". */
static bool
is_words(const char *text, ssize_t n)
{
	ssize_t i;

	for (i = 0; i < n; i++)
		if (isalnum((unsigned char)text[i]) || (text[i] & 0x80) != 0)
			return true;
	return false;
}

/*
 * Append the last line with letters in it, harmless for a terminal; nothing if
 * there is none.
 */
static void
first_failure_line_put(struct buf *line, const char *text, ssize_t end)
{
	ssize_t from, i;

	for (; end > 0; end = from - 1) {
		for (from = end; from > 0 && !is_break(text[from - 1]);)
			from--;
		if (!is_words(text + from, end - from))
			continue;
		while ((unsigned char)text[end - 1] <= ' ')
			end--;
		for (i = from; i < end; from = ++i) {
			while (i < end && text[i] != '\t')
				i++;
			text_put_harmless(
			    line, text + from, (size_t)(i - from), TEXT_LINE);
			if (i < end)
				buf_putc(line, ' ');
		}
		return;
	}
}

/* What launchers say that their user can mend, and how. */
static const struct {
	const char *says, *remedy;
} launcher_words[] = {
	{ "detected an attempt to run as root",
	    "as root, Open MPI needs OMPI_ALLOW_RUN_AS_ROOT=1 and "
	    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in trial.env" },
	/* Whatever USE_LIBUV is: torchrun makes its own store without it. */
	{ "without libuv support",
	    "this PyTorch has no libuv, which its torchrun needs: use "
	    "launcher ranks, with USE_LIBUV=0 in trial.env" },
};

/* NULL = no remedy is known. */
static const char *
launcher_remedy(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof launcher_words / sizeof launcher_words[0]; i++)
		if (memmem(text, n, launcher_words[i].says,
			strlen(launcher_words[i].says)) != NULL)
			return launcher_words[i].remedy;
	return NULL;
}

/* The last line of a rank; of a launcher the remedy, where one is known. */
static void
first_failure_words_put(struct buf *line, int dir_fd, const struct rank *r)
{
	const char *remedy = NULL;
	char name[32], text[TAIL];
	ssize_t end;

	ranks_output_name(name, sizeof name, r->role, r->number);
	end = first_failure_tail_read(dir_fd, name, text, sizeof text);
	if (end > 0 && r->role == RANK_LAUNCHER)
		remedy = launcher_remedy(text, (size_t)end);
	if (remedy != NULL)
		buf_puts(line, remedy);
	else
		first_failure_line_put(line, text, end);
}

static void
first_failure_end_text(char *text, size_t n, int status)
{
	int sig;

	if (WIFEXITED(status)) {
		(void)snprintf(
		    text, n, "ended with status %d", WEXITSTATUS(status));
		return;
	}
	sig = WTERMSIG(status);
	if (sig == SIGKILL)
		(void)snprintf(text, n, "was killed, possibly out of memory");
	else
		(void)snprintf(text, n, "was ended by signal %d (%s)", sig,
		    strsignal(sig));
}

/* The first writer wins: the ranks of a launcher write concurrently. */
static void
cause_write(int dir_fd, const char *text)
{
	char name[32];
	size_t len = strlen(text);
	int fd;

	(void)snprintf(name, sizeof name, "cause.%d", (int)getpid());
	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return;
	if (write(fd, text, len) == (ssize_t)len)
		(void)linkat(dir_fd, name, dir_fd, RANKS_CAUSE_FILE, 0);
	(void)close(fd);
	(void)unlinkat(dir_fd, name, 0);
}

void
ranks_first_failure(const struct ranks *s, const struct rank *r)
{
	char who[32], how[64], text[RANKS_CAUSE];
	struct buf line = { 0 }, all = { 0 };

	name_text(who, sizeof who, r->role, r->number);
	first_failure_end_text(how, sizeof how, r->status);
	first_failure_words_put(&line, s->dir_fd, r);
	buf_printf(&all, "%s %s%s%s", who, how, line.len > 0 ? ": " : "",
	    buf_str(&line));
	text_cut(text, sizeof text, buf_str(&all));
	buf_free(&line);
	buf_free(&all);
	/* The launcher's messages about its ranks are in the log already. */
	if (r->role != RANK_LAUNCHER)
		(void)dprintf(2, "hpotune-ranks: %s\n", text);
	cause_write(s->dir_fd, text);
}

void
ranks_first_failure_start(const struct ranks *s, const char *why)
{
	(void)dprintf(2, "hpotune-ranks: %s\n", why);
	cause_write(s->dir_fd, why);
}
