#!/bin/sh
# A population of real processes: segments start from copied checkpoints of
# others; a member that knows its last step exits there, another one is stopped;
# kills of server and supervisor do no harm.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

make_study() { # name members trials
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize", "value": "last" },
  "parameters": {
    "lr": { "type": "float", "min": 0.001, "max": 1, "scale": "log" },
    "width": { "type": "int", "min": 1, "max": 64 } },
  "strategy": { "name": "pbt", "seed": 3, "population": $2,
      "perturbation_interval": 3, "quantile_fraction": 0.5,
      "resample_probability": 0, "mutate": "lr" },
  "stopping": "none",
  "trial": { "command": ["perl", "trial.pl", "{lr}", "{width}"],
      "max_run": "50s", "retries": 1 },
  "limits": { "trials": $3, "parallel": 2 } }
END
}

# The checkpoint says all that went before it: "trial:step" …
cat >trial.pl <<'E2'
$| = 1;
my ($lr, $width) = @ARGV;
my $dir = $ENV{HPOTUNE_CHECKPOINT_DIR};
my ($step, $life) = (0, "");
if (open F, "$dir/sub/state") { ($step, $life) = split " ", <F>, 2; close F }
my $until = $ENV{HPOTUNE_UNTIL_STEP};
open F, ">>ledger";
print F "$ENV{HPOTUNE_TRIAL} $ENV{HPOTUNE_ATTEMPT} $step $until\n";
close F;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
$until = 99 if -e "deaf";
exit 1 if -e "fail" && $ENV{HPOTUNE_TRIAL} == 5 && unlink "fail";
while ($step < $until && !$told) {
	$step++;
	$life .= "$ENV{HPOTUNE_TRIAL}:$step ";
	mkdir "$dir/sub";
	open F, ">$dir/sub/new"; print F "$step $life"; close F;
	rename "$dir/sub/new", "$dir/sub/state";
	symlink "sub/state", "$dir/latest";
	print "hpotune: step=$step loss=" . ($lr + 1 / $step) . "\n";
	if (-e "deaf" && $step % 3 == 0) {
		select(undef, undef, undef, 0.02) until $told;
	}
}
E2

make_study one 4 20
ok 'a study of 4 members' "$HPOTUNE" start --quiet one.json
is "$(sql one.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|20' 'all segments are complete'
is "$(sql one.db 'SELECT count(DISTINCT member), min(until_step),
    max(until_step) % 3, count(*) FROM population')" '4|3|0|20' 'of four members'
is "$(sql one.db 'SELECT count(*) FROM population WHERE step <> until_step')" \
    0 'each ends at its last step'
is "$(sort -n ledger | awk '{ print $1, $3, $4 }')" "$(sql one.db \
    "SELECT trial || ' ' || (until_step - 3) || ' ' || until_step
    FROM population ORDER BY trial")" 'and begins where another one ended'
is "$(sql one.db 'SELECT count(*) FROM population AS p JOIN population AS f
    ON f.trial = p.from_trial WHERE f.until_step <> p.until_step - 3')" 0 \
    'which the store has'
is "$(sql one.db 'SELECT count(*) FROM population AS p JOIN population AS f
    ON f.trial = p.from_trial WHERE f.member <> p.member')" \
    "$(sql one.db "SELECT count(*) FROM population AS p JOIN population AS f
    ON f.trial = p.from_trial WHERE json_extract(p.params, '\$.lr') <>
    json_extract(f.params, '\$.lr')")" 'who takes over changes the rate'
is "$(sql one.db 'SELECT count(*) > 3 FROM population AS p JOIN population AS f
    ON f.trial = p.from_trial WHERE f.member <> p.member')" 1 \
    'and bad members do take over'
is "$(sql one.db "SELECT count(*) FROM population AS p JOIN population AS f
    ON f.trial = p.from_trial WHERE json_extract(p.params, '\$.width') <>
    json_extract(f.params, '\$.width')")" 0 'but never the width'

# What trial 20 was made of is the chain that the store tells.
is "$(tr ' ' '\n' <one.d/trials/20/checkpoint/latest | sed -n 's/:.*//p' |
    uniq | tr '\n' ' ')" "$(sql one.db "WITH RECURSIVE up (t, n) AS (
    VALUES (20, 0) UNION ALL SELECT from_trial, n + 1 FROM up JOIN population
    ON trial = t WHERE from_trial IS NOT NULL)
    SELECT t FROM up ORDER BY n DESC" | tr '\n' ' ')" \
    'a checkpoint holds the steps of all that went before'
is "$(find one.d -name checkpoint.new)" '' 'no copy is left half done'

# The same study again, and in pieces: the same settings.
rm ledger
mkdir again && cd again && ln -s ../trial.pl . && cp ../one.json .
sed 's/"parallel": 2/"parallel": 1/' one.json >x && mv x one.json
ok 'one at a time, to the seventh' "$HPOTUNE" start --quiet --trials 7 one.json
ok 'then the rest' "$HPOTUNE" start --quiet one.json
cp -r . ../whole && cd ../whole && rm -rf one.db* one.d
ok 'and all at once' "$HPOTUNE" start --quiet one.json
cd ..
is "$(sql again/one.db 'SELECT trial, member, from_trial, params FROM population
    ORDER BY trial')" "$(sql whole/one.db 'SELECT trial, member, from_trial,
    params FROM population ORDER BY trial')" 'give the same trials'

# A program that does not look is stopped at the end of its segment.
: >deaf
make_study two 2 6
ok 'a program that ends only when told' "$HPOTUNE" start --quiet two.json
is "$(sql two.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|6' 'is complete all the same'
is "$(sql two.db 'SELECT DISTINCT end_class FROM attempts')" ok \
    'when it ends well'
is "$(sql two.db 'SELECT count(*) FROM stops')" 0 'which is no stop'
rm deaf

# Servers die; a trial fails once and is tried again.
: >fail
make_study three 3 12
for want in 2 5 8; do
	server three.json
	retry sql_is three.db "SELECT count(*) >= $want FROM trials
	    WHERE state = 'completed'" 1
	kill -9 $server
	reap $server 2>/dev/null
done
ok 'a study whose servers die' "$HPOTUNE" start --quiet three.json
is "$(sql three.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|12' 'ends'
is "$(sql three.db 'SELECT attempts FROM trials WHERE trial = 5')" 2 \
    'with one trial tried twice'
is "$(sql three.db 'SELECT count(*) FROM population AS p JOIN t_metric AS m
    USING (trial) WHERE m.step <= p.until_step - 3')" 0 \
    'which continued from the same checkpoint'

# Supervisors die when the copy is made and has no name yet.
make_study copy 3 15
HPOTUNE_SHIM=$TOP_BUILDDIR/tests/torture/hpotune-shim-fail
HPOTUNE_FAIL='shim.before_seed=kill#4,shim.after_seed=kill#2'
HPOTUNE_FAIL_LOG=$dir/kills
export HPOTUNE_SHIM HPOTUNE_FAIL HPOTUNE_FAIL_LOG
ok 'a study whose supervisors die' "$HPOTUNE" start --quiet copy.json
unset HPOTUNE_FAIL
HPOTUNE_SHIM=$TOP_BUILDDIR/hpotune-shim
is "$(sed 's/ .*//' kills | sort | uniq -c | awk '{ print ($1 >= 2), $2 }')" \
    '1 shim.after_seed
1 shim.before_seed' 'and some have died, before and after it'
is "$(sql copy.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|15' 'is complete'
is "$(sql copy.db 'SELECT count(*) FROM population AS p JOIN t_metric AS m
    USING (trial) WHERE m.step <= p.until_step - 3')" 0 \
    'with whole checkpoints'
is "$(find copy.d -name checkpoint.new)" '' 'and nothing is left over'

# Nothing to go on from.
make_study four 2 4
sed 's/trial.pl/empty.pl/' four.json >x && mv x four.json
printf 'print "hpotune: step=3 loss=1\\n";' >empty.pl
"$HPOTUNE" start --quiet four.json 2>/dev/null
is "$(sql four.db "SELECT trial, state FROM trials WHERE trial > 2 AND why =
    'trial ' || (SELECT from_trial FROM population AS p
    WHERE p.trial = trials.trial) || ', which it continues, has left no checkpoint'")" \
    '3|failed
4|failed' \
    'a program without checkpoints fails, and it says why'

# A setting of the queue goes on with the checkpoint of a member.
make_study five 2 4
"$HPOTUNE" start --quiet --trials 2 five.json
"$HPOTUNE" enqueue five.json lr=0.5 width=7 >/dev/null
ok 'a queued setting' "$HPOTUNE" start --quiet five.json
is "$(sql five.db 'SELECT from_trial > 0, params FROM population
    WHERE trial = 3')" '1|{"lr":0.5,"width":7}' 'is taken by a member'

# max_steps is the end of the whole training.
make_study six 2 50
sed 's/"retries": 1/"retries": 1, "max_steps": 7/' six.json >x && mv x six.json
ok 'members that have a last step' "$HPOTUNE" start --quiet six.json
# One that takes over from a member ahead skips a segment.
is "$(sql six.db 'SELECT group_concat(last) FROM (SELECT max(until_step)
    AS last FROM population GROUP BY member)')" 7,7 'end there'
is "$(sql six.db "SELECT count(*) FROM events
    WHERE text LIKE '%nothing left to try%'")$(sql six.db 'SELECT state
    FROM study')" '0finished' 'and the study with them'

sed 's/"limits"/"backend": "sagemaker", "limits"/' one.json >far.json
fails 'another backend cannot do it' 2 "$HPOTUNE" check far.json 2>far.err
like "$(cat far.err)" 'sagemaker cannot begin a trial with the checkpoint of' \
    'and reports it'

sed 's/"none"/{ "rule": "asha", "promote": true }/' one.json >pause.json
fails 'nor can a rule pause' 2 "$HPOTUNE" check pause.json 2>pause.err
like "$(cat pause.err)" 'asha with promote cannot be combined with the strategy pbt' \
    'and reports it'

done_testing
