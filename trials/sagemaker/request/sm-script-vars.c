/*
 * The settings for the entry script as shell text: variables, launcher,
 * command.  All values are in single quotes, so the shell does not change them.
 */

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-request.h"

enum {
	GRACE_MAX_S = 100 /* of SageMaker's 120 */
};

static void
quote_put(struct buf *b, const char *text)
{
	size_t n;

	buf_putc(b, '\'');
	for (;;) {
		n = strcspn(text, "'");
		buf_add(b, text, n);
		if (text[n] == '\0')
			break;
		buf_puts(b, "'\\''");
		text += n + 1;
	}
	buf_putc(b, '\'');
}

static void
set_put(struct buf *b, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	buf_printf(b, "%s=", name);
	quote_put(b, value);
	buf_putc(b, '\n');
}

/* Names that a shell can set, but none of the script's own. */
static bool
script_vars_name_good(const char *word)
{
	size_t n = strcspn(word, "="), i;

	if (n == 0 || word[n] != '=' || isdigit((unsigned char)*word) ||
	    strncmp(word, "HPT_", 4) == 0)
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)word[i]) && word[i] != '_')
			return false;
	return true;
}

static void
script_vars_env_put(struct buf *b, char *const *env)
{
	size_t n;

	for (; env != NULL && *env != NULL; env++) {
		if (!script_vars_name_good(*env))
			continue;
		n = strcspn(*env, "=");
		buf_puts(b, "export ");
		buf_add(b, *env, n + 1);
		quote_put(b, *env + n + 1);
		buf_putc(b, '\n');
	}
}

/* The channel whose name follows that of another, for a sorted list. */
static const char *
channel_after(const struct sm_settings *s, const char *last)
{
	const char *name, *best = NULL;
	size_t i;

	for (i = 0; i < s->n_inputs; i++) {
		name = s->inputs[i].channel;
		if ((last == NULL || strcmp(name, last) > 0) &&
		    (best == NULL || strcmp(name, best) < 0))
			best = name;
	}
	return best;
}

/* SM_CHANNEL_NAME of each, and SM_CHANNELS, all below the script's base. */
static void
channels_put(struct buf *b, const struct sm_settings *s)
{
	struct buf list = { 0 };
	const char *p;
	size_t i;

	buf_putc(&list, '[');
	for (i = 0; i < s->n_inputs; i++) {
		buf_puts(b, "export SM_CHANNEL_");
		for (p = s->inputs[i].channel; *p != '\0'; p++)
			buf_putc(b, isalnum((unsigned char)*p)
					? (char)toupper((unsigned char)*p)
					: '_');
		buf_puts(b, "=\"$HPT_BASE\"");
		buf_printf(b, "/input/data/%s\n", s->inputs[i].channel);
	}
	for (p = NULL; (p = channel_after(s, p)) != NULL;) {
		buf_puts(&list, list.len > 1 ? "," : "");
		json_put_string(&list, p);
	}
	buf_putc(&list, ']');
	buf_puts(b, "export SM_CHANNELS=");
	quote_put(b, buf_str(&list));
	buf_putc(b, '\n');
	buf_free(&list);
}

/*
 * The program and its arguments as AWS's toolkit names them, and the Python
 * that installs what the code needs.
 */
static void
script_vars_program_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	char *const *argv = r->spec->argv;
	struct err ignored = ERR_INIT;
	bool python = sm_distribution_is_python(argv[0]);
	struct buf list = { 0 };
	size_t at = 0, i;

	if (sm_distribution_find(argv, &at, &ignored) == -1)
		at = 0;
	else if (!python)
		set_put(b, "HPT_PYTHON", s->requirements ? "python3" : NULL);
	if (python)
		set_put(b, "HPT_PYTHON", s->requirements ? argv[0] : NULL);
	set_put(b, "HPT_PROGRAM", sm_distribution_program(s, argv[at]));
	json_put_string(&list, sm_distribution_program(s, argv[at]));
	set_put(b, "HPT_PROGRAM_JSON", buf_str(&list));
	buf_clear(&list);
	buf_putc(&list, '[');
	for (i = at + 1; argv[i] != NULL; i++) {
		buf_puts(&list, i > at + 1 ? "," : "");
		json_put_string(&list, argv[i]);
	}
	buf_putc(&list, ']');
	set_put(b, "SM_USER_ARGS", buf_str(&list));
	buf_free(&list);
}

void
sm_script_vars_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const struct sm_plan *plan = r->plan;
	int64_t grace = r->spec->settings->grace_ms / 1000;
	size_t i;

	set_put(b, "HPT_LAUNCHER", sm_distribution_row(s)->word);
	buf_printf(b, "HPT_PROCESSES=%d\n",
	    sm_plan_per_host(s, plan->type != NULL ? plan->type->name : NULL));
	buf_printf(b, "HPT_GRACE=%" PRId64 "\n",
	    grace < GRACE_MAX_S ? grace : GRACE_MAX_S);
	set_put(b, "HPT_CODE", s->code != NULL ? "1" : NULL);
	set_put(b, "HPT_CODE_AS", s->code_as);
	set_put(b, "HPT_CWD", s->cwd);
	script_vars_program_put(b, r);
	if (s->dist != NULL)
		set_put(b, "HPT_MPI_OPTIONS",
		    json_string(json_get(s->dist, "custom_mpi_options")));
	script_vars_env_put(b, backend_spec_env(r->spec));
	script_vars_env_put(b, r->spec->env);
	channels_put(b, s);
	buf_puts(b, "set --");
	for (i = 0; r->spec->argv[i] != NULL; i++) {
		buf_putc(b, ' ');
		quote_put(b, r->spec->argv[i]);
	}
	buf_putc(b, '\n');
}
