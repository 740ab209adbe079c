/*
 * Billing of jobs, and forecasts of their cost.  AWS bills the machines of a
 * job from TrainingStartTime to TrainingEndTime, including download, upload and
 * warm pool; only the training has a limit.  The times before and after it are
 * estimated from earlier jobs of the study; a slower job raises the forecast of
 * all.
 */

#include <math.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

#define MORE 1.25 /* margin: factor on the longest measured time */
#define MORE_S 30.0 /* … plus this many seconds */

enum {
	STOP_S = 120 /* SageMaker's grace between SIGTERM and SIGKILL */
};

/* From a secondary status; unchanged for an unknown one. */
static enum sm_phase
phase_read(const char *word, enum sm_phase was)
{
	static const struct {
		const char *word;
		enum sm_phase phase;
	} words[] = {
		{ "Starting", SM_PHASE_WAIT },
		{ "Pending", SM_PHASE_WAIT },
		{ "LaunchingMLInstances", SM_PHASE_WAIT },
		{ "PreparingTrainingStack", SM_PHASE_WAIT },
		{ "Restarting", SM_PHASE_WAIT },
		{ "Interrupted", SM_PHASE_WAIT },
		{ "Downloading", SM_PHASE_DOWNLOAD },
		{ "DownloadingTrainingImage", SM_PHASE_DOWNLOAD },
		{ "Training", SM_PHASE_TRAIN },
		{ "Stopping", SM_PHASE_STOP },
		{ "Uploading", SM_PHASE_UPLOAD },
		{ "Completed", SM_PHASE_OVER },
		{ "Failed", SM_PHASE_OVER },
		{ "Stopped", SM_PHASE_OVER },
		{ "MaxRuntimeExceeded", SM_PHASE_OVER },
		{ "MaxWaitTimeExceeded", SM_PHASE_OVER },
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].phase;
	return was; /* AWS may add values */
}

static bool
is_paid(enum sm_phase phase)
{
	return phase != SM_PHASE_WAIT && phase != SM_PHASE_OVER;
}

/* So many seconds of the job's phase are over. */
static void
meter_add(struct sm_bill_meter *m, double s)
{
	if (!(s > 0) || !is_paid(m->phase))
		return;
	m->paid_s += s;
	m->span_s += s;
	if (m->phase == SM_PHASE_DOWNLOAD && m->span_s > m->before_s)
		m->before_s = m->span_s;
	if (m->phase == SM_PHASE_TRAIN)
		m->trained_s += s;
	if (m->phase == SM_PHASE_UPLOAD && m->span_s > m->after_s)
		m->after_s = m->span_s;
}

/* Enter a phase after s more seconds in the previous one. */
static void
meter_move(struct sm_bill_meter *m, enum sm_phase to, double s)
{
	meter_add(m, s);
	if (to == m->phase)
		return;
	m->phase = to;
	m->span_s = 0;
}

/* Seconds since 1970 at which entry t ends; 0 = it has not. */
static double
entry_end(const struct json *t)
{
	const struct json *next = json_next(t);
	double end = sm_job_status_seconds(t, "EndTime", 0);

	return end == 0 && next != NULL
		   ? sm_job_status_seconds(next, "StartTime", 0)
		   : end;
}

void
sm_bill_meter_read(
    struct sm_bill_meter *m, double *since_s, const struct json *job)
{
	const struct json *t = json_get(job, "SecondaryStatusTransitions");
	double start, end,
	    began = sm_job_status_seconds(job, "TrainingStartTime", 0);
	const char *word;

	*m = (struct sm_bill_meter){ .phase = SM_PHASE_WAIT };
	*since_s = 0;
	for (t = json_first(t); t != NULL; t = json_next(t)) {
		if ((word = json_string(json_get(t, "Status"))) == NULL)
			continue;
		meter_move(m, phase_read(word, m->phase), 0);
		start = sm_job_status_seconds(t, "StartTime", 0);
		end = entry_end(t);
		/* The first machine may have been allocated before. */
		if (is_paid(m->phase) && m->paid_s == 0 && began > 0 &&
		    began < start)
			start = began;
		if (end == 0)
			*since_s = start;
		else if (start > 0)
			meter_add(m, end - start);
	}
}

static double
reckon(double longest_s, int64_t otherwise_s)
{
	return longest_s > 0 ? longest_s * MORE + MORE_S : (double)otherwise_s;
}

/* Estimated seconds before, and after, the training of any job. */
static double
sm_bill_before_s(const struct sm_settings *s, const struct launch_times *seen)
{
	return reckon(seen->before_s, s->download_s);
}

static double
sm_bill_after_s(const struct sm_settings *s, const struct launch_times *seen)
{
	return reckon(seen->after_s, s->upload_s);
}

bool
sm_bill_times_learn(struct launch_times *seen, double before_s, double after_s)
{
	bool more = before_s > seen->before_s || after_s > seen->after_s;

	seen->before_s = fmax(seen->before_s, before_s);
	seen->after_s = fmax(seen->after_s, after_s);
	return more;
}

void
sm_bill_estimate(struct sm_estimate *out, const struct sm_bill_meter *m,
    const struct sm_settings *s, const struct launch_times *seen, bool spot,
    double since_s, double late_s)
{
	double keep = spot ? 0 : (double)s->keep_alive_s;
	double before = sm_bill_before_s(s, seen),
	       after = sm_bill_after_s(s, seen);
	double left = fmax((double)s->max_run_s - m->trained_s, 0);
	double paid = m->paid_s + since_s;
	double ending = STOP_S + after + keep;

	out->most_s = out->least_s = m->paid_s;
	out->trains = true;
	switch (m->phase) {
	case SM_PHASE_WAIT:
		out->most_s += before + left + ending;
		out->least_s += late_s;
		break;
	case SM_PHASE_DOWNLOAD:
		out->most_s += fmax(before, since_s + late_s) + left + ending;
		out->least_s = paid + late_s + STOP_S;
		break;
	case SM_PHASE_TRAIN:
		out->most_s += fmax(left, since_s) + ending;
		out->least_s = paid + late_s + ending;
		break;
	case SM_PHASE_STOP:
		out->trains = false;
		out->most_s += fmax(STOP_S, since_s) + after + keep;
		break;
	case SM_PHASE_UPLOAD:
		out->trains = false;
		out->most_s += fmax(after, since_s + late_s) + keep;
		break;
	case SM_PHASE_OVER:
		out->trains = false;
		out->most_s += keep;
		break;
	}
	if (!out->trains)
		out->least_s = out->most_s;
	out->most_s = fmax(out->most_s, out->least_s);
}

/* Seconds that the job's phase has lasted, by the later of two clocks. */
static double
sm_bill_since(const struct sm_attempt *a)
{
	double ours = (double)(loop_now_ms(a->sm->loop) - a->phase_ms) / 1000;
	double theirs =
	    a->phase_s > 0
		? (double)loop_wall_us(a->sm->loop) / 1e6 - a->phase_s
		: 0;

	return is_paid(a->meter.phase) ? fmax(fmax(ours, theirs), 0) : 0;
}

void
sm_bill_described(struct sm_attempt *a, const struct sm_job *job)
{
	enum sm_phase was = a->meter.phase;

	a->meter = job->meter;
	if (!sm_job_status_over(job->status) && *job->secondary != '\0')
		meter_move(&a->meter, phase_read(job->secondary, was), 0);
	if (a->meter.phase != was || a->phase_s != job->since_s)
		a->phase_ms = loop_now_ms(a->sm->loop);
	a->phase_s = job->since_s;
	a->metered = true;
	if (sm_bill_times_learn(
		&a->sm->times, a->meter.before_s, a->meter.after_s))
		loop_wake(a->sm->loop);
}

void
sm_bill_listed(struct sm_attempt *a, const char *word)
{
	enum sm_phase to = phase_read(word, a->meter.phase);

	if (to == a->meter.phase)
		return;
	meter_move(&a->meter, to, sm_bill_since(a));
	a->phase_ms = loop_now_ms(a->sm->loop);
	a->phase_s = 0;
}

/* A phase takes longer than the estimate: raise the estimate for all jobs. */
static void
overdue(struct sm_attempt *a, double since_s)
{
	struct sm *sm = a->sm;
	bool up = a->meter.phase == SM_PHASE_UPLOAD;
	double most = up ? sm_bill_after_s(sm->set, &sm->times)
			 : sm_bill_before_s(sm->set, &sm->times);

	if ((!up && a->meter.phase != SM_PHASE_DOWNLOAD) || since_s <= most)
		return;
	if (!a->noted_overdue[up])
		sm_events_note(sm, a, LAUNCH_WARNING,
		    up ? "its upload takes longer than the expected %.0f s, "
			 "and is billed until it ends: it cannot be stopped; "
			 "write less to HPOTUNE_MODEL_DIR to shorten the next "
			 "ones"
		       : "its download takes longer than the %.0f s that "
			 "were assumed, and is billed",
		    most);
	a->noted_overdue[up] = true;
	(void)sm_bill_times_learn(
	    &sm->times, up ? 0 : since_s, up ? since_s : 0);
}

static bool
bill_attempt(struct launch_bill *bill, struct sm_attempt *a)
{
	struct sm *sm = a->sm;
	struct sm_estimate sum;
	double since_s = sm_bill_since(a);

	if (a->state >= SM_DRAIN) {
		bill->most = bill->least = a->exit.cost;
		bill->trains = false;
		return !a->lost && a->exit.priced;
	}
	/*
	 * For a job of an earlier server nothing is known before its
	 * description.
	 */
	if (a->state == SM_ADOPT && !a->metered)
		return false;
	overdue(a, since_s);
	sm_bill_estimate(&sum, &a->meter, sm->set, &sm->times, a->plan.spot,
	    since_s, (double)sm_ms(sm, 2 * SM_LIST_S) / 1000);
	bill->most = a->plan.price * sum.most_s / 3600;
	bill->least = a->plan.price * sum.least_s / 3600;
	bill->trains = sum.trains;
	bill->recheck_ms = is_paid(a->meter.phase) ? sm_ms(sm, SM_LIST_S) : 0;
	return isfinite(bill->most);
}

bool
sm_bill(void *ctx, int64_t trial, int attempt, struct launch_bill *bill)
{
	struct sm *sm = ctx;
	struct sm_attempt *a = trial > 0 ? sm_find(sm, trial, attempt) : NULL;

	*bill = (struct launch_bill){ .trains = true };
	if (a != NULL)
		return bill_attempt(bill, a);
	if (trial > 0)
		return false;
	bill->most = sm_plan_worst_cost(sm->set, &sm->times);
	return isfinite(bill->most);
}

double
sm_plan_worst_cost(const struct sm_settings *s, const struct launch_times *seen)
{
	static const struct launch_times nothing;
	struct sm_bill_meter fresh = { .phase = SM_PHASE_WAIT };
	struct sm_estimate sum;
	double price = s->n_groups > 0 ? sm_groups_price(s) : 0;
	size_t i;

	for (i = 0; i < s->n_types; i++) {
		if (isnan(s->types[i].price))
			return NAN;
		price = fmax(price, s->types[i].price * s->count);
	}
	sm_bill_estimate(
	    &sum, &fresh, s, seen != NULL ? seen : &nothing, s->spot, 0, 0);
	return price * sum.most_s / 3600;
}
