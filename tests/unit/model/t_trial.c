/* Every pair of state and event follows the life cycle. */

#include "src/model/trial.h"
#include "tests/support/tap.h"

/* Rows: from; columns: place up stop complete fail retry stopped cancelled
 * reuse resume.
 * The first letter of the state it leads to (Waiting, Starting, Running,
 * stoPping, Completed, stOpped, Failed, cAncelled), '-' = refused. */
static const char *const want[TRIAL_STATES] = {
	[TRIAL_WAITING] = "S-----OAC-",
	[TRIAL_STARTING] = "-RPCFWOA--",
	[TRIAL_RUNNING] = "--PCFWOA--",
	[TRIAL_STOPPING] = "---CFWOA--",
	[TRIAL_COMPLETED] = "----------",
	[TRIAL_STOPPED] = "---------W",
	[TRIAL_FAILED] = "---------W",
	[TRIAL_CANCELLED] = "---------W",
};
static const char letters[] = "WSRPCOFA";

int
main(void)
{
	enum trial_state from, to, back;
	enum trial_event ev;
	enum end_class c, c2;
	char got;

	for (from = 0; from < TRIAL_STATES; from++) {
		for (ev = 0; ev < TRIAL_EVENTS; ev++) {
			got = trial_move(from, ev, &to) ? letters[to] : '-';
			ok(got == want[from][ev], "%s on %s: %c",
			    trial_state_name(from), trial_event_name(ev), got);
		}
		ok(trial_state_parse(trial_state_name(from), &back) &&
			back == from,
		    "%s reads back", trial_state_name(from));
		/* The last column: what had ended goes on. */
		ok(trial_state_final(from) ==
			(strspn(want[from], "-") >= TRIAL_EV_RESUME),
		    "%s is final when nothing but a second look or a retry "
		    "moves it",
		    trial_state_name(from));
	}
	for (c = 0; c < END_CLASSES; c++)
		ok(end_class_parse(end_class_name(c), &c2) && c2 == c,
		    "end class %s reads back", end_class_name(c));
	ok(!trial_state_parse("done", &to), "an unknown state is refused");
	is_int(end_class_retry(END_ERROR), RETRY_COUNTED, "errors count");
	is_int(end_class_retry(END_LOST), RETRY_FREE, "lost burns nothing");
	is_int(end_class_retry(END_OOM), RETRY_ALONE, "oom runs alone");
	is_int(end_class_retry(END_DIVERGED), RETRY_NEVER, "diverged is over");
	is_int(end_class_retry(END_NO_REPORT), RETRY_NEVER,
	    "no-report is not retried");
	return done_testing();
}
