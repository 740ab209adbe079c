/* A study on launchers of nothing, on a virtual clock. */

#ifndef HPOTUNE_FAKE_STUDY_H
#define HPOTUNE_FAKE_STUDY_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct study;
struct tuner;

struct far_study {
	char dir[64], db[96], state_dir[96];
	struct study *study;
	struct loop *loop;
	struct tuner *tuner; /* NULL while no server is up */
	bool done; /* the last turn left nothing to do */
	bool good; /* what the last ask answered */
	char text[256];
};

/* Members of study.json beside its name, its objective m, max_steps and x. */
void far_study_open(struct far_study *, const char *members);
void far_study_close(struct far_study *);
/* Read study.json anew from these members. */
void far_study_change(struct far_study *, const char *members);
/* A server comes and has its first turn; or goes. */
void far_server_up(struct far_study *);
void far_server_down(struct far_study *);
/* Let virtual time pass, in turns. */
void far_run(struct far_study *, int64_t ms);
/* One number, or one text (static), out of the database. */
double far_number(struct far_study *, const char *sql);
const char *far_text(struct far_study *, const char *sql);
/* What the user asks, answered within a turn. */
void far_ask(struct far_study *, int ask, int64_t trial);

#endif /* HPOTUNE_FAKE_STUDY_H */
