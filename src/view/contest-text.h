/* Whether the best setting is confirmed, in one line. */

#ifndef HPOTUNE_CONTEST_TEXT_H
#define HPOTUNE_CONTEST_TEXT_H

struct buf;
struct err;
struct store;

/* The contest of the best setting, as a row of view contests. */
#define CONTEST_TEXT_SQL                                                   \
	"SELECT * FROM contests WHERE trial IN (SELECT trial FROM trials " \
	"WHERE setting = (SELECT setting FROM settings WHERE rank = 1)) "  \
	"AND kind = 'confirm' "                                            \
	"ORDER BY contest DESC LIMIT 1"

/*
 * Append "confirmed: better than the baseline, trial 1, by at least …", or why
 * not, and what became of proposals; nothing when study.json has no confirm.
 */
int contest_text_put(struct buf *, struct store *, int digits, struct err *);

#endif /* HPOTUNE_CONTEST_TEXT_H */
