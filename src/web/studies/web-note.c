/* Reads and writes the files "note" and "archived" of a study. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/study-files/study-files.h"
#include "src/web/studies/web-note.h"

enum { NOTE = 500 /* bytes */ };

/* A file beside those of the study, in NAME.d. */
static char *
web_note_path(const char *db, const char *file)
{
	char *dir = study_files_state_dir(db);
	char *path = xasprintf("%s/%s", dir, file);

	free(dir);
	return path;
}

char *
web_note_read(const char *db)
{
	char *path = web_note_path(db, "note"), text[NOTE + 1];
	ssize_t n = file_read(AT_FDCWD, path, text, sizeof text);

	free(path);
	if (n <= 0)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return *text == '\0' ? NULL : xstrdup(text);
}

int
web_note_write(const char *db, const char *text, struct err *e)
{
	char *path = web_note_path(db, "note");
	struct buf b = { 0 };
	int rc = 0;

	if (strlen(text) > NOTE || strpbrk(text, "\r\n") != NULL)
		rc = err_set(e, ERR_USAGE,
		    "a note is one line of %d bytes at most", NOTE);
	else if (*text == '\0') {
		if (unlink(path) != 0 && errno != ENOENT)
			rc = err_set(
			    e, ERR_FILE, "%s: %s", path, strerror(errno));
	} else {
		buf_printf(&b, "%s\n", text);
		rc = atomic_file_write(path, true, &b, e);
		buf_free(&b);
	}
	free(path);
	return rc;
}

bool
web_note_archived(const char *db)
{
	char *path = web_note_path(db, "archived");
	struct stat st;
	bool there = lstat(path, &st) == 0;

	free(path);
	return there;
}

int
web_note_archive(const char *db, bool archived, struct err *e)
{
	char *path = web_note_path(db, "archived");
	int fd, rc = 0;

	if (archived) {
		fd = file_open_for(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
		if (fd != -1)
			(void)close(fd);
		else
			rc = -1;
	} else if (unlink(path) != 0 && errno != ENOENT)
		rc = -1;
	if (rc != 0)
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	free(path);
	return rc;
}
