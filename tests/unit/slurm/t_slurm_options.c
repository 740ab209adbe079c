/* When the signal before the limit of a job is due: by its time, its partition. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "trials/slurm/slurm-internal.h"

/* A sinfo that has these rows is the first one of PATH. */
static void
sinfo_put(const char *folder, const char *rows)
{
	char *path = xasprintf("%s/sinfo", folder);
	FILE *f = fopen(path, "w");

	if (f == NULL ||
	    fprintf(f, "#!/bin/sh\ncat <<'END'\n%sEND\n", rows) < 0 ||
	    fclose(f) != 0 || chmod(path, 0755) != 0)
		ok(false, "%s is written", path);
	free(path);
}

/* The settings of a block; the launcher has opened. */
static struct slurm_settings
settings(const char *block, int64_t grace_s, int64_t max_run_s)
{
	struct study_trial trial = { .grace_ms = grace_s * 1000,
		.max_run_ms = max_run_s * 1000 };
	struct option_value *values = NULL;
	struct json_doc *doc = NULL;
	struct slurm_settings set = { 0 };
	struct err e = ERR_INIT;

	if (json_parse(&doc, block, strlen(block), "f", false, &e) != 0 ||
	    plugin_options_read(
		&values, slurm_options, json_root(doc), NULL, &e) != 0 ||
	    slurm_options_read(&set, &trial, values, &e) != 0)
		ok(false, "%s: %s", block, e.text);
	plugin_options_free(values);
	json_free(doc);
	slurm_options_fit(&set);
	return set;
}

static const struct {
	const char *block;
	int64_t grace_s, max_run_s;
	const char *rows; /* of sinfo: partition, limit, default time */
	int64_t signal_s; /* before the limit */
	const char *what;
} cases[] = {
	{ "{\"time\": \"4h\"}", 30, 0, "", 90,
	    "the grace and a minute before the end" },
	{ "{\"time\": \"3m\"}", 30, 0, "", 60,
	    "Slurm may send it half a minute early: not in the first half" },
	{ "{\"time\": \"1m\"}", 30, 0, "", 1, "nor of the shortest job" },
	{ "{}", 30, 60, "", 90,
	    "the time that follows from max_run, in whole minutes" },
	{ "{}", 120, 60, "", 120, "… half of which is more than the grace" },
	{ "{}", 30, 0, "main*|infinite|n/a\nshort|1:00|n/a\n", 90,
	    "a partition without a limit" },
	{ "{}", 30, 0, "main|infinite|n/a\nshort*|1:00|n/a\n", 1,
	    "the limit of the default partition" },
	{ "{\"partition\": \"short\"}", 30, 0,
	    "main*|infinite|n/a\nshort|4:00|n/a\n", 90, "a named one" },
	{ "{\"partition\": \"short\"}", 30, 0,
	    "main*|infinite|n/a\nshort|1-00:00:00|2:00\n", 30,
	    "its default time, where it has one" },
	{ "{\"partition\": \"a,b,c\"}", 60, 0,
	    "a|8:00|n/a\nb|3:00|n/a\nc|infinite|n/a\n", 60,
	    "the shortest of several" },
	{ "{\"partition\": \"short\", \"time\": \"1h\"}", 30, 0,
	    "short|2:00:00|1:00\n", 90, "a time of the study counts alone" },
	{ "{}", 30, 0, "sinfo: error\n", 90, "rows that cannot be read" },
	{ "{}", 70000, 0, "main*|infinite|n/a\n", 65535,
	    "as early as Slurm can" },
};

int
main(void)
{
	char *folder = xasprintf("%s/slurm-XXXXXX", scratch_folder()), *path;
	struct slurm_settings set;
	size_t i;

	ok(mkdtemp(folder) != NULL, "a folder of its own");
	path = xasprintf("%s:%s", folder, getenv("PATH"));
	(void)setenv("PATH", path, 1);
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sinfo_put(folder, cases[i].rows);
		set = settings(
		    cases[i].block, cases[i].grace_s, cases[i].max_run_s);
		is_int(set.signal_s, cases[i].signal_s, cases[i].what);
		slurm_options_free(&set);
	}
	(void)scratch_delete(folder);
	free(folder);
	free(path);
	return done_testing();
}
