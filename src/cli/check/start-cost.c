/* Starts the study's interpreter with python/hpotune_imports.py. */

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/spawn.h"
#include "src/cli/check/start-cost.h"
#include "src/model/study/study.h"

enum { START_COST_MS = 60000 };

/* Less is lost in what an interpreter takes without any module. */
static const double least_seconds = 0.05;

static const char start_cost_script[] =
#include "python/hpotune_imports.inc"
    ;

/* A new file; its path, or NULL. */
static char *
start_cost_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good = fd != -1 && write(fd, text, len) == (ssize_t)len;

	if (fd != -1)
		(void)close(fd);
	if (good)
		return path;
	free(path);
	return NULL;
}

/* The file with the names of the modules; NULL: the program has them. */
static char *
start_cost_list(
    const struct study_trial *t, const char *state_dir, const char *dir)
{
	struct buf text = { 0 };
	struct stat st;
	char *path;
	size_t i;

	if (t->warm_modules == NULL) {
		path = xasprintf("%s/warm/modules", state_dir);
		if (stat(path, &st) == 0)
			return path;
		free(path);
		return NULL;
	}
	for (i = 0; t->warm_modules[i] != NULL; i++)
		buf_printf(&text, "%s\n", t->warm_modules[i]);
	path = start_cost_file(dir, "modules", buf_str(&text));
	buf_free(&text);
	return path;
}

/* The interpreter with its options, and what it runs: freed by the caller. */
static char **
start_cost_argv(const struct study_trial *t, const char *script, char *list)
{
	struct strv v = { 0 };
	size_t i;

	for (i = 0; i < t->warm_at - (t->warm_runs_module ? 1 : 0); i++)
		strv_add(&v, xstrdup(t->command[i]));
	strv_add(&v, xstrdup(script));
	strv_add(&v, xstrdup(t->warm_runs_module ? "module" : "script"));
	strv_add(&v, xstrdup(t->command[t->warm_at]));
	if (list != NULL)
		strv_add(&v, list);
	return v.v;
}

/* Read until it ends, or for a minute. */
static void
start_cost_read(int fd, char *text, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < n - 1 && poll(&p, 1, START_COST_MS) == 1) {
		got = read(fd, text + len, n - 1 - len);
		len += got > 0 ? (size_t)got : 0;
	}
	text[len] = '\0';
}

/* The trial's variables, with the modules of trial.shims first on the path. */
static char **
start_cost_env(const struct study *s, const char *state_dir,
    const struct study_command_vars *vars)
{
	static const char name[] = "PYTHONPATH=";
	char **given = study_env(s, NULL, vars);
	const char *path = getenv("PYTHONPATH");
	struct strv env = { 0 };
	size_t i;

	if (s->trial.shims == NULL)
		return given;
	for (i = 0; given[i] != NULL; i++)
		if (strncmp(given[i], name, strlen(name)) == 0)
			path = given[i] + strlen(name);
		else
			strv_add(&env, xstrdup(given[i]));
	strv_add(&env, xasprintf("%s%s/shims%s%s", name, state_dir,
			   path != NULL ? ":" : "", path != NULL ? path : ""));
	strv_free(given);
	return env.v;
}

static void
start_cost_run(struct start_cost *c, const struct study *s,
    const char *state_dir, char *const *argv)
{
	struct study_command_vars vars = { .trial = 1, .attempt = 1 };
	struct spawn_spec spec = { .argv = argv, .in = -1, .err = -1 };
	char text[512], *workdir = study_workdir(s, NULL, &vars);
	char **env = start_cost_env(s, state_dir, &vars);
	int p[2], end_fd, at = 0;
	pid_t pid;

	spec.dir = workdir;
	spec.env = env;
	if (pipe2(p, O_CLOEXEC) == -1)
		goto out;
	spec.out = p[1];
	if (spawn_start(&pid, &end_fd, &spec, NULL) == 0) {
		(void)close(p[1]);
		start_cost_read(p[0], text, sizeof text);
		(void)spawn_end(pid, end_fd);
		(void)close(end_fd);
		if (sscanf(text, "%" SCNd64 " %lf %lf %n", &c->modules,
			&c->seconds, &c->processor, &at) != 3)
			c->modules = -1;
		else
			(void)snprintf(c->why, sizeof c->why, "%.*s",
			    (int)strcspn(text + at, "\n"), text + at);
	} else
		(void)close(p[1]);
	(void)close(p[0]);
out:
	strv_free(env);
	free(workdir);
}

void
start_cost_measure(struct start_cost *c, const struct study *s,
    const char *state_dir, const char *dir)
{
	char *script, **argv;

	*c = (struct start_cost){ .modules = -1 };
	if (s->trial.warm_at == 0)
		return;
	script = start_cost_file(dir, "imports.py", start_cost_script);
	if (script == NULL)
		return;
	argv = start_cost_argv(
	    &s->trial, script, start_cost_list(&s->trial, state_dir, dir));
	start_cost_run(c, s, state_dir, argv);
	strv_free(argv);
	free(script);
}

void
start_cost_put(
    struct buf *out, const struct start_cost *c, const struct study *s)
{
	if (c->modules < 0)
		return;
	buf_printf(out,
	    "start: importing %" PRId64 " modules takes %.2f s (%.2f s of a "
	    "processor)",
	    c->modules, c->seconds, c->processor);
	if (c->why[0] != '\0')
		buf_printf(out, "; no trial can start warm: %s", c->why);
	else if (s->trial.warm)
		buf_puts(out, ", which later trials do not wait for");
	else if (c->seconds < least_seconds)
		buf_puts(out, ": warm starts would save little");
	else
		buf_puts(out, ": \"warm\": true saves it in each trial");
	buf_putc(out, '\n');
}

void
start_cost_put_json(struct json_writer *w, const struct start_cost *c)
{
	if (c->modules < 0) {
		json_writer_raw(w, "imports", "null");
		return;
	}
	json_writer_object(w, "imports");
	json_writer_integer(w, "modules", c->modules);
	json_writer_number(w, "seconds", c->seconds);
	json_writer_number(w, "processor_seconds", c->processor);
	json_writer_text(w, "why_cold", c->why[0] != '\0' ? c->why : NULL);
	json_writer_end(w);
}
