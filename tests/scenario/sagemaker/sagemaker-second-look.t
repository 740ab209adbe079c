#!/bin/sh
# A training job that a rule stops, and the second look at its trial in another
# job, from the checkpoint in S3.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
standin

# A line from one loss to another in 8 steps.  The last trial begins badly, is
# stopped at step 2, where it waits, and would be the best.  The others are not
# behind the median when they are judged, so none is stopped.
mkdir code
cat >code/train.sh <<'END'
first=1
saved=$HPOTUNE_CHECKPOINT_DIR/step
[ ! -e "$saved" ] || first=$(($(cat "$saved") + 1))
for step in 1 2 3 4 5 6 7 8; do
	[ $step -ge $first ] || continue
	awk -v s=$step -v from="$1" -v to="$2" 'BEGIN {
		printf "hpotune: step=%d loss=%.6g\n", s, from + (to - from) * s / 8
	}'
	echo $step >"$saved"
	if [ "$1-$step-$HPOTUNE_ATTEMPT" = 10-2-1 ]; then
		trap 'exit 0' TERM
		while :; do sleep 0.1; done
	fi
done
END
cat >far.json <<END
{ "study": "far",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "from": { "type": "float", "min": 0, "max": 20 },
      "to": { "type": "float", "min": 0, "max": 20 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "warmup_steps": 2, "guard": false,
      "second_look": "100%" },
  "enqueue": [ { "from": 14, "to": 0.9 }, { "from": 1.4, "to": 1.4 },
    { "from": 1.3, "to": 1.3 }, { "from": 1.29, "to": 1.29 },
    { "from": 1.2, "to": 1.2 }, { "from": 0.8, "to": 0.8 },
    { "from": 10, "to": 0.1 } ],
  "trial": { "command": ["sh", "train.sh", "{from}", "{to}"],
      "workdir": "code", "max_steps": 8, "retries": 0 },
  "backend": $(sagemaker_block '"checkpoints": true'),
  "limits": { "trials": 7, "parallel": 1 } }
END
sed 's/{ "rule": "median", "warmup_steps": 2, "guard": false,/"careful",/
    s/^ *"second_look": "100%" },//' far.json >careful.json
like "$("$HPOTUNE" check careful.json 2>&1)" \
    '^stopping   careful; second looks for 50 % of the cost$' \
    'careful has second looks where checkpoints are not seen'

ok 'a study whose job is stopped' timeout 300 "$HPOTUNE" start --quiet far.json
is "$(sql far.db "SELECT trial, step, verdict FROM stops
    WHERE verdict IN ('stop', 'resume') ORDER BY time")" '7|2|stop
7|2|resume' 'has a second look'
is "$(sql far.db 'SELECT hindsight, budget, price, spent FROM stops
    WHERE rank IS NOT NULL')" '0.4|6|6|0' 'for what stopping has saved'
is "$(sql far.db 'SELECT state, step, attempts, objective FROM trials
    WHERE trial = 7')" 'completed|8|2|0.1' 'to its end'
is "$(sql far.db 'SELECT resumed_step FROM attempts WHERE trial = 7
    AND attempt = 2')" 3 'from its checkpoint in S3'
is "$(sql far.db 'SELECT trial FROM best')" 7 'and is the best'
is "$(proved jobs)" 8 'eight jobs'
proved_clean 'the second look'

# The server is killed when the second look is recorded: its job may not be
# created yet, or run, or have ended.
jobs=$(proved jobs)
sed 's/"far"/"kill"/' far.json >kill.json
server -q kill.json
retry sql_is kill.db 'SELECT count(*) FROM stops WHERE rank IS NOT NULL' 1
kill -9 $server
reap $server 2>/dev/null
ok 'the next server ends the study' timeout 300 "$HPOTUNE" start --quiet kill.json
is "$(sql kill.db "SELECT trial, step, verdict, price, spent FROM stops
    WHERE verdict IN ('stop', 'resume') ORDER BY time")" '7|2|stop||
7|2|resume|6|0' 'with one second look'
is "$(sql kill.db 'SELECT state, step, attempts, objective FROM trials
    WHERE trial = 7')" 'completed|8|2|0.1' 'to its end'
is "$(($(proved jobs) - jobs))" 8 'in one job'

# Without the option: where study.json says that the program writes checkpoints.
sed 's/"far"/"said"/; s/, *$/,/; s/"guard": false,/"guard": false },/
    s/^ *"second_look": "100%" },//' far.json >said.json
unlike "$("$HPOTUNE" check said.json)" 'no second looks' \
    'checkpoints that are declared'
ok 'a study that declares them' timeout 300 "$HPOTUNE" start --quiet said.json
is "$(sql said.db 'SELECT trial, price, spent FROM stops
    WHERE rank IS NOT NULL')" '7|6|0' 'has second looks by default'
sed 's/"said"/"silent"/; s/, "checkpoints": true//' said.json >silent.json
like "$("$HPOTUNE" check silent.json)" \
    'no second looks, as the backend sagemaker does not see which trials have' \
    'one that does not'
ok 'runs' timeout 300 "$HPOTUNE" start --quiet silent.json
is "$(sql silent.db 'SELECT trial, state, attempts FROM trials
    WHERE trial = 7')|$(sql silent.db 'SELECT count(rank) FROM stops')" \
    '7|stopped|1|0' 'has none'

done_testing
