#!/bin/sh
# check says which preset of stopping rules may suit a study better than the
# default, by max_steps and by the presence of a schedule.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

advice() { # max_steps parameter [stopping]: lines below that of the rule
	cat >study.json <<END
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "$2": { "type": "int", "min": 10, "max": 90 } },
  ${3:+"stopping": "$3",} "trial": { "command": ["true", "{params}"]$1 },
  "limits": { "trials": 9 } }
END
	"$HPOTUNE" check study.json | sed -n '/^stopping/,/^backend/p' |
	    grep -E '^ +(short|careful|trial\.max_steps)'
}
short='           short saves more where curves cross little'
careful='           careful loses fewer good trials where schedules fall late'
all='           trial.max_steps is not known: half of all trials may run to their ends'

is "$(advice ', "max_steps": 100' n)" "$short" 'a hundred steps'
is "$(advice ', "max_steps": "n"' n)" "$short" \
    'trials of 10 to 90 steps'
is "$(advice ', "max_steps": 101' n)" '' 'more steps'
is "$(advice ', "max_steps": 50' lr_scheduler)" "$careful" \
    'a schedule'
is "$(advice ', "max_steps": 5000' warmup_steps)" "$careful" \
    'or its warm-up, of a long training'
is "$(advice '' n)" "$all" 'steps that nobody knows'
is "$(advice ', "max_steps": 50' n none)" '' 'no rule'
is "$(advice ', "max_steps": 50' n careful)" '' 'a rule of the user'
done_testing
