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

	ok(slurm_look_who(out, "hp-a", who, sizeof who) &&
		strcmp(who, "user 4294967") == 0,
	    "who has cancelled a job, by its name");
	ok(slurm_look_who(out, "hp-a-1", who, sizeof who) &&
		strcmp(who, "root") == 0,
	    "a user by name");
	ok(!slurm_look_who("hp-a|CANCELLED\nx\n", "hp-a", who, sizeof who),
	    "a state without a user");
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
		{ "sbatch: error: something new", SLURM_REFUSAL_UNCLEAR },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ok(slurm_program_refusal(rows[i].text) == rows[i].is, "%.70s",
		    rows[i].text);
}

int
main(void)
{
	test_rows();
	test_limits();
	test_better();
	test_who();
	test_refusals();
	return done_testing();
}
