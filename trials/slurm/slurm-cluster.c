/*
 * Whether the cluster accepts the jobs of a study: the answer of sbatch to a test,
 * and what sinfo adds to it, the partitions that there are and what nodes have.
 */

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "trials/slurm/slurm-internal.h"

enum { SLURM_CLUSTER_MS = 8000, SLURM_CLUSTER_NAMES = 12 };

/* The next field of a row, which ends with a bar or the row; "" at its end. */
static char *
slurm_cluster_field(char **rest)
{
	static char none[1];
	char *field = strsep(rest, "|");

	return field != NULL ? field : none;
}

/* Call put for each row of sinfo in this format. */
static void
slurm_cluster_rows(const char *format, bool by_node,
    void (*put)(void *arg, char *row), void *arg)
{
	char *word = xasprintf("--format=%s", format), *line, *rest;
	char *argv[] = { "sinfo", "--all", "--noheader", word,
		by_node ? "--Node" : NULL, NULL };
	struct buf out = { 0 };

	if (slurm_program_call(argv, SLURM_CLUSTER_MS, &out) == 0) {
		rest = out.data;
		while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
			if (*line != '\0')
				put(arg, line);
	}
	buf_free(&out);
	free(word);
}

struct slurm_cluster_names {
	const struct slurm_settings *set;
	struct buf all; /* of those that there are */
	int n;
	bool found; /* one that the study uses */
};

static void
slurm_cluster_name(void *arg, char *row)
{
	struct slurm_cluster_names *names = arg;
	size_t n = strlen(row);

	names->found |= slurm_options_uses(names->set, row, n);
	n -= n > 0 && row[n - 1] == '*';
	if (++names->n <= SLURM_CLUSTER_NAMES)
		buf_printf(&names->all, "%s%.*s", names->n > 1 ? ", " : "",
		    (int)n, row);
}

/* Name the partitions, where the study uses none of them. */
static void
slurm_cluster_put_partitions(const struct slurm_settings *set, struct buf *text)
{
	struct slurm_cluster_names names = { .set = set };

	slurm_cluster_rows("%P", false, slurm_cluster_name, &names);
	if (names.n > 0 && !names.found)
		buf_printf(text, "%s: there are %s%s",
		    set->partition == NULL ? "; none is the default" : "",
		    buf_str(&names.all),
		    names.n > SLURM_CLUSTER_NAMES ? " and others" : "");
	buf_free(&names.all);
}

/* What a job needs of each of its nodes, and what they have at most. */
struct slurm_cluster_nodes {
	const struct slurm_settings *set;
	const char *type; /* of GPUs, of type_len letters; NULL = any */
	size_t type_len;
	int64_t gpus, cpus, memory_mb; /* needed */
	int64_t most_gpus, most_cpus, most_memory_mb;
	int64_t nodes; /* that have all of it */
	int64_t seen; /* nodes of the partitions */
	bool usable; /* all nodes of the cluster, as they are configured */
};

int64_t
slurm_cluster_gpus(const char *gres, const char *type, size_t type_len)
{
	const char *at = gres, *end, *colon, *number;
	int64_t sum = 0;
	size_t n;

	for (; *at != '\0'; at = *end == ',' ? end + 1 : end) {
		/* "gpu:a100:2(S:0-1),gpu:2,mps:400" */
		end = at + strcspn(at, ",(");
		colon = memrchr(at, ':', (size_t)(end - at));
		number = colon != NULL ? colon + 1 : end;
		n = colon != NULL && colon > at + 4 ? (size_t)(colon - at) - 4
						    : 0;
		if (strncmp(at, "gpu:", 4) == 0 &&
		    (type == NULL ||
			(n == type_len && strncmp(at + 4, type, n) == 0)))
			sum += strtoll(number, NULL, 10);
		if (*end == '(')
			end += strcspn(end, ")");
		end += strcspn(end, ",");
	}
	return sum;
}

/*
 * Nodes that are unknown after a restart of the controller, down, drained or
 * reserved fit no job now.  A flag behind the state, of a node that is powered off
 * or planned for others, does not matter, but the one of a node that does not
 * respond.
 */
static bool
slurm_cluster_is_well(const char *state)
{
	static const char *const well[] = { "idle", "mixed", "allocated",
		"completing", "planned" };
	size_t i, n;

	for (i = 0; i < sizeof well / sizeof well[0]; i++) {
		n = strlen(well[i]);
		if (strncmp(well[i], state, n) == 0 &&
		    strspn(state + n, "~#!%$@^-+") == strlen(state + n))
			return true;
	}
	return false;
}

static void
slurm_cluster_node(void *arg, char *row)
{
	struct slurm_cluster_nodes *c = arg;
	const char *partition = slurm_cluster_field(&row);
	const char *state = slurm_cluster_field(&row);
	int64_t cpus = strtoll(slurm_cluster_field(&row), NULL, 10);
	int64_t memory_mb = strtoll(slurm_cluster_field(&row), NULL, 10);
	int64_t gpus =
	    slurm_cluster_gpus(slurm_cluster_field(&row), c->type, c->type_len);

	c->usable = c->usable && slurm_cluster_is_well(state);
	if (!slurm_options_uses(c->set, partition, strlen(partition)))
		return;
	c->seen++;
	c->nodes +=
	    gpus >= c->gpus && cpus >= c->cpus && memory_mb >= c->memory_mb;
	c->most_gpus = gpus > c->most_gpus ? gpus : c->most_gpus;
	c->most_cpus = cpus > c->most_cpus ? cpus : c->most_cpus;
	if (memory_mb > c->most_memory_mb)
		c->most_memory_mb = memory_mb;
}

/* What no node has, whatever state it is in. */
static void
slurm_cluster_put_lack(const struct slurm_cluster_nodes *c, struct buf *text)
{
	if (c->seen == 0 || c->nodes >= c->set->nodes)
		return;
	buf_puts(text, ": ");
	if (c->gpus > c->most_gpus)
		buf_printf(text,
		    "no node has %lld GPU%s%s%.*s, the most is %lld",
		    (long long)c->gpus, c->gpus == 1 ? "" : "s",
		    c->type != NULL ? " of type " : "", (int)c->type_len,
		    c->type != NULL ? c->type : "", (long long)c->most_gpus);
	else if (c->cpus > c->most_cpus)
		buf_printf(text, "no node has %lld cores, the most is %lld",
		    (long long)c->cpus, (long long)c->most_cpus);
	else if (c->memory_mb > c->most_memory_mb)
		buf_printf(text,
		    "no node has %lldM of memory, the most is %lldM",
		    (long long)c->memory_mb, (long long)c->most_memory_mb);
	else if (c->nodes == 0)
		buf_puts(text, "no node has so much of all of it");
	else
		buf_printf(text, "%lld node%s ha%s so much, nodes is %lld",
		    (long long)c->nodes, c->nodes == 1 ? "" : "s",
		    c->nodes == 1 ? "s" : "ve", (long long)c->set->nodes);
	if (c->set->partition != NULL)
		buf_printf(text, " (partition %s)", c->set->partition);
}

/* Add what no node has; false: there may be such nodes at another time. */
static bool
slurm_cluster_lacks(const struct slurm_settings *set, struct buf *text)
{
	int64_t parts = slurm_options_parts(set);
	int64_t tasks = set->tasks > 1 ? set->tasks : 1;
	const char *colon = set->gres != NULL ? strrchr(set->gres, ':') : NULL;
	struct slurm_cluster_nodes c = { .set = set,
		.gpus = set->n_gpus * parts,
		.cpus = (set->cpus > 0 ? set->cpus : 1) * tasks * parts,
		.memory_mb = (set->memory * parts + (1 << 20) - 1) >> 20,
		.usable = true };
	size_t before = text->len;

	if (colon != NULL) {
		c.type = set->gres;
		c.type_len = (size_t)(colon - set->gres);
	}
	slurm_cluster_rows("%P|%T|%c|%m|%G", true, slurm_cluster_node, &c);
	slurm_cluster_put_lack(&c, text);
	return text->len > before || (c.seen > 0 && c.usable);
}

struct slurm_cluster_addresses {
	const struct slurm_settings *set;
	char host[256]; /* of this machine, without its domain */
	int seen, here;
};

static void
slurm_cluster_address(void *arg, char *row)
{
	struct slurm_cluster_addresses *a = arg;
	const char *partition = slurm_cluster_field(&row);
	const char *address = slurm_cluster_field(&row);
	size_t n = strcspn(address, ".");

	if (!slurm_options_uses(a->set, partition, strlen(partition)))
		return;
	a->seen++;
	a->here += strncmp(address, "127.", 4) == 0 ||
		   strcmp(address, "localhost") == 0 ||
		   (n == strlen(a->host) && strncmp(address, a->host, n) == 0);
}

bool
slurm_cluster_is_here(const struct slurm_settings *set)
{
	struct slurm_cluster_addresses a = { .set = set };

	(void)gethostname(a.host, sizeof a.host - 1);
	a.host[strcspn(a.host, ".")] = '\0';
	slurm_cluster_rows("%P|%o", true, slurm_cluster_address, &a);
	return a.seen > 0 && a.here == a.seen;
}

struct slurm_cluster_groups {
	const struct slurm_settings *set;
	struct buf closed; /* partitions for others, with their groups */
	bool open; /* one is for this user */
};

static bool
slurm_cluster_is_member(const char *name)
{
	const struct group *g = getgrnam(name);
	gid_t list[1024];
	int n, i;

	if (g == NULL)
		return false;
	n = getgroups((int)(sizeof list / sizeof list[0]), list);
	for (i = 0; i < n; i++)
		if (list[i] == g->gr_gid)
			return true;
	return n == -1 || g->gr_gid == getegid();
}

static void
slurm_cluster_group(void *arg, char *row)
{
	struct slurm_cluster_groups *c = arg;
	const char *partition = slurm_cluster_field(&row);
	char *groups = slurm_cluster_field(&row);
	const char *name;
	bool open = *groups == '\0' || strcmp(groups, "all") == 0;

	if (!slurm_options_uses(c->set, partition, strlen(partition)))
		return;
	if (!open)
		buf_printf(&c->closed, "%s%s (%s)",
		    c->closed.len > 0 ? ", " : "", partition, groups);
	while (!open && (name = strsep(&groups, ",")) != NULL)
		open = slurm_cluster_is_member(name);
	c->open = c->open || open;
}

void
slurm_cluster_warn(const struct slurm_settings *set, struct buf *text)
{
	struct slurm_cluster_groups c = { .set = set };

	if (geteuid() == 0)
		return;
	slurm_cluster_rows("%P|%g", false, slurm_cluster_group, &c);
	if (c.closed.len > 0 && !c.open)
		buf_printf(text,
		    "partition: %s: you are in none of these groups, and where "
		    "Slurm accepts such jobs they wait for ever\n",
		    buf_str(&c.closed));
	buf_free(&c.closed);
}

int
slurm_cluster_check(const struct slurm_settings *set, struct err *e)
{
	struct buf out = { 0 }, more = { 0 };
	struct strv argv = { 0 };
	char text[400];
	int rc = 0;

	strv_add(&argv, xstrdup("sbatch"));
	strv_add(&argv, xstrdup("--test-only"));
	slurm_options_words(set, &argv);
	strv_add(&argv, xstrdup("--wrap=true"));
	if (slurm_program_call(argv.v, SLURM_CLUSTER_MS, &out) > 0 &&
	    strstr(buf_str(&out), SLURM_RESERVED_LATER) == NULL) {
		slurm_program_words(buf_str(&out), text, sizeof text);
		switch (slurm_program_refusal(buf_str(&out))) {
		case SLURM_REFUSAL_WRONG:
			slurm_cluster_put_partitions(set, &more);
			rc = -1;
			break;
		case SLURM_REFUSAL_NODES:
			rc = slurm_cluster_lacks(set, &more) ? -1 : 0;
			break;
		case SLURM_REFUSAL_UNCLEAR:
		case SLURM_REFUSAL_DOWN:
		case SLURM_REFUSAL_QUOTA:
			break;
		}
	}
	if (rc == -1)
		(void)err_set(e, ERR_USAGE,
		    "Slurm does not accept such jobs: %s%s", text,
		    buf_str(&more));
	strv_free(argv.v);
	buf_free(&more);
	buf_free(&out);
	return rc;
}
