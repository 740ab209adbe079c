#!/bin/sh
# Rules on other metrics and by seconds: what they compare, how the decision is
# explained, and that a server killed in between decides the same.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

# The validation loss of the second trial rises from step 4 on, while its
# training loss falls; accuracy rises all the time.  Before its seventh step it
# waits for the gate.
cat >over.pl <<'E2'
$| = 1;
my $over = $ENV{HPOTUNE_TRIAL} == 2;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
for my $step (1 .. 12) {
	while ($over && $step == 7 && !-e "gate") {
		select(undef, undef, undef, 0.02);
	}
	my $val = $over && $step > 3 ? $step / 8 : 2 - $step / 8;
	printf "hpotune: step=%d train_loss=%g acc=%g val_loss=%g\n", $step,
	    2 - $step / 8, $step / 16, $val;
	for (my $i = 0; $over && $step == 8 && $i < 5000; $i++) {
		select(undef, undef, undef, 0.02);
		exit 0 if $told;
	}
}
E2
cat >over.json <<'E2'
{ "study": "over",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": [ "median",
      { "rule": "overfit", "metric": "val_loss", "goal": "minimize",
        "against": "train_loss", "steps": 3, "second_look": 0 } ],
  "trial": { "command": ["perl", "over.pl"], "max_steps": 12,
      "grace": "10s" },
  "limits": { "trials": 2, "parallel": 2 } }
E2

server -q over.json
retry sql_is over.db \
    'SELECT max(step) FROM curves WHERE trial = 2' 6
kill -9 $server
reap $server 2>/dev/null
touch gate
ok 'the next server goes on' "$HPOTUNE" start -q over.json
is "$(sql over.db 'SELECT trial, step, rule, metric, unit, at, value,
    round(threshold, 3), verdict FROM stops')" \
    '2|7|overfit|val_loss|step|7|0.875|0.5|stop' \
    'it stops the trial whose val_loss rises while train_loss falls'
is "$(sql over.db 'SELECT why FROM stops')" \
    'val_loss: 0.875 after 0.5 at best, worse over 3 reports in which train_loss goes from 1.375 to 1.125 at step 7' \
    'with both metrics in the reason'
like "$("$HPOTUNE" show over.json 2)" 'overfit.*val_loss: 0.875 after 0.5' \
    'show explains it'
is "$(sql over.db 'SELECT state, why LIKE "val_loss: %" FROM trials
    WHERE trial = 2')" 'stopped|1' 'and the trial has the reason'
is "$(sql over.db 'SELECT state FROM trials WHERE trial = 1')" completed \
    'the other one completes'
is "$(sql over.db 'SELECT count(*) FROM t_spent')" 0 \
    'what a trial has used up is recorded only for rules that read it'

# Two trials report until the bad one is stopped.  That one begins in the place of
# a third, a second after them, so that they have reached each of its seconds.
cat >pace.pl <<'E2'
$| = 1;
my $trial = $ENV{HPOTUNE_TRIAL};
my $bad = $trial == 4;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
my $step = 0;
while (!$told && !-e "done" && $step < ($trial == 3 ? 7 : 500)) {
	$step++;
	printf "hpotune: step=%d acc=%g\n", $step, $bad ? 0.25 : 0.5;
	select(undef, undef, undef, 0.2);
}
open F, ">done" if $bad;
E2
cat >pace.json <<'E2'
{ "study": "pace",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "by": "seconds", "warmup_steps": 1,
      "min_trials": 2, "second_look": 0 },
  "trial": { "command": ["perl", "pace.pl"], "grace": "10s" },
  "limits": { "trials": 4, "parallel": 3 } }
E2
ok 'a rule by seconds' "$HPOTUNE" start -q pace.json
is "$(sql pace.db "SELECT trial, rule, metric, unit, value, threshold, pool > 1
    FROM stops WHERE verdict = 'stop'")" '4|median|acc|second|0.25|0.5|1' \
    'it compares at the same second'
is "$(sql pace.db "SELECT at >= 1 AND at = CAST((SELECT seconds FROM t_spent
	JOIN t_metric USING (seq) WHERE trial = 4 AND step = stops.step)
	AS INTEGER) AND why LIKE '% of ' || pool || ' trials at second ' || at
    FROM stops WHERE verdict = 'stop'")" 1 \
    'which is recorded and in the reason'
is "$(sql pace.db 'SELECT count(*) FROM t_metric LEFT JOIN t_spent USING (seq)
    WHERE seconds IS NULL OR dollars <> 0')" 0 \
    'every report has its seconds, and no price'
rule='{ "rule": "median", "by": "seconds", "min_trials": 2, "warmup_steps": 1 }'
like "$("$HPOTUNE" replay --json pace.db --rule "$rule" 2>/dev/null |
    tr -d ' \n')" '"stopped":1,' 'replay applies it to a recorded study'
like "$("$HPOTUNE" replay --json over.db --rule '{ "rule": "patience",
    "steps": 3, "metric": "val_loss", "goal": "minimize" }' 2>/dev/null |
    tr -d ' \n')" '"stopped":1,' \
    'also a rule on a metric that no rule of the study reads'

# Wrong input: one error each.
wrong() { # rule message
	sed "s|\"stopping\": .*|\"stopping\": $1,|; /\"min_trials\"/d" \
	    pace.json >wrong.json
	fails "refused: $2" 2 quietly "$HPOTUNE" check wrong.json
	like "$(cat err)" "$2" 'with the reason'
}
wrong '{ "rule": "patience", "metric": "val_loss" }' \
    'whether val_loss is minimized or maximized is missing: expected "goal"'
wrong '{ "rule": "median", "by": "cost" }' \
    'stopping.by: the trials of the backend local have no price'
wrong '{ "rule": "median", "by": "hours" }' 'expected "steps", "seconds" or "cost"'
wrong '{ "rule": "median", "by": "seconds", "warmup_steps": "30%" }' \
    'this rule counts seconds: expected a number of them'
wrong '{ "rule": "overfit" }' 'expected "against", for example train_loss'
wrong '{ "rule": "median", "metric": "val loss", "goal": "minimize" }' \
    'the name of a metric is a letter or _'
wrong '{ "rule": "hyperband", "by": "seconds" }' 'stopping.by: unknown key'
wrong '{ "rule": "asha", "by": "seconds", "promote": true }' \
    'asha with promote compares the objective by steps: omit "metric" and "by"'
printf 'trial,step,value\n1,1,0.5\n1,2,0.4\n2,1,0.5\n2,2,0.25\n' >some.csv
fails 'curves by steps alone' 2 quietly "$HPOTUNE" replay some.csv --rule "$rule"
like "$(cat err)" 'these curves have one metric by steps' 'with the reason'

done_testing
