/*
 * What the accounting of Slurm, where there is one, has of jobs that squeue no
 * longer lists: the controller forgets a job some minutes after its end, perhaps
 * while no server of its study runs.
 */

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	ASK_MS = 20000, /* limit of one sacct */
	PAUSE_MS = 1000, /* between two */
	NONE_MS = 60000, /* until one without accounting is asked again */
	MOST = 200, /* jobs of one question */
	DAY_S = 86400
};

/* Fields of SLURM_ROW_FORMAT, with other words in some. */
#define FORMAT                                                                 \
	"JobIDRaw,State,Reason,NodeList,Timelimit,Submit,JobName%200,Comment%" \
	"250"

static void
slurm_accounting_name(const char *uid, char *who, size_t n)
{
	char *end;
	unsigned long id = strtoul(uid, &end, 10);
	const struct passwd *pw = NULL;

	if (end != uid && (*end == '\0' || *end == '|'))
		pw = getpwuid((uid_t)id);
	if (pw != NULL)
		(void)snprintf(who, n, "%s", pw->pw_name);
	else
		(void)snprintf(
		    who, n, "user %.*s", (int)strcspn(uid, "|"), uid);
}

bool
slurm_accounting_user(const char *state, char *who, size_t n)
{
	static const char by[] = "CANCELLED by ";

	*who = '\0';
	if (strncmp(state, by, sizeof by - 1) != 0)
		return false;
	slurm_accounting_name(state + sizeof by - 1, who, n);
	return true;
}

/*
 * A controller that starts without its state has its jobs recorded as cancelled by
 * nobody, while they run.
 */
bool
slurm_accounting_row(
    struct slurm_row *row, const char *line, size_t len, char *who, size_t n)
{
	static const char none[] = "None assigned";
	static const char nobody[] = "CANCELLED";
	char *cut;

	*who = '\0';
	if (!slurm_row_read(row, line, len) || strcmp(row->word, nobody) == 0)
		return false;
	(void)slurm_accounting_user(row->word, who, n);
	cut = strchr(row->word, ' ');
	if (cut != NULL) {
		*cut = '\0';
		row->state = slurm_row_state(row->word, row->reason);
	}
	if (strcmp(row->node, none) == 0)
		row->node[0] = '\0';
	return slurm_row_final(row);
}

/* The row of an attempt in an answer; false: there is none of its end. */
static bool
slurm_accounting_find(
    struct slurm_attempt *a, const char *text, struct slurm_row *best)
{
	char who[SLURM_WHO];
	struct slurm_row row;
	const char *end;

	*best = (struct slurm_row){ 0 };
	for (; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (!slurm_accounting_row(
			&row, text, (size_t)(end - text), who, sizeof who) ||
		    strcmp(row.name, a->name) != 0 ||
		    !slurm_row_better(&row, best, a->id))
			continue;
		*best = row;
		a->who_known = *who != '\0';
		(void)snprintf(a->who, sizeof a->who, "%s", who);
	}
	return best->id != 0;
}

static void
slurm_accounting_on_answer(
    void *arg, int status, const char *out, size_t len, const char *why)
{
	struct slurm *s = arg;

	(void)why;
	s->accounting.child = NULL;
	s->accounting.status = status;
	s->accounting.out = xstrndup(out, len);
	loop_wake(s->loop);
}

/* Inside collect: rows of attempts are taken only there. */
static void
slurm_accounting_read(struct slurm *s,
    void (*take)(struct slurm_attempt *, const struct slurm_row *))
{
	struct slurm_row row;
	struct slurm_attempt *a;
	bool answered = s->accounting.status == 0;
	size_t i;

	if (s->accounting.out == NULL)
		return;
	s->accounting.none_ms = answered ? 0 : loop_now_ms(s->loop);
	for (i = 0; i < s->n; i++) {
		a = s->attempts[i];
		if (a->account != SLURM_ACCOUNT_ASKED)
			continue;
		a->account = SLURM_ACCOUNT_SILENT;
		if (answered &&
		    slurm_accounting_find(a, s->accounting.out, &row)) {
			take(a, &row);
			a->account = SLURM_ACCOUNT_ROW;
		}
	}
	free(s->accounting.out);
	s->accounting.out = NULL;
	s->look_due = true;
}

/* The folder of an attempt was made before its job, by the clock of a server. */
static time_t
slurm_accounting_since(const struct slurm_attempt *a)
{
	int fd = slurm_folder_open_file(a->dir, SLURM_CREATE_FILE);
	time_t since = (time_t)(loop_wall_us(a->slurm->loop) / 1000000);
	struct stat st;

	if (fd != -1 && fstat(fd, &st) == 0 && st.st_mtime < since)
		since = st.st_mtime;
	if (fd != -1)
		(void)close(fd);
	return since - DAY_S;
}

/* The jobs of one question: by their numbers, or by their names, in a time. */
static bool
slurm_accounting_list(struct slurm *s, bool by_name, struct strv *argv)
{
	time_t since = 0, one;
	struct buf list = { 0 };
	struct tm t = { 0 };
	char at[32];
	int n = 0;
	size_t i;

	for (i = 0; i < s->n && n < MOST; i++) {
		struct slurm_attempt *a = s->attempts[i];

		if (a->account != SLURM_ACCOUNT_DUE || (a->id == 0) != by_name)
			continue;
		a->account = SLURM_ACCOUNT_ASKED;
		buf_printf(&list, "%s", n++ > 0 ? "," : "");
		if (!by_name) {
			buf_printf(&list, "%lld", (long long)a->id);
			continue;
		}
		buf_puts(&list, a->name);
		one = slurm_accounting_since(a);
		since = since == 0 || one < since ? one : since;
	}
	if (n > 0) {
		strv_add(argv, xasprintf("--%s=%s", by_name ? "name" : "jobs",
				   buf_str(&list)));
		if (by_name && localtime_r(&since, &t) != NULL &&
		    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%S", &t) > 0)
			strv_add(argv, xasprintf("--starttime=%s", at));
	}
	buf_free(&list);
	return n > 0;
}

static void
slurm_accounting_ask(struct slurm *s)
{
	static const char *const words[] = { "sacct", "--allocations",
		"--noheader", "--parsable2", "--duplicates",
		"--format=" FORMAT };
	struct capture_spec spec = { .timeout_ms = ASK_MS, .both = true };
	struct err e = ERR_INIT;
	struct strv argv = { 0 };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		strv_add(&argv, xstrdup(words[i]));
	if (slurm_accounting_list(s, false, &argv) ||
	    slurm_accounting_list(s, true, &argv)) {
		spec.argv = argv.v;
		s->accounting.asked_ms = loop_now_ms(s->loop);
		if (slurm_program_start(&s->accounting.child, s->loop, &spec,
			slurm_accounting_on_answer, s, &e) == -1)
			slurm_accounting_on_answer(s, -1, "", 0, e.text);
	}
	strv_free(argv.v);
}

bool
slurm_accounting_silent(struct slurm_attempt *a)
{
	const struct slurm *s = a->slurm;

	if (a->account == SLURM_ACCOUNT_UNASKED)
		a->account = s->accounting.none_ms != 0 &&
				     loop_now_ms(s->loop) <
					 s->accounting.none_ms + NONE_MS
				 ? SLURM_ACCOUNT_SILENT
				 : SLURM_ACCOUNT_DUE;
	return a->account == SLURM_ACCOUNT_SILENT;
}

void
slurm_accounting_collect(struct slurm *s,
    void (*take)(struct slurm_attempt *, const struct slurm_row *))
{
	slurm_accounting_read(s, take);
	if (s->accounting.child == NULL && s->accounting.out == NULL &&
	    (s->accounting.asked_ms == 0 ||
		loop_now_ms(s->loop) >= s->accounting.asked_ms + PAUSE_MS))
		slurm_accounting_ask(s);
}

void
slurm_accounting_close(struct slurm *s)
{
	capture_kill(s->accounting.child);
	free(s->accounting.out);
}
