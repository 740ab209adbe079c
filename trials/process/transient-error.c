/*
 * Classifies errors that may be temporary, and retries exec.  Allocates no
 * memory.
 */

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "trials/process/exec-path.h"
#include "trials/process/transient-error.h"

/* The first ones are lacks of the machine. */
static const int errors[] = { EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT,
	EROFS, EINTR, EIO, ESTALE, /* … and these mean that it is missing: */
	ETXTBSY, ENOENT, ENOTDIR, EACCES };

enum { LACKS = 10, ERRORS = sizeof errors / sizeof errors[0] };

static bool
transient_error_one_of(int error, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (errors[i] == error)
			return true;
	return false;
}

bool
transient_error_resource(int error)
{
	return transient_error_one_of(error, LACKS);
}

bool
transient_error_exec(int error)
{
	return transient_error_one_of(error, ERRORS);
}

bool
transient_error_exec_text(const char *why)
{
	const char *at, *text;
	size_t i, n;

	for (i = 0; i < ERRORS; i++) {
		text = strerror(errors[i]);
		n = strlen(text);
		for (at = strstr(why, text); at != NULL;
		     at = strstr(at + 1, text))
			if (at[n] == '\0' || strncmp(at + n, " (", 2) == 0)
				return true;
	}
	return false;
}

int
transient_error_retry_exec(char **argv)
{
	long wait_ms = TRANSIENT_MIN_MS, waited_ms = 0;
	struct timespec t;
	int error;

	for (;;) {
		error = exec_path(argv);
		if (!transient_error_exec(error) ||
		    waited_ms >= TRANSIENT_TRY_MS)
			return error;
		t = (struct timespec){ 0, wait_ms * 1000000 };
		(void)nanosleep(&t, NULL);
		waited_ms += wait_ms;
		wait_ms = wait_ms * 2 < TRANSIENT_MAX_MS ? wait_ms * 2
							 : TRANSIENT_MAX_MS;
	}
}
