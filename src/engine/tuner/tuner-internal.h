/*
 * The tuner's own struct: what its files share, and the structs that belong to
 * one of them.
 */

#ifndef HPOTUNE_TUNER_INTERNAL_H
#define HPOTUNE_TUNER_INTERNAL_H

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/engine/announce/announce.h"
#include "src/engine/attempts/place-blame.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/doubts/study-doubts.h"
#include "src/engine/gpu-need.h"
#include "src/engine/median-view.h"
#include "src/engine/replicates/contests.h"
#include "src/engine/replicates/judged.h"
#include "src/engine/replicates/replicates.h"
#include "src/engine/tuner/checkpoints.h"
#include "src/engine/tuner/converge.h"
#include "src/engine/tuner/effects.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/study-end.h"
#include "src/engine/tuner/tuner.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "trials/backend.h"

struct history;
struct hooks;
struct provenance;
struct loop_timer;
struct notices;

/* A backend of the study, open. */
struct backend {
	const struct backend_type *type;
	void *ctx;
	struct slots slots;
	double worst_cost; /* most dollars of one attempt; 0 = free */
	struct start_failures starts;
};

/* An event to be recorded in view events. */
struct pending_event {
	enum log_level level;
	const char *area; /* static text */
	char *text;
};

/* When a turn is due.  tuner.c writes it, and tuner_wake_in wake_ms. */
struct tuner_clock {
	struct loop_timer *wake; /* retries, limits, a locked store */
	struct loop_timer *flush; /* medians and elapsed time */
	int64_t opened_ms; /* loop time */
	int64_t elapsed_ms; /* of earlier servers */
	int64_t wake_ms; /* loop time at which wake is due */
	bool flush_due;
};

/* How the database is; tuner.c alone writes it. */
struct tuner_database {
	int64_t busy_since_ms; /* it is locked; -1 = no */
	char trouble[256];
	bool tend_log; /* after the commit of this turn */
	bool log_long; /* warned of it */
};

struct tuner {
	struct tuner_env env;
	const struct study *study;
	struct store *store;
	struct store_study row;
	char study_id[STUDY_ID];
	char *commit; /* hash of trial.source; NULL = none */
	struct plugins plugins;
	struct history *history;
	struct judged judged; /* the rules, and what they compare */
	struct backend *backends;
	int n_backends;
	int64_t n_trials; /* rows */
	struct notices *notices; /* or NULL */
	struct hooks *hooks; /* or NULL */
	struct provenance *provenance; /* or NULL */
	struct pending_event *notes;
	size_t n_notes;
	char refused[LAUNCH_WHY]; /* why a backend accepts nothing; "" = none */
	int64_t turn_us; /* wall time of this turn */
	bool durable; /* this turn must be synced */
	bool suggesting; /* the strategy is computing the next trial */
	bool paused; /* by the user */
	bool held; /* place nothing for now */
	bool gpus_new; /* view gpus has rows of this server */
	bool stale; /* a trial was forgotten: it is to be opened again */
	bool warned_patterns; /* patterns of trial.metrics were looked at */
	int64_t hangs_at_ms; /* when to look for trials that do not end */
	bool warned_hangs; /* warned: one does not end after its last step */
	bool warned_after_all; /* warned: one failed after its last step */
	bool warned_cost; /* warned: limits.cost prevents a start */

	/* Each belongs to one file. */
	struct live_set live;
	struct paused_set paused_set;
	struct second_looks looks;
	struct place_blame blame;
	struct outcomes outcomes;
	struct suggestions suggestions;
	struct gpu_need gpu_need;
	bool gpu_need_asked; /* whether a backend wants it */
	bool gpu_need_wanted;
	struct replicates replicates;
	struct contests contests;
	struct convergence convergence;
	struct median_view medians;
	struct effects effects;
	struct requests requests;
	struct study_end end;
	struct study_doubts doubts;
	struct checkpoints checkpoints;
	int64_t askers_due_ms; /* loop time at which askers are looked at */
	struct tuner_clock clock;
	struct tuner_database db;
};

int64_t tuner_elapsed_ms(const struct tuner *);
/* The best trial, or the first replicate of the best setting; 0 = none. */
int64_t tuner_best(const struct tuner *);
/* How the study is, with this reason. */
struct announce_facts tuner_facts(const struct tuner *, const char *why);
/* An event of the study, recorded in this turn; trial 0: of no trial. */
void
tuner_event(struct tuner *, enum log_level, const char *area, int64_t trial,
    int attempt, const char *, ...) __attribute__((format(printf, 6, 7)));
/* Do this to the open attempt after the commit of this turn. */
void tuner_effect(struct tuner *, enum effect_kind, const struct live_trial *);
/* Wake up for a turn in ms at the latest. */
void tuner_wake_in(struct tuner *, int64_t ms);

#endif /* HPOTUNE_TUNER_INTERNAL_H */
