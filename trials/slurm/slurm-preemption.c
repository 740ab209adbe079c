/*
 * How Slurm takes the place of a job away for another one: whether at all, and
 * with which grace.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/slurm/slurm-internal.h"

enum { SLURM_PREEMPTION_TOOL_MS = 8000 };

/* The shorter one; 0 = none, -1 = unknown. */
static int64_t
slurm_preemption_shorter(int64_t a, int64_t b)
{
	return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

/* The value of "NAME=VALUE" among words, as text; false: it is not there. */
static bool
slurm_preemption_word(const char *line, const char *name, char *value, size_t n)
{
	const char *at = strstr(line, name);

	if (at == NULL || (at > line && at[-1] != ' '))
		return false;
	at += strlen(name);
	(void)snprintf(value, n, "%.*s", (int)strcspn(at, " \n"), at);
	return true;
}

/* The shortest grace of the partitions that the jobs may use; -1 = unknown. */
static int64_t
slurm_preemption_partitions(const struct slurm_settings *set)
{
	char *argv[] = { "scontrol", "--all", "--oneliner", "show", "partition",
		NULL };
	char name[128], grace[32], is_default[8], mode[32];
	char *line, *rest;
	struct buf out = { 0 };
	int64_t least = 0;

	if (slurm_program_call(argv, SLURM_PREEMPTION_TOOL_MS, &out) != 0) {
		buf_free(&out);
		return -1;
	}
	rest = out.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (!slurm_preemption_word(
			line, "PartitionName=", name, sizeof name - 1) ||
		    !slurm_preemption_word(
			line, "GraceTime=", grace, sizeof grace))
			continue;
		if (slurm_preemption_word(
			line, "Default=", is_default, sizeof is_default) &&
		    strcmp(is_default, "YES") == 0)
			memcpy(name + strlen(name), "*", 2);
		if (slurm_preemption_word(
			line, "PreemptMode=", mode, sizeof mode) &&
		    strcmp(mode, "OFF") == 0)
			continue;
		if (slurm_options_uses(set, name, strlen(name)))
			least = slurm_preemption_shorter(
			    least, strtoll(grace, NULL, 10));
	}
	buf_free(&out);
	return least;
}

/*
 * The grace of the quality of service that the study names, or else the
 * shortest of all.
 */
static int64_t
slurm_preemption_qos(const struct slurm_settings *set)
{
	char *argv[] = { "sacctmgr", "--noheader", "--parsable2", "show", "qos",
		"format=Name,GraceTime", NULL };
	struct buf out = { 0 };
	char *line, *rest, *name;
	int64_t least = 0;

	if (slurm_program_call(argv, SLURM_PREEMPTION_TOOL_MS, &out) != 0) {
		buf_free(&out);
		return -1;
	}
	rest = out.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		name = strsep(&line, "|");
		if (line != NULL &&
		    (set->qos == NULL || strcmp(set->qos, name) == 0))
			least = slurm_preemption_shorter(
			    least, slurm_row_limit(line));
	}
	buf_free(&out);
	return least;
}

int64_t
slurm_preemption_grace(const struct slurm_settings *set)
{
	char *argv[] = { "scontrol", "show", "config", NULL };
	struct buf out = { 0 };
	const char *type;
	int64_t grace = -1;

	if (slurm_program_call(argv, SLURM_PREEMPTION_TOOL_MS, &out) == 0) {
		type = strstr(buf_str(&out), "\nPreemptType");
		if (type != NULL)
			type = strstr(type, "preempt/");
		if (type == NULL || strncmp(type, "preempt/none", 12) == 0)
			grace = 0;
		else if (strncmp(type, "preempt/qos", 11) == 0)
			grace = slurm_preemption_qos(set);
		else
			grace = slurm_preemption_partitions(set);
	}
	buf_free(&out);
	return grace;
}
