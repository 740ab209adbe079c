/*
 * The environment of a training job: variables, or the settings of the entry
 * script in pieces, within AWS's limits.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "trials/sagemaker/request/sm-environment.h"
#include "trials/sagemaker/request/sm-request.h"

enum {
	VARIABLES_MAX = 100,
	VARIABLE_MAX = 512, /* bytes of a value */
	PIECES_MAX = 80 /* of the entry script's text */
};

/* Bytes of the next piece: not more than fit, and no character cut. */
static size_t
piece_len(const char *s, size_t left)
{
	size_t n = left;

	if (left > VARIABLE_MAX) {
		n = VARIABLE_MAX;
		while (n > 1 && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	return n;
}

static int
pieces_put(struct json_writer *w, const struct sm_request *r, struct err *e)
{
	struct buf text = { 0 };
	size_t at = 0, n;
	char name[24], *piece;
	int i = 0, rc = 0;

	sm_script_vars_put(&text, r);
	for (; at < text.len && rc == 0; at += n) {
		n = piece_len(text.data + at, text.len - at);
		(void)snprintf(name, sizeof name, "HPT_SPEC_%d", i);
		piece = xstrndup(text.data + at, n);
		json_writer_text(w, name, piece);
		free(piece);
		if (++i > PIECES_MAX)
			rc = err_set(e, ERR_LAUNCH,
			    "command, parameters and environment have %zu "
			    "bytes, and a training job takes %d",
			    text.len, PIECES_MAX * VARIABLE_MAX);
	}
	buf_free(&text);
	return rc;
}

/*
 * False: a later entry replaces it, or it names files that the job does not
 * have.
 */
static bool
variable_wanted(char *const *env, const char *word, size_t len)
{
	static const char *const not [] = { "HPOTUNE_PARAMS=",
		"HPOTUNE_METRICS=", "HPOTUNE_ATTEMPT_UUID=", NULL };
	size_t i;

	if (strncmp(word, "SM_", 3) == 0)
		return false;
	for (i = 0; not [i] != NULL; i++)
		if (strncmp(word, not [i], strlen(not [i])) == 0)
			return false;
	for (; env != NULL && *env != NULL; env++)
		if (*env != word && strncmp(*env, word, len + 1) == 0)
			return false;
	return true;
}

static int
variables_put(struct json_writer *w, size_t *n, char *const *env,
    char *const *over, struct err *e)
{
	size_t len;
	char *name;
	int rc = 0;

	for (; env != NULL && *env != NULL && rc == 0; env++) {
		len = strcspn(*env, "=");
		if ((*env)[len] != '=' || !variable_wanted(over, *env, len))
			continue;
		name = xstrndup(*env, len);
		if (strlen(*env + len + 1) > VARIABLE_MAX)
			rc = err_set(e, ERR_LAUNCH,
			    "a training job takes variables of at most %d "
			    "bytes, and %s has more",
			    VARIABLE_MAX, name);
		else if (++*n > VARIABLES_MAX - 1)
			rc = err_set(e, ERR_LAUNCH,
			    "a training job takes at most %d variables, and "
			    "there are more",
			    VARIABLES_MAX);
		else
			json_writer_text(w, name, *env + len + 1);
		free(name);
	}
	return rc;
}

int
sm_environment_put(
    struct json_writer *w, const struct sm_request *r, struct err *e)
{
	size_t n = 0;
	int rc;

	json_writer_object(w, "Environment");
	json_writer_text(w, "HPOTUNE_ATTEMPT_UUID", r->spec->uuid);
	if (!sm_distribution_is_toolkit(r->settings)) {
		rc = pieces_put(w, r, e);
	} else {
		rc = variables_put(
		    w, &n, backend_spec_env(r->spec), r->spec->env, e);
		if (rc == 0)
			rc = variables_put(w, &n, r->spec->env, NULL, e);
	}
	json_writer_end(w);
	return rc;
}
