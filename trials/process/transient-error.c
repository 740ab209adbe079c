/* Which errors pass, and waiting for it.  No memory is allocated. */

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "trials/process/exec-path.h"
#include "trials/process/transient-error.h"

/* The first ones are lacks of the machine. */
static const int errors[] = { EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT,
	EROFS, EINTR, EIO, ESTALE, /* … and these say that it is not there: */
	ETXTBSY, ENOENT, ENOTDIR, EACCES };

enum { LACKS = 10, ERRORS = sizeof errors / sizeof errors[0] };

static bool
one_of(int error, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (errors[i] == error)
			return true;
	return false;
}

bool
passing_lack(int error)
{
	return one_of(error, LACKS);
}

bool
passing_exec(int error)
{
	return one_of(error, ERRORS);
}

bool
passing_exec_text(const char *why)
{
	size_t i, len = strlen(why), n;
	const char *text;

	for (i = 0; i < ERRORS; i++) {
		text = strerror(errors[i]);
		n = strlen(text);
		if (len > n && strcmp(why + len - n, text) == 0)
			return true;
	}
	return false;
}

int
passing_exec_path(char **argv)
{
	long wait_ms = PASSING_MIN_MS, waited_ms = 0;
	struct timespec t;
	int error;

	for (;;) {
		error = exec_path(argv);
		if (!passing_exec(error) || waited_ms >= PASSING_TRY_MS)
			return error;
		t = (struct timespec){ 0, wait_ms * 1000000 };
		(void)nanosleep(&t, NULL);
		waited_ms += wait_ms;
		wait_ms =
		    wait_ms * 2 < PASSING_MAX_MS ? wait_ms * 2 : PASSING_MAX_MS;
	}
}
