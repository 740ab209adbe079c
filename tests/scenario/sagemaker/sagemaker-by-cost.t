#!/bin/sh
# A rule that compares training jobs at equal cost: the price of a job is that of
# its machines, for the seconds that it trained.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
standin

# Two jobs of five seconds, with a report at both ends; the third one, which is
# worse, reports until it is stopped.
mkdir code
cat >code/train.sh <<'END'
told=
trap 'told=1' TERM
step=1
echo "hpotune: step=$step loss=$1"
[ "$1" = 9 ] || sleep 5
while :; do
	step=$((step + 1))
	echo "hpotune: step=$step loss=$1"
	[ "$1" = 9 ] && [ -z "$told" ] && [ $step -lt 100 ] || break
	sleep 0.1
done
END
cat >cost.json <<END
{ "study": "cost",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "loss": { "type": "float", "min": 0, "max": 20 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "by": "cost", "warmup_steps": 1,
      "min_trials": 2, "guard": false, "second_look": 0 },
  "enqueue": [ { "loss": 1 }, { "loss": 2 }, { "loss": 9 } ],
  "trial": { "command": ["sh", "train.sh", "{loss}"],
      "workdir": "code", "retries": 0 },
  "backend": $(sagemaker_block | sed \
    's/"price_per_hour": {[^}]*}/"price_per_hour": {"ml.g5.xlarge": 3600, "ml.g4dn.xlarge": 3600}/'),
  "limits": { "trials": 3, "parallel": 1 } }
END
ok 'a study of three jobs' timeout 300 "$HPOTUNE" start --quiet cost.json
is "$(sql cost.db "SELECT trial, rule, metric, unit, value, threshold, pool
    FROM stops WHERE verdict = 'stop'")" '3|median|loss|cent|9.0|1.5|2' \
    'the worse one is stopped where the others had cost as much'
is "$(sql cost.db "SELECT why LIKE 'loss: 9 is above the median 1.5 of 2 trials at cent ' || at
    FROM stops WHERE verdict = 'stop'")" 1 'with the cents in the reason'
is "$(sql cost.db "SELECT at = CAST(100 * dollars AS INTEGER) FROM stops
    JOIN t_metric USING (trial, step) JOIN t_spent USING (seq)
    WHERE verdict = 'stop'")" 1 'which are recorded with the report'
is "$(sql cost.db 'SELECT count(*) FROM t_spent
    WHERE abs(dollars - seconds) > 0.01 * seconds')" 0 \
    'a dollar a second, by the price of its machine'
proved_clean 'comparing by cost'

done_testing
