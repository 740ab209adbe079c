/*
 * The folder of a job that runs several trials: what its server and hpotune-node
 * write there.
 *
 *	job.sh		the script of the job (server)
 *	create		uuid=UUID, when everything else is there (server)
 *	begun		not empty: job.sh has begun (job.sh)
 *	claim, beat	as in the folder of an attempt (trials/shim/shim.h)
 *	up		a line "uuid=UUID job=ID host=NAME" (hpotune-node, when it
 *			has made its claim)
 *	stop		"stop": end when nothing runs any more (server)
 *	next/T.A	attempt A of trial T is to run: its uuid and its folder,
 *			a line each (server)
 *	taken/T.A	the same while it runs (moved there by hpotune-node)
 *	closing		hpotune-node takes no further trial: NODE_CLOSING_…
 *	warm		the files of a warm process (trials/warm/warm-process.h),
 *			and NODE_WARM_NOTES: what is to be noted of it, a line
 *			each (hpotune-node)
 *
 * The server makes begun, beat, up, stop, closing and notes as empty files: a file system
 * that remembers for a minute that a file is not there hides none of them.
 */

#ifndef HPOTUNE_NODE_H
#define HPOTUNE_NODE_H

#define NODE_NEXT "next"
#define NODE_TAKEN "taken"
#define NODE_UP_FILE "up"
#define NODE_CLOSING_FILE "closing"
#define NODE_CLOSING_DONE "done" /* idle, told so, or too little time is left */
#define NODE_CLOSING_WALL "wall" /* SIGTERM before the limit of the job */
#define NODE_CLOSING_PREEMPTED "preempted" /* the grace of a preemption */
#define NODE_CLOSING_TERM "term" /* SIGTERM for another reason */

/*
 * Packed trials (pack=1): before an attempt the script NODE_SERVE_FILE of its
 * folder is run, which becomes "hpotune-pack serve".  The folder of their
 * program, on a disk of the node, is in this variable of both scripts.
 */
#define NODE_SERVE_FILE "serve.sh"
#define NODE_PACK_PLACE "HPOTUNE_PACK_PLACE"

#define NODE_WARM "warm"
#define NODE_WARM_NOTES "notes"

enum { NODE_ENTRY = 48 }; /* bytes of TRIAL.ATTEMPT */

#endif /* HPOTUNE_NODE_H */
