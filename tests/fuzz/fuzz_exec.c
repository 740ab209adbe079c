/*
 * Arbitrary bytes as a program that cannot be executed: the cause fits into its
 * room, and is said only where there is an error.  The first byte selects the name
 * and the mode, the next one the room.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "trials/process/attempt-record.h"
#include "trials/process/exec-why.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char *const names[] = { "./train", "./train.py", "train.sh",
	"./a b.R" };
enum { NAMES = sizeof names / sizeof names[0] };

static char folder[] = "/tmp/fuzz_exec.XXXXXX";
static bool made;

static void
need(bool good)
{
	if (!good)
		abort();
}

static char *
path_of(const char *name)
{
	return xasprintf(
	    "%s/%s", folder, strncmp(name, "./", 2) == 0 ? name + 2 : name);
}

static void
remove_folder(void)
{
	char *path;
	size_t i;

	for (i = 0; i < NAMES; i++) {
		path = path_of(names[i]);
		(void)unlink(path);
		free(path);
	}
	(void)rmdir(folder);
}

static void
put(const char *name, mode_t mode, const uint8_t *bytes, size_t n)
{
	char *path = path_of(name);
	int fd;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	need(fd != -1 && write(fd, bytes, n) == (ssize_t)n);
	(void)close(fd);
	free(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[RECORD_WHY], *note;
	const char *name;
	size_t room;
	int error;

	if (!made)
		need(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
	made = true;
	if (size < 2)
		return 0;
	name = names[data[0] % NAMES];
	room = 1 + data[1] * 2U % EXEC_WHY_NOTE;
	put(name, data[0] & 0x80 ? 0600 : 0700, data + 2, size - 2);
	note = xmalloc(room);
	error = exec_why_look(folder, name, "/usr/bin:/bin", note, room);
	need(error >= 0 && strlen(note) < room);
	need(error != 0 || *note == '\0');
	need(exec_why_look(folder, name, "/usr/bin:/bin", NULL, 0) == error);
	exec_why_text(
	    text, sizeof text, folder, name, error != 0 ? error : ENOEXEC);
	need(strlen(text) < sizeof text &&
	     strncmp(text, "cannot run ", 11) == 0);
	free(note);
	return 0;
}
