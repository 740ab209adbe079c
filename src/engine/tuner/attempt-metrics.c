/*
 * Selects the reports of an attempt that are recorded: drops those of too many
 * metrics, too many reports, and duplicates.  The log of a remote trial is read
 * again after each restart: reports with a step are looked up in the database
 * by key; those without one are kept in memory, by time.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/engine/attempts/attempt-steps.h"
#include "src/engine/tuner/attempt-metrics.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"

/*
 * Metrics of one attempt, besides the objective; more are a mistake, for
 * example a number in the name, and would fill the database.
 */
#define METRIC_NAMES_MAX 1024

/*
 * Reports of one attempt: of the objective, whose curve is held in memory, and
 * of all other metrics together.  No real training reaches them; a loop without
 * a pause would fill the disk.
 */
#define OBJECTIVE_REPORTS_MAX INT64_C(10000000)
#define OTHER_REPORTS_MAX INT64_C(100000000)

void
attempt_metrics_clear(struct attempt_metrics *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		free(m->list[i].name);
		free(m->list[i].seen);
		attempt_steps_free(m->list[i].places);
	}
	free(m->list);
	*m = (struct attempt_metrics){ 0 };
}

static struct attempt_metric *
attempt_metrics_add(
    struct attempt_metrics *m, const char *name, int64_t last_step)
{
	m->list = xreallocarray(m->list, m->n + 1, sizeof *m->list);
	m->list[m->n] = (struct attempt_metric){ .name = xstrdup(name),
		.last_step = last_step };
	return &m->list[m->n++];
}

void
attempt_metrics_restore(struct attempt_metrics *m, const char *name,
    int64_t last_step, int64_t reports, bool objective)
{
	(void)attempt_metrics_add(m, name, last_step);
	m->reports[objective] += reports;
}

int64_t
attempt_metrics_reports(const struct attempt_metrics *m)
{
	return m->reports[false] + m->reports[true];
}

int64_t
attempt_metrics_last_step(const struct attempt_metrics *m)
{
	int64_t step = 0;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->list[i].last_step > step)
			step = m->list[i].last_step;
	return step;
}

/* NULL: there is no metric of this name. */
static struct attempt_metric *
metric_find(struct attempt_metrics *m, const char *name)
{
	size_t i, k;

	for (k = 0; k < m->n; k++) {
		i = (m->next + k) % m->n;
		if (strcmp(m->list[i].name, name) == 0) {
			m->next = i + 1;
			return &m->list[i];
		}
	}
	return NULL;
}

/* The metric, added if new; NULL: there are too many already. */
static struct attempt_metric *
metric_get(struct tuner *t, struct live_trial *l, const char *name, bool aim)
{
	struct attempt_metrics *m = &l->metrics;
	struct attempt_metric *known = metric_find(m, name);

	if (known != NULL)
		return known;
	if (m->n < METRIC_NAMES_MAX || aim)
		return attempt_metrics_add(m, name, 0);
	if (!m->warned_names)
		tuner_event(t, LOG_LEVEL_WARN, "report", l->row.number,
		    l->att.attempt,
		    "it reports more than %d metrics: further metrics "
		    "are not recorded",
		    METRIC_NAMES_MAX);
	m->warned_names = true;
	return NULL;
}

/* Count one more report; false when the limit is reached. */
static bool
report_count(struct tuner *t, struct live_trial *l, bool objective)
{
	int64_t most = objective ? OBJECTIVE_REPORTS_MAX : OTHER_REPORTS_MAX;
	struct attempt_metrics *m = &l->metrics;

	if (m->reports[objective] < most) {
		m->reports[objective]++;
		return true;
	}
	if (!m->warned_reports[objective])
		tuner_event(t, LOG_LEVEL_WARN, "report", l->row.number,
		    l->att.attempt,
		    "it has reported %s%s %" PRId64
		    " times: further reports are not recorded",
		    objective ? "" : "metrics beside ", t->study->metric, most);
	m->warned_reports[objective] = true;
	return false;
}

static bool
same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Index of the first report that is not earlier than time_us. */
static size_t
seen_find(const struct attempt_metric *m, int64_t time_us)
{
	size_t at;

	SEARCH_FIRST(at, m->n_seen, m->seen[at].time_us < time_us);
	return at;
}

static void
seen_add(struct attempt_metric *m, int64_t time_us, double value)
{
	size_t i = seen_find(m, time_us);

	if (m->n_seen == m->cap_seen) {
		m->cap_seen = m->cap_seen < 16 ? 16 : m->cap_seen * 2;
		m->seen = xreallocarray(m->seen, m->cap_seen, sizeof *m->seen);
	}
	memmove(
	    m->seen + i + 1, m->seen + i, (m->n_seen - i) * sizeof *m->seen);
	m->seen[i] = (struct attempt_report){ time_us, value };
	m->n_seen++;
}

static int
on_seen_report(void *arg, int64_t time_us, double value)
{
	seen_add(arg, time_us, value);
	return 0;
}

/* Load what earlier servers recorded of this metric in this attempt. */
static bool
seen_read(struct tuner *t, const struct live_trial *l, struct attempt_metric *m)
{
	if (m->seen_read)
		return true;
	m->n_seen = 0;
	if (store_walk_reports(t->store, l->row.number, l->att.attempt, m->name,
		on_seen_report, m, NULL) != 0)
		return false;
	m->seen_read = true;
	return true;
}

/* Whether this report (with or without a step) is recorded already. */
static bool
report_known(struct tuner *t, struct live_trial *l, struct attempt_metric *m,
    const struct launch_event *ev, int64_t step)
{
	double value = ev->u.report.value;
	int64_t time_us = ev->u.report.time_us;
	size_t i;

	if (ev->u.report.has_step)
		return store_metric_exists(t->store, l->row.number,
			   l->att.attempt, m->name, step, value, time_us,
			   NULL) != 0;
	if (!seen_read(t, l, m))
		return true;
	for (i = seen_find(m, time_us);
	     i < m->n_seen && m->seen[i].time_us == time_us; i++)
		if (same_value(m->seen[i].value, value))
			return true;
	return false;
}

static struct attempt_steps_of
steps_of(
    struct tuner *t, const struct live_trial *l, const struct attempt_metric *m)
{
	return (struct attempt_steps_of){ .store = t->store,
		.trial = l->row.number,
		.attempt = l->att.attempt,
		.metric = m->name,
		.restored = m->last_step > 0 };
}

/* What is added to the steps of a library that begins again; an event says so. */
static int64_t
steps_offset(struct tuner *t, struct live_trial *l,
    const struct attempt_metric *m, const struct launch_event *ev)
{
	struct attempt_steps_of of = steps_of(t, l, m);
	struct attempt_metrics *all = &l->metrics;
	struct attempt_steps_again again;
	int64_t first = ev->u.report.first;

	if (all->offset_known)
		return all->offset;
	again = attempt_steps_begin(&of, ev);
	all->offset_known = true;
	all->offset = again.offset;
	if (again.near > 0)
		tuner_event(t, LOG_LEVEL_WARN, "report", l->row.number,
		    l->att.attempt,
		    "its steps begin at %" PRId64 " again, but its %s is near "
		    "that of step %" PRId64
		    " of an earlier attempt: they are counted from %" PRId64,
		    first, m->name, again.near, first + again.offset);
	return all->offset;
}

/* The step of a report that has none; -1: it is no report. */
static int64_t
step_make(struct tuner *t, const struct live_trial *l, struct attempt_metric *m,
    const struct launch_event *ev)
{
	struct attempt_steps_of of = steps_of(t, l, m);

	if (ev->u.report.place_name == NULL || !isfinite(ev->u.report.place))
		return m->last_step + 1;
	return attempt_steps_of_place(&m->places, &of, ev);
}

struct attempt_metric *
attempt_metrics_accept(struct tuner *t, struct live_trial *l,
    const struct launch_event *ev, bool aim, int64_t *step)
{
	struct attempt_metric *m = metric_get(t, l, ev->u.report.name, aim);
	bool objective = strcmp(ev->u.report.name, t->study->metric) == 0;

	if (m == NULL)
		return NULL;
	*step = ev->u.report.step;
	if (ev->u.report.restarts)
		*step += steps_offset(t, l, m, ev);
	if (ev->u.report.again &&
	    (ev->u.report.has_step || ev->u.report.time_us != 0) &&
	    report_known(t, l, m, ev, *step))
		return NULL;
	if (l->metrics.reports[false] + l->metrics.reports[true] == 0 &&
	    ev->u.report.time_us == 0)
		l->metrics.first_us = t->turn_us;
	if (!ev->u.report.has_step)
		*step = step_make(t, l, m, ev);
	if (*step < 0 || *step > TRIAL_STEP_MAX)
		return NULL;
	if (!report_count(t, l, objective))
		return NULL;
	if (*step > m->last_step)
		m->last_step = *step;
	return m;
}

bool
attempt_metrics_begins_again(
    struct attempt_metric *m, int64_t step, double value)
{
	bool was = m->again;

	if (!m->has_first) {
		m->has_first = true;
		m->first_step = step;
		m->first_value = value;
		return false;
	}
	m->again = step == m->first_step && m->last_step >= step + 2 &&
		   !same_value(value, m->first_value);
	return was && step > m->first_step && step <= m->last_step;
}

void
attempt_metrics_recorded(
    struct attempt_metric *m, const struct launch_event *ev)
{
	if (m->seen_read)
		seen_add(m, ev->u.report.time_us, ev->u.report.value);
}

/* Dollars a second of the backend it runs on; 0: it has no price. */
static double
attempt_rate(const struct tuner *t, const struct live_trial *l)
{
	const struct plugin_backend *b;
	double dollars;
	int64_t ms;

	if (l->external || l->backend < 0)
		return 0;
	b = &t->plugins.backends[l->backend];
	dollars = plugins_worst_cost(b, t->study);
	ms = plugins_worst_ms(b, t->study);
	return dollars > 0 && ms > 0 ? dollars * 1000 / (double)ms : 0;
}

struct stop_spent
attempt_metrics_spent(struct tuner *t, struct live_trial *l, int64_t time_us)
{
	struct attempt_metrics *m = &l->metrics;
	double seconds = 0;

	if (!m->past_read)
		m->past_read =
		    store_spent_past(t->store, l->row.number, &m->past.seconds,
			&m->past.dollars, NULL) == 0;
	if (l->att.started_us > 0 && time_us > l->att.started_us)
		seconds = (double)(time_us - l->att.started_us) / 1e6;
	m->spent.seconds = fmax(m->spent.seconds, m->past.seconds + seconds);
	m->spent.dollars = fmax(
	    m->spent.dollars, m->past.dollars + seconds * attempt_rate(t, l));
	return m->spent;
}
