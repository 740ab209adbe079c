/*
 * Slurm's programs: run to their end, and what they mean when they refuse.
 */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

/*
 * Variables of Slurm that its programs get.  The others filter what squeue and
 * sinfo list, change the form of times, and are, in an allocation, those of the
 * outer job; sbatch would pass them on.
 */
static bool
slurm_program_keeps(const char *variable)
{
	static const char *const kept[] = { "SLURM_CONF=", "SLURM_CLUSTERS=",
		"SLURM_JWT=", "SBATCH_ACCOUNT=", "SBATCH_CONSTRAINT=",
		"SBATCH_PARTITION=", "SBATCH_QOS=", "SBATCH_RESERVATION=",
		"SBATCH_TIMELIMIT=", "SBATCH_WCKEY=" };
	static const char *const dropped[] = { "SLURM_", "SBATCH_", "SQUEUE_",
		"SINFO_", "SCANCEL_", "SCONTROL_", "SACCT_" };
	size_t i;

	for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
			return true;
	for (i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
		if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0)
			return false;
	return true;
}

void
slurm_program_env(struct strv *argv, const char *const *only, size_t n)
{
	size_t i, k;

	strv_add(argv, xstrdup("env"));
	for (i = 0; environ[i] != NULL; i++) {
		for (k = 0; k < n; k++)
			if (strncmp(environ[i], only[k], strlen(only[k])) == 0)
				break;
		if (*environ[i] == '=' ||
		    (slurm_program_keeps(environ[i]) && (n == 0 || k < n)))
			continue;
		/* The names alone: others see the arguments. */
		strv_add(argv, xstrdup("-u"));
		strv_add(argv, xstrndup(environ[i], strcspn(environ[i], "=")));
	}
}

/*
 * Whether this is a program of Slurm, whose environment is that of
 * slurm_program_env.
 */
static bool
slurm_program_known(const char *name)
{
	static const char *const names[] = { "sacct", "sacctmgr", "sbatch",
		"scancel", "scontrol", "sinfo", "squeue" };
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

int
slurm_program_start(struct capture **child, struct loop *loop,
    const struct capture_spec *spec, capture_cb *on_end, void *arg,
    struct err *e)
{
	struct capture_spec cleaned = *spec;
	struct strv argv = { 0 };
	size_t i;
	int rc;

	if (!slurm_program_known(spec->argv[0]))
		return capture_start(child, loop, spec, on_end, arg, e);
	slurm_program_env(&argv, NULL, 0);
	for (i = 0; spec->argv[i] != NULL; i++)
		strv_add(&argv, xstrdup(spec->argv[i]));
	cleaned.argv = argv.v;
	rc = capture_start(child, loop, &cleaned, on_end, arg, e);
	strv_free(argv.v);
	return rc;
}

struct call {
	struct loop *loop;
	struct capture *child;
	struct buf *out;
	int status;
};

static void
slurm_program_on_end(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct call *c = arg;

	c->child = NULL;
	c->status =
	    status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	buf_add(c->out, out, len);
	if (c->status == -1)
		buf_puts(c->out, why);
	loop_stop(c->loop);
}

static void
slurm_program_on_turn(void *arg)
{
	(void)arg;
}

int
slurm_program_call(char *const *argv, int64_t ms, struct buf *out)
{
	const struct capture_spec spec = {
		.argv = argv, .timeout_ms = ms, .both = true
	};
	struct call c = { .out = out, .status = -1 };
	struct err e = ERR_INIT;

	if (loop_open(&c.loop, LOOP_REAL, &e) != 0)
		return -1;
	if (slurm_program_start(
		&c.child, c.loop, &spec, slurm_program_on_end, &c, &e) == 0)
		loop_run(c.loop, slurm_program_on_turn, NULL);
	else
		buf_puts(out, e.text);
	loop_close(c.loop);
	/* So env says that a program is not there or cannot be executed. */
	if (c.status != 127 && c.status != 126)
		return c.status;
	buf_clear(out);
	buf_printf(out, "%s cannot be started", argv[0]);
	return -1;
}

static const struct {
	const char *words;
	enum slurm_refusal is;
} refusals[] = {
	/* Before the others: the job may be there. */
	{ "Socket timed out", SLURM_REFUSAL_UNCLEAR },
	{ "Zero Bytes were transmitted", SLURM_REFUSAL_UNCLEAR },
	{ "Message receive failure", SLURM_REFUSAL_UNCLEAR },
	{ "Message send failure", SLURM_REFUSAL_UNCLEAR },
	{ "Connection reset", SLURM_REFUSAL_UNCLEAR },
	{ "Transport endpoint", SLURM_REFUSAL_UNCLEAR },
	{ "controller (send failure)", SLURM_REFUSAL_UNCLEAR },
	{ "controller (receive failure)", SLURM_REFUSAL_UNCLEAR },
	{ "controller (shutdown failure)", SLURM_REFUSAL_UNCLEAR },
	{ "Communication shutdown failure", SLURM_REFUSAL_UNCLEAR },
	/* Since 24.05. */
	{ "Connection timed out writing", SLURM_REFUSAL_UNCLEAR },
	{ "Connection timed out reading", SLURM_REFUSAL_UNCLEAR },
	{ "Connection forced closed", SLURM_REFUSAL_UNCLEAR },
	{ "Kernel reported delayed socket error", SLURM_REFUSAL_UNCLEAR },
	{ "Connection timed out establishing", SLURM_REFUSAL_DOWN },
	{ "Connection rejected by handler", SLURM_REFUSAL_DOWN },
	{ "shutting down and closing all communications", SLURM_REFUSAL_DOWN },
	/* Limits of the rate of requests, since 23.02. */
	{ "Rate limit exceeded", SLURM_REFUSAL_DOWN },
	{ "Unable to contact slurm controller", SLURM_REFUSAL_DOWN },
	{ "Communication connection failure", SLURM_REFUSAL_DOWN },
	{ "Connection refused", SLURM_REFUSAL_DOWN },
	{ "Unable to resolve", SLURM_REFUSAL_DOWN },
	{ "Slurm temporarily unable to accept job", SLURM_REFUSAL_DOWN },
	{ "Slurm job queue full", SLURM_REFUSAL_DOWN },
	{ "MaxJobCount", SLURM_REFUSAL_DOWN },
	{ "Job creation temporarily disabled", SLURM_REFUSAL_DOWN },
	{ "System submissions disabled", SLURM_REFUSAL_DOWN },
	{ "Unable to connect to database", SLURM_REFUSAL_DOWN },
	{ "standby mode", SLURM_REFUSAL_DOWN },
	{ "Resource temporarily unavailable", SLURM_REFUSAL_DOWN },
	{ "I/O error writing script/environment", SLURM_REFUSAL_DOWN },
	{ "env: ", SLURM_REFUSAL_DOWN },
	{ "establish a configuration source", SLURM_REFUSAL_DOWN },
	{ "Unable to process configuration file", SLURM_REFUSAL_DOWN },
	/* The daemon that signs requests is down, here or there. */
	{ "authentication error", SLURM_REFUSAL_DOWN },
	{ "Authentication failure", SLURM_REFUSAL_DOWN },
	{ "Munge encode failed", SLURM_REFUSAL_DOWN },
	{ "Failed to access", SLURM_REFUSAL_DOWN },
	/*
	 * QOSMaxWallDurationPerJobLimit has PerJob and JobLimit: the first of
	 * the rows counts.
	 */
	{ "PerJob", SLURM_REFUSAL_WRONG },
	{ "PerNode", SLURM_REFUSAL_WRONG },
	{ "JobLimit", SLURM_REFUSAL_QUOTA },
	{ "MaxSubmit", SLURM_REFUSAL_QUOTA },
	{ "job submit limit", SLURM_REFUSAL_QUOTA },
	{ "Licenses currently unavailable", SLURM_REFUSAL_QUOTA },
	{ "Requested node configuration is not available",
	    SLURM_REFUSAL_NODES },
	{ "Required nodes lack available resources", SLURM_REFUSAL_NODES },
	{ "Required node not available", SLURM_REFUSAL_NODES },
	{ "Required partition not available", SLURM_REFUSAL_NODES },
	{ "Requested nodes are busy", SLURM_REFUSAL_NODES },
	{ "Max powered up nodes reached", SLURM_REFUSAL_NODES },
	/* Since 25.05, of what nodes are up. */
	{ "nodes do not fit topology", SLURM_REFUSAL_NODES },
	{ "topology configuration is not available", SLURM_REFUSAL_NODES },
	{ "No available nodes in topology", SLURM_REFUSAL_NODES },
	{ "topology unit", SLURM_REFUSAL_NODES },
};

/* Whatever else Slurm, or a plugin of the site, says is final. */
enum slurm_refusal
slurm_program_refusal(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strstr(text, refusals[i].words) != NULL)
			return refusals[i].is;
	return text[strspn(text, " \t\n")] != '\0' ? SLURM_REFUSAL_WRONG
						   : SLURM_REFUSAL_UNCLEAR;
}

/* Cut from a line what its program puts before it, and blanks. */
static void
slurm_program_line(const char **line, const char **end)
{
	static const char *const before[] = { "sbatch: ", "error: ", "fatal: ",
		"Batch job submission failed: ", "allocation failure: " };
	size_t i;

	for (i = 0; i < sizeof before / sizeof before[0]; i++)
		if ((size_t)(*end - *line) >= strlen(before[i]) &&
		    strncmp(*line, before[i], strlen(before[i])) == 0)
			*line += strlen(before[i]);
	while (*line < *end && **line == ' ')
		(*line)++;
	while (*end > *line && strchr(" \r", (*end)[-1]) != NULL)
		(*end)--;
}

void
slurm_program_words(const char *out, char *text, size_t n)
{
	static const char help[] = "Try \"sbatch --help\"";
	const char *line, *end, *words, *words_end;
	size_t len = 0;

	*text = '\0';
	for (line = out; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
		end = strchrnul(line, '\n');
		words = line;
		words_end = end;
		slurm_program_line(&words, &words_end);
		if (words == words_end ||
		    strncmp(words, help, sizeof help - 1) == 0 || len + 2 >= n)
			continue;
		(void)snprintf(text + len, n - len, "%s%.*s",
		    len > 0 ? "; " : "", (int)(words_end - words), words);
		len = strlen(text);
	}
}
