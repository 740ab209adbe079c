/*
 * Finds the cause from the file of a program: its mode, and its first line as
 * the kernel reads it.  Nothing is said that was not seen in the file.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "trials/process/exec-path.h"
#include "trials/process/exec-why.h"

enum {
	HEAD = 256, /* bytes that the kernel reads of a file */
	NAME_SAID = 100 /* longest name in a message of a fixed size */
};

/* One look at a program. */
struct exec_why {
	int dir_fd;
	const char *dir; /* NULL: the working folder is ours */
	const char *name;
	const char *path; /* PATH, or NULL */
	const char *said; /* the name in a command to be typed */
	char file[PATH_MAX]; /* that was found; "": none */
	char head[HEAD + 1]; /* its first bytes, and a NUL */
	ssize_t head_len; /* -1: not readable */
	char *note;
	size_t size;
	bool cut; /* the note did not fit */
};

/* Languages whose programs are often run by their interpreter. */
static const struct {
	const char *ext, *interpreter;
} languages[] = {
	{ "py", "python3" },
	{ "sh", "sh" },
	{ "bash", "bash" },
	{ "R", "Rscript" },
	{ "jl", "julia" },
	{ "pl", "perl" },
};

static int __attribute__((format(printf, 3, 4)))
exec_why_note(struct exec_why *w, int error, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->note == NULL)
		return error;
	va_start(ap, fmt);
	n = vsnprintf(w->note, w->size, fmt, ap);
	va_end(ap);
	w->cut = n < 0 || (size_t)n >= w->size;
	if (w->cut)
		*w->note = '\0';
	return error;
}

/* The extension of a file without its dot, or "". */
static const char *
exec_why_ext(const char *file)
{
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base != NULL ? base + 1 : file, '.');

	return dot != NULL ? dot + 1 : "";
}

/* The interpreter for its extension, or NULL. */
static const char *
exec_why_language(const struct exec_why *w)
{
	const char *ext = exec_why_ext(w->file);
	size_t i;

	for (i = 0; i < sizeof languages / sizeof languages[0]; i++)
		if (strcmp(ext, languages[i].ext) == 0)
			return languages[i].interpreter;
	return NULL;
}

/* A program need not be readable. */
static void
exec_why_read(struct exec_why *w)
{
	int fd = openat(w->dir_fd, w->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	w->head_len = -1;
	if (fd != -1) {
		w->head_len = pread(fd, w->head, HEAD, 0);
		(void)close(fd);
	}
	w->head[w->head_len > 0 ? w->head_len : 0] = '\0';
}

static bool
exec_why_is_script(const struct exec_why *w)
{
	return strncmp(w->head, "#!", 2) == 0;
}

/* Text, as far as it was read, that begins with no "#!". */
static bool
exec_why_is_plain(const struct exec_why *w)
{
	return w->head_len > 0 && strlen(w->head) == (size_t)w->head_len &&
	       w->head[0] != '\177' && !exec_why_is_script(w);
}

/* Whether the machine has an interpreter for an extension: binfmt_misc. */
static bool
exec_why_is_registered(const char *ext)
{
	static const char folder[] = "/proc/sys/fs/binfmt_misc";
	char want[64], text[512];
	const struct dirent *d;
	bool found = false;
	ssize_t n;
	DIR *dir;
	int fd;

	if (*ext == '\0' || (dir = opendir(folder)) == NULL)
		return false;
	(void)snprintf(want, sizeof want, "extension .%.40s\n", ext);
	while (!found && (d = readdir(dir)) != NULL) {
		fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC);
		if (fd == -1)
			continue;
		n = read(fd, text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		found = strstr(text, want) != NULL;
		(void)close(fd);
	}
	(void)closedir(dir);
	return found;
}

static int
exec_why_absent(struct exec_why *w, int error)
{
	char file[PATH_MAX];

	if (error != ENOENT)
		return error;
	if (strchr(w->name, ' ') != NULL)
		return exec_why_note(w, error,
		    "not found%s; each word of a command is an element of its "
		    "list",
		    strchr(w->name, '/') != NULL ? "" : " in PATH");
	if (w->name[0] == '~' || w->name[0] == '$')
		return exec_why_note(w, error,
		    "not found: no shell reads the command, so %c stays as "
		    "it is",
		    w->name[0]);
	if (w->name[0] == '/')
		return error;
	if (strchr(w->name, '/') != NULL)
		return w->dir == NULL
			   ? error
			   : exec_why_note(w, error,
				 "not found in the folder %s", w->dir);
	(void)snprintf(file, sizeof file, "./%s", w->name);
	if (faccessat(w->dir_fd, file, F_OK, 0) == -1)
		return exec_why_note(w, error, "not found in PATH");
	return exec_why_note(w, error,
	    "not found in PATH; the one in the working folder is ./%s",
	    w->said);
}

/* Explain why a file that is there may not be executed. */
static int
exec_why_forbidden(struct exec_why *w)
{
	const char *language = exec_why_language(w);
	struct statvfs fs;
	struct stat st;
	int fd;

	if (*w->file == '\0' || fstatat(w->dir_fd, w->file, &st, 0) == -1)
		return EACCES;
	if (S_ISDIR(st.st_mode))
		return exec_why_note(w, EACCES, "it is a folder");
	if (!S_ISREG(st.st_mode))
		return exec_why_note(w, EACCES, "it is no regular file");
	fd = openat(w->dir_fd, w->file, O_PATH | O_CLOEXEC);
	if (fd != -1 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0)
		(void)exec_why_note(
		    w, EACCES, "its file system is mounted with noexec");
	else if (!exec_why_is_plain(w))
		(void)exec_why_note(
		    w, EACCES, "not executable: chmod +x %s", w->said);
	else if (language != NULL)
		(void)exec_why_note(w, EACCES,
		    "not executable: chmod +x %s, with a first line like "
		    "#!/usr/bin/env %s, or the command [\"%s\", \"%s\"]",
		    w->said, language, language, w->said);
	else
		(void)exec_why_note(w, EACCES,
		    "not executable: chmod +x %s, with a first line like "
		    "#!/bin/sh",
		    w->said);
	if (fd != -1)
		(void)close(fd);
	return EACCES;
}

/* A text without "#!", which the kernel does not execute. */
static int
exec_why_plain(struct exec_why *w)
{
	const char *language = exec_why_language(w);

	if (exec_why_is_registered(exec_why_ext(w->file)))
		return 0;
	if (strncmp(w->head, "\xef\xbb\xbf#!", 5) == 0)
		return exec_why_note(w, ENOEXEC,
		    "a byte order mark (BOM) stands before its #!: sed -i "
		    "'1s/^\\xef\\xbb\\xbf//' %s",
		    w->said);
	if (language != NULL)
		return exec_why_note(w, ENOEXEC,
		    "the first line of a script is like #!/usr/bin/env %s; or "
		    "the command is [\"%s\", \"%s\"]",
		    language, language, w->said);
	return exec_why_note(
	    w, ENOEXEC, "the first line of a script is like #!/bin/sh");
}

/*
 * What env would run: its argument is one word, unless it begins with -S.  Only
 * a name is looked for: not after options or settings of variables.
 */
static int
exec_why_env(struct exec_why *w, char *word)
{
	char file[PATH_MAX];
	int error;

	if (strncmp(word, "-S", 2) == 0) {
		word += 2;
		word += strspn(word, " \t");
		word[strcspn(word, " \t")] = '\0';
	} else if (word[0] != '-' && strpbrk(word, " \t") != NULL)
		return exec_why_note(w, ENOENT,
		    "its first line gives env the one word '%s': env -S "
		    "takes several",
		    word);
	if (*word == '\0' || strpbrk(word, "-=\"'\\$") == word ||
	    strchr(word, '=') != NULL)
		return 0;
	error = exec_path_find(w->dir_fd, word, w->path, file);
	if (error == 0)
		return 0;
	if (error == ENOENT && strchr(word, '/') == NULL)
		return exec_why_note(
		    w, error, "its interpreter %s: not found in PATH", word);
	return exec_why_note(
	    w, error, "its interpreter %s: %s", word, strerror(error));
}

/* The first line, as the kernel takes it. */
static int
exec_why_script(struct exec_why *w)
{
	char *line = w->head + 2, *end, *word, *arg, file[PATH_MAX];
	const char *base;
	int error;

	end = strchr(line, '\n');
	if (end == NULL && w->head_len == HEAD)
		return 0; /* longer than was read */
	if (end != NULL)
		*end = '\0';
	end = line + strlen(line);
	if (end > line && end[-1] == '\r')
		return exec_why_note(w, ENOENT,
		    "its first line ends with a carriage return: dos2unix "
		    "%s, or sed -i 's/\\r$//' %s",
		    w->said, w->said);
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	word = line + strspn(line, " \t");
	arg = word + strcspn(word, " \t");
	if (arg == word)
		return exec_why_note(
		    w, ENOEXEC, "its first line names no interpreter");
	if (*arg != '\0')
		*arg++ = '\0';
	arg += strspn(arg, " \t");
	if (strchr(word, '/') == NULL && faccessat(w->dir_fd, word, F_OK, 0))
		return exec_why_note(w, ENOENT,
		    "its interpreter %s is named without a path: "
		    "#!/usr/bin/env %s",
		    word, word);
	(void)snprintf(file, sizeof file, "%s%s",
	    strchr(word, '/') == NULL ? "./" : "", word);
	if (faccessat(w->dir_fd, file, X_OK, AT_EACCESS) == -1) {
		error = errno;
		return exec_why_note(
		    w, error, "its interpreter %s: %s", word, strerror(error));
	}
	base = strrchr(file, '/') + 1;
	return strcmp(base, "env") == 0 ? exec_why_env(w, arg) : 0;
}

static int
exec_why_one(struct exec_why *w)
{
	int error = exec_path_find(w->dir_fd, w->name, w->path, w->file);

	if (w->note != NULL)
		*w->note = '\0';
	w->cut = false;
	if (*w->file != '\0')
		exec_why_read(w);
	if (error == EACCES)
		return exec_why_forbidden(w);
	if (error != 0)
		return exec_why_absent(w, error);
	if (w->head_len == 0)
		return exec_why_note(w, ENOEXEC, "it is an empty file");
	if (exec_why_is_script(w))
		return exec_why_script(w);
	return exec_why_is_plain(w) ? exec_why_plain(w) : 0;
}

/* A second time with a short name when the note is too long. */
static int
exec_why_both(struct exec_why *w)
{
	int error;

	w->dir_fd = AT_FDCWD;
	if (w->dir != NULL)
		w->dir_fd = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->dir_fd == -1)
		return errno;
	w->said = w->name;
	error = exec_why_one(w);
	if (w->cut) {
		w->said = "that file";
		error = exec_why_one(w);
	}
	if (w->dir_fd != AT_FDCWD)
		(void)close(w->dir_fd);
	return error;
}

int
exec_why_look(const char *dir, const char *name, const char *path, char *note,
    size_t size)
{
	struct exec_why w = { .dir = dir,
		.name = name,
		.path = path,
		.note = note,
		.size = size };

	if (note != NULL)
		*note = '\0';
	return exec_why_both(&w);
}

void
exec_why_text(
    char *text, size_t size, const char *dir, const char *name, int error)
{
	char note[EXEC_WHY_NOTE];
	struct exec_why w = {
		.dir = dir, .name = name, .path = getenv("PATH"), .note = note
	};
	int n, seen;

	n = snprintf(text, size, "cannot run %.*s: %s", NAME_SAID, name,
	    strerror(error));
	if (n < 0 || (size_t)n + sizeof " ()" >= size)
		return;
	w.size = size - (size_t)n - sizeof " ()" + 1;
	if (w.size > sizeof note)
		w.size = sizeof note;
	*note = '\0';
	seen = exec_why_both(&w);
	/* A file that looks right is a program that the kernel refuses. */
	if (seen == 0 && *w.file != '\0' && w.head[0] == '\177' &&
	    error == ENOENT)
		(void)exec_why_note(
		    &w, error, "the loader that it names is not there");
	else if (seen == 0 && error == ENOEXEC && w.head[0] != '#')
		(void)exec_why_note(
		    &w, error, "it is no program for this machine");
	else if (seen != error)
		return;
	if (*note != '\0')
		(void)snprintf(text + n, size - (size_t)n, " (%s)", note);
}
