/* Reads the file of the fake libraries; fake-gpus.h says what is in it. */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fake-driver/fake-gpus.h"

static void
bad(const char *line)
{
	(void)fprintf(stderr, "FAKE_GPUS_FILE: %s\n", line);
	abort();
}

static unsigned long long
size_of(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (strcmp(end, "KiB") == 0)
		return n << 10;
	if (strcmp(end, "MiB") == 0)
		return n << 20;
	if (strcmp(end, "GiB") == 0)
		return n << 30;
	if (*end != '\0')
		bad(text);
	return n;
}

/* The value of "key=value", or NULL. */
static const char *
value_of(const char *word, const char *key)
{
	size_t n = strlen(key);

	return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1
							    : NULL;
}

static void
cuda_set(struct fake_gpu *g, const char *v)
{
	const char *colon = strchr(v, ':');

	if (colon == NULL || colon - v >= (long)sizeof g->cuda_step)
		bad(v);
	(void)snprintf(
	    g->cuda_step, sizeof g->cuda_step, "%.*s", (int)(colon - v), v);
	g->cuda_error = atoi(colon + 1);
}

static void
word_set(struct fake_gpu *g, const char *word)
{
	const char *v;

	if ((v = value_of(word, "uuid")) != NULL)
		(void)snprintf(g->uuid, sizeof g->uuid, "%s", v);
	else if ((v = value_of(word, "name")) != NULL)
		(void)snprintf(g->name, sizeof g->name, "%s", v);
	else if ((v = value_of(word, "bus")) != NULL)
		(void)snprintf(g->bus, sizeof g->bus, "%s", v);
	else if ((v = value_of(word, "minor")) != NULL)
		g->minor = (unsigned int)atoi(v);
	else if ((v = value_of(word, "memory")) != NULL)
		g->memory = size_of(v);
	else if ((v = value_of(word, "used")) != NULL)
		g->used = size_of(v);
	else if ((v = value_of(word, "reserved")) != NULL)
		g->reserved = size_of(v);
	else if (strcmp(word, "old-memory") == 0)
		g->old_memory = true;
	else if ((v = value_of(word, "temperature")) != NULL)
		g->temperature = (unsigned int)atoi(v);
	else if ((v = value_of(word, "utilization")) != NULL)
		g->utilization = (unsigned int)atoi(v);
	else if ((v = value_of(word, "power")) != NULL)
		g->power = (unsigned int)atoi(v);
	else if ((v = value_of(word, "energy")) != NULL)
		g->energy = strtoull(v, NULL, 10);
	else if ((v = value_of(word, "recovery")) != NULL)
		g->recovery = atoi(v);
	else if ((v = value_of(word, "error")) != NULL)
		g->error = atoi(v);
	else if ((v = value_of(word, "cuda")) != NULL)
		cuda_set(g, v);
	else if (strcmp(word, "mig") == 0)
		g->mig = true;
	else
		bad(word);
}

/* whole: the place of the GPU that the slice is of; -1: a GPU. */
static struct fake_gpu *
gpu_add(struct fake_world *w, int whole, unsigned int number)
{
	struct fake_gpu *g = &w->gpus[w->n++];

	if (w->n > FAKE_GPUS)
		bad("too many GPUs");
	*g = (struct fake_gpu){ .minor = number,
		.memory = 80ULL << 30,
		.temperature = 30,
		.power = 50000,
		.parent = whole };
	(void)snprintf(g->uuid, sizeof g->uuid, "%s-%u",
	    whole < 0 ? "GPU" : "MIG", number);
	(void)snprintf(g->name, sizeof g->name, "Fake");
	(void)snprintf(g->bus, sizeof g->bus, "00000000:%02X:00.0", number + 1);
	return g;
}

static void
process_add(struct fake_gpu *g, char **rest)
{
	struct fake_process *p = &g->processes[g->n_processes++];
	const char *word = strtok_r(NULL, " \t", rest), *v;

	if (g->n_processes > FAKE_PROCESSES || word == NULL)
		bad("process");
	*p = (struct fake_process){ .pid = (unsigned int)atoi(word) };
	while ((word = strtok_r(NULL, " \t", rest)) != NULL)
		if ((v = value_of(word, "memory")) != NULL)
			p->memory = size_of(v);
		else if (strcmp(word, "mps") == 0)
			p->mps = true;
		else
			bad(word);
	g->used += p->memory;
}

/* The files of a folder: what programs that run now have on the GPU. */
static void
contexts_add(struct fake_gpu *g, const char *dir)
{
	DIR *d = dir != NULL ? opendir(dir) : NULL;
	char path[512], text[64];
	struct fake_process *p;
	struct dirent *entry;
	FILE *f;

	if (d != NULL && strlen(dir) < sizeof g->contexts)
		(void)strcpy(g->contexts, dir);
	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (atoi(entry->d_name) <= 0 ||
		    kill((pid_t)atoi(entry->d_name), 0) != 0)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		f = fopen(path, "re");
		if (f == NULL)
			continue;
		p = &g->processes[g->n_processes];
		if (fgets(text, sizeof text, f) != NULL) {
			text[strcspn(text, "\n")] = '\0';
			if (++g->n_processes > FAKE_PROCESSES)
				bad("too many contexts");
			*p = (struct fake_process){ .pid = (unsigned int)atoi(
							entry->d_name),
				.memory = size_of(text) };
			g->used += p->memory;
		}
		(void)fclose(f);
	}
	if (d != NULL)
		(void)closedir(d);
}

static int
number_next(char **rest)
{
	const char *word = strtok_r(NULL, " \t", rest);

	if (word == NULL)
		bad("a number is missing");
	return atoi(word);
}

struct reading {
	int whole; /* place of the last gpu, -1 = none yet */
	unsigned int gpus, slices; /* how many */
};

static void
line_read(struct fake_world *w, struct reading *r, char *line)
{
	struct fake_gpu *last = w->n > 0 ? &w->gpus[w->n - 1] : NULL, *g;
	char *rest, *word = strtok_r(line, " \t", &rest);

	if (word == NULL)
		return;
	if (strcmp(word, "gpu") == 0 || strcmp(word, "slice") == 0) {
		if (word[0] == 'g') {
			r->whole = (int)w->n;
			g = gpu_add(w, -1, r->gpus++);
		} else
			g = gpu_add(w, r->whole, r->slices++);
		while ((word = strtok_r(NULL, " \t", &rest)) != NULL)
			word_set(g, word);
	} else if (strcmp(word, "process") == 0 && last != NULL)
		process_add(last, &rest);
	else if (strcmp(word, "contexts") == 0 && last != NULL)
		contexts_add(last, strtok_r(NULL, " \t", &rest));
	else if (strcmp(word, "xid") == 0 && last != NULL) {
		g = &w->gpus[r->whole];
		if (g->n_xids == FAKE_XIDS)
			bad("too many xids");
		g->xids[g->n_xids++] = number_next(&rest);
	} else if (strcmp(word, "init") == 0)
		w->init = number_next(&rest);
	else if (strcmp(word, "count") == 0)
		w->count = number_next(&rest);
	else if (strcmp(word, "grow") == 0)
		w->grow = (unsigned int)number_next(&rest);
	else if (strcmp(word, "driver") == 0 || strcmp(word, "hang") == 0) {
		char *to = word[0] == 'd' ? w->driver : w->hang;

		word = strtok_r(NULL, " \t", &rest);
		if (word == NULL || strlen(word) >= sizeof w->hang)
			bad("driver or hang");
		(void)strcpy(to, word);
	} else
		bad(word);
}

void
fake_gpus_read(struct fake_world *w)
{
	const char *path = getenv("FAKE_GPUS_FILE");
	FILE *f = path != NULL ? fopen(path, "re") : NULL;
	struct reading r = { .whole = -1 };
	char line[1024];

	*w = (struct fake_world){ .driver = "550.54.15" };
	if (f == NULL)
		bad("cannot be read");
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "#\n")] = '\0';
		line_read(w, &r, line);
	}
	(void)fclose(f);
}

void
fake_gpus_hang(const struct fake_world *w, const char *call)
{
	while (strcmp(w->hang, call) == 0)
		(void)pause();
}
