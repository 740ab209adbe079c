/* The last line of a log that says something. */

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/process/last-line.h"

enum { LAST_BYTES = 8192 };

static const char tag[] = "hpotune:";

/* The visible part without blanks; false: it says nothing. */
static bool
line_says(const char **line, const char **end)
{
	const char *p = *line, *to = *end, *cr, *q;

	while (to > p && isspace((unsigned char)to[-1]))
		to--;
	cr = memrchr(p, '\r', (size_t)(to - p));
	if (cr != NULL)
		p = cr + 1;
	while (p < to && (isspace((unsigned char)*p) || *p == '\0'))
		p++;
	*line = p;
	*end = to;
	if ((size_t)(to - p) >= sizeof tag - 1 &&
	    memcmp(p, tag, sizeof tag - 1) == 0)
		return false;
	for (q = p; q < to; q++)
		if (isalpha((unsigned char)*q))
			return true;
	return false;
}

static void
last_line_find(const char *bytes, size_t n, char *out, size_t size)
{
	const char *end = bytes + n, *nl, *line, *to;
	struct buf text = { 0 };

	while (end > bytes) {
		nl = memrchr(bytes, '\n', (size_t)(end - bytes));
		line = nl != NULL ? nl + 1 : bytes;
		to = end;
		if (line_says(&line, &to)) {
			text_put_harmless(
			    &text, line, (size_t)(to - line), TEXT_LINE);
			text_cut(out, size, buf_str(&text));
			buf_free(&text);
			return;
		}
		end = nl != NULL ? nl : bytes;
	}
}

/* Without colours, and blanks for tabs.  Returns the new length. */
static size_t
line_plain(char *bytes, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (bytes[i] == '\033' && i + 1 < n && bytes[i + 1] == '[') {
			for (i += 2; i < n; i++)
				if (bytes[i] >= '@' && bytes[i] <= '~')
					break;
			continue;
		}
		bytes[kept++] = bytes[i] == '\t' ? ' ' : bytes[i];
	}
	return kept;
}

void
last_line_read(const char *path, char *out, size_t n)
{
	int fd = file_open(AT_FDCWD, path);
	char bytes[LAST_BYTES];
	struct stat st;
	off_t from;
	ssize_t got;

	out[0] = '\0';
	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0) {
		from = st.st_size > LAST_BYTES ? st.st_size - LAST_BYTES : 0;
		got = pread(fd, bytes, sizeof bytes, from);
		if (got > 0)
			last_line_find(
			    bytes, line_plain(bytes, (size_t)got), out, n);
	}
	(void)close(fd);
}
