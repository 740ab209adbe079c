/* Asks and records where trials are started; one program at a time. */

#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/provenance/git-stamp.h"
#include "src/engine/provenance/git-status.h"
#include "src/engine/provenance/provenance.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

enum {
	GIT_MS = 10000, /* the limit for an answer of git */
	PACKAGES_MS = 60000, /* … and of the list of packages */
	GIT_BYTES = 1 << 20,
	PACKAGES_BYTES = 256 << 10,
	ASK_AGAIN_MS = 60000,
	PASSWD_BYTES = 1024,
	RELEASE_BYTES = 4096
};

struct provenance {
	struct provenance_env env;
	char host[256];
	char *user, *system, *folder, *workdir;
	struct git_status git; /* the last answer */
	char *git_dir; /* NULL: no repository, or it is not asked */
	struct git_stamp stamp; /* of the repository when it was asked last */
	char *packages, *packages_why;
	bool packages_asked;
	int64_t id; /* the row of this run that has no answer yet; 0 = none */
	bool begun; /* a row of this run was recorded */
	int64_t asked_us, asked_ms; /* the turn that wanted the last answer */
	bool wanted; /* it is asked after the commit */
	struct capture *child; /* the program that is asked; NULL = none */
	bool answered; /* an answer is to be recorded */
	bool in_part; /* that of git is, while packages are awaited */
};

/* PRETTY_NAME of os-release(5), or NULL. */
static char *
release_name(void)
{
	static const char key[] = "PRETTY_NAME=";
	char text[RELEASE_BYTES], *from, *end, *name = NULL;

	if (file_read(AT_FDCWD, "/etc/os-release", text, sizeof text) <= 0 &&
	    file_read(AT_FDCWD, "/usr/lib/os-release", text, sizeof text) <= 0)
		return NULL;
	from = strncmp(text, key, strlen(key)) == 0
		   ? text
		   : strstr(text, "\nPRETTY_NAME=");
	if (from != NULL) {
		from = strchr(from, '=') + 1;
		from += *from == '"';
		end = from + strcspn(from, "\"\n");
		name = xstrndup(from, (size_t)(end - from));
	}
	return name;
}

static char *
system_name(void)
{
	struct utsname u;
	char *name = release_name(), *text;

	if (uname(&u) != 0)
		return name != NULL ? name : xstrdup("");
	text = xasprintf("%s %s %s%s%s", u.sysname, u.release, u.machine,
	    name != NULL ? ", " : "", name != NULL ? name : "");
	free(name);
	return text;
}

/* The name of the user that this process is, otherwise the number. */
static char *
user_name(void)
{
	struct passwd pw, *found = NULL;
	char room[PASSWD_BYTES];

	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) == 0 &&
	    found != NULL)
		return xstrdup(pw.pw_name);
	return xasprintf("uid %lu", (unsigned long)geteuid());
}

/*
 * trial.workdir; but one that differs from trial to trial is no folder of code:
 * then that of the study.
 */
static const char *
folder_of_code(const struct study *study)
{
	const char *dir = study->trial.workdir;

	return dir != NULL && strchr(dir, '{') == NULL ? dir : study->dir;
}

struct provenance *
provenance_new(const struct provenance_env *env)
{
	struct provenance *p = xcalloc(1, sizeof *p);

	p->env = *env;
	(void)gethostname(p->host, sizeof p->host - 1);
	p->user = user_name();
	p->system = system_name();
	p->folder = getcwd(NULL, 0);
	if (p->folder == NULL)
		p->folder = xstrdup("");
	p->workdir = xstrdup(folder_of_code(env->study));
	if (!env->study->provenance.without_git)
		p->git_dir = git_stamp_find(p->workdir);
	p->git.dirty = -1;
	return p;
}

void
provenance_free(struct provenance *p)
{
	if (p == NULL)
		return;
	capture_kill(p->child);
	git_status_free(&p->git);
	free(p->packages);
	free(p->packages_why);
	free(p->user);
	free(p->system);
	free(p->folder);
	free(p->workdir);
	free(p->git_dir);
	free(p);
}

bool
provenance_answered(const struct provenance *p)
{
	return p != NULL && (p->answered || p->in_part);
}

bool
provenance_busy(const struct provenance *p)
{
	return p != NULL && (p->answered || p->in_part || p->child != NULL);
}

static void
provenance_row_put(struct provenance *p, int64_t since_us)
{
	struct store_provenance row = {
		.id = p->id,
		.since_us = since_us,
		.host = p->host,
		.user = p->user,
		.system = p->system,
		.version = PACKAGE_VERSION,
		.command = p->env.command,
		.folder = p->folder,
		.workdir = p->workdir,
		.commit = p->git.commit,
		.branch = p->git.branch,
		.dirty = p->git.dirty,
		.git_why = p->git.why,
		.packages = p->packages,
		.packages_why = p->packages_why,
	};

	(void)store_provenance_put(p->env.store, &row, NULL);
	p->id = row.id;
}

/* The row of a run that is still without an answer. */
static void
provenance_row_begin(struct provenance *p, int64_t now_us)
{
	static const char unknown[] = "git has not answered";

	if (p->env.study->provenance.without_git)
		p->git.why = xstrdup("provenance.git is false");
	else
		p->git.why = xstrdup(unknown);
	if (p->env.study->provenance.packages != NULL)
		p->packages_why = xstrdup("the program has not answered");
	provenance_row_put(p, now_us);
	p->begun = true;
}

/* Whether git may have another answer than the last one, but for files. */
static bool
repository_changed(struct provenance *p)
{
	struct git_stamp now = { 0 };
	bool changed;

	if (p->git_dir == NULL)
		return false;
	git_stamp_take(&now, p->git_dir);
	changed = memcmp(&now, &p->stamp, sizeof now) != 0;
	p->stamp = now;
	return changed;
}

void
provenance_record(
    struct provenance *p, int64_t now_us, int64_t now_ms, bool starts)
{
	if (p == NULL)
		return;
	if (p->in_part && !p->answered)
		provenance_row_put(p, p->asked_us);
	p->in_part = false;
	if (p->answered) {
		p->answered = false;
		provenance_row_put(p, p->asked_us);
		(void)store_provenance_settle(p->env.store, p->id, NULL);
		p->id = 0;
	}
	if (!starts || p->wanted || p->child != NULL)
		return;
	if (!repository_changed(p) && p->begun &&
	    now_ms - p->asked_ms < ASK_AGAIN_MS)
		return;
	p->asked_us = now_us;
	p->asked_ms = now_ms;
	p->wanted = true;
	if (!p->begun)
		provenance_row_begin(p, now_us);
}

static void
answer_end(struct provenance *p)
{
	p->answered = true;
	p->env.wake(p->env.arg);
}

static void
on_packages(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct provenance *p = arg;
	struct buf text = { 0 };

	p->child = NULL;
	free(p->packages_why);
	p->packages_why = NULL;
	if (status == 0) {
		text_put_harmless(&text, out, len, TEXT_LINES);
		p->packages = buf_take(&text);
	} else if (*why != '\0')
		p->packages_why = xstrdup(why);
	else if (WIFEXITED(status))
		p->packages_why = xasprintf("%s: exit status %d",
		    *p->env.study->provenance.packages, WEXITSTATUS(status));
	else
		p->packages_why = xasprintf("%s: signal %d",
		    *p->env.study->provenance.packages, WTERMSIG(status));
	answer_end(p);
}

/* Ask for the packages, once in a run. */
static void
packages_ask(struct provenance *p)
{
	const struct capture_spec spec = {
		.argv = p->env.study->provenance.packages,
		.dir = p->workdir,
		.timeout_ms = PACKAGES_MS,
		.most = PACKAGES_BYTES,
		.mute = true,
	};
	struct err e = ERR_INIT;

	if (spec.argv == NULL || p->packages_asked) {
		answer_end(p);
		return;
	}
	p->packages_asked = true;
	if (capture_start(&p->child, p->env.loop, &spec, on_packages, p, &e) ==
	    0) {
		/* The server may end before the program does. */
		p->in_part = p->id != 0;
		if (p->in_part)
			p->env.wake(p->env.arg);
		return;
	}
	p->child = NULL;
	free(p->packages_why);
	p->packages_why = xstrdup(e.text);
	answer_end(p);
}

static void
on_git(void *arg, int status, const char *out, size_t len, const char *why)
{
	struct provenance *p = arg;

	p->child = NULL;
	git_status_free(&p->git);
	git_status_read(&p->git, out, len, status, why);
	packages_ask(p);
}

static void
git_ask(struct provenance *p)
{
	const char *argv[GIT_STATUS_ARGS];
	const struct capture_spec spec = {
		.argv = (char *const *)(uintptr_t)argv,
		.timeout_ms = GIT_MS,
		.most = GIT_BYTES,
		.both = true,
	};
	struct err e = ERR_INIT;

	git_status_command(argv, p->workdir);
	if (capture_start(&p->child, p->env.loop, &spec, on_git, p, &e) == 0)
		return;
	p->child = NULL;
	git_status_free(&p->git);
	p->git.why = xstrdup(e.text);
	packages_ask(p);
}

void
provenance_ask(struct provenance *p)
{
	if (p == NULL || !p->wanted)
		return;
	p->wanted = false;
	if (p->env.study->provenance.without_git)
		packages_ask(p);
	else
		git_ask(p);
}
