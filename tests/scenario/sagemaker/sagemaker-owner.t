#!/bin/sh
# A missing bucket, permission or role must be fixed by the owner: the study
# waits and names it, no trial fails, no attempt is counted, and it continues by
# itself.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
standin --speed 200 --virtual '{ "steps": 5, "seconds": 1, "term": 0.05,
    "line": "hpotune: step=%STEP% loss=%VALUE%" }'
block=$(sagemaker_block)

waits() { # study what
	sql_is "$1.db" "SELECT count(*) FROM events WHERE level = 'warning'
	    AND text LIKE 'sagemaker: no trial can be started: %$2%'" 1
}

mended() { # study trials what
	"$HPOTUNE" resume "$1.json" >/dev/null
	reap $server
	is $? 0 "$3: it goes on when that is mended"
	is "$(sql "$1.db" "SELECT state, count(*), max(attempts), max(failures),
	    max(free_retries) FROM t_trial")" "completed|$2|1|0|0" \
	    "$3: all trials, one attempt each, no retry"
	is "$(sql "$1.db" 'SELECT count(*) FROM attempts')" "$2" \
	    "$3: and no other attempt stands in the view"
	is "$(sql "$1.db" "SELECT count(*) FROM events
	    WHERE text = 'sagemaker: trials can be started again'")" 1 \
	    "$3: which is said"
}

# ---- a bucket that is not there ---------------------------------------------------

sagemaker_study bucket.json bucket 3 "$(sagemaker_block |
    sed 's|s3://bucket|s3://later|')"
server bucket.json --quiet
ok 'a missing bucket is named' retry waits bucket 'the bucket later does not exist'
like "$("$HPOTUNE" status bucket.json)" 'the bucket later does not exist: create it' \
    'status reports it, and what to do'
is "$(sql bucket.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'no trial fails'
is "$(sql bucket.db 'SELECT total(cost) FROM trials')" 0.0 'nothing is paid'
mkdir aws/s3/later
mended bucket 3 'bucket'

# ---- a right that is denied --------------------------------------------------------

standin_faults '{ "denied": { "on": "sagemaker.CreateTrainingJob" } }'
sagemaker_study right.json right 3 "$block"
server right.json --quiet
ok 'a right that is missing is named, and whose' retry waits right \
    'AWS denies sagemaker:CreateTrainingJob to arn:aws:iam::123456789012:user'
# The next server finds nothing that could act any more.
kill -9 "$server"
reap "$server" 2>/dev/null
server right.json --quiet
told_again() { waits2=$(sql right.db "SELECT count(*) FROM events
    WHERE text LIKE 'sagemaker: no trial can be started%'")
	[ "$waits2" -ge 2 ]; }
ok 'a restart finds the same' retry told_again
standin_faults '{}'
"$HPOTUNE" resume right.json >/dev/null
reap $server
is $? 0 'denied: it continues when that is mended'
is "$(sql right.db "SELECT state, count(*), max(attempts), max(failures),
    max(free_retries) FROM t_trial")" 'completed|3|1|0|0' 'denied: nothing is used up'

# ---- a role that cannot be assumed, beside another backend --------------------------

standin_faults '{ "bad_role": 1 }'
sagemaker_study role.json role 4 "$block"
server role.json --quiet
ok 'a bad role is named' retry waits role \
    'SageMaker cannot assume the role arn:aws:iam::123456789012:role/Trials'
# It is interrupted while an answer is waited for.
standin_faults '{ "bad_role": 1,
    "delay": { "on": "sagemaker.CreateTrainingJob", "seconds": 8 } }'
"$HPOTUNE" resume role.json >/dev/null
ok 'another attempt is made' retry sql_is role.db \
    "SELECT count(*) > 0 FROM attempts WHERE state = 'starting'" 1
kill -INT "$server"
reap "$server"
standin_faults '{ "bad_role": 1 }'
is "$(sql role.db 'SELECT count(*) > 0, max(attempts) FROM trials')" '1|0' \
    'its trials wait, without any attempt'
sagemaker_study role.json role 4 "[$block, \"local\"]"
ok 'with another backend beside it' timeout 300 "$HPOTUNE" start role.json --quiet
is "$(sql role.db "SELECT state, count(*), max(attempts) FROM trials")" \
    'completed|4|1' 'all trials run there, those that were taken back, too'
is "$(sql role.db 'SELECT DISTINCT backend FROM attempts')" local 'there'

# ---- what a job may not read ---------------------------------------------------------

standin_faults '{ "role_denied": 1 }'
sagemaker_study read.json read 2 "$block"
server read.json --quiet
ok 'what the role of the job may not do is named' retry waits read \
    'may not do what the job needs'
is "$(sql read.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'no trial fails'
standin_faults '{}'
"$HPOTUNE" resume read.json >/dev/null
reap $server
is $? 0 'it continues when that is mended'
is "$(sql read.db "SELECT state, count(*), max(failures), max(free_retries)
    FROM t_trial")" 'completed|2|0|0' 'no retry is used up'
proved_clean 'all'
done_testing
