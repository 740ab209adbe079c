/* Each reason why a program cannot be executed, before and after the exec. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/tap.h"
#include "trials/process/exec-why.h"
#include "trials/process/transient-error.h"

static void
file_make(const char *name, mode_t mode, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	(void)fchmod(fd, mode);
	(void)close(fd);
}

static void
looks(const char *name, int error, const char *want, const char *what)
{
	char note[EXEC_WHY_NOTE];
	int seen = exec_why_look(".", name, "bin:/bin", note, sizeof note);

	ok(seen == error && strcmp(note, want) == 0, what);
	if (seen != error)
		is_int(seen, error, "its errno");
	if (strcmp(note, want) != 0)
		is_str(note, want, "its note");
	is_int(exec_why_look(".", name, "bin:/bin", NULL, 0), error,
	    "the same without a note");
}

static void
test_files(void)
{
	file_make("good", 0755, "#!/bin/sh\n");
	looks("./good", 0, "", "a script is right");
	file_make("good-env", 0755, "#! /usr/bin/env -S sh -e\n");
	looks("./good-env", 0, "", "one with env, too");
	file_make("good-words", 0755, "#!/usr/bin/env -S A=1 none\n");
	looks("./good-words", 0, "", "env may do what is not seen");
	file_make("good-last", 0755, "#!/bin/sh");
	looks("./good-last", 0, "", "a line without its end");
	looks("true", 0, "", "a program is found in PATH");
	file_make("secret", 0111, "#!/bin/sh\n");
	looks("./secret", 0, "", "one that is not readable may be right");
	file_make("program", 0755, "\177ELF");
	looks("./program", 0, "", "what is no text is not judged");

	file_make("run.sh", 0644, "#!/bin/sh\n");
	looks("./run.sh", EACCES, "not executable: chmod +x ./run.sh",
	    "no run bit");
	file_make("train.py", 0644, "print(1)\n");
	looks("./train.py", EACCES,
	    "not executable: chmod +x ./train.py, with a first line like "
	    "#!/usr/bin/env python3, or the command "
	    "[\"python3\", \"./train.py\"]",
	    "no run bit, and no first line");
	file_make("plain", 0644, "echo 1\n");
	looks("./plain", EACCES,
	    "not executable: chmod +x ./plain, with a first line like "
	    "#!/bin/sh",
	    "the same without a known language");
	(void)mkdir("folder", 0755);
	looks("./folder", EACCES, "it is a folder", "a folder");
	(void)chmod("plain", 0755);
	looks("./plain", ENOEXEC,
	    "the first line of a script is like #!/bin/sh", "no first line");
	(void)chmod("train.py", 0755);
	looks("./train.py", ENOEXEC,
	    "the first line of a script is like #!/usr/bin/env python3; or "
	    "the command is [\"python3\", \"./train.py\"]",
	    "the same in Python");
	file_make("bom", 0755, "\xef\xbb\xbf#!/bin/sh\n");
	looks("./bom", ENOEXEC,
	    "a byte order mark (BOM) stands before its #!: sed -i "
	    "'1s/^\\xef\\xbb\\xbf//' ./bom",
	    "a byte order mark");
	file_make("empty", 0755, "");
	looks("./empty", ENOEXEC, "it is an empty file", "an empty file");
}

static void
test_interpreters(void)
{
	file_make("gone", 0755, "#!/none/python3 -u\n");
	looks("./gone", ENOENT,
	    "its interpreter /none/python3: No such file or directory",
	    "a missing interpreter is named");
	file_make("gone-env", 0755, "#!/usr/bin/env none-of-ours\n");
	looks("./gone-env", ENOENT,
	    "its interpreter none-of-ours: not found in PATH",
	    "also behind env");
	file_make("words", 0755, "#!/usr/bin/env sh -e\n");
	looks("./words", ENOENT,
	    "its first line gives env the one word 'sh -e': env -S takes "
	    "several",
	    "env gets one word");
	file_make("dos", 0755, "#!/bin/sh\r\nexit 0\r\n");
	looks("./dos", ENOENT,
	    "its first line ends with a carriage return: dos2unix ./dos, or "
	    "sed -i 's/\\r$//' ./dos",
	    "a carriage return");
	file_make("dos-env", 0755, "#!/usr/bin/env sh\r\n");
	looks("./dos-env", ENOENT,
	    "its first line ends with a carriage return: dos2unix ./dos-env, "
	    "or sed -i 's/\\r$//' ./dos-env",
	    "the same with env, which the kernel finds");
	file_make("none", 0755, "#! \nexit 0\n");
	looks("./none", ENOEXEC, "its first line names no interpreter",
	    "no interpreter");
	file_make("bare", 0755, "#!python3\n");
	looks("./bare", ENOENT,
	    "its interpreter python3 is named without a path: "
	    "#!/usr/bin/env python3",
	    "an interpreter without a path");
	file_make("closed", 0755, "#!./run.sh\n");
	looks("./closed", EACCES, "its interpreter ./run.sh: Permission denied",
	    "an interpreter that may not be executed");
}

static void
test_names(void)
{
	looks("./missing", ENOENT, "not found in the folder .",
	    "a file of the working folder");
	looks("/none/missing", ENOENT, "", "an absolute path says all");
	looks("./good/train", ENOTDIR, "", "a file for a folder");
	looks("missing", ENOENT, "not found in PATH", "a name");
	looks("good", ENOENT,
	    "not found in PATH; the one in the working folder is ./good",
	    "a name of the working folder");
	looks("sh good", ENOENT,
	    "not found in PATH; each word of a command is an element of its "
	    "list",
	    "several words in one");
	looks("~/train", ENOENT,
	    "not found: no shell reads the command, so ~ stays as it is",
	    "a shell's name of the home folder");
	looks("$HOME/train", ENOENT,
	    "not found: no shell reads the command, so $ stays as it is",
	    "a variable");
	(void)mkdir("bin", 0755);
	file_make("bin/tool", 0644, "#!/bin/sh\n");
	looks("tool", EACCES, "not executable: chmod +x tool",
	    "a file of PATH without a run bit");
}

static void
test_text(void)
{
	char text[160], name[200];

	exec_why_text(text, sizeof text, ".", "./run.sh", EACCES);
	is_str(text,
	    "cannot run ./run.sh: Permission denied (not executable: chmod +x "
	    "./run.sh)",
	    "after the exec: with the message of the errno");
	ok(transient_error_exec_text(text), "which is found in it");
	exec_why_text(text, sizeof text, ".", "./run.sh", ENOMEM);
	is_str(text, "cannot run ./run.sh: Cannot allocate memory",
	    "another errno has another cause");
	exec_why_text(text, sizeof text, ".", "./good", ENOENT);
	is_str(text, "cannot run ./good: No such file or directory",
	    "a file that is right by now");
	exec_why_text(text, sizeof text, NULL, "./program", ENOEXEC);
	is_str(text,
	    "cannot run ./program: Exec format error (it is no program for "
	    "this machine)",
	    "a program that the kernel refuses");
	ok(!transient_error_exec_text(text), "does not become one");
	exec_why_text(text, sizeof text, NULL, "./program", ENOENT);
	is_str(text,
	    "cannot run ./program: No such file or directory (the loader that "
	    "it names is not there)",
	    "a program of another system");
	exec_why_text(text, sizeof text, "/none", "./program", ENOENT);
	is_str(text, "cannot run ./program: No such file or directory",
	    "a folder that has gone says nothing");
	(void)snprintf(name, sizeof name, "./%0*d.py", 60, 0);
	file_make(name, 0644, "#!/bin/sh\n");
	exec_why_text(text, sizeof text, ".", name, EACCES);
	ok(strstr(text, "(not executable: chmod +x that file)") != NULL,
	    "a long name is not repeated");
	(void)snprintf(name, sizeof name, "./%0*d.py", 180, 0);
	file_make(name, 0644, "#!/bin/sh\n");
	exec_why_text(text, sizeof text, ".", name, EACCES);
	ok(strlen(text) == 130 && strchr(text, '(') == NULL,
	    "a note that does not fit is left out");
}

int
main(void)
{
	char command[64];
	char dir[] = "/tmp/t_exec_why.XXXXXX";

	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		abort();
	test_files();
	test_interpreters();
	test_names();
	test_text();
	(void)snprintf(command, sizeof command, "rm -rf %s", dir);
	if (chdir("/") == -1 || system(command) != 0)
		abort();
	return done_testing();
}
