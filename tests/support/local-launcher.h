/*
 * A real loop and the local launcher under it, for tests: start attempts of
 * small shell scripts, wait for what they do, look at what was heard.
 */

#ifndef TESTS_LOCAL_RIG_H
#define TESTS_LOCAL_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/options.h"
#include "src/model/study.h"
#include "trials/launcher.h"

struct json_doc;

enum { RIG_TRIALS = 64 };

/* What was heard of one trial. */
struct rig_trial {
	int ups, exits, losts, reads, notes;
	int64_t pid;
	char place[128];
	int reports;
	char first[64], last[64]; /* "name step value" */
	double sum;
	struct launch_cursor cursor;
	struct launch_exit exit;
	char lost[128];
	int usages;
	struct launch_usage usage;
	struct buf note;
};

struct rig {
	char dir[64]; /* temporary, with NAME.d in it */
	char *state_dir;
	struct loop *loop;
	struct loop_timer *deadline;
	void *ctx;
	struct study_trial settings;
	struct json_doc *doc; /* the options are of it */
	struct option_value *options;
	int64_t parallel;
	char *const *env; /* of every spec */
	struct rig_trial trial[RIG_TRIALS];
	int attempt; /* of every spec, 1 */
	int slot; /* likewise, 0 */
	bool late; /* the deadline passed */
	bool deaf; /* do not collect, for a moment */
	int turns;
	int gpus, slots; /* events of those kinds */
	bool (*done)(struct rig *, int64_t);
	int64_t arg;
};

/* block: the backend's options as JSON, or NULL. */
void rig_open(struct rig *, const char *block);
/* Forget all, remove the directory. */
void rig_close(struct rig *);
/* As a server that dies and comes back; what was heard stays. */
void rig_restart(struct rig *);
/* Only the launcher's half of that. */
int rig_launcher_open(struct rig *, struct err *);

/* The attempt's spec; argv is borrowed. */
struct launch_spec rig_spec(struct rig *, int64_t trial, char *const *argv);
const char *rig_uuid(int64_t trial, int attempt);
/* Start sh -c script: 0 or -1. */
int rig_sh(struct rig *, int64_t trial, const char *script);
enum launch_look rig_look(struct rig *, int64_t trial, struct err *);

/* Run the loop until done; false when that took more than 30 seconds. */
bool rig_until(struct rig *, bool (*done)(struct rig *, int64_t), int64_t);
bool rig_over(struct rig *, int64_t trial); /* exit or lost */
bool rig_is_up(struct rig *, int64_t trial);
bool rig_reported(struct rig *, int64_t trial);
/* Wait, outside the loop, until a path exists. */
bool rig_file(const char *path);
/* A file of the attempt's directory ("" = itself); static text. */
const char *rig_path(struct rig *, int64_t trial, const char *name);
/* Its whole text, or NULL; the caller frees it. */
char *rig_text(const char *path);
/* How many processes carry this attempt's mark. */
int rig_alive(int64_t trial, int attempt);

#endif /* TESTS_LOCAL_RIG_H */
