/* Reads the templates of trial.files, before each attempt. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/template-files.h"

enum {
	BYTES_MAX = 1 << 20, /* of a template */
	CHUNK = 1 << 16
};

/* The text of a regular file: a pipe is not waited for.  NULL: why not. */
static const char *
template_files_text_read(struct buf *text, const char *path)
{
	int fd = file_open_user(path);
	ssize_t n = 0;
	char *chunk;
	int error;

	if (fd == -1)
		return file_why(errno);
	chunk = xmalloc(CHUNK);
	while (text->len <= BYTES_MAX && (n = read(fd, chunk, CHUNK)) > 0)
		buf_add(text, chunk, (size_t)n);
	error = errno;
	free(chunk);
	(void)close(fd);
	if (text->len > BYTES_MAX)
		return "larger than 1 MiB";
	if (n == -1)
		return strerror(error);
	if (strlen(buf_str(text)) != text->len)
		return "no text: it has a byte 0";
	return NULL;
}

int
template_files_fill(struct strv *list, const struct study *s,
    const struct value *values, struct err *e)
{
	const struct study_template *t = s->trial.templates;
	struct buf text = { 0 }, out = { 0 };
	const char *why = NULL;
	size_t i;

	for (i = 0; i < s->trial.n_templates && why == NULL; i++) {
		buf_clear(&text);
		why = template_files_text_read(&text, t[i].path);
		if (why != NULL)
			(void)err_set(
			    e, ERR_BUSY, "trial.files: %s: %s", t[i].path, why);
		study_template_put_name(&out, &t[i]);
		strv_add(list, buf_take(&out));
		study_template_fill(&out, buf_str(&text), s->space, values);
		strv_add(list, buf_take(&out));
	}
	buf_free(&text);
	return why == NULL ? 0 : -1;
}

int
template_files_check(const struct study *s, struct err *e)
{
	const struct study_template *t = s->trial.templates;
	struct buf text = { 0 };
	const char *why;
	size_t i;
	int rc = 0;

	for (i = 0; i < s->trial.n_templates && rc == 0; i++) {
		buf_clear(&text);
		why = template_files_text_read(&text, t[i].path);
		if (why != NULL)
			rc = json_err(t[i].where, e, "%s: %s", t[i].path, why);
		else if (!study_template_names_any(buf_str(&text), s->space))
			rc = json_err(t[i].where, e,
			    "%s names no parameter in braces, such as {%s}",
			    t[i].path, s->space->params[0].name);
	}
	buf_free(&text);
	return rc;
}
