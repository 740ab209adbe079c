#!/bin/sh
# A training job that a rule pauses, and the one that resumes from its
# checkpoint in S3.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
standin

# Who is to be paused stays where it is until it is told: the second, third
# and fourth; the last two lift the second.
mkdir code
cat >code/train.sh <<'END'
x=$1 first=1
saved=$HPOTUNE_CHECKPOINT_DIR/step
[ ! -e "$saved" ] || first=$(($(cat "$saved") + 1))
for step in 1 2 3 4; do
	[ $step -ge $first ] || continue
	echo "hpotune: step=$step loss=$x"
	case $x-$step-$HPOTUNE_ATTEMPT in 6-1-1 | 7-1-* | 8-1-* | 6-2-2)
		trap 'echo $step >$saved; exit 0' TERM
		while :; do sleep 0.1; done ;;
	esac
done
END
cat >far.json <<END
{ "study": "far",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "choice", "values": [5, 6, 7, 8],
      "ordered": true } },
  "strategy": "grid",
  "stopping": { "rule": "asha", "min_resource": 1, "reduction_factor": 2,
      "promote": true },
  "enqueue": [ { "x": 5 }, { "x": 6 }, { "x": 7 }, { "x": 8 } ],
  "trial": { "command": ["sh", "train.sh", "{x}"], "workdir": "code",
      "max_steps": 4, "retries": 0 },
  "backend": $(sagemaker_block '"checkpoints": true'),
  "limits": { "trials": 4, "parallel": 1 } }
END
ok 'a study whose jobs are paused' timeout 300 "$HPOTUNE" start --quiet far.json
is "$(sql far.db 'SELECT trial, state, step, attempts FROM trials')" \
    '1|completed|4|1
2|stopped|2|2
3|stopped|1|1
4|stopped|1|1' 'one is resumed'
is "$(sql far.db 'SELECT verdict, step FROM stops WHERE trial = 2')" \
    'pause|1
resume|1
pause|2' 'and paused again'
is "$(sql far.db 'SELECT resumed_step FROM attempts WHERE trial = 2
    AND attempt = 2')" 2 'it continued from its checkpoint in S3'
is "$(proved jobs)" 5 'five jobs'
proved_clean 'paused trials'

done_testing
