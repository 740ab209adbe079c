#!/bin/sh
# Second looks while the server is killed again and again: the same trials are
# resumed, each once and within the budget, as without any kill.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

# A line from one loss to another in 20 steps, with a checkpoint after each.
# Those that begin at 9 or above wait at step 6, where the median stops them.  In
# its second look a trial kills the server of the moment after some reports, and
# some at their end; which ones a file of marks decides, so that none is repeated.
cat >trial.pl <<'E2'
use strict;
$| = 1;
my ($from, $to, $kills) = @ARGV;
my $trial = $ENV{HPOTUNE_TRIAL};
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/step";
my $second = $ENV{HPOTUNE_ATTEMPT} > 1;
my $first = 1;
if (open my $f, '<', $saved) { $first = <$f> + 1 }
sub mark { # what: false when it is there
	return sysopen my $f, "mark.$trial.$_[0]", 0301;
}
sub kill_server { # what
	return if !$kills || !$second || !mark($_[0]);
	while (1) {
		my $pid = 0;
		if (open my $f, '<', 'pid') { $pid = <$f> + 0 }
		last if $pid && mark_server($pid) && kill 9, $pid;
		select undef, undef, undef, 0.01;
	}
}
sub mark_server { # pid: each server is killed once
	return sysopen my $f, "server.$_[0]", 0301;
}
for my $step ($first .. 20) {
	printf "hpotune: step=%d loss=%.6g\n", $step,
	    $from + ($to - $from) * $step / 20;
	if (open my $f, '>', "$saved.new") { print $f $step }
	rename "$saved.new", $saved;
	while ($from >= 9 && !$second && $trial > 1 && $step == 6) {
		select undef, undef, undef, 0.01;
		exit 0 if $told;
	}
	kill_server($step) if (7 * $trial + 5 * $step) % 6 == 0;
}
kill_server('end') if $trial % 2;
E2

study() { # name kills
	cat >"$1.json" <<E2
{ "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "from": { "type": "float", "min": 0, "max": 20 },
      "to": { "type": "float", "min": 0, "max": 20 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "guard": false, "second_look": "25%" },
  "enqueue": [ { "from": 14, "to": 0.9 }, { "from": 0.8, "to": 0.8 },
    { "from": 1.2, "to": 1.2 }, { "from": 1.29, "to": 1.29 },
    { "from": 1.4, "to": 1.4 }, { "from": 1.3, "to": 1.3 },
    { "from": 10, "to": 0.1 }, { "from": 10.5, "to": 0.2 },
    { "from": 11, "to": 0.05 }, { "from": 10, "to": 8 },
    { "from": 12, "to": 0.3 }, { "from": 9, "to": 9 },
    { "from": 1.25, "to": 1.25 }, { "from": 1.26, "to": 1.26 } ],
  "trial": { "command": ["perl", "trial.pl", "{from}", "{to}", "$2"],
      "max_steps": 20, "grace": "10s" },
  "limits": { "trials": 14, "parallel": 1 } }
E2
}
looks() { # database
	sql "$1" "SELECT trial, step, value, pool, rank, hindsight, budget,
	    price, spent FROM stops WHERE verdict = 'resume' ORDER BY time"
}
results() { # database
	sql "$1" 'SELECT trial, state, objective, step, attempts FROM trials'
}

study calm 0
ok 'without a kill' "$HPOTUNE" start -q calm.json
ok 'several trials have a second look' \
    test "$(sql calm.db "SELECT count(*) FROM stops
	WHERE verdict = 'resume'")" -ge 4

is "$(sql calm.db "SELECT count(*) > 0 FROM trials
    WHERE state = 'stopped'")" 1 'and some are left out by the budget'

study kills 1
killed=0
while :; do
	server -q kills.json
	echo $server >pid.new
	mv pid.new pid
	reap $server 2>/dev/null
	status=$?
	[ $status = 137 ] || break
	killed=$((killed + 1))
done
is $status 0 'the last server ends the study'
ok "$killed servers were killed" test $killed -ge 8
is "$(find . -name 'mark.*' | wc -l)" $killed 'each by a trial'
is "$(looks kills.db)" "$(looks calm.db)" 'the same second looks'
is "$(results kills.db)" "$(results calm.db)" 'and the same results'
is "$(sql kills.db "SELECT max(n) FROM (SELECT count(*) n FROM stops
    WHERE verdict = 'resume' GROUP BY trial)")" 1 'no trial has two'
is "$(sql kills.db "SELECT count(*) FROM stops
    WHERE verdict = 'resume' AND spent + price > budget")" 0 \
    'the budget is never passed'
is "$(sql kills.db "SELECT sum(price) <= max(budget) FROM stops
    WHERE verdict = 'resume'")" 1 'nor by all of them together'
# A verdict on a trial that has its second look would be a second row, also
# where it came too late.
is "$(sql kills.db "SELECT trial FROM stops WHERE verdict <> 'resume'
    GROUP BY trial HAVING count(*) > 1")" '' \
    'no rule decides on a trial that has its second look'
is "$(sql kills.db 'SELECT count(*) FROM curves GROUP BY trial, step
    HAVING count(*) > 1')" '' 'no report is there twice'

done_testing
