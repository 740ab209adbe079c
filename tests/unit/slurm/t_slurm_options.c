/*
 * When the signal before the limit of a job is due: by its time, its partition;
 * and how often a job asks whether it is preempted.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "trials/slurm/slurm-internal.h"

/* A program that prints these rows is the first one of its name in PATH. */
static void
tool_put(const char *folder, const char *name, const char *rows)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	if (f == NULL ||
	    fprintf(f, "#!/bin/sh\ncat <<'END'\n%sEND\n", rows) < 0 ||
	    fclose(f) != 0 || chmod(path, 0755) != 0)
		ok(false, "%s is written", path);
	free(path);
}

/* The settings of a block; the backend has opened for so many trials. */
static struct slurm_settings
settings(
    const char *block, int64_t grace_s, int64_t max_run_s, int64_t parallel)
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
	slurm_options_fit(&set, parallel);
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

#define PARTITION(name, is_default, grace, mode)                     \
	"PartitionName=" name " AllowGroups=ALL Default=" is_default \
	" QoS=N/A GraceTime=" grace " Hidden=NO PreemptMode=" mode   \
	" State=UP\n"

static void
test_preemption(const char *folder)
{
	static const char two[] = PARTITION("main", "YES", "0", "CANCEL")
	    PARTITION("low", "NO", "30", "CANCEL")
		PARTITION("off", "NO", "10", "OFF");
	static const struct {
		const char *block, *type, *partitions, *qos;
		int64_t parallel, ms;
		const char *what;
	} asks[] = {
		{ "{\"partition\": \"low\"}", "none", two, "", 1, 0,
		    "Slurm preempts nobody" },
		{ "{}", "partition_prio", two, "", 1, 0,
		    "no grace in the default partition" },
		{ "{\"partition\": \"low\"}", "partition_prio", two, "", 16,
		    6000, "a fifth of the grace" },
		{ "{\"partition\": [\"main\", \"low\"]}", "partition_prio", two,
		    "", 16, 6000, "the shortest of several" },
		{ "{\"partition\": \"off\"}", "partition_prio", two, "", 16, 0,
		    "a partition that is not preempted" },
		{ "{\"partition\": \"low\"}", "partition_prio",
		    PARTITION("low", "YES", "5", "REQUEUE"), "", 1, 2000,
		    "not more often than each two seconds" },
		{ "{}", "partition_prio",
		    PARTITION("low", "YES", "3600", "CANCEL"), "", 1, 60000,
		    "each minute at least" },
		{ "{\"partition\": \"low\"}", "partition_prio", two, "", 1000,
		    100000, "a thousand jobs ask ten times a second" },
		{ "{\"partition\": \"low\", \"trials_per_job\": 10}",
		    "partition_prio", two, "", 1000, 10000,
		    "a job of ten trials asks once" },
		{ "{\"qos\": \"low\"}", "qos", two,
		    "normal|00:00:00\nhigh|00:00:20\nlow|00:01:00\n", 16, 12000,
		    "the grace of a quality of service" },
		{ "{}", "qos", two,
		    "normal|00:00:00\nhigh|00:00:20\nlow|00:01:00\n", 16, 4000,
		    "the shortest one, when the study names none" },
		{ "{}", "qos", two, NULL, 1, 10000,
		    "without an accounting nobody knows" },
	};
	struct slurm_settings set;
	char *config, *path = xasprintf("%s/sacctmgr", folder);
	size_t i;

	for (i = 0; i < sizeof asks / sizeof asks[0]; i++) {
		/* Both calls of scontrol get both answers. */
		config = xasprintf("\nPreemptType             = preempt/%s\n%s",
		    asks[i].type, asks[i].partitions);
		tool_put(folder, "scontrol", config);
		free(config);
		tool_put(
		    folder, "sacctmgr", asks[i].qos != NULL ? asks[i].qos : "");
		if (asks[i].qos == NULL && chmod(path, 0644) != 0)
			ok(false, "%s cannot be executed", path);
		set = settings(asks[i].block, 30, 0, asks[i].parallel);
		is_int(set.preempt_ms, asks[i].ms, asks[i].what);
		slurm_options_free(&set);
	}
	free(path);
}

/* What hpotune check prints of a job. */
static void
test_described(void)
{
	static const struct {
		const char *block, *text;
	} said[] = {
		{ "{\"time\": \"1-12:00:00\", \"memory\": \"16G\"}",
		    "--time=1-12:00:00 --mem=16G" },
		{ "{\"time\": \"90m\", \"memory\": \"1500M\", "
		  "\"gpus\": \"a100:2\", \"partition\": \"gpu\"}",
		    "--partition=gpu --gres=gpu:a100:2 --time=1:30:00 "
		    "--mem=1500M" },
		{ "{\"time\": 240, \"memory\": \"1G\"}",
		    "--time=0:04:00 --mem=1G (240 is a number of seconds, 4m, "
		    "not "
		    "of minutes as in Slurm; \"240m\" would be that)" },
		{ "{\"time\": \"2-0\"}",
		    "--time=2-00:00:00, the default memory of the partition" },
		{ "{\"time\": \"1-2:30\", \"memory\": \"1G\"}",
		    "--time=1-02:30:00 --mem=1G" },
		{ "{\"memory\": \"1G\"}",
		    "--mem=1G, the default time of the partition" },
		{ "{}", "the default time and memory of the partition" },
	};
	struct study_trial trial = { 0 };
	struct option_value *values;
	struct json_doc *doc;
	struct err e = ERR_INIT;
	struct buf text = { 0 };
	size_t i;

	for (i = 0; i < sizeof said / sizeof said[0]; i++) {
		values = NULL;
		doc = NULL;
		if (json_parse(&doc, said[i].block, strlen(said[i].block), "f",
			false, &e) == 0 &&
		    plugin_options_read(
			&values, slurm_options, json_root(doc), NULL, &e) == 0)
			slurm_options_describe(&trial, values, &text);
		is_str(buf_str(&text), said[i].text, said[i].block);
		plugin_options_free(values);
		json_free(doc);
		buf_clear(&text);
	}
	buf_free(&text);
}

/* What "sinfo --format=%G" prints of a node. */
static void
test_gpus(void)
{
	static const struct {
		const char *gres, *type;
		int64_t gpus;
	} nodes[] = {
		{ "(null)", NULL, 0 },
		{ "", NULL, 0 },
		{ "gpu:2", NULL, 2 },
		{ "gpu:2", "a100", 0 },
		{ "gpu:a100:4(S:0-1)", "a100", 4 },
		{ "gpu:a100:4(S:0,2),mps:400", "a100", 4 },
		{ "gpu:a100:2(S:0,1),gpu:v100:3,lustre:1", NULL, 5 },
		{ "gpu:a100:2(S:0,1),gpu:v100:3", "v100", 3 },
		{ "gpu:a100:2", "a10", 0 },
		{ "gpu:nvidia_a100-pcie-40gb:8(S:0-3)", "a100", 0 },
		{ "shard:16,gpu:1g.5gb:7", "1g.5gb", 7 },
	};
	size_t i;

	for (i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
		is_int(slurm_cluster_gpus(nodes[i].gres, nodes[i].type,
			   nodes[i].type != NULL ? strlen(nodes[i].type) : 0),
		    nodes[i].gpus, nodes[i].gres);
}

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
		tool_put(folder, "sinfo", cases[i].rows);
		set = settings(
		    cases[i].block, cases[i].grace_s, cases[i].max_run_s, 16);
		is_int(set.signal_s, cases[i].signal_s, cases[i].what);
		slurm_options_free(&set);
	}
	test_preemption(folder);
	test_described();
	test_gpus();
	(void)scratch_delete(folder);
	free(folder);
	free(path);
	return done_testing();
}
