#!/bin/sh
# Second looks: when limits.trials is reached, stopped trials are resumed from
# their checkpoints within a budget, which the best trials' curves set.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

# A line from one loss to another in 20 steps, with a checkpoint after each.
# Those that begin at 9 or above wait at step 6, where the median stops them, and
# with a gate at the first step of their second look.
cat >trial.pl <<'E2'
$| = 1;
my ($from, $to, $saves) = @ARGV;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/step";
my $first = 1;
my $second = $ENV{HPOTUNE_ATTEMPT} > 1;
if ($saves && open F, $saved) { $first = <F> + 1; close F }
my $hold = $from >= 9 && $ENV{HPOTUNE_TRIAL} > 1;
for my $step ($first .. 20) {
	printf "hpotune: step=%d loss=%.6g\n", $step,
	    $from + ($to - $from) * $step / 20;
	if ($saves && open F, ">$saved.new") {
		print F $step; close F; rename "$saved.new", $saved;
	}
	while ($hold && ($second ? $step == $first && -e "gate" : $step == 6)) {
		if ($second) { open F, ">here.$ENV{HPOTUNE_TRIAL}"; close F }
		select(undef, undef, undef, 0.02);
		exit 0 if $told;
	}
}
E2
# The seventh begins badly and would be the best.
make_study() { # name options saves sed-expression …
	study_name=$1
	study_options=$2
	study_saves=$3
	shift 3
	cat >base.json <<E2
{ "study": "$study_name",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "from": { "type": "float", "min": 0, "max": 20 },
      "to": { "type": "float", "min": 0, "max": 20 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median"$study_options },
  "enqueue": [ { "from": 14, "to": 0.9 }, { "from": 0.8, "to": 0.8 },
    { "from": 1.2, "to": 1.2 }, { "from": 1.29, "to": 1.29 },
    { "from": 1.4, "to": 1.4 }, { "from": 1.3, "to": 1.3 },
    { "from": 10, "to": 0.1 }, { "from": 9, "to": 9 },
    { "from": 1.25, "to": 1.25 }, { "from": 1.26, "to": 1.26 },
    { "from": 1.27, "to": 1.27 } ],
  "trial": { "command": ["perl", "trial.pl", "{from}", "{to}",
      "$study_saves"], "max_steps": 20, "grace": "10s" },
  "limits": { "trials": 11, "parallel": 1 } }
E2
	sed "$@" base.json >"$study_name.json"
}
looks() { # database
	sql "$1" "SELECT trial, step, value, pool, rank, hindsight, budget,
	    price, spent FROM stops WHERE verdict = 'resume' ORDER BY time"
}

make_study one '' 1 -e ''
ok 'a study with checkpoints' "$HPOTUNE" start -q one.json
is "$(sql one.db "SELECT trial, step, rule FROM stops WHERE verdict = 'stop'
    ORDER BY trial")" '7|6|median
8|6|median' 'two are stopped'
is "$(looks one.db)" '7|6|7.03|10|8|0.2|15|14|0' \
    'one of them is resumed, for 25 % and 2 % of what there is'
is "$(sql one.db 'SELECT trial, state, step, attempts, objective, why
    FROM trials WHERE trial IN (7, 8)')" \
    '7|completed|20|2|0.1|
8|stopped|6|1|9.0|9 is above the median 1.3 of 7 trials at step 6' \
    'to its end; for the other one the budget is too small'
is "$(sql one.db 'SELECT trial FROM best')" 7 'and is the best'
is "$(sql one.db 'SELECT attempt, resumed_step FROM attempts WHERE trial = 7')" \
    '1|
2|7' 'from its checkpoint'
is "$(sql one.db 'SELECT sum(failures), count(*) FROM t_trial')" '0|11' \
    'without using a retry or a trial'
is "$(sql one.db 'SELECT steps_run, steps_skipped FROM savings')" '206|14' \
    'only what was not run is saved'
like "$("$HPOTUNE" show one.json 7)" ' resume .*second look: 8 of 10 others were better at its last step; it takes 14 of 15 steps' 'show explains it'
line='second looks: 1 stopped trial was resumed, for 14 of 15 steps; trial 7 is the best now'
like "$("$HPOTUNE" status one.json)" "^$line\$" 'status counts them'
like "$("$HPOTUNE" status --json one.json | tr -d ' \n')" \
    '"second_looks":\[\{"trial":7,"step":6,.*"budget":15,"price":14,"spent":0' \
    'as JSON, too'
quietly "$HPOTUNE" report one.json
ok 'and the report' grep -q "1 stopped trial was resumed, for 14 of 15" one.html
ok 'a second start has nothing to do' "$HPOTUNE" start -q one.json
is "$(sql one.db 'SELECT count(*) FROM attempts')" 12 'and does nothing'

make_study all ', "second_look": "100%"' 1 -e ''
ok 'a greater share' "$HPOTUNE" start -q all.json
is "$(looks all.db)" '7|6|7.03|10|8|0.2|28|14|0
8|6|9.0|10|9|0.4|28|14|14' 'takes all that was saved, and not more'
is "$(sql all.db "SELECT state, objective FROM trials WHERE trial = 8")" \
    'completed|9.0' 'also of those that end behind'

# The search has converged: second looks follow, and those that bring nothing
# are no reason to check again.
make_study conv ', "second_look": "100%"' 1 -e 's/"trials": 11/"trials": 30, \
    "convergence": { "min_trials": 11, "error": 100 }/'
ok 'a search that converges' timeout 300 "$HPOTUNE" start -q conv.json
is "$(looks conv.db)" "$(looks all.db)" 'has second looks'
is "$(sql conv.db "SELECT count(*) FROM trials")" 11 'and no further trial'
# Where the first check takes long, the first look ends before it.
is "$(sql conv.db "SELECT max(substr(text, 1, 25)) FROM events
    WHERE text LIKE 'converged after%'")" \
    'converged after 12 trials' 'checked again after the best one'

# Those that asha has paused are ended when the study has no more trials, and
# then may have one.
make_study paused ', "promote": true, "min_resource": 6,
    "reduction_factor": 4, "second_look": "100%"' 1 -e 's/"median"/"asha"/'
ok 'paused trials that are never promoted' "$HPOTUNE" start -q paused.json
is "$(looks paused.db)" "$(looks all.db)" 'have second looks'
is "$(sql paused.db 'SELECT verdict FROM stops WHERE trial = 7
    ORDER BY time')" 'pause
resume' 'after they were paused'

make_study behind ', "second_look": "100%"' 1 -e 's/"from": 9, "to": 9/"from": 16, "to": 9/'
ok 'a trial behind all of the best where it was stopped' \
    "$HPOTUNE" start -q behind.json
is "$(sql behind.db "SELECT trial, spent + price, budget FROM stops
    WHERE verdict = 'resume'")" '7|14|28' 'is not resumed'

make_study plain '' 1 -e 's/"from": 14, "to": 0.9/"from": 1.1, "to": 1.1/'
ok 'curves that do not cross' "$HPOTUNE" start -q plain.json
is "$(sql plain.db "SELECT sum(verdict = 'stop'), sum(verdict = 'resume')
    FROM stops")" '2|0' 'stop for good'

make_study off ', "second_look": 0' 1 -e ''
ok 'an option' "$HPOTUNE" start -q off.json
is "$(looks off.db)" '' 'turns them off'

make_study none '' 0 -e ''
ok 'a program without checkpoints' "$HPOTUNE" start -q none.json
is "$(looks none.db)" '' 'has none'
make_study again ', "second_look": "100%"' 0 -e ''
ok 'unless it is told to' "$HPOTUNE" start -q again.json
is "$(looks again.db)" '7|6|7.03|10|8|0.2|28|20|0' \
    'where each takes all its steps'

# A strategy that has no answer before a stopped trial has completed: the slot
# that waits for it is used.
cat >sampler.sh <<'E2'
while read -r line; do
	case $line in
	*'"type":"ask"'*)
		until [ "$(sqlite3 idle.db 'SELECT state FROM t_trial
		    WHERE trial = 7')" = completed ]; do
			sleep 0.1
		done
		echo '{"params":{"from":1.28,"to":1.28}}'
		;;
	esac
done
E2
make_study idle '' 1 -e 's/"trials": 11/"trials": 12/' \
    -e 's/"random",/"external", "command": ["sh", "sampler.sh"],/'
ok 'a strategy that waits' timeout 300 "$HPOTUNE" start -q idle.json
is "$(looks idle.db)" '7|6|7.03|10|8|0.2|15|14|0
8|6|9.0|11|10|0.4|28|14|14' \
    'one has its second look in the free slot, the other one at the end'
is "$(sql idle.db "SELECT trial, s.time < (SELECT min(started) FROM attempts
    WHERE trial = 12) FROM stops AS s WHERE verdict = 'resume'
    ORDER BY trial")" '7|1
8|0' 'before and after the trial that was waited for'

# Bad values and strategies.
for value in '"25"' 25 -0.1 1 '"101%"' '[]'; do
	make_study bad ", \"second_look\": $value" 1 -e ''
	"$HPOTUNE" check bad.json >/dev/null 2>err
	like "$(cat err)" \
	    'stopping.second_look: expected a share from "0%" to "100%"$' \
	    "$value"
done
make_study bad ', "second_look": "10%"' 1 -e \
    's/"random", "seed": 1/"pbt", "population": 2, "perturbation_interval": 5/'
"$HPOTUNE" check bad.json >/dev/null 2>err
like "$(cat err)" 'second_look cannot be combined with the strategy pbt' \
    'segments of a population'
make_study bad ', "second_look": "10%"' 1 -e ''
like "$("$HPOTUNE" check bad.json)" \
    '^stopping   median; second looks for 10 % of the cost$' 'check says it'
"$HPOTUNE" rules median >out
ok 'rules lists the option' grep -q 'second_look' out

# In the middle of a second look: pause, kill, the next server, the user, a
# limit.
: >gate
make_study kill ', "second_look": "100%"' 1 -e ''
server -q kill.json
ok 'a second look runs' retry test -e here.7
quietly "$HPOTUNE" pause kill.json
kill -9 $server
reap $server 2>/dev/null
is "$(sql kill.db "SELECT trial, state FROM trials WHERE state NOT IN
    ('completed', 'stopped')")" '7|running' 'its server is killed'
server -q kill.json
retry sql_is kill.db "SELECT count(*) FROM study WHERE state = 'paused'" 1
quietly "$HPOTUNE" resume kill.json
rm gate
reap $server
is $? 0 'the next one ends the study'
is "$(looks kill.db)" "$(looks all.db)" 'with the same decisions'
is "$(sql kill.db 'SELECT trial, attempts FROM trials WHERE attempts > 1')" '7|2
8|2' 'each once'


rm here.*
: >gate
make_study user ', "second_look": "100%"' 1 -e ''
server -q user.json
retry test -e here.7
like "$("$HPOTUNE" stop user.json 7)" 'trial 7 is being stopped' \
    'the user stops one'
ok 'then the next one runs' retry test -e here.8
kill -TERM $server
reap $server
is "$(sql user.db "SELECT trial, state FROM trials WHERE state NOT IN
    ('completed', 'stopped')")" '7|cancelled
8|waiting' 'and waits while no server runs'
sed 's/"parallel": 1/"parallel": 1, "failed_trials": 1, "wall_time": 1/' \
    user.json >t.json
mv t.json user.json
"$HPOTUNE" start -q user.json 2>err
is "$(sql user.db "SELECT state, objective, why FROM trials WHERE trial = 8")" \
    'stopped|9.0|its second look ended: limits.wall_time was reached' \
    'a limit leaves it stopped, as it was'

# It fails in its second look.
rm -f gate
sed 's/exit 0 if \$told/exit 0 if $told/; s/^my \$hold/exit 3 if $second;\n&/' \
    trial.pl >t.pl
mv t.pl trial.pl
make_study fails ', "second_look": "100%"' 1 -e ''
ok 'a program that cannot go on' "$HPOTUNE" start -q fails.json
is "$(sql fails.db 'SELECT trial, state, attempts, objective, why FROM trials
    WHERE trial IN (7, 8)')" \
    '7|stopped|2|7.03|its second look ended: exit status 3
8|stopped|2|9.0|its second look ended: exit status 3' \
    'leaves its trials stopped, after one attempt'
is "$(sql fails.db 'SELECT failed, sum(failures) FROM study, t_trial')" '0|0' \
    'and is no failure'

# Trials that another program runs: ask gives them again.
cat >walk.pl <<'E2'
# Runs what ask gives, from its step on, until told to stop.
my ($hp, $db, $most) = @ARGV;
while (!defined $most || $most-- > 0) {
	my $a = `$hp ask --json $db 2>asked`;
	last if $? != 0;
	my ($trial) = $a =~ /"trial": ?(\d+)/;
	my ($from) = $a =~ /"from": ?([\d.]+)/;
	my ($to) = $a =~ /"to": ?([\d.]+)/;
	my $first = $a =~ /"resume": ?(\d+)/ ? $1 + 1 : 1;
	print "$trial from step $first\n";
	my $said = "keep";
	for my $step ($first .. 20) {
		my $loss = sprintf "%.6g", $from + ($to - $from) * $step / 20;
		$said = `$hp tell $db $trial step=$step loss=$loss`;
		last if $said =~ /^stop/;
	}
	system "$hp tell " . ($said =~ /^stop/ ? "--stopped" : "--done") .
	    " $db $trial >/dev/null";
}
E2
make_study ask ', "second_look": "100%"' 1 -e '/"command"/d' \
    -e 's/.*"max_steps": 20,/  "trial": { "max_steps": 20,/'
perl walk.pl "$HPOTUNE" ask.json >walked
is "$(sed 1,11d walked)" '11 from step 8
6 from step 7
7 from step 7
8 from step 7' 'stopped trials are asked for again, the best first'
is "$(looks ask.db | cut -d '|' -f 1,2,7-)" '11|7|48|13|0
6|6|48|14|13
7|6|48|14|27
8|6|55|14|41' 'within the budget'
is "$(sql ask.db 'SELECT trial, state, attempts FROM trials
    WHERE trial IN (6, 7)')" '6|completed|2
7|completed|2' 'and completed'
is "$(sql ask.db 'SELECT trial FROM best')" 7 'with the best one'
sed 's/"ask"/"held"/' ask.json >held.json
perl walk.pl "$HPOTUNE" held.json 11 >walked
quietly "$HPOTUNE" pause held.json
fails 'while the study is paused there is none' 1 quietly "$HPOTUNE" ask held.json
like "$(cat err)" 'the study is paused: hpotune resume continues it' \
    'the reason, too'
quietly "$HPOTUNE" resume held.json
like "$("$HPOTUNE" ask --json held.json)" '"trial": ?11,.*"resume": ?7' \
    'resumed, there is'

done_testing
