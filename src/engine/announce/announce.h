/*
 * What a study announces to the world outside: notices to channels, programs of
 * the user (hooks).  Its users say what has happened; nothing here changes the
 * study.
 */

#ifndef HPOTUNE_ANNOUNCE_H
#define HPOTUNE_ANNOUNCE_H

#include <stdint.h>

#include "src/base/log.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

struct loop;

/* All pointers are borrowed, and stay until what was made with them is freed. */
struct announce_env {
	struct loop *loop;
	const struct study *study;
	struct store *store;
	const char *db; /* path of NAME.db */
	const char *state_dir; /* NAME.d, absolute */
	/* An event of the study, to be recorded; area is static text. */
	void (*event)(
	    void *arg, enum log_level, const char *area, const char *);
	void (*wake_in)(void *arg, int64_t ms); /* a turn is wanted by then */
	void *arg;
};

/* How the study is. */
struct announce_facts {
	enum study_state state;
	const char *why; /* one clause */
	int64_t time_us; /* wall time */
	int64_t elapsed_ms; /* of all servers */
	int64_t trials, failed;
	int64_t best; /* number of the best trial; 0 = none */
};

#endif /* HPOTUNE_ANNOUNCE_H */
