/* A packed trial for backends: words of commands, and how it ended. */

#include <stdio.h>
#include <string.h>

#include "src/base/digest.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/study/study.h"
#include "trials/backend.h"
#include "trials/pack/pack-exit-note.h"
#include "trials/pack/pack-trial.h"

static const char *const own[] = { "HPOTUNE_TRIAL=", "HPOTUNE_ATTEMPT=",
	"HPOTUNE_PARAMS=", "HPOTUNE_METRICS=", "HPOTUNE_CHECKPOINT_DIR=",
	"HPOTUNE_OUTPUT_DIR=", "HPOTUNE_ATTEMPT_UUID=", "HPOTUNE_UNTIL_STEP=",
	"HPOTUNE_BATCH=", "HPOTUNE_GLOBAL_BATCH=", "HPOTUNE_PACK_DIR=",
	"SM_HP_", "SM_HPS=", "SM_MODEL_DIR=", "SM_OUTPUT_DATA_DIR=" };

void
pack_trial_key(char key[PACK_TRIAL_KEY], const struct study_trial *t)
{
	struct buf b = { 0 };
	char hex[DIGEST_HEX];
	size_t i;

	buf_printf(&b, "%lld", (long long)t->pack);
	buf_add(&b, t->workdir, strlen(t->workdir) + 1);
	for (i = 0; t->command[i] != NULL; i++)
		buf_add(&b, t->command[i], strlen(t->command[i]) + 1);
	for (i = 0; t->env != NULL && t->env[i] != NULL; i++)
		buf_add(&b, t->env[i], strlen(t->env[i]) + 1);
	sha256_hex(hex, b.data, b.len);
	(void)snprintf(key, PACK_TRIAL_KEY, "%.*s", PACK_TRIAL_KEY - 1, hex);
	buf_free(&b);
}

bool
pack_trial_variable(const char *word)
{
	size_t i, n;

	for (i = 0; i < sizeof own / sizeof own[0]; i++) {
		n = strlen(own[i]);
		if (strncmp(word, own[i], n) == 0 ||
		    (own[i][n - 1] == '=' && strlen(word) == n - 1 &&
			strncmp(word, own[i], n - 1) == 0))
			return true;
	}
	return false;
}

void
pack_trial_serve_words(struct strv *w, const struct study_trial *t,
    const char *key, int64_t trial, int attempt)
{
	strv_add(w, xasprintf("workdir=%s", t->workdir));
	strv_add(w, xasprintf("key=%s", key));
	strv_add(w, xasprintf("places=%lld", (long long)t->pack));
	strv_add(w, xasprintf("grace-ms=%lld", (long long)t->grace_ms));
	strv_add(w, xasprintf("trial=%lld", (long long)trial));
	strv_add(w, xasprintf("attempt=%d", attempt));
}

void
pack_trial_end(const char *attempt_dir, struct launch_exit *x)
{
	char why[sizeof x->why];
	enum pack_exit_note kind;

	if (x->timeout ||
	    !pack_exit_note_read(attempt_dir, &kind, why, sizeof why))
		return;
	switch (kind) {
	case PACK_EXIT_ERROR:
		break;
	case PACK_EXIT_LOST:
		if (x->stopped)
			return;
		x->end = END_LOST;
		break;
	case PACK_EXIT_OOM:
		x->oom = true;
		break;
	case PACK_EXIT_NOT_RUN:
		x->ran = false;
		x->exit_code = -1;
		break;
	}
	if (x->exit_code != 0)
		text_cut(x->why, sizeof x->why, why);
}

bool
pack_trial_lost(const char *attempt_dir)
{
	enum pack_exit_note kind;
	char why[8];

	return pack_exit_note_read(attempt_dir, &kind, why, sizeof why) &&
	       kind == PACK_EXIT_LOST;
}
