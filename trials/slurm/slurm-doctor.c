/*
 * Doctor: what a study needs of the cluster, one check after the other, each
 * with a remedy.  Submits one small job that writes into the study's folder.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/folder.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/slurm/slurm-internal.h"

enum { JOB_MS = 60000, LOOK_MS = 200 };

static void
slurm_doctor_on_turn(void *arg)
{
	(void)arg;
}

struct doctor {
	const struct launch_env *env;
	struct slurm_settings set;
	launch_doctor_cb *cb;
	void *arg;
	int64_t ask_ms;
};

static void
say(struct doctor *d, enum launch_level level, const char *what,
    const char *text, const char *mend)
{
	d->cb(d->arg, level, what, text, mend);
}

static void
line_cut(struct buf *b)
{
	if (b->len > 0)
		b->data[b->len = strcspn(b->data, "\n")] = '\0';
}

static bool
check_tools(struct doctor *d)
{
	static const char *const tools[] = { "sbatch", "squeue", "scancel" };
	char *argv[] = { NULL, "--version", NULL };
	struct buf out = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof tools / sizeof tools[0] && good; i++) {
		buf_clear(&out);
		argv[0] = (char *)tools[i];
		good = slurm_program_call(argv, d->ask_ms, &out) == 0;
		if (!good)
			say(d, LAUNCH_ERROR, tools[i], buf_str(&out),
			    "run it where jobs are submitted (a login node), "
			    "or "
			    "install the package slurm-client");
	}
	line_cut(&out);
	if (good)
		say(d, LAUNCH_INFO, "slurm", buf_str(&out), NULL);
	buf_free(&out);
	return good;
}

static bool
check_controller(struct doctor *d)
{
	char *argv[] = { "scontrol", "ping", NULL };
	struct buf out = { 0 };
	bool good = slurm_program_call(argv, d->ask_ms, &out) == 0 &&
		    strstr(buf_str(&out), "UP") != NULL;

	line_cut(&out);
	say(d, good ? LAUNCH_INFO : LAUNCH_ERROR, "controller", buf_str(&out),
	    good ? NULL
		 : "is SLURM_CONF right, and does slurmctld run? trials that "
		   "run go on without it");
	buf_free(&out);
	return good;
}

/* "Name   = value" of scontrol show config. */
static void
setting(const char *all, const char *name, char *value, size_t n)
{
	const char *at = all;

	*value = '\0';
	while ((at = strstr(at, name)) != NULL) {
		if ((at == all || at[-1] == '\n') &&
		    strchr(" =", at[strlen(name)]) != NULL) {
			at += strlen(name);
			at += strspn(at, " =");
			(void)snprintf(
			    value, n, "%.*s", (int)strcspn(at, "\n"), at);
			return;
		}
		at++;
	}
}

static void
check_config(struct doctor *d)
{
	static const char *const names[] = { "KillWait", "MinJobAge",
		"MaxArraySize", "PreemptMode", "AccountingStorageType" };
	char *argv[] = { "scontrol", "show", "config", NULL }, value[80];
	struct buf out = { 0 }, text = { 0 };
	size_t i;

	if (slurm_program_call(argv, d->ask_ms, &out) == 0) {
		for (i = 0; i < sizeof names / sizeof names[0]; i++) {
			setting(buf_str(&out), names[i], value, sizeof value);
			if (*value != '\0')
				buf_printf(&text, "%s%s %s",
				    text.len > 0 ? ", " : "", names[i], value);
		}
		say(d, LAUNCH_INFO, "configuration", buf_str(&text), NULL);
	}
	buf_free(&text);
	buf_free(&out);
}

/* sacct says who has cancelled a job; sacctmgr, what may be submitted. */
static void
check_accounting(struct doctor *d)
{
	char *who[] = { "sacct", "--allocations", "--noheader", "--parsable2",
		"--format=JobIDRaw", "--starttime=now-1minutes", NULL };
	char *limits[] = { "sacctmgr", "--noheader", "--parsable2", "show",
		"associations", NULL,
		"format=Account,MaxJobs,MaxSubmitJobs,DefaultQOS", NULL };
	struct buf out = { 0 }, text = { 0 };
	char *user = NULL, *line, *rest;
	const char *name =
	    getenv("USER") != NULL ? getenv("USER") : getenv("LOGNAME");

	if (slurm_program_call(who, d->ask_ms, &out) != 0) {
		say(d, LAUNCH_INFO, "accounting",
		    "none (sacct does not answer): a job that somebody cancels "
		    "is recorded without the name of the user",
		    NULL);
		buf_free(&out);
		return;
	}
	buf_clear(&out);
	if (name != NULL && *name != '\0') {
		user = xasprintf("user=%s", name);
		limits[5] = user;
		if (slurm_program_call(limits, d->ask_ms, &out) != 0)
			buf_clear(&out);
	}
	buf_puts(&text, "sacct answers");
	rest = out.len > 0 ? out.data : NULL;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			buf_printf(&text,
			    "; account, running and submitted jobs, qos: %s",
			    line);
	say(d, LAUNCH_INFO, "accounting", buf_str(&text), NULL);
	free(user);
	buf_free(&text);
	buf_free(&out);
}

/* The reservation of the jobs, or NULL. */
static const char *
reservation_name(const struct slurm_settings *set)
{
	static const char option[] = "--reservation=";
	const char *name = getenv("SBATCH_RESERVATION");
	size_t i;

	for (i = 0; i < set->extra.n; i++)
		if (strncmp(set->extra.v[i], option, sizeof option - 1) == 0)
			name = set->extra.v[i] + sizeof option - 1;
	return name;
}

/*
 * Whether sbatch --test-only has refused jobs whose reservation begins later: it
 * accepts them in earnest.  Says so.
 */
static bool
check_begins_later(struct doctor *d, const char *refusal)
{
	static const char start[] = "StartTime=";
	const char *name = reservation_name(&d->set), *at = NULL;
	char *argv[] = { "scontrol", "--oneliner", "show", "reservation",
		(char *)name, NULL };
	struct buf out = { 0 };
	char *text;

	if (name == NULL || strstr(refusal, SLURM_RESERVED_LATER) == NULL)
		return false;
	if (slurm_program_call(argv, d->ask_ms, &out) == 0 &&
	    strstr(buf_str(&out), "State=INACTIVE") != NULL)
		at = strstr(buf_str(&out), start);
	if (at != NULL) {
		at += sizeof start - 1;
		text = xasprintf("the reservation %s begins at %.*s: jobs are "
				 "accepted, and wait until then",
		    name, (int)strcspn(at, " \n"), at);
		say(d, LAUNCH_WARNING, "jobs", text,
		    "a study can be started now; run this again when the "
		    "reservation has begun: a job then tests the folder");
		free(text);
	}
	buf_free(&out);
	return at != NULL;
}

/* False: no job is accepted, or none runs yet. */
static bool
check_accepts(struct doctor *d)
{
	struct buf out = { 0 };
	struct strv argv = { 0 };
	int status;

	strv_add(&argv, xstrdup("sbatch"));
	strv_add(&argv, xstrdup("--test-only"));
	slurm_options_words(&d->set, &argv);
	strv_add(&argv, xstrdup("--wrap=true"));
	status = slurm_program_call(argv.v, d->ask_ms, &out);
	strv_free(argv.v);
	line_cut(&out);
	if (status == 0)
		say(d, LAUNCH_INFO, "jobs", buf_str(&out), NULL);
	else if (!check_begins_later(d, buf_str(&out)))
		say(d, LAUNCH_ERROR, "jobs", buf_str(&out),
		    "see partition, account, qos, time, gpus, cpus and memory "
		    "of the backend block, and sinfo");
	buf_free(&out);
	return status == 0;
}

/* Wait for a file, until the time is over. */
struct wait {
	struct loop *loop;
	struct loop_timer *timer;
	const char *path;
	int64_t until_ms;
	bool found;
};

static void
slurm_doctor_on_wait(void *arg)
{
	struct wait *w = arg;

	w->found = access(w->path, F_OK) == 0;
	if (w->found || loop_now_ms(w->loop) >= w->until_ms)
		loop_stop(w->loop);
	else
		loop_timer_set(w->timer, LOOK_MS);
}

static bool
file_wait(const char *path, int64_t ms)
{
	struct wait w = { .path = path };
	struct err e = ERR_INIT;

	if (loop_open(&w.loop, LOOP_REAL, &e) != 0)
		return false;
	w.until_ms = loop_now_ms(w.loop) + ms;
	w.timer = loop_timer_new(w.loop, slurm_doctor_on_wait, &w);
	loop_timer_set(w.timer, 0);
	loop_run(w.loop, slurm_doctor_on_turn, NULL);
	loop_timer_free(w.timer);
	loop_close(w.loop);
	return w.found;
}

static void
shared_say(struct doctor *d, bool found, const char *job, const char *dir)
{
	char *argv[] = { "squeue", "--all", "--noheader", "--format=%T %r",
		"--states=all", NULL, NULL };
	struct buf out = { 0 };
	char *text, *ask = xasprintf("--jobs=%s", job);

	argv[5] = ask;
	if (found)
		text = xasprintf("a job on a node has written into %s", dir);
	else {
		(void)slurm_program_call(argv, d->ask_ms, &out);
		line_cut(&out);
		text = xasprintf("job %s has not written into %s: %s", job, dir,
		    buf_str(&out));
	}
	say(d,
	    found					? LAUNCH_INFO
	    : strncmp(buf_str(&out), "PENDING", 7) == 0 ? LAUNCH_WARNING
							: LAUNCH_ERROR,
	    "folder", text,
	    found ? NULL
		  : "a pending job waits for a node: run it again later; "
		    "otherwise the folder of study.json has to be on a file "
		    "system that all nodes share");
	free(text);
	free(ask);
	buf_free(&out);
}

static void
check_shared(struct doctor *d)
{
	char *cut, *path, *job, *end, *cancel[3] = { 0 };
	struct buf out = { 0 }, rest = { 0 };
	struct strv argv = { 0 };

	cut = xstrdup(d->set.dir != NULL ? d->set.dir : d->env->state_dir);
	end = strrchr(cut, '/');
	if (d->set.dir == NULL && end != NULL && end != cut)
		*end = '\0';
	path = xasprintf("%s/.hpotune-doctor.%ld", cut, (long)getpid());
	strv_add(&argv, xstrdup("sbatch"));
	strv_add(&argv, xstrdup("--parsable"));
	strv_add(&argv, xstrdup("--job-name=hpotune-doctor"));
	strv_add(&argv, xstrdup("--output=/dev/null"));
	strv_add(&argv, xasprintf("--chdir=%s", cut));
	slurm_options_words(&d->set, &argv);
	strv_add(&argv, xstrdup("--time=1"));
	/* Not through a link that somebody else has made there: set -C. */
	strv_add(&argv,
	    xasprintf("--wrap=set -C; : >.hpotune-doctor.%ld", (long)getpid()));
	if (slurm_program_call(argv.v, d->ask_ms, &out) != 0) {
		line_cut(&out);
		say(d, LAUNCH_ERROR, "folder", buf_str(&out),
		    "a job could not be submitted");
	} else {
		job = xstrndup(buf_str(&out), strcspn(buf_str(&out), ";\n"));
		shared_say(d,
		    file_wait(path,
			d->env->patience_ms > 0 ? d->env->patience_ms : JOB_MS),
		    job, cut);
		cancel[0] = "scancel";
		cancel[1] = job;
		(void)slurm_program_call(cancel, d->ask_ms, &rest);
		(void)unlink(path);
		free(job);
	}
	strv_free(argv.v);
	buf_free(&out);
	buf_free(&rest);
	free(path);
	free(cut);
}

/* Who else can change what jobs run. */
static void
slurm_doctor_check_users(struct doctor *d)
{
	struct buf why = { 0 };

	if (d->set.dir != NULL && folder_exposed(d->set.dir, &why))
		say(d, LAUNCH_WARNING, "backend.dir", buf_str(&why),
		    "they can replace the folders of trials: set the sticky "
		    "bit (chmod +t), or use a folder of your own");
	buf_free(&why);
}

int
slurm_doctor(const struct launch_env *env, launch_doctor_cb *cb, void *arg,
    struct err *e)
{
	struct doctor d = {
		.env = env, .cb = cb, .arg = arg, .ask_ms = env->patience_ms
	};

	if (slurm_options_read(&d.set, env->settings, env->options, e) != 0)
		return -1;
	slurm_doctor_check_users(&d);
	if (check_tools(&d) && check_controller(&d)) {
		check_config(&d);
		check_accounting(&d);
		if (check_accepts(&d))
			check_shared(&d);
	}
	slurm_options_free(&d.set);
	return 0;
}
