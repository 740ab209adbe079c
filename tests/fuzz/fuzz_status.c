/*
 * Arbitrary bytes as the file of the records in the folder of an attempt, as they
 * are, and with the checksums that they would need.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/backend.h"
#include "trials/process/attempt-status.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char folder[] = "/tmp/fuzz_status.XXXXXX";
static char *state;

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
remove_folder(void)
{
	(void)unlink(state);
	(void)rmdir(folder);
	free(state);
}

static void
make_folder(void)
{
	need(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
	state = xasprintf("%s/state", folder);
}

static void
put(const unsigned char *bytes, size_t n)
{
	int fd = open(state, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	need(fd != -1 && write(fd, bytes, n) == (ssize_t)n);
	(void)close(fd);
}

/* Nobody holds a lock here: the status is that of the bytes. */
static void
check(const unsigned char *bytes, size_t n)
{
	struct launch_exit out = { 0 };
	struct attempt_evidence ev;
	struct err e = ERR_INIT;
	enum attempt_status is;

	put(bytes, n);
	is = attempt_status_read(&ev, folder, UUID, &e);
	need((is == ATTEMPT_UNKNOWN) == (e.text[0] != '\0'));
	need(is != ATTEMPT_STARTING && is != ATTEMPT_RUNNING &&
	     is != ATTEMPT_ENDING && is != ATTEMPT_REMAINS);
	need(!ev.shim_lock && !ev.trial_lock);
	if (is == ATTEMPT_LOST || is == ATTEMPT_FINISHED ||
	    is == ATTEMPT_ABANDONED)
		need(ev.has_claim && strcmp(ev.claim.uuid, UUID) == 0);
	if (is != ATTEMPT_FINISHED)
		return;
	need(ev.has_exit);
	attempt_status_exit(&out, &ev.exit);
	need(strlen(out.why) < sizeof out.why);
	need(out.ran == ev.exit.ran && out.exit_code == ev.exit.exit_code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char both[RECORD_FILE] = { 0 };
	size_t n = size < sizeof both ? size : sizeof both;

	if (state == NULL)
		make_folder();
	if (n > 0)
		memcpy(both, data, n);
	check(both, n);
	/* Bytes alone never meet a checksum. */
	attempt_record_sign(both);
	check(both, sizeof both);
	attempt_record_sign(both + RECORD_SECTOR);
	check(both, sizeof both);
	return 0;
}
