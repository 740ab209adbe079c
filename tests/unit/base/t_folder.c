/* Folders that others can change. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/folder.h"
#include "src/base/mem.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"

static void
check_open(const char *dir, mode_t mode, mode_t others, const char *want)
{
	struct err e = ERR_INIT;
	int fd;

	(void)chmod(dir, mode);
	fd = folder_open(AT_FDCWD, dir, others, &e);
	if (want == NULL) {
		ok(fd != -1, "opened with this mode");
		(void)close(fd);
		return;
	}
	ok(fd == -1 && errno == EPERM, "not opened with this mode");
	ok(strstr(e.text, want) != NULL, "it is said why");
}

static void
test_open(const char *top)
{
	char *dir = xasprintf("%s/own", top), *link = xasprintf("%s/to", top);
	struct err e = ERR_INIT;
	int fd;

	(void)mkdir(dir, 0700);
	check_open(dir, 0700, 077, NULL);
	check_open(dir, 02700, 077, NULL);
	check_open(dir, 0750, 077, "run chmod 700");
	check_open(dir, 0701, 077, "run chmod 700");
	check_open(dir, 0755, 022, NULL);
	check_open(dir, 0775, 022, "run chmod go-w");
	check_open(dir, 0757, 022, "run chmod go-w");
	(void)chmod(dir, 0700);
	(void)symlink(dir, link);
	ok(folder_open(AT_FDCWD, link, 077, &e) == -1,
	    "a link in the place of a closed folder");
	fd = folder_open(AT_FDCWD, link, 022, &e);
	ok(fd != -1, "a link to one that others may read");
	(void)close(fd);
	ok(folder_open(AT_FDCWD, "/nowhere", 022, &e) == -1 && errno == ENOENT,
	    "one that is not there");
	free(link);
	free(dir);
}

/* With the modes of two folders, one in the other. */
static void
check_exposed(const char *top, mode_t upper, mode_t lower, const char *want)
{
	char *a = xasprintf("%s/a", top), *b = xasprintf("%s/a/b", top);
	struct buf why = { 0 };
	bool is;

	(void)mkdir(a, 0700);
	(void)mkdir(b, 0700);
	(void)chmod(b, lower);
	(void)chmod(a, upper);
	is = folder_exposed(b, &why);
	if (want == NULL)
		is_str(buf_str(&why), "", "others cannot replace it");
	else
		ok(is && strstr(buf_str(&why), want) != NULL &&
			strncmp(buf_str(&why), a, strlen(a)) == 0,
		    "the folder that others can change, and who");
	buf_free(&why);
	free(b);
	free(a);
}

static void
test_exposed(const char *top)
{
	char *b = xasprintf("%s/a/b", top), *c = xasprintf("%s/a/b/c/d", top);
	struct buf why = { 0 };

	check_exposed(top, 0700, 0700, NULL);
	check_exposed(top, 0755, 0755, NULL);
	check_exposed(top, 0777, 0700, "/a can be written by all users");
	check_exposed(top, 01777, 0700, NULL);
	check_exposed(top, 0755, 0777, "/a/b can be written by all users");
	check_exposed(top, 0755, 01777, NULL);
	(void)chmod(b, 0777);
	ok(folder_exposed(c, &why),
	    "one that is not there yet: the nearest above it");
	buf_free(&why);
	/* A group with the number of the user is that user. */
	if (geteuid() == 0 && chown(b, 0, 12345) == 0) {
		check_exposed(
		    top, 0755, 0775, "/a/b can be written by its group");
		check_exposed(top, 0755, 02775, "can be written by its group");
		(void)chown(b, 12345, 0);
		check_exposed(top, 0755, 0755, "/a/b belongs to another user");
		(void)chown(b, 0, 0);
	}
	check_exposed(
	    top, 0755, 0775, getegid() == geteuid() ? NULL : "by its group");
	free(c);
	free(b);
}

int
main(void)
{
	char *top = xasprintf("%s/hpotune-file-XXXXXX", scratch_folder());

	if (mkdtemp(top) == NULL)
		return 99;
	test_open(top);
	test_exposed(top);
	(void)scratch_delete(top);
	free(top);
	return done_testing();
}
