/*
 * The judge: compares the true history, as written by the trials and the
 * killers of their supervisors, with the store.
 */

#ifndef HPOTUNE_LEDGER_H
#define HPOTUNE_LEDGER_H

struct harness;

struct verdict {
	int trials, attempts, reports;
	int lost; /* attempts that ended as lost */
	int shim_kills;
	int promises; /* to a user who asked for something */
	int told; /* trials that another program ran */
	int hooks; /* that were run */
	int kept; /* checkpoints that are there at the end */
	int verdicts; /* on proposals */
	/* Faults: */
	int twice; /* attempts that started more than once */
	int forgotten; /* reports that were written and are not in the store */
	int doubled; /* reports that are in the store twice */
	int invented; /* rows of the store that nothing stands behind */
	int false_lost; /* lost, though nobody killed the supervisor */
	int broken; /* promises that were not kept */
	int open; /* rows that are not over, trials too few or too many */
	int orphans; /* processes still alive */
	int unkept; /* checkpoints that must be there and are not, or too many */
};

/*
 * Judge a study that has ended, with limits.trials = trials.  keep: so many
 * checkpoints are left, that of the best trial among them; -1 = all of them.
 * Violations are printed as comments.
 */
void
ledger_judge(struct verdict *, const struct harness *, int trials, int keep);
/* All that must not be, added up. */
int ledger_faults(const struct verdict *);
/* Add one to another, for several rounds. */
void ledger_add(struct verdict *, const struct verdict *);

#endif /* HPOTUNE_LEDGER_H */
