/*
 * credential_process: a program of the user that prints keys as JSON.  Its
 * output is never shown.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/json/json.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"

/* A command line on its way to be an argv. */
struct split {
	struct strv argv;
	struct buf word;
	bool inside; /* within a word, possibly empty */
};

static void
split_end(struct split *s)
{
	if (!s->inside)
		return;
	strv_add(&s->argv, buf_take(&s->word));
	s->inside = false;
}

/* After an opening quote: past the closing one, or NULL. */
static const char *
split_quoted(struct split *s, const char *p, char quote)
{
	for (; *p != quote; p++) {
		if (*p == '\0')
			return NULL;
		if (quote == '"' && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		buf_putc(&s->word, *p);
	}
	return p + 1;
}

static const char *
split_one(struct split *s, const char *p)
{
	if (strchr(" \t\r\n", *p) != NULL) {
		split_end(s);
		return p + 1;
	}
	s->inside = true;
	if (*p == '\'' || *p == '"')
		return split_quoted(s, p + 1, *p);
	if (*p == '\\' && *++p == '\0')
		return NULL;
	buf_putc(&s->word, *p);
	return p + 1;
}

char **
cred_process_split(const char *p)
{
	struct split s = { 0 };

	while (p != NULL && *p != '\0')
		p = split_one(&s, p);
	if (p != NULL)
		split_end(&s);
	buf_free(&s.word);
	if (p != NULL)
		return s.argv.v != NULL ? s.argv.v : xcalloc(1, sizeof(char *));
	strv_free(s.argv.v);
	return NULL;
}

static int
read_output(struct cred_chain *f, const char *out, size_t len, const char *what)
{
	struct json_doc *doc;
	int64_t version = 0;
	int rc;

	if (json_parse(&doc, out, len, NULL, false, NULL) < 0)
		return err_set(
		    &f->err, ERR_REMOTE, "%s: printed no JSON", what);
	(void)json_integer(json_get(json_root(doc), "Version"), &version);
	if (version != 1)
		rc = err_set(
		    &f->err, ERR_REMOTE, "%s: its \"Version\" is not 1", what);
	else
		rc = cred_keys_read(
		    &f->found, json_root(doc), "SessionToken", what, &f->err);
	json_free(doc);
	return rc;
}

static int
cred_process_read_end(struct cred_chain *f, int status, const char *out,
    size_t len, const char *why, const char *what)
{
	if (status == -1)
		return err_set(&f->err, ERR_REMOTE, "%s: %s", what, why);
	if (WIFSIGNALED(status))
		return err_set(&f->err, ERR_REMOTE, "%s: ended by signal %d",
		    what, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(&f->err, ERR_REMOTE, "%s: ended with status %d",
		    what, WEXITSTATUS(status));
	return read_output(f, out, len, what);
}

static void
cred_process_on_end(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct cred_chain *f = arg;
	char *what =
	    xasprintf("credential_process of profile \"%s\"", f->profile);
	int rc;

	f->child = NULL;
	rc = cred_process_read_end(f, status, out, len, why, what);
	free(what);
	cred_chain_resume(f, rc < 0 ? CRED_FAILED : CRED_FOUND);
}

enum cred_try
cred_process(struct cred_chain *f)
{
	const char *line =
	    aws_config_get(f->config, f->profile, "credential_process");
	struct capture_spec spec = { .mute = true };
	char **argv;
	int rc;

	if (line == NULL)
		return CRED_ABSENT;
	argv = cred_process_split(line);
	if (argv == NULL || argv[0] == NULL) {
		strv_free(argv);
		err_set(&f->err, ERR_USAGE,
		    "credential_process of profile \"%s\": %s", f->profile,
		    argv == NULL ? "a quote without its end" : "empty");
		return CRED_FAILED;
	}
	cred_chain_source(f, "credential_process of profile %s", f->profile);
	spec.argv = argv;
	rc = capture_start(
	    &f->child, f->loop, &spec, cred_process_on_end, f, &f->err);
	strv_free(argv);
	if (rc == 0)
		return CRED_WAIT;
	err_add(&f->err, "credential_process of profile \"%s\"", f->profile);
	return CRED_FAILED;
}
