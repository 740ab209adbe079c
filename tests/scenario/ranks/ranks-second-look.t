#!/bin/sh
# A second look at a trial of several processes: all of them are stopped, and
# each goes on from its own checkpoint.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/second-look.sh"
need sqlite3 perl

look_program trial
look_study ranks '"command": ["./trial", "{from}", "{to}"],
    "launcher": "ranks", "processes": 3'
ok 'a study of trials of three processes' \
    quietly timeout 300 "$HPOTUNE" start -q ranks.json
look_done ranks
for rank in 0 1 2; do
	is "$(tr '\n' ' ' <ranks.d/trials/7/output/steps-$rank)" \
	    "$(seq -s ' ' 20) " "rank $rank has done each step once"
done

done_testing
