/*
 * For launchers: the words that start the ranks of a trial by torchrun, and why
 * the ranks of an attempt have failed.
 */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/backend.h"
#include "trials/ranks/ranks.h"

/* torchrun's own interpreter has the torch that the program needs. */
static const char *
python_of(const char *command)
{
	const char *base;

	if (command == NULL)
		return NULL;
	base = strrchr(command, '/');
	base = base != NULL ? base + 1 : command;
	return strncmp(base, "python", 6) == 0 ? command : NULL;
}

/*
 * Options with underscores: older releases accept only these.  Not
 * --standalone, with which all trials use the same port; the leased port comes
 * through the environment.
 */
void
ranks_words_torchrun(struct strv *w, const char *command, bool found,
    int64_t nodes, int64_t per_node)
{
	const char *python = python_of(command);

	if (python == NULL && found)
		strv_add(w, xstrdup("torchrun"));
	else {
		strv_add(w, xstrdup(python != NULL ? python : "python3"));
		strv_add(w, xstrdup("-m"));
		strv_add(w, xstrdup("torch.distributed.run"));
	}
	strv_add(w, xasprintf("--nnodes=%lld", (long long)nodes));
	strv_add(w, xasprintf("--nproc_per_node=%lld", (long long)per_node));
	strv_add(w, xstrdup("--rdzv_backend=static"));
	/* With several nodes the address comes through the environment. */
	if (nodes == 1)
		strv_add(w, xstrdup("--master_addr=127.0.0.1"));
	/* The tuner starts another attempt itself, from the checkpoint. */
	strv_add(w, xstrdup("--max_restarts=0"));
	/* Older releases check every five seconds whether a rank has ended. */
	strv_add(w, xstrdup("--monitor_interval=0.1"));
	strv_add(w, xstrdup("--no_python"));
}

void
ranks_words_cause(const char *dir, struct launch_exit *x)
{
	char path[PATH_MAX], text[sizeof x->why];
	struct buf harmless = { 0 };

	/* A requested stop or lack of memory is the cause itself. */
	if (!x->ran || x->stopped || x->timeout || x->oom ||
	    (x->signal == 0 && x->exit_code == 0) ||
	    snprintf(path, sizeof path, "%s/" RANKS_CAUSE_FILE, dir) >=
		PATH_MAX)
		return;
	if (file_read(AT_FDCWD, path, text, sizeof text) <= 0)
		return;
	/* The trial can write this file, too. */
	text_put_harmless(&harmless, text, strlen(text), TEXT_LINE);
	text_cut(x->why, sizeof x->why, buf_str(&harmless));
	buf_free(&harmless);
	x->ran = x->exit_code != RANKS_NO_EXEC ||
		 strncmp(x->why, RANKS_CANNOT, strlen(RANKS_CANNOT)) != 0;
}
