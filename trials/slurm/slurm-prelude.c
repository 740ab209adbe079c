/*
 * What a job does and says before its supervisor: its script says that it has
 * begun, setup fails the attempt where a command of it does, and slurm.out has
 * what all of it printed.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/text.h"
#include "trials/slurm/slurm-internal.h"

enum {
	HEAD = 16384, /* bytes of the beginning and of the end of slurm.out */
	LINE = 400 /* of one line of it */
};

/* Before setup.  bash calls the two traps for commands of setup itself only. */
static const char setup_begin[] =
    "hpotune_fail() {\n"
    "\ttrap - DEBUG ERR\n"
    "\tprintf \"setup: '%s' ended with status %s\\n\" \\\n"
    "\t    \"$hpotune_before\" \"$hpotune_status\" >&2\n"
    "\texit \"$hpotune_status\"\n"
    "}\n"
    "hpotune_error() {\n"
    "\t[ ${#BASH_SOURCE[@]} -le 2 ] || return 0\n"
    "\thpotune_status=$1\n"
    "\tcase $hpotune_before in\n"
    /* The status of a file that is there is that of its last command. */
    "\t'. '* | 'source '*)\n"
    "\t\tcase $hpotune_before in\n"
    "\t\t*[\\`\\;\\&\\|\\<\\>\\(\\)]*) set -- / ;;\n"
    "\t\t*) eval \"set -- ${hpotune_before#* }\" ;;\n"
    "\t\tesac\n"
    "\t\t[ -e \"$1\" ] || type -P -- \"$1\" >/dev/null || hpotune_fail\n"
    "\t\thpotune_status= ;;\n"
    "\tmodule\\ * | ml\\ * | spack\\ * | conda\\ * | mamba\\ * | "
    "micromamba\\ *)\n"
    "\t\thpotune_fail ;;\n"
    "\t*)\n"
    "\t\tcase $1 in 126 | 127) hpotune_fail ;; esac ;;\n"
    "\tesac\n"
    "}\n"
    "hpotune_end() {\n"
    "\ttrap - DEBUG ERR\n"
    "\thpotune_status=$hpotune_last\n"
    "\t[ -z \"$hpotune_status\" ] || hpotune_fail\n"
    "}\n"
    "hpotune_before= hpotune_now= hpotune_last= hpotune_status=\n"
    /* bash runs it before the trap ERR once more. */
    "trap 'hpotune_before=$hpotune_now hpotune_now=$BASH_COMMAND "
    "hpotune_last=$hpotune_status hpotune_status=' DEBUG\n"
    "trap 'hpotune_error $?' ERR\n";

void
slurm_prelude_put_setup(struct buf *b, const struct slurm_settings *set)
{
	if (set->setup != NULL)
		buf_printf(b, "%s%s\nhpotune_end\n", setup_begin, set->setup);
}

bool
slurm_prelude_begun(const char *dir)
{
	char text[8];

	return slurm_folder_read(dir, SLURM_BEGUN_FILE, text, sizeof text) &&
	       *text != '\0';
}

bool
slurm_prelude_left(const char *dir)
{
	char text[8];

	return slurm_folder_read(dir, SLURM_BEGUN_FILE, text, sizeof text) &&
	       strncmp(text, SLURM_BEGUN_LEFT, strlen(SLURM_BEGUN_LEFT)) == 0;
}

/* Without what bash puts before a message of a script; blanks cut off. */
static void
slurm_prelude_cut(const char **line, const char **end)
{
	static const char *const scripts[] = { "slurm_script: line ",
		"job.sh: line " };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
		at = memmem(*line, (size_t)(*end - *line), scripts[i],
		    strlen(scripts[i]));
		if (at == NULL)
			continue;
		at += strlen(scripts[i]);
		at += strspn(at, "0123456789");
		if (*end - at > 2 && strncmp(at, ": ", 2) == 0)
			*line = at + 2;
	}
	while (*line < *end && isspace((unsigned char)**line))
		(*line)++;
	while (*end > *line && isspace((unsigned char)(*end)[-1]))
		(*end)--;
}

static bool
slurm_prelude_is_error(const char *line)
{
	static const char *const words[] = { "error", "fail", "not found",
		"no such", "cannot", "could not", "unable", "denied", "unknown",
		"invalid", "unexpected" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasestr(line, words[i]) != NULL)
			return true;
	return false;
}

/* The first line that looks like an error, and the last one. */
static void
slurm_prelude_lines(const char *text, char first[LINE], char last[LINE])
{
	const char *line, *end, *next;
	struct buf one = { 0 };

	*first = *last = '\0';
	for (line = text; *line != '\0'; line = next) {
		end = strchrnul(line, '\n');
		next = *end == '\n' ? end + 1 : end;
		slurm_prelude_cut(&line, &end);
		if (line == end)
			continue;
		buf_clear(&one);
		text_put_harmless(&one, line, (size_t)(end - line), TEXT_LINE);
		text_cut(last, LINE, buf_str(&one));
		if (*first == '\0' && slurm_prelude_is_error(last))
			memcpy(first, last, LINE);
	}
	buf_free(&one);
}

/* The beginning and the end of a file, which may have a NUL in it. */
static void
slurm_prelude_read(const char *dir, struct buf *text)
{
	int fd = slurm_folder_open_file(dir, SLURM_OUT_FILE);
	char bytes[HEAD];
	struct stat st;
	off_t at[2] = { 0, 0 };
	ssize_t got;
	int i;

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > HEAD)
		at[1] = st.st_size > 2 * HEAD ? st.st_size - HEAD : HEAD;
	for (i = 0; i < 2 && (i == 0 || at[1] > 0); i++) {
		got = pread(fd, bytes, sizeof bytes, at[i]);
		if (got > 0)
			buf_add(text, bytes, (size_t)got);
	}
	(void)close(fd);
	for (i = 0; (size_t)i < text->len; i++)
		if (text->data[i] == '\0')
			text->data[i] = ' ';
}

bool
slurm_prelude_words(const char *dir, char *words, size_t n)
{
	char first[LINE], last[LINE];
	struct buf text = { 0 };
	bool ours;

	slurm_prelude_read(dir, &text);
	slurm_prelude_lines(buf_str(&text), first, last);
	buf_clear(&text);
	ours = strncmp(last, "hpotune-", 8) == 0;
	if (*first == '\0' || ours)
		buf_puts(&text, last);
	else
		buf_puts(&text, first);
	/* The line of setup says which command it was. */
	if (strncmp(last, "setup: ", 7) == 0 && strcmp(first, last) != 0 &&
	    *first != '\0')
		buf_printf(&text, "; %s", last);
	text_cut(words, n, buf_str(&text));
	buf_free(&text);
	return ours;
}
