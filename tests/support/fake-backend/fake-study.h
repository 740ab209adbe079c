/* A study on fake backends, on a virtual clock. */

#ifndef HPOTUNE_FAKE_STUDY_H
#define HPOTUNE_FAKE_STUDY_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct study;
struct tuner;

struct fake_study {
	char dir[64], db[96], state_dir[96];
	struct study *study;
	struct loop *loop;
	struct tuner *tuner; /* NULL while no server runs */
	bool done; /* the last turn left nothing to do */
	bool good; /* what the last ask answered */
	char text[256];
};

/* Members of study.json beside its name, its objective m, max_steps and x. */
void fake_study_open(struct fake_study *, const char *members);
void fake_study_close(struct fake_study *);
/* Read study.json anew from these members. */
void fake_study_change(struct fake_study *, const char *members);
/* A server comes and has its first turn; or goes. */
void fake_study_server_up(struct fake_study *);
void fake_study_server_down(struct fake_study *);
/* Let virtual time pass, in turns. */
void fake_study_run(struct fake_study *, int64_t ms);
/* One number, or one text (static), out of the database. */
double fake_study_number(struct fake_study *, const char *sql);
const char *fake_study_text(struct fake_study *, const char *sql);
/* What the user asks, answered within a turn. */
void fake_study_ask(struct fake_study *, int ask, int64_t trial);

#endif /* HPOTUNE_FAKE_STUDY_H */
