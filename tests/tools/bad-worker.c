/*
 * A worker with bad days, one word of $ODD_DAYS for each start, the last one
 * for all that follow; the file $ODD_STARTS has a byte for each start.
 *
 *	good	becomes $ODD_REAL
 *	early	ends with status 3 before it says anything
 *	quiet	ends well before it says anything
 *	none	says that it has no device
 *	old	is of another version
 *	deaf	says hello, counts a question as one more start, and says
 *		no more
 *	kill	dies of signal 9 when it is asked
 *	half	ends in the middle of an answer
 *	noise	sends what is no frame
 *	huge	promises an answer of 2 GiB
 *	other	answers another question
 *	gpu	answers from the middle of the cube, made by "cuda"
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/worker/worker-protocol.h"

#ifdef __SANITIZE_ADDRESS__
/* The worker ends as it is told to, with whatever memory it holds. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static void
say(const struct buf *b, size_t n)
{
	if (write(STDOUT_FILENO, b->data, n) != (ssize_t)n)
		exit(1);
}

static void
hello(const char *version)
{
	struct buf text = { 0 }, frame = { 0 };

	buf_add(&text, version, strlen(version) + 1);
	buf_add(&text, "a fake", sizeof "a fake");
	worker_protocol_put(&frame, WORKER_MESSAGE_HELLO, text.data, text.len);
	say(&frame, frame.len);
}

/* Which start this is, from 0. */
static off_t
count_start(void)
{
	const char *path = getenv("ODD_STARTS");
	struct stat st;
	int fd;

	fd =
	    path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
	if (fd == -1 || fstat(fd, &st) != 0 || write(fd, "x", 1) != 1)
		exit(99);
	(void)close(fd);
	return st.st_size;
}

static const char *
day(off_t n)
{
	char *words = xstrdup(getenv("ODD_DAYS")), *rest = words;
	const char *word = strtok_r(words, " ", &rest), *next;

	while (n-- > 0 && (next = strtok_r(NULL, " ", &rest)) != NULL)
		word = next;
	return word;
}

/* The next question; what came before it is dropped. */
static struct worker_message_ask
question(size_t *dims)
{
	static struct buf b;
	static size_t used;
	char piece[4096];
	struct worker_message_ask ask;
	struct history *h;
	struct worker_message m;
	ptrdiff_t n;
	ssize_t got;

	for (;;) {
		n = worker_protocol_take(
		    &m, b.data + used, b.len - used, WORKER_MESSAGE_MAX);
		if (n > 0)
			used += (size_t)n;
		if (n > 0 && m.kind == WORKER_MESSAGE_ASK &&
		    worker_protocol_read_ask(&ask, &h, &m, NULL) == 0) {
			*dims = history_dims(h);
			history_free(h);
			return ask;
		}
		if (n > 0)
			continue;
		got = read(STDIN_FILENO, piece, sizeof piece);
		if (n < 0 || got <= 0)
			exit(0);
		buf_add(&b, piece, (size_t)got);
	}
}

static void
answer(const char *mood)
{
	size_t dims, i;
	struct worker_message_ask ask = question(&dims);
	double *x = xcalloc(dims, sizeof *x);
	struct worker_message_answer a = { .trial = ask.trial,
		.redraw = ask.redraw,
		.x = x,
		.n = dims,
		.made_by = "cuda",
		.text = "" };
	struct buf frame = { 0 };

	for (i = 0; i < dims; i++)
		x[i] = 0.5;
	a.trial += strcmp(mood, "other") == 0;
	worker_protocol_put_answer(&frame, &a);
	say(&frame, strcmp(mood, "half") == 0 ? frame.len / 2 : frame.len);
	buf_free(&frame);
	free(x);
}

int
main(int argc, char **argv)
{
	const char *mood = day(count_start()), *real = getenv("ODD_REAL");
	struct buf b = { 0 };
	size_t dims;

	(void)argc;
	if (strcmp(mood, "good") == 0) {
		(void)execv(real != NULL ? real : "", argv);
		return 98;
	}
	if (strcmp(mood, "early") == 0)
		return 3;
	if (strcmp(mood, "quiet") == 0)
		return 0;
	if (strcmp(mood, "none") == 0) {
		worker_protocol_put(
		    &b, WORKER_MESSAGE_NONE, "no driver is loaded", 19);
		say(&b, b.len);
		return 0;
	}
	hello(strcmp(mood, "old") == 0 ? "0.0.0" : PACKAGE_VERSION);
	if (strcmp(mood, "deaf") == 0) {
		(void)question(&dims);
		(void)count_start();
	}
	if (strcmp(mood, "deaf") == 0 || strcmp(mood, "old") == 0)
		for (;;)
			(void)question(&dims);
	if (strcmp(mood, "kill") == 0) {
		(void)question(&dims);
		(void)raise(SIGKILL);
	}
	if (strcmp(mood, "noise") == 0 || strcmp(mood, "huge") == 0) {
		(void)question(&dims);
		buf_add(&b, "\0\0\0\200\005tph and so on", 18);
		if (strcmp(mood, "noise") == 0)
			b.data[5] = 'x';
		say(&b, b.len);
		for (;;)
			(void)question(&dims);
	}
	if (strcmp(mood, "half") == 0) {
		answer(mood);
		return 0;
	}
	for (;;)
		answer(mood);
}
