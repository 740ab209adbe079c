/*
 * A real loop and the local backend on it, for tests: start attempts of small
 * shell scripts, wait for events, examine them.
 */

#ifndef HPOTUNE_LOCAL_BACKEND_H
#define HPOTUNE_LOCAL_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/backend.h"

struct json_doc;

enum { LOCAL_BACKEND_TRIALS = 64 };

/* Events of one trial. */
struct local_rig_trial {
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
	struct gpu_usage usage;
	struct buf note;
};

struct local_backend {
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
	struct local_rig_trial trial[LOCAL_BACKEND_TRIALS];
	int attempt; /* of every spec, 1 */
	int slot; /* likewise, 0 */
	bool late; /* the deadline passed */
	bool deaf; /* do not collect for now */
	int turns;
	int gpus, slots; /* events of those kinds */
	bool (*done)(struct local_backend *, int64_t);
	int64_t arg;
};

/* block: the backend's options as JSON, or NULL. */
void local_rig_open(struct local_backend *, const char *block);
/* Forget all, remove the directory. */
void local_rig_close(struct local_backend *);
/* Simulate the death and restart of a server; recorded events stay. */
void local_rig_restart(struct local_backend *);
/* Only the backend's half of that. */
int local_rig_backend_open(struct local_backend *, struct err *);

/* The attempt's spec; argv is borrowed. */
struct launch_spec
local_rig_spec(struct local_backend *, int64_t trial, char *const *argv);
const char *local_rig_uuid(int64_t trial, int attempt);
/* Start sh -c script: 0 or -1. */
int local_rig_sh(struct local_backend *, int64_t trial, const char *script);
enum launch_adoption
local_rig_look(struct local_backend *, int64_t trial, struct err *);

/* Run the loop until done; false when that took more than 30 seconds. */
bool local_rig_until(struct local_backend *,
    bool (*done)(struct local_backend *, int64_t), int64_t);
bool local_rig_over(struct local_backend *, int64_t trial); /* exit or lost */
bool local_rig_is_up(struct local_backend *, int64_t trial);
bool local_rig_reported(struct local_backend *, int64_t trial);
/* Wait, outside the loop, until a path exists. */
bool local_rig_file(const char *path);
/* A file of the attempt's directory ("" = itself); static text. */
const char *
local_rig_path(struct local_backend *, int64_t trial, const char *name);
/* The whole text of a file, or NULL; the caller frees it. */
char *local_rig_text(const char *path);
/* How many processes have this attempt's marker. */
int local_rig_alive(int64_t trial, int attempt);
/* The same without supervisors, which may still write to the disk at the end. */
int local_rig_left(int64_t trial, int attempt);

#endif /* HPOTUNE_LOCAL_BACKEND_H */
