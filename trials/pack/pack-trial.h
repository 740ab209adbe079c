/*
 * A packed trial as backends see it: the words of the commands of hpotune-pack,
 * and the end of the trial.
 */

#ifndef HPOTUNE_PACK_TRIAL_H
#define HPOTUNE_PACK_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_exit;
struct strv;
struct study_trial;

enum { PACK_TRIAL_KEY = 17 }; /* bytes of a key with its end */

/*
 * The key that distinguishes programs: 16 hex digits, a digest of the command,
 * its folder, its environment and the number of its trials.
 */
void pack_trial_key(char key[PACK_TRIAL_KEY], const struct study_trial *);
/*
 * Whether NAME=VALUE, or NAME, is a variable of one trial: a program of many has
 * none of them.
 */
bool pack_trial_variable(const char *word);
/*
 * Append the words of "hpotune-pack serve" between dir=… and the command.  The
 * attempt is the one for which it is started.
 */
void pack_trial_serve_words(struct strv *, const struct study_trial *,
    const char *key, int64_t trial, int attempt);
/*
 * Fill in the end of an attempt from the note that its "hpotune-pack join" has
 * left in the folder of the attempt; without a note it stays as it is.
 */
void pack_trial_end(const char *attempt_dir, struct launch_exit *);
/* Whether that note says that its program was lost, which is not its fault. */
bool pack_trial_lost(const char *attempt_dir);

#endif /* HPOTUNE_PACK_TRIAL_H */
