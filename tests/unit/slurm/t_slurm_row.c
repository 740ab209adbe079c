/* Rows of squeue, and the classes of the errors of sbatch. */

#include "src/base/err.h"
#include "tests/support/tap.h"
#include "trials/slurm/slurm-internal.h"

static struct slurm_row
row(const char *text)
{
	struct slurm_row r;

	(void)slurm_row_read(&r, text, strlen(text));
	return r;
}

static void
test_rows(void)
{
	struct slurm_row r = row(
	    "12|RUNNING|None|n3|1-02:03:04|2026-11-23T01:02:03|hp-a-b-1.2-c");

	is_int(r.id, 12, "the id of a row");
	ok(strcmp(r.name, "hp-a-b-1.2-c") == 0, "its name");
	ok(strcmp(r.node, "n3") == 0, "its node");
	is_int(r.limit_s, 93784, "its limit");
	is_int(r.state, SLURM_STATE_RUNS, "its state");
	is_int(r.submitted_s, 1795395723, "when it was submitted");
	ok(!slurm_row_final(&r), "it has not ended");
	r = row("7|FAILED|JobLaunchFailure|n1|UNLIMITED|N/A|x");
	is_int(r.state, SLURM_STATE_LAUNCH, "a job that could not be launched");
	ok(slurm_row_final(&r) && r.limit_s == 0, "has ended, without a limit");
	r = row("7|FAILED|NonZeroExitCode|n1|10:00||x");
	ok(r.state == SLURM_STATE_FAILED && r.limit_s == 600,
	    "one that failed");
	r = row("7|PENDING|launch failed requeued held||10||a|b");
	ok(slurm_row_stuck(&r) && strcmp(r.name, "a|b") == 0,
	    "one that is stuck");
	r = row("7|PENDING|None||10||site-a|b|hp-a-b-1.2-c 0-1");
	ok(strcmp(r.name, "hp-a-b-1.2-c") == 0,
	    "one that was renamed has its name in its comment");
	r = row("7|PENDING|None||10||hp-a-b-1.2-c|project x|hp-d");
	ok(strcmp(r.name, "hp-a-b-1.2-c") == 0,
	    "one with another comment has its name");
	r = row("7|PENDING|None||10||a|hp");
	ok(strcmp(r.name, "a|hp") == 0, "one of others has theirs");
	r = row("7|NEWSTATE|None||10||x");
	ok(r.state == SLURM_STATE_OTHER && !slurm_row_final(&r),
	    "a state that is unknown is no end");
	ok(!slurm_row_read(&r, "squeue: error: x", 16), "an error is no row");
	ok(!slurm_row_read(&r, "x|RUNNING|a|b|c|d|e", 19),
	    "a row without a number is refused");
	ok(!slurm_row_read(&r, "", 0), "an empty row is refused");
}

static void
test_limits(void)
{
	is_int(slurm_row_limit("30:00"), 1800, "minutes and seconds");
	is_int(slurm_row_limit("2:00:00"), 7200, "hours");
	is_int(slurm_row_limit("3-00:00:00"), 259200, "days");
	is_int(slurm_row_limit("INVALID"), 0, "a word");
	is_int(slurm_row_limit(""), 0, "nothing");
}

static void
test_who(void)
{
	static const char out[] = "other|CANCELLED by 0\nhp-a|RUNNING\n"
				  "hp-a-1|CANCELLED by 0\n"
				  "hp-a|CANCELLED by 4294967\n";
	char who[SLURM_WHO];

	ok(slurm_cancelled_who(out, "hp-a", who, sizeof who) &&
		strcmp(who, "user 4294967") == 0,
	    "who has cancelled a job, by its name");
	ok(slurm_cancelled_who(out, "hp-a-1", who, sizeof who) &&
		strcmp(who, "root") == 0,
	    "a user by name");
	ok(!slurm_cancelled_who("hp-a|CANCELLED\nx\n", "hp-a", who, sizeof who),
	    "a state without a user");
}

static void
test_accounting(void)
{
	static const struct {
		const char *text, *who, *what;
		int state; /* -1: it says nothing of an end */
	} rows[] = {
		{ "12|CANCELLED by "
		  "0|None|n1|UNLIMITED|2026-11-27T17:24:44|hp-a",
		    "root", "a job that was cancelled", SLURM_STATE_CANCELLED },
		{ "12|CANCELLED|None|n1|UNLIMITED|2026-11-27T17:24:44|hp-a", "",
		    "one that a controller without its state has given up",
		    -1 },
		{ "12|TIMEOUT|None|n1|00:01:00|2026-11-27T17:24:44|hp-a", "",
		    "one that has reached its limit", SLURM_STATE_TIMEOUT },
		{ "12|NODE_FAIL|None|n1|00:01:00|2026-11-27T17:24:44|hp-a", "",
		    "one whose node has failed", SLURM_STATE_NODE },
		{ "12|RUNNING|None|n1|00:01:00|2026-11-27T17:24:44|hp-a", "",
		    "one that runs", -1 },
		{ "Slurm accounting storage is disabled", "", "no accounting",
		    -1 },
	};
	char who[SLURM_WHO];
	struct slurm_row r;
	bool is;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		is = slurm_accounting_row(
		    &r, rows[i].text, strlen(rows[i].text), who, sizeof who);
		ok(is == (rows[i].state >= 0) &&
			(!is || (int)r.state == rows[i].state) &&
			strcmp(who, rows[i].who) == 0,
		    "a row of sacct: %s", rows[i].what);
	}
	(void)slurm_accounting_row(&r,
	    "9|CANCELLED by 0|None|None assigned|1:00|2026-11-27T17:24:44|x",
	    62, who, sizeof who);
	ok(r.node[0] == '\0', "one that had no node");
}

static void
test_grace(void)
{
	static const char runs[] = "123                  N/A                  "
				   "          hp-a-b-1.2-c                ",
			  taken[] = "124                  2026-11-27T10:26:56  "
				    "          hp-a-b-2.1-c                ";
	char name[SLURM_NAME], renamed[600];
	bool is_taken;
	int64_t id;

	ok(slurm_grace_row(
	       runs, sizeof runs - 1, &id, &is_taken, name, sizeof name) &&
		id == 123 && !is_taken && strcmp(name, "hp-a-b-1.2-c") == 0,
	    "a job that nobody preempts");
	ok(slurm_grace_row(
	       taken, sizeof taken - 1, &id, &is_taken, name, sizeof name) &&
		id == 124 && is_taken && strcmp(name, "hp-a-b-2.1-c") == 0,
	    "one in its grace");
	(void)snprintf(renamed, sizeof renamed, "%-21s%-31s%-200s%-250s", "125",
	    "N/A", "site", "hp-a-b-3.1-c 0-1");
	ok(slurm_grace_row(
	       renamed, strlen(renamed), &id, &is_taken, name, sizeof name) &&
		id == 125 && strcmp(name, "hp-a-b-3.1-c") == 0,
	    "one that was renamed");
	ok(!slurm_grace_row(taken, 40, &id, &is_taken, name, sizeof name),
	    "a row that is cut off is none");
	ok(!slurm_grace_row("slurm_load_jobs error: Unable to contact slurm "
			    "controller (connect failure)",
	       70, &id, &is_taken, name, sizeof name),
	    "nor is an error");
}

static void
test_better(void)
{
	struct slurm_row old = row("5|COMPLETED|None|n1|1:00||x"),
			 runs = row("4|RUNNING|None|n1|1:00||x"),
			 waits = row("6|PENDING|None||1:00||x"), none = { 0 };

	ok(slurm_row_better(&runs, &old, 0), "one that runs matters most");
	ok(slurm_row_better(&runs, &waits, 0), "before one that waits");
	ok(slurm_row_better(&waits, &old, 0), "which is before an ended one");
	ok(slurm_row_better(&old, &runs, 5), "the claimed one before all");
	ok(slurm_row_better(&old, &none, 0), "any before none");
}

static void
test_refusals(void)
{
	static const struct {
		const char *text;
		enum slurm_refusal is;
	} rows[] = {
		{ "sbatch: error: Batch job submission failed: Socket timed "
		  "out on send/recv operation",
		    SLURM_REFUSAL_UNCLEAR },
		{ "sbatch: error: Batch job submission failed: Unable to "
		  "contact slurm controller (connect failure)",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: AssocMaxSubmitJobLimit, Batch "
		  "job submission failed: Job violates accounting/QOS policy "
		  "(job submit limit, user's size and/or time limits)",
		    SLURM_REFUSAL_QUOTA },
		{ "sbatch: error: Batch job submission failed: Invalid "
		  "partition name specified",
		    SLURM_REFUSAL_WRONG },
		{ "sbatch: error: Batch job submission failed: Requested node "
		  "configuration is not available",
		    SLURM_REFUSAL_NODES },
		{ "sbatch: error: something new", SLURM_REFUSAL_WRONG },
		{ "", SLURM_REFUSAL_UNCLEAR },
		{ "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are "
		  "mutually exclusive.",
		    SLURM_REFUSAL_WRONG },
		{ "sbatch: error: Batch job submission failed: Time limit "
		  "specification required, but not provided",
		    SLURM_REFUSAL_WRONG },
		{ "sbatch: fatal: Could not establish a configuration source",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Slurm job queue full, sleeping and retrying",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Batch job submission failed: Protocol "
		  "authentication error",
		    SLURM_REFUSAL_DOWN },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ok(slurm_program_refusal(rows[i].text) == rows[i].is, "%.70s",
		    rows[i].text);
}

/*
 * What newer releases say that 22.05 does not: rows of squeue with the format of
 * ours, and all that sbatch prints, in the words of their sources (errno and
 * job_state_string of 24.11 to 26.05, sbatch.c).
 */
static void
test_newer(void)
{
	static const struct {
		const char *row;
		enum slurm_state is;
		bool final;
	} rows[] = {
		{ "81|EXPEDITING|None||4:00:00|2026-08-20T10:11:12|hp-a-b-1.2-"
		  "c",
		    SLURM_STATE_WAITS, false },
		{ "81|PENDING|ReqNodeNotAvail, UnavailableNodes:n[1-4]|"
		  "|4:00:00|2026-08-20T10:11:12|hp-a-b-1.2-c",
		    SLURM_STATE_WAITS, false },
		{ "81|PENDING|Nodes required for job are DOWN, DRAINED or "
		  "reserved for jobs in higher priority partitions||4:00:00|"
		  "2026-08-20T10:11:12|hp-a-b-1.2-c",
		    SLURM_STATE_WAITS, false },
		{ "81|FAILED|RaisedSignal:9(Killed)|n1|365-00:00:00|"
		  "2026-08-20T10:11:12|hp-a-b-1.2-c",
		    SLURM_STATE_LAUNCH, true },
		{ "81|PENDING|ReqNodeNotAvail, May be reserved for other job||"
		  "UNLIMITED|2026-08-20T10:11:12|hp-a-b-1.2-c",
		    SLURM_STATE_WAITS, false },
		{ "81|RUNNING|None|n1|UNLIMITED|2026-08-20T10:11:12|"
		  "hp-a-b-1.2-c",
		    SLURM_STATE_RUNS, false },
		{ "81|STAGE_OUT|None|n1|1-00:00:00|2026-08-20T10:11:12|"
		  "hp-a-b-1.2-c",
		    SLURM_STATE_RUNS, false },
		{ "81|NODE_FAIL|NodeDown|n1|1-00:00:00|2026-08-20T10:11:12|"
		  "hp-a-b-1.2-c",
		    SLURM_STATE_NODE, true },
		{ "81|DEADLINE|DeadLine||1-00:00:00|2026-08-20T10:11:12|"
		  "hp-a-b-1.2-c",
		    SLURM_STATE_TIMEOUT, true },
		{ "81|?|None|n1|1-00:00:00|2026-08-20T10:11:12|hp-a-b-1.2-c",
		    SLURM_STATE_OTHER, false },
	};
	static const struct {
		const char *text;
		enum slurm_refusal is;
	} refusals[] = {
		{ "sbatch: error: Slurm job queue full, sleeping and retrying\n"
		  "sbatch: error: Batch job submission failed: MaxJobCount "
		  "limit reached\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: Job creation temporarily disabled, retrying\n"
		  "sbatch: error: Batch job submission failed: Requested nodes "
		  "are busy\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Batch job submission failed: Rate limit "
		  "exceeded, please retry later\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Batch job submission failed: Unable to "
		  "contact slurm controller (receive failure)\n",
		    SLURM_REFUSAL_UNCLEAR },
		{ "sbatch: error: Batch job submission failed: Unable to "
		  "contact slurm controller (connect failure)\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Batch job submission failed: Connection "
		  "timed out reading\n",
		    SLURM_REFUSAL_UNCLEAR },
		{ "sbatch: error: Batch job submission failed: Connection "
		  "timed out establishing\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: error: Batch job submission failed: Licenses "
		  "currently unavailable\n",
		    SLURM_REFUSAL_QUOTA },
		{ "sbatch: error: Batch job submission failed: Required node "
		  "not available (down, drained or reserved)\n",
		    SLURM_REFUSAL_NODES },
		{ "sbatch: error: Batch job submission failed: Required "
		  "partition not available (inactive or drain)\n",
		    SLURM_REFUSAL_NODES },
		{ "sbatch: error: Batch job submission failed: Required nodes "
		  "lack available resources\n",
		    SLURM_REFUSAL_NODES },
		{ "sbatch: error: Batch job submission failed: Insufficient "
		  "resources in topology unit\n",
		    SLURM_REFUSAL_NODES },
		{ "sbatch: error: Batch job submission failed: System "
		  "submissions disabled\n",
		    SLURM_REFUSAL_DOWN },
		{ "sbatch: fatal: --gpus-per-node and --gres=gpu are mutually "
		  "exclusive\n",
		    SLURM_REFUSAL_WRONG },
		{ "sbatch: error: Batch job submission failed: Requested node "
		  "count specification invalid\n",
		    SLURM_REFUSAL_WRONG },
		{ "sbatch: error: Batch job submission failed: User's group "
		  "not permitted to use this partition\n",
		    SLURM_REFUSAL_WRONG },
	};
	struct slurm_row r;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		r = row(rows[i].row);
		ok(r.id == 81 && r.state == rows[i].is &&
			slurm_row_final(&r) == rows[i].final &&
			strcmp(r.name, "hp-a-b-1.2-c") == 0,
		    "%.60s", rows[i].row);
	}
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		is_int(slurm_program_refusal(refusals[i].text), refusals[i].is,
		    refusals[i].text);
}

static void
test_words(void)
{
	char text[80];

	slurm_program_words("sbatch: error: no project: use --account\n"
			    "sbatch: error: Batch job submission failed: "
			    "Unspecified error\n",
	    text, sizeof text);
	is_str(text, "no project: use --account; Unspecified error",
	    "all lines of an answer");
	slurm_program_words("sbatch: unrecognized option '--nosuch=1'\n"
			    "Try \"sbatch --help\" for more information\n",
	    text, sizeof text);
	is_str(text, "unrecognized option '--nosuch=1'",
	    "without the hint at --help");
	slurm_program_words("\n \n", text, sizeof text);
	is_str(text, "", "empty lines");
	slurm_program_words("12345678901234567890\n", text, 10);
	is_str(text, "123456789", "what is too long is cut");
}

int
main(void)
{
	test_words();
	test_rows();
	test_limits();
	test_better();
	test_who();
	test_accounting();
	test_grace();
	test_refusals();
	test_newer();
	return done_testing();
}
