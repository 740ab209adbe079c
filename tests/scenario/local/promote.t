#!/bin/sh
# Trials paused by asha: they write checkpoints, wait without a slot through
# restarts of the server, and are resumed when later results allow it; those
# never resumed are stopped at the end.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

# One after the other: 1 and 3 go on, 2, 4, 5 and 6 are paused at step 1; 6
# lifts 4, which is paused again at step 2.
make_study() { # name saves
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "choice",
      "values": [5, 7, 3, 6, 8, 9], "ordered": true } },
  "strategy": "grid",
  "stopping": { "rule": "asha", "min_resource": 1, "reduction_factor": 2,
      "promote": true },
  "enqueue": [ { "x": 5 }, { "x": 7 }, { "x": 3 }, { "x": 6 }, { "x": 8 },
      { "x": 9 } ],
  "trial": { "command": ["perl", "trial.pl", "{x}", "$2"], "max_steps": 6,
      "max_run": "50s", "retries": 0 },
  "limits": { "trials": 6, "parallel": 1 } }
END
}

# Who is to be paused stays where it is until it is told.
cat >trial.pl <<'E2'
$| = 1;
my ($x, $saves) = @ARGV;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/step";
my $first = 1;
if (open F, $saved) { $first = <F> + 1; close F }
my %hold = ("7 1" => 1, "6 1" => 1, "8 1" => 1, "9 1" => 1, "6 2" => 2);
my $hold = $hold{"$x $ENV{HPOTUNE_ATTEMPT}"} || 0;
if ($x == 9) {
	open F, ">here"; close F;
	select(undef, undef, undef, 0.02) until -e "gate" || $told;
}
for my $step ($first .. 6) {
	print "hpotune: step=$step loss=$x\n";
	while ($step == $hold) {
		select(undef, undef, undef, 0.02);
		next unless $told;
		if ($saves) { open F, ">$saved"; print F $step; close F }
		exit 0;
	}
}
E2

make_study one 1
server one.json
ok 'three are paused before the sixth' retry sh -c 'test -e here'
is "$(sql one.db "SELECT trial, step, state, attempts, why FROM trials
    WHERE state = 'waiting'")" \
    '2|1|waiting|1|paused at step 1: 7 is above 5, the last of the best 1 among it and 1 other at rung 1
4|1|waiting|1|paused at step 1: 6 is above 5, the last of the best 2 among it and 3 others at rung 1
5|1|waiting|1|paused at step 1: 8 is above 5, the last of the best 2 among it and 4 others at rung 1' \
    'the store has the trial and the reason'
is "$(sql one.db "SELECT trial, end_class FROM attempts WHERE trial IN
    (2, 4, 5)")" '2|stopped
4|stopped
5|stopped' 'their attempts were stopped'
is "$(cat one.d/trials/[245]/checkpoint/step)" '111' 'with checkpoints'
like "$("$HPOTUNE" status one.json)" '^ *3 trials are paused by the rule' \
    'status counts them'
like "$("$HPOTUNE" status --json one.json)" '"paused":3' 'as JSON, too'
kill -9 $server
reap $server 2>/dev/null

is "$("$HPOTUNE" stop one.json 2 2>&1)" 'trial 2 is cancelled' \
    'a paused trial is stopped while no server runs'
server one.json
# A stop that comes before the server would be carried out without it.
retry sh -c '"$HPOTUNE" status --json one.json | grep -q "\"server\":true"'
ok 'the next server has them' retry sh -c \
    '"$HPOTUNE" stop one.json 5 >stop.out 2>&1'
is "$(cat stop.out)" 'trial 5 is cancelled' 'and stops one when asked'
is "$("$HPOTUNE" stop one.json 5 2>&1)" \
    'hpotune: trial 5 has ended already: cancelled' 'once'
: >gate
reap $server
is $? 0 'the study ends'
is "$(sql one.db 'SELECT trial, state, step, attempts FROM trials')" \
    '1|completed|6|1
2|cancelled|1|1
3|completed|6|1
4|stopped|2|2
5|cancelled|1|1
6|stopped|1|1' 'the sixth lifted the fourth, which went on'
is "$(sql one.db "SELECT trial, step, verdict, value, threshold, pool FROM stops
    WHERE trial IN (4, 6) ORDER BY trial, step, time")" '4|1|pause|6.0|5.0|3
4|1|resume|6.0|6.0|5
4|2|pause|6.0|3.0|2
6|1|pause|9.0|6.0|5' 'by these numbers'
is "$(sql one.db 'SELECT why FROM trials WHERE trial = 4')" \
    'paused at step 2 and never resumed: 6 is above 3, the last of the best 1 among it and 2 others at rung 2' \
    'it states what became of it'
is "$(sql one.db 'SELECT attempt, resumed_step FROM attempts WHERE trial = 4')" \
    '1|
2|2' 'it went on from its checkpoint'
is "$(sql one.db 'SELECT count(*), count(DISTINCT step) FROM metrics
    WHERE trial = 4')" '2|2' 'and repeated nothing'
is "$(sql one.db 'SELECT sum(failures) FROM t_trial')" 0 'no retry was used up'
is "$(sql one.db 'SELECT steps_run, steps_skipped FROM savings')" '17|9' \
    'steps not run are saved'
is "$(sql one.db "SELECT count(*) FROM events WHERE trial = 4 AND text LIKE
    'it is resumed: 6 is among the best 3 of it and 5 others%'")" 1 \
    'an event reports it'
like "$("$HPOTUNE" show one.json 4)" ' resume ' 'show has it'
like "$("$HPOTUNE" replay one.db --rule \
    '{ "rule": "asha", "promote": true, "min_resource": 1 }')" asha \
    'replay reads it'

# Without checkpoints it begins anew, and what it repeats replaces.
rm here
make_study two 0
ok 'a program without checkpoints' "$HPOTUNE" start --quiet two.json
is "$(sql two.db 'SELECT trial, state, step, attempts FROM trials')" \
    '1|completed|6|1
2|stopped|1|1
3|completed|6|1
4|stopped|2|2
5|stopped|1|1
6|stopped|1|1' 'comes to the same'
is "$(sql two.db 'SELECT attempt, resumed_step FROM attempts WHERE trial = 4')" \
    '1|
2|1' 'from the beginning'
is "$(sql two.db 'SELECT step, value FROM curves WHERE trial = 4')" '1|6.0
2|6.0' 'with one value for each step'

# The limit ends those who are paused, too.
make_study three 1
sed 's/"parallel": 1/"parallel": 1, "no_improvement": 1/' three.json >t.json
mv t.json three.json
ok 'a study that ends early' "$HPOTUNE" start --quiet three.json
is "$(sql three.db "SELECT count(*) FROM trials WHERE state = 'waiting'")" 0 \
    'leaves no trial waiting'

done_testing
