#!/bin/sh
# Permissions and keys missing for a while: nothing is lost, AWS is not queried
# too often, and new problems are reported.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3
mkdir code
: >code/train.sh
# Jobs go on while something is denied, on any machine.
standin --speed 200 --virtual '{ "steps": 5, "seconds": 1, "term": 0.05,
    "line": "hpotune: step=%STEP% loss=%VALUE%" }'

requests() { # operation
	grep -c "\"op\": *\"$1\"" aws/requests.jsonl
}

begun() { # study: both of its trials have reported
	sql_is "$1.db" 'SELECT count(*) FROM trials WHERE step >= 1' 2
}

whole() { # study what
	is "$(sql "$1.db" 'SELECT trial, group_concat(step) FROM curves
	    GROUP BY trial')" '1|1,2,3,4,5
2|1,2,3,4,5' "$2"
	is "$(sql "$1.db" 'SELECT end_class FROM attempts')" 'ok
ok' "$2: one attempt each"
}

# At this pace 300 s are 3 s.
# Machines without GPUs, whose use would be asked of CloudWatch, too.
block=$(sagemaker_block | sed 's/"pace": 50/"pace": 100/
	s/\["ml.g5.xlarge", "ml.g4dn.xlarge"\]/"ml.m5.large"/
	s/"price_per_hour": {[^}]*}/"price_per_hour": {"ml.m5.large": 1}/')

# ---- rights that come late ------------------------------------------------------

sagemaker_study late.json late 2 "$(echo "$block" | sed 's/"pace": 100/"pace": 30/')"
server late.json --quiet
ok 'trials report' retry begun late
# Four times: a moment, however slow this machine is.
standin_faults '{ "denied": { "on": "logs.*", "max": 4 } }'
denied() {
	[ "$(grep -c AccessDenied aws/requests.jsonl)" -ge 4 ]
}
ok 'the logs are denied' retry denied
standin_faults '{}'
reap $server
is $? 0 'the study ends well'
whole late 'logs that are denied for a moment are read again'
is "$(requests GetMetricData)" 0 'and nothing coarser in their place'

# ---- logs that are away when a job ends ---------------------------------------------

sagemaker_study away.json away 2 "$block"
server away.json --quiet
ok 'trials report' retry begun away
standin_faults '{ "error503_before": { "on": "logs.*" } }'
over() {
	[ "$(proved open)" = '[]' ]
}
ok 'their jobs end while the logs are away' retry over
gone=$(requests GetLogEvents)
asked_again() {
	[ "$(requests GetLogEvents)" -ge $((gone + 60)) ] ||
	    [ "$(requests DescribeLogStreams)" -ge $((gone + 60)) ]
}
RETRY_SECONDS=20 retry asked_again
standin_faults '{}'
reap $server
is $? 0 'the study ends well'
whole away 'logs that come again are read to their end'

# ---- keys that are refused --------------------------------------------------------------

sagemaker_study keys.json keys 2 "$(sagemaker_block |
    sed 's/"pace": 50/"pace": 10/')"
server keys.json --quiet
ok 'trials report' retry begun keys
kill -9 "$server"
reap "$server" 2>/dev/null
n=$(wc -l <aws/requests.jsonl)
AWS_SECRET_ACCESS_KEY=revoked server keys.json
refused() {
	[ "$(tail -n +$n aws/requests.jsonl | grep -c refused)" -ge 10 ]
}
ok 'the keys are refused' retry refused
n=$(wc -l <aws/requests.jsonl)
sleep 3 # what is measured
n=$(($(wc -l <aws/requests.jsonl) - n))
# Thirty seconds at this pace.
ok "AWS is left in peace ($n requests)" test $n -le 60
said() { # text
	grep -q "$1" server.err server.out
}
kill -INT "$server"
ok 'told to leave, it stops the jobs' retry said 'shutting down: waiting for jobs'
kill -INT "$server"
ok 'told again, it leaves once that is asked for' \
    retry said 'exiting once every job was asked to stop'
kill -INT "$server"
reap "$server"
is $? 3 'a third time, it leaves'
ok 'the right keys bring it to its end' \
    timeout 300 "$HPOTUNE" start keys.json --quiet
is "$(sql keys.db 'SELECT trial, group_concat(step) FROM curves
    GROUP BY trial')" '1|1,2,3,4,5
2|1,2,3,4,5' 'nothing is lost to refused keys'

# ---- no right at all ------------------------------------------------------------------

sagemaker_study never.json never 2 "$block"
standin_faults '{ "denied": { "on": "logs.GetLogEvents" } }'
server never.json --quiet
ok 'a study whose logs are denied is told so' retry sql_is never.db \
    "SELECT count(*) FROM events WHERE level = 'warning' AND
    text LIKE 'the logs of training jobs may not be read%'" 1
kill -9 "$server"
reap "$server" 2>/dev/null

done_testing
