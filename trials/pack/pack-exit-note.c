/*
 * Format: two lines of text, the kind and the reason.  Other contents are
 * ignored.
 */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/pack/pack-exit-note.h"

static const char *const kinds[] = {
	[PACK_EXIT_ERROR] = "error",
	[PACK_EXIT_LOST] = "lost",
	[PACK_EXIT_OOM] = "oom",
	[PACK_EXIT_NOT_RUN] = "not-run",
};

static int
note_open(const char *dir, int flags)
{
	int dir_fd, fd;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1)
		return -1;
	fd = file_open_for(dir_fd, PACK_EXIT_NOTE_FILE, flags, 0600);
	(void)close(dir_fd);
	return fd;
}

void
pack_exit_note_write(const char *dir, enum pack_exit_note kind, const char *why)
{
	int fd = note_open(dir, O_WRONLY | O_CREAT | O_TRUNC);
	struct buf b = { 0 };

	if (fd == -1)
		return;
	buf_printf(&b, "%s\n%s\n", kinds[kind], why);
	/* On a full disk only the exit status remains. */
	if (write(fd, b.data, b.len) == -1)
		(void)0;
	buf_free(&b);
	(void)close(fd);
}

bool
pack_exit_note_read(
    const char *dir, enum pack_exit_note *kind, char *why, size_t n)
{
	struct buf harmless = { 0 };
	char text[4096], *line;
	ssize_t len;
	size_t i;
	int fd = note_open(dir, O_RDONLY);

	if (fd == -1)
		return false;
	len = read(fd, text, sizeof text - 1);
	(void)close(fd);
	text[len > 0 ? len : 0] = '\0';
	line = strchr(text, '\n');
	if (line == NULL)
		return false;
	*line++ = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(text, kinds[i]) == 0) {
			*kind = (enum pack_exit_note)i;
			/* The program can write this file, too. */
			text_put_harmless(
			    &harmless, line, strlen(line), TEXT_LINE);
			text_cut(why, n, buf_str(&harmless));
			buf_free(&harmless);
			return true;
		}
	return false;
}
