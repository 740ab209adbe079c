/*
 * What the files of the tuner share: tuner.c (open, close, turn), load.c (the
 * store read back), hear.c (events of launchers), judge.c (rules and ends),
 * limits.c, leave.c (when it is over), place.c (who runs next), act.c (what
 * follows a commit).
 */

#ifndef SERVER_TUNER_PARTS_H
#define SERVER_TUNER_PARTS_H

#include "src/base/err.h"
#include "src/server/plugs.h"
#include "src/server/slots.h"
#include "src/server/study-id.h"
#include "src/server/tuner.h"
#include "src/store/store.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/launcher.h"

struct history;
struct loop_timer;

#define RETRY_PAUSE_MOST_MS 64000 /* between two attempts of one trial */
#define RETRY_WAIT_MOST_MS 300000 /* when it waits for a machine */

/* A report without a step, by which it is known when it comes again. */
struct live_said {
	int64_t time_us;
	double value;
};

/* A metric of the running attempt. */
struct live_name {
	char *name;
	int64_t last_step; /* the greatest it has reported */
	/* By time; kept for launchers that may say things again. */
	struct live_said *said;
	size_t n_said, cap_said;
	bool said_read; /* what the store had is in it */
};

/* A trial that is not final. */
struct live {
	struct store_trial row;
	struct store_attempt
	    att; /* its newest attempt, when row.attempts > 0 */
	bool open; /* att has not ended */
	struct store_past past; /* its ended attempts */
	bool row_dirty, att_dirty;
	bool asked; /* the launcher was asked to stop it */
	bool unknown; /* look could not tell */
	bool said; /* … and the user has heard of it */
	bool said_names; /* that it reports too many metrics */
	bool said_reports[2]; /* … and too often */
	bool unsent; /* start must be called again */
	bool found; /* begun by an earlier server: its start may be late */
	char *start_error; /* start said no for good */
	int backend; /* index, when open */
	int64_t judged_step; /* -1 = none */
	int64_t reports[2]; /* of the attempt: [1] the objective, [0] others */
	struct live_name *names;
	size_t n_names;
	size_t next_name; /* most likely: reports repeat their order */
};

struct backend {
	const struct launcher *launcher;
	void *ctx;
	struct slots slots;
	double worst_cost; /* dollars of one attempt; 0 = it is free */
};

enum act_kind { ACT_START, ACT_STOP, ACT_KILL };

/* What is done after the commit. */
struct act {
	enum act_kind kind;
	int64_t trial;
};

struct request {
	enum tuner_ask ask;
	int64_t trial;
	char *params;
	tuner_reply *reply;
	void *arg;
	bool good;
	char text[192];
};

/* A step that anybody reported. */
struct median_step {
	int64_t step;
	bool old; /* its row in medians is */
};

struct tuner {
	struct tuner_env env;
	const struct study *study;
	struct store *store;
	struct store_study row;
	char study_id[STUDY_ID];
	struct plugs plugs;
	struct history *history;
	struct stopper_set *rules;
	const struct stopper *median; /* for the view medians */
	void *median_state; /* NULL when the study's rule keeps them */
	struct option_value *median_options;

	struct backend *backends;
	int n_backends;
	struct live **live;
	size_t n_live;
	struct live *last_found;

	int64_t n_trials; /* rows */
	int64_t n_failed;
	int64_t n_enqueued; /* rows that no strategy suggested */
	int64_t since_better; /* finished in a row without a better one */
	double best_loss; /* NaN = none */
	int64_t best_trial;

	struct act *acts;
	size_t n_acts;
	struct request *requests;
	size_t n_requests;
	size_t n_served; /* of them, in this turn */
	struct median_step *median_steps; /* ascending */
	size_t n_median_steps, cap_median_steps;
	size_t median_next; /* where the next flush goes on */

	struct loop_timer *wake; /* retries, limits, a locked store */
	struct loop_timer *flush; /* medians and elapsed time */
	int64_t opened_ms; /* loop time */
	int64_t elapsed_ms; /* of earlier servers */
	int64_t turn_us; /* wall time of this turn */
	int64_t busy_since_ms; /* the store is locked; -1 = no */
	int64_t wake_ms; /* loop time at which wake is due */
	bool flush_due;
	bool tend_log; /* after the commit of this turn */
	bool log_long; /* said so */
	bool cost_said; /* that limits.cost keeps something from beginning */
	bool durable; /* this turn must be synced */
	bool paused;
	bool held; /* place nothing for now */
	bool exhausted; /* the strategy has nothing left */
	bool shutdown, shutdown_now;
	bool over; /* a limit or the target ended it */
	bool failed;
	bool store_failed; /* err below holds why */
	struct err err;
	char why[256];
	char last_bad[200]; /* what drained a slot last */
	char trouble[256];
};

/* tuner.c */
int64_t tuner_elapsed_ms(const struct tuner *);
/* Remember that the store said no: the turn will be undone. */
void tuner_break(struct tuner *, const struct err *);
void
tuner_event(struct tuner *, const char *level, const char *area, int64_t trial,
    int attempt, const char *, ...) __attribute__((format(printf, 6, 7)));
/* Wake up for a turn in ms at the latest. */
void tuner_wake_in(struct tuner *, int64_t ms);
/* Nobody can tell what became of an attempt: say so once, ask again soon. */
void tuner_in_doubt(struct tuner *, struct live *, const char *what);

/* live.c */
struct live *live_find(struct tuner *, int64_t trial);
struct live *live_add(struct tuner *, struct store_trial *);
void live_remove(struct tuner *, struct live *);
void live_free(struct live *);
void live_forget_names(struct live *);
/* The one setter of a trial's state: checks the move, records and logs it. */
void
live_move(struct tuner *, struct live *, enum trial_event, const char *why);
void live_write(struct tuner *, struct live *);
/* Begin to stop a placed trial, or change who asked for it. */
void live_stop(struct tuner *, struct live *, enum stop_cause, const char *why);
/* How many trials hold a slot. */
size_t live_placed(const struct tuner *);
/*
 * A trial is over, now or long ago: the history, the rules and the counts hear
 * of it.
 */
void tuner_trial_ended(
    struct tuner *, int64_t trial, enum trial_state, double objective);
void live_finish(struct tuner *, struct live *);

/* load.c */
int tuner_load(struct tuner *, struct err *);
/* Look for every open attempt again. */
void tuner_look(struct tuner *);

/* hear.c */
launch_cb tuner_hear;

/* again.c */
/* Whether this report, whose step is given or not, is recorded already. */
bool tuner_said(struct tuner *, struct live *, struct live_name *,
    const struct launch_event *);
/* Remember one without a step. */
void tuner_say(struct live_name *, int64_t time_us, double value);

/* Attempts that never started: end them, or try again. */
void tuner_unstarted(struct tuner *);

/* judge.c */
void tuner_judge(struct tuner *, struct live *, int64_t step);
void tuner_attempt_ended(struct tuner *, struct live *,
    const struct launch_exit *, const char *lost_why);

/* limits.c */
void tuner_check_limits(struct tuner *);
/* When the last of so many settings that wait is tried: a clause. */
void
tuner_tell_queue(const struct tuner *, int64_t waiting, char *text, size_t n);

/* medians.c */
/* The trial has reported this step: some rows of the view are old now. */
void tuner_touch_medians(struct tuner *, int64_t trial, int64_t step);
/* The same for a report that was read back. */
void tuner_load_median(struct tuner *, int64_t step);
/* A pool for the view alone, where the study's own rule keeps none like it. */
int
tuner_open_medians(struct tuner *, const struct stopper_env *, struct err *);
void tuner_close_medians(struct tuner *);
/* What a report, and an end, changes in that pool. */
void tuner_observe_median(struct tuner *, int64_t trial, int64_t step);
void tuner_end_median(struct tuner *, int64_t trial);
/* Write what is old: all of it, or so much that a turn may take.  True: there
 * is more. */
bool tuner_flush_medians(struct tuner *, bool all);

/* place.c */
void tuner_place(struct tuner *);
bool tuner_may_place_new(const struct tuner *);

/* room.c */
enum { BACKENDS_MOST = 64 };
/* Where the next attempts may go: a free slot of each backend, or -1. */
struct room {
	int slot[BACKENDS_MOST];
	bool any;
};
/* limits.parallel, of all backends together; 0 = not given. */
int64_t room_parallel(const struct tuner *);
void room_find(struct tuner *, struct room *);
/* The backend for a trial that waits, or with NULL for a new one; or -1. */
int room_for(const struct tuner *, const struct room *, const struct live *);
/*
 * Whether limits.cost alone keeps from beginning all that waits and all that
 * might be new; then why says so.
 */
bool room_too_dear(struct tuner *, char *why, size_t n);

/* act.c */
struct trial_env;
int live_env(struct trial_env *, const struct tuner *, const struct live *,
    struct err *);
void act_add(struct tuner *, enum act_kind, int64_t trial);
void tuner_act(struct tuner *);
void tuner_serve_requests(struct tuner *);
void tuner_reply_all(struct tuner *, bool good);

#endif /* SERVER_TUNER_PARTS_H */
