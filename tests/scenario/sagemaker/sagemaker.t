#!/bin/sh
# Studies as training jobs on a stand-in AWS that runs them as processes: the
# same curves as locally, stops, spot, no capacity, quotas, lost answers.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
standin --quota ml.m5.large=1 --no-capacity ml.p3.2xlarge

run() { # name …: its study to the end
	timeout 300 "$HPOTUNE" start "$1.json" --quiet >"$1.out" 2>"$1.err" ||
	    { diag "$(cat "$1.err")"; return 1; }
}

misfortune() { # specification: what goes wrong from now on
	"$python" -c 'import sys, urllib.request as r
r.urlopen(r.Request(sys.argv[1] + "/standin/faults", method="PUT",
    data=sys.argv[2].encode()))' "$AWS_ENDPOINT_URL" "$1"
}

curves='SELECT trial, step, value FROM curves ORDER BY trial, step'

# ---- the same study there and here -------------------------------------------

sagemaker_study far.json far 4 "$(sagemaker_block)"
sagemaker_study near.json near 4 '"local"'
ok 'a study of four training jobs' run far
ok 'the same study here' run near
is "$(sql far.db "$curves")" "$(sql near.db "$curves")" 'the same curves'
is "$(sql far.db 'SELECT trial, objective, state FROM trials')" \
    "$(sql near.db 'SELECT trial, objective, state FROM trials')" \
    'the same results'
is "$(sql far.db 'SELECT count(*) FROM curves')" 20 'all reports'
is "$("$HPOTUNE" best far.json | sed 1q)" "$("$HPOTUNE" best near.json | sed 1q)" \
    'best'
like "$("$HPOTUNE" show far.json 2)" 'ml\.g5\.xlarge' 'show reports the machine'
is "$("$HPOTUNE" logs far.json 1 | grep -c '^hpotune: step=')" 5 'logs'
is "$(sql far.db 'SELECT count(*) FROM attempts WHERE billable_seconds > 0
    AND cost > 0')" 4 'what it cost is known'
like "$(sql far.db 'SELECT text FROM events')" \
    'training job hpt-far-[0-9a-f]{6}-00001-01-[0-9a-f]{6} created' \
    'the name of the job is reported'
is "$(proved jobs)" 4 'four jobs'
proved_clean 'four trials'

# ---- a rule stops --------------------------------------------------------------

: >code/slow
sagemaker_study slow.json slow 2 "$(sagemaker_block)" \
    '{ "rule": "threshold", "upper": 0.34, "warmup_steps": 3 }'
ok 'a study whose trials must be stopped' run slow
rm code/slow
is "$(sql slow.db 'SELECT state, step FROM trials')" 'stopped|3
stopped|3' 'a rule stops both at step 3'
is "$(sql slow.db 'SELECT end_class FROM attempts')" 'stopped
stopped' 'their attempts were stopped'
is "$(proved stops)" 2 'two StopTrainingJob'
proved_clean 'stopped trials'

# ---- answers are lost, and worse -------------------------------------------------

misfortune '{"drop_after": {"p": 0.5, "on": "sagemaker.CreateTrainingJob"},
 "throttle": 0.1, "error500_after": 0.1, "drop_before": 0.1,
 "stale_list": {"p": 0.3, "seconds": 1},
 "log_duplicate": 0.2, "log_delay": {"p": 0.2, "seconds": 0.3}}'
sagemaker_study rough.json rough 4 "$(sagemaker_block)"
ok 'a study on a bad day' run rough
misfortune '{}'
is "$(sql rough.db "$curves")" "$(sql near.db "$curves")" 'the same curves'
is "$(sql rough.db 'SELECT count(*) FROM attempts')" 4 'one attempt each'
proved_clean 'a bad day'

# ---- spot ---------------------------------------------------------------------

misfortune '{"spot_interrupt": {"p": 1, "max": 1, "seconds": 0}}'
sagemaker_study spot.json spot 1 \
    "$(sagemaker_block '"spot": true' '"max_wait": "2h"')"
ok 'a spot study that is interrupted' run spot
misfortune '{}'
is "$(sql spot.db 'SELECT state, attempts FROM trials')" 'completed|1' \
    'its job is restarted, and ends'
like "$(sql spot.db 'SELECT text FROM events')" 'spot interruption 1' \
    'the interruption is reported'
like "$(sql spot.db 'SELECT place FROM attempts')" ' spot ' \
    'the place names spot'
misfortune '{"spot_ignored": 1}'
sagemaker_study dear.json dear 1 \
    "$(sagemaker_block '"spot": true' '"max_wait": "2h"')"
ok 'a spot study that gets none' run dear
misfortune '{}'
like "$(sql dear.db "SELECT text FROM events WHERE level = 'error'")" \
    'spot was requested' 'is reported as an error'
proved_clean 'spot'

# ---- no machine, no quota ---------------------------------------------------------

sagemaker_study scarce.json scarce 2 "$(sagemaker_block |
    sed 's/ml.g5.xlarge/ml.p3.2xlarge/g')"
ok 'a type that cannot be had' run scarce
is "$(sql scarce.db "SELECT trial, attempt, end_class FROM attempts
    WHERE attempt = 1 AND end_class = 'capacity'")" '1|1|capacity
2|1|capacity' 'a first attempt each ends for want of a machine'
is "$(sql scarce.db "SELECT DISTINCT substr(place, 1, 14) FROM attempts
    WHERE end_class = 'ok'")" ml.g4dn.xlarge 'the next type is taken'
is "$(sql scarce.db "SELECT DISTINCT substr(place, 1, 25) FROM attempts
    WHERE end_class = 'capacity'")" 'ml.p3.2xlarge hpt-scarce-' \
    'jobs that never trained have the planned machine'
sagemaker_study tight.json tight 3 "$(sagemaker_block |
    sed 's/"ml.g5.xlarge", "ml.g4dn.xlarge"/"ml.m5.large"/
	s/"ml.g5.xlarge": 1.5, "ml.g4dn.xlarge"/"ml.m5.large"/')"
ok 'a quota of one machine for two at once' run tight
is "$(sql tight.db 'SELECT count(*) FROM trials WHERE state = "completed"')" \
    3 'all trials get their turn'
is "$(sql tight.db "SELECT count(*) FROM attempts
    WHERE coalesce(place, '') NOT LIKE 'ml.m5.large hpt-tight-%'")" 0 \
    'and of those that AWS refused'
is "$(proved open)" '[]' 'nothing is left'

# ---- what is left behind ------------------------------------------------------------

fails 'no secret in any file of a study' 1 grep -rqF canary-secret \
    far.db far.d slow.db slow.d rough.db rough.d far.out far.err rough.err
done_testing
